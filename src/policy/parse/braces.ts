// Brace lists: `a{b,c}d` and `{1..5}`, nested ones included, as bash expands them before everything else.

const mostWords = 256;

/** The words that a text without quotes stands for; undefined where they would be too many, or where bash may differ. */
export function braceWords(text: string): string[] | undefined {
  const group = firstGroup(text);
  if (group === "unsure") return undefined;
  if (!group) return [text];
  const rest = braceWords(text.slice(group.end));
  if (!rest) return undefined;
  const found: string[] = [];
  for (const choice of group.choices) {
    const inner = group.isSequence ? [choice] : braceWords(choice);
    if (!inner || found.length + inner.length * rest.length > mostWords) return undefined;
    for (const middle of inner) for (const end of rest) found.push(text.slice(0, group.start) + middle + end);
  }
  // An empty word vanishes, unless something stands beside it.
  return found.filter((word) => word !== "");
}

type Group = { start: number; end: number; choices: string[]; isSequence: boolean };

function firstGroup(text: string): Group | "unsure" | undefined {
  const start = text.indexOf("{");
  if (start === -1) return undefined;
  const commas: number[] = [];
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === "{") depth++;
    else if (text[at] === "," && depth === 1) commas.push(at);
    else if (text[at] === "}" && --depth === 0) return groupAt(text, start, at, commas);
  }
  return "unsure";
}

function groupAt(text: string, start: number, close: number, commas: readonly number[]): Group | "unsure" {
  const end = close + 1;
  if (commas.length > 0) {
    const edges = [start, ...commas, close];
    const choices = edges.slice(1).map((edge, index) => text.slice(edges[index]! + 1, edge));
    return { start, end, choices, isSequence: false };
  }
  const sequence = /^(-?\d{1,6})\.\.(-?\d{1,6})$/.exec(text.slice(start + 1, close));
  const [from, to] = [Number(sequence?.[1]), Number(sequence?.[2])];
  // Leading zeros are kept by bash, steps and letters are rare, and `{a}` is no list: none of this is guessed at.
  if (!sequence || /^-?0\d|\.\.-?0\d/.test(sequence[0]) || Math.abs(to - from) >= mostWords) return "unsure";
  const step = from <= to ? 1 : -1;
  const choices = Array.from({ length: Math.abs(to - from) + 1 }, (_, index) => String(from + index * step));
  return { start, end, choices, isSequence: true };
}
