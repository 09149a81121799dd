// What is said of a repository: the count of changed files and the last commits, and nothing that it names is run.
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { recentWork } from "../../src/worktrees/recent-work.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function repository(): { folder: string; git(...args: string[]): void } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "courser-work-")));
  folders.push(folder);
  const identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"];
  const git = (...args: string[]) => void execFileSync("git", [...identity, ...args], { cwd: folder, stdio: "ignore" });
  git("init", "-q");
  return { folder, git };
}

const look = (folder: string, limitMs = 10_000) => recentWork({ cwd: folder, env: process.env }, limitMs);

test("the git state in the prompt counts changed files and names the last three commits", async () => {
  const { folder, git } = repository();
  expect(await look(folder)).toEqual({ changedFiles: 0, commits: [] });
  for (const subject of ["one", "two", "three", "four"])
    git("commit", "-q", "--allow-empty", "-m", `${subject}\n\nbody`);
  writeFileSync(join(folder, "a b\n.txt"), "");
  writeFileSync(join(folder, "c.txt"), "");
  expect(await look(folder)).toEqual({ changedFiles: 2, commits: ["four", "three", "two"] });
});

test("reading git state runs no filters, watchers or signature programs", async () => {
  const { folder, git } = repository();
  const trace = join(folder, ".git", "trace");
  const program = join(folder, ".git", "program.sh");
  writeFileSync(program, `#!/bin/sh\necho "$0" >> '${trace}'\ncat\n`, { mode: 0o755 });
  writeFileSync(join(folder, ".gitattributes"), "*.txt filter=evil diff=evil\n");
  writeFileSync(join(folder, "a.txt"), "one\n");
  git("add", "-A");
  git("commit", "-q", "-m", "start");
  for (const key of ["filter.evil.clean", "filter.evil.process", "core.fsmonitor", "diff.evil.textconv", "gpg.program"])
    git("config", key, program);
  git("config", "filter.evil.required", "true");
  git("config", "log.showSignature", "true");
  writeFileSync(join(folder, "a.txt"), "two\n");
  expect(await look(folder)).toEqual({ changedFiles: 1, commits: ["start"] });
  expect(existsSync(trace)).toBe(false);
});

test("the git state in the prompt is empty if git takes too long or there is no repository", async () => {
  const { folder } = repository();
  expect(await look(folder, 0)).toBeUndefined();
  rmSync(join(folder, ".git"), { recursive: true });
  expect(await look(folder)).toBeUndefined();
});
