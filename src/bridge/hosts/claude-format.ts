// Claude's format for payloads and answers, which Codex shares with its own restrictions, and Gemini with its own names.
import type { JsonObject } from "../../json/object.ts";
import { textIn } from "../../json/object.ts";
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
import { type BridgeEvent, finishEvent, type HookName, type HostName } from "../event.ts";
import { BridgeError, checkedHost, type Host, numberField, payloadOf, requiredText } from "../host.ts";
import { namedCall } from "../tool-call.ts";

/** The differences between hosts that use this format. */
type Dialect = {
  name: HostName;
  /** The events that the host has, by its own names. */
  events: Readonly<Record<string, HookName>>;
  /** Whether `ask` is supported; otherwise it becomes a refusal. */
  asks: boolean;
  /** Whether a call may be allowed unchanged; otherwise the answer is left out, and the host decides as usual. */
  allows: boolean;
  /** Whether the answer to a permission request may change the call. */
  changesRequests: boolean;
  /** The decision about a call is given as about anything else, changed arguments are `tool_input`, and it takes no context. */
  plainDecisions?: true;
};

const agent = (payload: JsonObject): JsonObject => ({
  agentId: textIn(payload, "agent_id"),
  agentType: textIn(payload, "agent_type"),
});
const ended = (payload: JsonObject): JsonObject => ({
  isContinued: payload["stop_hook_active"] === true,
  lastMessage: payload["last_assistant_message" in payload ? "last_assistant_message" : "prompt_response"],
});

const fieldsOf: Record<HookName, (payload: JsonObject) => JsonObject> = {
  SessionStart: (payload) => ({ source: textIn(payload, "source") }),
  SessionEnd: (payload) => ({ reason: textIn(payload, "reason") }),
  PreToolUse: namedCall,
  PostToolUse: (payload) => ({
    ...namedCall(payload),
    output: payload["tool_response"],
    durationMs: numberField(payload, "duration_ms"),
  }),
  PostToolUseFailure: (payload) => ({
    ...namedCall(payload),
    error: textIn(payload, "error") ?? "",
    isInterrupt: payload["is_interrupt"] === true,
    durationMs: numberField(payload, "duration_ms"),
  }),
  UserPromptSubmit: (payload) => ({ prompt: requiredText(payload, "prompt"), attachments: [] }),
  Stop: ended,
  SubagentStart: agent,
  SubagentStop: (payload) => ({ ...agent(payload), ...ended(payload) }),
  PreCompact: (payload) => ({ trigger: textIn(payload, "trigger") }),
  PermissionRequest: namedCall,
};

/** `user_message` is supported everywhere except at the end of a session. */
const carriedBy: Record<HookName, readonly AnswerField[]> = {
  PreToolUse: ["decision", "reason", "user_message", "modified_input", "additional_context"],
  PostToolUse: ["decision", "reason", "user_message", "additional_context"],
  PostToolUseFailure: ["user_message", "additional_context"],
  UserPromptSubmit: ["decision", "reason", "user_message", "additional_context"],
  SessionStart: ["user_message", "additional_context"],
  SessionEnd: [],
  Stop: ["decision", "reason", "user_message"],
  SubagentStart: ["user_message", "additional_context"],
  SubagentStop: ["decision", "reason", "user_message"],
  PreCompact: ["user_message"],
  PermissionRequest: ["decision", "reason", "user_message", "modified_input"],
};

/** Maps names of events to themselves, for hosts that use the same names as the bridge. */
export function sameNames(names: readonly HookName[]): Record<string, HookName> {
  return Object.fromEntries(names.map((name) => [name, name]));
}

export function claudeFormat(dialect: Dialect): Host {
  const { name } = dialect;
  return checkedHost({
    name,
    events: dialect.events,
    silence: "",
    permits: ({ event }) => event === "PreToolUse" || event === "PermissionRequest",
    parse(raw) {
      const payload = payloadOf(raw);
      const nativeEvent = requiredText(payload, "hook_event_name");
      if (!Object.hasOwn(dialect.events, nativeEvent)) throw unsupportedEventError(nativeEvent, dialect);
      const event = dialect.events[nativeEvent]!;
      return finishEvent({
        event,
        host: name,
        nativeEvent,
        cwd: textIn(payload, "cwd"),
        sessionId: textIn(payload, "session_id"),
        transcriptPath: payload["transcript_path"],
        model: textIn(payload, "model"),
        ...fieldsOf[event](payload),
        _native: payload,
      });
    },
    serialize: (answer, event) => serialize(answer, event, dialect),
  });
}

function unsupportedEventError(name: string, { name: host, events }: Dialect): BridgeError {
  const meant = nearestName(name, Object.keys(events));
  const quotedName = JSON.stringify(name.slice(0, 60));
  const hint = meant ? ` (did you mean ${meant}?)` : "";
  return new BridgeError("EVENT", `${host}: the event ${quotedName} is not supported${hint}.`);
}

/** Returns why a call or a prompt is refused, or undefined. After a tool and at a stop there is nothing to refuse. */
function refusalIn(block: JsonObject, specific: JsonObject, event: HookName): string | undefined {
  const { decision, permissionDecision = block["decision"], permissionDecisionReason = block["reason"] } = specific;
  if (event === "PreToolUse") return permissionDecision === "deny" ? String(permissionDecisionReason) : undefined;
  if (event === "PermissionRequest") {
    const { behavior, message } = (decision ?? {}) as JsonObject;
    return behavior === "deny" ? String(message) : undefined;
  }
  return event === "UserPromptSubmit" && block["decision"] === "block" ? String(block["reason"]) : undefined;
}

/** The hosts do not accept a refusal without a reason, or with a blank one. */
const noReason = "A hook refused it.";

function saidOr(text: string | undefined, otherwise: string): string {
  return text === undefined || text.trim() === "" ? otherwise : text;
}

function serialize(
  answer: HookAnswer,
  { event, nativeEvent }: BridgeEvent,
  { name, asks, allows, changesRequests, plainDecisions }: Dialect,
): HookReply {
  const { decision, reason, user_message, modified_input, additional_context } = answer;
  const losses: AnswerLoss[] = [];
  let stderr = "";
  const lose = (field: AnswerField, instead?: HookDecision) =>
    losses.push({ field, host: name, event: nativeEvent, ...(instead && { instead }) });
  const drop = (field: AnswerField) => {
    lose(field);
    stderr += warningLine(`${name}: '${field}' is not supported on ${nativeEvent}; dropped.`);
  };
  const carries = (field: AnswerField) =>
    carriedBy[event].includes(field) && !(plainDecisions && event === "PreToolUse" && field === "additional_context");

  const dropped = answerFields.filter((field) => answer[field] !== undefined && !carries(field));
  if (event === "SessionEnd" && dropped.length > 0) {
    for (const field of dropped) lose(field);
    const list = dropped.map((field) => `'${field}'`).join(", ");
    stderr += warningLine(`${name}: ${nativeEvent} only observes; dropped ${list}.`);
  } else dropped.forEach(drop);
  const specific: JsonObject =
    event === "PreToolUse" ? permission() : event === "PermissionRequest" ? requestAnswer() : {};
  if (carries("additional_context") && additional_context !== undefined)
    specific["additionalContext"] = additional_context;
  const isCall = event === "PreToolUse" || event === "PermissionRequest";
  const block = isCall ? plainDecision(specific) : carries("decision") ? blocked() : {};
  // Do not repeat a message that is already sent as the reason.
  const userMessage = carries("user_message") && block["reason"] !== user_message ? user_message : undefined;
  const wire = {
    ...block,
    ...(userMessage !== undefined && { systemMessage: userMessage }),
    ...(Object.keys(specific).length > 0 && { hookSpecificOutput: { hookEventName: nativeEvent, ...specific } }),
  };
  const stdout = Object.keys(wire).length > 0 ? `${JSON.stringify(wire)}\n` : "";
  const refusal = refusalIn(block, specific, event);
  // Use exit code 2 only for a bare reason: hosts read it from stderr then, and ignore JSON.
  const saysMore = userMessage !== undefined || additional_context !== undefined;
  if (refusal === undefined || saysMore) return { stdout, stderr, exit_code: 0, losses };
  return { stdout, stderr: `${refusal}\n${stderr}`, exit_code: 2, losses };

  /** Moves the decision to the field that other events have it in, for hosts that expect it there. */
  function plainDecision(given: JsonObject): JsonObject {
    if (!plainDecisions) return {};
    const { permissionDecision: settled, permissionDecisionReason: why, updatedInput } = given;
    for (const key of ["permissionDecision", "permissionDecisionReason", "updatedInput"]) delete given[key];
    if (updatedInput !== undefined) given["tool_input"] = updatedInput;
    return { ...(settled !== undefined && { decision: settled }), ...(why !== undefined && { reason: why }) };
  }

  /** Answers a permission request. Without a decision, or with `ask`, the user is asked. */
  function requestAnswer(): JsonObject {
    if (decision === "deny") {
      if (modified_input) lose("modified_input");
      return { decision: { behavior: "deny", message: saidOr(reason, noReason) } };
    }
    if (reason !== undefined) drop("reason");
    const changes = changesRequests && decision === "allow";
    if (modified_input && !changes) drop("modified_input");
    if (decision !== "allow") return {};
    return { decision: { behavior: "allow", ...(changes && modified_input && { updatedInput: modified_input }) } };
  }

  function permission(): JsonObject {
    const settled = settledDecision();
    if (settled === "deny") {
      if (modified_input) lose("modified_input");
      return { permissionDecision: "deny", permissionDecisionReason: saidOr(reason, noReason) };
    }
    const says = settled !== undefined && (allows || modified_input !== undefined);
    if (settled !== undefined && !says) lose("decision");
    if (reason !== undefined && !says) drop("reason");
    return {
      ...(says && { permissionDecision: settled }),
      ...(says && reason !== undefined && { permissionDecisionReason: reason }),
      ...(modified_input && { updatedInput: modified_input }),
    };
  }

  function settledDecision(): HookDecision | undefined {
    if (decision === "ask" && !asks) {
      lose("decision", "deny");
      stderr += warningLine(`${name}: 'decision: "ask"' is not supported on PreToolUse; downgrading to 'deny'.`);
      return "deny";
    }
    // Add a decision to a change of the input, if the host accepts one only together with the other.
    return decision ?? (modified_input && !allows ? "allow" : undefined);
  }

  /** Formats a refusal with its reason after a tool or for a prompt; at a stop, what to do next. */
  function blocked(): JsonObject {
    if (event === "Stop" || event === "SubagentStop") {
      const next = saidOr(reason, "");
      if (decision !== undefined && (decision !== "deny" || next === "")) drop("decision");
      return next === "" ? {} : { decision: "block", reason: next };
    }
    if (event === "UserPromptSubmit" && decision === "ask") lose("decision", "deny");
    if (event === "PostToolUse" && decision === "ask") drop("decision");
    const blocks = decision === "deny" || (decision === "ask" && event === "UserPromptSubmit");
    if (blocks) return { decision: "block", reason: saidOr(reason, saidOr(user_message, noReason)) };
    if (reason !== undefined) drop("reason");
    return {};
  }
}
