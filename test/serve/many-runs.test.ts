// Many runs that one process waits for: each end arrives, whatever is lost on the way; short outages of the log are waited out.
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Question } from "../../src/protocol/run.ts";
import type { Entry, Fleet, LogEntry, NewRun, RunRecord, RunState } from "../../src/serve/fleet.ts";

/** Sleeping moves the clock, and takes no time. */
const clock = vi.hoisted(() => ({ now: 0, slept: [] as number[] }));
vi.mock("node:timers/promises", () => ({
  setTimeout: async (ms: number) => {
    clock.slept.push(ms);
    clock.now += ms;
  },
}));

// Files share what one of them has loaded: these are loaded anew, with the clock above, and no other file gets them.
vi.resetModules();
const { UserError } = await import("../../src/protocol/error-codes.ts");
const { answerQuestion, followThrough } = await import("../../src/serve/follow-log.ts");
const { ManyRuns } = await import("../../src/serve/many-runs.ts");
afterAll(() => {
  vi.doUnmock("node:timers/promises");
  vi.resetModules();
});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  clock.now = 1_000_000;
  clock.slept = [];
  vi.spyOn(Date, "now").mockImplementation(() => clock.now);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const never = new AbortController().signal;
const at = (position: number, run = "r", entry: object = { type: "losses", losses: [] }): LogEntry => ({
  position,
  run,
  at: 0,
  entry: entry as Entry,
});

describe("a log that is followed", () => {
  /** What each reader yields before it fails, or ends. */
  async function followed(readers: readonly (readonly (number | Error)[])[], signal = never) {
    const from: number[] = [];
    const seen: number[] = [];
    const read = async function* (position: number) {
      from.push(position);
      for (const each of readers[Math.min(from.length, readers.length) - 1]!) {
        if (each instanceof Error) throw each;
        yield at(each);
      }
    };
    let failure: unknown;
    try {
      for await (const { position } of followThrough(read, 5, signal)) seen.push(position);
    } catch (error) {
      failure = error;
    }
    return { from, seen, failure };
  }
  const failed = (code: string) => new UserError(code as "STORE_IO", code);

  it.each(["STORE_LOCKED", "STORE_FULL", "STORE_IO"])(
    "after the failure %s, a client continues to read a run's log where it stopped",
    async (code) => {
      const { from, seen, failure } = await followed([[failed(code)], [6, 8, failed(code)], [9]]);
      expect({ from, seen, failure }).toEqual({ from: [5, 5, 8], seen: [6, 8, 9], failure: undefined });
      expect(clock.slept).toEqual([1000, 1000]);
    },
  );

  it.each([failed("RUN_NOT_FOUND"), new Error("STORE_IO")])(
    "a client does not read a run's log again after %s",
    async (error) => {
      const { from, seen, failure } = await followed([[6, error]]);
      expect({ from, seen }).toEqual({ from: [5], seen: [6] });
      expect(failure).toBe(error);
      expect(clock.slept).toEqual([]);
    },
  );

  it("a client waits out an outage of run logs for two minutes, counted from its beginning", async () => {
    const { from, failure } = await followed([[failed("STORE_IO")]]);
    expect(failure).toMatchObject({ code: "STORE_IO" });
    expect(from).toHaveLength(122);
    expect(clock.now).toBe(1_000_000 + 121_000);
  });

  it("each new entry of a run's log ends an outage, so that later ones are waited out as long", async () => {
    const outage = Array.from({ length: 100 }, () => [failed("STORE_IO")]);
    const { seen, failure } = await followed([...outage, [6, failed("STORE_IO")], ...outage, [7]]);
    expect({ seen, failure }).toEqual({ seen: [6, 7], failure: undefined });
  });

  it("a client that stops following a run gets no error", async () => {
    expect(await followed([[6]], AbortSignal.abort())).toEqual({ from: [], seen: [], failure: undefined });
    const stop = new AbortController();
    const left = followThrough(
      // biome-ignore lint/correctness/useYield: it fails when it is left
      async function* () {
        stop.abort();
        throw new Error("closed");
      },
      0,
      stop.signal,
    );
    expect(await left.next()).toEqual({ done: true, value: undefined });
  });

  it("an answer that comes after its question is closed is ignored, but a bug is not", async () => {
    const question = { id: "q", hash: "h" } as Question;
    const fleet = (error: Error) => ({ answer: async () => Promise.reject(error) }) as unknown as Fleet;
    await answerQuestion(fleet(new UserError("QUESTION_CLOSED", "late")), "r", question, { type: "yes" });
    const bug = answerQuestion(fleet(new TypeError("bug")), "r", question, { type: "yes" });
    await expect(bug).rejects.toThrow("bug");
  });
});

describe("runs that are waited for", () => {
  const launch = { configDir: "/nowhere", env: {}, program: ["false"], most: 3 };
  const record = (id: string, state: RunState = "queued", more: Partial<RunRecord> = {}) =>
    ({ id, state, attempts: 0, ...more }) as RunRecord;
  const newRun = (id: string) => ({ id }) as NewRun;
  const end = { outcome: "finished", text: "ok", durationMs: 1, turns: 1 } as const;

  async function opened(isLocal = false) {
    const state = {
      records: new Map<string, RunRecord>(),
      answers: [] as unknown[],
      leases: [] as unknown[],
      looked: [] as string[],
      started: [] as string[],
      from: -1,
    };
    const entries: (LogEntry | Error)[] = [];
    let wake = () => {};
    const tell = (entry: LogEntry | Error) => {
      entries.push(entry);
      wake();
    };
    const until = (signal: AbortSignal, isTold = false) =>
      new Promise<void>((resolve) => {
        if (isTold) wake = resolve;
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    const fleet = {
      position: async () => 41,
      async *followAll(from: number, signal: AbortSignal) {
        state.from = from;
        while (!signal.aborted) {
          for (let next = entries.shift(); next; next = entries.shift()) {
            if (next instanceof Error) throw next;
            yield next;
          }
          await until(signal, true);
        }
      },
      async enqueue({ id }: NewRun) {
        const known = state.records.get(id);
        if (!known) throw new UserError("AGENT_BUSY", `${id} cannot be queued`);
        return known;
      },
      async run(id: string) {
        state.looked.push(id);
        return state.records.get(id);
      },
      questions: async () => [
        { run: "a", at: 0, question: { id: "q1", hash: "h1", type: "choices" } },
        { run: "z", at: 0, question: { id: "q2", hash: "h2", type: "permission" } },
        { run: "a", at: 0, question: { id: "q3", hash: "h3", type: "permission" } },
      ],
      answer: async (run: string, answer: object) => void state.answers.push({ run, ...answer }),
      ...(isLocal && {
        lease: async (options: object) => void state.leases.push(options),
        waiting: async () => ({ count: 0, hosted: 0 }),
        changed: (signal: AbortSignal) => until(signal),
      }),
    } as unknown as Fleet;
    const many = await ManyRuns.open(fleet, launch, { onStarted: (run) => void state.started.push(run) });
    return { many, state, tell };
  }
  const no = { type: "no", reason: "Nobody can answer. Allow it in advance: with rules, or with force." };
  /** Lets everything go on that waits for nothing else. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it("a client reads run logs from their end, and starts no host for a run that is already over", async () => {
    const { many, state } = await opened(true);
    state.records.set("a", record("a", "error"));
    const leasesBefore = state.leases.length;
    expect(await many.run(newRun("a"))).toMatchObject({ id: "a", state: "error" });
    expect([state.from, many.unfinished, state.leases.length - leasesBefore]).toEqual([41, [], 0]);
    await many.close();
  });

  it("a new run gets its host on this machine, and its end from the log", async () => {
    const { many, state, tell } = await opened(true);
    for (const id of ["a", "b"]) state.records.set(id, record(id));
    const over = many.run(newRun("a"));
    void many.run(newRun("b"));
    await settled();
    expect(state.leases).toContainEqual(expect.objectContaining({ run: "a", most: 3 }));
    tell(at(42, "a", { type: "leased", worker: "w", attempt: 1 }));
    tell(at(43, "other", { type: "leased", worker: "w", attempt: 1 }));
    await settled();
    expect(state.started).toEqual(["a"]);
    expect(many.unfinished).toEqual(["a", "b"]);
    tell(at(43, "a"));
    await settled();
    expect(state.looked).toEqual([]);
    tell(at(44, "a", { type: "result", end }));
    // The table of runs may not have the end yet.
    expect(await over).toEqual({ ...record("a"), end });
    expect(many.unfinished).toEqual(["b"]);
    // Hosts of other runs are started too, for a run that waits longer than this process.
    expect(state.leases.filter((each) => !("run" in (each as object)))).not.toEqual([]);
    const before = state.leases.length;
    vi.advanceTimersByTime(3000);
    await settled();
    expect(state.leases.length).toBeGreaterThan(before);
    await many.close();
    expect([many.unfinished, vi.getTimerCount()]).toEqual([[], 0]);
  });

  it("a client refuses a question of a run it started at once, and leaves questions of other runs alone", async () => {
    const { many, state, tell } = await opened();
    state.records.set("a", record("a"));
    void many.run(newRun("a"));
    const ask = (run: string, type: string) =>
      tell(at(42, run, { type: "question", question: { id: type, hash: "h", type } }));
    for (const run of ["z", "a"]) for (const type of ["choices", "permission"]) ask(run, type);
    await settled();
    expect(state.answers).toEqual([
      { run: "a", question: "choices", hash: "h", answer: { type: "choices", answers: [] } },
      { run: "a", question: "permission", hash: "h", answer: no },
    ]);
    await many.close();
  });

  it("a client takes over a run that an earlier process started, with its open questions", async () => {
    const { many, state } = await opened();
    state.records.set("a", record("a", "running", { attempts: 1 }));
    const over = many.run(newRun("a"));
    await settled();
    expect(state.started).toEqual(["a"]);
    expect(state.answers).toMatchObject([
      { run: "a", question: "q1", answer: { type: "choices" } },
      { run: "a", question: "q3", answer: no },
    ]);
    expect(many.unfinished).toEqual(["a"]);
    state.records.set("a", record("a", "cancelled", { attempts: 1 }));
    vi.advanceTimersByTime(3000);
    expect(await over).toMatchObject({ state: "cancelled" });
    await many.close();
  });

  it("a client does not wait for a run's end that came while it was taking the run over", async () => {
    const { many, state } = await opened();
    state.records.set("a", record("a", "running", { attempts: 2 }));
    const over = many.run(newRun("a"));
    state.records.set("a", record("a", "finished"));
    expect(await over).toMatchObject({ state: "finished" });
    await many.close();
  });

  it("a client looks up run ends that the log did not report every three seconds, fifty at a time", async () => {
    const { many, state } = await opened();
    const ids = Array.from({ length: 60 }, (_, index) => `r${index}`);
    for (const id of ids) state.records.set(id, record(id));
    const ends = ids.map((id) => many.run(newRun(id)));
    await settled();
    vi.advanceTimersByTime(2999);
    await settled();
    expect(state.looked).toEqual([]);
    vi.advanceTimersByTime(1);
    await settled();
    expect(state.looked).toEqual(ids.slice(0, 50));
    state.records.set("r55", record("r55", "finished"));
    vi.advanceTimersByTime(3000);
    expect(await ends[55]).toMatchObject({ state: "finished" });
    await settled();
    expect(state.looked.slice(50)).toEqual([...ids.slice(50), ...ids.slice(0, 40)]);
    expect(many.unfinished).toHaveLength(59);
    await many.close();
    vi.advanceTimersByTime(3000);
    await settled();
    expect(state.looked).toHaveLength(100);
  });

  it("a run that cannot be queued fails alone; when the log is lost, all present and later runs fail", async () => {
    const { many, state, tell } = await opened();
    await expect(many.run(newRun("x"))).rejects.toThrow("x cannot be queued");
    expect(many.unfinished).toEqual([]);
    state.records.set("a", record("a"));
    const waiting = many.run(newRun("a"));
    const lost = new UserError("FLEET_UNREACHABLE", "gone");
    await settled();
    tell(lost);
    await expect(waiting).rejects.toBe(lost);
    await expect(many.run(newRun("a"))).rejects.toBe(lost);
    expect(many.unfinished).toEqual([]);
    await many.close();
  });
});
