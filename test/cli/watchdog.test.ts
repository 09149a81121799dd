// A main thread that no longer answers: the run ends all the same, with a result and an exit code.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = createWorkspace({ "a.txt": "a\n" });
});
afterEach(() => workspace.remove());

/** Node loads this before the program: half a second later the main thread is stuck, as a defect of ours would have it. */
const stuck = (how: string) => `
const { isMainThread } = require("node:worker_threads");
if (isMainThread && /courser/.test(process.argv[1])) setTimeout(() => { ${how} }, 500);
`;

function play(how: string, args: readonly string[]) {
  const file = workspace.file("../stuck.cjs", stuck(how));
  const script = [{ calls: [{ name: "Shell", args: { command: "sleep 77.5" } }] }];
  const options = { env: { NODE_OPTIONS: `--require "${file}"` }, timeoutMs: 60_000 };
  return workspace.play(script, ["--trust", "--max-time", "1s", ...args], options);
}

describe("a main thread that is stuck", () => {
  test.each([
    ["in a loop", "for (;;);"],
    ["in a pattern", "/^(a|a)*b$/.test('a'.repeat(60));"],
    ["between promises", "const next = () => Promise.resolve().then(next); next();"],
  ])("%s is interrupted: one result, an exit code, nothing left behind", async (_name, how) => {
    const run = await play(how, []);
    expect({ exit: run.exit, signal: run.signal }).toEqual({ exit: 1, signal: null });
    const results = run.lines().filter((line) => line["type"] === "result");
    expect(results).toMatchObject([{ is_error: true, error_code: "MAX_TIME" }]);
    expect(run.stderr).toBe("Error: The run reached its limit of 1s. Raise it with --max-time. [MAX_TIME]\n");
    expect(execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })).not.toMatch(/^sleep 77\.5$/m);
  });

  test("a main thread stuck in a system call is killed", async () => {
    execFileSync("mkfifo", [join(workspace.path, "fifo")]);
    const run = await play(`require("node:fs").readFileSync("fifo")`, []);
    expect(run.signal).toBe("SIGKILL");
    expect(run.stderr).toMatch(/it was killed\. \[INTERNAL\]\n$/);
  });
});

test("patterns of an untrusted .cursorignore hold nothing up", async () => {
  workspace.file(".cursorignore", `${"*a".repeat(50)}b\n${"**/*a*".repeat(20)}b\n`);
  workspace.file("a".repeat(250), "found\n");
  const calls = [
    { name: "Glob", args: { globPattern: "*" } },
    { name: "Read", args: { path: "a".repeat(250) } },
    { name: "LS", args: { path: "." } },
  ];
  const run = await workspace.play([{ calls }, { text: "done" }], ["--trust"], { timeoutMs: 30_000 });
  expect(run.exit).toBe(0);
  expect(run.stdout).toContain("found");
});
