// What a plain terminal shows of a background run, and how lines are read on it: what was typed ahead never answers a question.
import { EventEmitter } from "node:events";
import type { Interface } from "node:readline";
import { describe, expect, it } from "vitest";
import { callLine } from "../../src/cli/call-line.ts";
import { createRunScreen, runJson, runLines, runStateText } from "../../src/cli/commands/runs/run-lines.ts";
import { createQueue, terminalLines } from "../../src/cli/terminal-question.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";
import type { RunRecord } from "../../src/serve/fleet.ts";

describe("the events of a run on a plain terminal", () => {
  function shown(events: object[]): string {
    let text = "";
    const screen = createRunScreen("/w", (piece) => (text += piece));
    for (const event of events) screen.event(event as AgentEvent);
    return text;
  }
  const [text, end] = [
    (said: string) => ({ type: "text", text: said }),
    (said: string) => ({ type: "text_end", text: said }),
  ];

  it.each<[string, object[], string]>([
    ["a prompt", [{ type: "user", text: "hi\u001b[2J" }], "> hi\\u001b[2J\n"],
    ["a streamed text once, with a line's end", [text("a"), text("b"), end("ab")], "ab\n"],
    ["a streamed text that ends its line", [text("a\n"), end("a\n")], "a\n"],
    ["a text that was not streamed", [end("whole")], "whole\n"],
    ["two texts", [text("a"), end("a"), end("b")], "a\nb\n"],
    [
      "a call after an open line",
      [text("a"), { type: "tool_start", tool: "shell", args: { command: "ls /w/src" } }],
      "a\n· Bash ls src\n",
    ],
    [
      "the place where it works",
      [
        { type: "init", cwd: "/elsewhere" },
        { type: "tool_start", tool: "read", args: { path: "/elsewhere/a" } },
      ],
      "· Read a\n",
    ],
    ["a call that succeeded", [{ type: "tool_end", outcome: { kind: "success" } }], ""],
    [
      "a call that did not",
      [{ type: "tool_end", outcome: { kind: "rejected" } }, { type: "tool_end" }],
      "  rejected\n  ended\n",
    ],
    [
      "notices, but for empty ones",
      [
        { type: "notice", message: "n" },
        { type: "notice", message: " \n" },
      ],
      "· n\n",
    ],
    ["a failure", [{ type: "fail", message: "why" }], "Error: why\n"],
    ["an end", [{ type: "done", text: "a" }], ""],
  ])("a plain terminal shows an event of a background run: %s", (_what, events, expected) => {
    expect(shown(events)).toBe(expected);
  });

  it.each<[object, string]>([
    [{ tool: "grep", args: { path: "/w/src", pattern: "x" } }, "x"],
    [{ tool: "read", args: { command: "", path: "/w/a" } }, "a"],
    [{ tool: "updateTodos", args: { todos: [] } }, "the list"],
    [{ tool: "other", args: { count: 3 } }, ""],
  ])("the tool call %j is described by its first target", (call, what) => {
    expect(callLine(call as never, "/w").replace(/^· \S+ /, "")).toBe(what);
  });
});

describe("a list of runs", () => {
  const run = (more: object = {}) =>
    ({
      ...{ id: "run-1", agent: "bc-1", state: "running", open: 0, createdAt: 1_000_000 },
      spec: { cli: "claude", prompt: { text: `do\n${"x".repeat(60)}` }, request: { workspace: "/home/me/w" } },
      ...more,
    }) as unknown as RunRecord;

  it("a background run with open questions is listed as asking, unless it is over", () => {
    const states = [run(), run({ open: 1 }), run({ state: "finished", open: 1 }), run({ state: "queued" })].map(
      runStateText,
    );
    expect(states).toEqual(["running", "asking", "finished", "queued"]);
  });

  it("the list of background runs has one line for each, with a short prompt and path", () => {
    const [head, line, ...more] = runLines([run()], { home: "/home/me", now: 1_000_000 + 3 * 60_000 });
    expect(head!.split(/\s{2,}/)).toEqual(["ID", "AGE", "STATE", "AGENT", "PROMPT", "WORKSPACE"]);
    const [id, age, state, cli, prompt, place] = line!.split(/\s{2,}/);
    expect([id, state, cli, place]).toEqual(["run-1", "running", "claude", "~/w"]);
    expect(age).toContain("3");
    expect(prompt).toHaveLength(50);
    expect(more).toEqual([]);
  });

  it("as JSON a run has null for what is not there yet, and source and placement only if it has them", () => {
    const base = {
      id: "run-1",
      agent: "bc-1",
      state: "running",
      questions: 2,
      cli: "claude",
      workspace: "/home/me/w",
      createdAt: 1_000_000,
    };
    const { prompt: _, ...said } = runJson(run({ open: 2 })) as { prompt: string };
    expect(said).toEqual({ ...base, startedAt: null, endedAt: null, sessionId: null, result: null });
    const { spec } = run();
    const whole = run({
      startedAt: 1,
      endedAt: 2,
      sessionId: "s",
      end: { text: "ok" },
      spec: { ...spec, source: { type: "folder" }, placement: { pool: "p" } },
    });
    expect(runJson(whole)).toMatchObject({
      startedAt: 1,
      endedAt: 2,
      sessionId: "s",
      result: { text: "ok" },
      source: { type: "folder" },
      placement: { pool: "p" },
    });
  });
});

describe("lines of a plain terminal", () => {
  function opened() {
    const prompts: string[] = [];
    const terminal = Object.assign(new EventEmitter(), {
      setPrompt: (prompt: string) => void prompts.push(prompt),
      prompt: () => {},
      close: () => void terminal.emit("close"),
    });
    const lines = terminalLines(terminal as unknown as Interface);
    return { lines, prompts, type: (line: string) => void terminal.emit("line", line) };
  }

  it("attached to a run, lines typed ahead become the next prompts in order, and answer no question", async () => {
    const { lines, type, prompts } = opened();
    for (const line of ["one", "two"]) type(line);
    const answer = lines.ask("Sure? ");
    type("yes");
    expect(await answer).toBe("yes");
    expect([await lines.next("> "), await lines.next("> ")]).toEqual(["one", "two"]);
    expect(prompts).toEqual(["Sure? "]);
    const third = lines.next("> ");
    type("three");
    expect(await third).toBe("three");
  });

  it("attached to a run, the terminal asks a question before the open prompt and shows that again after it", async () => {
    const { lines, type, prompts } = opened();
    const next = lines.next("> ");
    const answer = lines.ask("Sure? ");
    lines.reprompt("idle> ");
    expect(prompts).toEqual(["> ", "Sure? "]);
    type("no");
    expect(await answer).toBe("no");
    expect(prompts).toEqual(["> ", "Sure? ", "idle> "]);
    lines.reprompt(">> ");
    expect(prompts.at(-1)).toBe(">> ");
    type("prompt");
    expect(await next).toBe("prompt");
    lines.reprompt("nothing is open");
    expect(prompts).toHaveLength(4);
  });

  it("a question that is withdrawn gets no answer, and what is typed then belongs to the prompt", async () => {
    const { lines, type } = opened();
    expect(await lines.ask("Sure? ", AbortSignal.abort())).toBeUndefined();
    const stop = new AbortController();
    const answer = lines.ask("Sure? ", stop.signal);
    stop.abort();
    expect(await answer).toBeUndefined();
    type("late");
    expect(await lines.next("> ")).toBe("late");
  });

  it("a closed terminal ends open and later prompts and questions", async () => {
    const { lines, prompts } = opened();
    const open = [lines.next("> "), lines.ask("Sure? ")];
    lines.close();
    expect(await Promise.all(open)).toEqual([undefined, undefined]);
    expect(await Promise.all([lines.next("> "), lines.ask("Sure? ")])).toEqual([undefined, undefined]);
    expect(prompts).toEqual(["> ", "Sure? "]);
  });

  it("a plain terminal asks questions one at a time, also after one that failed", async () => {
    const queue = createQueue();
    const order: string[] = [];
    const first = queue(async () => {
      order.push("first");
      await new Promise(setImmediate);
      order.push("failed");
      throw new Error("gone");
    });
    const second = queue(async () => order.push("second"));
    await expect(first).rejects.toThrow("gone");
    await second;
    expect(order).toEqual(["first", "failed", "second"]);
  });
});
