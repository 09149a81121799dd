// Locks between processes, files for their owner only, and what reaches the disk.
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { homedir, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { makeFolder, openPrivate, writePrivate } from "../../src/store/chats/private-files.ts";
import { randomUuid } from "../../src/store/chats/random-uuid.ts";
import { configDir } from "../../src/store/config-dir.ts";
import { editConfig, readConfig } from "../../src/store/config-edit.ts";
import { isAlive, withFileLock } from "../../src/store/file-lock.ts";
import { syncAll, syncFoldersUpTo } from "../../src/store/sync.ts";

let dir: string;
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "courser-kept-")));
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(dir, { recursive: true, force: true });
});

const modeOf = (file: string) => statSync(file).mode & 0o777;
const said = (work: () => unknown): { code?: string; message: string } => {
  try {
    work();
  } catch (error) {
    return error as { code?: string; message: string };
  }
  throw new Error("nothing was thrown");
};
/** No process has this pid. */
const nobody = 2 ** 30;

describe("locks between processes", () => {
  const lock = () => join(dir, "file.lock");
  const old = (ms: number) => utimesSync(lock(), new Date(), (Date.now() - ms) / 1000);

  it("a file lock exists while work is done, is private, and is gone afterwards, also after a failure", () => {
    expect(withFileLock(lock(), (stillOurs) => [stillOurs(), modeOf(lock()), readFileSync(lock(), "utf8")])).toEqual([
      ...[true, 0o600],
      expect.stringMatching(new RegExp(`^${process.pid} \\d+\\.\\d+$`)),
    ]);
    expect(() =>
      withFileLock(lock(), () => {
        throw new Error("in between");
      }),
    ).toThrow("in between");
    expect(readdirSync(dir)).toEqual([]);
  });

  it("a process that lost its file lock gets an error, and leaves the new owner's lock alone", () => {
    const tokens: string[] = [];
    withFileLock(lock(), (stillOurs) => {
      tokens.push(readFileSync(lock(), "utf8"));
      writeFileSync(lock(), "another");
      expect(stillOurs()).toBe(false);
    });
    expect(readFileSync(lock(), "utf8")).toBe("another");
    rmSync(lock());
    withFileLock(lock(), () => tokens.push(readFileSync(lock(), "utf8")));
    expect(new Set(tokens).size).toBe(2);
  });

  it.each<[who: string, content: string, ageMs: number]>([
    ["a dead process", `${nobody} 1.1`, 0],
    ["a process that holds it far too long", `${process.pid} 1.1`, 31_000],
    ["nobody, for a while", "", 2500],
    ["something that is no process", "-1 1.1", 2500],
    ["something that is no number", "me 1.1", 2500],
  ])("a file lock of %s is taken over at once, and nothing is left behind", (_who, content, ageMs) => {
    writeFileSync(lock(), content);
    old(ageMs);
    const started = process.hrtime.bigint();
    expect(withFileLock(lock(), () => "done")).toBe("done");
    expect(Number(process.hrtime.bigint() - started) / 1e6).toBeLessThan(8000);
    expect(readdirSync(dir)).toEqual([]);
  });

  it.each<[who: string, content: string, ageMs: number, told: string]>([
    ["a living process", `${process.pid} 1.1`, 0, String(process.pid)],
    ["a living process, for long", `${process.pid} 1.1`, 15_000, String(process.pid)],
    ["somebody who has not written its name yet", "", -9000, ""],
  ])("a process waits for a file lock of %s, then names its holder", (_who, content, ageMs, told) => {
    writeFileSync(lock(), content);
    old(ageMs);
    // Time passes with every look at the clock.
    const now = Date.now();
    let looks = 0;
    const clock = vi.spyOn(Date, "now").mockImplementation(() => now + looks++ * 150);
    try {
      const { code, message } = said(() => withFileLock(lock(), () => {}));
      expect([code, message]).toEqual([
        "STORE_FAILED",
        `${lock()} is held by another process (${told}). Try again; if no other is running, delete the file.`,
      ]);
      expect(looks * 150).toBeGreaterThan(10_000);
      expect(looks * 150).toBeLessThan(22_000);
    } finally {
      clock.mockRestore();
    }
    expect(readFileSync(lock(), "utf8")).toBe(content);
  });

  it("a file lock that cannot be made says why at once", () => {
    const { code, message } = said(() => withFileLock(join(dir, "none", "file.lock"), () => {}));
    expect(code).toBe("STORE_FAILED");
    expect(message).toContain("could not be created (ENOENT)");
  });

  it("a process counts as alive as long as it can be signalled, by whomever", () => {
    expect([process.pid, 1, nobody].map(isAlive)).toEqual([true, true, false]);
  });
});

describe("private files", () => {
  it("new folders and files are private whatever the umask; existing ones keep their mode", () => {
    const before = process.umask(0);
    try {
      mkdirSync(join(dir, "shared"), { mode: 0o755 });
      makeFolder(join(dir, "shared", "a", "b"));
      expect([".", "a", "a/b"].map((each) => modeOf(join(dir, "shared", each)))).toEqual([0o755, 0o700, 0o700]);
      process.umask(0o277);
      makeFolder(join(dir, "shared", "a", "b", "c"));
      writePrivate(join(dir, "file"), "wx", "one ");
      writePrivate(join(dir, "file"), "a", "two");
    } finally {
      process.umask(before);
    }
    expect(modeOf(join(dir, "shared/a/b/c"))).toBe(0o700);
    expect([modeOf(join(dir, "file")), readFileSync(join(dir, "file"), "utf8")]).toEqual([0o600, "one two"]);
    expect(() => openPrivate(join(dir, "file"), "wx")).toThrow("EEXIST");
  });

  it("new ids are version 4 UUIDs, each different", () => {
    const ids = Array.from({ length: 200 }, randomUuid);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(ids).size).toBe(200);
    // All bits that are free are drawn.
    for (const at of [0, 7, 9, 15, 19, 20, 35]) expect(new Set(ids.map((id) => id[at])).size).toBeGreaterThan(3);
  });

  it("the configuration folder is the first that the environment names", () => {
    expect(configDir({ CURSOR_CONFIG_DIR: "/a/../b", XDG_CONFIG_HOME: "/x", HOME: "/h" })).toBe("/b");
    expect(configDir({ CURSOR_CONFIG_DIR: "", XDG_CONFIG_HOME: "/x", HOME: "/h" })).toBe("/x/cursor");
    expect(configDir({ XDG_CONFIG_HOME: "", HOME: "/h" })).toBe("/h/.cursor");
    expect(configDir({ HOME: "", USERPROFILE: "/u" })).toBe("/u/.cursor");
    expect(configDir({})).toBe(join(homedir(), ".cursor"));
  });

  it("syncing files and folders to disk reports a failure only for missing ones", async () => {
    mkdirSync(join(dir, "a/b"), { recursive: true });
    writeFileSync(join(dir, "a/file"), "");
    await syncAll([join(dir, "a/file"), join(dir, "a"), join(dir, "a/b")]);
    syncFoldersUpTo(join(dir, "a/b"), dir);
    await expect(syncAll([join(dir, "a/file"), join(dir, "gone")])).rejects.toThrow("ENOENT");
    expect(() => syncFoldersUpTo(join(dir, "gone"), dir)).toThrow("ENOENT");
  });
});

describe("settings that are edited", () => {
  it("saving makes a project's file shared and the user's private, and does not rewrite equal text", () => {
    const before = process.umask(0o022);
    try {
      for (const [scope, modes] of [
        ["project", [0o755, 0o644]],
        ["user", [0o700, 0o600]],
        ["flag", [0o700, 0o600]],
      ] as const) {
        const file = join(dir, scope, "file.json");
        expect(editConfig({ file, scope }, (current) => current?.text)).toBe(false);
        expect(existsSync(file)).toBe(false);
        expect(editConfig({ file, scope }, () => '{"a":1}')).toBe(true);
        expect([modeOf(dirname(file)), modeOf(file)]).toEqual(modes);
        expect(readConfig(file)).toEqual({ content: { a: 1 }, text: '{"a":1}' });
        expect(editConfig({ file, scope }, (current) => current!.text.replace("1", "2"))).toBe(true);
        expect(readFileSync(file, "utf8")).toBe('{"a":2}');
        expect(readdirSync(dirname(file))).toEqual(["file.json"]);
      }
    } finally {
      process.umask(before);
    }
  });
});
