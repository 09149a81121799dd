// Parses JSON with comments and trailing commas, and no other extensions: the slow, exact parser behind the fast one.

import { setUntrustedKey, tryParse } from "../json/object.ts";

export class JsonTextError extends Error {
  readonly line: number;
  readonly column: number;

  constructor(message: string, text: string, at: number) {
    super(message);
    this.name = "JsonTextError";
    const before = text.slice(0, at);
    this.line = before.split("\n").length;
    this.column = at - before.lastIndexOf("\n");
  }
}

export const deepest = 100;

const blanks = /(?:[ \t\r\n]+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
/** Matches the content of a string, up to its end or the first fault. */
const inString = /(?:[^"\\\x00-\x1f]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
const word = /[^\s,\]}:"/[{]*/y;

/** Returns the end of the sticky pattern's match at `at`. */
function matchEnd(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return at + pattern.exec(text)![0].length;
}

/** Returns the position after blanks and comments. */
export function pastBlanks(text: string, at: number): number {
  return matchEnd(blanks, text, at);
}

/** Parses JSON with comments. Throws a JsonTextError, also for duplicate keys: which of two deny lists is meant cannot be known. */
export function parseJsonc(text: string): unknown {
  return read(new Reader(text));
}

/** The position of a value, from its first character to after its last; `lastChild` is the end of its last item. */
export type JsonRange = { start: number; end: number; lastChild?: number };

/** Returns the range of each value by its path: `permissions.allow[2]`; the root has the empty path. Throws as parseJsonc does. */
export function rangesIn(text: string): Map<string, JsonRange> {
  const ranges = new Map<string, JsonRange>();
  read(new Reader(text, ranges));
  return ranges;
}

function read(reader: Reader): unknown {
  const value = reader.value(0, "");
  reader.skip();
  if (reader.at < reader.text.length) reader.fail("expected the end of the file");
  return value;
}

class Reader {
  at = 0;
  readonly text: string;
  readonly ranges: Map<string, JsonRange> | undefined;

  constructor(text: string, ranges?: Map<string, JsonRange>) {
    this.text = text;
    this.ranges = ranges;
  }

  fail(message: string, at = this.at): never {
    throw new JsonTextError(message, this.text, at);
  }

  /** Fails with `what`, or with a message about the end of the text. */
  miss(what: string): never {
    return this.fail(this.at >= this.text.length ? "unexpected end of the text" : what);
  }

  skip(): void {
    this.at = pastBlanks(this.text, this.at);
    if (this.text.startsWith("/*", this.at)) this.fail("this comment is never closed");
  }

  value(depth: number, path: string): unknown {
    if (depth > deepest) this.fail(`it is nested deeper than ${deepest} levels`);
    this.skip();
    const range: JsonRange = { start: this.at, end: this.at };
    this.ranges?.set(path, range);
    const value = this.bare(depth, path, range);
    range.end = this.at;
    return value;
  }

  bare(depth: number, path: string, range: JsonRange): unknown {
    const character = this.text[this.at];
    if (character === "{") return this.object(depth, path, range);
    if (character === "[") return this.array(depth, path, range);
    return character === '"' ? this.string() : this.scalar();
  }

  object(depth: number, path: string, range: JsonRange): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    this.items("}", range, () => {
      const start = this.at;
      if (this.text[start] !== '"') this.miss("expected a key in double quotes or }");
      const key = this.string();
      if (Object.hasOwn(result, key)) this.fail(`the key ${JSON.stringify(key)} is there twice`, start);
      this.skip();
      if (!this.take(":")) this.miss("expected a :");
      setUntrustedKey(result, key, this.value(depth + 1, this.ranges ? (path === "" ? key : `${path}.${key}`) : ""));
    });
    return result;
  }

  array(depth: number, path: string, range: JsonRange): unknown[] {
    const result: unknown[] = [];
    this.items("]", range, () => {
      result.push(this.value(depth + 1, this.ranges ? `${path}[${result.length}]` : ""));
    });
    return result;
  }

  /** Reads all items between two brackets. The last one may have a trailing comma. */
  items(close: string, range: JsonRange, readItem: () => void): void {
    this.at++;
    while (true) {
      this.skip();
      if (this.take(close)) return;
      readItem();
      range.lastChild = this.at;
      this.skip();
      if (this.take(",")) continue;
      if (this.take(close)) return;
      this.miss(`expected a , or ${close}`);
    }
  }

  string(): string {
    const { text, at: start } = this;
    this.at = matchEnd(inString, text, start + 1);
    const stop = text[this.at];
    if (stop === '"') return JSON.parse(text.slice(start, ++this.at)) as string;
    if (stop === undefined) this.fail("this string is never closed", start);
    if (stop !== "\\") this.fail("a string may not contain a line break or a control character");
    if (text[this.at + 1] === "u") this.fail("\\u needs four hexadecimal digits");
    return this.fail("this escape is unknown to JSON; a backslash is written \\\\");
  }

  scalar(): unknown {
    const end = matchEnd(word, this.text, this.at);
    const found = this.text.slice(this.at, end);
    const value = tryParse(found);
    if (value === undefined)
      this.miss(
        found === "" || found.startsWith("'")
          ? "expected a JSON value"
          : `${JSON.stringify(found.slice(0, 40))} is not a JSON value`,
      );
    this.at = end;
    return value;
  }

  take(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }
}
