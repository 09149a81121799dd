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
import { shellWord } from "./moving.ts";
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
  const chosen = linesIn(lines, which);
  if (typeof chosen === "string") return `I could not change ${path}: ${chosen}.`;
  const ending = text.includes("\r\n") ? "\r\n" : "\n";
  // From the last one to the first, so that the numbers of those before stay what they are.
  const changed = [...lines];
  for (const { from, to } of chosen.toReversed()) {
    const old = lines.slice(from, to + 1).join("");
    const stays = old.trimEnd() === old ? `${old}${ending}` : old;
    const added = "text" in change ? change.text : "";
    const now = {
      remove: "",
      set: added + old.slice(old.trimEnd().length),
      before: added + ending + old,
      after: stays + added + (stays === old ? ending : ""),
    }[change.type];
    changed.splice(from, to - from + 1, now, ...Array<string>(to - from).fill(""));
  }
  // As much around the lines as makes them the only such place.
  let [first, last] = [chosen[0]!.from, chosen.at(-1)!.to];
  const place = (): string => lines.slice(first, last + 1).join("");
  while (text.split(place()).length !== 2 && (first > 0 || last < lines.length - 1)) {
    first = Math.max(0, first - 1);
    last = Math.min(lines.length - 1, last + 1);
  }
  return yield* edit(path, { oldText: place(), newText: changed.slice(first, last + 1).join("") }, desk);
}

const BULLET = () => /^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ x]\]\s+)?/;

type Range = { from: number; to: number };

/** Their indexes, or why there are no such lines. */
function linesIn(lines: string[], which: LineChoice): Range[] | string {
  const count = lines.length === 1 && lines[0] === "" ? 0 : lines.length;
  if ("last" in which)
    return which.last <= count ? [{ from: count - which.last, to: count - 1 }] : `it has ${count} lines`;
  if ("from" in which)
    return which.to <= count ? [{ from: which.from - 1, to: which.to - 1 }] : `it has ${count} lines`;
  if ("heading" in which) {
    const at = lines.findIndex((line) => /^# \S/.test(line));
    return at < 0 ? "it has no heading" : [{ from: at, to: at }];
  }
  const sought = "text" in which ? which.text.trim() : which.holding;
  const found = lines.flatMap((line, index) =>
    ("text" in which ? line.trim() === sought || line.replace(BULLET(), "").trim() === sought : line.includes(sought))
      ? [{ from: index, to: index }]
      : [],
  );
  const isAll = "all" in which && which.all;
  if (found.length === 1 || (isAll && found.length > 0)) return found;
  const says = "text" in which ? "say" : "contain";
  return found.length === 0
    ? `it has no line ${"text" in which ? "" : "with "}"${sought}"`
    : `${found.length} lines ${says} "${sought}"`;
}

function* edit(path: string, change: { oldText: string; newText: string }, desk: StepContext): Program {
  const result = yield* use(desk, "Edit", { path, edits: [change] });
  return result.isError ? failed(`change ${path}`, result) : `Updated ${path}.`;
}

const FLAG = /^(?:true|false)$/;
const NUMBER = /^-?\d+(?:\.\d+)?$/;
const SWITCHED: Record<string, string> = {
  on: "true",
  yes: "true",
  enabled: "true",
  off: "false",
  no: "false",
  disabled: "false",
};

/** "what is the port in config.yaml?", "change the version in package.json to 2.0.0". */
export function* showOrSet({ path, key, to, orText, from, is }: StepOf<"value">, desk: StepContext): Program {
  const read = yield* wholeText(path, desk, to === undefined ? "read" : "change");
  if ("problem" in read) return read.problem;
  const values = valuesIn(path, read.text, key);
  // "change demo to sample in config.json": no name of a value, but a text that is there once.
  if (values.length === 0 && orText && to !== undefined && read.text.split(key).length === 2)
    return yield* edit(path, { oldText: key, newText: to }, desk);
  if (values.length === 0) return `I could not find ${key} in ${path}.`;
  const [value] = values;
  if (is && values.length === 1)
    return `${is.test(value!.shown) ? "Yes" : "No"}: ${key} in ${path} is ${value!.shown}.`;
  if (to === undefined) return shows(desk, values.map((one) => one.shown).join("\n"), `${key} in ${path}:`);
  if (!value?.change || values.length > 1)
    return `I could not change ${key} in ${path}: ${values.length > 1 ? `it is there ${values.length} times` : "it is more than one value"}.`;
  if (from !== undefined && !(typeof from === "string" ? from === value.shown : from.test(value.shown)))
    return `I could not change ${key} in ${path}: it is ${value.shown}.`;
  const kind = [FLAG, NUMBER].find((one) => one.test(value.shown));
  const given = kind === FLAG ? (Object.hasOwn(SWITCHED, to.toLowerCase()) ? SWITCHED[to.toLowerCase()]! : to) : to;
  if (kind && !kind.test(given)) return `I could not change ${key} in ${path} to ${to}: it is ${value.shown}.`;
  const oldText = value.line;
  if (read.text.split(oldText).length !== 2) return `I could not change ${key} in ${path}: its line is there twice.`;
  return yield* edit(path, { oldText, newText: value.change(given) }, desk);
}

/** "remove the license field from package.json": where the file is laid out as JSON usually is, and stays so. */
export function* changeEntry({ path, key, within, value }: StepOf<"entry">, desk: StepContext): Program {
  const read = yield* wholeText(path, desk, "change");
  if ("problem" in read) return read.problem;
  const whole = tryParse(read.text);
  const indent = /^\{\r?\n([ \t]+)/.exec(read.text)?.[1] ?? "";
  const ending = /\s*$/.exec(read.text)![0];
  if (!isObject(whole) || JSON.stringify(whole, null, indent) + ending !== read.text)
    return `I could not change ${path}: it is not laid out as JSON usually is.`;
  const place = within === undefined ? whole : whole[within];
  const name = within === undefined ? path : `${within} of ${path}`;
  if (value === undefined) {
    const holders = [place, ...(within === undefined ? Object.values(whole) : [])].filter(
      (one): one is Record<string, unknown> => isObject(one) && Object.hasOwn(one, key),
    );
    if (holders.length !== 1)
      return `I could not change ${name}: ${holders.length === 0 ? `it has no ${key}` : `${key} is there ${holders.length} times`}.`;
    delete holders[0]![key];
  } else {
    if (!isObject(place)) return `I could not change ${path}: it has no ${within}.`;
    if (Object.hasOwn(place, key)) return `I could not add ${key} to ${name}: it already exists.`;
    place[key] = isPlain(value) ? tryParse(value) : value;
  }
  return yield* edit(path, { oldText: read.text, newText: JSON.stringify(whole, null, indent) + ending }, desk);
}

/** `line`: where it stands. `change`: the same line with another value; absent where the value is not a plain one. */
type Value = { shown: string; line: string; change?: (to: string) => string };

function valuesIn(path: string, text: string, key: string): Value[] {
  if (/\.csv$/i.test(path)) return cells(text, key);
  return /\.jsonc?$/i.test(path) ? jsonValues(text, key) : lineValues(text, key);
}

/** `Ann.age`: plain tables only, without quotes and with as many values in each row as there are names. */
function cells(text: string, key: string): Value[] {
  const [owner = "", column = ""] = key.toLowerCase().split(".");
  const rows = text.trimEnd().split(/\r?\n/);
  const names = rows[0]!.split(",").map((name) => name.trim().toLowerCase());
  const at = names.indexOf(column);
  if (at < 0 || text.includes('"')) return [];
  return rows.slice(1).flatMap((line) => {
    const values = line.split(",");
    const isOwner = values.some((value, index) => index !== at && value.trim().toLowerCase() === owner);
    if (!isOwner || values.length !== names.length) return [];
    return [{ shown: values[at]!.trim(), line, change: (to: string) => values.with(at, to).join(",") }];
  });
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

export function* measure({ path, unit, text: sought = "", asks }: StepOf<"measure">, desk: StepContext): Program {
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
    times: sought === "" ? 0 : text.split(sought).length - 1,
  };
  const count = counts[unit];
  desk.shown = String(count);
  if (asks) return count === 0 ? `Yes: ${path} is empty.` : `No: ${path} has ${count} bytes.`;
  if (unit === "times" && !desk.bare)
    return `"${sought}" is in ${path} ${count === 1 ? "once (1)" : `${count} times`}.`;
  return desk.bare ? String(count) : `${path} has ${count} ${count === 1 ? unit.slice(0, -1) : unit}.`;
}

const mostDeleted = 100;
const mostRead = 20;

export function* doEach({ act, pattern, path, to, isThere, except = [] }: StepOf<"each">, desk: StepContext): Program {
  const result = yield* use(desk, "Glob", { pattern, path });
  if (result.isError) return failed(`find ${pattern}`, result);
  const sought = pattern.replace(/^\*\*\//, "");
  const all = isNothing(result) ? [] : withoutUnread(result.text).trim().split("\n");
  const files = all.filter((file) => !except.includes(file));
  if (act === "count") {
    desk.shown = String(files.length);
    const where = path === undefined ? "here" : `in ${path}`;
    const what = sought === "*" ? "" : ` that ${files.length === 1 ? "matches" : "match"} ${sought}`;
    const count = `${files.length} file${files.length === 1 ? "" : "s"}`;
    return desk.bare
      ? desk.shown
      : `There ${files.length === 1 ? "is" : "are"} ${count}${what} ${where}.${unreadSentence(result)}`;
  }
  if (act === "read" && files.length > 0 && files.length <= mostRead) {
    const texts: string[] = [];
    for (const file of files) {
      const read = yield* use(desk, "Read", { path: file });
      texts.push(
        read.isError ? failed(`read ${file}`, read) : shows(desk, contentIn(read.text).text, `${file} contains:`),
      );
    }
    return texts.join("\n\n");
  }
  if (files.length === 0)
    return `No files match ${sought}. Files that git ignores are not looked at.${unreadSentence(result)}`;
  // A list that was cut, or a remark of the tool, is not a list of names.
  if (files.length > mostDeleted || files.some((file) => /^[[(]/.test(file)))
    return `I could not ${act} them all: ${files.length} files match ${sought}.`;
  if (to !== undefined) return yield* takeTo({ to, isThere: isThere === true, act }, files, desk);
  const said: string[] = [];
  for (const file of files) {
    const gone = yield* use(desk, "Delete", { path: file });
    said.push(gone.isError ? failed(`delete ${file}`, gone) : `Deleted ${file}.`);
  }
  return `${said.join("\n")}${unreadSentence(result)}`;
}

type Taking = { to: string; isThere: boolean; act: string };

/** All of them into one folder, or none where one would take the place of another. */
function* takeTo({ to: folder, isThere, act }: Taking, files: string[], desk: StepContext): Program {
  const outside = files.filter((file) => !file.startsWith(`${folder}/`));
  const names = outside.map((file) => file.split("/").at(-1)!);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) return `I could not ${act} them all to ${folder}: more than one is called ${twice}.`;
  if (outside.length === 0) return `They are in ${folder} already.`;
  const place = shellWord(folder);
  const isFree = names.map((name) => `test ! -e ${place}/${shellWord(name)}`).join(" && ");
  const command = `${isFree} && ${isThere ? `ls -d -- ${place}/ >/dev/null` : `mkdir -p -- ${place}`} && ${act === "move" ? "mv" : "cp"} -n -- ${outside.map(shellWord).join(" ")} ${place}/`;
  const result = yield* use(desk, "Shell", { command });
  return result.isError
    ? failed(`${act} them all to ${folder}`, result)
    : `${act === "move" ? "Moved" : "Copied"} ${outside.join(", ")} to ${folder}.`;
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
