// Whatever a CLI does, a turn ends: with exactly one done or error, and with none of its processes left.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { aliveWith, isAlive, uniqueSleep } from "../agent/process-support.ts";
import { adapterOf, hello, model, note, scratchFolder, tell } from "./support.ts";

const folder = scratchFolder();
const seen = join(folder, "seen");
const fast = { stopMs: { cancel: 200, term: 400, result: 300 } };

/** One turn of a scenario, with what it left behind. */
async function play(scenario: string | readonly string[], more: object = {}, env: Record<string, string> = {}) {
  const nap = uniqueSleep();
  const adapter = adapterOf(
    { a: model(scenario, { ...fast, authProfiles: ["p"], ...more }) },
    { profiles: { p: { env: { NAP: nap, SEEN: seen, ...env } } } },
  );
  const told = await tell(adapter, { tools: [note] });
  const ends = told.types.filter((type) => type === "done" || type === "error");
  expect(ends, "exactly one end, at the end").toEqual([told.last.type]);
  expect(aliveWith(nap)).toEqual([]);
  return { ...told, attempt: told.turn.attempts[0]! };
}

describe("a CLI that answers in unusual ways", () => {
  test.each([
    ["answer", {}],
    ["stream", {}],
    ["sentinel", {}],
    ["exit-only", { finish: "exit" }],
    ["bom-crlf", {}],
    ["two-on-a-line", {}],
    ["split-utf8", { text: "café 日" }],
    ["unknown-frames", { ignored: 1 }],
    ["two-results", { ignored: 2, warns: true }],
    ["exit-after-result", { exitCode: 3, warns: true }],
    ["hang-after-result", { exitCode: null, stages: ["cancel", "SIGTERM"], warns: true }],
    ["hold-stdout", {}],
  ])(
    "a turn through the adapter succeeds with the unusual stand-in CLI %s",
    async (scenario, expected: Record<string, unknown>) => {
      const { text, last, attempt } = await play(scenario);
      expect(text).toBe(expected["text"] ?? "Hello world");
      expect(last).toEqual({ type: "done", data: { finishReason: expected["finish"] ?? "stop" } });
      expect(attempt).toMatchObject({
        outcome: "ok",
        ignored: expected["ignored"] ?? 0,
        exitCode: expected["exitCode"] === undefined ? 0 : expected["exitCode"],
        stages: expected["stages"] ?? [],
      });
      expect(attempt.warnings.length > 0).toBe(expected["warns"] === true || expected["finish"] === "exit");
      expect(attempt.error).toBeUndefined();
    },
  );

  test("the adapter sends done without waiting for a CLI that keeps running", async () => {
    const nap = uniqueSleep();
    const adapter = adapterOf(
      { a: model("hang-after-result", { stopMs: { result: 3000 }, authProfiles: ["p"] }) },
      { profiles: { p: { env: { NAP: nap } } } },
    );
    const started = performance.now();
    for await (const event of adapter.sendTurn(await adapter.createSession(), { messages: hello }))
      if (event.type === "done") break;
    expect(performance.now() - started).toBeLessThan(1500);
  });
});

describe("a CLI that fails", () => {
  test.each([
    ["auth", "MODEL_AUTH_ERROR", "auth"],
    ["limit", "MODEL_RATE_LIMIT", "limit"],
    ["is-error", "CLI_FAILED", "model"],
    ["auth-words", "MODEL_AUTH_ERROR", "auth"],
    ["crash", "CLI_EXIT", "transport"],
    ["silent-crash", "CLI_EXIT", "transport"],
    ["signal", "CLI_EXIT", "transport"],
    ["noise", "FRAME_MALFORMED", "transport"],
    ["malformed", "FRAME_MALFORMED", "transport"],
    ["shape", "FRAME_SCHEMA", "transport"],
    ["cut", "FRAME_TRUNCATED", "transport"],
    ["not-utf8", "FRAME_ENCODING", "transport"],
    ["unknown-version", "FRAME_VERSION", "transport"],
    ["unknown-tool", "TOOL_UNKNOWN", "model"],
    ["wrong-args", "TOOL_ARGUMENTS", "model"],
    ["nothing", "NO_OUTPUT", "transport"],
  ])("the failing stand-in CLI %s ends the turn with the code %s", async (scenario, code, kind) => {
    const { events, last, attempt } = await play(scenario);
    expect(last).toMatchObject({ type: "error", data: { code } });
    expect(attempt).toMatchObject({ outcome: "failed", kind, error: { code } });
    expect(events.filter(({ type }) => type === "tool_call")).toEqual([]);
  });

  test("the adapter drops a 100 MB output line at the size limit, in bounded memory", async () => {
    const before = process.memoryUsage.rss();
    const { last } = await play("long-line");
    expect(last).toMatchObject({ type: "error", data: { code: "FRAME_TOO_LARGE" } });
    expect((process.memoryUsage.rss() - before) / 2 ** 20).toBeLessThan(150);
  });

  test("the adapter's error quotes the CLI's stderr; after a silent failure it points to adapter doctor", async () => {
    expect((await play("crash")).last).toMatchObject({ data: { message: expect.stringContaining("boom") } });
    expect((await play("silent-crash")).last).toMatchObject({
      data: { message: expect.stringContaining("courser adapter doctor -- ") },
    });
  });

  test("the adapter reports a missing program and a missing working directory", async () => {
    const missing = await tell(adapterOf({ a: model("answer", { command: "no-such-cli" }) }));
    expect(missing.last).toMatchObject({ type: "error", data: { code: "CLI_NOT_FOUND" } });
    const adapter = adapterOf({ a: model("answer") }, { cwd: join(folder, "gone") });
    expect((await tell(adapter)).last).toMatchObject({ type: "error", data: { code: "CWD_MISSING" } });
  });

  test("the adapter names the flags that a CLI refuses, and how to fix them", async () => {
    const { last } = await play("refuse-flags", { promptAsArg: true });
    const { message } = last.data as { message: string };
    expect(message).toContain("does not take --approve-mcps");
    expect(message).toContain('"headlessFlags" of models["a"]');
  });
});

describe("the watchdog", () => {
  const stages = (scenario: string, more: object) => play(scenario, { ...fast, ...more });

  test("at the total timeout the adapter sends cancel, then SIGTERM, then SIGKILL to the whole process group", async () => {
    const hung = await stages("hang", { timeoutMs: 300 });
    expect(hung.attempt).toMatchObject({ kind: "timeout", stages: ["cancel", "SIGTERM"], signal: "SIGTERM" });
    expect(hung.last).toMatchObject({ data: { code: "CLI_TIMEOUT", message: expect.stringContaining("300 ms") } });
    const deaf = await stages("deaf", { timeoutMs: 300 });
    expect(deaf.attempt).toMatchObject({ stages: ["cancel", "SIGTERM", "SIGKILL"], signal: "SIGKILL" });
    await stages("breed", { timeoutMs: 300 });
  });

  test("the adapter sends no cancel message to a CLI whose stdin is closed, and reports none", async () => {
    const hung = await stages("hang", { timeoutMs: 300, promptAsArg: true });
    expect(hung.attempt).toMatchObject({ via: "argument", stages: ["SIGTERM"] });
  });

  test("each time limit for a CLI behind the adapter is configurable", async () => {
    const slow = await play("deaf", { timeoutMs: 200, stopMs: { cancel: 100, term: 900 } });
    const quick = await play("deaf", { timeoutMs: 200, stopMs: { cancel: 100, term: 100 } });
    expect(slow.attempt.durationMs - quick.attempt.durationMs).toBeGreaterThan(500);
  });

  test("each output line of a CLI postpones its inactivity timeout, but not the total timeout", async () => {
    const hung = await play("hang", { idleMs: 300 }, { MOMENT: "text" });
    expect(hung.last).toMatchObject({
      data: { code: "CLI_TIMEOUT", message: expect.stringContaining("said nothing") },
    });
    const dripping = await play("drip", { idleMs: 600, timeoutMs: 1200 });
    expect(dripping.last).toMatchObject({ data: { message: expect.stringContaining("within 1200 ms") } });
  });

  test("the adapter sends cancel with the turn's id to a CLI that reads stdin, which may end by itself", async () => {
    const { attempt, last } = await play("listen", { timeoutMs: 500, stopMs: { cancel: 3000 } });
    expect(attempt).toMatchObject({ stages: ["cancel"], exitCode: 0 });
    expect(JSON.parse(readFileSync(`${seen}.cancel`, "utf8"))).toMatchObject({ type: "cancel" });
    // It says INTERRUPTED, but was interrupted because its time was over.
    expect(last).toMatchObject({ type: "error", data: { code: "CLI_TIMEOUT" } });
    expect(attempt.kind).toBe("timeout");
  });
});

describe("readers of a turn", () => {
  const running = async (more: object = {}) => {
    const nap = uniqueSleep();
    const profiles = { p: { env: { NAP: nap, MOMENT: "text" } } };
    const adapter = adapterOf(
      { a: model("hang", { ...fast, authProfiles: ["p"], fallbackModels: ["b"] }), b: model("answer") },
      { profiles },
    );
    const session = await adapter.createSession();
    const turn = adapter.sendTurn(session, { messages: hello, ...more });
    return { adapter, session, turn, nap };
  };

  test("the adapter ends the CLI when the reader breaks out of the event loop", async () => {
    const { turn, nap } = await running();
    for await (const event of turn) if (event.type === "assistant_delta") break;
    expect(aliveWith(nap)).toEqual([]);
    expect(turn.attempts).toHaveLength(1);
  });

  test.each(["session", "turn", "signal", "close"])(
    "a reader can cancel a turn of the adapter by %s, and then no fallback runs",
    async (way) => {
      const abort = new AbortController();
      const { adapter, session, turn, nap } = await running({ signal: abort.signal });
      let last: unknown;
      for await (const event of turn) {
        last = event;
        if (event.type !== "assistant_delta") continue;
        if (way === "session") await adapter.cancel(session);
        if (way === "turn") await adapter.cancel(turn.turnId);
        if (way === "signal") abort.abort();
        if (way === "close") await adapter.close();
        if (way !== "signal") expect(isAlive(turn.attempts[0]!.pid)).toBe(false);
      }
      expect(last).toMatchObject({ type: "error", data: { code: "INTERRUPTED" } });
      expect(turn.attempts).toHaveLength(1);
      expect(aliveWith(nap)).toEqual([]);
    },
  );

  test("an adapter session starts the CLI at the first read, runs one turn at a time, and refuses turns once closed", async () => {
    const { adapter, session, turn } = await running();
    expect(turn.attempts).toEqual([]);
    await turn[Symbol.asyncIterator]().next();
    const second = adapter.sendTurn(session, { messages: hello })[Symbol.asyncIterator]();
    await expect(second.next()).rejects.toThrow("A turn is running in this session");
    await adapter.close(session);
    expect(() => adapter.sendTurn(session, { messages: hello })).toThrow("closed");
    await adapter.close();
    await expect(adapter.createSession()).rejects.toThrow("closed");
  });
});
