// Finds text that a model quoted with one mistake: all of it indented too far or too little, or with other quotation marks.

export type Slip = { start: number; end: number; newText: string; note: string };

type Quoted = { oldText: string; newText: string };

/** Finds the text that a slightly wrong quotation probably means. Returns undefined unless one place fits. */
export function findSlip(text: string, quoted: Quoted): Slip | undefined {
  const found = [...findIndentSlips(text, quoted), ...otherQuotes(text, quoted)];
  return found.length === 1 ? found[0] : undefined;
}

/** Finds whole lines that all differ by the same leading blanks. */
function findIndentSlips(text: string, { oldText, newText }: Quoted): Slip[] {
  const lines = text.split("\n");
  const wanted = oldText.split("\n");
  const endsLine = wanted.length > 1 && wanted.at(-1) === "";
  if (endsLine) wanted.pop();
  const first = wanted.findIndex((line) => line.trim() !== "");
  if (first === -1) return [];
  const found: Slip[] = [];
  let start = 0;
  for (const [at, line] of lines.entries()) {
    const shift = lines[at + first] === undefined ? undefined : shiftBetween(wanted[first]!, lines[at + first]!);
    const window = lines.slice(at, at + wanted.length);
    if (
      shift &&
      window.length === wanted.length &&
      window.every((each, index) => each === shiftLine(wanted[index]!, shift))
    ) {
      const rest = newText.split("\n").map((each) => shiftLine(each, shift));
      const length = window.join("\n").length + (endsLine && at + wanted.length < lines.length ? 1 : 0);
      const note = "(oldText differed from the file only in its indentation; newText was indented like the file.)";
      if (!rest.includes(undefined)) found.push({ start, end: start + length, newText: rest.join("\n"), note });
    }
    start += line.length + 1;
  }
  return found;
}

type Shift = { add: string } | { remove: string };

function shiftBetween(quoted: string, line: string): Shift | undefined {
  const [less, more] = [quoted, line].map((each) => /^[ \t]*/.exec(each)![0]) as [string, string];
  if (quoted.trimStart() !== line.trimStart() || less === more) return undefined;
  if (more.endsWith(less)) return { add: more.slice(0, more.length - less.length) };
  return less.endsWith(more) ? { remove: less.slice(0, less.length - more.length) } : undefined;
}

/** Shifts a line; blank lines stay. Returns undefined when the line lacks the indentation to remove. */
function shiftLine(line: string, shift: Shift): string | undefined {
  if (line.trim() === "") return line;
  if ("add" in shift) return shift.add + line;
  return line.startsWith(shift.remove) ? line.slice(shift.remove.length) : undefined;
}

const typographic: Record<string, string> = { "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‚": "'" };

function straightenQuotes(text: string): string {
  return text.replace(/[“”„‘’‚]/g, (quote) => typographic[quote]!);
}

/** Replaces quotes one character for one, so that positions in both texts are the same. */
function otherQuotes(text: string, { oldText, newText }: Quoted): Slip[] {
  const wanted = straightenQuotes(oldText);
  const plain = straightenQuotes(text);
  if (wanted === oldText && plain === text) return [];
  const found: Slip[] = [];
  for (let start = plain.indexOf(wanted); start !== -1; start = plain.indexOf(wanted, start + 1)) {
    const end = start + wanted.length;
    const isStraight = plain.slice(start, end) === text.slice(start, end);
    const note = "(oldText differed from the file only in its quotation marks.)";
    found.push({ start, end, newText: isStraight ? straightenQuotes(newText) : newText, note });
  }
  return found;
}
