// Rebuilds tool calls and results as the stream would have shown them, when only messages are left.

import { isObject, type JsonObject, objectsIn } from "../json/object.ts";
import type { Outcome } from "../protocol/event.ts";
import type { ToolCallPart, ToolResultPart } from "../protocol/message.ts";
import { unknownWireName } from "../protocol/tool-calls.ts";

export type WireCall = { tool: string; args: unknown };

type Shape = {
  tool: string;
  args?(args: JsonObject, callId: string): JsonObject;
  /** The `success` value, as far as it can be inferred from the text that the model got. */
  success?(args: JsonObject, text: string): JsonObject;
};

/** The shapes of tool calls in the stream, by our own tool name. */
const shapes = new Map(
  Object.entries<Shape>({
    Read: { tool: "read", success: readSuccess },
    Write: {
      tool: "edit",
      args: ({ path, content }) => ({ path, ...(content !== undefined && { streamContent: content }) }),
      // The previous content of a file that existed is unknown, and so is the change.
      success: ({ path, content }, text) => ({
        path,
        ...(madeFile.test(text) && typeof content === "string" && changeOf({ added: content })),
        afterFullFileContent: content,
        ...textContent(text),
      }),
    },
    Edit: { tool: "edit", args: editArguments, success: editSuccess },
    Shell: { tool: "shell", args: shellArguments, success: (args, stdout) => shellRun(args, { stdout }) },
    LS: {
      tool: "ls",
      args: (args, toolCallId) => ({ ...args, toolCallId }),
      success: (_args, content) => ({ content }),
    },
    Glob: {
      tool: "glob",
      args: (args) => ({ ...(args.path !== undefined && { targetDirectory: args.path }), globPattern: args.pattern }),
      success: ({ pattern, path }, text) => ({
        pattern,
        ...(path !== undefined && { path }),
        files: text === "" ? [] : text.split("\n"),
      }),
    },
    Grep: {
      tool: "grep",
      args: (args, toolCallId) => ({ ...args, toolCallId }),
      success: ({ pattern, path, outputMode }, content) => ({
        pattern,
        ...(path !== undefined && { path }),
        ...(outputMode !== undefined && { outputMode }),
        content,
      }),
    },
    Delete: { tool: "delete", success: (args, text) => ({ path: args.path, message: text }) },
    TodoWrite: { tool: "updateTodos", args: todoArguments, success: todoSuccess },
    WebFetch: { tool: "webFetch", success: (args, text) => ({ url: args.url, markdown: text }) },
    WebSearch: { tool: "webSearch" },
    SemanticSearch: { tool: "semSearch", success: (_args, text) => ({ results: text }) },
    AskQuestion: { tool: "askQuestion" },
    CreatePlan: { tool: "createPlan" },
    Task: { tool: "task" },
    Await: { tool: "await" },
  }),
);

/** Matches results by which Claude Code, Gemini CLI and Codex (which only writes whole files) report a new file. */
const madeFile =
  /^(?:File created successfully|Successfully created and wrote to new file|Success\. Updated the following files)\b/;

export function wireCallOf({ id, name, args }: ToolCallPart): WireCall {
  const given = objectArguments(args);
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  if (server !== undefined && tool !== undefined) {
    const call = { name: `${server}-${tool}`, args: given, toolCallId: id, providerIdentifier: server, toolName: tool };
    return { tool: "mcp", args: call };
  }
  const shape = shapes.get(name);
  return { tool: shape?.tool ?? unknownWireName(name), args: shape?.args?.(given, id) ?? given };
}

function objectArguments(args: unknown): JsonObject {
  return isObject(args) ? args : { input: args };
}

export function outcomeOfResult({ name, args }: ToolCallPart, result: ToolResultPart): Outcome {
  const { text } = result;
  const given = objectArguments(args);
  if (name.startsWith("mcp__")) {
    return { kind: "success", value: { content: [{ text: { text } }], isError: result.isError } };
  }
  if (!result.isError) {
    return { kind: "success", value: shapes.get(name)?.success?.(given, text) ?? { content: text } };
  }
  const exitCode = name === "Shell" ? exitCodeIn(text) : undefined;
  if (exitCode !== undefined) return { kind: "failure", value: shellRun(given, { stdout: text, exitCode }) };
  return { kind: "error", value: { errorMessage: text, error: text, message: text } };
}

/** Reads only the tool's own report: the output of a command may mention exit codes too. */
function exitCodeIn(text: string): number | undefined {
  const [, first, last] = /^Exit code:? (-?\d{1,3})\b|\[[^\]]*\bexit code (-?\d{1,3})\b[^\]]*\]\s*$/i.exec(text) ?? [];
  const code = first ?? last;
  return code === undefined ? undefined : Number(code);
}

function shellArguments(args: JsonObject, toolCallId: string): JsonObject {
  const shellFields = ["command", "workingDirectory", "timeout", "description", "isBackground"] as const;
  const given = shellFields.filter((key) => args[key] !== undefined).map((key) => [key, args[key]]);
  return { ...Object.fromEntries(given), toolCallId };
}

/** How a command ended, as far as the CLI reported it. */
export type ShellEnd = { stdout: string; stderr?: string; exitCode?: number };

export function shellRun({ command, workingDirectory }: JsonObject, end: ShellEnd): JsonObject {
  return { command, ...(workingDirectory !== undefined && { workingDirectory }), ...end };
}

/** Returns a command's output. opencode and pi write a sentence in place of empty output. */
export function printed(text: string): string {
  return text === "(no output)" ? "" : text;
}

/** Describes a change by its diff, or by the content of a file that was added or removed. */
export function changeOf(change: { diff: string } | { added: string } | { removed: string }): JsonObject {
  const diff =
    "diff" in change
      ? // drop the file names above the first hunk
        change.diff.slice(Math.max(0, change.diff.search(/^@@/m)))
      : "added" in change
        ? splitLines(change.added)
            .map((line) => `+${line}`)
            .join("\n")
        : splitLines(change.removed)
            .map((line) => `-${line}`)
            .join("\n");
  const count = (sign: string) => diff.split("\n").filter((line) => line.startsWith(sign)).length;
  return { linesAdded: count("+"), linesRemoved: count("-"), diffString: diff };
}

function readSuccess({ path }: JsonObject, text: string): JsonObject {
  const numbered = [...text.matchAll(/^ *(\d+)(?:\t|→)(.*)\n?/gm)];
  const isNumbered = numbered.length > 0 && numbered.map(([line]) => line).join("") === text;
  if (!isNumbered) return { path, content: text };
  const [startLine, endLine] = [numbered[0]!, numbered.at(-1)!].map(([, number]) => Number(number));
  return { path, content: numbered.map(([, , line]) => line).join("\n"), readRange: { startLine, endLine } };
}

type Replacement = { oldText: string; newText: string; replaceAll: boolean };

function replacementsIn(args: JsonObject): Replacement[] {
  const edits = Array.isArray(args.edits) ? args.edits : [args];
  return edits.filter(isObject).flatMap((each) => {
    const { oldText = each.old_string, newText = each.new_string, replaceAll } = each;
    if (typeof oldText !== "string" || typeof newText !== "string") return [];
    return [{ oldText, newText, replaceAll: replaceAll === true }];
  });
}

function editArguments(args: JsonObject): JsonObject {
  const edits = replacementsIn(args);
  if (edits.length === 0) return args;
  const streamContent = edits.map((each) => each.newText).join("\n");
  const change = edits.length === 1 ? { strReplace: edits[0] } : { multiStrReplace: { edits } };
  return { path: args.path ?? args.file_path, streamContent, ...change };
}

/** Returns the result of an edit, without its position in the file and the number of replacements. */
function editSuccess(args: JsonObject, text: string): JsonObject {
  const edits = replacementsIn(args);
  const path = args.path ?? args.file_path;
  if (edits.length === 0 || edits.some((each) => each.replaceAll)) return { path, ...textContent(text) };
  const pieces = edits.map(({ oldText, newText }) => diffOf(splitLines(oldText), splitLines(newText)).join("\n"));
  const diff = pieces.length === 1 ? pieces[0]! : pieces.map((piece) => `@@\n${piece}`).join("\n");
  return { path, ...changeOf({ diff }), ...textContent(text) };
}

/** Returns the lines that differ. Lines that both texts begin or end with are unchanged. */
function diffOf(before: readonly string[], after: readonly string[]): string[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start++;
  let same = 0;
  while (same < shorter - start && before.at(-1 - same) === after.at(-1 - same)) same++;
  return [
    ...before.slice(0, start).map((line) => ` ${line}`),
    ...before.slice(start, before.length - same).map((line) => `-${line}`),
    ...after.slice(start, after.length - same).map((line) => `+${line}`),
    ...before.slice(before.length - same).map((line) => ` ${line}`),
  ];
}

function textContent(text: string): JsonObject {
  return text === "" ? {} : { message: text, resultForModel: text };
}

function splitLines(text: string): string[] {
  if (text === "") return [];
  return text.replace(/\n$/, "").split("\n");
}

function todosOnWire(args: JsonObject): JsonObject[] {
  const given = objectsIn(args.todos);
  return given.map((each) => ({
    id: String(each.id ?? ""),
    content: String(each.content ?? ""),
    status: `TODO_STATUS_${String(each.status ?? "pending").toUpperCase()}`,
  }));
}

function todoArguments(args: JsonObject): JsonObject {
  return { todos: todosOnWire(args), merge: args.merge === true };
}

function todoSuccess(args: JsonObject): JsonObject {
  const todos = todosOnWire(args);
  return { todos, totalCount: todos.length, wasMerge: args.merge === true };
}
