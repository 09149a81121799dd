import { describe, expect, test } from "vitest";
import { UserError } from "../../src/protocol/error-codes.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";
import { type EventKeeper, EventLog } from "../../src/protocol/event-log.ts";
import { TurnRecorder } from "../../src/run/turn-recorder.ts";

const full = new UserError("STORE_FULL", "The disk is full.");
const failure = { type: "fail", message: full.message, code: full.code, durationMs: 1, apiDurationMs: 0 } as const;
const start = (callId: string): AgentEvent => ({
  type: "tool_start",
  callId,
  tool: "shell",
  args: { command: callId },
});
const end = (callId: string): AgentEvent => ({
  type: "tool_end",
  callId,
  tool: "shell",
  args: { command: callId },
  outcome: { kind: "success", value: {} },
});

/** Plays a turn as the run does, with a disk that takes `room` events; what was shown, and what was kept. */
async function play(events: AgentEvent[], room: number) {
  const kept: AgentEvent[] = [];
  const keeper: EventKeeper = {
    record(event) {
      if (kept.length >= room) throw full;
      return kept.push(event);
    },
    events: async () => [],
  };
  const log = new EventLog(keeper);
  const shown = new TurnRecorder(log);
  for (const event of events) {
    if (shown.ending) break;
    try {
      shown.add(event);
    } catch {
      shown.breakOff(event, failure);
    }
  }
  log.close();
  const seen: string[] = [];
  for await (const { event } of log.events())
    seen.push("callId" in event ? `${event.type} ${event.callId}` : event.type);
  return { seen, kept: kept.length, ending: shown.ending };
}

test("the turn recorder drops a failing event watcher without harm to the turn", async () => {
  const broke: unknown[] = [];
  const told: string[] = [];
  const log = new EventLog(
    { record: () => 1, events: async () => [] },
    {
      watch({ event }) {
        told.push(event.type);
        throw full;
      },
      broke: (error) => broke.push(error),
    },
  );
  const shown = new TurnRecorder(log);
  for (const event of [start("a"), end("a"), failure]) shown.add(event);
  expect([told, broke]).toEqual([["tool_start"], [full]]);
  expect(shown.ending).toEqual(failure);
});

describe("every started call ends before its turn", () => {
  const turn: AgentEvent[] = [start("a"), start("b"), start("c"), end("b"), end("a"), end("c"), failure];

  test.each([
    [99, ["tool_start a", "tool_start b", "tool_start c", "tool_end b", "tool_end a", "tool_end c", "fail"]],
    [3, ["tool_start a", "tool_start b", "tool_start c", "tool_end b", "tool_end a", "tool_end c", "fail"]],
    // What could not be kept is not shown, and neither is the end of what never began.
    [2, ["tool_start a", "tool_start b", "tool_end b", "tool_end a", "fail"]],
    [0, ["fail"]],
  ])(
    "all tool calls of a turn get an end event even if the store has room for only %d events",
    async (room, expected) => {
      const { seen, ending } = await play(turn, room);
      expect(seen).toEqual(expected);
      expect(ending).toMatchObject({ type: "fail", code: "STORE_FULL" });
    },
  );

  test("the turn recorder ends open tool calls when the turn breaks off", async () => {
    expect(await play([start("a"), start("b"), end("a"), failure], 99)).toMatchObject({
      seen: ["tool_start a", "tool_start b", "tool_end a", "tool_end b", "fail"],
      kept: 5,
    });
  });
});
