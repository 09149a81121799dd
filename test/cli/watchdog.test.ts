// A main thread that no longer answers: the run ends all the same, with a result and an exit code.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
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
  const script = [{ calls: [{ name: "Shell", args: { command: "sleep 78.25" } }] }];
  const options = { env: { NODE_OPTIONS: `--require "${file}"` }, timeoutMs: 60_000 };
  return workspace.play(script, ["--trust", "--max-time", "1s", ...args], options);
}

describe("a blocked main thread", () => {
  test.each([
    ["in a loop", "for (;;);"],
    ["in a pattern", "/^(a|a)*b$/.test('a'.repeat(60));"],
    ["between promises", "const next = () => Promise.resolve().then(next); next();"],
  ])("%s is interrupted with one result, an exit code and nothing left behind", async (_name, how) => {
    const run = await play(how, []);
    expect({ exit: run.exit, signal: run.signal }).toEqual({ exit: 1, signal: null });
    const results = run.lines().filter((line) => line["type"] === "result");
    expect(results).toMatchObject([{ is_error: true, error_code: "MAX_TIME" }]);
    expect(run.stderr).toBe("Error: The run reached its limit of 1s. Raise it with --max-time. [MAX_TIME]\n");
    expect(execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })).not.toMatch(/^sleep 78\.25$/m);
  });

  test("a main thread stuck in a system call is killed", async () => {
    execFileSync("mkfifo", [join(workspace.path, "fifo")]);
    const run = await play(`require("node:fs").readFileSync("fifo")`, []);
    expect(run.signal).toBe("SIGKILL");
    expect(run.stderr).toMatch(/it was killed\. \[INTERNAL\]\n$/);
  });
});

test("patterns of an untrusted .cursorignore cannot block the program", async () => {
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

describe.skipIf(process.platform === "win32")("a pipe or a device in an untrusted folder", () => {
  const places = [
    ".cursorignore",
    "src/.gitignore",
    ".git/index",
    ".git/config",
    ".git/objects/info/alternates",
    "package.json",
  ];
  const ends: [how: string, program: string, args: string[]][] = [
    ["a pipe", "mkfifo", []],
    ["a device", "ln", ["-s", "/dev/zero"]],
  ];
  test.each(ends)("%s where a file is expected does not block the program", async (_how, program, args) => {
    for (const place of places) {
      const folder = createWorkspace({ "a.txt": "a\n" });
      try {
        execFileSync("git", ["init", "-q", "."], { cwd: folder.path });
        const path = join(folder.path, place);
        mkdirSync(dirname(path), { recursive: true });
        rmSync(path, { force: true });
        execFileSync(program, [...args, path]);
        const calls = [
          { name: "Write", args: { path: "b.txt", contents: "b\n" } },
          { name: "Glob", args: { globPattern: "**" } },
        ];
        const run = await folder.play([{ calls }, { text: "done" }], ["--trust", "--force"], { timeoutMs: 30_000 });
        expect({ place, exit: run.exit, signal: run.signal }).toEqual({ place, exit: 0, signal: null });
      } finally {
        folder.remove();
      }
    }
  });
});

test("more patterns of an untrusted .cursorignore than can be compared with all files hide the files", {
  timeout: 90_000,
}, async () => {
  const patterns = Array.from({ length: 25_000 }, (_, index) => `*a?${index}x`);
  workspace.file(".cursorignore", `${patterns.join("\n")}\n`);
  for (let index = 0; index < 2000; index++) workspace.file(`d/${"a".repeat(150)}${index}`, "found\n");
  const calls = [
    { name: "Glob", args: { globPattern: "**" } },
    { name: "Grep", args: { pattern: "found" } },
    { name: "Read", args: { path: "a.txt" } },
  ];
  const run = await workspace.play([{ calls }, { text: "done" }], ["--trust"], { timeoutMs: 60_000 });
  expect({ exit: run.exit, result: run.lines().at(-1)!["result"] }).toEqual({ exit: 0, result: "done" });
  // Those that were listed first have been compared, whichever these are.
  const shown = new Set(run.stdout.match(/a{150}\d+/g));
  expect(shown.size).toBeLessThan(1000);
});
