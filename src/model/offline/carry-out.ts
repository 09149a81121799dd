// Carries out orders with tool calls, one after the other, and reports the results in words.
import { tryParse } from "../../json/object.ts";
import type { ToolSpec } from "../provider.ts";
import { contentIn, failure, fence, isFailure, type Program, type ToolOutcome, type ToolUse, useTool } from "./desk.ts";
import { forms } from "./forms.ts";
import { describeProject } from "./project.ts";
import { type Todo, todoList } from "./todos.ts";
import { howToGetAModel, type Order } from "./understand.ts";

/** What the user's words may refer to, besides each other. */
export type Scene = {
  tools: readonly ToolSpec[];
  todos: Todo[];
  /** The user's previous prompt, if there is one. */
  lastPrompt: string | undefined;
  /** The version of this program, for the question "what version is it?". */
  version: string;
};

export function* carryOut(orders: readonly Order[], scene: Scene): Program {
  const obstacle = yield* firstObstacle(orders, scene);
  if (obstacle !== undefined) return `${obstacle} Nothing was done.`;
  let answer = "";
  let isStuck = false;
  for (const { form, slots } of orders) {
    if (isStuck && form.changes) return `${answer}\nI left the rest undone, since a step before it failed.`;
    const done = deeds[form.do]!(slots, scene);
    const report = typeof done === "string" ? done : yield* done;
    isStuck ||= form.changes && (isFailure(report) || ENDED_BADLY.test(report));
    // Reports of one line follow each other directly; longer ones are separated by a blank line.
    const isClose = !report.includes("\n") && !answer.split("\n").at(-1)!.startsWith("```");
    answer += (answer === "" ? "" : isClose ? "\n" : "\n\n") + report;
  }
  return answer;
}

/**
 * Returns why one of several changes cannot be made, so that none is made. The first is not checked: if it fails, the
 * others are skipped. Commands and tools cannot be checked in advance.
 */
function* firstObstacle(orders: readonly Order[], { tools }: Scene): Program<string | undefined> {
  const changes = orders.filter(({ form }) => form.changes);
  const isThere = new Map<string, boolean>();
  for (const [index, { form, slots }] of changes.entries()) {
    if (form.do === "run" || form.do === "call") return undefined;
    const needed = form.do === "create" ? undefined : slots["FILE"];
    const createdFile = form.do === "create" ? (slots["FILE"] ?? slots["NAME"]) : orderTarget(slots);
    for (const path of [needed, createdFile]) {
      if (path === undefined || index === 0 || changes.length < 2) continue;
      const existing = isThere.get(path);
      const read = existing === undefined ? yield* useTool(tools, "Read", { path }) : undefined;
      const isPresent = existing ?? !(read!.isError && /not found|does not exist/i.test(read!.text));
      if (path === needed && !isPresent) return `I could not find ${path}.`;
      if (path === createdFile && isPresent) return `I could not write ${path}: it already exists.`;
      const content = read && !read.isError && form.do === "replace" ? contentIn(read.text) : undefined;
      if (content && !content.isMore && !content.text.includes(slots["OLD"]!))
        return `I could not find "${slots["OLD"]}" in ${path}.`;
    }
    if (needed !== undefined) isThere.set(needed, form.do !== "delete" && form.do !== "move");
    if (createdFile !== undefined) isThere.set(createdFile, true);
  }
  return undefined;
}

type Slots = Order["slots"];
/** Carries out one kind of order. Returns a string if it needs no tool. */
type Deed = (slots: Slots, scene: Scene) => Program | string;
type Said = (text: string) => string;

const WHAT_IT_IS =
  "the offline model built into Courser: no language model, only a table of sentence forms that are carried out";

export const deeds: Record<string, Deed> = {
  sum: ({ SUM }) => SUM!,
  project: (_, { tools }) => describeProject(tools),
  read: ({ FILE: path }, scene) =>
    call(scene, "Read", { path }, `read ${path}`, (result) => {
      const { text, lines, isMore } = contentIn(result);
      if (text === "") return `${path} is empty.`;
      return fence(`${path} contains:`, text) + (isMore ? `\n(cut: the file has ${lines} lines)` : "");
    }),
  *create(slots, { tools }) {
    const { TEXT: content = "" } = slots;
    const path = slots["FILE"] ?? slots["NAME"] ?? (yield* freeName(tools));
    const result = yield* useTool(tools, "Write", { path, content, onlyNew: true });
    if (result.isError && /already exists/.test(result.text))
      return `I could not create ${path}: it already exists. Nothing was changed.`;
    return result.isError ? failure(`create ${path}`, result) : `Created ${path}${content === "" ? " (empty)" : ""}.`;
  },
  append,
  replace({ FILE: path, OLD: oldText, NEW: newText }, scene) {
    const edits = [{ oldText, newText, replaceAll: true }];
    return call(scene, "Edit", { path, edits }, `change ${path}`, () => `Updated ${path}.`);
  },
  list({ FOLDER: path }, scene) {
    const heading = path === undefined ? "Files here:" : `Files in ${path}:`;
    return call(scene, "LS", { path }, `list ${path ?? "the files"}`, (text) => fence(heading, text));
  },
  find({ PATTERN, GLOB, FILE }, scene) {
    const name = PATTERN ?? GLOB ?? FILE!;
    const pattern = name.includes("/") ? name : `**/${name}`;
    const showResult = showsFound(`Files that match ${name}:`, `No file matches ${name}.`);
    return call(scene, "Glob", { pattern }, `find ${name}`, showResult);
  },
  search: (slots, scene) => search(slots, scene, "content"),
  "search files": (slots, scene) => search(slots, scene, "files_with_matches"),
  delete: ({ FILE: path }, scene) => call(scene, "Delete", { path }, `delete ${path}`, () => `Deleted ${path}.`),
  move: (slots, scene) => transfer(slots, scene, "mv"),
  copy: (slots, scene) => transfer(slots, scene, "cp"),
  run: ({ COMMAND }, scene) => run(COMMAND!, scene),
  time: (_, scene) => run("date", scene),
  directory: (_, scene) => run("pwd", scene),
  "make todos": ({ ITEMS }, scene) => writeTodos(Object.assign(scene, { todos: [] }), ITEMS!.split("\n")),
  "add todo": ({ TEXT }, scene) => writeTodos(scene, [TEXT!]),
  "mark todo": ({ NUMBER, STATE }, scene) => writeTodos(scene, [], { id: NUMBER!, status: STATE! }),
  "show todos": (_, { todos }) => todoList(todos),
  recall: (_, { lastPrompt: last }) =>
    last === undefined ? "You have not asked anything before this." : `Your last question was "${last}"`,
  continue: (_, { lastPrompt: last }) =>
    last === undefined
      ? "There is nothing to continue yet. Tell me what to do."
      : `Your last message was "${last}", and nothing of it is left to do. Tell me what to do next.`,
  greet: () => `Hello! I am ${WHAT_IT_IS}. To see them: what can you do?`,
  version: (_, { version }) => `Courser ${version}, with the built-in offline model.`,
  help() {
    const rows = forms.map(({ example, does }) => `- ${example} (${does})\n`).join("");
    return `I am ${WHAT_IT_IS}:\n${rows}Join several by "then" or "and". For a real model: ${howToGetAModel()}`;
  },
  call: ({ TOOL: tool = "", JSON: args = "{}" }, scene) =>
    call(scene, tool, tryParse(args) as ToolUse["args"], `call ${tool}`, (text) => fence(`${tool} answered:`, text)),
};

/** Makes one tool call and describes its result. */
function* call({ tools }: Scene, tool: string, args: ToolUse["args"], what: string, said: Said): Program {
  const result = yield* useTool(tools, tool, args);
  return result.isError ? failure(what, result) : said(result.text);
}

function* run(command: string, { tools }: Scene): Program {
  const result = yield* useTool(tools, "Shell", { command });
  const { output, code } = outputIn(result);
  if (result.isError && code === undefined) return failure(`run ${command}`, result);
  const ended = `${command} ended with exit code ${code}`;
  if (output === "") return code === undefined ? `${command} printed nothing.` : `${ended}.`;
  return fence(code === undefined ? `Output of ${command}:` : `${ended}:`, output);
}

function search({ WORD: word = "", FOLDER: path }: Slots, scene: Scene, outputMode: string): Program {
  const pattern = word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const heading = `${outputMode === "content" ? "Lines" : "Files"} that contain "${word}":`;
  const showResult = showsFound(heading, `Nothing contains "${word}"${path === undefined ? "" : ` in ${path}`}.`);
  return call(scene, "Grep", { pattern, path, outputMode }, `search for ${word}`, showResult);
}

/** Returns the name of a file that does not exist yet. */
function* freeName(tools: readonly ToolSpec[]): Program {
  const result = yield* useTool(tools, "Glob", { pattern: "new-file*.txt" });
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? "new-file.txt" : `new-file-${number}.txt`;
    if (result.isError || !result.text.includes(name)) return name;
  }
}

/** Finds the end of the file by its last lines and edits there: if they do not match the file, the edit fails without harm. */
function* append({ FILE: path, TEXT: added = "" }: Slots, scene: Scene): Program {
  let read = yield* useTool(scene.tools, "Read", { path });
  const { lines, isMore } = contentIn(read.text);
  if (!read.isError && isMore) read = yield* useTool(scene.tools, "Read", { path, offset: Math.max(1, lines - 100) });
  if (read.isError) return failure(`add to ${path}`, read);
  const { text, isMore: isCut } = contentIn(read.text);
  if (isCut) return `I could not add to ${path}: its last lines are too long to be read.`;
  const line = text.includes("\r\n") ? "\r\n" : "\n";
  const tail = text.split("\n").slice(-10).join("\n");
  const oldText = text.indexOf(tail) === text.length - tail.length ? tail : text;
  const newText = oldText + (text.endsWith("\n") ? added + line : line + added);
  const isBlank = text.trim() === "";
  const change = isBlank ? { content: `${text}${added}\n` } : { edits: [{ oldText, newText }] };
  const confirmation = () => `Updated ${path}.`;
  return yield* call(scene, isBlank ? "Write" : "Edit", { path, ...change }, `add to ${path}`, confirmation);
}

/** Returns the destination of a file: in a directory that ends with a slash it keeps its name. */
function orderTarget({ FILE, TO }: Slots): string | undefined {
  return TO?.endsWith("/") ? TO + FILE!.split("/").at(-1) : TO;
}

/** Does not overwrite an existing file; creates the destination's directory. */
function* transfer(slots: Slots, { tools }: Scene, program: "mv" | "cp"): Program {
  const path = slots["FILE"]!;
  const target = orderTarget(slots)!;
  const [from, to] = [shellWord(path), shellWord(target)];
  const parent = /^(.+)\/[^/]+$/.exec(target)?.[1];
  const makeFolder = parent === undefined ? "" : `mkdir -p -- ${shellWord(parent)} && `;
  const command = `test -f ${from} && test ! -e ${to} && ${makeFolder}${program} -n -- ${from} ${to}`;
  const result = yield* useTool(tools, "Shell", { command });
  const { output, code } = outputIn(result);
  const verb = program === "mv" ? "move" : "copy";
  if (code === "1" && output === "")
    return `I could not ${verb} ${path} to ${target}: there is no such file, or ${target} already exists.`;
  if (result.isError || code !== undefined) return failure(`${verb} ${path}`, { ...result, text: output });
  return `${program === "mv" ? "Moved" : "Copied"} ${path} to ${target}.`;
}

function shellWord(word: string): string {
  return /^[\w./@%+=:,][\w./@%+=:,-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const ENDED_BADLY = / ended with exit code \d+[.:](?:\n|$)/;

/** Returns what a command printed, and the exit code that the Shell tool reports in its own line if it is not 0. */
function outputIn({ text }: ToolOutcome): { output: string; code: string | undefined } {
  const exitCodePattern = /(?:^|\n)\[?exit(?:ed with)? code:? (\d+)\]?(?=\n|$)/i;
  const code = exitCodePattern.exec(text)?.[1];
  const output = text.replace(exitCodePattern, "").replace(/^\(no output\)\n?/, "");
  return { output: output.trimEnd(), code: code === "0" ? undefined : code };
}

/** Besides its matches, a tool reports what it was not permitted to search. */
function showsFound(heading: string, nothing: string): Said {
  return (text) => {
    const found = /^(?:no (?:files|matches)\b[^\n]*)?(?:\s*\[(.*)\])?\s*$/i.exec(text);
    return found ? nothing + (found[1] === undefined ? "" : ` ${found[1]}.`) : fence(heading, text);
  };
}

function* writeTodos(scene: Scene, added: readonly string[], change?: Pick<Todo, "id" | "status">): Program {
  if (change && !scene.todos.some(({ id }) => id === change.id)) return `There is no todo ${change.id}.`;
  const all = [...scene.todos.map(({ content }) => content), ...added];
  const todos = all.map((content, index): Todo => {
    const todo = scene.todos[index] ?? { id: String(index + 1), content, status: "pending" };
    return todo.id === change?.id ? { ...todo, ...change } : todo;
  });
  const result = yield* useTool(scene.tools, "TodoWrite", { todos, merge: false });
  if (result.isError) return failure("write the todo list", result);
  scene.todos = todos;
  return todoList(todos);
}
