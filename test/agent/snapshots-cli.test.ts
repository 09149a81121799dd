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

it("takes conversation and files back, and the files forth again", async () => {
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

it("goes on after a rewind, and can take that back too", async () => {
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

it("says what is wrong, and changes nothing", async () => {
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

it("tells of what it could not save, and of what it leaves", async () => {
  const workspace = start({ ".gitignore": "" });
  bash("head -c 11000000 /dev/zero > big", workspace.path);
  const script = [{ calls: [{ name: "Shell", args: { command: "echo x > big; touch new" } }] }, { text: "Done." }];
  const run = await workspace.play(script, ["--session-id", id]);
  expect(run.notices()).toContain("Not saved, so a rewind will not change it: big (larger than 10 MiB)");
  const back = await workspace.run(["sessions", "rewind", id]);
  expect(back.stdout).toContain("left    big: it was not saved: larger than 10 MiB");
  expect(existsSync(join(workspace.path, "new"))).toBe(false);
});

it("forgets with the chat", async () => {
  const workspace = start({ "a.txt": "one\n" });
  await turn(workspace, "echo two > a.txt");
  const objects = () => bash("find courser/snapshots/*/objects -type f | wc -l", workspace.config).output.trim();
  expect(Number(objects())).toBeGreaterThan(1);
  await workspace.run(["sessions", "delete", id, "--yes"]);
  expect(objects()).toBe("0");
  rmSync(join(workspace.path, "a.txt"));
});

it("keeps nothing without a chat", async () => {
  const workspace = start({ "a.txt": "one\n" });
  await workspace.play(
    [{ calls: [{ name: "Shell", args: { command: "echo 2 > a.txt" } }] }, { text: "Done." }],
    ["--no-persist"],
  );
  expect(existsSync(join(workspace.config, "courser"))).toBe(false);
});
