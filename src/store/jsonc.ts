// JSON with comments and trailing commas, and nothing else: the slow, exact reader behind the fast one.

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

const deepest = 100;
const escapes: Record<string, string> = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };

/** Throws JsonTextError. Duplicate keys are an error: which of two deny lists is meant cannot be known. */
export function parseJsonc(text: string): unknown {
  return read(new Reader(text));
}

/** From the first character of a value to behind its last; `lastChild`: behind the last one inside. */
export type JsonRange = { start: number; end: number; lastChild?: number };

/** Where each value stands, by its path: `permissions.allow[2]`; the whole is the empty path. Throws as parseJsonc does. */
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

  /** Past blanks and comments. */
  skip(): void {
    const { text } = this;
    while (this.at < text.length) {
      const code = text.charCodeAt(this.at);
      if (code === 32 || code === 9 || code === 10 || code === 13) this.at++;
      else if (code === 47 && text[this.at + 1] === "/") {
        const end = text.indexOf("\n", this.at);
        this.at = end === -1 ? text.length : end;
      } else if (code === 47 && text[this.at + 1] === "*") {
        const end = text.indexOf("*/", this.at + 2);
        if (end === -1) this.fail("this comment is never closed");
        this.at = end + 2;
      } else return;
    }
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
    if (character === '"') return this.string();
    if (character === undefined) this.fail("unexpected end of the text");
    return this.scalar();
  }

  object(depth: number, path: string, range: JsonRange): Record<string, unknown> {
    const result: Record<string, unknown> = {};
    this.at++;
    while (true) {
      this.skip();
      if (this.take("}")) return result;
      const start = this.at;
      if (this.text[start] !== '"') this.fail(this.ended() ?? "expected a key in double quotes or }");
      const key = this.string();
      if (Object.hasOwn(result, key)) this.fail(`the key ${JSON.stringify(key)} is there twice`, start);
      this.skip();
      if (!this.take(":")) this.fail(this.ended() ?? "expected a :");
      const value = this.value(depth + 1, this.ranges ? (path === "" ? key : `${path}.${key}`) : "");
      range.lastChild = this.at;
      // Not an assignment: the key may be __proto__, and is data.
      Object.defineProperty(result, key, { value, writable: true, enumerable: true, configurable: true });
      this.skip();
      if (this.take(",")) continue;
      if (this.take("}")) return result;
      this.fail(this.ended() ?? "expected a , or }");
    }
  }

  array(depth: number, path: string, range: JsonRange): unknown[] {
    const result: unknown[] = [];
    this.at++;
    while (true) {
      this.skip();
      if (this.take("]")) return result;
      result.push(this.value(depth + 1, this.ranges ? `${path}[${result.length}]` : ""));
      range.lastChild = this.at;
      this.skip();
      if (this.take(",")) continue;
      if (this.take("]")) return result;
      this.fail(this.ended() ?? "expected a , or ]");
    }
  }

  string(): string {
    const { text } = this;
    const start = this.at;
    let result = "";
    let from = ++this.at;
    while (true) {
      const code = text.charCodeAt(this.at);
      if (code === 34) {
        result += text.slice(from, this.at++);
        return result;
      }
      // NaN: the end of the text.
      if (!(code >= 32)) {
        this.fail(
          this.at >= text.length
            ? "this string is never closed"
            : "a string may not hold a line break or a control character",
          this.at >= text.length ? start : this.at,
        );
      }
      if (code === 92) {
        result += text.slice(from, this.at) + this.escape();
        from = this.at;
      } else this.at++;
    }
  }

  escape(): string {
    const letter = this.text[this.at + 1] ?? "";
    if (letter === "u") {
      const hex = this.text.slice(this.at + 2, this.at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(hex)) this.fail("\\u needs four hexadecimal digits");
      this.at += 6;
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    const meant = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
    if (meant === undefined) this.fail("this escape is unknown to JSON; a backslash is written \\\\");
    this.at += 2;
    return meant!;
  }

  scalar(): unknown {
    const word = /[^\s,\]}:"/[{]*/y;
    word.lastIndex = this.at;
    const found = word.exec(this.text)![0];
    if (found === "true" || found === "false" || found === "null") {
      this.at += found.length;
      return found === "null" ? null : found === "true";
    }
    if (/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(found)) {
      this.at += found.length;
      return Number(found);
    }
    return this.fail(
      found === "" || found.startsWith("'")
        ? "expected a JSON value"
        : `${JSON.stringify(found.slice(0, 40))} is not a JSON value`,
    );
  }

  take(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }

  ended(): string | undefined {
    return this.at >= this.text.length ? "unexpected end of the text" : undefined;
  }
}
