// The parts that a host of a run is made of, each by itself: what it writes, what it asks, what it owes, when it gives up.
import { getEventListeners } from "node:events";
import { afterEach, describe, expect, it, vi } from "vitest";
import { UserError } from "../../src/protocol/error-codes.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";
import { OpenPrompts } from "../../src/protocol/open-prompts.ts";
import type { Answer, Question, Sent, TurnEnding } from "../../src/protocol/run.ts";
import type { Entry, Lease, LocalFleet, RunRecord } from "../../src/serve/fleet.ts";
import { hasLabels, isOver } from "../../src/serve/fleet.ts";
import { keepHosts } from "../../src/serve/keep-hosts.ts";
import { leaseOf, startHosts } from "../../src/serve/launcher.ts";
import { LeaseKeeper } from "../../src/serve/lease-keeper.ts";
import { addEndings, failedEnd, runEnd } from "../../src/serve/run-end.ts";
import { RunLogWriter } from "../../src/serve/run-log-writer.ts";
import { RunQuestions } from "../../src/serve/run-questions.ts";
import { workLoop } from "../../src/serve/worker/loop.ts";
import { WorkerStats } from "../../src/serve/worker/stats.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const lease: Lease = { run: "run-1", token: "t", position: 7, ttlMs: 1000 };
const launch = { configDir: "/nowhere", env: {}, program: ["false"], most: 3 };

/** Only what a test needs of a fleet; anything else would be a call of undefined. */
function fleetOf(parts: Partial<LocalFleet>): LocalFleet {
  return parts as LocalFleet;
}

describe("the keeper of a lease", () => {
  /** What `renew` answers, one after the other; the last one again and again. */
  function kept(answers: readonly (boolean | Error)[]) {
    vi.useFakeTimers();
    // The clock of a process, which goes with the timers here.
    vi.spyOn(process, "uptime").mockImplementation(() => Date.now() / 1000);
    const lost: UserError[] = [];
    let asked = 0;
    let abandoned = 0;
    const fleet = fleetOf({
      async renew() {
        const answer = answers[Math.min(asked++, answers.length - 1)]!;
        if (answer instanceof Error) throw answer;
        return answer;
      },
      abandon: () => void abandoned++,
    });
    const keeper = new LeaseKeeper(fleet, lease, now(), (error) => lost.push(error));
    return { keeper, lost, asked: () => asked, abandoned: () => abandoned };
  }

  function now(): number {
    return process.uptime() * 1000;
  }

  it("the lease keeper is not sure of a lease that passed while its process was frozen", () => {
    const { keeper, lost } = kept([true]);
    expect(keeper.isSure).toBe(true);
    const woken = now() + lease.ttlMs + 1;
    vi.spyOn(process, "uptime").mockReturnValue(woken / 1000);
    expect([keeper.isSure, lost]).toEqual([false, []]);
    keeper.stop();
  });

  it("the lease keeper renews four times per lease and keeps the run", async () => {
    const { keeper, lost, asked } = kept([true]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked()).toBe(4);
    await vi.advanceTimersByTimeAsync(4000);
    expect(asked()).toBe(20);
    expect(lost).toEqual([]);
    keeper.stop();
    await vi.advanceTimersByTimeAsync(4000);
    expect(asked()).toBe(20);
    expect(lost).toEqual([]);
  });

  it("the lease keeper gives up at once when another host has the run", async () => {
    const { lost, asked, abandoned } = kept([true, false]);
    await vi.advanceTimersByTimeAsync(250);
    expect(lost).toEqual([]);
    await vi.advanceTimersByTimeAsync(250);
    expect(lost).toMatchObject([{ code: "LEASE_LOST", message: "The run run-1 was taken over by another host." }]);
    await vi.advanceTimersByTimeAsync(5000);
    expect([asked(), abandoned(), lost.length]).toEqual([2, 1, 1]);
  });

  it("the lease keeper takes the end that is being written for its own, not for another host's", async () => {
    const { keeper, lost } = kept([false]);
    let written = (_isWritten: boolean) => {};
    const ending = keeper.ending(() => new Promise((resolve) => (written = resolve)));
    await vi.advanceTimersByTimeAsync(600);
    expect(lost).toEqual([]);
    written(false); // a prompt came first: the run goes on
    expect(await ending).toBe(false);
    await vi.advanceTimersByTimeAsync(300);
    expect(lost).toMatchObject([{ code: "LEASE_LOST" }]);
  });

  it("the lease keeper gives up when nothing was renewed for a whole lease, and not before", async () => {
    const { lost, abandoned } = kept([new Error("the store is busy")]);
    await vi.advanceTimersByTimeAsync(990);
    expect(lost).toEqual([]);
    await vi.advanceTimersByTimeAsync(20);
    expect(lost).toMatchObject([{ code: "FLEET_UNREACHABLE" }]);
    expect(lost[0]!.message).toContain("could not be renewed for 1 s");
    expect(abandoned()).toBe(1);
  });

  it("the lease keeper counts a write as a renewal, but not one sent earlier", async () => {
    const { keeper, lost } = kept([new Error("busy")]);
    const first = now();
    await vi.advanceTimersByTimeAsync(600);
    keeper.arrived(now());
    keeper.arrived(first);
    await vi.advanceTimersByTimeAsync(900);
    expect(lost).toEqual([]);
    await vi.advanceTimersByTimeAsync(200);
    expect(lost).toHaveLength(1);
    keeper.arrived(now());
    expect(lost).toHaveLength(1);
  });
});

describe("hosts of this machine", () => {
  it("run hosts are started on this machine while there is room, and the queue learns which host took a run", async () => {
    const asked: object[] = [];
    const fleet = fleetOf({
      async lease(options) {
        asked.push(options);
        return undefined;
      },
      changed: async () => {},
    });
    expect(await startHosts(fleet, launch)).toBe(0);
    expect(await startHosts(fleet, launch, "run-9")).toBe(0);
    const base = { worker: `pid ${process.pid}`, ttlMs: 15_000, most: 3 };
    expect(asked).toEqual([base, { ...base, run: "run-9" }]);
    const { changed: _changed, ...withWorkers } = fleet;
    expect(await startHosts(withWorkers, { ...launch, fleetUrl: "nats://x" })).toBe(0);
    expect(asked).toHaveLength(2);
  });

  it.each([
    ["run-1:7:abc-D_", { run: "run-1", position: 7, token: "abc-D_", ttlMs: 15_000 }],
    ["run-1:7", undefined],
    ["run-1:x:abc", undefined],
    ["run 1:7:abc", undefined],
    ["run-1:7:abc:d", undefined],
    ["", undefined],
  ])("the lease that a host is given as %s is read", (words, expected) => {
    expect(leaseOf(words)).toEqual(expected);
  });

  it("this machine watches its run hosts until its abort signal, by changes and lost leases", async () => {
    const stop = new AbortController();
    const rounds: boolean[] = [];
    const waits = [
      { count: 1, hosted: 0 },
      { count: 0, hosted: 1, nextMs: 1 },
      { count: 0, hosted: 0 },
    ];
    let round = 0;
    const fleet = fleetOf({
      lease: async () => undefined,
      waiting: async () => waits[round]!,
      changed: (signal) =>
        new Promise((resolve) => {
          signal.addEventListener("abort", () => resolve(), { once: true });
          // The first is woken by a change, the second by its clock, the third by the end.
          if (round++ === 0) resolve();
          if (round === 3) stop.abort();
        }),
    });
    await keepHosts(fleet, launch, stop.signal, ({ isBusy }) => rounds.push(isBusy));
    expect(rounds).toEqual([true, true, false]);
    await keepHosts(fleet, launch, stop.signal, () => rounds.push(true));
    expect(rounds).toHaveLength(3);
  });
});

describe("the log of a run", () => {
  function opened() {
    const written: { entries: readonly Entry[]; after: number }[] = [];
    const lost: Error[] = [];
    const sent: number[] = [];
    let fails: Error | undefined;
    const fleet = fleetOf({
      async append(_lease, entries, after) {
        if (fails) throw fails;
        written.push({ entries, after });
        return after + entries.length;
      },
    });
    const writer = new RunLogWriter(fleet, lease, {
      onWritten: (at) => sent.push(at),
      onLost: (error) => lost.push(error),
    });
    return { writer, written, lost, sent, fail: (error: Error) => (fails = error) };
  }
  const text = (said: string): AgentEvent => ({ type: "text", text: said });
  const output = (callId: string, chunk: string): AgentEvent => ({ type: "tool_output", callId, chunk }) as AgentEvent;

  it("the list of waiting prompts contains those with an id, for every viewer of the run", async () => {
    const { writer, written } = opened();
    writer.noteWaiting({ type: "prompt", prompt: { text: "first" } });
    writer.noteWaiting({ type: "prompt", id: "p", prompt: { text: "second" } });
    writer.noteWaiting({ type: "steer", id: "s", text: "to the left" });
    writer.noteWaiting({ type: "cancel", reason: "no" });
    await writer.flush();
    expect(written.flatMap(({ entries }) => entries)).toEqual([
      { type: "prompt", id: "p", kind: "prompt", text: "second" },
      { type: "prompt", id: "s", kind: "steer", text: "to the left" },
    ]);
  });

  it("the log of a run joins pieces of one text or one call's output, and nothing else", async () => {
    const { writer, written } = opened();
    writer.event({ event: text("a") });
    writer.event({ event: text("b") });
    writer.event({ event: { type: "thinking", text: "c" } as AgentEvent });
    writer.event({ event: { type: "thinking", text: "d" } as AgentEvent });
    writer.event({ agent: "sub", event: text("e") });
    writer.event({ event: text("f") });
    writer.event({ event: output("1", "g") });
    writer.event({ event: output("1", "h") });
    writer.event({ event: output("2", "i") });
    expect(written).toEqual([]);
    writer.event({ number: 3, event: { type: "text_end", text: "ab" } });
    await writer.flush();
    expect(written).toHaveLength(1);
    expect(written[0]!.after).toBe(7);
    expect(written[0]!.entries).toEqual([
      { type: "event", event: text("ab") },
      { type: "event", event: { type: "thinking", text: "cd" } },
      { type: "event", agent: "sub", event: text("e") },
      { type: "event", event: text("f") },
      { type: "event", event: output("1", "gh") },
      { type: "event", event: output("2", "i") },
      { type: "event", number: 3, event: { type: "text_end", text: "ab" } },
    ]);
    expect(writer.position).toBe(14);
  });

  it("the log of a run is written after a moment, or at once when much is waiting", async () => {
    const { writer, written, sent } = opened();
    writer.event({ event: text("alone") });
    await vi.waitFor(() => expect(written).toHaveLength(1));
    expect(sent).toHaveLength(1);
    for (let at = 0; at < 200; at++) writer.event({ event: output(String(at), "x") });
    await Promise.resolve();
    await Promise.resolve();
    expect(written).toHaveLength(2);
    expect(written[1]!.entries).toHaveLength(200);
    expect(written[1]!.after).toBe(8);
  });

  it("the log of a run accepts nothing after it was closed or the run was lost", async () => {
    const closed = opened();
    closed.writer.event({ event: text("last") });
    await closed.writer.close();
    closed.writer.event({ event: text("late") });
    closed.writer.add({ type: "losses", losses: [] });
    await closed.writer.flush();
    expect(closed.written.flatMap(({ entries }) => entries)).toEqual([{ type: "event", event: text("last") }]);
    const gone = opened();
    const why = new UserError("LEASE_LOST", "somebody else's");
    gone.fail(why);
    gone.writer.add({ type: "losses", losses: [] });
    gone.writer.add({ type: "losses", losses: [] });
    await gone.writer.flush();
    expect(gone.lost).toEqual([why]);
    expect(gone.sent).toEqual([]);
  });
});

describe("questions of a run", () => {
  const question = { id: "q1", hash: "h", type: "trust" } as unknown as Question;
  const yes: Answer = { type: "yes" };

  it("a run's log keeps each question until it is answered once", async () => {
    const log: Entry[] = [];
    const questions = new RunQuestions((entry) => log.push(entry));
    const answer = questions.ask(question, new AbortController().signal);
    expect(log).toEqual([{ type: "question", question }]);
    questions.answer("another", { type: "no" });
    questions.answer("q1", yes);
    questions.answer("q1", { type: "no" });
    expect(await answer).toEqual(yes);
    expect(log.slice(1)).toEqual([{ type: "question_closed", question: "q1", answer: yes }]);
    expect(questions.answers).toEqual(["permission", "choices", "plan", "trust", "server", "hooks"]);
  });

  it("a run's log closes a question without an answer when its asker no longer waits", async () => {
    const log: Entry[] = [];
    const questions = new RunQuestions((entry) => log.push(entry));
    const stop = new AbortController();
    const answer = questions.ask(question, stop.signal);
    stop.abort();
    questions.answer("q1", yes);
    const withdrawn = { type: "no", reason: "The answer is no longer needed." };
    expect(await answer).toEqual(withdrawn);
    expect(await questions.ask({ ...question, id: "q2" }, AbortSignal.abort())).toEqual(withdrawn);
    expect(log.slice(1)).toEqual([
      { type: "question_closed", question: "q1" },
      { type: "question", question: { ...question, id: "q2" } },
      { type: "question_closed", question: "q2" },
    ]);
  });
});

describe("prompts that a host has not answered yet", () => {
  const done: TurnEnding = { type: "done", text: "ok" } as TurnEnding;
  const failed: TurnEnding = { type: "fail", message: "no", code: "STOPPED" } as unknown as TurnEnding;

  function opened() {
    const log: Entry[] = [];
    const dropped: TurnEnding[] = [];
    const shown: TurnEnding[] = [];
    const prompts = new OpenPrompts({
      shown: async (ending) => void shown.push(ending),
      dropped: (ending) => dropped.push(ending),
      ended: (id, end) => log.push({ type: "prompt_ended", id, ...end }),
      replied: (id, end) => log.push({ type: "reply", id, ...end }),
    });
    return { prompts, log, dropped, shown };
  }
  function sent(state: Sent["state"], ending: TurnEnding): Sent {
    return { state, ending: Promise.resolve(ending), withdraw: async () => true } as unknown as Sent;
  }

  it("a run's host counts prompts until they are handled, and the log says how they ended", async () => {
    const { prompts, log, dropped, shown } = opened();
    prompts.follow(sent("told", done), undefined);
    prompts.follow(sent("told", done), "later");
    prompts.follow(sent("dropped", failed), "dropped");
    prompts.follow(sent("dropped", failed), undefined);
    prompts.follow(sent("told", failed), "failed");
    expect(prompts.count).toBe(5);
    expect(await prompts.withdraw("later")).toBe(true);
    expect(await prompts.withdraw("unknown")).toBe(false);
    while (prompts.count > 0) await prompts.nextChange();
    expect(shown).toEqual([done, done, failed]);
    expect(dropped).toEqual([failed]);
    expect(log).toEqual(
      [
        { type: "prompt_ended", id: "later", state: "told" },
        { type: "prompt_ended", id: "dropped", state: "dropped", error: "no", code: "STOPPED" },
        { type: "prompt_ended", id: "failed", state: "told" },
      ].sort(byIdLike(log)),
    );
    expect(await prompts.withdraw("later")).toBe(false);
  });

  /** Which of them is over first is nobody's business. */
  function byIdLike(log: readonly Entry[]) {
    const at = (entry: object) => log.findIndex((each) => "id" in each && each.id === (entry as { id: string }).id);
    return (one: object, other: object) => at(one) - at(other);
  }

  it("a request to a running agent is answered with a value, nothing, or an error", async () => {
    const { prompts, log } = opened();
    prompts.reply("a", async () => 3);
    prompts.reply("b", async () => undefined);
    prompts.reply(undefined, async () => 4);
    prompts.reply("c", async () => Promise.reject(new UserError("USAGE", "not so")));
    prompts.reply("d", async () => Promise.reject(new Error("oh")));
    expect(prompts.count).toBe(5);
    while (prompts.count > 0) await prompts.nextChange();
    expect(log).toEqual([
      { type: "reply", id: "a", value: 3 },
      { type: "reply", id: "b" },
      { type: "reply", id: "c", error: "not so", code: "USAGE" },
      { type: "reply", id: "d", error: "oh", code: "INTERNAL" },
    ]);
  });
});

describe("how a run ended", () => {
  const run = { createdAt: Date.now() - 5000, startedAt: Date.now() - 2000 } as RunRecord;
  const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 };
  const done = { type: "done", text: "last", usage } as unknown as TurnEnding;
  const fail = (code?: string) => ({ type: "fail", message: "why", ...(code && { code }) }) as unknown as TurnEnding;

  it.each<[string, TurnEnding[], { message: string; code: string } | undefined, object]>([
    ["by its last turn", [fail("X"), done], undefined, { outcome: "finished", text: "last", turns: 2 }],
    ["by a failed turn", [done, fail("X")], undefined, { outcome: "error", text: "why", code: "X", turns: 2 }],
    [
      "by its process",
      [done],
      { message: "died", code: "CLI_FAILED" },
      { outcome: "error", text: "died", code: "CLI_FAILED" },
    ],
    ["by being interrupted", [fail("INTERRUPTED")], undefined, { outcome: "cancelled", code: "INTERRUPTED" }],
    ["by being ended", [fail("TERMINATED")], undefined, { outcome: "cancelled", code: "TERMINATED" }],
    [
      "before any turn",
      [],
      undefined,
      { outcome: "error", code: "NO_RESULT", text: "The run ended before its first turn was finished.", turns: 0 },
    ],
  ])("a run's outcome is its last turn's, or what stopped it: %s", (_how, endings, error, expected) => {
    expect(runEnd(endings, run, error)).toMatchObject(expected);
  });

  it("a run's ending has its duration, and a code only if there is one", () => {
    const end = runEnd([fail()], run, undefined);
    expect(end).not.toHaveProperty("code");
    expect(end.durationMs).toBeGreaterThanOrEqual(2000);
    expect(end.durationMs).toBeLessThan(4500);
    const { startedAt: _none, ...never } = run;
    expect(runEnd([], never, undefined).durationMs).toBeGreaterThanOrEqual(5000);
    const failed = failedEnd(new UserError("USAGE", "not so"), run, "error");
    expect(failed).toMatchObject({ outcome: "error", text: "not so", code: "USAGE", turns: 0 });
    expect(failed.durationMs).toBeGreaterThanOrEqual(2000);
    expect(failed.durationMs).toBeLessThan(4500);
  });

  it("the result of a run sums usage and denials of all turns, and omits what is unknown", () => {
    const base = { outcome: "finished", text: "", durationMs: 1, turns: 0 } as const;
    expect(addEndings(base, [fail()])).toEqual({ ...base, turns: 1 });
    const denial = { tool: "Shell", callId: "c", reason: "no" };
    const priced = { type: "done", text: "", usage, costUsd: 0.5, denials: [denial] } as unknown as TurnEnding;
    expect(addEndings(base, [priced, priced, done])).toEqual({
      ...base,
      turns: 3,
      usage: { inputTokens: 3, outputTokens: 6, cacheReadTokens: 9, cacheWriteTokens: 12 },
      costUsd: 1,
      denials: [denial, denial],
    });
  });

  it("three of the five run states are final; a worker takes a run only if it has all its labels", () => {
    const states = ["queued", "running", "finished", "error", "cancelled"] as const;
    expect(states.map(isOver)).toEqual([false, false, true, true, true]);
    expect(hasLabels({ gpu: "a", os: "linux" }, { gpu: "a" })).toBe(true);
    expect(hasLabels({ gpu: "a" }, { gpu: "a", os: "linux" })).toBe(false);
    expect(hasLabels({ gpu: "b" }, { gpu: "a" })).toBe(false);
    expect(hasLabels({}, {})).toBe(true);
  });
});

it("a worker that has ended many runs adds no listeners for its own end", async () => {
  const drain = new AbortController();
  const listeners: number[] = [];
  let left = 20;
  const fleet = fleetOf({
    async lease() {
      if (left-- > 0) return { run: `run-${left}`, token: "t", position: 0, ttlMs: 1000 };
      drain.abort();
      return undefined;
    },
    run: async () => undefined,
  });
  const never = new AbortController().signal;
  await workLoop(fleet, new WorkerStats({ name: "w", pool: "p", version: "1", concurrency: 1 }), {
    ...{ name: "w", labels: {}, concurrency: 1, singleUse: false, leaseMs: 1000, graceMs: 0, program: [] },
    ...{ configDir: "/nowhere", disk: { dataDir: "/nowhere", env: {}, cacheLimits: { bytes: 0, ageMs: 0 } } },
    ...{ drain: drain.signal, end: never },
    onLine: () => listeners.push(getEventListeners(drain.signal, "abort").length),
  });
  expect(listeners).toHaveLength(40);
  expect(Math.max(...listeners.slice(2))).toBe(Math.max(...listeners.slice(0, 2)));
});
