// What a person is told while something takes time: heartbeats, retries, the bar of a batch, a fleet that cannot be reached.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { barLine, createProgress, firstLine } from "../../src/cli/commands/batch/progress.ts";
import type { BatchResult } from "../../src/cli/commands/batch/results.ts";
import { watchFleet } from "../../src/cli/fleet-watch.ts";
import { createHeartbeat, type HeartbeatLine } from "../../src/cli/heartbeat.ts";
import { createRetryLines } from "../../src/cli/retry-lines.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";
import type { Fleet } from "../../src/serve/fleet.ts";

const said = vi.hoisted(() => ({ lines: [] as string[] }));
vi.mock("../../src/cli/stdout.ts", () => ({
  writeStderr: (text: string) => void said.lines.push(text),
  writeProgress: (text: string) => void said.lines.push(text),
  withoutSecrets: (text: string) => text.replaceAll("hunter2", "***"),
}));

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  said.lines = [];
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});
const taken = () => said.lines.splice(0);

describe("heartbeats", () => {
  function started(everyMs?: number, maxSilenceMs?: number) {
    const beats: [HeartbeatLine, string][] = [];
    const stops: { code: string; message: string }[] = [];
    const { waiting, start } = createHeartbeat({ everyMs, maxSilenceMs });
    const heart = start({ beat: (line, text) => beats.push([line, text]), stop: (error) => stops.push(error) });
    return { waiting, heart, beats, stops };
  }

  it("a heartbeat line is written whenever nothing happened for an interval, and names what the run waits for", () => {
    const { waiting, heart, beats } = started(1000);
    vi.advanceTimersByTime(400);
    const end = waiting.begin("tool", "shell");
    vi.advanceTimersByTime(590);
    expect(beats).toEqual([]);
    waiting.begin("person", "permission");
    vi.advanceTimersByTime(10);
    expect(beats.splice(0)).toEqual([
      [
        {
          type: "system",
          subtype: "heartbeat",
          silent_ms: 1000,
          waiting_for: [
            { kind: "person", name: "permission", since_ms: 1_000_990, for_ms: 10 },
            { kind: "tool", name: "shell", since_ms: 1_000_400, for_ms: 600 },
          ],
        },
        "Waiting for: person permission, 0.0 s; tool shell, 0.6 s",
      ],
    ]);
    end();
    vi.advanceTimersByTime(999);
    expect(beats).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(beats.splice(0)[0]![0]).toMatchObject({ silent_ms: 2000 });
    vi.advanceTimersByTime(500);
    heart.moved();
    vi.advanceTimersByTime(999);
    expect(beats).toEqual([]);
    vi.advanceTimersByTime(101);
    expect(beats.splice(0)[0]![0]).toMatchObject({ silent_ms: 1000 });
    heart.end();
    vi.advanceTimersByTime(60_000);
    expect(beats).toEqual([]);
  });

  it("a heartbeat names the agent if the run waits for nothing else", () => {
    const { beats } = started(12_000);
    vi.advanceTimersByTime(12_000);
    expect(beats[0]![0].waiting_for).toEqual([{ kind: "agent", name: "", since_ms: 1_012_000, for_ms: 0 }]);
    expect(beats[0]![1]).toBe("Waiting for: agent, 0.0 s");
  });

  it.each([
    [9_900, "9.9 s"],
    [10_000, "10 s"],
    [90_400, "90 s"],
  ])("a run in which nothing happens for %d ms is stopped once, with the reason", (limit, text) => {
    const { waiting, beats, stops } = started(undefined, limit);
    waiting.begin("hook", "guard");
    waiting.begin("model", "M");
    vi.advanceTimersByTime(limit - 1);
    expect(stops).toEqual([]);
    vi.advanceTimersByTime(1000);
    expect(stops).toHaveLength(1);
    expect(stops[0]!.code).toBe("MAX_SILENCE");
    expect(stops[0]!.message).toMatch(
      /^Nothing moved for .*: the run waited for the model M \(.*\), the hook guard \(.*\)\. Raise/,
    );
    expect(stops[0]!.message.match(/[\d.]+ s/g)).toEqual([1, 2, 3].map(() => stops[0]!.message.match(/[\d.]+ s/)![0]));
    if (limit < 90_000) expect(stops[0]!.message).toContain(`for ${text}: the run`);
    vi.advanceTimersByTime(10 * limit);
    expect([stops.length, beats.length]).toEqual([1, 0]);
  });

  it("progress postpones the silence limit, and the message names nothing if nothing is known", () => {
    const { waiting, heart, stops } = started(undefined, 5000);
    vi.advanceTimersByTime(4500);
    heart.moved();
    waiting.begin("hook", "guard")();
    waiting.begin("model", "M")();
    vi.advanceTimersByTime(4900);
    expect(stops).toEqual([]);
    vi.advanceTimersByTime(600);
    expect(stops[0]!.message).toContain("Nothing moved for 5.0 s: the run waited for nothing that is known.");
  });
});

describe("retries of a model call", () => {
  const retry = (more: object = {}) => ({ type: "retry", attempt: 1, ...more }) as AgentEvent;
  function opened() {
    const lines: string[] = [];
    const { event } = createRetryLines((line) => lines.push(line));
    return { lines, event };
  }

  it.each([
    [{ delayMs: 1000, reason: "status 429" }, "Retrying in 1 s (attempt 2): status 429"],
    [{ delayMs: 1001, attempt: 3, reason: "two\n  lines hunter2" }, "Retrying in 2 s (attempt 4): two lines ***"],
    [{ delayMs: 5000 }, "Retrying in 5 s (attempt 2): the answer was cut off"],
  ])("a run reports a long pause before a retry at once: %j", (more, line) => {
    const { lines, event } = opened();
    event(retry(more));
    expect(lines).toEqual([line]);
    vi.advanceTimersByTime(60_000);
    expect(lines).toHaveLength(1);
  });

  it("a short pause before a retry is reported after a second, unless something arrives", () => {
    const { lines, event } = opened();
    event(retry({ delayMs: 999 }));
    vi.advanceTimersByTime(999);
    expect(lines).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(lines.splice(0)).toEqual(["Retrying (attempt 2): the answer was cut off"]);
    event({ type: "text", text: "x" } as AgentEvent);
    event(retry());
    event({ type: "text", text: "x" } as AgentEvent);
    vi.advanceTimersByTime(60_000);
    expect(lines).toEqual([]);
  });

  it("short pauses before retries add up, whatever notices come between, until an answer arrives", () => {
    const { lines, event } = opened();
    const notice = { type: "notice", kind: "warning", message: "w" } as AgentEvent;
    for (const [index, ms] of [400, 400, 200].entries()) {
      event(retry({ attempt: index + 1 }));
      event(notice);
      vi.advanceTimersByTime(ms);
    }
    expect(lines).toEqual([]);
    event(retry({ attempt: 4 }));
    expect(lines.splice(0)).toEqual(["Retrying (attempt 5): the answer was cut off"]);
    event({ type: "text", text: "x" } as AgentEvent);
    event(retry({ attempt: 1 }));
    expect(lines).toEqual([]);
  });
});

describe("the progress of a batch", () => {
  const counts = (more: object = {}) => ({
    ...{ total: 8, passed: 0, failed: 0, running: 0, costUsd: 0, startedAt: 1_000_000, earlier: 0 },
    ...more,
  });
  const bar = (filled: number) => "█".repeat(filled) + "░".repeat(24 - filled);
  const result = (more: object = {}) =>
    ({ id: "one", outcome: "success", durationMs: 12_000, text: "", ...more }) as BatchResult;

  it.each([
    [counts(), 0, `${bar(0)} 0/8 · 0 ms`],
    [counts({ running: 2 }), 5000, `${bar(0)} 0/8 · 2 running · 5.0 s`],
    [
      counts({ passed: 1, failed: 1, running: 1, costUsd: 0.5 }),
      10_000,
      `${bar(6)} 2/8 · 1 failed · 1 running · $0.50 · 10 s · about 30 s left`,
    ],
    [counts({ passed: 4, earlier: 2 }), 10_000, `${bar(12)} 4/8 · 10 s · about 20 s left`],
    [counts({ passed: 4, earlier: 4 }), 10_000, `${bar(12)} 4/8 · 10 s`],
    [counts({ passed: 7, failed: 1 }), 10_000, `${bar(24)} 8/8 · 1 failed · 10 s`],
  ])("the progress bar of %j after %d ms", (given, spent, line) => {
    vi.advanceTimersByTime(spent);
    expect(barLine(given)).toBe(line);
  });

  it("without a terminal, progress prints a line for each end, and a failure says why in its first line", () => {
    const progress = createProgress(counts({ passed: 1, failed: 2 }), { isTerminal: false });
    progress.update();
    progress.say("Stopping.");
    progress.ended(result());
    progress.ended(result({ costUsd: 0.25 }));
    progress.ended(result({ outcome: "error", text: " it broke\nbadly", code: "AUTH" }));
    progress.ended(result({ outcome: "cancelled", text: "" }));
    progress.close();
    expect(taken()).toEqual([
      "Stopping.\n",
      "✓ 3/8 one 12 s\n",
      "✓ 3/8 one 12 s $0.25\n",
      "✗ 3/8 one 12 s error: it broke [AUTH]\n",
      "✗ 3/8 one 12 s cancelled: \n",
    ]);
    expect(firstLine("x".repeat(200))).toHaveLength(160);
  });

  it("on a terminal the progress bar is redrawn, and only failures stay above it", () => {
    const given = counts();
    const progress = createProgress(given, { isTerminal: true });
    progress.update();
    expect(taken()).toEqual([`\r${barLine(given)}\u001b[K`]);
    vi.advanceTimersByTime(400);
    expect(taken()).toHaveLength(2);
    given.passed = 1;
    progress.ended(result());
    expect(taken()).toEqual([expect.stringContaining("1/8")]);
    progress.ended(result({ outcome: "error", text: "no" }));
    expect(taken()).toEqual(["\r\u001b[K", "✗ 1/8 one 12 s error: no\n", expect.stringContaining("1/8")]);
    progress.say("Stopping.");
    expect(taken()).toEqual(["\r\u001b[K", "Stopping.\n", expect.stringContaining("1/8")]);
    progress.close();
    expect(taken()).toEqual(["\r\u001b[K"]);
    vi.advanceTimersByTime(1000);
    expect(taken()).toEqual([]);
  });
});

describe("a fleet that is waited for", () => {
  function watched(timeoutMs = 60_000, env = {}) {
    let reach = (_isReached: boolean) => {};
    const fleet = { onReach: (listener: typeof reach) => void (reach = listener) } as unknown as Fleet;
    const watch = watchFleet(fleet, { where: "nats://h", timeoutMs, env });
    return { watch, reach: (isReached: boolean) => reach(isReached) };
  }
  const lost = "The fleet at nats://h cannot be reached. Trying for another 1m 00s; Ctrl+C stops.\n";

  it("a command that follows a run does not report a short outage of the connection", () => {
    const { watch, reach } = watched();
    reach(true);
    reach(false);
    vi.advanceTimersByTime(1999);
    reach(true);
    vi.advanceTimersByTime(100_000);
    expect([taken(), watch.signal.aborted]).toEqual([[], false]);
  });

  it("a command that follows a run reports a longer outage of the connection and its end once each", () => {
    const { watch, reach } = watched();
    reach(false);
    vi.advanceTimersByTime(2000);
    expect(taken()).toEqual([lost]);
    vi.advanceTimersByTime(57_000);
    reach(true);
    reach(true);
    expect(taken()).toEqual(["The fleet is reached again.\n"]);
    vi.advanceTimersByTime(100_000);
    expect([taken(), watch.signal.aborted]).toEqual([[], false]);
  });

  it("a command ends when an outage lasts too long, counted from its last beginning", () => {
    const { watch, reach } = watched();
    reach(false);
    vi.advanceTimersByTime(50_000);
    reach(false);
    vi.advanceTimersByTime(59_999);
    expect(watch.signal.aborted).toBe(false);
    vi.advanceTimersByTime(1);
    expect(watch.signal.reason).toMatchObject({
      code: "FLEET_UNREACHABLE",
      message: expect.stringContaining("could not be reached for 1m 00s. Runs that have begun may have gone on."),
    });
    taken();
    reach(false);
    vi.advanceTimersByTime(100_000);
    expect(taken()).toEqual([]);
  });

  it("with a short limit, a command that follows a run reports an outage after half of it", () => {
    const { reach } = watched(1000);
    reach(false);
    vi.advanceTimersByTime(499);
    expect(taken()).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(taken()).toEqual([expect.stringContaining("Trying for another 1.0 s")]);
  });

  it("a command cut off by an outage has a moment to end by itself", async () => {
    const { watch, reach } = watched();
    expect(await watch.bound(Promise.resolve(7))).toBe(7);
    await expect(watch.bound(Promise.reject(new Error("own")))).rejects.toThrow("own");
    let state = "open";
    const never = watch.bound(new Promise(() => {})).catch((error) => (state = error.code));
    const saves = watch.bound(new Promise((resolve) => setTimeout(resolve, 61_400, "saved")));
    reach(false);
    await vi.advanceTimersByTimeAsync(61_499);
    expect([state, await saves]).toEqual(["open", "saved"]);
    await vi.advanceTimersByTimeAsync(1);
    await never;
    expect(state).toBe("FLEET_UNREACHABLE");
  });

  it("after the watch for outages is stopped, nothing is reported or ended", () => {
    const { watch, reach } = watched(60_000, { COURSER_EXIT_WITH_PARENT: "1" });
    reach(false);
    watch.stop();
    vi.spyOn(process, "ppid", "get").mockReturnValue(1_234_567);
    vi.advanceTimersByTime(100_000);
    expect([taken(), watch.signal.aborted]).toEqual([[], false]);
  });

  it.each([
    ["1", "PARENT_GONE"],
    ["0", undefined],
  ])("a command whose parent process is gone ends, if COURSER_EXIT_WITH_PARENT=%s", (value, code) => {
    const { watch } = watched(60_000, { COURSER_EXIT_WITH_PARENT: value });
    vi.advanceTimersByTime(1000);
    expect(watch.signal.aborted).toBe(false);
    vi.spyOn(process, "ppid", "get").mockReturnValue(1_234_567);
    vi.advanceTimersByTime(500);
    expect(watch.signal.reason?.code).toBe(code);
    watch.stop();
  });
});
