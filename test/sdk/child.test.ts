import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Frame } from "../../src/protocol/frames.ts";
import { type CliRequest, RunningCli } from "../../src/sdk/child.ts";
import { aliveWith, isAlive, uniqueSleep, until } from "../agent/process-support.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "courser-child-")));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const init = `{"type":"system","subtype":"init","apiKeySource":"env","cwd":"/w","session_id":"s1","model":"m","permissionMode":"default"}`;
const said = (text: string) =>
  `{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":${JSON.stringify(text)}}]},"session_id":"s1"}`;
const result = `{"type":"result","subtype":"success","duration_ms":1,"duration_api_ms":1,"is_error":false,"result":"ok","session_id":"s1","request_id":"r1"}`;
writeFileSync(join(folder, "answer"), `${init}\n${said("a")}\n${result}\n`);

const bash = (script: string, more: Partial<CliRequest> = {}) =>
  new RunningCli({ command: "bash", args: ["-c", script, "cli"], cwd: folder, ...more });

async function readAll(cli: RunningCli) {
  const frames: Frame[] = [];
  for await (const frame of cli.frames) frames.push(frame);
  return { types: frames.map(({ type }) => type), frames, ...(await cli.ended) };
}

describe("an agent CLI as a child process", () => {
  test("the SDK reports a CLI's frames, its result and its exit", async () => {
    const end = await readAll(bash("cat answer; echo note >&2"));
    expect(end.types).toEqual(["system", "assistant", "result"]);
    expect(end).toMatchObject({ outcome: "ok", finish: "stop", exitCode: 0, signal: "", stages: [], stderr: "note\n" });
    expect(end.error).toBeUndefined();
  });

  test("the SDK gives a CLI the whole environment, a notice to end with its parent, and no stdin", async () => {
    const frame = '{"type":"x","mode":"%s","own":"%s","stdin":"%s"}\\n';
    const cli = bash(`printf '${frame}' "$COURSER_EXIT_WITH_PARENT" "$OWN$HOME" "$(cat)"; cat answer`, {
      env: { OWN: "1", HOME: "h" },
    });
    const { frames } = await readAll(cli);
    expect(frames[0]).toMatchObject({ kind: "other", value: { mode: "1", own: "1h", stdin: "" } });
  });

  test("the SDK's error names what is missing: the CLI's program or the working directory", async () => {
    const program = await readAll(new RunningCli({ command: "no-such-cli", cwd: folder }));
    expect(program).toMatchObject({ outcome: "fail_closed", error: { code: "CLI_NOT_FOUND" }, types: [] });
    expect(program.error!.message).toContain("no-such-cli");
    const place = await readAll(bash("ls", { cwd: join(folder, "gone") }));
    expect(place.error).toMatchObject({ code: "CWD_MISSING" });
  });

  test.each([
    ["exit 3", "CLI_EXIT"],
    ["kill -9 $$", "CLI_EXIT"],
    ["true", "NO_OUTPUT"],
    [`echo '${init}'; echo '{"type":'`, "FRAME_MALFORMED"],
    [`echo '${init}'; printf '{"type":'`, "FRAME_TRUNCATED"],
    [`printf '{"type":"assistant","message":"\\377"}\\n'`, "FRAME_ENCODING"],
  ])("the SDK reports a CLI that breaks off: %s", async (script, code) => {
    const end = await readAll(bash(script));
    expect(end).toMatchObject({ outcome: "fail_closed", error: { code } });
  });

  test("a fault in a CLI's output ends the CLI, and earlier frames are delivered", async () => {
    const sleep = uniqueSleep();
    const end = await readAll(bash(`echo '${init}'; echo noise; sleep ${sleep}; cat answer`));
    expect(end).toMatchObject({ types: ["system"], error: { code: "FRAME_MALFORMED" }, stages: ["cancel", "SIGTERM"] });
    expect(aliveWith(sleep)).toEqual([]);
  });

  test("the SDK keeps a bounded part of a CLI's stderr and quotes it", async () => {
    const end = await readAll(bash("yes problem | head -c 5000000 >&2; echo 'the cause' >&2; exit 1"));
    expect(end.stderr.length).toBeLessThan(70_000);
    expect(end.error!.message).toContain("the cause");
  });
});

describe("passing the prompt", () => {
  const echo = `printf '%s\\n' "$#" "$@" > args; cat > stdin; cat answer`;
  const seen = () => ({
    args: readFileSync(join(folder, "args"), "utf8"),
    stdin: readFileSync(join(folder, "stdin"), "utf8"),
  });

  test("the SDK passes the prompt to a CLI as its last argument", async () => {
    const cli = bash(echo, { prompt: "say hi" });
    await readAll(cli);
    expect(cli.via).toBe("argument");
    expect(seen()).toEqual({ args: "1\nsay hi\n", stdin: "" });
  });

  test.each(["--force", "-p", "- a list"])("the SDK's prompt is never taken for an option: %s", async (prompt) => {
    await readAll(bash(echo, { prompt }));
    expect(seen().args).toBe(`2\n--\n${prompt}\n`);
  });

  test.each([
    ["long", "é".repeat(60_000)],
    ["very long", "x".repeat(2_000_000)],
  ])("the SDK's prompt goes through stdin if it is %s", async (_name, prompt) => {
    const cli = bash(echo, { prompt });
    await readAll(cli);
    expect(cli.via).toBe("stdin");
    expect(seen().stdin).toBe(prompt);
    expect(seen().args).toBe("0\n");
  });

  test("the SDK's prompt goes through stdin on request", async () => {
    await readAll(bash(echo, { prompt: "-x", promptVia: "stdin" }));
    expect(seen().stdin).toBe("-x");
  });

  test("the SDK tolerates a CLI that does not read stdin", async () => {
    const end = await readAll(bash("exec 0<&-; cat answer", { prompt: "x".repeat(1_000_000) }));
    expect(end.outcome).toBe("ok");
  });
});

describe("stopping a CLI", () => {
  const obedient = `
    process.stdin.setEncoding("utf8");
    let text = "";
    process.stdin.on("data", (chunk) => {
      text += chunk;
      for (const line of text.split("\\n").slice(0, -1)) {
        const { type } = JSON.parse(line);
        if (type === "turn") console.log(${JSON.stringify(init)});
        if (type === "cancel") { console.log(${JSON.stringify(result.replace('"is_error":false', '"is_error":true').replace("success", "error"))}); process.exit(0); }
      }
      text = text.slice(text.lastIndexOf("\\n") + 1);
    });`;

  test("a CLI that accepts cancel on stdin ends, and the SDK delivers its result", async () => {
    const cli = new RunningCli({
      command: process.execPath,
      args: ["-e", obedient],
      cwd: folder,
      turn: { type: "turn" },
      timeoutMs: 700,
      graceMs: 4000,
    });
    const end = await readAll(cli);
    expect(end).toMatchObject({
      stages: ["cancel"],
      exitCode: 0,
      signal: "",
      types: ["system", "result"],
      error: { code: "CLI_TIMEOUT" },
    });
  });

  test("when stopping a CLI, the SDK sends SIGTERM and SIGKILL within the time the stages share", async () => {
    const startedAt = performance.now();
    const deaf = await readAll(bash("trap '' TERM; while :; do sleep 0.2; done", { timeoutMs: 400, graceMs: 800 }));
    expect(deaf).toMatchObject({
      stages: ["cancel", "SIGTERM", "SIGKILL"],
      signal: "SIGKILL",
      error: { code: "CLI_TIMEOUT" },
    });
    expect(performance.now() - startedAt).toBeLessThan(2700);
    const plain = await readAll(bash("exec sleep 60", { timeoutMs: 300, turn: {}, graceMs: 400 }));
    expect(plain).toMatchObject({ stages: ["cancel", "SIGTERM"], signal: "SIGTERM" });
  });

  test("the SDK's limit on a CLI's inactivity is separate from the total", async () => {
    const end = await readAll(
      bash(`for i in 1 2 3 4; do echo '${said("a")}'; sleep 0.3; done; sleep 60`, { idleMs: 900 }),
    );
    expect(end).toMatchObject({ error: { code: "CLI_TIMEOUT", message: expect.stringContaining("900") } });
    expect(end.types).toHaveLength(4);
  });

  test("a busy host process does not count as the CLI's inactivity", async () => {
    const cli = bash(`echo '${init}'; for i in 1 2 3 4 5; do sleep 0.1; echo '${said("a")}'; done; cat answer`, {
      idleMs: 400,
    });
    for await (const { type } of cli.frames)
      if (type === "system") Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 900);
    expect(await cli.ended).toMatchObject({ outcome: "ok", stages: [] });
  });

  test("an abort signal, stop() and a reader that stops each end the CLI", async () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 200);
    expect(await readAll(bash("sleep 60", { signal: abort.signal }))).toMatchObject({ error: { code: "INTERRUPTED" } });
    expect(await readAll(bash("sleep 60", { signal: AbortSignal.abort() }))).toMatchObject({
      error: { code: "INTERRUPTED" },
      exitCode: null,
    });
    const stopped = bash("sleep 60");
    setTimeout(() => stopped.stop(), 200);
    expect(await readAll(stopped)).toMatchObject({ error: { code: "INTERRUPTED" } });
    const left = bash(`echo '${init}'; sleep 60`);
    for await (const _frame of left.frames) break;
    expect(await left.ended).toMatchObject({ error: { code: "INTERRUPTED" } });
    expect(isAlive(left.pid)).toBe(false);
  });

  test("after the result the SDK's reader is done, and the CLI has a moment to exit", async () => {
    const sleep = uniqueSleep();
    const cli = bash(`cat answer; setsid sleep ${sleep} & sleep ${sleep}`, { resultGraceMs: 1000 });
    for await (const _frame of cli.frames);
    expect(isAlive(cli.pid)).toBe(true);
    expect(await cli.ended).toMatchObject({ outcome: "ok", finish: "stop", stages: ["cancel", "SIGTERM"] });
    expect(aliveWith(sleep)).toEqual([]);
    const prompt = await readAll(bash("cat answer; sleep 0.2", { resultGraceMs: 3000 }));
    expect(prompt).toMatchObject({ stages: [], exitCode: 0 });
  });

  test("grandchildren of a CLI that hold its stdout do not delay the end", async () => {
    const sleep = uniqueSleep();
    const end = await readAll(bash(`cat answer; (sleep ${sleep} &)`));
    expect(end).toMatchObject({ outcome: "ok", exitCode: 0, stages: [] });
    expect(end.durationMs).toBeLessThan(2000);
    expect(aliveWith(sleep)).toEqual([]);
  });
});

describe("the reader's pace", () => {
  // 2,000 lines of 4 KiB: far more than pipe and queue hold.
  const many = `
    const pad = "x".repeat(4096);
    const { writeSync } = require("node:fs");
    const line = (n) => JSON.stringify({ type: "assistant", message: { role: "assistant", content: [{ type: "text", text: n + pad }] }, session_id: "s1" }) + "\\n";
    (async () => {
      for (let n = 0; n < 2000; n++) {
        if (!process.stdout.write(line(n))) await new Promise((go) => process.stdout.once("drain", go));
        if (n % 10 === 0) writeSync(2, n + "\\n");
      }
      process.stdout.write(${JSON.stringify(`${result}\n`)});
    })();`;

  test("the SDK slows the CLI down to the reader's pace without losses", async () => {
    const cli = new RunningCli({ command: process.execPath, args: ["-e", many], cwd: folder, idleMs: 600 });
    const numbers: number[] = [];
    let isAtRest = true;
    for await (const frame of cli.frames) {
      if (frame.type !== "assistant") continue;
      const { content } = frame.value["message"] as { content: { text: string }[] };
      numbers.push(Number.parseInt(content[0]!.text, 10));
      // A long pause is not silence of the CLI: it is the reader who keeps it waiting.
      if (numbers.length === 5) {
        await new Promise((resolve) => setTimeout(resolve, 1500));
        isAtRest = isAlive(cli.pid);
      }
    }
    const end = await cli.ended;
    expect(isAtRest).toBe(true);
    expect(numbers).toEqual(Array.from({ length: 2000 }, (_, index) => index));
    expect(end).toMatchObject({ outcome: "ok", stages: [], exitCode: 0 });
  });

  test("the CLI waits while the SDK's reader pauses", async () => {
    const cli = new RunningCli({
      command: process.execPath,
      args: ["-e", many.replace("writeSync(2", `require("node:fs").appendFileSync("progress"`)],
      cwd: folder,
    });
    const frames = cli.frames[Symbol.asyncIterator]();
    await frames.next();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const written = Number(readFileSync(join(folder, "progress"), "utf8").trim().split("\n").at(-1));
    expect(written).toBeLessThan(500);
    while (!(await frames.next()).done);
    expect((await cli.ended).outcome).toBe("ok");
  });

  test("the SDK delivers output that is still in the pipe when the CLI exits", async () => {
    const lines = Array.from({ length: 30 }, (_, index) => said(`${index}${"x".repeat(4096)}`)).join("\n");
    writeFileSync(join(folder, "burst"), `${lines}\n${result}\n`);
    const cli = bash("cat burst");
    await until(() => !isAlive(cli.pid));
    let count = 0;
    for await (const _frame of cli.frames) {
      count++;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(count).toBe(31);
    expect(await cli.ended).toMatchObject({ outcome: "ok", exitCode: 0 });
  });
});

test("a host process that exits takes its CLI with it", async () => {
  const { build } = await import("esbuild");
  const sleep = uniqueSleep();
  const driver = join(folder, "driver.mjs");
  await build({
    stdin: {
      contents: `import { RunningCli } from "./src/sdk/child.ts";
        new RunningCli({ command: "bash", args: ["-c", "sleep ${sleep} & setsid sleep ${sleep} & wait"], cwd: "." });
        setTimeout(() => process.exit(3), 400);`,
      resolveDir: process.cwd(),
    },
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: driver,
    logLevel: "error",
  });
  const end = new RunningCli({ command: process.execPath, args: [driver], cwd: folder });
  expect(await until(() => aliveWith(`sleep\0${sleep}`).length === 2)).toBe(true);
  expect((await end.ended).exitCode).toBe(3);
  expect(await until(() => aliveWith(sleep).length === 0)).toBe(true);
});
