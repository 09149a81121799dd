// Fires the hooks around one tool call: before it, first the generic event, then the tool's own; afterwards the reverse.

import { isObject, type JsonObject } from "../../json/object.ts";
import type { Outcome } from "../../protocol/event.ts";
import type { HookEventName } from "../../protocol/hook-events.ts";
import { mcpOutcome } from "../../protocol/mcp-wire.ts";
import { type FileContext, openFile } from "../files.ts";
import { block } from "../instructions/block.ts";
import { shownResult, toolResult } from "../mcp/content.ts";
import { decodeText } from "../text-file.ts";
import type { Tool, ToolResult } from "../tools/tool.ts";
import { type HookAnswer, type Hooks, toolNames } from "./index.ts";

/** A tool call as hooks receive it: `args` are the tool's arguments, `wireArgs` those that the stream shows. */
export type HookedCall = {
  id: string;
  tool: Pick<Tool, "name" | "wire" | "mcp">;
  args: unknown;
  wireArgs: Record<string, unknown>;
  /** The text that the model wrote before the call. */
  said?: string;
};

export type BeforeCall = {
  /** The hooks' decision, which can only be stricter than the policy's. */
  verdict?: "deny" | "ask";
  reasons: string[];
  /** Messages to show to the user. */
  messages: string[];
  updatedInput?: JsonObject;
  /** Set when a hook changed the input after other hooks had checked it. */
  isUnseen?: boolean;
  /** Text for the model that is sent with the tool's result. */
  context: string[];
};

/** How a call ended. `refused` means that it never ran. `durationMs` is the time the tool itself took. */
export type CallOutcome = { result: ToolResult; refused: boolean; durationMs: number };

/** `confined` means that the call would run in the sandbox. `approved` maps its paths to where they led when they were judged. */
export type JudgedCall = { confined: boolean } & Pick<FileContext, "approved">;

export interface CallHooks {
  /** Fires the `preToolUse` hooks before the permission rules are evaluated. */
  beforeCall(call: HookedCall, signal: AbortSignal): Promise<BeforeCall>;
  /** Fires the hooks for this kind of tool, such as `beforeShellExecution`, after no rule has denied the call. */
  beforeRun(call: HookedCall, place: JudgedCall & { signal: AbortSignal }): Promise<BeforeCall>;
  /** Returns context for the model and, where a hook may replace it, another result. */
  afterCall(
    call: HookedCall,
    end: CallOutcome,
    signal: AbortSignal,
  ): Promise<{ context: string[]; result?: ToolResult }>;
}

type CallHooksOptions = { hooks: Hooks; workspace: string };

/** How many milliseconds a run that is being stopped waits for hooks. */
export const lastMs = 500;
const maxContentBytes = 1024 * 1024;

export function createCallHooks({ hooks, workspace }: CallHooksOptions): CallHooks {
  const cwdOf = ({ wireArgs }: HookedCall) => {
    const { workingDirectory } = wireArgs;
    return typeof workingDirectory === "string" && workingDirectory !== "" ? workingDirectory : workspace;
  };
  const generic = (call: HookedCall, extra: JsonObject, event: HookEventName, signal: AbortSignal) => {
    const { hookName, tool, names } = toolNames(call.tool);
    const fields = { tool_name: hookName, tool_input: inputOf(call), tool_use_id: call.id, cwd: cwdOf(call), ...extra };
    return hooks.fire(event, fields, { signal, tool, names });
  };

  /** For each kind of tool, the hook events before and after a call. */
  const specific: Record<string, { before?: SpecificHook; after?: SpecificEndHook }> = {
    shell: {
      before: {
        event: "beforeShellExecution",
        fields: async (call, { confined }) => ({ command: shellCommand(call), cwd: cwdOf(call), sandbox: confined }),
      },
      after: {
        event: "afterShellExecution",
        fields: (call, { result, durationMs }) => ({
          command: shellCommand(call),
          output: shellOutput(result),
          duration: durationMs,
          sandbox: result.outcome.siblings?.["sandboxPolicy"] !== undefined,
        }),
      },
    },
    read: {
      before: {
        event: "beforeReadFile",
        fields: async (call, { approved }) => {
          const path = String(call.wireArgs["path"]);
          return { file_path: path, content: await fileContent(path, { workspace, approved }), attachments: [] };
        },
      },
    },
    edit: {
      after: {
        event: "afterFileEdit",
        onSuccess: true,
        fields: (call, { result }) => ({ file_path: call.wireArgs["path"], edits: editsOf(call, result.outcome) }),
      },
    },
    mcp: {
      before: {
        event: "beforeMCPExecution",
        fields: async (call) => ({ ...mcpFields(call), ...mcpServer(call) }),
      },
      after: {
        event: "afterMCPExecution",
        fields: (call, { result, durationMs }) => ({
          ...mcpFields(call),
          result_json: JSON.stringify(result.outcome.value ?? null),
          duration: durationMs,
        }),
      },
    },
  };

  return {
    async beforeCall(call, signal) {
      const extra = call.said === undefined || call.said === "" ? {} : { agent_message: call.said };
      return beforeOf(await generic(call, extra, "preToolUse", signal), "preToolUse");
    },
    async beforeRun(call, { signal, ...judged }) {
      const before = specific[call.tool.wire]?.before;
      if (!before || !hooks.has(before.event)) return nothing;
      return beforeOf(await hooks.fire(before.event, await before.fields(call, judged), { signal }), before.event);
    },
    async afterCall(call, end, signal) {
      const { result, refused, durationMs: duration } = end;
      const isInterrupt = signal.aborted;
      const still = isInterrupt ? AbortSignal.timeout(lastMs) : signal;
      const succeeded = result.outcome.kind === "success";
      const after = specific[call.tool.wire]?.after;
      if (after && !refused && !result.isNotRun && (succeeded || !after.onSuccess) && hooks.has(after.event))
        await hooks.fire(after.event, after.fields(call, end), { signal: still });
      if (!succeeded) {
        const extra = {
          error_message: result.text,
          failure_type: refused ? "permission_denied" : result.outcome.kind === "timeout" ? "timeout" : "error",
          duration,
          is_interrupt: isInterrupt,
        };
        await generic(call, extra, "postToolUseFailure", still);
        return { context: [] };
      }
      if (!hooks.has("postToolUse")) return { context: [] };
      const extra = { tool_output: toolOutput(call, result), duration };
      const answer = await generic(call, extra, "postToolUse", still);
      const replaced = call.tool.wire === "mcp" && answer.mcpOutput ? withOutput(answer.mcpOutput) : undefined;
      return {
        context: answer.context.map((text) => hookContextBlock("postToolUse", text)),
        ...(replaced && { result: replaced }),
      };
    },
  };
}

type SpecificHook = { event: HookEventName; fields(call: HookedCall, judged: JudgedCall): Promise<JsonObject> };
/** A hook event after calls of one kind of tool. With `onSuccess`, it fires only for successful calls. */
type SpecificEndHook = {
  event: HookEventName;
  onSuccess?: true;
  fields(call: HookedCall, end: CallOutcome): JsonObject;
};

const nothing: BeforeCall = { reasons: [], messages: [], context: [] };

function beforeOf(answer: HookAnswer, event: string): BeforeCall {
  const { permission, reasons, messages, updatedInput, hasOthers, context } = answer;
  const verb = permission === "deny" ? "refused it" : "wants a person to be asked";
  const reasonTexts =
    reasons.length > 0 ? reasons.map((reason) => `A hook ${verb}: ${asSentence(reason)}`) : [`A hook ${verb}.`];
  return {
    ...((permission === "deny" || permission === "ask") && { verdict: permission }),
    reasons: reasonTexts,
    messages,
    ...(updatedInput && { updatedInput, isUnseen: hasOthers === true }),
    context: context.map((text) => hookContextBlock(event, text)),
  };
}

function asSentence(text: string): string {
  const plain = text.trim();
  return /[.!?…]$/.test(plain) ? plain : `${plain}.`;
}

/** Names the input fields as `cursor-agent` and Claude Code do, so that scripts for either work. Our tools accept these names. */
function inputOf({ tool, args, wireArgs }: HookedCall): JsonObject {
  if (!isObject(args)) return { input: args };
  if (tool.wire === "shell") {
    const { workingDirectory, ...rest } = args;
    return { ...rest, ...(workingDirectory !== undefined && { working_directory: wireArgs["workingDirectory"] }) };
  }
  if (!["read", "edit", "delete"].includes(tool.wire)) return args;
  const { path: _path, edits, ...rest } = args;
  return { file_path: wireArgs["path"], ...rest, ...(Array.isArray(edits) && editInput(edits)) };
}

function editInput(edits: readonly unknown[]): JsonObject {
  const spelled = edits.map((each) => {
    const { oldText, newText, replaceAll } = each as JsonObject;
    return { old_string: oldText, new_string: newText, ...(replaceAll === true && { replace_all: true }) };
  });
  return spelled.length === 1 ? spelled[0]! : { edits: spelled };
}

function shellCommand({ args }: HookedCall): string {
  return isObject(args) ? String(args["command"] ?? "") : "";
}

/** Returns the whole text of the file to be read; empty when it is not text or too large. */
async function fileContent(path: string, context: FileContext): Promise<string> {
  try {
    const file = await openFile(path, context);
    try {
      if (file.stat.size > maxContentBytes) return "";
      return decodeText(await file.handle.readFile())?.text ?? "";
    } finally {
      await file.handle.close();
    }
  } catch {
    return ""; // the tool itself reports invalid arguments
  }
}

function outcomeFields({ value }: Outcome): JsonObject {
  return isObject(value) ? value : {};
}

function shellOutput({ outcome, text }: ToolResult): string {
  const { interleavedOutput, stdout, stderr } = outcomeFields(outcome);
  if (typeof interleavedOutput === "string") return interleavedOutput;
  return typeof stdout === "string" ? `${stdout}${typeof stderr === "string" ? stderr : ""}` : text;
}

/** Returns the replacements of an edit; for Write, the whole old and new content. */
function editsOf(call: HookedCall, outcome: Outcome): JsonObject[] {
  const { edits } = isObject(call.args) ? call.args : {};
  if (Array.isArray(edits))
    return edits.map((each) => ({
      old_string: (each as JsonObject)["oldText"],
      new_string: (each as JsonObject)["newText"],
    }));
  const { beforeFullFileContent = "", afterFullFileContent = "" } = outcomeFields(outcome);
  return [{ old_string: beforeFullFileContent, new_string: afterFullFileContent }];
}

function toolOutput({ tool }: HookedCall, result: ToolResult): string {
  if (tool.wire !== "shell") return JSON.stringify(result.outcome.value ?? null);
  return JSON.stringify({ output: shellOutput(result), exitCode: outcomeFields(result.outcome)["exitCode"] ?? 0 });
}

function mcpFields({ tool, args }: HookedCall): JsonObject {
  return { tool_name: tool.mcp?.tool ?? tool.name, tool_input: JSON.stringify(args ?? {}) };
}

/** Returns the URL or the command of the MCP server that provides the tool. */
function mcpServer({ tool: { mcp } }: HookedCall): JsonObject {
  return {
    ...(mcp?.url !== undefined && { url: mcp.url }),
    ...(mcp?.command !== undefined && { command: mcp.command }),
  };
}

/** Converts a hook's output, which has the shape of an MCP result. */
function withOutput(output: JsonObject): ToolResult {
  const content = Array.isArray(output["content"])
    ? output["content"]
    : [{ type: "text", text: JSON.stringify(output) }];
  const resultText = shownResult({ content }, Number.POSITIVE_INFINITY);
  return toolResult(mcpOutcome(resultText.wire, output["isError"] === true), resultText);
}

/** Longer hook output would crowd out the model's working context. */
const longestHookContext = 30_000;

/** Wraps a hook's text for the model in a tag that names the hook's event. */
export function hookContextBlock(event: string, text: string): string {
  const short = text.length > longestHookContext ? `${text.slice(0, longestHookContext)}\n[… cut …]` : text;
  return block("hook_context", { event }, short);
}
