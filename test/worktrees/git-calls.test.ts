// How git is called: with which settings, instead of which programs of the repository, and what is said when it fails.
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type GitCall, git, splitEntries, tryGit } from "../../src/worktrees/git.ts";

let folder: string;
let env: NodeJS.ProcessEnv;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "courser-git-")));
  env = { PATH: `${folder}${delimiter}${process.env["PATH"]}` };
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A git that writes down how it was called, and lists these settings as `scope key`. */
function fakeGit(settings: string[] = [], then = "exit 0"): void {
  writeFileSync(join(folder, "settings"), settings.map((each) => each.replace(" ", "\0") + "\0").join(""));
  const script = `#!/bin/sh
if [ "$1 $2" = "config --list" ]; then printf '%s\\n' "$*" > '${folder}/listed'; cat '${folder}/settings'; exit 0; fi
printf '%s\\n' "$@" > '${folder}/arguments'
env > '${folder}/environment'
cat > '${folder}/input'
${then}
`;
  writeFileSync(join(folder, "git"), script, { mode: 0o755 });
}
const read = (name: string) => readFileSync(join(folder, name), "utf8");
const seen = () =>
  Object.fromEntries(
    read("environment")
      .trim()
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
const call = (more: Partial<GitCall> = {}): GitCall => ({ cwd: folder, env, ...more });

it("git started by Courser runs no hooks, file watchers, maintenance or addresses that are commands", async () => {
  fakeGit();
  await git(["log", "--oneline"], call({ input: "given", variables: { GIT_DIR: "/own" } }));
  expect(read("arguments").trim().split("\n")).toEqual([
    ...["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "gc.auto=0"],
    ...["-c", "maintenance.auto=false", "-c", "submodule.recurse=false"],
    ...["-c", "protocol.ext.allow=never", "-c", "protocol.fd.allow=never", "log", "--oneline"],
  ]);
  expect(read("input")).toBe("given");
  expect(seen()).toMatchObject({ GIT_DIR: "/own", LC_ALL: "C", GIT_OPTIONAL_LOCKS: "0", GIT_TERMINAL_PROMPT: "0" });
  expect(seen()).not.toHaveProperty("GIT_CONFIG_COUNT");
  expect(seen()).not.toHaveProperty("GIT_NO_LAZY_FETCH");
});

it.each(["status", "diff", "diff-index", "diff-files"])(
  "git %s started by Courser ignores changed files in submodules",
  async (command) => {
    fakeGit();
    await git([command, "x"], call());
    expect(read("arguments").trim().split("\n").slice(-3)).toEqual([command, "--ignore-submodules=dirty", "x"]);
  },
);

it("git started by Courser gets GIT_AUTHOR_* and GIT_CONFIG_GLOBAL from the environment, but not GIT_DIR", async () => {
  fakeGit();
  const kept = {
    GIT_AUTHOR_NAME: "a",
    GIT_COMMITTER_EMAIL: "c",
    GIT_CONFIG_GLOBAL: "/g",
    GIT_CONFIG_SYSTEM: "/s",
    HOME: "/h",
  };
  const dropped = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_CONFIG_GLOBALX",
    "GIT_CONFIG_COUNT",
    "GIT_EDITOR",
  ];
  await git(["log"], call({ env: { ...env, ...kept, ...Object.fromEntries(dropped.map((name) => [name, "x"])) } }));
  expect(seen()).toMatchObject(kept);
  for (const name of dropped) expect(seen()).not.toHaveProperty(name);
});

it("Courser replaces programs in a repository's git configuration by harmless ones, and keeps the user's", async () => {
  const replaced = Object.entries({
    "filter.evil.clean": "",
    "filter.e.v.smudge": "",
    "filter.evil.process": "",
    "filter.evil.required": "false",
    "merge.evil.driver": "git merge-file --marker-size=%L %A %O %B",
    "diff.evil.textconv": "cat",
    "diff.external": "",
    "diff.evil.command": "",
    "credential.helper": "",
    "credential.https://x.helper": "",
    "core.gitproxy": "",
    "core.askpass": "",
    "core.sshcommand": "ssh",
    "core.alternaterefscommand": "true",
    "gpg.program": "false",
    "gpg.ssh.program": "false",
    "gpg.ssh.defaultkeycommand": "false",
  });
  for (const scope of ["local", "worktree"]) {
    fakeGit([
      "global user.name",
      `${scope} core.bare`,
      ...replaced.map(([key]) => `${scope} ${key}`),
      `${scope} diff.external`,
    ]);
    await git(["checkout"], call());
    const { GIT_CONFIG_COUNT: count, ...all } = seen();
    const pairs = Array.from({ length: Number(count) }, (_, at) => [
      all[`GIT_CONFIG_KEY_${at}`],
      all[`GIT_CONFIG_VALUE_${at}`],
    ]);
    expect(pairs).toEqual(replaced);
  }
  expect(read("listed")).toBe("config --list --includes --show-scope --name-only -z\n");
  fakeGit(replaced.flatMap(([key]) => [`global ${key}`, `system ${key}`, `local x${key}x`]));
  await git(["checkout"], call());
  expect(seen()).not.toHaveProperty("GIT_CONFIG_COUNT");
});

it.each([
  ["remote.o.uploadpack", "fetch"],
  ["remote.o.receivepack", "push"],
  ["remote.a.b.vcs", "pull"],
  ["remote.o.vcs", "ls-remote"],
])("Courser does not ask a repository that sets %s to %s", async (key, command) => {
  fakeGit([`local ${key}`]);
  const { problem, exitCode } = await tryGit([command], call());
  expect([problem, exitCode]).toEqual([`its own configuration names a program that is not run: ${key}.`, null]);
  await git(["checkout"], call());
  expect(seen()).toMatchObject({ GIT_NO_LAZY_FETCH: "1" });
  fakeGit([`global ${key}`]);
  expect((await tryGit([command], call())).problem).toBeUndefined();
});

it("for git commands that read no files, Courser skips the check of settings, and git fetches nothing", async () => {
  for (const command of "config rev-parse rev-list cat-file update-ref for-each-ref check-ref-format init".split(" ")) {
    fakeGit(["local filter.a.clean"]);
    await git([command], call());
    expect(existsSync(join(folder, "listed")), command).toBe(false);
    expect(seen()).toMatchObject({ GIT_NO_LAZY_FETCH: "1" });
    expect(seen()).not.toHaveProperty("GIT_CONFIG_COUNT");
  }
});

it("the error about a failed git command quotes the end of its stderr", async () => {
  fakeGit([], "echo out; echo one >&2; echo two >&2; echo three >&2; echo four >&2; exit 7");
  expect(await tryGit(["log"], call())).toEqual({ stdout: "out\n", exitCode: 7, problem: "two three four" });
  await expect(git(["log", "x"], call())).rejects.toMatchObject({
    code: "GIT_FAILED",
    message: `git log failed in ${folder}: two three four`,
  });
  fakeGit([], "exit 9");
  expect((await tryGit(["log"], call())).problem).toBe("exit code 9");
});

it("Courser reports a missing git, and an abort signal ends a git call", async () => {
  expect((await tryGit(["log"], call({ env: { PATH: folder } }))).problem).toBe(
    "git could not be started. Install git, then try again.",
  );
  fakeGit([], "exec sleep 60");
  const stop = new AbortController();
  const waiting = tryGit(["log"], call({ signal: stop.signal }));
  stop.abort(new Error("not wanted"));
  await expect(waiting).rejects.toThrow("not wanted");
});

it("git output with -z is split into entries that end with NUL", () =>
  expect(splitEntries("a\0b c\0\0")).toEqual(["a", "b c"]));
