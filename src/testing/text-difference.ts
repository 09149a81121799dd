// Describes how two texts differ: the line, the file that it comes from, and both versions.

/** `file` is the quoted file that differs. `at` is the first character that does. `words` is "recorded …, now …". */
export type TextDifference = { file?: string; at: number; words: string };

/** Returns the first difference of two texts, or undefined if they are equal. */
export function textDifference(recorded: string, now: string): TextDifference | undefined {
  if (recorded === now) return undefined;
  const at = firstDifference(recorded, now);
  const inFile = fileDifference(filesIn(recorded), filesIn(now));
  return { at, ...(inFile ?? { words: placedDifference(recorded, now) }) };
}

/** Returns the first quoted file that differs. */
export function fileDifference(
  recorded: ReadonlyMap<string, string>,
  now: ReadonlyMap<string, string>,
): { file: string; words: string } | undefined {
  for (const file of new Set([...recorded.keys(), ...now.keys()])) {
    const [one, other] = [recorded.get(file), now.get(file)];
    if (one === other) continue;
    const isInBoth = one !== undefined && other !== undefined;
    return {
      file,
      words: isInBoth
        ? placedDifference(one, other)
        : `recorded ${quotedOrNothing(one)}, now ${quotedOrNothing(other)}`,
    };
  }
  return undefined;
}

const quotedFile = /^<([a-z]+(?:-\d+)?) path="([^"]*)"[^>]*>\n([\s\S]*?)\n<\/\1>$/gm;

/** Finds rule files and attachments, which are quoted as `<instructions path="AGENTS.md">`. */
export function filesIn(text: string): Map<string, string> {
  return new Map([...text.matchAll(quotedFile)].map(([, , path, inside]) => [path!, inside!]));
}

const longest = 90;
const before = 30;

/** Shows the first line that differs, whole or around the first differing character. */
function placedDifference(recorded: string, now: string): string {
  const at = firstDifference(recorded, now);
  const isShort = Math.max(recorded.length, now.length) <= longest;
  const line = recorded.slice(0, at).split("\n").length;
  const goesOn = at === recorded.length || at === now.length;
  if (goesOn && !isShort) {
    const [one, other] = [recorded, now].map((text) => quotedOrNothing(text.slice(at)));
    return `after line ${line}, recorded ${one}, now ${other}`;
  }
  if (goesOn) return `recorded ${quoteText(recorded)}, now ${quoteText(now)}`;
  const from = recorded.lastIndexOf("\n", at - 1) + 1;
  const [one, other] = [recorded, now].map((text) => excerptAround(lineFrom(text, from, at), at - from));
  const where = line > 1 || lineFrom(recorded, 0, 0) !== recorded ? `line ${line}, ` : "";
  return `${where}recorded ${one}, now ${other}`;
}

/** Returns a line with its line break, which may be the only difference. */
function lineFrom(text: string, from: number, at: number): string {
  const end = text.indexOf("\n", at);
  return text.slice(from, end < 0 ? undefined : end + 1);
}

function firstDifference(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at++;
  return at;
}

function excerptAround(text: string, around: number): string {
  const from = text.length <= longest ? 0 : Math.max(0, around - before);
  const cut = text.slice(from, from + longest);
  return `${from > 0 ? "…" : ""}${JSON.stringify(cut)}${from + longest < text.length ? "…" : ""}`;
}

export function quoteText(text: string): string {
  return excerptAround(text, 0);
}

function quotedOrNothing(text: string | undefined): string {
  return text === undefined || text === "" ? "nothing" : quoteText(text);
}
