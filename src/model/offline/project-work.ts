// Work on a project: lines and values of files, how large they are, files of a kind, the project's own scripts.
import { isObject, tryParse } from "../../json/object.ts";
import {
  contentIn,
  failed,
  isNothing,
  type Program,
  type StepContext,
  shows,
  unreadSentence,
  use,
  withoutUnread,
} from "./desk.ts";
import type { LineChoice, StepOf } from "./steps.ts";

/** The whole text, or what is to be said instead. */
function* wholeText(path: string, desk: StepContext, what: string): Program<{ text: string } | { problem: string }> {
  const result = yield* use(desk, "Read", { path });
  if (result.isError) return { problem: failed(`${what} ${path}`, result) };
  const { text, note } = contentIn(result.text);
  return note?.isMore ? { problem: `I could not ${what} ${path}: it is too long to be read at once.` } : { text };
}

export function* changeLines({ path, which, change }: StepOf<"lines">, desk: StepContext): Program {
  const read = yield* wholeText(path, desk, "change");
  if ("problem" in read) return read.problem;
  const { text } = read;
  const lines = text.split(/(?<=\n)/);
  const chosen = lineIn(lines, which);
  if (typeof chosen === "string") return `I could not change ${path}: ${chosen}.`;
  const ending = text.includes("\r\n") ? "\r\n" : "\n";
  const old = lines[chosen]!;
  const stays = old.trimEnd() === old ? `${old}${ending}` : old;
  const added = "text" in change ? change.text : "";
  const changed = {
    remove: "",
    set: added + old.slice(old.trimEnd().length),
    before: added + ending + old,
    after: stays + added + (stays === old ? ending : ""),
  }[change.type];
  // As much around the line as makes it the only such place.
  let [first, last] = [chosen, chosen];
  const place = (): string => lines.slice(first, last + 1).join("");
  while (text.split(place()).length !== 2 && (first > 0 || last < lines.length - 1)) {
    first = Math.max(0, first - 1);
    last = Math.min(lines.length - 1, last + 1);
  }
  const newText = lines.slice(first, chosen).join("") + changed + lines.slice(chosen + 1, last + 1).join("");
  return yield* edit(path, { oldText: place(), newText }, desk);
}

/** Its index, or why there is no such line. */
function lineIn(lines: string[], which: LineChoice): number | string {
  const count = lines.length === 1 && lines[0] === "" ? 0 : lines.length;
  if ("last" in which) return count === 0 ? "it is empty" : count - 1;
  if ("number" in which) return which.number <= count ? which.number - 1 : `it has ${count} lines`;
  const found = lines.flatMap((line, index) => (line.trim() === which.text.trim() ? [index] : []));
  if (found.length === 1) return found[0]!;
  return found.length === 0 ? `it has no line "${which.text}"` : `${found.length} lines say "${which.text}"`;
}

function* edit(path: string, change: { oldText: string; newText: string }, desk: StepContext): Program {
  const result = yield* use(desk, "Edit", { path, edits: [change] });
  return result.isError ? failed(`change ${path}`, result) : `Updated ${path}.`;
}

/** "what is the port in config.yaml?", "change the version in package.json to 2.0.0". */
export function* showOrSet({ path, key, to }: StepOf<"value">, desk: StepContext): Program {
  const read = yield* wholeText(path, desk, to === undefined ? "read" : "change");
  if ("problem" in read) return read.problem;
  const values = valuesIn(path, read.text, key);
  if (values.length === 0) return `I could not find ${key} in ${path}.`;
  const [value] = values;
  if (to === undefined) return shows(desk, values.map((one) => one.shown).join("\n"), `${key} in ${path}:`);
  if (!value?.change || values.length > 1)
    return `I could not change ${key} in ${path}: ${values.length > 1 ? `it is there ${values.length} times` : "it is more than one value"}.`;
  const oldText = value.line;
  if (read.text.split(oldText).length !== 2) return `I could not change ${key} in ${path}: its line is there twice.`;
  return yield* edit(path, { oldText, newText: value.change(to) }, desk);
}

/** `line`: where it stands. `change`: the same line with another value; absent where the value is not a plain one. */
type Value = { shown: string; line: string; change?: (to: string) => string };

function valuesIn(path: string, text: string, key: string): Value[] {
  return /\.jsonc?$/i.test(path) ? jsonValues(text, key) : lineValues(text, key);
}

/** A key at the top wins over the same key further down. */
function jsonValues(text: string, key: string): Value[] {
  const whole = tryParse(text);
  const name = key.split(".").at(-1)!;
  const quoted = `"${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}"`;
  const plain = [...text.matchAll(new RegExp(`^[ \\t{]*${quoted}\\s*:\\s*("(?:[^"\\\\]|\\\\.)*"|[-\\w.]+)`, "gm"))];
  const written = plain.map((match): Value => {
    const old = match[1]!;
    const at = match.index + match[0].length - old.length;
    return {
      shown: old.startsWith('"') ? String(tryParse(old)) : old,
      line: match[0],
      change: (to) => text.slice(match.index, at) + (old.startsWith('"') || !isPlain(to) ? JSON.stringify(to) : to),
    };
  });
  if (!isObject(whole)) return written;
  const value = key.split(".").reduce<unknown>((at, part) => (isObject(at) ? at[part] : undefined), whole);
  if (value === undefined) return written;
  const shown = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  if (typeof value === "object") return [{ shown, line: "" }];
  // Of several such lines, the one whose change makes the difference here.
  const own = written.filter((one) => {
    const after = tryParse(text.replace(one.line, () => one.change!("0")));
    return (
      isObject(after) &&
      key.split(".").reduce<any>((at, part) => at?.[part], after) === (typeof value === "string" ? "0" : 0)
    );
  });
  return own.length > 0 ? own : [{ shown, line: "" }];
}

function isPlain(value: string): boolean {
  return /^(?:true|false|null|-?\d+(?:\.\d+)?)$/.test(value);
}

/** `port: 8080`, `port = 8080`, `PORT=8080`. */
function lineValues(text: string, key: string): Value[] {
  const name = key.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const line = new RegExp(
    `^([ \\t]*(?:export )?${name}[ \\t]*[:=][ \\t]*)(["']?)([^\\n#]*?)(\\2)([ \\t]*(?:#[^\\n]*)?)$`,
    "gim",
  );
  return [...text.matchAll(line)].map((match) => {
    const [whole, start = "", quote = "", value = "", , rest = ""] = match;
    return {
      shown: value === "" ? whole.trim() : value,
      line: whole,
      ...(value !== "" && { change: (to: string) => start + quote + to + quote + rest }),
    };
  });
}

export function* measure({ path, unit }: StepOf<"measure">, desk: StepContext): Program {
  const result = yield* use(desk, "Read", { path });
  if (result.isError) return failed(`read ${path}`, result);
  const { text, note } = contentIn(result.text);
  if (note?.isMore && unit !== "lines")
    return `I could not count the ${unit} of ${path}: it is too long to be read at once.`;
  const counts = {
    lines: note?.isMore ? note.of : text.split("\n").length - (text.endsWith("\n") || text === "" ? 1 : 0),
    words: text.split(/\s+/).filter((word) => word !== "").length,
    characters: [...text].length,
    bytes: Buffer.byteLength(text),
  };
  const count = counts[unit];
  desk.shown = String(count);
  return desk.bare ? String(count) : `${path} has ${count} ${count === 1 ? unit.slice(0, -1) : unit}.`;
}

const mostDeleted = 100;

export function* doEach({ act, pattern, path }: StepOf<"each">, desk: StepContext): Program {
  const result = yield* use(desk, "Glob", { pattern, path });
  if (result.isError) return failed(`find ${pattern}`, result);
  const sought = pattern.replace(/^\*\*\//, "");
  const files = isNothing(result) ? [] : withoutUnread(result.text).trim().split("\n");
  if (act === "count") {
    desk.shown = String(files.length);
    const where = path === undefined ? "here" : `in ${path}`;
    const what = sought === "*" ? "" : ` that ${files.length === 1 ? "matches" : "match"} ${sought}`;
    const count = `${files.length} file${files.length === 1 ? "" : "s"}`;
    return desk.bare
      ? desk.shown
      : `There ${files.length === 1 ? "is" : "are"} ${count}${what} ${where}.${unreadSentence(result)}`;
  }
  if (files.length === 0)
    return `No files match ${sought}. Files that git ignores are not looked at.${unreadSentence(result)}`;
  // A list that was cut, or a remark of the tool, is not a list of names.
  if (files.length > mostDeleted || files.some((file) => /^[[(]/.test(file)))
    return `I could not delete them all: more than ${mostDeleted} files match ${sought}.`;
  const said: string[] = [];
  for (const file of files) {
    const gone = yield* use(desk, "Delete", { path: path === undefined ? file : `${path}/${file}` });
    said.push(gone.isError ? failed(`delete ${file}`, gone) : `Deleted ${file}.`);
  }
  return `${said.join("\n")}${unreadSentence(result)}`;
}

const LOCKS: Record<string, string> = {
  "pnpm-lock.yaml": "pnpm",
  "yarn.lock": "yarn",
  "bun.lock": "bun",
  "bun.lockb": "bun",
};
/** What tests are run with, by the file that says so. */
const TESTERS: Record<string, string> = {
  "Cargo.toml": "cargo test",
  "go.mod": "go test ./...",
  "pytest.ini": "python3 -m pytest",
  "pyproject.toml": "python3 -m pytest",
};

/** "run the tests": the command that the project itself names. */
export function* runScript(
  { name }: StepOf<"script">,
  desk: StepContext,
): Program<{ command: string } | { problem: string }> {
  const files = ["package.json", "Makefile", ...Object.keys(TESTERS), ...Object.keys(LOCKS)];
  const result = yield* use(desk, "Glob", { pattern: `{${files.join(",")}}` });
  const there = result.isError
    ? []
    : result.text
        .trim()
        .split("\n")
        .map((path) => path.replace(/^\.\//, ""));
  let known: string[] = [];
  if (there.includes("package.json")) {
    const read = yield* wholeText("package.json", desk, "read");
    const scripts = "text" in read ? (tryParse(read.text) as { scripts?: object } | undefined)?.scripts : undefined;
    known = isObject(scripts) ? Object.keys(scripts) : [];
    const manager = LOCKS[there.find((file) => Object.hasOwn(LOCKS, file)) ?? ""] ?? "npm";
    if (known.includes(name))
      return { command: name === "test" && manager !== "bun" ? `${manager} test` : `${manager} run ${name}` };
  }
  if (there.includes("Makefile")) {
    const read = yield* wholeText("Makefile", desk, "read");
    if ("text" in read && new RegExp(`^${name.replace(/[^\w-]/g, "")}:`, "m").test(read.text))
      return { command: `make ${name}` };
  }
  const tester = there.find((file) => Object.hasOwn(TESTERS, file));
  if (name === "test" && tester !== undefined) return { command: TESTERS[tester]! };
  const others = known.length > 0 ? ` package.json has: ${known.join(", ")}.` : "";
  return { problem: `I could not find a ${name} command in this project.${others}` };
}
