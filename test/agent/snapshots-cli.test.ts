// `sessions rewind` of the built CLI: real runs, then back.
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";
import { bash, differences, treeOf } from "./snapshots-support.ts";

const id = "7d1e6c0a-52f4-4b6e-9a37-0c8f2b6d4e11";

function start(files: Record<string, string>): Workspace {
  const workspace = createWorkspace(files);
  onTestFinished(() => workspace.remove());
  return workspace;
}

/** One turn with one command. */
async function turn(workspace: Workspace, command: string, resume = false): Promise<void> {
  const script = [{ calls: [{ name: "Shell", args: { command } }] }, { text: `Done: ${command}` }];
  const run = await workspace.play(script, [...(resume ? ["--resume", id] : ["--session-id", id]), "--", command]);
  expect(run.exit, run.stderr).toBe(0);
}

it("the rewind command restores conversation and files, and can be undone", async () => {
  const workspace = start({ "a.txt": "one\n", "sub/b.txt": "one\n" });
  const trees = [treeOf(workspace.path)];
  await turn(workspace, "echo two > a.txt; rm -r sub");
  trees.push(treeOf(workspace.path));
  await turn(workspace, "echo three > a.txt; mkdir made; chmod 600 a.txt", true);
  trees.push(treeOf(workspace.path));

  const dry = await workspace.run(["sessions", "rewind", id, "--to", "1", "--dry-run"]);
  expect(dry.stdout).toContain("Rewinding to before turn 1 “echo two > a.txt; rm -r sub”: 4 file changes and 2 turns");
  expect(differences(trees[2]!, treeOf(workspace.path))).toEqual([]);

  const last = await workspace.run(["sessions", "rewind", id, "--files-only"]);
  expect(last.exit, last.stderr).toBe(0);
  expect(differences(trees[1]!, treeOf(workspace.path))).toEqual([]);
  await workspace.run(["sessions", "rewind", id, "--undo"]);
  expect(differences(trees[2]!, treeOf(workspace.path))).toEqual([]);

  const first = await workspace.run(["sessions", "rewind", id.slice(0, 6), "--to", "1"]);
  expect(first.stdout).toContain("✓ Rewound the conversation to before turn 1");
  expect(differences(trees[0]!, treeOf(workspace.path))).toEqual([]);
  const shown = await workspace.run(["sessions", "show", id, "--format", "json"]);
  expect(JSON.parse(shown.stdout).turns).toEqual([]);
  const undone = await workspace.run(["sessions", "rewind", id, "--undo"]);
  expect(undone.exit, undone.stderr).toBe(0);
  expect(differences(trees[2]!, treeOf(workspace.path))).toEqual([]);
});

it("a chat continues after a rewind, which can still be undone", async () => {
  const workspace = start({ "a.txt": "one\n" });
  await turn(workspace, "echo two > a.txt");
  await turn(workspace, "echo three > a.txt", true);
  await workspace.run(["sessions", "rewind", id, "--conversation-only"]);
  expect(readFileSync(join(workspace.path, "a.txt"), "utf8")).toBe("three\n");
  await turn(workspace, "echo four > a.txt", true);
  await workspace.run(["sessions", "rewind", id]);
  expect(readFileSync(join(workspace.path, "a.txt"), "utf8")).toBe("three\n");
  await workspace.run(["sessions", "rewind", id]);
  expect(readFileSync(join(workspace.path, "a.txt"), "utf8")).toBe("one\n");
});

it("an impossible rewind says why and changes nothing", async () => {
  const workspace = start({ "a.txt": "one\n" });
  await turn(workspace, "echo two > a.txt");
  const elsewhere = join(workspace.home, "other");
  mkdirSync(elsewhere);
  const fails = async (args: string[], cwd = workspace.path) => {
    const run = await workspace.run(["sessions", "rewind", ...args], { cwd });
    expect(run.exit, run.stdout).toBe(2);
    return run.stderr;
  };
  expect(await fails([id], elsewhere)).toContain(`--workspace ${workspace.path}`);
  expect(await fails([id, "--to", "7"])).toContain("its turns are 1 to 1");
  expect(await fails([id, "--to", "x"])).toContain("is not a turn number");
  expect(await fails([id, "--undo"])).toContain("there is nothing to undo");
  expect(await fails([id, "--undo", "--files-only"])).toContain("are mutually exclusive");
  expect(readFileSync(join(workspace.path, "a.txt"), "utf8")).toBe("two\n");
});

it("rewind reports what could not be saved and what it leaves", async () => {
  const workspace = start({ ".gitignore": "" });
  bash("head -c 11000000 /dev/zero > big", workspace.path);
  const script = [{ calls: [{ name: "Shell", args: { command: "echo x > big; touch new" } }] }, { text: "Done." }];
  const run = await workspace.play(script, ["--session-id", id]);
  expect(run.notices()).toContain("Not saved, so a rewind will not change it: big (larger than 10 MiB)");
  const back = await workspace.run(["sessions", "rewind", id]);
  expect(back.stdout).toContain("left    big: it was not saved: larger than 10 MiB");
  expect(existsSync(join(workspace.path, "new"))).toBe(false);
});

it("deleting a chat also deletes its file snapshots", async () => {
  const workspace = start({ "a.txt": "one\n" });
  await turn(workspace, "echo two > a.txt");
  const objects = () => bash("find courser/snapshots/*/objects -type f | wc -l", workspace.config).output.trim();
  expect(Number(objects())).toBeGreaterThan(1);
  await workspace.run(["sessions", "delete", id, "--yes"]);
  expect(objects()).toBe("0");
  rmSync(join(workspace.path, "a.txt"));
});

it("a run without a stored chat takes no file snapshots", async () => {
  const workspace = start({ "a.txt": "one\n" });
  await workspace.play(
    [{ calls: [{ name: "Shell", args: { command: "echo 2 > a.txt" } }] }, { text: "Done." }],
    ["--no-persist"],
  );
  expect(existsSync(join(workspace.config, "courser"))).toBe(false);
});

it("sessions changes lists what commands did to files, by turn, beside edits", async () => {
  const workspace = start({ "a.txt": "one\n", "sub/b.txt": "one\n", "same.txt": "same\n" });
  await turn(workspace, "echo two > a.txt; rm -r sub; echo TOKEN=x > .env; printf '\\0' > made.bin");
  const edit = { path: "a.txt", old_string: "by-command", new_string: "by-edit" };
  const script = [
    { calls: [{ name: "Shell", args: { command: "echo by-command > a.txt" } }] },
    { calls: [{ name: "Edit", args: edit }] },
    { calls: [{ name: "Write", args: { path: "own.txt", contents: "own\n" } }] },
    { text: "Done." },
  ];
  await workspace.play(script, ["--resume", id, "--", "again"]);
  const found = await workspace.run(["sessions", "changes", id, "--format", "json"]);
  const items: { path: string; steps: Record<string, unknown>[] }[] = JSON.parse(found.stdout).items;
  const steps = (name: string) =>
    items
      .find(({ path }) => path === join(workspace.path, name))
      ?.steps.map(({ turn, kind, before, after, isGone }) => [turn, kind, before, after, ...(isGone ? ["gone"] : [])]);
  expect(steps("a.txt")).toEqual([
    [1, "command", "one\n", "two\n"],
    [2, "command", "two\n", "by-command\n"],
    [2, "edit", "by-command\n", "by-edit\n"],
  ]);
  expect(steps("sub/b.txt")).toEqual([[1, "command", "one\n", null, "gone"]]);
  // What edits account for is not told twice; neither secrets nor what is not text are shown.
  expect(steps("own.txt")).toEqual([[2, "edit", null, "own\n"]]);
  expect(steps(".env")).toEqual([[1, "command", null, null]]);
  expect(steps("made.bin")).toEqual([[1, "command", null, null]]);
  expect(steps("same.txt")).toBeUndefined();
  const text = (await workspace.run(["sessions", "changes", id])).stdout;
  expect(text).toContain("5 files changed:\n");
  expect(text).toMatch(/ {2}\+3 -3 +a\.txt {2}\(by a command and an edit\)\n/);
  expect(text).toMatch(/ {2}deleted +sub\/b\.txt {2}\(by a command\)\n/);
  // The disk tells what the last turn did; without the workspace, the turns before it are still known.
  rmSync(workspace.path, { recursive: true });
  mkdirSync(workspace.path);
  const gone = await workspace.run(["sessions", "changes", id, "--format", "json"]);
  expect(gone.exit, gone.stderr).toBe(0);
});
