// Cursor's hooks: camelCase events, and one answer format for each effect that an event's answer can have.

import type { JsonObject } from "../../json/object.ts";
import { textIn } from "../../json/object.ts";
import { type HookEffect, type HookEventName, hookEvents, isHookEvent } from "../../protocol/hook-events.ts";
import { nearestName } from "../../text/nearest.ts";
import {
  type AnswerField,
  type AnswerLoss,
  answerFields,
  type HookAnswer,
  type HookDecision,
  type HookReply,
  warningLine,
} from "../answer.ts";
import { type BridgeEvent, commonHookNames, finishEvent, type HookName } from "../event.ts";
import {
  BridgeError,
  checkedHost,
  type Host,
  numberField,
  type ParseOptions,
  payloadOf,
  requiredText,
  type SerializeOptions,
} from "../host.ts";
import { callFields, namedCall, outputOf } from "../tool-call.ts";
import { askTreatment } from "./cursor-ask.ts";

type EventRow = { event: HookName; fields(payload: JsonObject): JsonObject };

const shellInput = ({ command, cwd, sandbox }: JsonObject): JsonObject => ({
  command,
  ...(cwd !== undefined && { cwd }),
  ...(sandbox !== undefined && { sandbox }),
});
const fileInput = ({ file_path, content, edits }: JsonObject): JsonObject => ({
  file_path,
  ...(content !== undefined && { content }),
  ...(edits !== undefined && { edits }),
});
const mcpCall = (payload: JsonObject): JsonObject =>
  callFields(requiredText(payload, "tool_name"), payload["tool_input"], { tool: "MCP" });
const subagent = (payload: JsonObject): JsonObject => ({
  agentId: textIn(payload, "subagent_id"),
  agentType: textIn(payload, "subagent_type"),
  task: textIn(payload, "task"),
});
const ended = (payload: JsonObject): JsonObject => ({
  isContinued: (numberField(payload, "loop_count") ?? 0) > 0,
  status: textIn(payload, "status"),
});

const rows: Partial<Record<HookEventName, EventRow>> = {
  sessionStart: { event: "SessionStart", fields: () => ({}) },
  beforeShellExecution: {
    event: "PreToolUse",
    fields: (payload) => callFields("Shell", shellInput(payload)),
  },
  afterShellExecution: {
    event: "PostToolUse",
    fields: (payload) => ({
      ...callFields("Shell", shellInput(payload)),
      output: payload["output"],
      durationMs: numberField(payload, "duration"),
    }),
  },
  beforeMCPExecution: { event: "PreToolUse", fields: mcpCall },
  afterMCPExecution: {
    event: "PostToolUse",
    fields: (payload) => ({
      ...mcpCall(payload),
      output: outputOf(payload["result_json"]),
      durationMs: numberField(payload, "duration"),
    }),
  },
  beforeReadFile: {
    event: "PreToolUse",
    fields: (payload) => {
      requiredText(payload, "file_path");
      return callFields("Read", fileInput(payload));
    },
  },
  afterFileEdit: { event: "PostToolUse", fields: (payload) => callFields("Edit", fileInput(payload)) },
  beforeSubmitPrompt: {
    event: "UserPromptSubmit",
    fields: (payload) => ({
      prompt: requiredText(payload, "prompt"),
      attachments: Array.isArray(payload["attachments"]) ? payload["attachments"] : [],
    }),
  },
  preToolUse: { event: "PreToolUse", fields: namedCall },
  postToolUse: {
    event: "PostToolUse",
    fields: (payload) => ({
      ...namedCall(payload),
      output: outputOf(payload["tool_output"]),
      durationMs: numberField(payload, "duration"),
    }),
  },
  stop: { event: "Stop", fields: ended },
  sessionEnd: { event: "SessionEnd", fields: (payload) => ({ reason: textIn(payload, "reason") }) },
  preCompact: { event: "PreCompact", fields: (payload) => ({ trigger: textIn(payload, "trigger") }) },
  subagentStart: { event: "SubagentStart", fields: subagent },
  subagentStop: {
    event: "SubagentStop",
    fields: (payload) => ({ ...subagent(payload), ...ended(payload), lastMessage: textIn(payload, "summary") }),
  },
  postToolUseFailure: {
    event: "PostToolUseFailure",
    fields: (payload) => ({
      ...namedCall(payload),
      error: textIn(payload, "error_message") ?? "",
      isInterrupt: payload["is_interrupt"] === true,
      durationMs: numberField(payload, "duration"),
    }),
  },
};

/** Parses and answers hook calls of Cursor and Courser. */
export const cursor: Host = checkedHost({
  name: "cursor",
  events: Object.fromEntries(Object.entries(rows).map(([name, row]) => [name, row.event])),
  // Print an empty object, since no output could count as a failed hook.
  silence: "{}\n",
  permits: ({ nativeEvent }) => isHookEvent(nativeEvent) && hookEvents[nativeEvent].effect === "permit",
  parse,
  serialize,
});

function parse(raw: unknown, { events = "common" }: ParseOptions = {}): BridgeEvent {
  const payload = payloadOf(raw);
  const nativeEvent = requiredText(payload, "hook_event_name");
  const row = isHookEvent(nativeEvent) ? rows[nativeEvent] : undefined;
  if (!row) throw unsupportedEventError(nativeEvent);
  if (events !== "all" && !(commonHookNames as readonly string[]).includes(row.event)) {
    const hint = `Pass events: "all" to run() to have it as ${row.event}.`;
    throw new BridgeError("EVENT", `cursor: the event ${nativeEvent} is not supported. ${hint}`);
  }
  const roots = payload["workspace_roots"];
  const root = Array.isArray(roots) && typeof roots[0] === "string" ? roots[0] : undefined;
  return finishEvent({
    event: row.event,
    host: "cursor",
    nativeEvent,
    cwd: textIn(payload, "cwd") ?? root,
    sessionId: textIn(payload, "session_id") ?? textIn(payload, "conversation_id"),
    transcriptPath: payload["transcript_path"],
    model: textIn(payload, "model"),
    ...row.fields(payload),
    _native: payload,
  });
}

function unsupportedEventError(name: string): BridgeError {
  if (isHookEvent(name))
    return new BridgeError("EVENT", `cursor: the event ${name} is not supported: other hosts have nothing like it.`);
  const meant = nearestName(name, Object.keys(rows));
  const quotedName = JSON.stringify(name.slice(0, 60));
  return new BridgeError("EVENT", `cursor: unknown event ${quotedName}${meant ? ` (did you mean ${meant}?)` : ""}.`);
}

/** Maps fields of an answer to those of the wire, in the order in which they are written. */
const shapes: Record<HookEffect, readonly [AnswerField, wire: string][]> = {
  permit: [
    ["decision", "permission"],
    ["user_message", "user_message"],
    ["reason", "agent_message"],
    ["modified_input", "updated_input"],
  ],
  prompt: [
    ["decision", "continue"],
    ["user_message", "user_message"],
  ],
  context: [["additional_context", "additional_context"]],
  followup: [["reason", "followup_message"]],
  observe: [["user_message", "user_message"]],
};

function serialize(answer: HookAnswer, event: BridgeEvent, options: SerializeOptions = {}): HookReply {
  const { nativeEvent } = event;
  if (!isHookEvent(nativeEvent)) throw unsupportedEventError(nativeEvent);
  const { effect } = hookEvents[nativeEvent];
  const carried = shapes[effect].filter(([, wire]) => acceptsField(nativeEvent, wire));
  const dropped = answerFields.filter(
    (field) => answer[field] !== undefined && !carried.some(([carriedField]) => carriedField === field),
  );
  const losses: AnswerLoss[] = dropped.map((field) => ({ field, host: "cursor", event: nativeEvent }));
  let stderr = droppedWarnings(nativeEvent, dropped);

  const wire: JsonObject = {};
  for (const [field, name] of carried) if (answer[field] !== undefined) wire[name] = answer[field];
  const { decision = "allow" } = answer;
  if (effect === "permit") {
    const settled = decision === "ask" ? settleAsk(event, options) : { decision };
    wire["permission"] = settled.decision;
    if (settled.decision !== decision)
      losses.push({ field: "decision", host: "cursor", event: nativeEvent, instead: settled.decision });
    stderr += settled.warning ?? "";
  }
  if (effect === "prompt") {
    wire["continue"] = decision === "allow";
    if (decision === "ask") losses.push({ field: "decision", host: "cursor", event: nativeEvent, instead: "deny" });
  }
  const blocks = wire["permission"] === "deny" || wire["continue"] === false;
  return { stdout: `${JSON.stringify(inOrder(wire, effect))}\n`, stderr, exit_code: blocks ? 2 : 0, losses };
}

function acceptsField(event: HookEventName, wire: string): boolean {
  // Undocumented for this event, but accepted: the text for the model when it may not read the file.
  if (event === "beforeReadFile" && wire === "agent_message") return true;
  return Object.hasOwn(hookEvents[event].answer, wire);
}

function inOrder(wire: JsonObject, effect: HookEffect): JsonObject {
  const names = shapes[effect].map(([, name]) => name).filter((name) => wire[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, wire[name]]));
}

function droppedWarnings(event: HookEventName, dropped: readonly AnswerField[]): string {
  if (dropped.length === 0) return "";
  if (hookEvents[event].effect === "observe") {
    const list = dropped.map((field) => `'${field}'`).join(", ");
    return warningLine(`cursor: ${event} only observes; dropped ${list}.`);
  }
  return dropped.map((field) => warningLine(`cursor: '${field}' is not supported on ${event}; dropped.`)).join("");
}

function settleAsk(
  { _native }: BridgeEvent,
  { cursorAskFallback = "deny", cursorSurface }: SerializeOptions,
): { decision: HookDecision; warning?: string } {
  const version = textIn(_native, "cursor_version");
  if (cursorAskFallback === "ask" || askTreatment(version, cursorSurface) === "asks") return { decision: "ask" };
  const versions = "silently treated as 'deny' on 2.4.21-2.x, 'allow' on 3.x; last verified on 3.2.16";
  const text =
    `cursor ${version || "of unknown version"}: 'permission: "ask"' is not honored (${versions}); ` +
    `downgrading to '${cursorAskFallback}'. Pass cursorAskFallback: "ask" to opt out.`;
  return { decision: cursorAskFallback, warning: warningLine(text) };
}
