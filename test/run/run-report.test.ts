// What a run says it did and did not do, and which of that turns a success into a failure.
import { describe, expect, it, vi } from "vitest";
import type { AgentEvent, MissingServer } from "../../src/protocol/event.ts";
import type { RunRequest, TurnEnding } from "../../src/protocol/run.ts";
import { Waiting } from "../../src/protocol/waiting.ts";
import { RunReport } from "../../src/run/run-report.ts";
import { limitTime, timeSpent } from "../../src/run/time-limit.ts";

type Task = { taskId: string; command: string; status: string; exitCode: number | null };
const task = (taskId: string, status: string, exitCode: number | null = null): Task => ({
  taskId,
  command: `run ${taskId}`,
  status,
  exitCode,
});

function opened({
  tasks = [],
  settled = () => {},
  missing = [],
  waited = [0],
  request = {},
  spending = {},
}: {
  tasks?: Task[];
  settled?: () => void;
  missing?: object[];
  waited?: number[];
  request?: Partial<RunRequest>;
  spending?: object;
}) {
  const settles: unknown[] = [];
  const waits: string[] = [];
  const waiting = new Waiting();
  waiting.watch(({ kind, name }) => waits.push(`${kind} ${name}`));
  const background = {
    get isRunning() {
      return tasks.some(({ status }) => status === "running");
    },
    list: () => tasks,
    async settle(ms: number, signal: AbortSignal) {
      settles.push(ms, signal.aborted);
      settled();
    },
    endAll: async () => {
      const running = tasks.filter(({ status }) => status === "running");
      for (const each of running) each.status = "killed";
      return running;
    },
  };
  const report = new RunReport({
    request: { workspace: "/w", ...request },
    background: background as never,
    spending: { replies: 3, cost: 0.123_456_78, ...spending } as never,
    asking: { waitedMs: () => waited.shift() ?? 0 },
    missing: () => missing as MissingServer[],
    waitMs: 5000,
    waiting,
  });
  return { report, settles, waits };
}

const done = { type: "done", text: "the answer", durationMs: 1 } as unknown as TurnEnding;
const failed = { type: "fail", message: "why", code: "AUTH", durationMs: 1 } as unknown as TurnEnding;
const worked = { type: "tool_end", outcome: { kind: "success" } } as AgentEvent;

describe("the end of a turn", () => {
  it("the result of a run has only fields for which there is something to report", async () => {
    expect(await opened({}).report.ending(done)).toEqual(done);
    expect(await opened({ request: { limits: {} } as never }).report.ending(failed)).toEqual(failed);
  });

  it("the result of a run reports the waiting time for people, missing servers and each background command", async () => {
    const missing = [{ name: "docs", status: "failed" }];
    const tasks = [
      task("a", "exited", 0),
      task("b", "exited", 3),
      task("c", "exited"),
      task("d", "killed"),
      task("e", "running"),
    ];
    const { report } = opened({ tasks, missing, waited: [400, 1000] });
    report.begin([]);
    expect(await report.ending(done)).toEqual({
      ...done,
      waitedMs: 600,
      missingServers: missing,
      background: [
        { id: "a", command: "run a", status: "exited", exit_code: 0 },
        { id: "b", command: "run b", status: "exited", exit_code: 3 },
        { id: "c", command: "run c", status: "exited" },
        { id: "d", command: "run d", status: "stopped" },
        { id: "e", command: "run e", status: "running" },
      ],
    });
  });

  it.each([
    [{ maxTurns: 5 }, { turns: 3, max_turns: 5 }],
    [{ maxCost: 2 }, { turns: 3, cost_usd: 0.123_457, max_cost_usd: 2 }],
    [
      { maxTurns: 0, maxCost: 0 },
      { turns: 3, max_turns: 0, cost_usd: 0.123_457, max_cost_usd: 0 },
    ],
    [{ maxTimeMs: 5 }, undefined],
  ])("with the limits %j the result of a run reports the budget %j", async (limits, budget) => {
    const { report } = opened({ request: { limits } as never });
    expect((await report.ending(done)).budget).toEqual(budget);
  });

  it("a run of one prompt fails when background work had to be cut off, and says how to avoid it", async () => {
    const tasks = [task("a", "running"), task("b", "exited", 0)];
    const end = await opened({ tasks, request: { single: true } }).report.ending(done);
    expect(end).toMatchObject({
      type: "fail",
      code: "BACKGROUND_CUT_OFF",
      answer: "the answer",
      background: [
        { id: "a", status: "cut_off" },
        { id: "b", status: "exited" },
      ],
    });
    expect((end as { message: string }).message).toContain("which was ended with it: a, cut off (run a). Let it await");
    expect(end).not.toHaveProperty("text");
    const other = await opened({ tasks: [task("a", "running")], request: { single: true } }).report.ending(failed);
    expect(other).toMatchObject({ code: "AUTH", background: [{ status: "cut_off" }] });
  });

  type Given = Parameters<typeof opened>[0] & { denials?: object[]; events?: object[] };
  const note = { type: "notice", kind: "replay", message: `it\ndiffers ${"x".repeat(400)}` };
  it.each<[reason: string, given: Given, fault: string | undefined]>([
    ["denied", {}, undefined],
    [
      "denied",
      {
        denials: [
          { tool: "shell", reason: "a\nrule" },
          { tool: "edit", reason: "y".repeat(200) },
        ],
      },
      `2 refused: shell (a rule), edit (${"y".repeat(120)}…)`,
    ],
    ["background", { tasks: [task("a", "exited", 0), task("b", "killed"), task("c", "exited")] }, undefined],
    [
      "background",
      { tasks: [task("a", "exited", 0), task("b", "exited", 2)] },
      "background work did not end well: b, exit code 2 (run b)",
    ],
    [
      "background",
      { tasks: [task("a", "running")], request: { single: true } },
      "background work did not end well: a, cut off (run a)",
    ],
    ["empty", {}, "nothing was done: no call of a tool succeeded"],
    [
      "empty",
      { events: [{ type: "tool_end", outcome: { kind: "failure" } }, { type: "tool_end" }] },
      "nothing was done: no call of a tool succeeded",
    ],
    ["empty", { events: [worked] }, undefined],
    ["mcp", {}, undefined],
    ["mcp", { missing: [{ name: "docs" }, { name: "web" }] }, "MCP servers are missing: docs, web"],
    ["replay", { events: [{ ...note, kind: "warning" }] }, undefined],
    ["replay", { events: [note, { ...note, message: "later" }] }, `the replay differs: it differs ${"x".repeat(289)}…`],
  ])(
    "the flag --fail-on %s fails a run with %j, or not",
    async (reason, { denials, events = [], request, ...given }, fault) => {
      const { report } = opened({ ...given, request: { ...request, failOn: [reason as never] } });
      for (const event of events) report.see(event as AgentEvent);
      const end = await report.ending({ ...done, ...(denials && { denials }) } as TurnEnding);
      if (fault === undefined) return expect(end).toMatchObject({ type: "done", text: "the answer" });
      const message = `The run ended, but a --fail-on condition was met: ${fault}.`;
      expect(end).toMatchObject({ type: "fail", code: "NOT_DONE", message, answer: "the answer" });
    },
  );

  it("--fail-on names all conditions that are met, also beside cut-off background work", async () => {
    const tasks = [task("a", "running")];
    const { report } = opened({
      tasks,
      missing: [{ name: "docs" }],
      request: { single: true, failOn: ["empty", "mcp"] },
    });
    expect(await report.ending(done)).toMatchObject({
      code: "NOT_DONE",
      message: expect.stringContaining("no call of a tool succeeded; MCP servers are missing: docs."),
    });
  });
});

describe("servers that a run needs", () => {
  it.each([
    [["docs"], [], undefined],
    [[], [], "the server is missing: it is not configured."],
    [
      ["docs"],
      [{ name: "docs", status: "failed", problem: "no answer?" }],
      "the server is missing: failed, no answer.",
    ],
    [["docs"], [{ name: "docs", status: "disabled" }], "the server is missing: disabled."],
    [["docs"], [{ name: "other", status: "disabled" }], undefined],
  ])(
    "with the MCP servers %j connected and %j missing, a turn starts or fails depending on which ones it requires",
    (known, missing, why) => {
      const { report } = opened({ missing, request: { requiredServers: ["docs"] } });
      if (why === undefined) report.begin(known);
      else expect(() => report.begin(known)).toThrow(`--require-mcp docs: ${why}`);
    },
  );
});

describe("background work when the prompt is answered", () => {
  const never = new AbortController().signal;

  it("a run without background work waits for nothing when the prompt is answered", async () => {
    const { report, settles } = opened({ tasks: [task("a", "exited", 0)] });
    expect(await report.unfinished(never)).toBeUndefined();
    expect(settles).toEqual([]);
  });

  it("a run reminds the model once of background commands that still run after the wait", async () => {
    const tasks = [task("a", "running"), task("b", "exited", 0), task("c", "running")];
    const { report, settles, waits } = opened({ tasks });
    expect(await report.unfinished(never)).toMatch(
      /^a \(run a\), c \(run c\) still run\. Await them, or stop them with kill: true/,
    );
    expect([settles, waits]).toEqual([[5000, false], ["tool in the background"]]);
    expect(await report.unfinished(never)).toBeUndefined();
    expect(settles).toHaveLength(4);
  });

  it("the reminder of one background command is one short line", async () => {
    const long = { ...task("a", "running"), command: `echo\n${"x".repeat(100)}` };
    expect(await opened({ tasks: [long] }).report.unfinished(never)).toContain(
      `a (echo ${"x".repeat(55)}…) still runs. Await it, or stop it`,
    );
  });

  it("a run does not remind the model of background work that ends during the wait, or when stopped", async () => {
    const tasks = [task("a", "running")];
    expect(
      await opened({ tasks, settled: () => (tasks[0]!.status = "exited") }).report.unfinished(never),
    ).toBeUndefined();
    const { report } = opened({ tasks: [task("a", "running")] });
    expect(await report.unfinished(AbortSignal.abort())).toBeUndefined();
    expect(await report.unfinished(never)).toContain("still runs");
  });
});

describe("the time limit of a run", () => {
  it.each([
    [999, "999ms"],
    [1000, "1s"],
    [1500, "1.5s"],
    [59_000, "59s"],
    [60_000, "1m"],
    [90_000, "90s"],
    [7_200_000, "120m"],
  ])("a time limit of %d ms is shown as %s", (ms, text) => {
    expect(timeSpent(ms)).toMatchObject({
      code: "MAX_TIME",
      message: `The run reached its limit of ${text}. Raise it with --max-time.`,
    });
  });

  it("a time limit counts the time already spent, and may exceed the range of Node's timers", () => {
    vi.useFakeTimers();
    const spent: string[] = [];
    limitTime(1000, ({ code }) => spent.push(code), { spentMs: 300 });
    const long = limitTime(1e12, () => spent.push("long"));
    vi.advanceTimersByTime(699);
    expect(spent).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(spent).toEqual(["MAX_TIME"]);
    vi.advanceTimersByTime(2 ** 31 - 1 - 701);
    expect(spent).toEqual(["MAX_TIME"]);
    clearTimeout(long);
    vi.useRealTimers();
  });
});
