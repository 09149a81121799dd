import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runProgram } from "../../src/process/run-program.ts";
import { Supervisor, type SupervisorRequest } from "../../src/process/supervisor.ts";
import { aliveWith, isAlive, uniqueSleep, until } from "../agent/process-support.ts";

const cwd = mkdtempSync(join(tmpdir(), "courser-supervisor-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const bash = (script: string, more: Partial<SupervisorRequest> = {}) =>
  new Supervisor({ command: ["bash", "-c", script], cwd, env: process.env, ...more });

describe("a supervised process", () => {
  test("output chunks, input and ending of a process are reported", async () => {
    const seen: string[] = [];
    const onOutput = (stream: string, chunk: Buffer) => void seen.push(`${stream}: ${chunk}`);
    const ending = await bash("cat; echo no >&2; exit 3", { input: "text", onOutput }).ended;
    expect(seen.sort()).toEqual(["stderr: no\n", "stdout: text"]);
    expect(ending).toMatchObject({ exitCode: 3, signal: "", stages: [], leftovers: 0, notes: [] });
    expect(ending).not.toHaveProperty("stopped");
  });

  test("the supervisor reads output of leftover processes while they write, then ends them", async () => {
    const sleep = uniqueSleep();
    const seen: string[] = [];
    const ending = await bash(`(for i in 1 2 3 4 5 6; do sleep 0.15; echo $i; done; sleep ${sleep}) & exit 0`, {
      onOutput: (_stream, chunk) => void seen.push(String(chunk)),
    }).ended;
    expect(seen.join("")).toBe("1\n2\n3\n4\n5\n6\n");
    expect(ending).toMatchObject({ exitCode: 0, signal: "", stages: [] });
    expect(ending.leftovers).toBeGreaterThan(0);
    expect(aliveWith(sleep)).toEqual([]);
  });

  test("the supervisor says why a process cannot start, without throwing", async () => {
    const missing = new Supervisor({ command: ["no-such-program"], cwd, env: process.env });
    expect(missing.pid).toBe(0);
    expect(await missing.ended).toMatchObject({ exitCode: null, failure: { code: "CLI_NOT_FOUND" } });
    await expect(missing.write("x")).rejects.toThrow("could not be started");
    const nowhere = await bash("ls", { cwd: join(cwd, "gone") }).ended;
    expect(nowhere.failure).toMatchObject({ code: "CWD_MISSING" });
    const tooLong = await bash("ls", { env: { LONG: "x".repeat(4_000_000) } }).ended;
    expect(tooLong.failure).toMatchObject({ message: expect.stringContaining("E2BIG") });
    expect(tooLong.failure!.code).toBeUndefined();
  });

  test("of several reasons to stop a process, the supervisor reports the first", async () => {
    const reasons: string[] = [];
    const asked = bash("exec sleep 60", { timeoutMs: 200, cancel: (reason) => reasons.push(reason) === 0 });
    await until(() => reasons.length > 0);
    asked.stop("cancelled");
    expect(await asked.ended).toMatchObject({ stopped: "timedOut", stages: ["cancel", "SIGTERM"], signal: "SIGTERM" });
    asked.stop("cancelled");
    expect(reasons).toEqual(["timedOut"]);
  });

  test("the supervisor sends cancel first to a process that listens on stdin", async () => {
    const child: Supervisor = bash("read -r word; exit 5", {
      input: "",
      keepOpen: true,
      graceMs: 20_000,
      cancel: () => child.stdin!.write("enough\n"),
    });
    child.stop("cancelled");
    expect(await child.ended).toMatchObject({ exitCode: 5, stopped: "cancelled", stages: ["cancel"] });
  });

  test.each([
    ["kill", 0],
    ["group", 1],
  ] as const)("processes that leave the group are found, with leftovers: %s", async (leftovers, count) => {
    const sleep = uniqueSleep();
    const ending = await bash(`setsid sleep ${sleep} >/dev/null 2>&1 & sleep 0.1`, { leftovers }).ended;
    const left = aliveWith(sleep);
    for (const pid of left) process.kill(pid);
    expect({ left: left.length, ended: ending.leftovers }).toEqual({ left: count, ended: 1 - count });
  });
});

describe("process enclosures", () => {
  const entered = (script: string, calls: string[], more: Partial<SupervisorRequest> = {}) =>
    bash("exit 1", {
      enter: () => ({
        command: ["bash", "-c", script],
        env: { ...process.env, INSIDE: "1" },
        started: (pid) => void calls.push(isAlive(pid) ? "started" : "gone"),
        signal: (name) => calls.push(name) === 0,
        leave: () => ({ notes: [`left after ${calls.push("left")}`] }),
      }),
      ...more,
    });

  test("the supervisor starts a process inside an enclosure such as the sandbox, signals it there and leaves it once", async () => {
    const calls: string[] = [];
    const ending = await entered('trap "exit $INSIDE$INSIDE" TERM; while :; do sleep 0.05; done', calls, {
      timeoutMs: 300,
    }).ended;
    expect(calls).toEqual(["started", "SIGTERM", "left"]);
    expect(ending).toMatchObject({ exitCode: 11, notes: ["left after 3"] });
  });

  test("the supervisor enters no enclosure for a cancelled start, and leaves that of a failed one", async () => {
    const calls: string[] = [];
    await entered("true", calls, { signal: AbortSignal.abort() }).ended;
    expect(calls).toEqual([]);
    await entered("true", calls, { cwd: join(cwd, "gone") }).ended;
    expect(calls).toEqual(["left"]);
    const refusal = new Error("no room");
    const refused = bash("true", {
      enter() {
        throw refusal;
      },
    });
    expect((await refused.ended).failure).toEqual({ message: "no room", cause: refusal });
  });
});

describe("exit of the supervising process", () => {
  test("endNow kills a process and all its sessions at once", async () => {
    const sleep = uniqueSleep();
    const child = bash(`trap '' TERM; setsid sleep ${sleep} & wait`);
    expect(await until(() => aliveWith(`sleep\0${sleep}`).length === 1)).toBe(true);
    child.endNow();
    expect(aliveWith(sleep)).toEqual([]);
    expect((await child.ended).signal).toBe("SIGKILL");
  });

  test("at exit the supervisor ends all processes and leaves their enclosures", async () => {
    const { build } = await import("esbuild");
    const sleep = uniqueSleep();
    const program = join(cwd, "exits.mjs");
    await build({
      stdin: {
        contents: `
          import { createProcessRunner } from "./src/agent/process.ts";
          import { Supervisor } from "./src/process/supervisor.ts";
          const place = { cwd: ".", env: process.env };
          const leave = () => { process.stdout.write("left"); return { notes: [] }; };
          const command = ["bash", "-c", "trap '' TERM; sleep ${sleep} & setsid sleep ${sleep} & wait"];
          new Supervisor({ ...place, command, enter: () => ({ command, env: process.env, leave }) });
          createProcessRunner().start({ ...place, command });
          new Supervisor({ ...place, command: ["sleep", "${sleep}"], leftovers: "ignore", plain: true });
          new Supervisor({ ...place, command: ["sh", "-c", "echo inherited; echo error >&2"], inheritStreams: true });
          setTimeout(() => process.exit(3), 500);`,
        resolveDir: process.cwd(),
      },
      bundle: true,
      platform: "node",
      format: "esm",
      outfile: program,
      logLevel: "error",
    });
    const running = runProgram({ command: [process.execPath, program], cwd, env: process.env, leftovers: "ignore" });
    expect(await until(() => aliveWith(`sleep\0${sleep}`).length === 5)).toBe(true);
    const { exitCode, stdout, stderr } = await running;
    expect({ exitCode, stdout: stdout.toString(), stderr }).toEqual({
      ...{ exitCode: 3, stdout: "inherited\nleft", stderr: "error\n" },
    });
    expect(aliveWith(sleep)).toEqual([]);
  });
});

test("runProgram returns a program's output and why it ended", async () => {
  const request = { command: ["bash", "-c", "cat; yes | head -c 100000 >&2"], cwd, env: process.env };
  const end = await runProgram({ ...request, input: "\xff", keepBytes: 1000 });
  expect(end).toMatchObject({ exitCode: 0, isCut: true, timedOut: false, cancelled: false });
  expect(end.stdout).toEqual(Buffer.from("\xff"));
  expect(end.stderr.length).toBeLessThan(1100);
  const late = await runProgram({ ...request, input: "", keepOpen: true, timeoutMs: 200 });
  expect(late).toMatchObject({ timedOut: true, stages: ["cancel", "SIGTERM"] });
});
