// Worktrees step by step, over real repositories: names, records, what is said, setup commands, merges, and checkouts of a cache.

import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { changesBetween, diffText, refuseNested, treeOf } from "../../src/worktrees/changes.ts";
import { openWorktree } from "../../src/worktrees/create.ts";
import { mergeAsBranch, planMerge } from "../../src/worktrees/merge.ts";
import { findWorktree, listWorktrees, saveRecord, takeName, worktreeAt } from "../../src/worktrees/records.ts";
import { checkOutRepository } from "../../src/worktrees/repository-cache.ts";
import { commandsIn, runSetup } from "../../src/worktrees/setup-commands.ts";

let folder: string;
let source: string;
let configDir: string;
const env = {
  ...process.env,
  ...{ GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a@b", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a@b" },
  ...{ GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
};
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "courser-worktree-")));
  [source, configDir] = [join(folder, "work"), join(folder, "config")];
  mkdirSync(source);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const gitIn = (cwd: string, ...args: string[]) =>
  execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
const write = (path: string, text = "") => {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
};
function commit(files: Record<string, string>, message = "m", cwd = source): string {
  if (!existsSync(join(cwd, ".git"))) gitIn(cwd, "init", "-q", "-b", "main");
  for (const [name, text] of Object.entries(files)) write(join(cwd, name), text);
  gitIn(cwd, "add", "-A");
  gitIn(cwd, "commit", "-q", "--allow-empty", "-m", message);
  return gitIn(cwd, "rev-parse", "HEAD");
}
const open = (name: string, more: object = {}) =>
  openWorktree({ configDir, env, workspace: source, name, setup: false, ...more });
const failureOf = (promise: Promise<unknown>): Promise<{ code: string; message: string }> =>
  promise.then(
    () => ({ code: "none", message: "it did not fail" }),
    (error) => error,
  );

describe("the name of a worktree", () => {
  it("a worktree's name has only letters, digits, dots and dashes, and is not one that git or our records use", async () => {
    commit({ a: "1" });
    for (const name of ["", "-a", ".a", "a b", "a/b", "a..b", "a.lock", "a.json", "a.", "ä", "x".repeat(65)]) {
      const { code, message } = await failureOf(open(name));
      expect([name, code]).toEqual([name, "USAGE"]);
      expect(message).toContain(`'${name}' cannot be the name of a worktree`);
    }
    for (const name of ["x".repeat(64), "9.b_c-D.locks"])
      expect((await open(name)).worktree.path).toBe(join(configDir, "worktrees/work", name));
  });

  it("opening a worktree's name again gives the same worktree, and refuses another base commit", async () => {
    const first = commit({ "sub/a": "1", ".gitignore": "out\n" });
    commit({ "sub/a": "2" });
    mkdirSync(join(source, "out"));
    const made = await open("x", { base: first, workspace: join(source, "out") });
    expect(made).toMatchObject({ workspace: join(made.worktree.path, "out"), notices: [] });
    expect(existsSync(made.workspace)).toBe(true);
    expect(readFileSync(join(made.worktree.path, "sub/a"), "utf8")).toBe("1");
    expect(gitIn(made.worktree.path, "symbolic-ref", "HEAD")).toBe("refs/heads/courser/x");
    const again = await open("x", { workspace: join(source, "sub") });
    expect([again.worktree, again.workspace, again.notices]).toEqual([
      made.worktree,
      join(made.worktree.path, "sub"),
      [],
    ]);
    const based = await failureOf(open("x", { base: first }));
    expect(based.message).toContain("The worktree x already exists, so --worktree-base has no meaning.");
    rmSync(made.worktree.path, { recursive: true });
    expect((await failureOf(open("x"))).message).toContain(
      `has lost its directory ${made.worktree.path}. Remove it with`,
    );
  });
});

it("--worktree needs a repository with a commit, and says so; a failed one leaves nothing behind", async () => {
  const nowhere = await failureOf(open("x"));
  expect(nowhere.message).toMatch(/^--worktree needs a git repository, and .*work is not in one \(fatal: not a git/);
  gitIn(source, "init", "-q");
  expect((await failureOf(open("x"))).message).toBe(
    `${source} has no commit yet, so there is nothing to base a worktree on. Commit first.`,
  );
  const setup = { ".cursor/worktrees.json": '{"setup-worktree":["exit 3"]}' };
  commit(setup);
  expect((await failureOf(open("x", { base: "none" }))).message).toBe(
    `--worktree-base 'none' is not a commit of ${source}. See: git log --oneline --all`,
  );
  expect((await failureOf(open("x", { setup: true }))).code).toBe("WORKTREE_SETUP");
  expect(readdirSync(join(configDir, "worktrees/work"))).toEqual([]);
});

it("a worktree has the source's settings and hooks, and a notice says what it lacks", async () => {
  commit({ a: "1", b: "1" });
  gitIn(source, "config", "user.name", "Ada");
  gitIn(source, "config", "core.worktree", source);
  write(join(source, ".git/hooks/own"), "x");
  write(join(source, "a"), "2");
  expect((await open("one")).notices).toEqual([`1 uncommitted change of ${source} is not in the worktree.`]);
  gitIn(source, "stash", "-q");
  write(join(source, "a"), "2");
  write(join(source, "c"), "2");
  const { worktree, notices } = await open("two");
  expect(notices).toEqual([`2 uncommitted changes of ${source} are not in the worktree.`]);
  expect(gitIn(worktree.path, "config", "user.name")).toBe("Ada");
  expect(gitIn(worktree.path, "rev-parse", "--show-toplevel")).toBe(worktree.path);
  expect(gitIn(worktree.path, "stash", "list")).toBe("");
  expect(existsSync(join(worktree.path, ".git/hooks/own"))).toBe(true);
});

describe("records of worktrees", () => {
  const record = (name: string, createdAt: string, from = source) => ({
    ...{ name, source: from, objects: "/o", base: "b", createdAt },
  });

  it("worktrees are listed newest first, without files that are no records, and a name is taken once", () => {
    const dates = { a: "2026-01-02", b: "2026-01-03", c: "2026-01-01" };
    const taken = Object.entries(dates).map(([name, at]) => takeName(configDir, record(name, at)));
    expect(taken[0]!.path).toBe(join(configDir, "worktrees/work/a"));
    write(join(configDir, "worktrees/work/odd.json"), '{"name":"odd","source":"s","objects":7,"base":"b"}');
    write(join(configDir, "worktrees/work/note.txt"), "{}");
    expect(listWorktrees(configDir).map(({ name }) => name)).toEqual(["b", "a", "c"]);
    expect(() => takeName(configDir, record("a", "2026"))).toThrow(
      `The worktree a already exists at ${taken[0]!.path}.`,
    );
    expect(readdirSync(join(configDir, "worktrees/work")).filter((name) => name.includes("tmp"))).toEqual([]);
    expect(listWorktrees(join(folder, "none"))).toEqual([]);
  });

  it("a worktree is found by its source repository and name, or by a path inside it", () => {
    const { path } = takeName(configDir, record("a", ""));
    mkdirSync(configDir, { recursive: true });
    expect(findWorktree(configDir, source, "a")).toMatchObject({ name: "a", path });
    expect(findWorktree(configDir, "/other/work", "a")).toBeUndefined();
    expect(findWorktree(configDir, source, "b")).toBeUndefined();
    for (const place of [path, join(path, "deep/er")]) expect(worktreeAt(configDir, place)?.name).toBe("a");
    for (const place of [join(path, ".."), join(configDir, "worktrees"), configDir, "/", join(path, "../b")])
      expect(worktreeAt(configDir, place)).toBeUndefined();
  });

  it("a worktree's record keeps what was merged, and when", () => {
    const worktree = takeName(configDir, record("a", "2026"));
    saveRecord({ ...worktree, merged: { tree: "t", at: "now" } });
    expect(findWorktree(configDir, source, "a")).toEqual({ ...worktree, merged: { tree: "t", at: "now" } });
    write(`${worktree.path}.json`, JSON.stringify({ ...record("a", ""), createdAt: 7, merged: { tree: "t" } }));
    expect(findWorktree(configDir, source, "a")).toEqual({ ...worktree, createdAt: "" });
  });
});

describe("setup commands", () => {
  it.each([
    [{}, []],
    [
      { "setup-worktree": ["a", "b"] },
      [
        ["bash", "-c", "a"],
        ["bash", "-c", "b"],
      ],
    ],
    [{ "setup-worktree": ["a"], "setup-worktree-unix": ["c"], "setup-worktree-windows": ["w"] }, [["bash", "-c", "c"]]],
    [{ "setup-worktree": "do.sh" }, [["bash", "do.sh"]]],
    [{ "setup-worktree": 7 }, undefined],
    [{ "setup-worktree-unix": ["a", 7] }, undefined],
  ])("the setup commands of a worktree are read from %j", (settings, commands) => {
    const file = join(folder, ".cursor/worktrees.json");
    write(file, JSON.stringify(settings));
    if (!commands)
      return expect(() => commandsIn(file)).toThrow(/"setup-worktree(-unix)?" must be a list of commands, or the path/);
    const whole = commands.map((command) =>
      command.map((each) => (each === "do.sh" ? join(folder, ".cursor/do.sh") : each)),
    );
    expect(commandsIn(file)).toEqual(whole);
  });

  it("a worktree's setup commands run one after the other in it, until one fails", async () => {
    const worktree = { name: "w", path: join(folder, "w"), source, objects: "", base: "", createdAt: "" };
    mkdirSync(worktree.path);
    const setup = (...commands: string[]) =>
      write(join(source, ".cursor/worktrees.json"), JSON.stringify({ "setup-worktree": commands }));
    await runSetup(worktree, { env });
    setup('echo "$ROOT_WORKTREE_PATH" > root', "cp root again");
    await runSetup(worktree, { env });
    expect(readFileSync(join(worktree.path, "again"), "utf8")).toBe(`${source}\n`);
    setup("seq 12; echo bad >&2; exit 4", "touch never");
    const { message } = await failureOf(runSetup(worktree, { env }));
    const [first, ...rest] = message.split("\n");
    expect(first).toMatch(
      /the worktree was removed: 'seq 12; echo bad >&2; exit 4' of .*worktrees\.json exited with code 4\.$/,
    );
    expect(rest).toEqual([..."5 6 7 8 9 10 11 12".split(" "), "", "bad", "Without the setup: --skip-worktree-setup"]);
    expect(existsSync(join(worktree.path, "never"))).toBe(false);
    setup("exit 5");
    expect((await failureOf(runSetup(worktree, { env }))).message.split("\n")).toHaveLength(2);
    write(join(worktree.path, ".cursor/worktrees.json"), '{"setup-worktree":["touch own"]}');
    await runSetup(worktree, { env });
    expect(existsSync(join(worktree.path, "own"))).toBe(true);
    setup("true");
    await expect(runSetup(worktree, { env, signal: AbortSignal.abort(new Error("stop")) })).rejects.toThrow("stop");
  });
});

describe("the work in a worktree", () => {
  const call = () => ({ cwd: source, env });

  it("the changes of a worktree are available by kind, as a patch and in numbers", async () => {
    const base = commit({ a: "1\n", b: "1\n", "d/c": "1\n" });
    const { worktree } = await open("x");
    write(join(worktree.path, "a"), "2\n");
    write(join(worktree.path, "e"), "new\n");
    rmSync(join(worktree.path, "b"));
    symlinkSync("a", join(worktree.path, "link"));
    const inside = { cwd: worktree.path, env };
    const tree = await treeOf(worktree, call());
    const changes = await changesBetween(base, tree, inside);
    expect(changes.map(({ path, status, oldMode, newMode }) => [path, status, oldMode, newMode])).toEqual([
      ["a", "changed", "100644", "100644"],
      ["b", "deleted", "100644", "000000"],
      ["e", "added", "000000", "100644"],
      ["link", "added", "000000", "120000"],
    ]);
    expect(await diffText({ from: base, to: tree, form: "stat" }, inside)).toMatch(/ a +\| 2 \+-\n.*4 files changed/s);
    expect(await diffText({ from: base, to: tree, form: "patch" }, inside)).toContain("-1\n+2\n");
    const module = { path: "m", status: "changed" as const, newMode: "160000" };
    expect(() => refuseNested([{ ...module, oldMode: "160000" }], worktree)).not.toThrow();
    expect(() => refuseNested([{ ...module, oldMode: "000000" }], worktree)).toThrow(
      `m in ${worktree.path} is a separate`,
    );
    const { write: apply, from, to } = await planMerge(worktree, call());
    expect([from, to]).toEqual([base, tree]);
    await apply();
    expect(
      gitIn(source, "status", "--short")
        .split("\n")
        .map((line) => line.trim()),
    ).toEqual(["M a", "D b", "?? e", "?? link"]);
    expect(findWorktree(configDir, source, "x")?.merged?.tree).toBe(tree);
    expect(readdirSync(source).filter((name) => name.includes("courser-tmp"))).toEqual([]);
  });

  it("a refused worktree merge names twenty of the files in the way, and counts the rest", async () => {
    commit({ a: "1" });
    const { worktree } = await open("x");
    const names = Array.from({ length: 23 }, (_, at) => `f${String(at).padStart(2, "0")}`);
    for (const name of names) write(join(worktree.path, name), "theirs");
    for (const name of names) write(join(source, name), "mine");
    const lines = (await failureOf(planMerge(worktree, call()))).message.split("\n");
    expect(lines[0]).toBe(`Nothing was merged: uncommitted work in ${source} is in the way.`);
    expect(lines.slice(1, 21)).toEqual(names.slice(0, 20).map((name) => `  ${name}`));
    expect(lines[21]).toMatch(/^ {2}(… and|and|…) ?3 more/);
    expect(lines.slice(22).join(" ")).toMatch(/worktrees merge x Or take .* worktrees merge x --branch <name>$/);
  });

  it("a worktree merge notices files that came into the way after planning, before it writes anything", async () => {
    commit({ a: "1", "d/b": "1", c: "1" });
    const { worktree } = await open("x");
    for (const name of ["a", "d/b", "new/er"]) write(join(worktree.path, name), "theirs");
    const { write: apply } = await planMerge(worktree, call());
    write(join(source, "new"), "mine");
    expect((await failureOf(apply())).message).toContain("\n  new/er\n");
    rmSync(join(source, "new"));
    rmSync(join(source, "d"), { recursive: true });
    expect((await failureOf(apply())).message).toContain("\n  d/b\n");
    expect(readFileSync(join(source, "a"), "utf8")).toBe("1");
  });

  it("merging a worktree as a branch keeps its commits, with one more only for uncommitted work", async () => {
    commit({ a: "1" });
    const { worktree } = await open("x");
    const own = commit({ b: "2" }, "own", worktree.path);
    await mergeAsBranch(worktree, "done", call());
    expect(gitIn(source, "rev-parse", "done")).toBe(own);
    write(join(worktree.path, "c"), "3");
    await mergeAsBranch(worktree, "more", call());
    expect(gitIn(source, "log", "--format=%s", "more").split("\n")).toEqual(["Work in progress of x", "own", "m"]);
    expect((await failureOf(mergeAsBranch(worktree, "more", call()))).message).toContain(
      "The branch more already exists in",
    );
    expect((await failureOf(mergeAsBranch(worktree, "a..b", call()))).message).toBe(
      "'a..b' is not a name for a branch.",
    );
    expect(gitIn(worktree.path, "for-each-ref", "refs/courser")).toBe("");
    expect(findWorktree(configDir, source, "x")?.merged).toBeDefined();
  });
});

describe("checkouts of kept repositories", () => {
  const cache = () => join(folder, "cache/repositories");
  let count = 0;
  const checkOut = (from: string, more: { ref?: string; commit?: string } = {}) => {
    const { commit: wanted, ...ref } = more;
    const path = join(folder, `out-${count++}`);
    const place = { path, branch: "courser/r", cache: cache(), ...(wanted !== undefined && { commit: wanted }) };
    return checkOutRepository({ from, ...ref }, place, { env }).then((found) => ({ ...found, path }));
  };

  it("a worker checks out a branch, a tag, a commit or another ref, and fetches later work", async () => {
    const first = commit({ a: "1" });
    gitIn(source, "tag", "-a", "v1", "-m", "t");
    gitIn(source, "tag", "light");
    gitIn(source, "branch", "v1", "HEAD");
    const second = commit({ a: "2" });
    const third = commit({ a: "3" });
    gitIn(source, "update-ref", "refs/pull/1/head", third);
    gitIn(source, "reset", "-q", "--hard", second);
    for (const [ref, expected] of [
      [undefined, second],
      ["main", second],
      ["v1", first],
      ["refs/tags/v1", first],
      ["light", first],
      [first, first],
      [third, third],
      ["refs/pull/1/head", third],
    ] as const) {
      const { commit: found, path, home, objects } = await checkOut(source, ref === undefined ? {} : { ref });
      expect([ref, found, gitIn(path, "rev-parse", "HEAD"), home]).toEqual([ref, expected, expected, source]);
      expect(gitIn(path, "symbolic-ref", "HEAD")).toBe("refs/heads/courser/r");
      expect(gitIn(path, "remote", "get-url", "origin")).toBe(source);
      expect(existsSync(objects)).toBe(true);
    }
    const fourth = commit({ a: "4" });
    expect((await checkOut(source, { ref: "main" })).commit).toBe(fourth);
    expect((await checkOut(source, { ref: "main", commit: second })).commit).toBe(second);
    expect((await checkOut(pathToFileURL(source).href)).commit).toBe(fourth);
    expect((await failureOf(checkOut(source, { ref: "none" }))).message).toBe(
      `${source} does not have a branch, tag or commit 'none'. Name one that it has, as ref.`,
    );
    expect(readdirSync(cache()).filter((name) => name.endsWith(".git"))).toHaveLength(1);
    const bundle = join(folder, "all.bundle");
    gitIn(source, "bundle", "create", "-q", bundle, "--all");
    expect(await checkOut(bundle, { ref: "main" })).not.toHaveProperty("home");
  }, 120_000);

  it("without a default branch a worker takes main or master, or says that there is none", async () => {
    const only = commit({ a: "1" });
    gitIn(source, "symbolic-ref", "HEAD", "refs/heads/none");
    expect((await checkOut(source)).commit).toBe(only);
    gitIn(source, "branch", "-m", "main", "other");
    gitIn(source, "symbolic-ref", "HEAD", "refs/heads/other");
    const later = commit({ a: "2" });
    expect((await checkOut(source)).commit).toBe(later);
    const second = join(folder, "second");
    gitIn(folder, "clone", "-q", "--bare", source, second);
    gitIn(second, "symbolic-ref", "HEAD", "refs/heads/none");
    expect((await failureOf(checkOut(second))).message).toBe(
      `${second} does not have a default branch. Name one that it has, as ref.`,
    );
  });

  it.each([
    ["/none/there", "There is no repository at /none/there on this worker."],
    ["relative", "'relative' is not a repository that a worker takes."],
    ["x".repeat(90), `'${"x".repeat(80)}' is not a repository`],
    ["http://host/r", "is not a repository that a worker takes."],
    ["ext::sh -c x", "is not a repository that a worker takes."],
    ["ssh://ho st/r", "is not a repository that a worker takes."],
    ["me@host::r", "is not a repository that a worker takes."],
    ["me@host:-r", "is not a repository that a worker takes."],
    ["https://me@host/r", "The source 'host' holds a user or a password."],
    ["https://:pw@host/r", "The source 'host' holds a user or a password."],
  ])("a worker refuses the repository address %s", async (from, words) => {
    const { message } = await failureOf(checkOut(from));
    expect(message).toContain(words);
    expect(existsSync(cache())).toBe(false);
  });

  it.each(["-x", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "", "x".repeat(256)])(
    "a worker refuses the git ref '%s'",
    async (ref) => {
      const { message } = await failureOf(checkOut(source, { ref }));
      expect(message).toBe(`'${ref.slice(0, 80)}' is not a name of a branch, tag or commit.`);
    },
  );
});
