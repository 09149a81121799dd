// Describes a call for display: its line, input, output and changes.

import { fieldsOf, isObject, type JsonObject, objectsIn, stringOrEmpty } from "../json/object.ts";
import type { Outcome } from "../protocol/event.ts";
import { callName, toolKeyOf, toolOfKey } from "../protocol/tool-calls.ts";
import { shownTodos } from "./todos.ts";

export type CallView = {
  id: string;
  /** What the call acts on: a command, a path, a pattern. */
  what: string;
  /** The whole input, set if the title line shows only a part of it. */
  input?: Piece;
  output?: Piece;
  /** The change that the call made: a unified diff, or lines that begin with + and -. */
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
      what: `${stringOrEmpty(path)}${offset || limit ? ` (${[offset && `from line ${offset}`, limit && `${limit} lines`].filter(Boolean).join(", ")})` : ""}`,
      output: codePiece(content, languageForPath(stringOrEmpty(path))),
    }),
    ls: ({ path }, { directoryTreeRoot, content }) => ({
      what: stringOrEmpty(path),
      output: codePiece(content ?? treeText(directoryTreeRoot)),
    }),
    glob: ({ globPattern }, { files }) => ({ what: stringOrEmpty(globPattern), output: codePiece(listText(files)) }),
    grep: ({ pattern }, { workspaceResults, content }) => ({
      what: stringOrEmpty(pattern),
      output: codePiece(content ?? grepText(workspaceResults)),
    }),
    delete: ({ path }) => ({ what: stringOrEmpty(path) }),
    updateTodos: ({ todos }, value) => ({ what: "", output: codePiece(todoText(value.todos ?? todos)) }),
    webFetch: ({ url }, { markdown }) => ({ what: stringOrEmpty(url), output: codePiece(markdown, "markdown") }),
    webSearch: ({ searchTerm, query }, { references }) => ({
      what: stringOrEmpty(searchTerm ?? query),
      output: codePiece(referenceText(references)),
    }),
    semSearch: ({ query }, { results }) => ({ what: stringOrEmpty(query), output: codePiece(results) }),
    task: ({ description, prompt }, { conversationSteps }) => ({
      what: stringOrEmpty(description),
      input: codePiece(prompt),
      output: codePiece(stepsText(conversationSteps), "markdown"),
    }),
    createPlan: ({ name, plan }) => ({ what: stringOrEmpty(name), input: codePiece(plan, "markdown") }),
    askQuestion: ({ title, questions }, { answers }) => ({
      what: stringOrEmpty(title),
      input: codePiece(questionsText(questions, answers)),
    }),
    mcp: ({ name, args }, { content }) => ({
      what: stringOrEmpty(name),
      input: json(args),
      output: codePiece(mcpText(content)),
    }),
  }),
);

export function viewOfCall(
  call: { callId: string; tool: string; args: unknown },
  outcome: Outcome | undefined,
  workspace: string,
): CallView {
  const args = fieldsOf(call.args);
  const value = isObject(outcome?.value) ? outcome.value : {};
  const view = views.get(call.tool)?.(args, value);
  const callView: CallView = { id: call.callId, what: "", ...(view ?? generalView(args)) };
  if (workspace !== "")
    callView.what = callView.what === workspace ? "." : callView.what.replaceAll(`${workspace}/`, "");
  // Show the result as JSON if the tool has no view of its own.
  if (!callView.output && !callView.diff && outcome?.kind === "success") {
    const rest = view ? codePiece(value.content) : (codePiece(value.content) ?? json(outcome.value));
    if (rest) callView.output = rest;
  }
  for (const key of ["input", "output", "diff"] as const) if (callView[key] === undefined) delete callView[key];
  return callView;
}

function generalView(args: JsonObject): Partial<CallView> {
  const { path, file_path, command, query, url, pattern, description, name } = args;
  const what = [path, file_path, command, query, url, pattern, description, name].find(
    (each) => typeof each === "string",
  );
  return { what: stringOrEmpty(what), ...(Object.keys(args).length > 0 && { input: json(args) }) };
}

function viewOfShell(args: JsonObject, value: JsonObject): Partial<CallView> {
  const command = stringOrEmpty(args.command);
  const printed =
    stringOrEmpty(value.interleavedOutput) ||
    [stringOrEmpty(value.stdout), stringOrEmpty(value.stderr)].filter(Boolean).join("\n");
  const exit = typeof value.exitCode === "number" && value.exitCode !== 0 ? `[exit code ${value.exitCode}]` : "";
  const outputText = exit === "" || printed.includes(exit) ? printed : `${printed.trimEnd()}\n${exit}`.trimStart();
  return { what: command, input: { language: "bash", text: command }, output: codePiece(outputText) };
}

function viewOfEdit(args: JsonObject, value: JsonObject): Partial<CallView> {
  const path = stringOrEmpty(args.path);
  const diff = typeof value.diffString === "string" ? value.diffString : intendedChange(args);
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
  const changes = edits.filter(isObject).map((each) => markLines("-", each.oldText) + markLines("+", each.newText));
  if (changes.length > 0) return changes.join("@@\n");
  if (isObject(applyPatch)) return stringOrEmpty(applyPatch.patchContent);
  return markLines("+", streamContent ?? fileText);
}

function markLines(mark: string, linesValue: unknown): string {
  const lines = stringOrEmpty(linesValue);
  if (lines === "") return "";
  return `${lines
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => mark + line)
    .join("\n")}\n`;
}

function viewOfPatch(args: JsonObject): Partial<CallView> {
  const patch = stringOrEmpty(args.input ?? args.patch);
  const files = [...patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)].map(([, path]) => path);
  return { what: files.join(", "), diff: patch };
}

function codePiece(value: unknown, language = "text"): Piece | undefined {
  const valueText = stringOrEmpty(value);
  return valueText === "" ? undefined : { language, text: valueText };
}

function json(value: unknown): Piece | undefined {
  if (value === undefined || (isObject(value) && Object.keys(value).length === 0)) return undefined;
  return { language: "json", text: JSON.stringify(value, null, 2) };
}

function listText(list: unknown): string {
  return Array.isArray(list) ? list.filter((each) => typeof each === "string").join("\n") : "";
}

function referenceText(references: unknown): string {
  return objectsIn(references)
    .map(({ title, url, chunk }) => [title, url, chunk].map(stringOrEmpty).filter(Boolean).join("\n"))
    .join("\n\n");
}

function treeText(node: unknown, indent = ""): string {
  if (!isObject(node) || indent.length > 40) return "";
  return [
    ...objectsIn(node.childrenDirs).flatMap((folder) => [
      `${indent}${stringOrEmpty(folder.absPath).replace(/^.*\//, "")}/`,
      treeText(folder, `${indent}  `),
    ]),
    ...objectsIn(node.childrenFiles).map((file) => `${indent}${stringOrEmpty(file.name)}`),
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
      if (isObject(count)) return objectsIn(count.counts).map((each) => `${stringOrEmpty(each.file)}: ${each.count}`);
      return isObject(content) ? objectsIn(content.matches).flatMap(matchLines) : [];
    })
    .join("\n");
}

function matchLines(file: JsonObject): string[] {
  return objectsIn(file.matches).map(
    (each) =>
      `${stringOrEmpty(file.file)}:${each.lineNumber}${each.isContextLine ? "-" : ":"}${stringOrEmpty(each.content)}`,
  );
}

const marks = { PENDING: "[ ]", IN_PROGRESS: "[>]", COMPLETED: "[x]", CANCELLED: "[-]" };

function todoText(todos: unknown): string {
  return shownTodos(todos)
    .map(({ state, words }) => `${marks[state]} ${words}`)
    .join("\n");
}

/** Lists the steps of a subagent, one line each, and its messages. */
function stepsText(steps: unknown): string {
  return objectsIn(steps)
    .map(({ toolCall, assistantMessage }) => {
      if (isObject(assistantMessage)) return `${stringOrEmpty(assistantMessage.text)}\n`;
      const key = isObject(toolCall) ? toolKeyOf(toolCall) : undefined;
      if (key === undefined) return "";
      const call = (toolCall as JsonObject)[key] as JsonObject;
      const first = isObject(call.args) ? Object.values(call.args).find((each) => typeof each === "string") : "";
      return `· ${callName(toolOfKey(key), call.args)} ${stringOrEmpty(first)}`.trimEnd();
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
        (option) => `${chosen.includes(option.id) ? "[x]" : "[ ]"} ${stringOrEmpty(option.label)}`,
      );
      const typedAnswer = stringOrEmpty(answer?.freeformText);
      return [stringOrEmpty(prompt), ...lines, ...(typedAnswer === "" ? [] : [`[x] ${typedAnswer}`])].join("\n");
    })
    .join("\n\n");
}

function mcpText(content: unknown): string {
  return objectsIn(content)
    .map((each) =>
      isObject(each.text)
        ? stringOrEmpty(each.text.text)
        : isObject(each.resource)
          ? stringOrEmpty(each.resource.text)
          : "",
    )
    .filter(Boolean)
    .join("\n");
}

/** Returns the language of a file for highlighting, which is its extension. */
function languageForPath(path: string): string {
  return /\.([a-z0-9]{1,12})$/i.exec(path)?.[1]?.toLowerCase() ?? "text";
}
