// Snapshots: what is saved when, what is left out and named, what a rewind brings back and what it never touches.
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSnapshots } from "../../src/agent/snapshots/index.ts";
import { usualLimits } from "../../src/agent/snapshots/scan.ts";
import { sweepSnapshots } from "../../src/agent/snapshots/sweep.ts";
import { bash, differences, type SnapshotBench, snapshotBench, treeOf } from "./snapshots-support.ts";

const text = (bench: SnapshotBench, name: string) => readFileSync(join(bench.root, name), "utf8");
const put = (bench: SnapshotBench, name: string, content: string | Buffer) => {
  mkdirSync(dirname(join(bench.root, name)), { recursive: true });
  writeFileSync(join(bench.root, name), content);
};

/** Where the snapshots of the one workspace lie. */
function storeOf(bench: SnapshotBench): string {
  const folder = join(bench.config, "courser/snapshots");
  return join(folder, readdirSync(folder)[0]!);
}

/** The file of a content that is not in a pack. */
function objectFile(bench: SnapshotBench, content: string): string {
  const id = createHash("sha1").update(`blob ${content.length}\0${content}`).digest("hex");
  return join(storeOf(bench), "objects", id.slice(0, 2), id.slice(2));
}

describe("snapshots after a power cut", () => {
  it("a file snapshot saves a lost object again, even if the file was not touched", async () => {
    const cases = [rmSync, (file: string) => writeFileSync(file, "")].flatMap((lose) =>
      ["untouched.txt", "in/a/folder/untouched.txt"].map((name) => ({ lose, name, bench: snapshotBench() })),
    );
    for (const { bench, name } of cases) put(bench, name, "precious");
    // The cache believes the times of a file only when it last changed some time ago.
    await new Promise((resolve) => setTimeout(resolve, 2600));
    for (const { lose, bench, name } of cases) {
      // In the second round the folder is known as a whole.
      for (const round of [1, 2]) {
        bench.turn();
        await bench.shell(`echo ${round} > other.txt`);
      }
      const file = objectFile(bench, "precious");
      lose(file);
      const turn = bench.turn();
      await bench.shell(`rm ${name}`);
      expect(statSync(file).size).toBeGreaterThan(0);
      await bench.rewind.restore(turn);
      expect(text(bench, name)).toBe("precious");
    }
  });

  it("a file snapshot saves the objects of a lost, empty or truncated pack again", async () => {
    for (const lose of [rmSync, (file: string) => truncateSync(file), (file: string) => truncateSync(file, 40)]) {
      const bench = snapshotBench({ limits: { ...usualLimits, loose: 2 } });
      for (const name of ["a", "b", "c"]) put(bench, name, `content of ${name}`);
      bench.turn();
      await bench.shell("echo 1 > other.txt");
      const packs = join(storeOf(bench), "objects/pack");
      for (const name of readdirSync(packs)) if (name.endsWith(".pack")) lose(join(packs, name));
      // Another process, which has not read the index yet.
      const next = createSnapshots(bench.place);
      await next.before(bench.turn(), [{ kind: "Shell", target: "rm a b" }]);
      bash("rm a b", bench.root);
      await bench.rewind.restore(2);
      expect([text(bench, "a"), text(bench, "b")]).toEqual(["content of a", "content of b"]);
    }
  });
});

describe("what snapshots save", () => {
  it("file snapshots save nothing before a read, one file before an edit, and the tree before a command", async () => {
    const bench = snapshotBench();
    put(bench, "a.txt", "one");
    bench.turn();
    await bench.before({ kind: "Read", target: "a.txt" });
    await bench.before({ kind: "WebFetch", target: "https://example.com" });
    await bench.shell("cat a.txt");
    expect(bench.records(1)).toBeUndefined();
    expect(existsSync(bench.config)).toBe(false);

    await bench.before({ kind: "Write", target: "a.txt" });
    await bench.before({ kind: "Write", target: "a.txt" });
    expect(bench.records(1)).toHaveLength(1);
    await Promise.all([
      bench.shell("echo two > a.txt"),
      bench.shell("echo three > b.txt"),
      bench.before({ kind: "Mcp", target: "x:y" }),
    ]);
    await bench.before({ kind: "Write", target: "c.txt" });
    expect(bench.records(1)).toHaveLength(2);
    bench.turn();
    await bench.before({ kind: "Mcp", target: "x:y" });
    expect(bench.records(2)).toHaveLength(1);
  });

  it("file snapshots are git objects, readable by git and only by their owner", async () => {
    const bench = snapshotBench();
    put(bench, "small.txt", "hello\n");
    put(bench, "large.txt", "a line\n".repeat(5000));
    bench.turn();
    await bench.shell("touch x");
    const store = storeOf(bench);
    const git = (command: string) => bash(`git --git-dir='${store}' ${command}`, "/");
    if (git("--version").status === 0) {
      expect(git("fsck --full --strict").status).toBe(0);
      expect(git("cat-file -p ce013625030ba8dba906f756967f9e9ca394464a").output).toBe("hello\n");
    }
    for (const [path, what] of treeOf(store)) expect(`${path} ${what}`).toMatch(/ (folder 700|file 600)/);
  });

  it("file snapshots write many objects as one pack that git can read", async () => {
    const bench = snapshotBench({ limits: { ...usualLimits, loose: 5 } });
    for (let index = 0; index < 300; index++) put(bench, `d${index % 7}/${index}`, `${index} `.repeat(index * 5));
    const before = treeOf(bench.root);
    bench.turn();
    await bench.shell("rm -r d1 d2; for f in d3/*; do echo x > $f; done");
    const store = storeOf(bench);
    const packs = readdirSync(join(store, "objects/pack"));
    expect(packs.map((name) => name.replace(/^.*\./, "")).sort()).toEqual(["idx", "pack"]);
    if (bash("git --version", "/").status === 0) {
      expect(bash(`git verify-pack -v objects/pack/${packs[0]}`, store)).toMatchObject({ status: 0 });
      expect(bash("git --git-dir=. fsck --full --strict", store).status).toBe(0);
    }
    await bench.rewind.restore(1);
    expect(differences(before, treeOf(bench.root))).toEqual([]);
    await bench.rewind.undo();
    expect(existsSync(join(bench.root, "d1"))).toBe(false);
  });

  it("a file snapshot leaves out files that are too large, and reports them once", async () => {
    const limits = { ...usualLimits, fileBytes: 1000, ignoredFiles: 10 };
    const bench = snapshotBench({ limits });
    put(bench, "big.bin", "x".repeat(1001));
    put(bench, ".gitignore", "out/\n");
    for (let index = 0; index < 20; index++)
      for (const folder of ["out", "src", "node_modules/a"]) put(bench, `${folder}/${index}`, "1");
    bash("mkfifo pipe", bench.root);
    bench.turn();
    const note = await bench.shell("for f in */* node_modules/a/*; do echo 2 > $f; done; echo y > big.bin");
    expect(note?.unsaved.map(({ path, why }) => [path.slice(bench.root.length + 1), why])).toEqual([
      ["big.bin", "large"],
      ["node_modules", "many"],
      ["out", "many"],
      ["pipe", "special"],
    ]);
    expect(note?.message).toContain("out (an ignored directory with more than");
    bench.turn();
    expect(await bench.shell("touch more")).toBeUndefined();

    const { left } = await bench.rewind.restore(1);
    expect(left.map(({ path }) => path.slice(bench.root.length + 1))).toEqual(["big.bin", "node_modules", "out"]);
    expect([text(bench, "src/3"), text(bench, "out/3"), text(bench, "node_modules/a/3")]).toEqual(["1", "2\n", "2\n"]);
    expect(existsSync(join(bench.root, "more"))).toBe(false);
    expect(lstatSync(join(bench.root, "pipe")).isFIFO()).toBe(true);
  });

  it("a file snapshot saves a file that a tool names, whatever its size", async () => {
    const bench = snapshotBench({ limits: { ...usualLimits, fileBytes: 1000 } });
    put(bench, "big.bin", "x".repeat(5000));
    bench.turn();
    await bench.shell("touch a");
    expect(await bench.before({ kind: "Write", target: "big.bin" })).toBeUndefined();
    put(bench, "big.bin", "changed");
    await bench.rewind.restore(1);
    expect(text(bench, "big.bin")).toBe("x".repeat(5000));
  });

  it("file snapshots give up on an endless tree, and still save files that a tool names", async () => {
    const bench = snapshotBench({ limits: { ...usualLimits, files: 5 } });
    for (let index = 0; index < 10; index++) put(bench, `${index}`, "1");
    bench.turn();
    expect((await bench.shell("echo 2 > 3"))?.message).toContain("more than 5 files");
    expect(await bench.before({ kind: "Write", target: "4" })).toBeUndefined();
    put(bench, "4", "2");
    expect(bench.rewind.gaps(1)).toEqual([{ turn: 1, why: "it contains more than 5 files" }]);
    await bench.rewind.restore(1);
    expect([text(bench, "3"), text(bench, "4")]).toEqual(["2\n", "1"]);
  });

  it("file snapshots never contain .git data or the agent's configuration", async () => {
    const bench = snapshotBench();
    const config = join(bench.root, "home/.cursor");
    put(bench, "home/.cursor/auth.json", "secret");
    put(bench, "sub/.git/config", "one");
    put(bench, "a.txt", "one");
    const inside = createSnapshots({ ...bench.place, configDir: config });
    const turn = bench.turn();
    expect(await inside.before(turn, [{ kind: "Shell", target: "make" }])).toBeUndefined();
    const note = await bench.before(
      { kind: "Write", target: "sub/.git/config" },
      { kind: "Write", target: "/elsewhere/x" },
    );
    expect(note?.unsaved.map(({ why }) => why)).toEqual(["outside", "repository"]);
    const contents = bash(
      "for f in $(find . -path '*/objects/??/*'); do echo ${f: -41}; done | tr -d / | while read id; do git --git-dir=. cat-file -p $id; done",
      join(config, "courser/snapshots", readdirSync(join(config, "courser/snapshots"))[0]!),
    );
    expect(contents.output).toContain("a.txt");
    expect(contents.output).not.toContain("secret");
  });

  it("a tool call still runs when its file snapshot fails, and rewind later reports the gap", async () => {
    const bench = snapshotBench();
    put(bench, "a.txt", "one");
    writeFileSync(bench.config, "a file where the folder should be");
    bench.turn();
    const note = await bench.shell("echo two > a.txt");
    expect(note?.message).toMatch(/not saved before this call: .*A rewind cannot restore them/);
    expect(await bench.shell("echo three > a.txt")).toBeUndefined();
    expect(bench.rewind.gaps(1)).not.toEqual([]);
  });

  it("file snapshots notice a change that kept a file's size and times", async () => {
    const bench = snapshotBench();
    put(bench, "a.txt", "one");
    const { atime, mtime } = statSync(join(bench.root, "a.txt"));
    for (const content of ["two", "six", "ten"]) {
      bench.turn();
      await bench.shell(`printf ${content} > a.txt`);
      utimesSync(join(bench.root, "a.txt"), atime, mtime);
    }
    await bench.rewind.restore(3);
    expect(text(bench, "a.txt")).toBe("six");
    await bench.rewind.restore(1);
    expect(text(bench, "a.txt")).toBe("one");
  });

  it("cancelling a run cancels its file snapshot", async () => {
    const bench = snapshotBench();
    for (let index = 0; index < 3000; index++) put(bench, `d${index % 50}/${index}`, `${index}`);
    const turn = bench.turn();
    const stop = new AbortController();
    const taking = createSnapshots(bench.place).before(turn, [{ kind: "Shell", target: "make" }], stop.signal);
    setTimeout(() => stop.abort(new Error("stopped")), 1);
    expect((await taking)?.message).toContain("stopped");
  });
});

describe("rewinding files", () => {
  it("rewind combines the snapshots of a turn", async () => {
    const bench = snapshotBench();
    put(bench, "a.txt", "one");
    put(bench, "b.txt", "one");
    const before = treeOf(bench.root);
    bench.turn();
    await bench.before({ kind: "Write", target: "a.txt" }, { kind: "Write", target: "new/deep/c.txt" });
    put(bench, "a.txt", "edited");
    put(bench, "new/deep/c.txt", "made");
    await bench.shell("echo shell > b.txt; echo more > new/d.txt");
    bench.turn();
    await bench.before({ kind: "Delete", target: "a.txt" });
    unlinkSync(join(bench.root, "a.txt"));
    await bench.rewind.restore(1);
    expect(differences(before, treeOf(bench.root))).toEqual([]);
  });

  it("when rewind undoes an edit, it keeps what others wrote to the file beside it", async () => {
    const bench = snapshotBench();
    bench.turn();
    await bench.before({ kind: "Write", target: "new/a.txt" });
    put(bench, "new/a.txt", "agent");
    put(bench, "new/mine.txt", "person");
    const { steps } = await bench.rewind.restore(1);
    expect(steps.map(({ path }) => path)).toEqual([join(bench.root, "new/a.txt")]);
    expect(readdirSync(join(bench.root, "new"))).toEqual(["mine.txt"]);
  });

  it("rewind follows links for edits, and removes only the link for deletions", async () => {
    const bench = snapshotBench();
    put(bench, "real.txt", "one");
    symlinkSync("real.txt", join(bench.root, "link"));
    symlinkSync("real.txt", join(bench.root, "other"));
    bench.turn();
    await bench.before({ kind: "Write", target: "link" });
    await bench.before({ kind: "Delete", target: "other" });
    put(bench, "link", "two");
    unlinkSync(join(bench.root, "other"));
    await bench.rewind.restore(1);
    expect(text(bench, "real.txt")).toBe("one");
    expect(lstatSync(join(bench.root, "link")).isSymbolicLink()).toBe(true);
    expect(text(bench, "other")).toBe("one");
  });

  it("rewind never writes through a link that leads out", async () => {
    const bench = snapshotBench();
    const outside = join(dirname(bench.root), "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "a.txt"), "theirs");
    put(bench, "sub/a.txt", "one");
    put(bench, "edited/b.txt", "one");
    bench.turn();
    await bench.before({ kind: "Write", target: "edited/b.txt" });
    put(bench, "edited/b.txt", "two");
    rmSync(join(bench.root, "edited"), { recursive: true });
    symlinkSync(outside, join(bench.root, "edited"));
    expect((await bench.rewind.restore(1)).left).toEqual([
      { path: join(bench.root, "edited/b.txt"), why: "its path now points elsewhere" },
    ]);
    expect(readdirSync(outside)).toEqual(["a.txt"]);

    bench.turn();
    await bench.shell(`rm -r sub; ln -s ${outside} sub`);
    await bench.rewind.restore(2);
    expect(text(bench, "sub/a.txt")).toBe("one");
    expect(lstatSync(join(bench.root, "sub")).isDirectory()).toBe(true);
    expect(readFileSync(join(outside, "a.txt"), "utf8")).toBe("theirs");
  });

  it("rewind changes nothing if the workspace itself was replaced by a link", async () => {
    const bench = snapshotBench();
    put(bench, "a.txt", "one");
    bench.turn();
    await bench.shell("echo two > a.txt");
    const moved = `${bench.root}-moved`;
    bash(`mv '${bench.root}' '${moved}' && ln -s '${moved}' '${bench.root}'`, "/");
    await expect(bench.rewind.restore(1)).rejects.toThrow(/now points elsewhere: nothing was changed/);
    expect(readFileSync(join(moved, "a.txt"), "utf8")).toBe("two\n");
  });

  it("rewind covers additional folders, and only those", async () => {
    const other = snapshotBench();
    put(other, "o.txt", "one");
    const bench = snapshotBench({ roots: [other.root, other.root] });
    bench.turn();
    await bench.shell(`echo two > '${other.root}/o.txt'; touch '${other.root}/made' here`);
    await bench.rewind.restore(1);
    expect(readdirSync(other.root)).toEqual(["o.txt"]);
    expect(text(other, "o.txt")).toBe("one");
    expect(readdirSync(bench.root)).toEqual([]);
  });

  it("rewind keeps new git repositories, and names new and missing ones", async () => {
    const bench = snapshotBench();
    put(bench, "old/.git/HEAD", "x");
    put(bench, "old/a", "1");
    bench.turn();
    await bench.shell("rm -rf old; mkdir -p new/.git; echo 1 > new/.git/HEAD; echo 2 > new/b");
    const { left, failed } = await bench.rewind.restore(1);
    expect(failed).toEqual([]);
    expect(left.map(({ path }) => path.slice(bench.root.length + 1)).sort()).toEqual(["new/.git", "old/.git"]);
    expect(treeOf(bench.root, { git: true }).has("./new/.git/HEAD")).toBe(true);
    expect(existsSync(join(bench.root, "new/b"))).toBe(false);
    expect(text(bench, "old/a")).toBe("1");
  });

  it("a rewind of files of any size can be undone, and redone", async () => {
    const bench = snapshotBench();
    bench.turn();
    await bench.shell("head -c 20000000 /dev/urandom > huge; chmod 751 huge");
    const after = treeOf(bench.root);
    await bench.rewind.restore(1);
    expect(readdirSync(bench.root)).toEqual([]);
    await bench.rewind.undo();
    expect(differences(after, treeOf(bench.root))).toEqual([]);
    await bench.rewind.undo();
    expect(readdirSync(bench.root)).toEqual([]);
  });

  it("rewind reports a damaged file snapshot and changes nothing", async () => {
    const bench = snapshotBench();
    put(bench, "a.txt", "one");
    bench.turn();
    await bench.shell("echo two > a.txt");
    const [record] = bench.records(1) as { object: string }[];
    const object = join(storeOf(bench), "objects", record!.object.slice(0, 2), record!.object.slice(2));
    writeFileSync(object, "");
    await expect(bench.rewind.restore(1)).rejects.toThrow(/of turn 1 is gone or damaged/);
    expect(text(bench, "a.txt")).toBe("two\n");
  });

  it("rewind reads all saved contents first, and changes nothing if one is lost", async () => {
    const lost: [string, (path: string) => void][] = [
      ["gone", (path) => rmSync(path)],
      ["empty", (path) => writeFileSync(path, "")],
      ["cut off", (path) => writeFileSync(path, readFileSync(path).subarray(0, -5))],
      ["of zeros", (path) => writeFileSync(path, Buffer.alloc(20))],
    ];
    for (const [how, damage] of lost) {
      const bench = snapshotBench();
      put(bench, "a.txt", "one");
      put(bench, "b.txt", "lost");
      put(bench, "d/c.txt", "three");
      bench.turn();
      await bench.shell("echo two > a.txt; echo two > b.txt; rm -r d");
      const before = treeOf(bench.root);
      damage(objectFile(bench, "lost"));
      for (const options of [{ dryRun: true }, {}]) {
        const failed = bench.rewind.restore(1, options);
        await expect(failed, how).rejects.toThrow(/b\.txt is gone or damaged: .* nothing was changed/);
      }
      expect(differences(before, treeOf(bench.root)), how).toEqual([]);
      expect(await bench.rewind.undo()).toBeUndefined();
    }
  });

  it("after a rewind of only the conversation, the turn before still has its saved files", async () => {
    const bench = snapshotBench();
    put(bench, "a.txt", "one");
    bench.turn();
    await bench.before({ kind: "Write", target: "b.txt" });
    put(bench, "b.txt", "two");
    bench.turn();
    await bench.before({ kind: "Write", target: "a.txt" });
    put(bench, "a.txt", "two");
    bench.rewind.takeBack(2, { files: false }, (state) => bench.forget(2, state));
    await bench.rewind.restore(1);
    expect(readdirSync(bench.root)).toEqual(["a.txt"]);
    expect(text(bench, "a.txt")).toBe("one");
  });
});

describe("cleaning up snapshots", () => {
  const count = (bench: SnapshotBench) => treeOf(join(storeOf(bench), "objects")).size;
  const place = ({ config, root }: SnapshotBench) => ({ configDir: config, workspace: root });

  it("snapshot clean-up removes only objects that no chat refers to", async () => {
    const bench = snapshotBench();
    put(bench, "a.txt", "one");
    bench.turn();
    await bench.shell("echo two > a.txt");
    const chat = { turn: 1, state: () => undefined, saveState: () => {} };
    const other = createSnapshots({ ...bench.place, chat, sessionId: "11111111-1f0d-4c57-9a51-7a0b6f1f2a11" });
    await other.before(1, [{ kind: "Shell", target: "make" }]);
    const all = count(bench);
    expect(await sweepSnapshots(place(bench))).toBe(0);
    expect(count(bench)).toBe(all);

    await sweepSnapshots(place(bench), { deleted: ["11111111-1f0d-4c57-9a51-7a0b6f1f2a11"] });
    expect(count(bench)).toBeLessThan(all);
    await bench.rewind.restore(1);
    expect(text(bench, "a.txt")).toBe("one");
    await sweepSnapshots(place(bench), { deleted: [bench.place.sessionId] });
    expect(bash("find objects -type f | wc -l", storeOf(bench)).output.trim()).toBe("0");
    // What the cache remembers of removed contents is forgotten with them.
    bench.turn();
    await bench.shell("echo three > a.txt");
    await bench.rewind.restore(2);
    expect(text(bench, "a.txt")).toBe("one");
  });

  it("snapshot clean-up moves the few needed objects of a pack into a new pack", async () => {
    const bench = snapshotBench({ limits: { ...usualLimits, loose: 5 } });
    for (let index = 0; index < 200; index++) put(bench, `d${index % 7}/${index}`, `${index}`);
    bench.turn();
    await bench.shell("rm -r d0 d1 d2 d3 d4 d5");
    const packs = readdirSync(join(storeOf(bench), "objects/pack"));
    bench.rewind.takeBack(1, { files: true }, (state) => bench.forget(1, state));
    const before = treeOf(bench.root);
    bench.turn();
    await bench.shell("rm -r d6");
    expect(await sweepSnapshots(place(bench))).toBeGreaterThan(100);
    const left = readdirSync(join(storeOf(bench), "objects/pack"));
    expect(left.filter((name) => packs.includes(name))).toEqual([]);
    expect(left).not.toEqual([]);
    await bench.rewind.restore(1);
    expect(differences(before, treeOf(bench.root))).toEqual([]);
  });

  it("snapshot clean-up waits for running snapshots, and these wait for it", async () => {
    const bench = snapshotBench();
    put(bench, "a.txt", "one");
    bench.turn();
    await bench.shell("touch x");
    const store = storeOf(bench);
    writeFileSync(join(store, "busy", "another"), "");
    expect(await sweepSnapshots(place(bench), { deleted: [bench.place.sessionId] })).toBeUndefined();
    rmSync(join(store, "busy", "another"));

    writeFileSync(join(store, "sweeping"), "");
    bench.turn();
    let done = false;
    const taking = bench.before({ kind: "Mcp", target: "x:y" }).then(() => {
      done = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(done).toBe(false);
    rmSync(join(store, "sweeping"));
    await taking;
    expect(readdirSync(join(store, "busy"))).toEqual([]);
  });

  it("snapshot clean-up runs at most once a day", async () => {
    const bench = snapshotBench();
    put(bench, "a.txt", "one");
    bench.turn();
    await bench.shell("touch x");
    const stamp = join(storeOf(bench), "swept");
    expect(await sweepSnapshots(place(bench), { daily: true })).toBeUndefined();
    expect(await sweepSnapshots(place(bench), { daily: true })).toBeUndefined();
    utimesSync(stamp, new Date(Date.now() - 9e7), new Date(Date.now() - 9e7));
    expect(await sweepSnapshots(place(bench), { daily: true })).toBe(0);
  });
});

it.skipIf(process.getuid?.() === 0)("unreadable files are named (skipped: root may read everything)", async () => {
  const bench = snapshotBench();
  put(bench, "closed/a.txt", "one");
  put(bench, "b.txt", "one");
  chmodSync(join(bench.root, "b.txt"), 0);
  chmodSync(join(bench.root, "closed"), 0);
  bench.turn();
  const note = await bench.shell("touch c");
  expect(note?.unsaved.map(({ why }) => why)).toEqual(["unreadable", "unreadable"]);
  expect((await bench.rewind.restore(1)).steps.map(({ path }) => path)).toEqual([join(realpathSync(bench.root), "c")]);
});
