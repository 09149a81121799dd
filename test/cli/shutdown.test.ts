// What ends a run from outside: signals, the time limit, a starter that is gone. Each ends it once, and in bounded time.
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { handleShutdown } from "../../src/cli/shutdown.ts";

const watchdog = vi.hoisted(() => ({ started: [] as { deadline?: number; onStuck(): void }[], stopped: 0 }));
vi.mock("../../src/process/watchdog.ts", () => ({
  startWatchdog: (options: { onStuck(): void }) => {
    watchdog.started.push(options);
    return { stop: () => void watchdog.stopped++ };
  },
}));

let uptime = 0;
let exits: unknown[] = [];
const listeners = new Map<string, (error?: unknown) => void>();

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  uptime = 2;
  exits = [];
  Object.assign(watchdog, { started: [], stopped: 0 });
  listeners.clear();
  vi.spyOn(process, "uptime").mockImplementation(() => uptime);
  vi.spyOn(process, "exit").mockImplementation((code) => exits.push(code) as never);
  vi.spyOn(process, "on").mockImplementation((name, listener) => {
    listeners.set(String(name), listener as () => void);
    return process;
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function watched(options: Partial<Parameters<typeof handleShutdown>[1]> = {}) {
  const abort = new AbortController();
  const watch = handleShutdown(abort, { env: {}, ...options });
  const cuts: unknown[] = [];
  watch.cut = (error) => void cuts.push((error as { code?: string }).code ?? error);
  return { abort, watch, cuts };
}

it.each([
  ["SIGINT", "INTERRUPTED", "The run was interrupted (SIGINT)."],
  ["SIGTERM", "TERMINATED", "The run was terminated (SIGTERM)."],
  ["SIGHUP", "TERMINATED", "The run was terminated (SIGHUP)."],
  ["SIGQUIT", "TERMINATED", "The run was terminated (SIGQUIT)."],
])("the signal %s ends the run with the code %s, and cuts it off after the grace period", (signal, code, message) => {
  const { abort, cuts } = watched();
  listeners.get(signal)!();
  expect(abort.signal.reason).toMatchObject({ code, message });
  vi.advanceTimersByTime(5999);
  expect(cuts).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(cuts).toEqual([code]);
});

it("the first reason to stop a run counts: a second signal neither changes it nor postpones the end", () => {
  const { abort, cuts } = watched({ graceMs: 1000 });
  listeners.get("SIGTERM")!();
  vi.advanceTimersByTime(900);
  listeners.get("SIGINT")!();
  expect(abort.signal.reason).toMatchObject({ code: "TERMINATED" });
  vi.advanceTimersByTime(100);
  expect(cuts).toEqual(["TERMINATED"]);
  vi.advanceTimersByTime(10_000);
  expect(cuts).toHaveLength(1);
});

it.each([
  ["takes nothing", [5, 5], ["INTERRUPTED"]],
  ["takes more", [5, 6], []],
  ["has taken all", [undefined, undefined], []],
])("whether the end of a run waits for a reader that %s", (_what, taken, expected) => {
  const { watch, cuts } = watched();
  const counts = [...taken];
  watch.taken = () => counts.shift();
  listeners.get("SIGINT")!();
  vi.advanceTimersByTime(699);
  expect(cuts).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(cuts).toEqual(expected);
});

it("an uncaught error cuts the run off at once", () => {
  const { cuts } = watched();
  const bug = new TypeError("bug");
  listeners.get("uncaughtException")!(bug);
  expect(cuts).toEqual([bug]);
});

it("the time limit counts from the start of the process", () => {
  const { abort } = watched({ maxTimeMs: 10_000 });
  vi.advanceTimersByTime(7999);
  expect(abort.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(abort.signal.reason).toMatchObject({ code: "MAX_TIME" });
});

it.each([
  ["1", "PARENT_GONE"],
  ["true", undefined],
])("a run whose parent process is gone ends, if COURSER_EXIT_WITH_PARENT=%s", (value, code) => {
  const { abort } = watched({ env: { COURSER_EXIT_WITH_PARENT: value } });
  vi.advanceTimersByTime(1000);
  expect(abort.signal.aborted).toBe(false);
  vi.spyOn(process, "ppid", "get").mockReturnValue(1_234_567);
  vi.advanceTimersByTime(500);
  expect(abort.signal.reason?.code).toBe(code);
});

it("after the watch for signals is stopped, no signal, limit or lost parent ends the run", async () => {
  const { abort, watch, cuts } = watched({ maxTimeMs: 10_000, env: { COURSER_EXIT_WITH_PARENT: "1" } });
  await vi.dynamicImportSettled();
  expect(vi.getTimerCount()).toBe(2);
  watch.stop();
  expect(vi.getTimerCount()).toBe(0);
  vi.spyOn(process, "ppid", "get").mockReturnValue(1_234_567);
  listeners.get("SIGINT")!();
  vi.advanceTimersByTime(100_000);
  expect([abort.signal.aborted, cuts, watchdog.stopped]).toEqual([false, [], 1]);
});

it("a short run has no watchdog, a longer one without a limit has one without a deadline", async () => {
  watched();
  await vi.advanceTimersByTimeAsync(399);
  await vi.dynamicImportSettled();
  expect(watchdog.started).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  await vi.dynamicImportSettled();
  expect(watchdog.started).toMatchObject([{ deadline: undefined }]);
});

it("a run that ends before its watchdog is loaded gets no watchdog", async () => {
  const { watch } = watched({ maxTimeMs: 10_000 });
  watch.stop();
  await vi.dynamicImportSettled();
  expect(watchdog.started).toEqual([]);
});

it.each([
  [{ maxTimeMs: 10_000 }, 1_008_000],
  [{ watchedMs: 5000 }, 1_003_000],
  [{ maxTimeMs: 10_000, watchedMs: 5000 }, 1_003_000],
])("the watchdog of a run with %j has the same deadline, and is there from the start", async (limits, deadline) => {
  watched(limits);
  await vi.dynamicImportSettled();
  expect(watchdog.started.map((each) => each.deadline)).toEqual([deadline]);
});

it.each([
  ["was interrupted before", { maxTimeMs: 10_000 }, true, 30, "INTERRUPTED"],
  ["has spent its time", { maxTimeMs: 10_000 }, false, 10.1, "MAX_TIME"],
  ["has time left", { maxTimeMs: 10_000 }, false, 10, "INTERNAL"],
  ["was stopped by something else", { maxTimeMs: 10_000 }, "a text", 30, "MAX_TIME"],
  ["has no limit", { watchedMs: 5000 }, false, 30, "INTERNAL"],
])("a stuck program that %s is ended with the reason", async (_what, limits, isInterrupted, seconds, code) => {
  const { watch, abort } = watched(limits);
  await vi.dynamicImportSettled();
  const ends: string[] = [];
  watch.cutNow = (error) => ends.push(error.code) + 40;
  if (isInterrupted === "a text") abort.abort("a text");
  else if (isInterrupted) listeners.get("SIGINT")!();
  uptime = seconds;
  watchdog.started[0]!.onStuck();
  expect([ends[0], exits[0]]).toEqual([code, 41]);
});

it.each([
  ["INTERRUPTED", 130],
  ["TERMINATED", 143],
])("a run that is cut off exits with the exit code of %s", async (code, exit) => {
  const { UserError } = await import("../../src/protocol/error-codes.ts");
  const watch = handleShutdown(new AbortController(), { env: {} });
  expect(watch.taken()).toBeUndefined();
  watch.cut(new UserError(code as "INTERRUPTED", "why"));
  watch.cut(new Error("bug"));
  expect(exits).toEqual([exit, 1]);
  expect(watch.cutNow(new UserError(code as "INTERRUPTED", "why"))).toBe(exit);
});
