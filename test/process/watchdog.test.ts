import { spawn } from "node:child_process";
import { expect, test } from "vitest";
import { bundle } from "../agent/process-bundle.ts";

test("the watchdog lets a stuck program that takes seconds to end keep its exit code", {
  timeout: 120_000,
}, async () => {
  const program = await bundle("test/process/watchdog-program.ts");
  const child = spawn(process.execPath, [program, "4000"], { stdio: "ignore" });
  expect(await new Promise((resolve) => child.on("exit", (...end) => resolve(end)))).toEqual([7, null]);
});
