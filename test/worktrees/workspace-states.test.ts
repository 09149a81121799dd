// States of a workspace: recorded byte for byte, told apart from the start, carried in bundles, and pushed as branches.
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  baseOfBundle,
  beginStates,
  bundleState,
  headCommit,
  pushBranch,
  recordState,
  repositoryMark,
  restoreState,
  writePatch,
} from "../../src/worktrees/workspace-states.ts";

let folder: string;
const env = {
  ...process.env,
  ...{ GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" },
  ...{ GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
};
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "courser-states-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
const write = (path: string, text: string) => {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
};
const read = (path: string) => readFileSync(join(folder, path), "utf8");
const at = (name: string) => join(folder, name);
const commitIn = (name: string, message: string) => {
  git(at(name), "add", "-A");
  git(at(name), "commit", "-q", "-m", message);
  return git(at(name), "rev-parse", "HEAD");
};

/** A repository, and two checkouts of it with their states. */
async function twoCheckouts() {
  write("home/a", "1\r\n");
  write("home/d/b", "1");
  git(at("home"), "init", "-q", "-b", "main");
  const commit = commitIn("home", "first");
  const objects = at("home/.git/objects");
  const begin = async (name: string) => {
    git(folder, "clone", "-q", "--shared", at("home"), at(name));
    return beginStates({ folder: at(`${name}-states`), workspace: at(name), checkedOut: { commit, objects }, env });
  };
  return { commit, one: await begin("one"), two: await begin("two") };
}

it("the recorded state of a folder without git is the same on every machine, and carries its files", async () => {
  const states = [];
  for (const name of ["one", "two"]) {
    write(`${name}/a`, "1\r\n");
    write(`${name}/.gitignore`, "out\n");
    write(`${name}/.gitattributes`, "* text=auto eol=lf\n");
    write(`${name}/out`, "ignored");
    states.push(await beginStates({ folder: at(`${name}-states`), workspace: at(name), env }));
  }
  const [one, two] = states as [(typeof states)[0], (typeof states)[0]];
  expect(one.start).toBe(two.start);
  expect(one).not.toHaveProperty("base");
  expect(existsSync(at("one/.git"))).toBe(false);
  write("one/a", "2\r\n");
  write("one/n", "new");
  const tree = await recordState(one);
  expect(await recordState(one)).toBe(tree);
  await bundleState(one, tree, at("bundle"));
  expect(await baseOfBundle(at("bundle"))).toBe(one.start);
  expect(await restoreState(two, at("bundle"))).toBe(tree);
  expect([read("two/a"), read("two/n"), read("two/out")]).toEqual(["2\r\n", "new", "ignored"]);
  expect(await headCommit(one)).toBe("");
});

it("the changes since a workspace's start give a patch that applies, or no patch", async () => {
  const { one, two, commit } = await twoCheckouts();
  expect([one.start, one.base]).toEqual([commit, commit]);
  expect(await writePatch(one, await recordState(one), at("none.diff"))).toBe(false);
  write("one/a", "2\r\n");
  write("one/bin", "\0\x01binary");
  chmodSync(at("one/d/b"), 0o755);
  symlinkSync("a", at("one/link"));
  expect(await writePatch(one, await recordState(one), at("some.diff"))).toBe(true);
  git(at("two"), "apply", at("some.diff"));
  expect(await recordState(two)).toBe(await recordState(one));
  rmSync(at("one/d"), { recursive: true });
  write("one/a", "1\r\n");
  git(at("one"), "mv", "-f", "a", "moved");
  await writePatch(one, await recordState(one), at("moved.diff"));
  expect(read("moved.diff")).toContain("rename to moved");
});

it("a checkout's own commits travel with its recorded state, and change its mark", async () => {
  const { one, two, commit } = await twoCheckouts();
  const before = await repositoryMark(one);
  expect(before).toContain(commit);
  write("one/a", "2");
  expect(await repositoryMark(one)).toBe(before);
  const own = commitIn("one", "own");
  expect(await headCommit(one)).toBe(own);
  const committed = await repositoryMark(one);
  expect(committed).not.toBe(before);
  git(at("one"), "tag", "t");
  const tagged = await repositoryMark(one);
  write("one/.git/MERGE_HEAD", commit);
  expect(new Set([before, committed, tagged, await repositoryMark(one)]).size).toBe(4);
  rmSync(at("one/.git/MERGE_HEAD"));
  write("one/a", "3");
  const tree = await recordState(one);
  await bundleState(one, tree, at("bundle"));
  expect(await baseOfBundle(at("bundle"))).toBe(commit);
  expect(await restoreState(two, at("bundle"))).toBe(tree);
  expect(git(at("two"), "log", "--format=%s")).toBe("own\nfirst");
  expect(git(at("two"), "status", "--short")).toBe("M a");
});

it("restoring a workspace refuses a state recorded from another source", async () => {
  const { one } = await twoCheckouts();
  write("other/x", "x");
  const other = await beginStates({ folder: at("other-states"), workspace: at("other"), env });
  write("other/x", "y");
  await bundleState(other, await recordState(other), at("bundle"));
  await expect(restoreState(one, at("bundle"))).rejects.toMatchObject({
    code: "GIT_FAILED",
    message: expect.stringMatching(
      /^The workspace cannot be brought to its last state, because its source is not what it was: /,
    ),
  });
  write("none", "no bundle");
  expect(await baseOfBundle(at("none"))).toBeUndefined();
});

it("a worker's commits become a branch, with one more commit only for uncommitted work", async () => {
  const { one, commit } = await twoCheckouts();
  const push = async (branch: string) =>
    pushBranch(one, { tree: await recordState(one), home: at("home"), branch, message: "rest" });
  write("one/a", "2");
  const own = commitIn("one", "own");
  await push("done");
  expect(git(at("home"), "rev-parse", "done")).toBe(own);
  write("one/n", "new");
  await push("more");
  expect(git(at("home"), "log", "--format=%s", "more")).toBe("rest\nown\nfirst");
  expect(git(at("home"), "show", "more:n")).toBe("new");
  expect(Date.parse(git(at("home"), "log", "-1", "--format=%cI", "more"))).toBeGreaterThan(Date.parse("2001-01-01"));
  // A .git that names another repository is not followed.
  rmSync(at("one/.git"), { recursive: true });
  write("one/.git", `gitdir: ${at("home/.git")}\n`);
  await push("last");
  expect(git(at("home"), "rev-parse", "last~1")).toBe(commit);
  expect(git(at("home"), "rev-parse", "HEAD")).toBe(commit);
});

it("a checkout whose files were converted at checkout gives a patch but no branch", async () => {
  write("home/.gitattributes", "a text eol=crlf\n");
  write("home/a", "1\n");
  git(at("home"), "init", "-q", "-b", "main");
  const commit = commitIn("home", "first");
  git(folder, "clone", "-q", "--shared", at("home"), at("one"));
  const checkedOut = { commit, objects: at("home/.git/objects") };
  const one = await beginStates({ folder: at("states"), workspace: at("one"), checkedOut, env });
  expect([one.base, one.start === commit]).toEqual([commit, false]);
  write("one/n", "new");
  const tree = await recordState(one);
  expect(await writePatch(one, tree, at("patch"))).toBe(true);
  expect(read("patch")).not.toContain("a/a");
  await expect(pushBranch(one, { tree, home: at("home"), branch: "b", message: "m" })).rejects.toThrow(
    "there is a patch, and no branch",
  );
});

it("recording a workspace fails with an explanation if its object store is lost", async () => {
  const { one } = await twoCheckouts();
  rmSync(at("one-states/objects"), { recursive: true });
  write("one/new", "x");
  await expect(recordState(one)).rejects.toThrow(/^The workspace cannot be recorded: /);
});
