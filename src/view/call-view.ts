// Describes a call for display: its line, input, output and changes.

import { isObject, type JsonObject } from "../json/object.ts";
import type { Outcome } from "../protocol/event.ts";
import { callName, toolKeyOf, toolOfKey } from "../protocol/tool-calls.ts";
import { shownTodos } from "./todos.ts";

export type CallView = {
  id: string;
  /** The target of the call: a command, a path, a pattern. */
  what: string;
  /** Set if one line does not show all of it. */
  input?: Piece;
  output?: Piece;
  /** A unified diff, or lines that begin with + and -. */
  diff?: string;
};

export type Piece = { language: string; text: string };

type View = (args: JsonObject, value: JsonObject) => Partial<Omit<CallView, "id">>;

const views = new Map(
  Object.entries<View>({
    shell: viewOfShell,
    edit: viewOfEdit,
    write: viewOfEdit,
    apply_patch: viewOfPatch,
    read: ({ path, offset, limit }, { content }) => ({
      what: `${text(path)}${offset || limit ? ` (${[offset && `from line ${offset}`, limit && `${limit} lines`].filter(Boolean).join(", ")})` : ""}`,
      output: piece(content, languageOf(text(path))),
    }),
    ls: ({ path }, { directoryTreeRoot, content }) => ({
      what: text(path),
      output: piece(content ?? treeText(directoryTreeRoot)),
    }),
    glob: ({ globPattern }, { files }) => ({ what: text(globPattern), output: piece(listText(files)) }),
    grep: ({ pattern }, { workspaceResults, content }) => ({
      what: text(pattern),
      output: piece(content ?? grepText(workspaceResults)),
    }),
    delete: ({ path }) => ({ what: text(path) }),
    updateTodos: ({ todos }, value) => ({ what: "", output: piece(todoText(value.todos ?? todos)) }),
    webFetch: ({ url }, { markdown }) => ({ what: text(url), output: piece(markdown, "markdown") }),
    webSearch: ({ searchTerm, query }, { references }) => ({
      what: text(searchTerm ?? query),
      output: piece(referenceText(references)),
    }),
    semSearch: ({ query }, { results }) => ({ what: text(query), output: piece(results) }),
    task: ({ description, prompt }, { conversationSteps }) => ({
      what: text(description),
      input: piece(prompt),
      output: piece(stepsText(conversationSteps), "markdown"),
    }),
    createPlan: ({ name, plan }) => ({ what: text(name), input: piece(plan, "markdown") }),
    askQuestion: ({ title, questions }, { answers }) => ({
      what: text(title),
      input: piece(questionsText(questions, answers)),
    }),
    mcp: ({ name, args }, { content }) => ({ what: text(name), input: json(args), output: piece(mcpText(content)) }),
  }),
);

export function viewOfCall(
  call: { callId: string; tool: string; args: unknown },
  outcome: Outcome | undefined,
  workspace: string,
): CallView {
  const args = isObject(call.args) ? call.args : {};
  const value = isObject(outcome?.value) ? outcome.value : {};
  const view = views.get(call.tool)?.(args, value);
  const shown: CallView = { id: call.callId, what: "", ...(view ?? generalView(args)) };
  if (workspace !== "") shown.what = shown.what === workspace ? "." : shown.what.replaceAll(`${workspace}/`, "");
  // Tools without a view are shown as JSON.
  if (!shown.output && !shown.diff && outcome?.kind === "success") {
    const rest = view ? piece(value.content) : (piece(value.content) ?? json(outcome.value));
    if (rest) shown.output = rest;
  }
  for (const key of ["input", "output", "diff"] as const) if (shown[key] === undefined) delete shown[key];
  return shown;
}

function generalView(args: JsonObject): Partial<CallView> {
  const { path, file_path, command, query, url, pattern, description, name } = args;
  const what = [path, file_path, command, query, url, pattern, description, name].find(
    (each) => typeof each === "string",
  );
  return { what: text(what), ...(Object.keys(args).length > 0 && { input: json(args) }) };
}

function viewOfShell(args: JsonObject, value: JsonObject): Partial<CallView> {
  const command = text(args.command);
  const printed = text(value.interleavedOutput) || [text(value.stdout), text(value.stderr)].filter(Boolean).join("\n");
  const exit = typeof value.exitCode === "number" && value.exitCode !== 0 ? `[exit code ${value.exitCode}]` : "";
  const shown = exit === "" || printed.includes(exit) ? printed : `${printed.trimEnd()}\n${exit}`.trimStart();
  return { what: command, input: { language: "bash", text: command }, output: piece(shown) };
}

function viewOfEdit(args: JsonObject, value: JsonObject): Partial<CallView> {
  const path = text(args.path);
  const diff = text(value.diffString) || intendedChange(args);
  const counts =
    typeof value.linesAdded === "number" && typeof value.linesRemoved === "number"
      ? ` +${value.linesAdded} −${value.linesRemoved}`
      : "";
  return { what: `${path}${counts}`, ...(diff !== "" && { diff }) };
}

/** Returns the change that a call asked for, if it failed or did not report its change. */
function intendedChange({ strReplace, multiStrReplace, applyPatch, streamContent, fileText }: JsonObject): string {
  const edits =
    isObject(multiStrReplace) && Array.isArray(multiStrReplace.edits) ? multiStrReplace.edits : [strReplace];
  const changes = edits.filter(isObject).map((each) => marked("-", each.oldText) + marked("+", each.newText));
  if (changes.length > 0) return changes.join("@@\n");
  if (isObject(applyPatch)) return text(applyPatch.patchContent);
  return marked("+", streamContent ?? fileText);
}

function marked(mark: string, given: unknown): string {
  const lines = text(given);
  if (lines === "") return "";
  return `${lines
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => mark + line)
    .join("\n")}\n`;
}

function viewOfPatch(args: JsonObject): Partial<CallView> {
  const patch = text(args.input ?? args.patch);
  const files = [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map(([, path]) => path);
  return { what: files.join(", "), diff: patch };
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function piece(value: unknown, language = "text"): Piece | undefined {
  const shown = text(value);
  return shown === "" ? undefined : { language, text: shown };
}

function json(value: unknown): Piece | undefined {
  if (value === undefined || (isObject(value) && Object.keys(value).length === 0)) return undefined;
  return { language: "json", text: JSON.stringify(value, null, 2) };
}

function objectsIn(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function listText(list: unknown): string {
  return Array.isArray(list) ? list.filter((each) => typeof each === "string").join("\n") : "";
}

function referenceText(references: unknown): string {
  return objectsIn(references)
    .map(({ title, url, chunk }) => [title, url, chunk].map(text).filter(Boolean).join("\n"))
    .join("\n\n");
}

function treeText(node: unknown, indent = ""): string {
  if (!isObject(node) || indent.length > 40) return "";
  return [
    ...objectsIn(node.childrenDirs).flatMap((folder) => [
      `${indent}${text(folder.absPath).replace(/^.*\//, "")}/`,
      treeText(folder, `${indent}  `),
    ]),
    ...objectsIn(node.childrenFiles).map((file) => `${indent}${text(file.name)}`),
  ]
    .filter(Boolean)
    .join("\n");
}

function grepText(results: unknown): string {
  if (!isObject(results)) return "";
  return Object.values(results)
    .filter(isObject)
    .flatMap(({ content, files, count }) => {
      if (isObject(files)) return [listText(files.files)];
      if (isObject(count)) return objectsIn(count.counts).map((each) => `${text(each.file)}: ${each.count}`);
      return isObject(content) ? objectsIn(content.matches).flatMap(matchLines) : [];
    })
    .join("\n");
}

function matchLines(file: JsonObject): string[] {
  return objectsIn(file.matches).map(
    (each) => `${text(file.file)}:${each.lineNumber}${each.isContextLine ? "-" : ":"}${text(each.content)}`,
  );
}

const marks = { PENDING: "[ ]", IN_PROGRESS: "[>]", COMPLETED: "[x]", CANCELLED: "[-]" };

function todoText(todos: unknown): string {
  return shownTodos(todos)
    .map(({ state, words }) => `${marks[state]} ${words}`)
    .join("\n");
}

/** Lists what a subagent did, a line each, and what it said. */
function stepsText(steps: unknown): string {
  return objectsIn(steps)
    .map(({ toolCall, assistantMessage }) => {
      if (isObject(assistantMessage)) return `${text(assistantMessage.text)}\n`;
      const key = isObject(toolCall) ? toolKeyOf(toolCall) : undefined;
      if (key === undefined) return "";
      const call = (toolCall as JsonObject)[key] as JsonObject;
      const first = isObject(call.args) ? Object.values(call.args).find((each) => typeof each === "string") : "";
      return `· ${callName(toolOfKey(key), call.args)} ${text(first)}`.trimEnd();
    })
    .filter(Boolean)
    .join("\n")
    .trim();
}

function questionsText(questions: unknown, answers: unknown): string {
  return objectsIn(questions)
    .map(({ id, prompt, options }) => {
      const answer = objectsIn(answers).find((each) => each.questionId === id);
      const chosen = Array.isArray(answer?.selectedOptionIds) ? answer.selectedOptionIds : [];
      const lines = objectsIn(options).map(
        (option) => `${chosen.includes(option.id) ? "[x]" : "[ ]"} ${text(option.label)}`,
      );
      const own = text(answer?.freeformText);
      return [text(prompt), ...lines, ...(own === "" ? [] : [`[x] ${own}`])].join("\n");
    })
    .join("\n\n");
}

function mcpText(content: unknown): string {
  return objectsIn(content)
    .map((each) =>
      isObject(each.text) ? text(each.text.text) : isObject(each.resource) ? text(each.resource.text) : "",
    )
    .filter(Boolean)
    .join("\n");
}

/** Highlighters identify a language by the file extension. */
function languageOf(path: string): string {
  return /\.([a-z0-9]{1,12})$/i.exec(path)?.[1]?.toLowerCase() ?? "text";
}
