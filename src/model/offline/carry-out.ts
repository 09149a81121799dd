// Carry out: steps -> tool calls one after another, and the answer in words at the end.
import { sayings } from "./arithmetic.ts";
import {
  contentIn,
  failed,
  isFailure,
  isNothing,
  type Program,
  type StepContext,
  shows,
  unreadSentence,
  use,
} from "./desk.ts";
import { changeEntry, changeLines, doEach, measure, runScript, showOrSet } from "./project-work.ts";
import type { Content, Step, StepOf, Todo } from "./steps.ts";
import { afterCall } from "./todos.ts";

export function* carryOut(steps: readonly Step[], given: Omit<StepContext, "shown">): Program {
  const desk: StepContext = { ...given, shown: "" };
  let answer = "";
  let before: Step["do"] | undefined;
  let isStuck = false;
  let left = 0;
  let last = "";
  const obstacle = yield* firstObstacle(steps, desk);
  if (obstacle !== undefined) return `I could not ${obstacle}. Nothing was done.`;
  for (const [index, step] of steps.entries()) {
    if (isStuck && changes(step)) {
      left += 1;
      continue;
    }
    if (isFailure(last) && "content" in step && typeof step.content !== "string") {
      left += 1;
      continue;
    }
    const report = yield* perform(step, desk);
    last = report;
    isStuck ||= changes(step) && isFailure(report);
    // A list that the next step changes is shown once, as it is then.
    const isPassing =
      step.do === "todos" && /todos$/.test(steps[index + 1]?.do ?? "") && report === todoList(desk.todos);
    if (report === "" || isPassing) continue;
    // Sums and one-line reports stand close together; what shows content gets room.
    const close =
      before === undefined || (isOneLine(report) && isOneLine(answer.split("\n").at(-1) ?? "") && !/```$/.test(answer));
    answer += (answer === "" ? "" : close ? "\n" : "\n\n") + report;
    before = step.do;
  }
  if (left > 0) answer += `\nI left ${left === 1 ? "a step" : `${left} steps`} undone, since one before it failed.`;
  return answer === "" ? "Done." : answer;
}

/** Of several changes none is made where it can be seen beforehand that one of them cannot be. */
function* firstObstacle(steps: readonly Step[], desk: StepContext): Program<string | undefined> {
  if (steps.filter(changes).length < 2) return undefined;
  const touched = new Set<string>();
  let isFirst = true;
  for (const step of steps) {
    const path = step.do === "run" ? step.takes : "path" in step ? step.path : undefined;
    const isNeeded =
      /^(?:append|replace|delete|lines|entry|value|run)$/.test(step.do) || (step.do === "write" && step.isThere);
    if (path !== undefined && changes(step) && !touched.has(path)) {
      touched.add(path);
      const whole = step.do === "replace" || step.do === "lines";
      const isNew = step.do === "write" && !step.replaces && !isNeeded;
      if (isNeeded || (isNew && !isFirst)) {
        const present = yield* use(desk, "Read", { path, ...(!whole && { limit: 1 }) });
        const isMissing = present.isError && /not found|no such file|does not exist|ENOENT/i.test(present.text);
        if (isNeeded && isMissing) return `find ${path}`;
        if (isNew && !present.isError) return `create ${path}: it already exists`;
        if (
          step.do === "replace" &&
          !present.isError &&
          !contentIn(present.text).note?.isMore &&
          !contentIn(present.text).text.includes(step.oldText)
        )
          return `find "${step.oldText}" in ${path}`;
      }
    }
    if (step.do === "run" && step.gives !== undefined) touched.add(step.gives);
    if (changes(step)) isFirst = false;
    // What a command leaves behind is not known before it has run.
    if (/^(?:script|call|each)$/.test(step.do) || (step.do === "run" && step.takes === undefined)) break;
  }
  return undefined;
}

/** Changes files: not done after such a step has failed ("copy a to b, then delete a"). */
function changes(step: Step): boolean {
  return (
    /^(?:write|append|replace|delete|lines|entry|each)$/.test(step.do) ||
    (step.do === "value" && step.to !== undefined) ||
    (step.do === "run" && step.done !== undefined)
  );
}

function isOneLine(text: string): boolean {
  return !text.includes("\n");
}

function* perform(step: Step, desk: StepContext): Program {
  switch (step.do) {
    case "say":
      desk.shown = step.text;
      return step.text;
    case "sum":
      desk.shown = step.sum.digits ?? "";
      return desk.bare && step.sum.digits !== undefined ? step.sum.digits : sayings(step.sum);
    case "read":
      return yield* read(step, desk);
    case "write":
      return yield* write(step, desk);
    case "append":
      return yield* append(step, desk);
    case "replace":
      return yield* replace(step, desk);
    case "delete": {
      const result = yield* use(desk, "Delete", { path: step.path });
      return result.isError ? failed(`delete ${step.path}`, result) : `Deleted ${step.path}.`;
    }
    case "lines":
      return yield* changeLines(step, desk);
    case "value":
      return yield* showOrSet(step, desk);
    case "entry":
      return yield* changeEntry(step, desk);
    case "measure":
      return yield* measure(step, desk);
    case "each":
      return yield* doEach(step, desk);
    case "script": {
      const chosen = yield* runScript(step, desk);
      return "problem" in chosen ? chosen.problem : yield* run({ do: "run", ...chosen }, desk);
    }
    case "list": {
      const result = yield* use(desk, "LS", { path: step.path });
      if (result.isError) return failed(`list ${step.path ?? "the folder"}`, result);
      return shows(desk, result.text, step.path === undefined ? "Files here:" : `Files in ${step.path}:`);
    }
    case "find": {
      const { pattern, path } = step;
      const result = yield* use(desk, "Glob", { pattern, path });
      if (result.isError) return failed(`find ${pattern}`, result);
      const sought = path === undefined ? pattern : `${pattern} in ${path}`;
      if (isNothing(result)) return `${step.asks ? "No: no" : "No"} files match ${sought}.${unreadSentence(result)}`;
      return shows(desk, result.text, `${step.asks ? "Yes. " : ""}Files that match ${sought}:`);
    }
    case "search":
      return yield* search(step, desk);
    case "run":
      return yield* run(step, desk);
    case "fetch": {
      const result = yield* use(desk, "WebFetch", { url: step.url });
      return result.isError ? failed(`fetch ${step.url}`, result) : shows(desk, result.text, `${step.url} says:`);
    }
    case "todos": {
      const args = { todos: step.todos, merge: step.merge };
      const result = yield* use(desk, "TodoWrite", args);
      if (result.isError) return failed("write the todo list", result);
      desk.todos = afterCall(desk.todos, args);
      return todoList(desk.todos);
    }
    case "show todos":
      return todoList(desk.todos);
    case "call": {
      const result = yield* use(desk, step.tool, step.args);
      return result.isError ? failed(`call ${step.tool}`, result) : shows(desk, result.text, `${step.tool} answered:`);
    }
  }
}

function* read(step: StepOf<"read">, desk: StepContext): Program {
  const { first, last, from, to } = step.lines ?? {};
  const start = from ?? 1;
  const limit = first ?? (to === undefined ? undefined : Math.max(1, to - start + 1));
  const result = yield* use(desk, "Read", { path: step.path, offset: from, limit });
  if (result.isError && /is a directory/i.test(result.text))
    return yield* perform({ do: "list", path: step.path }, desk);
  if (result.isError) return failed(`read ${step.path}`, result);
  let { text, note } = contentIn(result.text);
  if (last !== undefined && note?.isMore) {
    const end = yield* use(desk, "Read", { path: step.path, offset: Math.max(1, note.of - last) });
    if (end.isError) return failed(`read ${step.path}`, end);
    ({ text, note } = contentIn(end.text));
  }
  const whole = text.replace(/\n$/, "");
  if (whole === "") {
    desk.shown = "";
    return desk.bare ? "" : `${step.path} is empty.`;
  }
  const body = last === undefined ? whole : whole.split("\n").slice(-last).join("\n");
  const heading =
    first !== undefined
      ? `The first ${lineCount(first)} of ${step.path}:`
      : last !== undefined
        ? `The last ${lineCount(last)} of ${step.path}:`
        : from !== undefined
          ? `${step.path}, from line ${from}${to === undefined ? "" : ` to ${to}`}:`
          : `${step.path} contains:`;
  const cut =
    note?.isMore && limit === undefined && last === undefined ? `\n(cut after line ${note.to} of ${note.of})` : "";
  return shows(desk, body, heading) + (desk.bare ? "" : cut);
}

function lineCount(count: number): string {
  return count === 1 ? "line" : `${count} lines`;
}

function* write(step: StepOf<"write">, desk: StepContext): Program {
  const content = textOf(step.content, desk);
  const path = step.path ?? (yield* freeName(desk));
  // What is not there cannot be emptied, and is not made by the way.
  const present = step.isThere ? yield* use(desk, "Read", { path, limit: 1 }) : undefined;
  if (present?.isError) return failed(`change ${path}`, present);
  const result = yield* use(desk, "Write", { path, content, ...(!step.replaces && { onlyNew: true }) });
  if (result.isError && /already exists/.test(result.text))
    return `I could not create ${path}: it already exists. Nothing was changed. To replace it, say: overwrite ${path} with '…'`;
  if (result.isError) return failed(`write ${path}`, result);
  return `${step.isNew ? "Created" : "Updated"} ${path}${content === "" ? " (empty)" : ""}.`;
}

/** A file without a name gets one that no file has yet. */
function* freeName(desk: StepContext): Program {
  const result = yield* use(desk, "Glob", { pattern: "new-file*.txt" });
  const taken = result.isError ? "" : result.text;
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? "new-file.txt" : `new-file-${number}.txt`;
    if (!taken.includes(name)) return name;
  }
}

function textOf(content: Content, desk: StepContext): string {
  return typeof content === "string" ? content : desk.shown === "" ? "" : `${desk.shown}\n`;
}

/**
 * Read, then an edit that finds the edge of the file by its own words: were they not what the file holds (cut off,
 * decorated by the Read tool), the edit would fail, never harm.
 */
function* append(step: StepOf<"append">, desk: StepContext): Program {
  const added = textOf(step.content, desk).replace(/\n$/, "");
  const present = yield* use(desk, "Read", { path: step.path });
  if (present.isError) return failed(`add to ${step.path}`, present);
  if (/\.jsonc?$/i.test(step.path)) return `I could not add to ${step.path}: text at its ${step.at} would break it.`;
  let { text, note } = contentIn(present.text);
  if (step.at === "end" && note?.isMore) {
    const end = yield* use(desk, "Read", { path: step.path, offset: Math.max(1, note.of - 100) });
    if (end.isError) return failed(`add to ${step.path}`, end);
    ({ text, note } = contentIn(end.text));
    if (note?.isMore) return `I could not add to ${step.path}: its last lines are too long to be read.`;
  }
  if (text.trim() === "" && text.length < 3) {
    const written = yield* use(desk, "Write", { path: step.path, content: `${added}\n` });
    if (written.isError) return failed(`write ${step.path}`, written);
    return `Updated ${step.path}.`;
  }
  const line = text.includes("\r\n") ? "\r\n" : "\n";
  const bullets = step.item ? [...text.matchAll(/^([ \t]*[-*+] (?:\[[ x]\] )?)\S.*$/gm)] : [];
  if (bullets.length > 0) {
    const last = bullets.at(-1)!;
    const mark = last[1]!.replace("[x]", "[ ]");
    return yield* edit(desk, step.path, {
      oldText: last[0],
      newText: `${last[0]}${line}${mark}${added.replace(/^[-*+] /, "")}`,
    });
  }
  const ended = text.endsWith("\n");
  const edge = step.at === "end" ? uniqueEnd(text) : uniqueStart(text);
  const newText =
    step.at === "start" ? `${added}${line}${edge}` : ended ? `${edge}${added}${line}` : `${edge}${line}${added}`;
  const result = yield* use(desk, "Edit", { path: step.path, edits: [{ oldText: edge, newText }] });
  return result.isError ? failed(`add to ${step.path}`, result) : `Updated ${step.path}.`;
}

/** The fewest last lines that occur once. */
function uniqueEnd(text: string): string {
  for (let from = text.lastIndexOf("\n", text.length - 2); from > 0; from = text.lastIndexOf("\n", from - 1)) {
    const end = text.slice(from + 1);
    if (end.trim() !== "" && text.indexOf(end) === from + 1) return end;
  }
  return text;
}

function uniqueStart(text: string): string {
  for (let to = text.indexOf("\n"); to >= 0 && to < text.length - 1; to = text.indexOf("\n", to + 1)) {
    const start = text.slice(0, to + 1);
    if (start.trim() !== "" && text.lastIndexOf(start) === 0) return start;
  }
  return text;
}

function* replace({ path, oldText, newText, first }: StepOf<"replace">, desk: StepContext): Program {
  if (!first && newText !== "") return yield* edit(desk, path, { oldText, newText, replaceAll: true });
  const present = yield* use(desk, "Read", { path });
  if (present.isError) return failed(`read ${path}`, present);
  const { text } = contentIn(present.text);
  const at = text.indexOf(oldText);
  if (at < 0) return `I could not change ${path}: it does not contain "${oldText}".`;
  if (!first) {
    // What fills its line is taken out with the line.
    const fillsLine = text.split("\n").every((line) => !line.includes(oldText) || line === oldText);
    const taken = fillsLine && text.includes(`${oldText}\n`) ? `${oldText}\n` : oldText;
    return yield* edit(desk, path, { oldText: taken, newText, replaceAll: true });
  }
  // From the start of the file to the first occurrence, and as far behind it as it takes to occur once.
  let end = at + oldText.length;
  while (end < text.length && text.indexOf(text.slice(0, end), 1) >= 0) end += 1;
  const before = text.slice(0, at);
  const behind = text.slice(at + oldText.length, end);
  return yield* edit(desk, path, { oldText: before + oldText + behind, newText: before + newText + behind });
}

function* edit(desk: StepContext, path: string, change: object): Program {
  const result = yield* use(desk, "Edit", { path, edits: [change] });
  return result.isError ? failed(`change ${path}`, result) : `Updated ${path}.`;
}

const found: Record<StepOf<"search">["mode"], string> = {
  files_with_matches: "Files that contain",
  count: "Matches of",
  content: "Lines that contain",
};

function* search({ pattern, path, glob, mode, anyCase, asks }: StepOf<"search">, desk: StepContext): Program {
  const result = yield* use(desk, "Grep", { pattern, path, glob, outputMode: mode, caseInsensitive: anyCase });
  const term = pattern.replace(/\\(?=[\\^$.*+?()[\]{}|])/g, "");
  if (result.isError) return failed(`search for ${term}`, result);
  const place = path ?? glob;
  if (isNothing(result))
    return `${asks ? "No: nothing" : "Nothing"} contains "${term}"${place === undefined ? "" : ` in ${place}`}.${unreadSentence(result)}`;
  const total = mode === "count" ? totalOf(result.text) : "";
  return shows(desk, result.text, `${asks ? "Yes. " : ""}${found[mode]} "${term}"${total}:`);
}

/** Of counts by file, where there are several. */
function totalOf(counts: string): string {
  const each = [...counts.matchAll(/:(\d+)$/gm)].map((match) => Number(match[1]));
  return each.length < 2 ? "" : `, ${each.reduce((sum, count) => sum + count, 0)} in ${each.length} files`;
}

function* run({ command, directory, done, undone }: StepOf<"run">, desk: StepContext): Program {
  const result = yield* use(desk, "Shell", { command, workingDirectory: directory });
  const text = result.text.replace(/\s+$/, "").replace(/^\(no output\)\n?/, "");
  // Said on a line of its own, after or before what the command printed.
  const code = /(?:^|\n)\[?exit(?:ed with)? code:? (\d+)\]?(?=\n|$)/i.exec(text)?.[1];
  if (result.isError && code === undefined) return failed(`run ${command}`, result);
  if (done !== undefined && (code === undefined || code === "0")) return done;
  if (code === undefined || code === "0") {
    const output = text.replace(/^exit code: 0\n*/i, "");
    return output === "" && !desk.bare ? `${command} printed nothing.` : shows(desk, output, `Output of ${command}:`);
  }
  const output = text.replace(/(?:^|\n)\[?exit(?:ed with)? code:? \d+\]?(?=\n|$)/i, "");
  if (undone !== undefined && output.trim() === "") return undone;
  const ended = `${command} ended with exit code ${code}`;
  return output.trim() === ""
    ? `${ended}.`
    : desk.bare
      ? `${shows(desk, output, "")}\n${ended}.`
      : shows(desk, output, `${ended}:`);
}

function todoList(todos: readonly Todo[]): string {
  if (todos.length === 0) return "The todo list is empty.";
  const marks: Record<string, string> = { completed: "[x]", in_progress: "[~]", cancelled: "[-]" };
  return todos.map((todo) => `${todo.id}. ${marks[todo.status] ?? "[ ]"} ${todo.content}`).join("\n");
}
