// A call and its result, of which only messages are left, as the stream would have shown them.

import { isObject, type JsonObject } from "../json/object.ts";
import type { Outcome } from "../protocol/event.ts";
import type { ToolCallPart, ToolResultPart } from "../protocol/message.ts";
import { unknownWireName } from "../protocol/tool-calls.ts";

export type WireCall = { tool: string; args: unknown };

type Shape = {
  tool: string;
  args?(args: JsonObject, callId: string): JsonObject;
  /** The `success` value, as far as the words for the model tell. */
  success?(args: JsonObject, text: string): JsonObject;
};

/** By the names that our models call them. */
const shapes = new Map(
  Object.entries<Shape>({
    Read: {
      tool: "read",
      success(args, text) {
        const first = typeof args.offset === "number" ? args.offset : 1;
        const lines = text.split("\n").length;
        return {
          content: text,
          isEmpty: text === "",
          exceededLimit: false,
          totalLines: lines,
          fileSize: Buffer.byteLength(text),
          path: args.path,
          readRange: { startLine: first, endLine: first + lines - 1 },
        };
      },
    },
    Write: { tool: "edit", args: (args) => ({ path: args.path, streamContent: args.content }), success: editSuccess },
    Edit: { tool: "edit", args: editArguments, success: editSuccess },
    Shell: { tool: "shell", args: shellArguments, success: (args, text) => shellRun(args, text, 0) },
    LS: {
      tool: "ls",
      args: (args, toolCallId) => ({ path: args.path ?? "", ignore: args.ignore ?? [], toolCallId }),
      success: (args, text) => ({
        directoryTreeRoot: {
          absPath: args.path ?? "",
          childrenDirs: [],
          childrenFiles: [],
          childrenWereProcessed: false,
          fullSubtreeExtensionCounts: {},
          numFiles: 0,
        },
        content: text,
      }),
    },
    Glob: {
      tool: "glob",
      args: (args) => ({ ...(args.path !== undefined && { targetDirectory: args.path }), globPattern: args.pattern }),
      success(args, text) {
        const files = text === "" ? [] : text.split("\n");
        return {
          pattern: args.pattern,
          path: args.path ?? "",
          files,
          totalFiles: files.length,
          clientTruncated: false,
          ripgrepTruncated: false,
        };
      },
    },
    Grep: {
      tool: "grep",
      args: (args, toolCallId) => ({
        ...args,
        caseInsensitive: args.caseInsensitive ?? false,
        multiline: args.multiline ?? false,
        toolCallId,
      }),
      success: (args, text) => ({
        pattern: args.pattern,
        path: args.path ?? "",
        outputMode: args.outputMode ?? "content",
        workspaceResults: {},
        content: text,
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

export function wireCallOf({ id, name, args }: ToolCallPart): WireCall {
  const given = argumentsOf(args);
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  if (server !== undefined && tool !== undefined) {
    const call = { name: `${server}-${tool}`, args: given, toolCallId: id, providerIdentifier: server, toolName: tool };
    return { tool: "mcp", args: call };
  }
  const shape = shapes.get(name);
  return { tool: shape?.tool ?? unknownWireName(name), args: shape?.args?.(given, id) ?? given };
}

function argumentsOf(args: unknown): JsonObject {
  return isObject(args) ? args : { input: args };
}

export function outcomeOfResult({ name, args }: ToolCallPart, result: ToolResultPart): Outcome {
  const { text } = result;
  const given = argumentsOf(args);
  if (name.startsWith("mcp__")) {
    return { kind: "success", value: { content: [{ text: { text } }], isError: result.isError } };
  }
  if (!result.isError) {
    return { kind: "success", value: shapes.get(name)?.success?.(given, text) ?? { content: text } };
  }
  const exitCode = name === "Shell" ? exitCodeIn(text) : undefined;
  if (exitCode !== undefined) return { kind: "failure", value: shellRun(given, text, exitCode) };
  return { kind: "error", value: { errorMessage: text, error: text, message: text } };
}

function exitCodeIn(text: string): number | undefined {
  const code = /\bexit(?:ed)?(?: with)?(?: code)?:? (-?\d{1,3})\b/i.exec(text)?.[1];
  return code === undefined ? undefined : Number(code);
}

function shellArguments(args: JsonObject, toolCallId: string): JsonObject {
  return {
    command: args.command,
    workingDirectory: args.workingDirectory ?? "",
    timeout: args.timeout ?? 0,
    toolCallId,
    simpleCommands: [],
    hasInputRedirect: false,
    hasOutputRedirect: false,
    // Nobody took it apart.
    parsingResult: { parsingFailed: true, executableCommands: [], hasRedirects: false, hasCommandSubstitution: false },
    ...(typeof args.description === "string" && { description: args.description }),
  };
}

export function shellRun(args: JsonObject, text: string, exitCode: number): JsonObject {
  return {
    command: args.command,
    workingDirectory: args.workingDirectory ?? "",
    exitCode,
    signal: "",
    stdout: text,
    stderr: "",
    executionTime: 0,
  };
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

/** The change itself is known; where in the file it was made is not. */
function editSuccess(args: JsonObject, text: string): JsonObject {
  const whole = typeof args.content === "string" ? args.content : undefined;
  const edits = whole === undefined ? replacementsIn(args) : [{ oldText: "", newText: whole }];
  const removed = edits.flatMap((each) => linesOf(each.oldText));
  const added = edits.flatMap((each) => linesOf(each.newText));
  const pieces = edits.map(({ oldText, newText }) =>
    [...linesOf(oldText).map((line) => `-${line}`), ...linesOf(newText).map((line) => `+${line}`)].join("\n"),
  );
  return {
    path: args.path ?? args.file_path,
    linesAdded: added.length,
    linesRemoved: removed.length,
    diffString: pieces.join("\n@@\n"),
    ...(whole !== undefined && { afterFullFileContent: whole }),
    message: text,
    resultForModel: text,
  };
}

function linesOf(text: string): string[] {
  if (text === "") return [];
  return text.replace(/\n$/, "").split("\n");
}

function todosOnWire(args: JsonObject): JsonObject[] {
  const given = Array.isArray(args.todos) ? args.todos.filter(isObject) : [];
  return given.map((each) => ({
    id: String(each.id ?? ""),
    content: String(each.content ?? ""),
    status: `TODO_STATUS_${String(each.status ?? "pending").toUpperCase()}`,
    createdAt: "0",
    updatedAt: "0",
    dependencies: [],
  }));
}

function todoArguments(args: JsonObject): JsonObject {
  return { todos: todosOnWire(args), merge: args.merge === true };
}

function todoSuccess(args: JsonObject): JsonObject {
  const todos = todosOnWire(args);
  return { todos, totalCount: todos.length, wasMerge: args.merge === true };
}
