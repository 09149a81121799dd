// Scans JSON without recursion, for lines that JSON.parse rejected: two objects on a line, half an object, or noise.

/** `ends` lists where each complete object ends. `state` describes the text after the last one. */
export type Scan = { ends: number[]; state: "complete" | "cut" | "broken" };

const literals = ["true", "false", "null"];
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

type Expecting = "value" | "value or ]" | "key" | "key or }" | "colon" | "comma or close";

/**
 * Scans consecutive objects, with or without whitespace between them. A CR is whitespace inside an object, as in JSON; between two objects
 * it would be a line end, which it is not.
 */
export function scanObjects(text: string): Scan {
  const ends: number[] = [];
  let index = 0;
  for (;;) {
    index = skipBlanks(text, index);
    if (index === text.length) return { ends, state: "complete" };
    if (text[index] !== "{") return { ends, state: "broken" };
    const end = scanObject(text, index);
    if (end === "cut" || end === "broken") return { ends, state: end };
    ends.push(end);
    index = end;
  }
}

export function isBlank(text: string): boolean {
  return skipBlanks(text, 0) === text.length;
}

/** Skips blanks and line feeds, since an object may span several lines; a CR only if nothing but whitespace follows it. */
function skipBlanks(text: string, from: number): number {
  let index = from;
  while (text[index] === " " || text[index] === "\t" || text[index] === "\n") index++;
  if (text[index] !== "\r") return index;
  let after = index;
  while (text[after] === " " || text[after] === "\t" || text[after] === "\n" || text[after] === "\r") after++;
  return after === text.length ? after : index;
}

function scanObject(text: string, from: number): number | "cut" | "broken" {
  const closers: string[] = [];
  let expecting = "value" as Expecting;
  let index = from;
  while (index < text.length) {
    const char = text[index]!;
    if (char === " " || char === "\t" || char === "\r" || char === "\n") {
      index++;
      continue;
    }
    if (char === "}" || char === "]") {
      const open = expecting === "comma or close" || expecting === (char === "}" ? "key or }" : "value or ]");
      if (!open || closers.pop() !== char) return "broken";
      index++;
      if (closers.length === 0) return index;
      expecting = "comma or close";
      continue;
    }
    if (expecting === "colon" || expecting === "comma or close") {
      if (char !== (expecting === "colon" ? ":" : ",")) return "broken";
      const afterComma: Expecting = closers[closers.length - 1] === "}" ? "key" : "value";
      expecting = expecting === "colon" ? "value" : afterComma;
      index++;
      continue;
    }
    if (char === '"') {
      const end = scanString(text, index);
      if (end === "cut" || end === "broken") return end;
      expecting = expecting === "key" || expecting === "key or }" ? "colon" : "comma or close";
      index = end;
      continue;
    }
    if (expecting === "key" || expecting === "key or }") return "broken";
    if (char === "{" || char === "[") {
      closers.push(char === "{" ? "}" : "]");
      expecting = char === "{" ? "key or }" : "value or ]";
      index++;
      continue;
    }
    const end = scanWord(text, index);
    if (end === "cut" || end === "broken") return end;
    expecting = "comma or close";
    index = end;
  }
  return "cut";
}

const stringPiece = /[^"\\\x00-\x1f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

function scanString(text: string, from: number): number | "cut" | "broken" {
  let end = from + 1;
  stringPiece.lastIndex = end;
  while (stringPiece.test(text)) end = stringPiece.lastIndex;
  if (text[end] === '"') return end + 1;
  // Returns whether the text ends within an escape sequence, or exactly before one.
  return /^(?:\\(?:u[0-9a-fA-F]{0,3})?)?$/.test(text.slice(end, end + 6)) ? "cut" : "broken";
}

/** Scans a number, `true`, `false` or `null`. At the end of the text it is incomplete, since its object is open. */
function scanWord(text: string, from: number): number | "cut" | "broken" {
  let end = from;
  while (end < text.length && /[-+.\w]/.test(text[end]!)) end++;
  const word = text.slice(from, end);
  if (end < text.length) return literals.includes(word) || number.test(word) ? end : "broken";
  const begun = literals.some((literal) => literal.startsWith(word)) || /^-?(?:\d[-+.\deE]*)?$/.test(word);
  return word !== "" && begun ? "cut" : "broken";
}
