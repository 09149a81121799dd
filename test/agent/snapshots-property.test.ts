// Rewind as a property: whatever is done to a random tree, by tools or by a shell, the tree before a turn comes back whole.
// A long form: COURSER_REWIND_ROUNDS=500. A failure names its seed; COURSER_REWIND_SEED=<seed> plays that round alone.
import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { usualLimits } from "../../src/agent/snapshots/scan.ts";
import { type Random, random } from "../protocol/random.ts";
import { seedOf } from "../support/chance.ts";
import { bash, differences, type SnapshotBench, snapshotBench, treeOf } from "./snapshots-support.ts";

const only = process.env["COURSER_REWIND_SEED"];
const rounds = Number(process.env["COURSER_REWIND_ROUNDS"] ?? 10);
const first = only === undefined ? seedOf("agent/snapshots-property") : Number(only);
const seeds = only === undefined ? Array.from({ length: rounds }, (_, index) => first + index) : [first];
const hasGit = bash("git --version", "/").status === 0;

const names = [
  "a",
  "b.txt",
  "c d",
  "é日本",
  "x'y",
  'q"z',
  "new\nline",
  "-rf",
  "$HOME",
  "build",
  "UPPER",
  ".hidden",
  "#1",
];
const modes = [0o644, 0o600, 0o755, 0o444, 0o400, 0o777, 0o4755, 0o640];
// Only root can save what nobody may read.
if (process.getuid?.() === 0) modes.push(0o000);
const texts = ["", "a", "banana", "é日本", "\r\n", "\0", "tab\there", "no newline at the end"];
const folderModes = [0o755, 0o700, 0o775, 0o1777, 0o2755, 0o555];

describe("rewind", () => {
  it.each(seeds)(
    "rewind restores a random tree (seed %i)",
    async (seed) => {
      const chance = random(seed);
      const bench = snapshotBench({ limits: { ...usualLimits, loose: chance.pick([0, 3, 200]) } });
      grow(bench.root, chance);
      const before: Map<string, string>[] = [];
      const turns = 1 + chance.below(4);
      for (let turn = 1; turn <= turns; turn++) {
        bench.turn();
        before[turn] = treeOf(bench.root);
        for (let count = 1 + chance.below(6); count > 0; count--) await change(bench, chance);
      }

      const last = treeOf(bench.root);
      const repositories = gitData(bench.root);
      const target = 1 + chance.below(turns);
      const planned = await bench.rewind.restore(target, { dryRun: true });
      expect(differences(last, treeOf(bench.root)), "a dry run changes nothing").toEqual([]);
      const restored = await bench.rewind.restore(target);
      expect(restored.failed).toEqual([]);
      expect(restored.steps.map(({ path }) => path).length).toBeLessThanOrEqual(planned.steps.length);
      expect(differences(before[target]!, treeOf(bench.root)), `before turn ${target} of ${turns}`).toEqual([]);
      expect((await bench.rewind.restore(target, { dryRun: true })).steps, "nothing is left to do").toEqual([]);
      if (differences(before[target]!, last).length > 0) {
        await bench.rewind.undo();
        expect(differences(last, treeOf(bench.root)), "undone").toEqual([]);
        await bench.rewind.undo();
        expect(differences(before[target]!, treeOf(bench.root)), "and done again").toEqual([]);
      }
      expect(differences(repositories, gitData(bench.root)), "repositories are untouched").toEqual([]);
    },
    60_000,
  );
});

function grow(root: string, chance: Random): void {
  const folders = [root];
  for (let count = chance.below(8); count > 0; count--) {
    const folder = join(chance.pick(folders), chance.pick(names));
    if (tries(() => mkdirSync(folder))) folders.push(folder);
  }
  for (let count = chance.below(25); count > 0; count--) {
    const path = join(chance.pick(folders), chance.pick(names));
    if (chance.below(5) === 0) tries(() => symlinkSync(linkTarget(chance), path));
    else if (tries(() => writeFileSync(path, content(chance), { flag: "wx" }))) {
      chmodSync(path, chance.pick(modes));
      // Old files are those that the cache may remember.
      if (chance.below(2) === 0) utimesSync(path, 1_600_000_000, 1_600_000_000);
    }
  }
  writeFileSync(join(root, ".gitignore"), "build\n*.log\n");
  tries(() => mkdirSync(join(root, "build")));
  tries(() => writeFileSync(join(root, "build", "out.log"), content(chance)));
  for (const folder of folders.slice(1)) if (chance.below(4) === 0) chmodSync(folder, chance.pick(folderModes));
  if (!hasGit) return;
  mkdirSync(join(root, "nested"));
  const identity = "git config user.email a@example.com && git config user.name A";
  for (const folder of [join(root, "nested"), root])
    bash(
      `git init -q . && ${identity} && echo x > t && git add -A; git commit -qm one; echo y >> t; git add t; git stash -q`,
      folder,
    );
}

/** One call of the agent: an edit, a deletion, or a command. */
async function change(bench: SnapshotBench, chance: Random): Promise<void> {
  const paths = [...treeOf(bench.root)];
  const files = paths.filter(([, what]) => what.startsWith("file")).map(([path]) => path);
  const folders = paths.filter(([, what]) => what.startsWith("folder")).map(([path]) => path);
  // A copy of a repository is one that was made since, and stays.
  const movable = folders.filter((path) => path !== "." && !path.startsWith("./nested"));
  const at = (shown: string) => join(bench.root, shown);
  const kind = chance.below(10);
  if (kind < 3) {
    const deep = chance.below(3) === 0 ? `${chance.pick(names)}/${chance.pick(names)}/` : "";
    const path =
      files.length > 0 && chance.below(2) === 0
        ? chance.pick(files)
        : `${chance.pick(folders)}/${deep}${chance.pick(names)}`;
    await bench.before({ kind: "Write", target: at(path) });
    tries(() => {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), content(chance));
    });
    return;
  }
  if (kind === 3 && files.length > 0) {
    const path = chance.pick(files);
    await bench.before({ kind: "Delete", target: at(path) });
    tries(() => rmSync(at(path)));
    return;
  }
  const file = quoted(files.length > 0 ? chance.pick(files) : "./none");
  const folder = quoted(chance.pick(folders));
  const moved = quoted(movable.length > 0 ? chance.pick(movable) : "./none");
  const name = quoted(`./${chance.pick(names)}`);
  await bench.shell(
    chance.pick([
      `echo ${chance.below(1000)} >> ${file}`,
      `printf x > ${folder}/made`,
      `rm -f ${file}`,
      `rm -rf ${folder}/* 2>/dev/null`,
      `mv ${file} ${name}`,
      `mv -T ${moved} ${name} 2>/dev/null`,
      `chmod ${chance.pick(modes).toString(8)} ${file}`,
      `chmod ${chance.pick(folderModes).toString(8)} ${folder}`,
      `ln -sfn ${quoted(linkTarget(chance))} ${name}`,
      `mkdir -p ${folder}/${name}/${name}`,
      `cp -r ${moved} ${name} 2>/dev/null`,
      `rm -rf ${name}; mkdir ${name}; touch ${name}/in`,
      `rm -rf ${name}; echo file > ${name}`,
      `sed -i 's/a/bb/g' ${file}`,
      `: > ${file}; touch -d @1600000000 ${file}`,
      "echo built > build/out.log; touch build/new.log",
      "git add -A; git commit -qm more",
      "git stash -q; git checkout -q -B other",
      `cat ${file}; ls -la`,
      `for i in 1 2 3; do echo $i > ${folder}/n$i; done`,
    ]),
  );
}

function content(chance: Random): Buffer {
  const kind = chance.below(6);
  if (kind === 0) return Buffer.alloc(0);
  if (kind === 1) return Buffer.from(Array.from({ length: chance.below(300) }, () => chance.below(256)));
  if (kind === 2) return Buffer.alloc(3000 + chance.below(20_000), `${chance.pick(texts)} and more\n`);
  return Buffer.from(`${chance.pick(texts)} ${chance.below(1e6)}\n`);
}

function linkTarget(chance: Random): string {
  return chance.pick([".", "..", "missing", "a", "b.txt", "build", "/etc/hostname", "c d/../a"]);
}

/** Everything in every repository, byte for byte: index, stash and refs among it. */
function gitData(root: string): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (folder: string, shown: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.name === ".git")
        for (const [inner, what] of treeOf(path, { git: true })) found.set(`${shown}/.git ${inner}`, what);
      else if (entry.isDirectory()) walk(path, `${shown}/${entry.name}`);
    }
  };
  walk(root, ".");
  return found;
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}

function tries(work: () => void): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}
