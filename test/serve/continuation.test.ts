// What a lost host left: read from the log alone.
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/protocol/event.ts";
import type { Entry, LogEntry, Message } from "../../src/serve/fleet.ts";
import { continuationOf, joinRuns, verdictOn } from "../../src/serve/worker/continuation.ts";

const log = (...entries: Entry[]): LogEntry[] =>
  entries.map((entry, index) => ({ position: (index + 1) * 2, run: "run-1", at: index, entry }));
const event = (number: number | undefined, event: object): Entry =>
  ({ type: "event", ...(number !== undefined && { number }), event: event as AgentEvent }) as Entry;
const leased: Entry = { type: "leased", worker: "a", attempt: 1 };
const init = event(1, { type: "init", sessionId: "s", cwd: "/", permissionMode: "default", apiKeySource: "env" });
const user = event(2, { type: "user", text: "go" });
const start = (number: number, callId: string) =>
  event(number, { type: "tool_start", callId, tool: "shell", args: { command: callId } });
const end = (number: number, callId: string) =>
  event(number, { type: "tool_end", callId, tool: "shell", args: {}, outcome: { kind: "success", value: {} } });
const question = { id: "q1", hash: "h", type: "trust", workspace: "/" } as const;

describe("a continuation", () => {
  it("after its host was lost, a run that had not begun is started, not continued", () => {
    expect(continuationOf(log(leased, leased))).toBeUndefined();
  });

  it("when another host continues a run, it ends every open call, text and question under consecutive numbers", () => {
    const left = continuationOf(
      log(
        leased,
        init,
        user,
        { type: "question", question },
        start(3, "a"),
        event(undefined, { type: "text", text: "half" }),
      ),
    )!;
    const shown = left.owed.map((entry) => (entry.type === "event" ? [entry.number, entry.event.type] : entry.type));
    expect(shown).toEqual(["question_closed", [4, "text_end"], [5, "tool_end"]]);
    expect(left).toMatchObject({ lastNumber: 5, sessionId: "s", isAnswered: false, later: [{ tool: "shell" }] });
  });

  it("a continued run names the calls after its checkpoint and how they ended", () => {
    const checkpoint: Entry = { type: "checkpoint", chat: "chat-1-0", position: 10, heard: 4 };
    const left = continuationOf(
      log(leased, init, user, start(3, "a"), end(4, "a"), start(5, "b"), checkpoint, end(6, "b"), start(7, "c")),
    )!;
    expect(left.later).toEqual([
      { tool: "shell", args: { command: "b" }, outcome: "success" },
      { tool: "shell", args: { command: "c" } },
    ]);
    expect(left.checkpoint).toMatchObject({ chat: "chat-1-0" });
  });

  it("a continued run repeats a queued message only if it had no effect before", () => {
    const checkpoint: Entry = { type: "checkpoint", chat: "c", position: 100, heard: 9 };
    const over: Entry = { type: "prompt_ended", id: "p1", state: "told" };
    const told = event(3, { type: "user", text: "steered" });
    const left = continuationOf(log(leased, init, user, told, over, checkpoint))!;
    const verdict = (number: number, message: Message) => verdictOn(left, { number, message });
    expect(verdict(1, { type: "prompt", prompt: { text: "old" }, id: "p1" })).toBe("skip");
    expect(verdict(2, { type: "prompt", prompt: { text: "waits" }, id: "p2" })).toBe("handle");
    expect(verdict(3, { type: "steer", text: "steered", id: "p3" })).toBe("reply");
    expect(verdict(4, { type: "interrupt" })).toBe("skip");
    expect(verdict(5, { type: "rewind", turn: 1, id: "r" })).toBe("fail");
    expect(verdict(6, { type: "mode", mode: "plan" })).toBe("handle");
    expect(verdict(10, { type: "interrupt" })).toBe("handle");
  });

  it("readers of a continued run see a single run without seam", () => {
    const join = joinRuns(continuationOf(log(leased, init, user, start(3, "a")))!);
    const shown = [
      { number: 9, event: { type: "init", sessionId: "s" } },
      { number: 10, event: { type: "user", text: "Go on." } },
      { number: 11, event: { type: "text_end", text: "x" } },
    ].map((each) => join(each as Parameters<typeof join>[0]));
    expect(shown.map((each) => each && [each.number, each.event.type])).toEqual([
      undefined,
      [10, "notice"],
      [11, "text_end"],
    ]);
  });
});
