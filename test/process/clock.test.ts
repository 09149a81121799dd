import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { settlesWithin } from "../../src/process/clock.ts";

/** Nothing is read and no timer fires meanwhile. */
const block = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test("settlesWithin counts data that was already in a pipe as in time, even if this process was busy", async () => {
  const child = spawn("echo", ["said"], { stdio: ["ignore", "pipe", "ignore"] });
  const said = once(child.stdout, "data");
  const isHeard = settlesWithin(said, 50);
  block(500);
  expect(await isHeard).toBe(true);
});

test("settlesWithin stops waiting for an event at its time limit", async () => {
  const started = performance.now();
  expect(await settlesWithin(new Promise(() => {}), 50)).toBe(false);
  expect(performance.now() - started).toBeGreaterThan(40);
  expect(await settlesWithin(Promise.resolve(), 50)).toBe(true);
});
