// Snapshots in a git repository: what it holds is borrowed, whatever its files look like, and comes back all the same.
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { GitIndex, gitIndexOf, gitRepositoryOf } from "../../src/agent/snapshots/git-index.ts";
import { harmsRepository } from "../../src/agent/snapshots/harms-repository.ts";
import { createSnapshots } from "../../src/agent/snapshots/index.ts";
import { tickMs } from "../../src/agent/snapshots/stat-cache.ts";
import { bash, differences, type SnapshotBench, snapshotBench, treeOf } from "./snapshots-support.ts";

const hasGit = bash("git --version", "/").status === 0;
let bench: SnapshotBench;
beforeEach(() => {
  bench = snapshotBench();
  if (hasGit)
    git("git init -q . && git config user.email a@example.com && git config user.name A && git config gc.auto 0");
});

function git(command: string): void {
  const { status, output } = bash(command, bench.root);
  if (status !== 0) throw new Error(output);
}

const lines = (count: number, word: string) => Array.from({ length: count }, (_, at) => `${word} ${at}\n`).join("");

/** Files with a history, so that packs hold differences, all of them older than the index. */
function commitFiles(): void {
  git("mkdir -p src/deep");
  for (let number = 0; number < 20; number++)
    writeFileSync(join(bench.root, `src/deep/file ${number}.txt`), lines(200, `word${number % 3}`));
  writeFileSync(join(bench.root, "ä日本.txt"), "text\n");
  git("git add -A && git commit -qm one");
  for (let number = 0; number < 20; number++) appendFileSync(join(bench.root, `src/deep/file ${number}.txt`), "more\n");
  ageFiles();
  git("git add -A && git commit -qm two");
}

function ageFiles(): void {
  const past = new Date(Date.now() - 60_000);
  for (const name of readdirSync(join(bench.root, "src/deep")))
    utimesSync(join(bench.root, "src/deep", name), past, past);
}

/** The bytes that the snapshots take. */
function saved(): number {
  const folder = join(bench.config, "courser", "snapshots");
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

/** Runs a command as the agent does, takes it back, and says what is different then. */
async function undoing(command: string): Promise<string[]> {
  const turn = bench.turn();
  const before = treeOf(bench.root);
  await bench.shell(command);
  const { failed } = await bench.rewind.restore(turn);
  expect(failed).toEqual([]);
  return differences(before, treeOf(bench.root));
}

describe.skipIf(!hasGit)("snapshots in a git repository", () => {
  it.each([
    ["loose objects", "true"],
    ["packs", "git gc -q"],
    ["packs of deltas by name", "git repack -adfq --window=50 && git -c pack.indexVersion=2 repack -adq"],
    ["an index of version 4", "git update-index --index-version 4"],
    ["an index of version 3", "git update-index --skip-worktree 'src/deep/file 1.txt'"],
    ["a split index", "git update-index --split-index"],
  ])("file snapshots reuse git's objects instead of copying them, with %s", async (_name, prepare) => {
    commitFiles();
    git(prepare);
    expect(await undoing("rm -r src; echo changed > ä日本.txt; touch new")).toEqual([]);
    expect(saved()).toBeLessThan(6_000);
  });

  it("file snapshots do not read files that git's index knows as unchanged", async () => {
    commitFiles();
    const index = gitIndexOf(gitRepositoryOf(bench.root)!)!;
    const path = join(bench.root, "src/deep/file 7.txt");
    const expected = bash("git rev-parse 'HEAD:src/deep/file 7.txt'", bench.root).output.trim();
    expect(index.find(path, statSync(path))).toBe(expected);
    chmodSync(path, 0o600);
    expect(index.find(path, statSync(path))).toBeUndefined();
  });

  it("file snapshots save files that differ from git, and file modes that git does not know", async () => {
    commitFiles();
    writeFileSync(join(bench.root, "src/deep/file 3.txt"), "my own\n");
    chmodSync(join(bench.root, "src/deep/file 4.txt"), 0o640);
    writeFileSync(join(bench.root, "untracked"), "untracked\n");
    git("echo '*.log' > .gitignore; echo ignored > a.log; mkdir empty");
    expect(await undoing("rm -r src empty untracked a.log; chmod 600 ä日本.txt")).toEqual([]);
  });

  it.each([
    ["* text=auto", "crlf.txt", "one\r\ntwo\r\n"],
    ["*.txt ident", "ident.txt", "$Id$\n"],
    ["*.txt filter=upper", "filtered.txt", "lower\n"],
  ])("file snapshots stay correct despite %s", async (attributes, name, content) => {
    git("git config filter.upper.clean 'tr a-z A-Z' && git config filter.upper.smudge cat");
    writeFileSync(join(bench.root, ".gitattributes"), `${attributes}\n`);
    writeFileSync(join(bench.root, name), content);
    const past = new Date(Date.now() - 60_000);
    utimesSync(join(bench.root, name), past, past);
    git("git add -A && git commit -qm one && rm .git/index && git reset -q && git status");
    expect(await undoing(`echo gone > ${name}`)).toEqual([]);
    expect(readFileSync(join(bench.root, name), "utf8")).toBe(content);
    git("git rm -q --cached .gitattributes && git commit -qm two");
    expect(await undoing(`echo gone > ${name}`)).toEqual([]);
  });

  it("file snapshots treat an unchanged folder as one object, until a git object in it is gone", async () => {
    commitFiles();
    const take = () => createSnapshots(bench.place).before(bench.turn(), [need]);
    const need = { kind: "Shell", target: "touch new", cwd: bench.root } as const;
    const found = vi.spyOn(GitIndex.prototype, "find");
    const asked = async () => {
      found.mockClear();
      await take();
      return found.mock.calls.filter(([path]) => path.includes("/deep/")).length;
    };
    onTestFinished(() => found.mockRestore());
    await sleep(tickMs + 100); // the repository's objects are as new as that
    expect(await asked()).toBe(20);
    expect(await asked()).toBe(0);
    appendFileSync(join(bench.root, "src/deep/file 5.txt"), "changed\n");
    expect(await asked()).toBe(20);
    git("git checkout -q . && git gc -q && rm -rf .git/objects/pack");
    const turn = bench.turn() + 1;
    const before = treeOf(bench.root);
    await asked();
    bash("rm -r src", bench.root);
    expect((await bench.rewind.restore(turn)).failed).toEqual([]);
    expect(differences(before, treeOf(bench.root)).filter((line) => !line.includes(".git"))).toEqual([]);
  });

  it("file snapshots find git repositories elsewhere and those with alternate objects", async () => {
    commitFiles();
    git("mv .git ../base && git clone -q --shared --no-checkout ../base ../clone && mv ../clone/.git ../folder");
    writeFileSync(join(bench.root, ".git"), "gitdir: ../folder\n");
    git("git reset -q");
    expect(await undoing("rm -r src")).toEqual([]);
    expect(saved()).toBeLessThan(6_000);
  });

  it.each(["rm -rf .git src", "git gc -q --prune=now; rm -r src", "rm -rf .[a-z]* *", 'rm -rf "$PWD"/*; rm -rf .git'])(
    "file snapshots reuse no git objects before `%s`",
    async (command) => {
      commitFiles();
      const turn = bench.turn();
      const before = treeOf(bench.root);
      await bench.shell(command);
      rmSync(join(bench.root, ".git"), { recursive: true, force: true });
      await bench.rewind.restore(turn);
      const other = differences(before, treeOf(bench.root)).filter((line) => !line.includes(".git"));
      expect(other).toEqual([]);
      expect(existsSync(join(bench.root, "src/deep/file 1.txt"))).toBe(true);
    },
  );
});

it("a file snapshot taken during the model's answer does not delay tool calls", async () => {
  for (let number = 0; number < 300; number++) writeFileSync(join(bench.root, `${number}.txt`), `${number}\n`);
  // Prepared before the call, while the call takes its own, and after it.
  for (const waitMs of [400, 245, 0]) {
    const snapshots = createSnapshots(bench.place);
    const turn = bench.turn();
    const before = treeOf(bench.root);
    const end = snapshots.prepare();
    await sleep(waitMs);
    await snapshots.before(turn, [{ kind: "Shell", target: "rm 1*", cwd: bench.root }]);
    bash(`rm 1*; echo ${waitMs} > 2.txt`, bench.root);
    await sleep(300 - Math.min(300, waitMs));
    end();
    await bench.rewind.restore(turn);
    expect(differences(before, treeOf(bench.root))).toEqual([]);
  }
});

it("a tool call that comes before the early file snapshot has begun does not wait for it", async () => {
  writeFileSync(join(bench.root, "a.txt"), "a\n");
  const snapshots = createSnapshots(bench.place);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const end = snapshots.prepare();
  const saved = snapshots.before(bench.turn(), [{ kind: "Shell", target: "rm a.txt", cwd: bench.root }]);
  vi.runAllTimers();
  vi.useRealTimers();
  expect(await saved).toBeUndefined();
  end();
});

it.each([
  ["npm test", false],
  ["rm -rf node_modules build", false],
  ["git add -A && git commit -m x && git checkout -b y", false],
  ["echo x > .gitignore", false],
  ["rm -rf .git", true],
  ["git -C . gc", true],
  ["git reflog expire --all", true],
  ["rm -rf /home/ada", true],
  ["rm -rf ..", true],
  ["cd / && rm -rf ./work", true],
  ['rm -rf "$dir"', true],
  ["mv /home/ada/project /elsewhere", true],
  ["find . -delete", true],
])("file snapshots recognise whether `%s` may remove a git repository", (command, expected) => {
  expect(harmsRepository(command, "/home/ada/project", ["/home/ada/project"])).toBe(expected);
});
