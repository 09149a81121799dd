// The events of a chat: as they were kept, and as they must have been where only messages are left.
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../src/protocol/event.ts";
import { createDecoder, encodeEvent } from "../../src/protocol/stream-json.ts";
import { rebuildEvents, splitTurns, stepsOfTurn } from "../../src/sdk/rebuild-events.ts";
import { calls, chatId, type RecordTurn, recordOf, result, says, user } from "./chat-record.ts";

function types(turn: { events: AgentEvent[] }): string[] {
  return turn.events.map((event) => event.type);
}

const ending = { durationMs: 5, apiDurationMs: 5 };
const init: AgentEvent = { type: "init", sessionId: chatId, cwd: "/w", permissionMode: "force", apiKeySource: "env" };

describe("stored events", () => {
  const thoughtful: RecordTurn = {
    messages: [
      user("go"),
      {
        role: "assistant",
        parts: [{ type: "thinking", text: "one" }, ...calls("Read", { path: "x" }, "c1", "First.").parts],
      },
      result("text", "c1"),
      {
        role: "assistant",
        parts: [
          { type: "thinking", text: "two" },
          { type: "text", text: "Last." },
        ],
      },
    ],
    events: [
      init,
      { type: "user", text: "go" },
      { type: "thinking_end", at: 11 },
      { type: "text_end", text: "First.", modelCallId: "m" },
      { type: "tool_start", callId: "c1", tool: "read", args: {}, modelCallId: "m" },
      { type: "tool_end", callId: "c1", tool: "read", args: {}, outcome: { kind: "success", value: {} } },
      { type: "text_end", text: "Last." },
      { type: "done", text: "First.Last.", ...ending },
    ],
  };

  it("rebuilding a chat's events adds the thinking from its messages and leaves the stored events unchanged", () => {
    const [turn] = rebuildEvents(recordOf([thoughtful]));
    expect(types(turn!)).toEqual([
      "init",
      "user",
      "thinking",
      "thinking_end",
      "text_end",
      "tool_start",
      "tool_end",
      "thinking",
      "thinking_end",
      "text_end",
      "done",
    ]);
    expect(turn!.events[2]).toEqual({ type: "thinking", text: "one", at: 11 });
    expect(turn!.events.filter((event) => !event.type.startsWith("thinking"))).toEqual(
      thoughtful.events!.filter((event) => !event.type.startsWith("thinking")),
    );
  });

  it("rebuilding a chat's events repeats no stored thinking and drops that of discarded answers", () => {
    const events = thoughtful.events!;
    const partial = [...events.slice(0, 2), { type: "thinking" as const, text: "one", at: 10 }, ...events.slice(2)];
    const told = rebuildEvents(recordOf([{ ...thoughtful, events: partial }]))[0]!;
    expect(told.events.filter((event) => event.type === "thinking").map((event) => event.text)).toEqual(["one", "two"]);

    const retried: AgentEvent[] = [
      ...events.slice(0, 3),
      { type: "retry", attempt: 1, discards: true },
      ...events.slice(2),
    ];
    const again = rebuildEvents(recordOf([{ ...thoughtful, events: retried }]))[0]!;
    expect(types(again).slice(0, 8)).toEqual([
      "init",
      "user",
      "thinking_end",
      "retry",
      "thinking",
      "thinking_end",
      "text_end",
      "tool_start",
    ]);
  });

  it("rebuilding a chat's events ends a cut-off run, with its text", () => {
    const cut: RecordTurn = {
      messages: [user("go"), calls("Shell", { command: "sleep 9" }, "c1")],
      events: [init, { type: "user", text: "go" }],
    };
    const turn = rebuildEvents(recordOf([cut]))[0]!;
    expect(types(turn)).toEqual(["init", "user", "tool_start", "tool_end", "fail"]);
    expect(turn.events.at(-1)).toMatchObject({ code: "INTERRUPTED" });
    expect(turn.events[3]).not.toHaveProperty("outcome");
  });
});

describe("messages without events", () => {
  const turns: RecordTurn[] = [
    {
      messages: [
        user("first"),
        {
          role: "assistant",
          parts: [
            { type: "thinking", text: "hm" },
            { type: "text", text: "A." },
            { type: "tool_call", id: "1", name: "Shell", args: { command: "false" } },
            {
              type: "tool_call",
              id: "2",
              name: "Edit",
              args: { path: "/x", edits: [{ oldText: "a\n", newText: "b\nc\n" }] },
            },
            { type: "tool_call", id: "3", name: "mcp__docs__find", args: { q: 1 } },
            { type: "tool_call", id: "4", name: "strange tool!", args: "text" },
          ],
        },
        {
          role: "user",
          parts: [
            { type: "tool_result", id: "1", text: "[exit code 1]", isError: true },
            { type: "tool_result", id: "2", text: "updated", isError: false },
            { type: "tool_result", id: "3", text: "found", isError: false },
            { type: "tool_result", id: "4", text: "no such tool", isError: true },
            { type: "text", text: "Instructions" },
          ],
        },
        says("B."),
      ],
    },
    { messages: [user("second")] },
  ];
  const told = rebuildEvents(recordOf(turns));

  it("rebuilding events makes runs of messages, each from init to one ending", () => {
    expect(told.map(types)).toEqual([
      [
        "init",
        "user",
        "thinking",
        "thinking_end",
        "text_end",
        ...Array(4).fill("tool_start"),
        ...Array(4).fill("tool_end"),
        "text_end",
        "done",
      ],
      ["init", "user", "fail"],
    ]);
    expect(told[0]!.events.at(-1)).toMatchObject({ type: "done", text: "A.B.", durationMs: 3000 });
  });

  it("rebuilt tool calls have the names and fields of the live stream", () => {
    const ends = told[0]!.events.filter((event) => event.type === "tool_end");
    expect(ends.map((event) => [event.tool, event.outcome?.kind])).toEqual([
      ["shell", "failure"],
      ["edit", "success"],
      ["mcp", "success"],
      ["strangeTool", "error"],
    ]);
    expect(ends[0]!.outcome!.value).toMatchObject({ command: "false", exitCode: 1, stdout: "[exit code 1]" });
    expect(ends[1]!.outcome!.value).toMatchObject({
      path: "/x",
      linesAdded: 2,
      linesRemoved: 1,
      diffString: "-a\n+b\n+c",
    });
    expect(ends[2]!.args).toMatchObject({ name: "docs-find", providerIdentifier: "docs", toolName: "find" });
  });

  it("text, text_end and result of rebuilt events agree after encoding and decoding", () => {
    for (const { events } of told) {
      const decode = createDecoder();
      const back = events.flatMap((event) => {
        const line = encodeEvent(event, chatId);
        return line ? decode(JSON.parse(JSON.stringify(line))) : [];
      });
      const text = back.flatMap((event) => (event.type === "text_end" ? event.text : [])).join("");
      const end = back.at(-1)!;
      if (end.type === "done") expect(text).toBe(end.text);
      const started = back.flatMap((event) => (event.type === "tool_start" ? event.callId : []));
      expect(back.flatMap((event) => (event.type === "tool_end" ? event.callId : [])).sort()).toEqual(started.sort());
    }
  });

  it("rebuilding events from a stored chat keeps every message", () => {
    const messages = turns[0]!.messages;
    const steps = stepsOfTurn(
      messages.map((message, index) => ({ message, at: index })),
      { id: "x" },
    );
    expect(steps.flatMap((step) => (step.type === "message" ? [step.message] : []))).toEqual(messages);
    expect(
      splitTurns(turns.flatMap((turn) => turn.messages.map((message) => ({ message })))).map((turn) => turn.length),
    ).toEqual([4, 1]);
  });
});
