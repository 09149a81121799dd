import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { CharacterStream, SpillFile } from "../../src/agent/output.ts";
import { createProcessRunner, type ProcessRequest, toolEnvironment } from "../../src/agent/process.ts";
import { BoundedBytes } from "../../src/process/bounded-bytes.ts";
import { ProcessTree, parsePs } from "../../src/process/tree.ts";
import { notLinux, orSkipped } from "../support/skipping.ts";
import { aliveWith, isAlive, isValidText, openDescriptors, uniqueSleep, until, zombies } from "./process-support.ts";

const folder = mkdtempSync(join(tmpdir(), "courser-process-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const runner = createProcessRunner();
const bash = (script: string, more: Partial<ProcessRequest> = {}) =>
  runner.run({ command: ["bash", "-c", script], cwd: folder, ...more });

describe("running a command", () => {
  test("running a command returns stdout, stderr, both combined, and how it ended", async () => {
    const end = await bash("echo one; sleep 0.05; echo two >&2; sleep 0.05; echo three; exit 3");
    expect(end).toMatchObject({ exitCode: 3, signal: "", stdout: "one\nthree\n", stderr: "two\n" });
    expect(end).toMatchObject({ interleaved: "one\ntwo\nthree\n", truncated: false, totalBytes: 14, stages: [] });
  });

  test("a command has an empty stdin and no terminal", async () => {
    const end = await bash("cat; [ -t 0 ] || [ -t 1 ] || [ -t 2 ] || echo none; : </dev/tty");
    expect(end.stdout).toBe("none\n");
    expect(end.stderr).toContain("/dev/tty");
    expect(end.exitCode).not.toBe(0);
  });

  test("a command runs in its own process group and session", async () => {
    const end = await bash("echo $$ $(cut -d' ' -f5,6 /proc/$$/stat)");
    const [pid, group, session] = end.stdout.trim().split(" ");
    expect([group, session]).toEqual([pid, pid]);
  });

  test("a command that cannot start reports whether its folder or its program is missing", async () => {
    await expect(bash("ls", { cwd: join(folder, "gone") })).rejects.toMatchObject({ code: "CWD_MISSING" });
    writeFileSync(join(folder, "file"), "");
    await expect(bash("ls", { cwd: join(folder, "file") })).rejects.toMatchObject({ code: "CWD_MISSING" });
    const missing = runner.run({ command: ["no-such-program"], cwd: folder });
    await expect(missing).rejects.toMatchObject({
      code: "CLI_NOT_FOUND",
      message: expect.stringContaining("no-such-program"),
    });
    const plain = runner.run({ command: [join(folder, "file")], cwd: folder });
    await expect(plain).rejects.toMatchObject({
      code: "CLI_NOT_FOUND",
      message: expect.stringContaining("not executable"),
    });
  });

  test("a command that is cancelled before its start does not start", async () => {
    const end = await bash("touch started", { signal: AbortSignal.abort() });
    expect(end).toMatchObject({ cancelled: true, exitCode: null });
    expect(() => statSync(join(folder, "started"))).toThrow();
  });
});

describe("stopping a command in stages", () => {
  test("stopping a command that ignores all other signals sends SIGKILL", async () => {
    const startedAt = performance.now();
    const end = await bash("trap '' TERM; echo ready; while :; do sleep 1; done", { timeoutMs: 300, graceMs: 600 });
    expect(end).toMatchObject({ signal: "SIGKILL", timedOut: true, cancelled: false, stdout: "ready\n" });
    expect(end.stages).toEqual(["cancel", "SIGTERM", "SIGKILL"]);
    expect(performance.now() - startedAt).toBeLessThan(2400);
  });

  test("stopping a command sends no further signal once it has ended", async () => {
    const obedient = await bash("trap 'echo bye; exit 7' TERM; while :; do sleep 0.05; done", { timeoutMs: 300 });
    expect(obedient).toMatchObject({ exitCode: 7, signal: "", stdout: "bye\n", stages: ["cancel", "SIGTERM"] });
    const quick = await bash("true", { timeoutMs: 5000 });
    expect(quick.stages).toEqual([]);
  });

  test("an abort signal stops a command too", async () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 200);
    const end = await bash("echo so far; exec sleep 60", { signal: abort.signal });
    expect(end).toMatchObject({ cancelled: true, timedOut: false, stdout: "so far\n", signal: "SIGTERM" });
  });
});

describe.skipIf(notLinux)(orSkipped("nothing is left behind", notLinux), () => {
  const cases: Record<string, (sleep: string) => string> = {
    "a grandchild that holds stdout": (sleep) => `(sleep ${sleep} &) ; echo done`,
    "a job with its output elsewhere": (sleep) => `sleep ${sleep} >/dev/null 2>&1 & echo done`,
    "a new session": (sleep) => `setsid sleep ${sleep} >/dev/null 2>&1 </dev/null & echo done`,
    "a daemon: forked twice, own session, output elsewhere": (sleep) =>
      `setsid bash -c 'sleep ${sleep} & disown' >/dev/null 2>&1 </dev/null; echo done`,
    "a new session without our environment": (sleep) => `(env -i setsid sleep ${sleep} &) ; echo done`,
    "one that ignores SIGTERM": (sleep) =>
      `bash -c 'trap "" TERM; sleep ${sleep}; :' >/dev/null 2>&1 & sleep 0.1; echo done`,
    "one that is stopped": (sleep) => `sleep ${sleep} >/dev/null 2>&1 & kill -STOP $!; echo done`,
  };
  test.each(Object.entries(cases))(
    "no process that a command leaves behind survives its end: %s",
    async (_name, script) => {
      const sleep = uniqueSleep();
      const end = await bash(script(sleep));
      expect(aliveWith(sleep)).toEqual([]);
      expect(end).toMatchObject({ exitCode: 0, stdout: "done\n", stages: [] });
      expect(end.leftovers).toBeGreaterThan(0);
    },
  );

  test("after a command ended, leftover processes are found by its output pipe that they still hold", async () => {
    const sleep = uniqueSleep();
    const child = spawn("bash", ["--norc", "-c", `(env -i setsid sleep ${sleep} &)`], { detached: true });
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    const tree = new ProcessTree(child.pid!, "COURSER_CALL_TREE", [child.stdout, child.stderr]);
    expect(await tree.end()).toBe(1);
    expect(aliveWith(sleep)).toEqual([]);
  });

  test("processes in a new session without our environment variable do not survive a stop", async () => {
    const sleep = uniqueSleep();
    await bash(`env -i setsid sleep ${sleep} >/dev/null 2>&1 & setsid sleep ${sleep} & wait`, { timeoutMs: 500 });
    expect(aliveWith(sleep)).toEqual([]);
  });

  test("stopping a command ends two hundred processes at once", async () => {
    const sleep = uniqueSleep();
    const end = await bash(`for i in $(seq 200); do sleep ${sleep} & done; wait`, { timeoutMs: 3000 });
    expect(end.timedOut).toBe(true);
    expect(aliveWith(sleep)).toEqual([]);
  });

  test("stopping a command ends processes that fork meanwhile", async () => {
    const sleep = uniqueSleep();
    // At most 63 of them, six generations deep: a test must not be able to eat the machine.
    const breeder = `
      trap "" TERM
      if [ "$1" -ge 5 ]; then exec sleep ${sleep}; fi
      for i in 1 2; do setsid bash "$0" $(($1 + 1)) & sleep 0.05; done
      wait`;
    writeFileSync(join(folder, `breeder-${sleep}`), breeder);
    await bash(`bash breeder-${sleep} 0 >/dev/null 2>&1 & sleep 0.12; echo done`);
    expect(aliveWith(sleep)).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(aliveWith(sleep)).toEqual([]);
  });

  test("stopping a command does not touch unrelated processes", async () => {
    const other = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
    const beside = runner.start({ command: ["sleep", "60"], cwd: folder });
    await bash(`sleep ${uniqueSleep()} >/dev/null 2>&1 & true`);
    expect([isAlive(other.pid!), isAlive(beside.pid)]).toEqual([true, true]);
    other.kill("SIGKILL");
    beside.stop();
    expect((await beside.ended).cancelled).toBe(true);
  });

  test("watching an ordinary command starts no extra process and reports no leftovers", async () => {
    for (const script of ["true", "ls | sort | wc -l", "echo a > >(cat)", "x=$(echo 1); echo $x"]) {
      expect((await bash(script)).leftovers).toBe(0);
    }
  });

  test("endAll stops all running commands", async () => {
    const own = createProcessRunner();
    const sleep = uniqueSleep();
    const polite = own.start({ command: ["bash", "-c", `sleep ${sleep} & setsid sleep ${sleep} & wait`], cwd: folder });
    expect(await until(() => aliveWith(sleep).length >= 3)).toBe(true);
    await own.endAll();
    expect(aliveWith(sleep)).toEqual([]);
    expect((await polite.ended).cancelled).toBe(true);
  });

  test("running many commands leaves no zombies and no open file descriptors", async () => {
    await bash("true");
    const before = openDescriptors();
    for (let round = 0; round < 20; round++) {
      await Promise.all(Array.from({ length: 10 }, (_, index) => bash(index % 2 ? "true" : "ls | wc -l")));
    }
    expect(zombies()).toBe(0);
    expect(openDescriptors() - before).toBeLessThanOrEqual(5);
  });
});

describe("large output", () => {
  test("large command output keeps its beginning and end, and goes to a file up to a limit", async () => {
    const spillTo = join(folder, "spill");
    const end = await bash("printf first; yes | head -c 80000000; printf last", { keepBytes: 10_000, spillTo });
    expect(end).toMatchObject({ truncated: true, totalBytes: 80_000_009, spilledTo: spillTo });
    expect(end.stdout.length).toBeLessThan(10_100);
    expect(end.stdout).toMatch(/^firsty\n/);
    expect(end.stdout).toMatch(/y\nlast$/);
    expect(end.stdout).toMatch(/\n\[… \d+ bytes omitted …\]\n/);
    const { size, mode } = statSync(spillTo);
    expect(size).toBe(end.spilledBytes);
    expect(size).toBeLessThan(64 * 1024 * 1024 + 200);
    expect(mode & 0o777).toBe(0o600);
    expect(readFileSync(spillTo, "latin1").slice(-100)).toMatch(/\[\d+ more bytes were dropped: /);
  });

  test("the output file of a command begins with the output from before the file was needed", async () => {
    const spillTo = join(folder, "late");
    const end = await bash("seq 1 3000; echo x >&2; seq 3001 6000", { keepBytes: 4096, spillTo });
    expect(end.spilledLines).toBe(6001);
    const text = readFileSync(spillTo, "utf8");
    expect(text).toHaveLength(end.totalBytes);
    expect(text.startsWith("1\n2\n3\n")).toBe(true);
    const short = await bash("seq 1 10", { keepBytes: 4096, spillTo: join(folder, "unused") });
    expect(short.spilledTo).toBeUndefined();
  });

  test("when the output file cannot be written, only the file is lost, not the command", async () => {
    writeFileSync(join(folder, "taken"), "mine");
    const end = await bash("seq 1 3000", { keepBytes: 1000, spillTo: join(folder, "taken") });
    expect(end).toMatchObject({ exitCode: 0, truncated: true });
    expect(end.spilledTo).toBeUndefined();
    expect(readFileSync(join(folder, "taken"), "utf8")).toBe("mine");
  });
});

describe("output as text", () => {
  test("characters of a command's output split between chunks are joined", async () => {
    const end = await bash("printf '\\346'; sleep 0.1; printf 'err' >&2; sleep 0.1; printf '\\227\\245'");
    expect(end).toMatchObject({ stdout: "日", stderr: "err", interleaved: "err日" });
  });

  test("bytes of a command's output that are not UTF-8 text are replaced", async () => {
    const random = await bash("head -c 65536 /dev/urandom; head -c 65536 /dev/urandom >&2");
    expect([random.stdout, random.stderr, random.interleaved].every(isValidText)).toBe(true);
    const bad = await bash("printf 'a\\355\\240\\200b\\377c\\360\\237'");
    expect(isValidText(bad.stdout)).toBe(true);
    expect(bad.stdout).toMatch(/^a\ufffd+b\ufffdc\ufffd+$/);
  });

  test.each([10, 11, 12, 13, 14, 1000])("a command's output is cut between characters: %i bytes", (limit) => {
    const kept = new BoundedBytes(limit);
    const whole = Buffer.from("日本語é😀".repeat(200));
    for (let at = 0; at < whole.length; at += 7) kept.push(whole.subarray(at, at + 7));
    const [head, note, tail] = kept.text().split("\n");
    expect(note).toMatch(/^\[… \d+ bytes omitted …\]$/);
    expect(head + tail!).not.toContain("\ufffd");
    expect(Buffer.byteLength(head + tail!)).toBe(whole.length - Number(/\d+/.exec(note!)![0]));
    expect(whole.toString().startsWith(head!) && whole.toString().endsWith(tail!)).toBe(true);
  });

  test("a command's recorded output does not depend on how it was chunked", () => {
    const whole = Buffer.from(Array.from({ length: 500 }, (_, index) => `${index}é`).join(""));
    const texts = [1, 2, 3, 64, 5000].map((size) => {
      const kept = new BoundedBytes(300);
      const characters = new CharacterStream();
      let passed = "";
      for (let at = 0; at < whole.length; at += size) {
        kept.push(whole.subarray(at, at + size));
        passed += characters.push(whole.subarray(at, at + size)).toString("utf8");
      }
      expect(passed).toBe(whole.toString("utf8"));
      return kept.text();
    });
    expect(new Set(texts).size).toBe(1);
  });

  test("a command's output file ends at its limit and says so", () => {
    const file = new SpillFile(join(folder, "limited"), 10);
    for (const part of ["12345\n", "67890\n", "more"]) file.write(Buffer.from(part));
    file.end();
    expect(readFileSync(file.path, "utf8")).toBe(
      "12345\n6789\n[6 more bytes were dropped: the file ends at 10 bytes]\n",
    );
  });
});

describe("the environment of commands", () => {
  test("commands get the user's environment without secrets and variables that change commands", () => {
    const kept = toolEnvironment({
      PATH: "/bin",
      HOME: "/home/u",
      GOPATH: "/go",
      NODE_OPTIONS: "--max-old-space-size=4096",
      MY_PROJECT_MODE: "dev",
      https_proxy: "http://proxy:3128",
      SSH_AUTH_SOCK: "/run/agent",
      KEYBOARD: "us",
      TOKENIZERS_PARALLELISM: "false",
      AWS_SHARED_CREDENTIALS_FILE: "/home/u/.aws/credentials",
      ANTHROPIC_API_KEY: "abcdefghijklmnop",
      CURSOR_API_KEY: "k",
      GITHUB_TOKEN: "t",
      AWS_SECRET_ACCESS_KEY: "s",
      npm_config__authToken: "n",
      DB_PASSWORD: "p",
      DATABASE_URL: "postgres://u:p@h/d",
      openaiApiKey: "o",
      A_COPY: "abcdefghijklmnop",
      BASH_ENV: "/tmp/x",
      "BASH_FUNC_ls%%": "() { rm; }",
      CDPATH: "/etc",
      COURSER_EXIT_WITH_PARENT: "1",
    });
    expect(Object.keys(kept).sort()).toEqual(
      [
        "AWS_SHARED_CREDENTIALS_FILE",
        "CURSOR_AGENT",
        "GOPATH",
        "HOME",
        "KEYBOARD",
        "MY_PROJECT_MODE",
        "NODE_OPTIONS",
        "PATH",
        "SSH_AUTH_SOCK",
        "TOKENIZERS_PARALLELISM",
        "https_proxy",
      ].sort(),
    );
    expect(kept["CURSOR_AGENT"]).toBe("1");
  });

  test("a command sees its environment and folder", async () => {
    const own = createProcessRunner({ env: { PATH: process.env["PATH"], SOME_TOKEN: "hidden", PLAIN: "seen" } });
    const end = await own.run({ command: ["env"], cwd: folder });
    expect(end.stdout).toContain("PLAIN=seen");
    expect(end.stdout).toContain(`PWD=${folder}`);
    expect(end.stdout).not.toContain("hidden");
  });
});

test("tracking a command's processes costs little beside starting the process itself", async () => {
  const plain = () =>
    new Promise<void>((resolve) => {
      const child = spawn("bash", ["-c", "ls | wc -l"], {
        cwd: folder,
        detached: true,
        stdio: ["ignore", "pipe", "pipe"],
      });
      child.stdout.resume();
      child.stderr.resume();
      child.on("close", () => resolve());
    });
  const times = { plain: [] as number[], ours: [] as number[] };
  for (let round = 0; round < 40; round++) {
    for (const [name, call] of [
      ["plain", plain],
      ["ours", () => bash("ls | wc -l")],
    ] as const) {
      const startedAt = performance.now();
      await call();
      times[name].push(performance.now() - startedAt);
    }
  }
  const median = (list: number[]) => list.sort((a, b) => a - b)[list.length >> 1]!;
  expect(median(times.ours) / median(times.plain)).toBeLessThan(2);
});

test("the process list is parsed from the ps output of macOS and BSD", () => {
  const text = [
    "    1     0     1      0 Ss   Mon Nov  3 10:00:00 2025     /sbin/launchd",
    "  501   499   499      0 S+   Mon Nov  3 10:12:01 2025     sleep 600 HOME=/Users/u COURSER_CALL_x_1=1 A=b",
    "  502     1   502      0 Z    Mon Nov  3 10:12:01 2025     (sleep)",
  ].join("\n");
  const rows = parsePs(text);
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ pid: 501, parent: 499, group: 499, startedAt: "Mon Nov  3 10:12:01 2025" });
  expect(rows[0]!.environment().includes("COURSER_CALL_x_1=")).toBe(true);
});
