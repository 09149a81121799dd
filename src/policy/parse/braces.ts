// Brace lists: `a{b,c}d` and `{1..5}`, nested ones included, as bash expands them before everything else.

const mostWords = 256;

/** The words that a text without quotes stands for; undefined where they would be too many, or where bash may differ. */
export function braceWords(text: string): string[] | undefined {
  // An empty word vanishes, unless something stands beside it.
  return expanded(text)?.filter((word) => word !== "");
}

function expanded(text: string): string[] | undefined {
  const group = firstGroup(text);
  if (group === "unsure") return undefined;
  if (!group) return [text];
  const rest = expanded(text.slice(group.end));
  if (!rest) return undefined;
  const found: string[] = [];
  for (const choice of group.choices) {
    const inner = expanded(choice);
    if (!inner || found.length + inner.length * rest.length > mostWords) return undefined;
    for (const middle of inner) for (const end of rest) found.push(text.slice(0, group.start) + middle + end);
  }
  return found;
}

type BraceGroup = { start: number; end: number; choices: Iterable<string> };

function firstGroup(text: string): BraceGroup | "unsure" | undefined {
  const start = text.indexOf("{");
  if (start === -1) return undefined;
  const edges = [start];
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === "{") depth++;
    else if (text[at] === "," && depth === 1) edges.push(at);
    else if (text[at] === "}" && --depth === 0) {
      const choices = edges.length > 1 ? listed(text, [...edges, at]) : counted(text.slice(start + 1, at));
      return choices ? { start, end: at + 1, choices } : "unsure";
    }
  }
  return "unsure";
}

/** What stands between the braces and the commas. */
function listed(text: string, edges: readonly number[]): string[] {
  return edges.slice(1).map((edge, index) => text.slice(edges[index]! + 1, edge));
}

/** `1..5`. Leading zeros are kept by bash, steps and letters are rare, and `{a}` is not a list: none of this is guessed at. */
function counted(text: string): Iterable<string> | undefined {
  const ends = /^(-?(?:0|[1-9]\d{0,8}))\.\.(-?(?:0|[1-9]\d{0,8}))$/.exec(text);
  return ends ? numbers(Number(ends[1]), Number(ends[2])) : undefined;
}

function* numbers(from: number, to: number): Generator<string> {
  const step = Math.sign(to - from) || 1;
  for (let number = from; number !== to + step; number += step) yield String(number);
}
