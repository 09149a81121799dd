import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { BackgroundShells } from "../../src/agent/background.ts";
import { createProcessRunner } from "../../src/agent/process.ts";
import { awaitShell } from "../../src/agent/tools/await.ts";
import { shell } from "../../src/agent/tools/shell.ts";
import type { Tool, ToolContext } from "../../src/agent/tools/tool.ts";
import { aliveWith, isAlive, uniqueSleep, until } from "./process-support.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-background-")));
const processes = createProcessRunner();
let background = new BackgroundShells(processes, base);
afterEach(async () => {
  await background.endAll();
  background = new BackgroundShells(processes, base);
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

async function call(tool: Tool, input: object, more: Partial<ToolContext> = {}) {
  const context: ToolContext = {
    callId: "call_1",
    sessionId: "session-1",
    workspace: base,
    roots: [],
    signal: new AbortController().signal,
    print: () => {},
    processes,
    background,
    todos: undefined as never,
    resultLimit: 100_000,
    compat: undefined,
    ...more,
  };
  const result = await tool.run(tool.parse(input), context);
  return { ...result, value: result.outcome.value as Record<string, any> };
}

describe("background commands", () => {
  test("a background command starts at once, the agent reads its output in parts, and it ends by itself", async () => {
    const command = "echo one; until [ -e go ]; do sleep 0.01; done; echo two; exit 5";
    const started = await call(shell, { command, isBackground: true });
    const { taskId, pid } = started.value as { taskId: string; pid: number };
    expect(taskId).toBe("shell_1");
    expect(started.outcome).toMatchObject({
      kind: "success",
      siblings: { isBackground: true, pid, terminalsFolder: background.outputFolder("session-1") },
    });
    expect(isAlive(pid)).toBe(true);
    expect(started.text).toContain("shell_1");

    const first = await call(awaitShell, { taskId, blockUntilMs: 5000, pattern: "^one$" });
    expect(first.value).toMatchObject({ taskId, status: "running", output: "one\n" });
    expect(first.text).toMatch(
      /^one\n\[shell_1: still running after \d+ ms, a line matches \^one\$; all of its output: /,
    );
    writeFileSync(join(base, "go"), "");
    const second = await call(awaitShell, { taskId, blockUntilMs: 5000 });
    expect(second.value).toMatchObject({ status: "exited", exitCode: 5, output: "two\n" });
    const third = await call(awaitShell, { taskId, blockUntilMs: 5000 });
    expect(third.text).toMatch(/^\(no new output\)\n\[shell_1: exit code 5; all of its output: /);
    const file = third.value["outputFilePath"];
    expect(readFileSync(file, "utf8")).toBe("one\ntwo\n");
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("Await waits for the command's end, however much it prints", async () => {
    const command = "for i in 1 2 3 4 5 6; do seq 1000; echo step $i; sleep 0.2; done";
    const { value } = await call(shell, { command, isBackground: true });
    const end = await call(awaitShell, { taskId: value["taskId"], blockUntilMs: 20_000 });
    expect(end.value).toMatchObject({ status: "exited", exitCode: 0 });
    expect(end.text).toContain("step 6\n[shell_1: exit code 0");
    expect(end.text).toContain(end.value["outputFilePath"]);
    expect(end.text.length).toBeLessThan(4500);
    expect(end.text).toMatch(/^\[… earlier lines are in the file below …\]\n\d+\n/);
  });

  test("Await waits for a matching line, even if it arrives in pieces or was printed before", async () => {
    const command = "printf 'listening on '; sleep 0.3; echo port 80; sleep 30";
    const { value } = await call(shell, { command, isBackground: true });
    const wait = { taskId: value["taskId"], blockUntilMs: 20_000, pattern: "^listening on port \\d+$" };
    expect((await call(awaitShell, wait)).value).toMatchObject({ status: "running", output: "listening on port 80\n" });
    const later = await call(awaitShell, { ...wait, blockUntilMs: 100 });
    expect(later.text).toContain("no line matches");
    const quick = await call(shell, { command: "echo ready; sleep 30", isBackground: true });
    await until(() => readFileSync(/goes to (\S+)\. /.exec(quick.text)![1]!, "utf8") !== "");
    const seen = await call(awaitShell, { taskId: quick.value["taskId"], pattern: "ready" });
    expect(seen.text).toContain("a line matches ready");
  });

  test("Await refuses an invalid pattern, and a pattern that takes forever to match blocks nothing", async () => {
    const { value } = await call(shell, { command: `echo ${"a".repeat(60)}!; sleep 0.2`, isBackground: true });
    await expect(call(awaitShell, { taskId: value["taskId"], pattern: "(" })).rejects.toThrow(
      /not a regular expression/,
    );
    const look = await call(awaitShell, { taskId: value["taskId"], blockUntilMs: 20_000, pattern: "(a+)+$" });
    expect(look.value).toMatchObject({ status: "exited" });
  });

  test("Await without a wait returns at once", async () => {
    const { value } = await call(shell, { command: "sleep 30", isBackground: true });
    const startedAt = performance.now();
    const look = await call(awaitShell, { taskId: value["taskId"] });
    expect(performance.now() - startedAt).toBeLessThan(5000);
    expect(look.value).toMatchObject({ status: "running", output: "" });
  });

  test("Await returns at its time limit, and when the user cancels", async () => {
    const { value } = await call(shell, { command: "sleep 30", isBackground: true });
    const startedAt = performance.now();
    await call(awaitShell, { taskId: value["taskId"], blockUntilMs: 300 });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(290);
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 100);
    const look = await call(awaitShell, { taskId: value["taskId"], blockUntilMs: 20_000 }, { signal: abort.signal });
    expect(look.value["status"]).toBe("running");
    expect(performance.now() - startedAt).toBeLessThan(5000);
  });

  test("a background command can be stopped with everything it started", async () => {
    const sleep = uniqueSleep();
    const { value } = await call(shell, { command: `setsid sleep ${sleep} & sleep ${sleep}; :`, isBackground: true });
    expect(await until(() => aliveWith(`sleep\0${sleep}`).length === 2)).toBe(true);
    const end = await call(awaitShell, { taskId: value["taskId"], kill: true });
    expect(end.value).toMatchObject({ status: "killed" });
    expect(aliveWith(sleep)).toEqual([]);
  });

  test("when the agent names an unknown background command, the error lists the known ones", async () => {
    await expect(call(awaitShell, { taskId: "shell_9" })).rejects.toThrow(/No command was started/);
    await call(shell, { command: "sleep 30", isBackground: true });
    await expect(call(awaitShell, { taskId: "shell_9" })).rejects.toThrow(/shell_1 \(running\)/);
  });

  test("a background command that cannot start says so", async () => {
    const start = call(shell, { command: "ls", isBackground: true, workingDirectory: "none" });
    await expect(start).rejects.toMatchObject({
      kind: "spawnError",
      message: expect.stringContaining("does not exist"),
    });
    expect(background.list()).toEqual([]);
  });

  test("at its end a run stops and names the background commands that still run", async () => {
    const sleep = uniqueSleep();
    await call(shell, { command: `sleep ${sleep}`, isBackground: true });
    const { value } = await call(shell, { command: "true", isBackground: true });
    await call(awaitShell, { taskId: value["taskId"], blockUntilMs: 5000 });
    const ended = await background.endAll();
    expect(ended).toEqual([
      expect.objectContaining({ taskId: "shell_1", command: `sleep ${sleep}`, status: "killed" }),
    ]);
    expect(aliveWith(sleep)).toEqual([]);
  });

  test("the endless output of a background command takes bounded memory and disk space", async () => {
    const { value } = await call(shell, { command: "yes", isBackground: true });
    await until(() => existsSync(value["outputFilePath"]) && statSync(value["outputFilePath"]).size > 2 ** 20);
    const look = await call(awaitShell, { taskId: value["taskId"], kill: true });
    expect(look.text.length).toBeLessThan(4500);
    expect(look.value["output"]).toContain("bytes omitted");
    expect(statSync(look.value["outputFilePath"]).size).toBeLessThan(64 * 1024 * 1024 + 200);
  });

  test("commands in the foreground do not affect those in the background", async () => {
    const { value } = await call(shell, { command: "sleep 30", isBackground: true });
    await call(shell, { command: "sleep 0.1 & true" });
    expect(isAlive(value["pid"])).toBe(true);
  });

  test("stream lines about background commands look as documented", () => {
    const place = { callId: "c", sessionId: "s", workspace: base, roots: [] };
    expect(awaitShell.wireArgs(awaitShell.parse({ taskId: "shell_1" }), place)).toEqual({
      taskId: "shell_1",
      blockUntilMs: 0,
      toolCallId: "c",
    });
    const long = awaitShell.parse({ taskId: "shell_1", blockUntilMs: 1e9, kill: true });
    expect(awaitShell.wireArgs(long, place)).toMatchObject({ blockUntilMs: 600_000, kill: true });
    expect(awaitShell.needs(long, place)).toEqual([]);
  });
});
