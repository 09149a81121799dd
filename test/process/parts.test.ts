// Small parts of the processes' folder: output that is cut, programs that are found or not, and what is done where there is no /proc.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { BoundedBytes, wholeLength } from "../../src/process/bounded-bytes.ts";
import { startDetached } from "../../src/process/detached.ts";
import { endWithThisProcess, forget } from "../../src/process/exit.ts";
import { findProgram, isProgram } from "../../src/process/find-program.ts";
import { runWatched, watchIrregularFiles } from "../../src/process/irregular-files.ts";
import { programSucceeds, runProgram } from "../../src/process/run-program.ts";
import { startFailure } from "../../src/process/spawn.ts";
import { parsePs } from "../../src/process/tree.ts";
import { isBatchFile, passesBatch, spawnWords } from "../../src/process/windows-command.ts";
import { until } from "../agent/process-support.ts";
import { chanceOf } from "../support/chance.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "courser-parts-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("text that is cut", () => {
  it.each(["abc", "é", "aé", "€", "a€b", "𝄞", "a𝄞", "é€𝄞a"])(
    "cutting UTF-8 text at any byte leaves whole characters: %s",
    (text) => {
      const bytes = Buffer.from(text);
      const ends = [0];
      for (const character of text) ends.push(ends.at(-1)! + Buffer.byteLength(character));
      for (let length = 0; length <= bytes.length; length++)
        expect(wholeLength(bytes.subarray(0, length)), `${length} bytes`).toBe(ends.findLast((end) => end <= length));
    },
  );

  it("cutting bytes that are not UTF-8 text changes nothing else", () => {
    expect(wholeLength(Buffer.from([0x80, 0x80, 0x80, 0x80]))).toBe(4);
    expect(wholeLength(Buffer.from([0x61, 0x80]))).toBe(2);
  });
});

describe("the output of ps", () => {
  const line = (pid: number, state: string, session: number | string = 0) =>
    `  ${pid}  41  40  ${session}  ${state}  Mon Nov  2 10:11:12 2026  sleep 60 MARK=1`;

  it("the process list reads columns of ps, with the environment behind the command", () => {
    const [row, ...others] = parsePs(`  PID PPID  PGID SESS STAT STARTED COMMAND\n${line(42, "Ss", 39)}\n`);
    expect(others).toEqual([]);
    expect(row).toMatchObject({ pid: 42, parent: 41, group: 40, session: 39, startedAt: "Mon Nov  2 10:11:12 2026" });
    expect([row!.environment(), row!.streams()]).toEqual(["sleep 60 MARK=1", []]);
  });

  it("the process list leaves out ended processes, the system's first one and this one", () => {
    const text = [line(1, "Ss"), line(42, "Z"), line(43, "Z+"), line(process.pid, "R+"), line(44, "S+"), ""].join("\n");
    expect(parsePs(text).map(({ pid }) => pid)).toEqual([44]);
  });

  it("the process list gives processes without a known session different ones", () => {
    const [one, other] = parsePs(`${line(42, "S")}\n${line(43, "S")}\n`);
    expect(one!.session).not.toBe(other!.session);
  });
});

describe("output that is kept in part", () => {
  it("bounded output keeps all up to its limit, then equal parts of beginning and end, in any chunks", () => {
    const chance = chanceOf("bounded bytes");
    for (const limit of [1, 2, 3, 8, 33, 3000])
      for (let round = 0; round < 15; round++) {
        const kept = new BoundedBytes(limit);
        const whole = Buffer.from(Array.from({ length: Math.ceil(chance() * 3 * limit) }, () => 33 + chance() * 90));
        for (let at = 0; at < whole.length; ) {
          const size = Math.floor(chance() * (limit + 2));
          kept.push(whole.subarray(at, at + size));
          at += size;
        }
        const head = Math.floor(limit / 2);
        const isCut = whole.length > limit;
        const left = [whole.subarray(0, head), whole.subarray(whole.length - (limit - head))];
        expect([kept.isCut, kept.total]).toEqual([isCut, whole.length]);
        expect(kept.bytes().toString()).toBe(isCut ? `${left[0]}${left[1]}` : whole.toString());
        const note = `\n[… ${whole.length - limit} bytes omitted …]\n`;
        expect(kept.text()).toBe(isCut ? `${left[0]}${note}${left[1]}` : whole.toString());
      }
  });

  it("bounded output says how many bytes are missing, including those of cut characters", () => {
    const kept = new BoundedBytes(10);
    kept.push(Buffer.from("ab😀-----😀yz"));
    expect(kept.text()).toBe("ab\n[… 13 bytes omitted …]\nyz");
    const bytes = new BoundedBytes(10);
    bytes.push(Buffer.alloc(20, 0x80));
    expect(bytes.text()).toContain("[… 13 bytes omitted …]");
  });
});

describe("programs", () => {
  const bin = join(folder, "bin");
  const other = join(folder, "other");
  const [program, script, text] = ["tool", "tool.cmd", "text"].map((name) => join(bin, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(join(bin, "folder"), { recursive: true });
  mkdirSync(other);
  for (const path of [program, script, text, join(other, "tool")]) writeFileSync(path, "");
  chmodSync(program, 0o755);
  chmodSync(join(other, "tool"), 0o755);
  const placed = (text: string) => text.replaceAll("~", folder);
  const inPlace = (env: Record<string, string>) =>
    Object.fromEntries(Object.entries(env).map(([name, value]) => [name, placed(value)]));

  // ~ is the folder of this test.
  it.each<[string, Record<string, string>, string | undefined]>([
    ["tool", { PATH: "~/other:~/bin" }, "~/other/tool"],
    ["tool", { PATH: "~/bin:~/other" }, "~/bin/tool"],
    ["tool", { PATH: ":~/bin" }, "~/bin/tool"],
    ["tool", { Path: "~/bin" }, "~/bin/tool"],
    ["tool", { PATH: "", Path: "~/bin" }, undefined],
    ["tool", {}, undefined],
    ["text", { PATH: "~/bin" }, undefined],
    ["folder", { PATH: "~/bin" }, undefined],
    ["none", { PATH: "~/bin" }, undefined],
    // A path is not looked for elsewhere, and may be a file that the system then refuses to start.
    ["~/bin/tool", {}, "~/bin/tool"],
    ["~/bin/text", {}, "~/bin/text"],
    ["~/bin/none", { PATH: "~/bin" }, undefined],
    ["~/bin/folder", {}, undefined],
  ])("the program %s with the environment %j is found at: %s", (name, env, found) => {
    expect(findProgram(placed(name), inPlace(env), "linux")).toBe(found && placed(found));
  });

  it.each<[string, Record<string, string>, string | undefined]>([
    ["tool", { PATH: "~/bin", PATHEXT: ".exe;.cmd" }, "~/bin/tool.cmd"],
    ["tool", { Path: "~/other;~/bin", PATHEXT: ".cmd" }, "~/bin/tool.cmd"],
    ["tool", { PATH: "~/bin", PATHEXT: ".exe" }, undefined],
    ["tool.cmd", { PATH: "~/bin", PATHEXT: ".exe" }, undefined],
    ["~/bin/tool", { PATHEXT: ".cmd" }, "~/bin/tool"],
    ["~/other/tool.cmd", { PATHEXT: ".cmd" }, undefined],
  ])("on Windows the program %s with the environment %j is found at: %s", (name, env, found) => {
    expect(findProgram(placed(name), inPlace(env), "win32")).toBe(found && placed(found));
  });

  it("on Windows, programs are found by the usual file endings if PATHEXT is not set", () => {
    writeFileSync(join(other, "known.BAT"), "");
    expect(findProgram("known", { PATH: other }, "win32")).toBe(join(other, "known.BAT"));
  });

  it("only executable files are found as programs", () => {
    expect([program, text, join(bin, "folder"), join(bin, "none")].map(isProgram)).toEqual([true, false, false, false]);
  });

  it("a quick program succeeds when it ends with 0", () => {
    expect([["true"], ["false"], [join(bin, "none")], [process.execPath, "-e", "1"]].map(programSucceeds)).toEqual([
      ...[true, false, false, true],
    ]);
  });

  it.each<[string, string, object, string]>([
    ["~", "ENOENT", { code: "CLI_NOT_FOUND" }, "tool was not found."],
    ["~", "EACCES", { code: "CLI_NOT_FOUND" }, "tool is not executable."],
    ["~", "EAGAIN", {}, "spawn EAGAIN"],
    ["~/gone", "ENOENT", { code: "CWD_MISSING" }, "~/gone does not exist."],
    ["~/bin/tool", "ENOENT", { code: "CWD_MISSING" }, "~/bin/tool is not a directory."],
  ])("the error about a program that cannot start in %s with %s says why", (cwd, code, expected, words) => {
    const cause = Object.assign(new Error(`spawn ${code}`), { code });
    const { message, ...failure } = startFailure(cause, "tool", placed(cwd));
    expect(failure).toEqual({ ...expected, cause });
    expect(message).toContain(placed(words));
  });

  it("a start failure that is not an Error object is reported as it is", () => {
    expect(startFailure("odd", "tool", folder)).toEqual({ message: "odd", cause: "odd" });
  });

  it("on Windows only the system's own shell starts batch files, found by the caller's ComSpec variable", () => {
    expect(["a.cmd", "a.BAT", "a.exe", "cmd"].map((name) => isBatchFile(name, "win32"))).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(isBatchFile("a.cmd", "linux")).toBe(false);
    expect(spawnWords("a.bat", [], { platform: "win32", shell: "other.exe" }).program).toBe("other.exe");
    expect(["a b", "a\nb", "a\rb", "a\0b"].map(passesBatch)).toEqual([true, false, false, false]);
  });
});

describe("detached programs", () => {
  const env = { PATH: process.env["PATH"] };

  it("a detached program starts with the given folder, environment and log", async () => {
    const log = join(folder, "detached.log");
    writeFileSync(log, "before\n");
    const script = 'echo "$MARK in $PWD as $$" >&2; echo done >&2';
    const pid = startDetached(["/bin/sh", "-c", script], { cwd: folder, env: { ...env, MARK: "here" }, log });
    expect(process.kill(-pid!, 0)).toBe(true); // it leads a group of its own
    expect(await until(() => readFileSync(log, "utf8").includes("done"))).toBe(true);
    expect(readFileSync(log, "utf8")).toBe(`before\nhere in ${folder} as ${pid}\ndone\n`);
    expect(startDetached(["/bin/sh", "-c", "touch without"], { cwd: folder, env })).toBeGreaterThan(0);
    expect(await until(() => existsSync(join(folder, "without")))).toBe(true);
  });

  it("starting a detached program that does not exist returns no pid", () => {
    expect(startDetached(["no-such-program"], { cwd: folder, env })).toBeUndefined();
  });
});

it("at exit one listener ends all running children, even if ending one of them throws", () => {
  const listeners = () => process.listeners("exit");
  const before = listeners();
  const ended: string[] = [];
  const child = (name: string) => ({ endNow: () => void ended.push(name) });
  const all = [child("a"), child("b"), child("c")];
  all[1]!.endNow = () => {
    throw new Error("too late");
  };
  // Others of this process may be tracked already: then no listener is added.
  for (const each of all) endWithThisProcess(each);
  const added = listeners().filter((each) => !before.includes(each));
  expect(added.length).toBeLessThanOrEqual(1);
  for (const listener of added) (listener as (code: number) => void)(0);
  if (added.length > 0) expect(ended).toEqual(["a", "c"]);
  for (const each of all) forget(each);
  expect(listeners()).toEqual(before);
});

describe("a pipe or a device where small files are expected", () => {
  const tree = (name: string, scripts: string) => {
    const path = join(folder, "watched", name);
    mkdirSync(path, { recursive: true });
    return runProgram({ command: ["/bin/sh", "-ec", scripts], cwd: path, env: process.env }).then(({ exitCode }) => {
      expect(exitCode).toBe(0);
      return path;
    });
  };

  /** Looked at last, and found where nothing else is. */
  const last = "deep/er/est/.gitignore";

  it.each<[title: string, make: string, found: string]>([
    ["a pipe for ignored files", "mkfifo .gitignore", ".gitignore"],
    ["one for ripgrep, below", "mkdir -p a/b; mkfifo a/b/.rgignore", "a/b/.rgignore"],
    ["a link to a device", "ln -s /dev/zero .gitattributes", ".gitattributes"],
    ["a huge list", "truncate -s 16777217 .ignore", ".ignore"],
    ["a pipe in the folder of git", "mkdir -p .git; mkfifo .git/config", ".git/config"],
    ["a huge list of git", "mkdir -p .git/info; truncate -s 16777217 .git/info/exclude", ".git/info/exclude"],
    ["but not the largest list", "truncate -s 16777216 .ignore", last],
    ["but not a huge pack", "mkdir -p .git; truncate -s 16777217 .git/index", last],
    ["but not pipes that are not read", "mkfifo pipe ignore x.gitignore", last],
    ["but not a folder of that name", "mkdir .ignore", last],
    ["but not contents of git, which are many", "mkdir -p .git/objects; mkfifo .git/objects/.gitignore", last],
    ["but not a broken link", "ln -s none .mailmap", last],
  ])(
    "the watch for irregular files finds a pipe or device in place of an ignore file: %s",
    async (name, make, found) => {
      const path = await tree(name, `mkdir -p ${dirname(last)}; mkfifo ${last}; ${make}`);
      const watch = watchIrregularFiles(path, 0);
      await new Promise((resolve) => watch.signal.addEventListener("abort", resolve));
      expect(watch.end()).toBe(join(path, found));
    },
  );

  it("the watch for irregular files also looks in folders above, but not beside", async () => {
    const path = await tree(
      "above",
      `mkdir -p beside one/two/${dirname(last)}; mkfifo beside/.gitignore one/two/${last}`,
    );
    const found = async () => {
      const watch = watchIrregularFiles(join(path, "one/two"), 0);
      await new Promise((resolve) => watch.signal.addEventListener("abort", resolve));
      return watch.end();
    };
    expect(await found()).toBe(join(path, "one/two", last));
    await tree("above", "mkfifo one/.gitignore");
    expect(await found()).toBe(join(path, "one/.gitignore"));
  });

  it("a program that hangs on a pipe in place of a small file fails and names it; others run on", async () => {
    const path = await tree("waits", "mkfifo .gitignore");
    const request = { cwd: path, env: process.env };
    const end = await runWatched({ ...request, command: ["cat", ".gitignore"] });
    expect(end).toMatchObject({
      cancelled: true,
      stderr: `${join(path, ".gitignore")} is not a regular file. Remove it.`,
    });
    const quick = await runWatched({ ...request, command: ["sh", "-c", "echo said >&2"] });
    expect(quick).toMatchObject({ exitCode: 0, cancelled: false, stderr: "said\n" });
    const own = await runWatched({ ...request, command: ["sleep", "60"], signal: AbortSignal.timeout(50) });
    expect(own).toMatchObject({ cancelled: true, stderr: "" });
  });
});
