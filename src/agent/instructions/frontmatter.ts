// Parses the frontmatter of a Markdown file. Real files are only roughly YAML, so the parser is lenient.
import { nearestName } from "../../text/nearest.ts";

/** The value of a frontmatter field: its raw text, or the items of a `- ` list. */
type FieldValue = string | string[];

type Frontmatter = {
  /** Frontmatter fields by their lower-case names. */
  fields: ReadonlyMap<string, FieldValue>;
  body: string;
  warnings: string[];
};

export function parseFrontmatter(source: string): Frontmatter {
  const text = source.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line.trim() !== "");
  if (first === -1 || !isFence(lines[first]!)) return { fields: new Map(), body: text, warnings: [] };
  const last = lines.findIndex((line, index) => index > first && isFence(line));
  if (last === -1) {
    return {
      fields: new Map(),
      body: text,
      warnings: ["its frontmatter has no closing ---, so the whole file is treated as text"],
    };
  }
  const warnings: string[] = [];
  const fields = parseFields(lines.slice(first + 1, last), warnings);
  const body = lines
    .slice(last + 1)
    .join("\n")
    .replace(/^\n+/, "");
  return { fields, body, warnings };
}

/** Joins a field's value into one line of text. */
export function fieldText(value: FieldValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  const text = typeof value === "string" ? unquote(value) : value.map(unquote).join(", ");
  return text.trim() === "" ? undefined : text.trim();
}

/** Parses a comma list, a `[bracket]` list or a `- ` list, with or without quotes. Commas inside braces do not separate. */
export function fieldList(value: FieldValue | undefined): string[] {
  if (value === undefined) return [];
  if (typeof value !== "string") return value.flatMap(fieldList);
  const bare = withoutComment(value).trim();
  const inner = bare.startsWith("[") && bare.endsWith("]") ? bare.slice(1, -1) : unquote(bare);
  return splitAtCommas(inner)
    .map((item) => unquote(item.trim()))
    .filter((item) => item !== "");
}

/** Returns undefined when the value is not a boolean. */
export function booleanOf(value: FieldValue | undefined): boolean | undefined {
  if (typeof value !== "string") return undefined;
  const word = unquote(withoutComment(value).trim()).toLowerCase();
  if (word === "true" || word === "yes" || word === "on") return true;
  return word === "false" || word === "no" || word === "off" || word === "" ? false : undefined;
}

/** Warns about unknown fields that look like misspelt known ones. Other fields belong to other programs. */
export function misspeltFieldWarnings(fields: ReadonlyMap<string, FieldValue>, known: readonly string[]): string[] {
  const warnings: string[] = [];
  for (const name of fields.keys()) {
    if (known.some((other) => other.toLowerCase() === name)) continue;
    const meant = nearestName(name, known);
    if (meant) warnings.push(`unknown field "${name}" (did you mean ${meant}?)`);
  }
  return warnings;
}

function parseFields(lines: readonly string[], warnings: string[]): Map<string, FieldValue> {
  const fields = new Map<string, FieldValue>();
  let name: string | undefined;
  for (const line of lines) {
    if (line.trim() === "" || line.trimStart().startsWith("#")) continue;
    const item = /^\s*-(?:\s+(.*))?$/.exec(line);
    const current = name === undefined ? undefined : fields.get(name);
    if (item && name !== undefined && (Array.isArray(current) || current === "")) {
      const entry = (item[1] ?? "").trim();
      if (Array.isArray(current)) current.push(entry);
      else fields.set(name, [entry]);
      continue;
    }
    const field = /^([A-Za-z][\w-]*)\s*:(.*)$/.exec(line);
    if (field && !isOpenList(current)) {
      name = field[1]!.toLowerCase();
      const value = field[2]!.trim();
      fields.set(name, value.startsWith("[") ? withoutComment(value).trim() : value);
      continue;
    }
    if (name !== undefined && typeof current === "string" && (/^\s/.test(line) || isOpenList(current))) {
      fields.set(name, appendLine(current, line.trim()));
      continue;
    }
    warnings.push(`a line of its frontmatter cannot be parsed: ${line.trim().slice(0, 60)}`);
  }
  return fields;
}

/** Appends the next line to a value; `>` and `|` only announce a multi-line value. */
function appendLine(value: string, more: string): string {
  if (/^[>|][+-]?$/.test(value) || value === "") return more;
  return value.startsWith("[") ? `${value} ${withoutComment(more).trim()}` : `${value} ${more}`;
}

function isOpenList(value: FieldValue | undefined): boolean {
  return typeof value === "string" && value.startsWith("[") && !value.endsWith("]");
}

function isFence(line: string): boolean {
  return /^---\s*$/.test(line);
}

function unquote(text: string): string {
  const bare = text.trim();
  const quote = bare[0];
  const isQuoted = bare.length >= 2 && (quote === '"' || quote === "'") && bare.endsWith(quote);
  // "a", "b" is a list of quoted strings, not one quoted string.
  return isQuoted && !bare.slice(1, -1).includes(quote) ? bare.slice(1, -1) : bare;
}

function withoutComment(text: string): string {
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (quote !== "") {
      if (letter === quote) quote = "";
    } else if (letter === '"' || letter === "'") quote = letter;
    else if (letter === "#" && (at === 0 || /\s/.test(text[at - 1]!))) return text.slice(0, at);
  }
  return text;
}

function splitAtCommas(text: string): string[] {
  const items: string[] = [];
  let depth = 0;
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (letter === "{") depth++;
    else if (letter === "}") depth = Math.max(0, depth - 1);
    else if (letter === "," && depth === 0) {
      items.push(text.slice(start, at));
      start = at + 1;
    }
  }
  return [...items, text.slice(start)];
}
