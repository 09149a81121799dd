import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { bundle } from "../agent/process-bundle.ts";
import { aliveWith, uniqueSleep, until } from "../agent/process-support.ts";

async function startProgram(kinds: string[], seconds: string, word: string) {
  const program = await bundle("test/process/guard-program.ts");
  const child = spawn(process.execPath, [program, kinds.join(","), seconds], { stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.on("data", (chunk) => {
    said += chunk;
  });
  const gone = new Promise((resolve) => child.on("exit", resolve));
  await until(() => said.includes(word));
  const others = () => aliveWith(seconds).filter((pid) => pid !== child.pid);
  return { child, gone, others };
}

const kinds = [
  "a command",
  "one that ignores signals",
  "its own session",
  "a double fork",
  "an empty environment",
  "a plain program",
  "a stopped one",
];

test.each(["SIGKILL", "SIGQUIT"] as const)("child processes end with a process that dies of %s", async (signal) => {
  const { child, gone, others } = await startProgram(kinds, uniqueSleep(), "started");
  await until(() => others().length >= 11);
  expect(others().length).toBeGreaterThanOrEqual(11);
  child.kill(signal);
  await gone;
  expect(await until(() => others().length === 0, 2000)).toBe(true);
});

test("child processes end even if their parent dies while starting them", async () => {
  const all = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const { child, gone, others } = await startProgram(kinds, uniqueSleep(), "started");
      child.kill("SIGKILL");
      await gone;
      return until(() => others().length === 0, 3000);
    }),
  );
  expect(all).toEqual([true, true, true, true]);
});

test("processes that a hook left behind on purpose survive the program's end", async () => {
  const { child, gone, others } = await startProgram(["what a hook left on purpose"], uniqueSleep(), "ended");
  expect(await until(() => others().length === 1)).toBe(true);
  child.kill("SIGKILL");
  await gone;
  await new Promise((resolve) => setTimeout(resolve, 600));
  const left = others();
  for (const pid of left) process.kill(pid, "SIGKILL");
  expect(left.length).toBe(1);
});
