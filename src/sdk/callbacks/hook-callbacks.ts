// Hooks and the permission callback: passes what a CLI's hook receives to functions of this process, and translates their
// answer into that CLI's format.

import { fieldsOf, isObject, type JsonObject } from "../../json/object.ts";
import { type HookEventName, hookEvents, isHookEvent } from "../../protocol/hook-events.ts";
import { callKey } from "../drivers/foreign-calls.ts";
import type { OtherToolName, ToolName } from "../run-event.ts";
import { unifiedToolName } from "../tool-names.ts";
import type { UnifiedTool } from "../unified.ts";

/** A tool call that waits for permission. */
export type CallRequest = {
  id: string;
  /** The unified name: Read, Edit, Bash, … */
  name: ToolName | OtherToolName;
  /** The CLI's own name of the tool. */
  cliName: string;
  /** The input with the CLI's own field names. */
  input: Record<string, unknown>;
  cwd: string;
  sessionId: string;
};

/** Whether a call may run; anything but a clear yes refuses it. `input` replaces the call's input and is checked like any other. */
export type PermissionAnswer =
  | boolean
  | "allow"
  | "deny"
  | { allow: true; input?: Record<string, unknown> }
  | { allow: false; reason?: string };

/** Decides whether a tool call may run. */
export type CanUseTool = (
  call: CallRequest,
  context: { signal: AbortSignal },
) => PermissionAnswer | Promise<PermissionAnswer>;

/** What a hook may answer; the event determines which fields count. */
export type CallbackAnswer = {
  permission?: "allow" | "deny" | "ask";
  /** The reason for the decision, shown to the model. */
  reason?: string;
  updatedInput?: Record<string, unknown>;
  /** Additional context for the model. */
  context?: string;
  /** A prompt to continue with when the agent stops. */
  followup?: string;
  /** Set to false to block a prompt. */
  continue?: boolean;
};

/** Hook functions by event name. `payload` is what the CLI sends to its hooks. */
export type HookCallbacks = {
  [Event in HookEventName]?: (payload: JsonObject) => CallbackAnswer | undefined | Promise<CallbackAnswer | undefined>;
};

export type RefusedCall = { id: string; name: string; input: unknown; reason: string };

export type Callbacks = { canUseTool?: CanUseTool; hooks?: HookCallbacks };

/** Returns the hook events that the CLI must report for these callbacks. */
export function eventsOf({ canUseTool, hooks = {} }: Callbacks): HookEventName[] {
  const names = Object.keys(hooks) as HookEventName[];
  return [...new Set(canUseTool ? (["preToolUse", ...names] as const) : names)];
}

export class HookDispatcher {
  readonly #callbacks: Callbacks;
  readonly #tool: UnifiedTool;
  readonly #signal: AbortSignal;
  /** Decisions by call id, so that the callback is not asked twice about a call. */
  readonly #permitted = new Map<string, boolean>();
  readonly changedInputs = new Map<string, unknown>();
  /** The calls that were denied, in the order they were made. */
  readonly refusedCalls: RefusedCall[] = [];
  readonly warnings: string[] = [];

  constructor(callbacks: Callbacks, tool: UnifiedTool, signal: AbortSignal) {
    this.#callbacks = callbacks;
    this.#tool = tool;
    this.#signal = signal;
  }

  /** Returns the answer that the CLI's hook prints. */
  async answer(payload: JsonObject): Promise<object> {
    const event = eventNamed(String(payload.hook_event_name));
    if (!event) return {};
    const hookAnswer = await this.#handleEvent(event, payload);
    const isGate = event === "preToolUse" && this.#callbacks.canUseTool && hookAnswer.permission !== "deny";
    const answer: CallbackAnswer = isGate
      ? { ...hookAnswer, ...(await this.#permit(callRequest(payload, this.#tool))) }
      : hookAnswer;
    const { updatedInput } = answer;
    if (updatedInput && answer.permission !== "deny") this.changedInputs.set(hookCallKey(payload), updatedInput);
    if (event === "preToolUse" && answer.permission === "deny") {
      const { id, cliName: name, input } = callRequest(payload, this.#tool);
      this.refusedCalls.push({ id, name, input, reason: answer.reason ?? "" });
    }
    // Send no decision to Codex when a call is allowed unchanged: it treats such an answer as a failed hook.
    if (this.#tool === "codex" && answer.permission === "allow" && !updatedInput) delete answer.permission;
    return (answersOf[this.#tool] ?? claudeAnswer)(answer, event);
  }

  /** Answers a permission request that would otherwise go to the user. */
  async ask({ call_id: id, tool_name: name, tool_input: input, ...rest }: JsonObject): Promise<object> {
    const existing = this.#permitted.get(String(id));
    if (existing !== undefined) return { allow: existing };
    if (!this.#callbacks.canUseTool) return { allow: false, reason: reasonsIn(rest.reasons) };
    const asked = callRequest({ ...rest, tool_name: name, tool_input: input, tool_use_id: id }, this.#tool);
    const { permission, reason } = await this.#permit(asked);
    return { allow: permission === "allow", ...(reason !== undefined && { reason }) };
  }

  async #handleEvent(event: HookEventName, payload: JsonObject): Promise<CallbackAnswer> {
    try {
      return (await this.#callbacks.hooks?.[event]?.(payload)) ?? {};
    } catch (error) {
      const message = `The callback for ${event} failed: ${errorMessage(error)}`;
      this.warnings.push(message);
      const { effect } = hookEvents[event];
      if (effect === "permit") return { permission: "deny", reason: message };
      return effect === "prompt" ? { continue: false, reason: message } : {};
    }
  }

  async #permit(call: CallRequest): Promise<CallbackAnswer> {
    let answer: CallbackAnswer;
    try {
      answer = toCallbackAnswer(await this.#callbacks.canUseTool!(call, { signal: this.#signal }));
    } catch (error) {
      const reason = `The permission callback failed: ${errorMessage(error)}`;
      this.warnings.push(reason);
      answer = { permission: "deny", reason };
    }
    this.#permitted.set(call.id, answer.permission === "allow");
    return answer;
  }
}

function toCallbackAnswer(answer: PermissionAnswer): CallbackAnswer {
  if (answer === true || answer === "allow") return { permission: "allow" };
  if (isObject(answer) && answer.allow === true) {
    return { permission: "allow", ...(isObject(answer.input) && { updatedInput: answer.input }) };
  }
  const reason = isObject(answer) && typeof answer.reason === "string" ? answer.reason : "The program said no.";
  return { permission: "deny", reason };
}

function callRequest(payload: JsonObject, tool: UnifiedTool): CallRequest {
  const cliName = String(payload.tool_name ?? "");
  return {
    id: String(payload.tool_use_id ?? ""),
    name: unifiedToolName(tool, cliName) as CallRequest["name"],
    cliName,
    input: fieldsOf(payload.tool_input),
    cwd: String(payload.cwd ?? ""),
    sessionId: String(payload.session_id ?? ""),
  };
}

function hookCallKey({ tool_use_id: id, tool_name: name, tool_input: input }: JsonObject): string {
  return typeof id === "string" ? id : callKey(String(name), input);
}

/** Finds an event by Cursor's name, by Claude's, or by Gemini's. */
function eventNamed(name: string): HookEventName | undefined {
  if (isHookEvent(name)) return name;
  const found = Object.entries(hookEvents).find(([, each]) => each.claude === name || each.gemini === name)?.[0];
  return found as HookEventName | undefined;
}

function cursorAnswer(answer: CallbackAnswer): object {
  const { permission, reason, updatedInput, context, followup } = answer;
  return {
    ...(permission && { permission }),
    ...(answer.continue !== undefined && { continue: answer.continue }),
    ...(reason !== undefined && { agent_message: reason, user_message: reason }),
    ...(updatedInput && { updated_input: updatedInput }),
    ...(context !== undefined && { additional_context: context }),
    ...(followup !== undefined && { followup_message: followup }),
  };
}

function claudeAnswer(answer: CallbackAnswer, event: HookEventName): object {
  const { permission, reason, updatedInput, context, followup } = answer;
  const hookEventName = hookEvents[event].claude!;
  const more = context === undefined ? {} : { additionalContext: context };
  switch (hookEvents[event].effect) {
    case "permit":
      if (!permission && context === undefined) return {};
      return {
        hookSpecificOutput: {
          hookEventName,
          ...(permission && { permissionDecision: permission }),
          ...(reason !== undefined && { permissionDecisionReason: reason }),
          ...(updatedInput && { updatedInput }),
          ...more,
        },
      };
    case "prompt":
      if (answer.continue === false || permission === "deny") return { decision: "block", reason: reason ?? "" };
      return context === undefined ? {} : { hookSpecificOutput: { hookEventName, ...more } };
    case "context":
      return context === undefined ? {} : { hookSpecificOutput: { hookEventName, ...more } };
    case "followup":
      return followup === undefined ? {} : { decision: "block", reason: followup };
    case "observe":
      return {};
  }
}

/** Formats an answer for Gemini, which uses one field for all decisions and names changed arguments `tool_input`. */
function geminiAnswer(answer: CallbackAnswer, event: HookEventName): object {
  if (hookEvents[event].effect !== "permit") return claudeAnswer(answer, event);
  const { permission, reason, updatedInput } = answer;
  return {
    ...(permission && { decision: permission }),
    ...(reason !== undefined && { reason }),
    ...(updatedInput && { hookSpecificOutput: { hookEventName: hookEvents[event].gemini, tool_input: updatedInput } }),
  };
}

/** Formats an answer for each CLI; those not listed use Claude's format. */
const answersOf: Readonly<Record<string, (answer: CallbackAnswer, event: HookEventName) => object>> = {
  cursor: cursorAnswer,
  gemini: geminiAnswer,
};

function reasonsIn(reasons: unknown): string {
  return Array.isArray(reasons) ? reasons.join(" ") : "Nobody can be asked.";
}

function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
