// Events to blocks, one by one; and the heights of rows.
import { describe, expect, it } from "vitest";
import { type AgentEvent, type TimelineLog, timelineOf } from "../../src/studio/components/index.ts";
import { Heights } from "../../src/studio/components/timeline/heights.ts";
import { seeded } from "../sdk/chat-record.ts";
import { longSession } from "./sample-events.ts";

const ending = { durationMs: 10, apiDurationMs: 4 };
const types = (log: TimelineLog) => log.blocks.map(({ type }) => type);

describe("the timeline", () => {
  it("two texts of one reply are separate blocks in the timeline, whether live or loaded", () => {
    const events: AgentEvent[] = [
      { type: "user", text: "hi" },
      { type: "text", text: "First." },
      { type: "text_end", text: "First." },
      { type: "text", text: "Second." },
      { type: "text_end", text: "Second." },
      { type: "done", text: "First.\n\nSecond.", ...ending },
    ];
    for (const log of [timelineOf(events), timelineOf(events.filter(({ type }) => type !== "text"))])
      expect(log.blocks.flatMap((block) => (block.type === "text" ? block.text : []))).toEqual(["First.", "Second."]);
  });

  it("the timeline has the same blocks, live or loaded", () => {
    const watched: AgentEvent[] = [
      { type: "user", text: "hi" },
      { type: "thinking", text: "hm", at: 1000 },
      { type: "thinking", text: "mm", at: 1500 },
      { type: "thinking_end", at: 3000 },
      { type: "text", text: "I " },
      { type: "text", text: "look" },
      { type: "text_end", text: "I look" },
      { type: "tool_start", callId: "1", tool: "shell", args: { command: "ls" }, at: 4000 },
      { type: "tool_output", callId: "1", chunk: "a\n" },
      {
        type: "tool_end",
        callId: "1",
        tool: "shell",
        args: { command: "ls" },
        outcome: { kind: "success", value: {} },
        at: 5000,
      },
      { type: "text_end", text: "Done" },
      { type: "done", text: "Done", ...ending },
    ];
    const live = timelineOf(watched);
    const read = timelineOf(watched.filter(({ type }) => type !== "text" && type !== "tool_output"));
    expect(types(live)).toEqual(["user", "thinking", "text", "call", "text", "ending"]);
    expect(live.blocks.map(({ id }) => id)).toEqual([
      "turn-1",
      "turn-1.1",
      "turn-1.2",
      "turn-1.3",
      "turn-1.4",
      "turn-1.5",
    ]);
    expect(read.blocks.map(({ id, type }) => [id, type])).toEqual(live.blocks.map(({ id, type }) => [id, type]));
    expect(live.blocks[1]).toMatchObject({ text: "hmmm", durationMs: 2000 });
    expect(live.turns).toMatchObject([
      { number: 1, prompt: "hi", calls: 1, toolMs: 1000, durationMs: 10, state: "done" },
    ]);
  });

  it("in the studio an event replaces only its own block of the timeline", () => {
    const log = timelineOf(longSession(500));
    log.append({ type: "user", text: "more" }, { type: "tool_start", callId: "n", tool: "shell", args: {} });
    const before = [...log.blocks];
    log.append({ type: "tool_output", callId: "n", chunk: "x" });
    const changed = log.blocks.filter((block, index) => block !== before[index]);
    expect(changed).toMatchObject([{ type: "call", call: { callId: "n", output: "x" } }]);
    expect(log.blocks).toHaveLength(before.length);
  });

  it("building the timeline takes proportional time", () => {
    const once = (count: number) => {
      const events = longSession(count);
      const started = process.cpuUsage();
      timelineOf(events);
      return process.cpuUsage(started).user / 1000;
    };
    // The best of some, in processor time: others work on this machine as well. Twenty times the events; the square of it would be 400.
    const best = (count: number) => Math.min(...Array.from({ length: 4 }, () => once(count)));
    const few = Math.max(best(1000), 0.5);
    expect(best(20_000) / few).toBeLessThan(120);
  });

  it("in the studio text repeated after a retry replaces the first, and the timeline marks the retry", () => {
    const log = timelineOf([
      { type: "user", text: "hi" },
      { type: "text", text: "wro" },
    ]);
    expect(types(log)).toEqual(["user", "text"]);
    log.append(
      { type: "retry", attempt: 1, discards: true, reason: "overloaded" },
      { type: "text_end", text: "right" },
    );
    expect(log.blocks.slice(1)).toMatchObject([
      { id: "turn-1.1", type: "notice", message: "The request was retried: overloaded" },
      { id: "turn-1.2", type: "text", text: "right" },
    ]);
  });

  it("a prompt during a turn does not start another turn in the timeline", () => {
    const log = timelineOf([
      { type: "user", text: "a" },
      { type: "user", text: "b" },
      { type: "done", text: "", ...ending },
      { type: "user", text: "c" },
    ]);
    expect(log.turns.map(({ prompt }) => prompt)).toEqual(["a", "c"]);
    expect(log.blocks.map((block) => block.type === "user" && block.isAside === true)).toEqual([
      false,
      true,
      false,
      false,
    ]);
  });

  it("the studio marks the call that a question is about until it is answered", () => {
    const log = timelineOf([
      { type: "user", text: "a" },
      { type: "tool_start", callId: "1", tool: "shell", args: {} },
      { type: "ask", id: 7, kind: "shell", query: { toolCallId: "1" } },
    ]);
    expect(log.blocks[1]).toMatchObject({ call: { isAsked: true } });
    log.append({ type: "answer", id: 7, kind: "shell", response: {} });
    expect(log.blocks[1]).toMatchObject({ call: { isAsked: false, isRunning: true } });
    log.append({ type: "fail", message: "stopped", code: "INTERRUPTED", ...ending });
    expect(log.blocks[1]).not.toHaveProperty("call.isRunning");
    expect(log.turns[0]!.state).toBe("interrupted");
  });

  it("the studio shows a subagent's steps in the card of its call, in any order", () => {
    const start: AgentEvent = { type: "tool_start", callId: "t", tool: "task", args: { agentId: "a1" } };
    const step = { agent: "a1", event: { type: "text_end", text: "inside" } as AgentEvent };
    for (const order of [
      [start, step],
      [step, start],
    ]) {
      const log = timelineOf([{ type: "user", text: "go" }, ...order]);
      expect(types(log)).toEqual(["user", "call"]);
      expect(log.blocks[1]).toMatchObject({ call: { steps: [{ type: "text", text: "inside" }] } });
    }
  });

  it("the timeline leaves out empty events, keeps calls without a start, and finds calls by id", () => {
    const log = timelineOf([
      { type: "user", text: "a" },
      { type: "notice", kind: "usage", message: "" },
      { type: "other", raw: {} },
      { type: "tool_end", callId: "x", tool: "read", args: {}, outcome: { kind: "success", value: {} } },
    ]);
    expect(types(log)).toEqual(["user", "call"]);
    expect(log.find("x")).toBe(1);
    expect(log.find("turn-1")).toBe(0);
    expect(log.find("none")).toBe(-1);
  });
});

it("the timeline's tree of heights sums and finds like a plain list", () => {
  const below = seeded(11);
  const heights = new Heights();
  const list: number[] = [];
  for (let round = 0; round < 3000; round++) {
    const what = below(10);
    if (what < 6 || list.length === 0) {
      list.push(1 + below(90));
      heights.push(list.at(-1)!);
    } else if (what < 9) {
      const index = below(list.length);
      list[index] = 1 + below(90);
      heights.set(index, list[index]);
    } else {
      list.pop();
      heights.pop();
    }
    if (round % 50 > 0 || list.length === 0) continue;
    const total = list.reduce((sum, each) => sum + each, 0);
    expect(heights.total).toBe(total);
    const index = below(list.length);
    const offset = list.slice(0, index).reduce((sum, each) => sum + each, 0);
    expect(heights.offsetOf(index)).toBe(offset);
    expect(heights.indexAt(offset)).toBe(index);
    expect(heights.indexAt(offset + list[index]! - 1)).toBe(index);
    expect(heights.indexAt(total + 5)).toBe(list.length - 1);
  }
});
