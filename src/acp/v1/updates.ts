// Turns events into session/update of version 1. One object per session, which tracks the open message and calls.
import { isObject, type JsonObject } from "../../json/object.ts";
import type { AgentEvent } from "../../protocol/event.ts";
import { callFields, cutFence, endFields, textContent, type WireCall } from "./tool-call.ts";

export type Update = { sessionUpdate: string } & JsonObject;

/** How many characters at the end of a running command's output are shown. */
const liveTail = 8000;
/** The shortest interval between two updates of a running command. */
const liveEveryMs = 100;

type SessionInfo = {
  workspace: string;
  newId(): string;
  /** Whether the client shows notices. Otherwise they are sent as thoughts, separate from the answer. */
  notices: boolean;
  /** Whether the client shows where the conversation was compacted. */
  compaction: boolean;
};

const chunks = { message: "agent_message_chunk", thought: "agent_thought_chunk" } as const;

type Saying = keyof typeof chunks;

type OpenCall = { output: string; shownAt: number; isDirty: boolean };

export class Updates {
  readonly #session: SessionInfo;
  readonly #calls = new Map<string, OpenCall>();
  /** For each open question, the id of the call that it is about. */
  readonly #asked = new Map<string | number, string>();
  /** The ids of the message and the thought that are being streamed. */
  readonly #open: Partial<Record<Saying, string>> = {};

  constructor(session: SessionInfo) {
    this.#session = session;
  }

  /** Returns the updates for a live event. The user's own message is not echoed. */
  live(event: AgentEvent): Update[] {
    return event.type === "user" ? [] : this.#updatesFor(event);
  }

  /** Returns the updates for a past event, for a client that loads the session. Notices are left out. */
  past(event: AgentEvent): Update[] {
    switch (event.type) {
      case "user":
        return [this.#chunk("user_message_chunk", event.text, this.#session.newId())];
      case "fail":
        return event.code === "INTERRUPTED"
          ? []
          : [this.#chunk("agent_message_chunk", `Error: ${event.message}`, this.#session.newId())];
      case "notice":
        return [];
      default:
        return this.#updatesFor(event);
    }
  }

  /** Returns the output of running commands that has not been shown yet. */
  liveOutput(now = Date.now()): Update[] {
    return [...this.#calls].flatMap(([callId, call]) => (call.isDirty ? [shownOutput(callId, call, now)] : []));
  }

  get hasUnshownOutput(): boolean {
    return [...this.#calls.values()].some(({ isDirty }) => isDirty);
  }

  #updatesFor(event: AgentEvent): Update[] {
    switch (event.type) {
      case "text":
        return this.#say("message", event.text);
      case "text_end":
        return this.#unstreamedText("message", event.text);
      case "thinking":
        return this.#say("thought", event.text);
      case "thinking_end":
        return this.#unstreamedText("thought", event.text ?? "");
      case "tool_start":
        this.#calls.set(event.callId, { output: "", shownAt: 0, isDirty: false });
        return [{ sessionUpdate: "tool_call", ...callFields(event, this.#session.workspace), status: "in_progress" }];
      case "tool_output":
        return this.#appendOutput(event);
      case "tool_end":
        this.#calls.delete(event.callId);
        return [
          { sessionUpdate: "tool_call_update", ...endFields(event, event.outcome, this.#session.workspace) },
          ...planUpdates(event),
        ];
      case "ask":
        if (isObject(event.query) && typeof event.query["toolCallId"] === "string")
          this.#asked.set(event.id, event.query["toolCallId"]);
        return [];
      case "answer":
        return this.#resumeCall(event);
      case "retry":
        // Begin a new message, since the retry repeats the text so far.
        if (event.discards) delete this.#open.message;
        return this.#notice("warning", `The request is retried${event.reason ? `: ${event.reason}` : "."}`);
      case "notice":
        // The session itself reports changes of mode and model.
        if (event.kind === "mode_change" || event.kind === "model_change") return [];
        if (event.kind === "compacted" && this.#session.compaction)
          return [{ sessionUpdate: "compaction_update", compactionId: this.#session.newId(), status: "completed" }];
        return this.#notice(event.kind === "warning" ? "warning" : "info", event.message);
      case "done":
      case "fail":
        delete this.#open.message;
        delete this.#open.thought;
        this.#calls.clear();
        this.#asked.clear();
        return [];
      case "init":
      case "user":
      case "other":
        return [];
    }
  }

  #say(what: Saying, text: string): Update[] {
    this.#open[what] ??= this.#session.newId();
    return text === "" ? [] : [this.#chunk(chunks[what], text, this.#open[what])];
  }

  /** Returns the whole text if no part of it was streamed. */
  #unstreamedText(what: Saying, text: string): Update[] {
    const isShown = this.#open[what] !== undefined;
    delete this.#open[what];
    return isShown || text === "" ? [] : [this.#chunk(chunks[what], text, this.#session.newId())];
  }

  #chunk(sessionUpdate: string, text: string, messageId: string): Update {
    return { sessionUpdate, content: { type: "text", text }, messageId };
  }

  #notice(severity: string, message: string): Update[] {
    if (!this.#session.notices) return [this.#chunk("agent_thought_chunk", `[${message}]\n`, this.#session.newId())];
    const [title = message, ...rest] = message.split("\n");
    const description = rest.join("\n").trim();
    return [{ sessionUpdate: "notice", severity, title, ...(description !== "" && { description }) }];
  }

  /** The question marked the call as pending; mark it as running again. */
  #resumeCall({ id, response }: { id: string | number; response: unknown }): Update[] {
    const toolCallId = this.#asked.get(id);
    this.#asked.delete(id);
    if (toolCallId === undefined || !isObject(response) || response["approved"] === undefined) return [];
    return [{ sessionUpdate: "tool_call_update", toolCallId, status: "in_progress" }];
  }

  #appendOutput({ callId, chunk }: { callId: string; chunk: string }): Update[] {
    const call = this.#calls.get(callId);
    if (!call) return [];
    call.output = (call.output + chunk).slice(-liveTail);
    call.isDirty = true;
    const now = Date.now();
    return now - call.shownAt < liveEveryMs ? [] : [shownOutput(callId, call, now)];
  }
}

function shownOutput(callId: string, call: OpenCall, now: number): Update {
  call.isDirty = false;
  call.shownAt = now;
  return { sessionUpdate: "tool_call_update", toolCallId: callId, content: [textContent(cutFence(call.output, ""))] };
}

const todoStatus: Readonly<Record<string, string>> = {
  TODO_STATUS_PENDING: "pending",
  TODO_STATUS_IN_PROGRESS: "in_progress",
  TODO_STATUS_COMPLETED: "completed",
};

/** Reports the todo list as the plan, without cancelled items. */
function planUpdates({ tool, outcome }: WireCall & { outcome?: { kind: string; value: unknown } }): Update[] {
  const todos =
    tool === "updateTodos" && outcome?.kind === "success" && isObject(outcome.value)
      ? outcome.value["todos"]
      : undefined;
  if (!Array.isArray(todos)) return [];
  const entries = todos.filter(isObject).flatMap(({ content, status }) => {
    const known = todoStatus[String(status)];
    return known === undefined ? [] : [{ content: String(content), priority: "medium", status: known }];
  });
  return [{ sessionUpdate: "plan", entries }];
}
