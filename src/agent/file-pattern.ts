// File patterns as tests on relative paths: `*`, `?`, `**`, `[a-z]`, `{a,b}`. Linear, whatever the pattern.

/** Undefined when the pattern cannot be understood. It matches at any depth unless it starts with `./` or `/`. */
export function pathTest(pattern: string): ((path: string) => boolean) | undefined {
  const alternatives = expandBraces(pattern);
  if (alternatives === undefined) return undefined;
  const tests = alternatives.map((alternative) => {
    const anchored = /^\.?\//.test(alternative);
    const parts = alternative
      .replace(/^\.?\//, "")
      .split("/")
      .filter((part) => part !== "");
    const steps = parts.map((part) => (part === "**" ? "**" : tokensOf(part)));
    return anchored ? steps : ["**" as const, ...steps];
  });
  return (path) => {
    const names = path.split("/").map((name) => [...name]);
    return tests.some((steps) => matchesSteps(steps, names));
  };
}

/** The pattern for the last component alone: what a search can sort out early. */
export function lastPart(pattern: string): string | undefined {
  const last = pattern.slice(pattern.lastIndexOf("/") + 1);
  const isWhole = (last.match(/\{/g)?.length ?? 0) === (last.match(/\}/g)?.length ?? 0);
  return isWhole && last !== "" && last !== "**" ? last : undefined;
}

type Token = { type: "text"; character: string } | { type: "any" } | { type: "star" } | SetToken;
type SetToken = { type: "set"; negated: boolean; ranges: [string, string][] };
type Step = "**" | Token[];

const mostAlternatives = 256;

function expandBraces(pattern: string): string[] | undefined {
  const finished: string[] = [];
  const open = [pattern];
  while (open.length > 0) {
    if (finished.length + open.length > mostAlternatives) return undefined;
    const text = open.pop()!;
    const group = innermostGroup(text);
    if (!group) finished.push(text);
    else for (const choice of group.choices) open.push(text.slice(0, group.start) + choice + text.slice(group.end));
  }
  return finished;
}

function innermostGroup(text: string): { start: number; end: number; choices: string[] } | undefined {
  const found = /\{([^{}]*,[^{}]*)\}/.exec(text);
  return found ? { start: found.index, end: found.index + found[0].length, choices: found[1]!.split(",") } : undefined;
}

function tokensOf(part: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < part.length; ) {
    const set = /^\[([!^])?(\]?[^\]]*)\]/u.exec(part.slice(at));
    if (set && set[2] !== "") {
      tokens.push({ type: "set", negated: set[1] !== undefined, ranges: rangesOf(set[2]!) });
      at += set[0].length;
      continue;
    }
    if (part[at] === "\\" && at + 1 < part.length) at += 1;
    else if (part[at] === "*" || part[at] === "?") {
      const type = part[at] === "*" ? "star" : "any";
      if (type === "any" || tokens.at(-1)?.type !== "star") tokens.push({ type });
      at += 1;
      continue;
    }
    const character = String.fromCodePoint(part.codePointAt(at)!);
    tokens.push({ type: "text", character });
    at += character.length;
  }
  return tokens;
}

function rangesOf(inside: string): [string, string][] {
  const characters = [...inside];
  const ranges: [string, string][] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const isRange = characters[at + 1] === "-" && characters[at + 2] !== undefined;
    ranges.push([characters[at]!, characters[isRange ? at + 2 : at]!]);
    if (isRange) at += 2;
  }
  return ranges;
}

function matchesSteps(steps: readonly Step[], names: readonly string[][]): boolean {
  const fits = (step: Step, name: string[]) =>
    step !== "**" && matchesWild(step, name, isStar, (token, character) => fitsToken(token, character));
  return matchesWild(steps, names, (step) => step === "**", fits);
}

/** After a failure only the last wildcard needs another try: the earlier ones already took as little as they could. */
function matchesWild<Piece, Item>(
  pattern: readonly Piece[],
  items: readonly Item[],
  isWild: (piece: Piece) => boolean,
  fits: (piece: Piece, item: Item) => boolean,
): boolean {
  let piece = 0;
  let item = 0;
  let retryPiece = -1;
  let retryItem = 0;
  while (item < items.length) {
    if (piece < pattern.length && isWild(pattern[piece]!)) {
      retryPiece = piece += 1;
      retryItem = item;
    } else if (piece < pattern.length && fits(pattern[piece]!, items[item]!)) {
      piece += 1;
      item += 1;
    } else if (retryPiece !== -1) {
      piece = retryPiece;
      item = retryItem += 1;
    } else return false;
  }
  while (piece < pattern.length && isWild(pattern[piece]!)) piece += 1;
  return piece === pattern.length;
}

function isStar(token: Token): boolean {
  return token.type === "star";
}

function fitsToken(token: Token, character: string): boolean {
  switch (token.type) {
    case "text":
      return token.character === character;
    case "any":
      return true;
    case "star":
      return false;
    case "set":
      return token.ranges.some(([first, last]) => first <= character && character <= last) !== token.negated;
  }
}
