// What is said to a run that is elsewhere: every order arrives as the same call there, and what comes of it comes back.
import { describe, expect, it } from "vitest";
import { type ControlLine, readControlLine, readControlNotice } from "../../src/protocol/control-lines.ts";
import { dispatchMessage } from "../../src/protocol/dispatch-message.ts";
import { UserError } from "../../src/protocol/error-codes.ts";
import { failedTurn, type OpenPrompt, Prompts, sentOf, userError } from "../../src/protocol/prompts.ts";
import type { LiveRun, Prompt, Recorded, TurnEnding } from "../../src/protocol/run.ts";
import { RunElsewhere, type RunOrder } from "../../src/protocol/run-elsewhere.ts";

class TestRun extends RunElsewhere {
  readonly chatId = "chat";
  readonly told: RunOrder[] = [];
  readonly passed: OpenPrompt[] = [];
  fails: Error | undefined;
  asked = 0;

  async close() {}
  protected sendOrder(order: RunOrder) {
    this.told.push(order);
    return this.fails ? Promise.reject(this.fails) : Promise.resolve();
  }
  protected pass(item: OpenPrompt) {
    this.passed.push(item);
  }
  protected override onAsk() {
    this.asked++;
  }
  protected override promptFault({ text }: Prompt) {
    return text === "unspeakable" ? new UserError("USAGE", "not that") : undefined;
  }
  answer(reply: { id: string; value?: unknown; error?: string; code?: string }) {
    this.replied(reply);
  }
  /** The last thing that was asked. */
  get lastId(): string {
    return (this.told.at(-1) as { id: string }).id;
  }
  override get isAwaited() {
    return super.isAwaited;
  }
  lose(why: UserError) {
    this.stopped = why;
    this.failRequests(why);
  }
  see(recorded: Recorded) {
    this.record(recorded);
  }
  breakOff(ending: TurnEnding) {
    this.failTurn(ending);
  }
  over(id: string, state: "told" | "dropped", more: { error?: string; code?: string } = {}) {
    this.promptEnded({ id, ...more }, state);
  }
}

const done = { type: "done", text: "ok", durationMs: 1, apiDurationMs: 1 } as unknown as TurnEnding;

describe("a run in another process", () => {
  it.each<[string, (run: LiveRun) => Promise<unknown>, object, unknown, unknown]>([
    ["background", (run) => run.background("c1"), { type: "background", call: "c1" }, true, true],
    ["background of what is over", (run) => run.background("c1"), { type: "background", call: "c1" }, undefined, false],
    ["setModel", (run) => run.setModel("m"), { type: "model", model: "m" }, null, undefined],
    [
      "setModel with effort",
      (run) => run.setModel("m", "high"),
      { type: "model", model: "m", effort: "high" },
      null,
      undefined,
    ],
    ["compact", (run) => run.compact(), { type: "compact" }, null, undefined],
    ["rewind", (run) => run.rewind(2), { type: "rewind", turn: 2 }, null, undefined],
    ["context", (run) => run.context(), { type: "context" }, { used: 1 }, { used: 1 }],
    ["aside", (run) => run.aside("why?"), { type: "aside", text: "why?" }, "so", "so"],
    ["names", (run) => run.names(), { type: "names" }, ["a"], ["a"]],
  ])("a remote run sends %s with an id and gets its reply", async (_name, call, order, value, result) => {
    const run = new TestRun("me-");
    const answer = call(run);
    expect(run.told).toEqual([{ ...order, id: "me-request-1" }]);
    expect([run.asked, run.isAwaited]).toEqual([1, true]);
    run.answer({ id: "me-request-9", value: "not mine" });
    run.answer({ id: "me-request-1", value });
    expect(await answer).toEqual(result);
    expect(run.isAwaited).toBe(false);
  });

  it("a remote run throws an error that the other process reported, with its code if known", async () => {
    const run = new TestRun();
    const first = run.compact();
    run.answer({ id: run.lastId, error: "no room", code: "USAGE" });
    await expect(first).rejects.toMatchObject({ message: "no room", code: "USAGE" });
    const second = run.compact();
    run.answer({ id: run.lastId, error: "odd", code: "OF_TOMORROW" });
    await expect(second).rejects.toMatchObject({ code: "CLI_FAILED" });
    run.fails = new Error("no way there");
    await expect(run.compact()).rejects.toThrow("no way there");
    expect(run.isAwaited).toBe(false);
  });

  it("a remote run whose connection is lost rejects waiting requests and refuses new ones", async () => {
    const run = new TestRun();
    const waiting = [run.context(), run.background("c"), run.aside("?")];
    const why = new UserError("CLI_FAILED", "gone");
    run.lose(why);
    for (const each of waiting) await expect(each).rejects.toBe(why);
    expect(run.isAwaited).toBe(false);
    await expect(run.names()).rejects.toBe(why);
    run.interrupt();
    run.setMode("plan");
    expect(run.told).toHaveLength(3);
    const sent = run.send({ text: "too late" });
    expect(await sent.ending).toMatchObject({ type: "fail", message: "gone", code: "CLI_FAILED" });
    expect(sent.state).toBe("dropped");
    expect(await sent.withdraw()).toBe(false);
    expect(run.passed).toEqual([]);
  });

  it("a remote run's interrupt and mode change do not wait for a reply", () => {
    const run = new TestRun();
    run.interrupt();
    run.interrupt("enough");
    run.setMode("ask");
    expect(run.told).toEqual([
      { type: "interrupt" },
      { type: "interrupt", reason: "enough" },
      { type: "mode", mode: "ask" },
    ]);
    run.fails = new Error("over");
    run.interrupt();
  });

  it("a remote run sends prompts and steering, drops impossible ones, and withdraws them if the run agrees", async () => {
    const run = new TestRun("me-");
    const sent = run.send({ text: "go" });
    const steered = run.steer("left");
    expect(run.passed.map(({ id, kind, prompt }) => [id, kind, prompt.text])).toEqual([
      ["me-prompt-1", "prompt", "go"],
      ["me-prompt-2", "steer", "left"],
    ]);
    expect(await run.send({ text: "unspeakable" }).ending).toMatchObject({ message: "not that", code: "USAGE" });
    const refused = sent.withdraw();
    expect(run.told.at(-1)).toMatchObject({ type: "withdraw", prompt: "me-prompt-1" });
    run.answer({ id: run.lastId, value: false });
    expect(await refused).toBe(false);
    expect(sent.state).toBe("waiting");
    const agreed = steered.withdraw();
    run.answer({ id: run.lastId, value: true });
    expect(await agreed).toBe(true);
    expect(await steered.ending).toMatchObject({ message: "The prompt was withdrawn.", code: "INTERRUPTED" });
    expect(await steered.withdraw()).toBe(false);
  });

  it("a remote run's prompt resolves with the turn that used it, or with why it was dropped", async () => {
    const run = new TestRun();
    const [first, second, third] = ["1", "2", "3"].map((text) => run.send({ text }));
    run.over(first!.id, "told");
    expect(await first!.ending).toMatchObject({ type: "fail", message: "The prompt was dropped." });
    run.see({ number: 1, event: done });
    run.over(second!.id, "told");
    expect(await second!.ending).toBe(done);
    expect(second!.state).toBe("told");
    run.over(third!.id, "dropped", { error: "full", code: "USAGE" });
    expect(await third!.ending).toMatchObject({ message: "full", code: "USAGE" });
    run.over("unknown", "told");
  });

  it("when the connection is lost, a remote run ends open tool calls, except those of subagents", async () => {
    const run = new TestRun();
    const start = (callId: string) => ({ type: "tool_start", callId, tool: "shell", args: {}, at: 1 }) as never;
    run.see({ number: 1, event: start("a") });
    run.see({ number: 2, event: start("b") });
    run.see({ number: 3, event: { type: "tool_end", callId: "b", tool: "shell", args: {} } as never });
    run.see({ agent: "sub", number: 4, event: start("c") });
    run.breakOff(failedTurn({ message: "lost" }, Date.now() - 50));
    run.breakOff(failedTurn({ message: "lost" }, Date.now()));
    const seen: string[] = [];
    for await (const { event } of run.events(0)) {
      seen.push("callId" in event ? `${event.type} ${event.callId}` : event.type);
      if (seen.filter((each) => each === "fail").length === 2) break;
    }
    expect(seen.filter((each) => !each.endsWith(" c"))).toEqual([
      "tool_start a",
      "tool_start b",
      "tool_end b",
      "tool_end a",
      "fail",
      "fail",
    ]);
  });
});

describe("control requests at the run itself", () => {
  it("a control line calls the run's method of the same name, and the reply names the line", async () => {
    const calls: unknown[] = [];
    const replies: [string | undefined, unknown][] = [];
    const said =
      (name: string) =>
      (...args: unknown[]) => {
        calls.push([name, ...args]);
        return Promise.resolve(`${name} done`);
      };
    const names = [
      "steer",
      "interrupt",
      "setMode",
      "setModel",
      "background",
      "compact",
      "context",
      "names",
      "rewind",
      "aside",
    ];
    const run = Object.fromEntries(names.map((name) => [name, said(name)])) as unknown as LiveRun;
    const host = {
      follow: (_sent: unknown, id: string | undefined) => calls.push(["follow", id]),
      reply: (id: string | undefined, work: () => Promise<unknown>) =>
        void work().then((value) => replies.push([id, value])),
      withdraw: said("withdraw") as never,
    };
    const orders: (RunOrder | Extract<ControlLine, { type: "steer" }>)[] = [
      { type: "steer", text: "left", id: "1" },
      { type: "interrupt", reason: "enough" },
      { type: "withdraw", prompt: "p", id: "2" },
      { type: "mode", mode: "plan" },
      { type: "model", model: "m", effort: "low", id: "3" },
      { type: "background", call: "c", id: "4" },
      { type: "compact", id: "5" },
      { type: "context", id: "6" },
      { type: "names", id: "7" },
      { type: "rewind", turn: 3, id: "8" },
      { type: "aside", text: "?", id: "9" },
    ];
    for (const order of orders) dispatchMessage(run, order, host);
    await new Promise((resolve) => setImmediate(resolve));
    expect(calls).toEqual([
      ["steer", "left"],
      ["follow", "1"],
      ["interrupt", "enough"],
      ["withdraw", "p"],
      ["setMode", "plan"],
      ["setModel", "m", "low"],
      ["background", "c"],
      ["compact"],
      ["context"],
      ["names"],
      ["rewind", 3],
      ["aside", "?"],
    ]);
    // Which of them is first is nobody's business.
    expect(new Map(replies)).toEqual(
      new Map([
        ["2", "withdraw done"],
        [undefined, "setMode done"],
        ["3", "setModel done"],
        ["4", "background done"],
        ["5", "compact done"],
        ["6", "context done"],
        ["7", "names done"],
        ["8", "rewind done"],
        ["9", "aside done"],
      ]),
    );
  });
});

describe("control lines", () => {
  it.each<object>([
    { type: "attend" },
    { type: "steer", text: "x" },
    { type: "steer", text: "x", id: "1" },
    { type: "withdraw", prompt: "p" },
    { type: "interrupt" },
    { type: "interrupt", reason: "" },
    { type: "mode", mode: "default" },
    { type: "mode", mode: "force" },
    { type: "mode", mode: "plan" },
    { type: "mode", mode: "ask" },
    { type: "model", model: "m" },
    { type: "model", model: "m", effort: "high" },
    { type: "answer", question: "q", hash: "h", answer: { type: "yes" } },
    { type: "answer", question: "q", hash: "h", answer: { type: "yes", always: true, grant: "run", wider: false } },
    { type: "answer", question: "q", hash: "h", answer: { type: "no", reason: "r" } },
    { type: "answer", question: "q", hash: "h", answer: { type: "choices", answers: [{}] } },
    { type: "background", call: "c", id: "1" },
    { type: "run_call", call: "c" },
    { type: "run_call", call: "c", agent: "a" },
    { type: "compact" },
    { type: "context", id: "1" },
    { type: "names" },
    { type: "rewind", turn: 1 },
    { type: "aside", text: "x" },
  ])("the control line %j is accepted", (line) => {
    expect(readControlLine(line)).toEqual(line);
  });

  it.each<[object, string]>([
    [{ type: "steer", text: "" }, '"text" must be a string that is not empty'],
    [{ type: "steer" }, 'a line of the type "steer" '],
    [{ type: "steer", text: "x", id: "" }, '"id"'],
    [{ type: "steer", text: "x", more: 1 }, "more"],
    [{ type: "mode", mode: "yolo" }, '"mode"'],
    [{ type: "model", model: "m", effort: "huge" }, '"effort"'],
    [{ type: "rewind", turn: 0 }, '"turn"'],
    [{ type: "rewind", turn: 1.5 }, '"turn" must be the number of a turn'],
    [{ type: "rewind", turn: "1" }, '"turn" must be the number of a turn'],
    [{ type: "answer", question: "q", answer: { type: "yes" } }, "hash"],
    [{ type: "answer", question: "q", hash: "h", answer: { type: "yes", grant: "world" } }, '"answer"'],
    [{ type: "answer", question: "q", hash: "h", answer: { type: "choices" } }, '"answer"'],
    [{ type: "background" }, "call"],
    [{ type: "run_call", agent: "a" }, "call"],
    [{ type: "hello", can: [] }, "version"],
    [{ type: "hello", version: 1 }, "can"],
  ])("the control line %j is refused by name", (line, named) => {
    expect(readControlLine(line)).toEqual(expect.stringContaining(named));
  });

  it("only known types are control lines; older names and unknown abilities are accepted", () => {
    for (const other of [{ type: "user" }, { type: "toString" }, { type: 1 }, null, "steer", []])
      expect(readControlLine(other)).toBeUndefined();
    expect(readControlLine({ type: "cancel" })).toEqual({ type: "interrupt" });
    expect(readControlLine({ type: "hello", version: 1, can: ["fly", "trust", "answer"] })).toEqual({
      type: "hello",
      version: 1,
      can: ["answer", "trust"],
    });
  });

  const question = { id: "q", hash: "h", type: "trust" };
  it.each<[object, boolean]>([
    [{ subtype: "hello", version: 1, session_id: "s" }, true],
    [{ subtype: "hello", version: "1", session_id: "s" }, false],
    [{ subtype: "hello", version: 1, session_id: "" }, false],
    [{ subtype: "question", question }, true],
    [{ subtype: "question", question: { ...question, id: 1 } }, false],
    [{ subtype: "question", question: { ...question, hash: "" } }, false],
    [{ subtype: "question", question: { ...question, type: undefined } }, false],
    [{ subtype: "question", question: "q" }, false],
    [{ subtype: "question_closed", question: "q" }, true],
    [{ subtype: "question_closed", question: {} }, false],
    [{ subtype: "ended", id: "p", state: "told" }, true],
    [{ subtype: "ended", id: "p", state: "dropped", error: "e" }, true],
    [{ subtype: "ended", id: "p", state: "forgotten" }, false],
    [{ subtype: "ended", state: "told" }, false],
    [{ subtype: "reply", id: "r", value: 1 }, true],
    [{ subtype: "reply" }, false],
    [{ subtype: "of tomorrow", id: "r" }, false],
  ])("the client understands the notice %j of a run: %s", (notice, isKnown) => {
    expect(readControlNotice({ type: "control", ...notice })).toEqual(isKnown ? notice : undefined);
  });
});

describe("prompts on their way", () => {
  it("a run's queue gives steering before prompts, in order, and forgets finished ones", async () => {
    const prompts = new Prompts("n-");
    expect(prompts.isEmpty).toBe(true);
    const first = prompts.add("prompt", { text: "1" });
    const second = prompts.add("steer", { text: "2" });
    expect([first.id, second.id, prompts.isEmpty]).toEqual(["n-prompt-1", "n-prompt-2", false]);
    expect(prompts.nextWaiting()).toBe(second);
    second.state = "told";
    expect(prompts.nextWaiting()).toBe(first);
    expect(prompts.waiting()).toEqual([first]);
    expect(prompts.list()).toEqual([first, second]);
    const sent = sentOf(first, async () => true);
    prompts.end(first, "dropped", done);
    prompts.end(first, "told", failedTurn({ message: "x" }, 0));
    expect(await sent.ending).toBe(done);
    expect(sent.state).toBe("dropped");
    expect([prompts.has(first), prompts.get(first.id), prompts.has(second)]).toEqual([false, undefined, true]);
  });

  it("an ending made for a lost turn says why, with a code if there is one, and how long it took", () => {
    const ending = failedTurn({ message: "m", code: "USAGE" }, Date.now() - 1000);
    expect(ending).toMatchObject({ type: "fail", message: "m", code: "USAGE", apiDurationMs: 0 });
    expect(ending.durationMs).toBeGreaterThanOrEqual(1000);
    expect(ending.durationMs).toBeLessThan(60_000);
    expect(failedTurn({ message: "m" }, 0)).not.toHaveProperty("code");
    expect(userError("USAGE", "m").code).toBe("USAGE");
    for (const code of [undefined, "toString", "NOT_OURS"]) expect(userError(code, "m").code).toBe("CLI_FAILED");
  });
});
