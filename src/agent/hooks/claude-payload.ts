// Payloads as Claude's own hooks expect them: its names for events and tools, and none of the fields that tell others apart.

import { isObject, type JsonObject, tryParse } from "../../json/object.ts";
import { type HookEventName, hookEvents } from "../../protocol/hook-events.ts";

/** Our names of tools -> Claude's. */
const toolNames: Record<string, string> = { Shell: "Bash", Edit: "Edit", Await: "BashOutput" };

export function claudeToolName(name: string): string {
  return toolNames[name] ?? name;
}

/** What Claude tells beside the same fields. */
const extras: Partial<Record<HookEventName, (payload: JsonObject) => JsonObject>> = {
  sessionStart: ({ is_resumed }) => ({ source: is_resumed === true ? "resume" : "startup" }),
  postToolUse: ({ tool_output }) => ({ tool_response: responseOf(tool_output) }),
  postToolUseFailure: ({ error_message }) => ({ error: error_message }),
  stop: ({ loop_count }) => ({ stop_hook_active: Number(loop_count) > 0 }),
  subagentStop: ({ loop_count }) => ({ stop_hook_active: Number(loop_count) > 0 }),
  preCompact: () => ({ custom_instructions: "" }),
};

/** Claude tells it as an object, and the output of a command under the name of its stream. */
function responseOf(output: unknown): unknown {
  const value = typeof output === "string" ? tryParse(output) : undefined;
  if (!isObject(value)) return output;
  const { output: printed, exitCode, ...rest } = value;
  if (typeof printed !== "string" || exitCode === undefined) return value;
  return { stdout: printed, stderr: "", interrupted: false, isImage: false, exitCode, ...rest };
}

const permissionModes: Record<string, string> = { force: "bypassPermissions", plan: "plan", ask: "plan" };

/** `tool`: our own name of the tool that it is about. */
export function claudePayload(
  event: HookEventName,
  payload: JsonObject,
  place: { workspace: string; mode: string; tool?: string },
): JsonObject {
  const {
    conversation_id: _conversation,
    generation_id: _generation,
    cursor_version: _version,
    workspace_roots: _roots,
    user_email: _email,
    is_resumed: _resumed,
    cwd = place.workspace,
    ...rest
  } = payload;
  return {
    ...rest,
    ...extras[event]?.(payload),
    hook_event_name: hookEvents[event].claude ?? event,
    cwd,
    permission_mode: permissionModes[place.mode] ?? "default",
    ...(place.tool !== undefined && { tool_name: claudeToolName(place.tool) }),
  };
}
