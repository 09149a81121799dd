// Streams a run as events of REST v1: status, assistant, thinking, tool_call, interaction_update, result, error, done.
import type { AgentEvent } from "../../protocol/event.ts";
import type { Entry, Fleet, RunRecord } from "../fleet.ts";
import type { EventStream } from "../http/event-stream.ts";
import { branchesOf, restStatus } from "./rest-shapes.ts";

type StreamLine = readonly [event: string, data: unknown];

/** Sends events after `from`. Earlier entries are read too, to know whether a text was already sent in pieces. */
export async function streamRun(
  fleet: Fleet,
  run: RunRecord,
  from: number,
  events: EventStream,
  signal: AbortSignal,
): Promise<void> {
  const translate = createTranslator(run);
  await events.send("status", { runId: run.id, status: restStatus(run.state) });
  for await (const { position, entry } of fleet.follow(run.id, 0, signal)) {
    const translated = translate(entry);
    if (position <= from) continue;
    for (const [event, data] of translated) await events.send(event, data, position);
  }
  if (!signal.aborted) await events.send("done", {});
}

function createTranslator({ id }: RunRecord): (entry: Entry) => readonly StreamLine[] {
  /** Whether a text is being sent in pieces, so that it is not sent again as a whole. */
  const pieces = { text: false, thinking: false };
  const ofEvent = (event: AgentEvent): readonly StreamLine[] => {
    switch (event.type) {
      case "text":
        pieces.text = true;
        return [["assistant", { text: event.text }]];
      case "thinking":
        pieces.thinking = true;
        return [["thinking", { text: event.text }]];
      case "text_end": {
        const isTold = pieces.text;
        pieces.text = false;
        return isTold ? [] : [["assistant", { text: event.text }]];
      }
      case "thinking_end": {
        const isTold = pieces.thinking || event.text === undefined;
        pieces.thinking = false;
        return isTold ? [] : [["thinking", { text: event.text }]];
      }
      case "tool_start":
        return [["tool_call", { callId: event.callId, name: event.tool, status: "running", args: event.args }]];
      case "tool_end": {
        const { callId, tool: name, args, outcome } = event;
        const status = outcome?.kind === "success" ? "completed" : "error";
        return [
          ["tool_call", { callId, name, status, args, result: outcome ? { [outcome.kind]: outcome.value } : null }],
        ];
      }
      case "tool_output":
        return [["interaction_update", { type: "shell-output-delta", callId: event.callId, text: event.chunk }]];
      case "done":
      case "fail":
        return [["interaction_update", { type: "turn-ended", usage: event.usage ?? null }]];
      default:
        return [["interaction_update", event]];
    }
  };
  return (entry) => {
    switch (entry.type) {
      case "event":
        return entry.agent === undefined ? ofEvent(entry.event) : [];
      case "leased":
        return [["status", { runId: id, status: "RUNNING" }]];
      case "result": {
        const { outcome, text, code, durationMs } = entry.end;
        const result: StreamLine = [
          "result",
          { runId: id, status: restStatus(outcome), text, durationMs, git: branchesOf(entry.end) },
        ];
        return outcome === "error" ? [["error", { code: code ?? "error", message: text }], result] : [result];
      }
      case "question":
      case "question_closed":
        return [["interaction_update", entry]];
      case "checkpoint":
      case "losses":
      case "prompt":
      case "prompt_ended":
      case "reply":
        return [];
    }
  };
}
