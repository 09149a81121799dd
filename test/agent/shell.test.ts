import { appendFileSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { BackgroundShells } from "../../src/agent/background.ts";
import { createProcessRunner } from "../../src/agent/process.ts";
import { shell } from "../../src/agent/tools/shell.ts";
import { type ToolContext, ToolFailure } from "../../src/agent/tools/tool.ts";
import { notLinux, orSkipped } from "../support/skipping.ts";
import { aliveWith, isValidText, uniqueSleep } from "./process-support.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-shell-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const workspace = mkdtempSync(join(base, "workspace-"));

function contextWith(more: Partial<ToolContext> = {}): ToolContext {
  const processes = createProcessRunner();
  return {
    callId: "call_1",
    sessionId: "0f8fad5b-d9cb-469f-a165-70867728950e",
    workspace,
    roots: [],
    signal: new AbortController().signal,
    print: () => {},
    processes,
    background: new BackgroundShells(processes, base),
    todos: undefined as never,
    resultLimit: 100_000,
    compat: undefined,
    ...more,
  };
}

async function run(input: object, more: Partial<ToolContext> = {}) {
  const result = await shell.run(shell.parse(input), contextWith(more));
  return { ...result, kind: result.outcome.kind, value: result.outcome.value as Record<string, any> };
}

describe("Shell calls in the stream", () => {
  test("the stream spells and orders Shell arguments like the original CLI", async () => {
    const place = contextWith({ callId: "call-1\nfc_2" });
    const args = await shell.wireArgs(
      shell.parse({ command: "wc -l notes.txt", description: "Count lines", timeout: 30000 }),
      place,
    );
    expect(JSON.stringify(args)).toBe(
      JSON.stringify({
        command: "wc -l notes.txt",
        workingDirectory: "",
        timeout: 30000,
        toolCallId: "call-1\nfc_2",
        simpleCommands: ["wc"],
        hasInputRedirect: false,
        hasOutputRedirect: false,
        parsingResult: {
          parsingFailed: false,
          executableCommands: [
            {
              name: "wc",
              args: [
                { type: "word", value: "-l" },
                { type: "word", value: "notes.txt" },
              ],
              fullText: "wc -l notes.txt",
            },
          ],
          hasRedirects: false,
          hasCommandSubstitution: false,
          redirects: [],
        },
        fileOutputThresholdBytes: "40000",
        isBackground: false,
        skipApproval: false,
        timeoutBehavior: "TIMEOUT_BEHAVIOR_CANCEL",
        hardTimeout: 86400000,
        description: "Count lines",
        closeStdin: true,
        conversationId: place.sessionId,
      }),
    );
  });

  test("a model cannot approve its own call", async () => {
    const args = shell.parse({ command: "ls", skipApproval: true, skip_approval: true });
    expect((await shell.wireArgs(args, contextWith()))["skipApproval"]).toBe(false);
    expect(args).toEqual({ command: "ls" });
  });

  test("the Shell tool's outcome distinguishes success from failure", async () => {
    const good = await run({ command: "echo hi; echo oops >&2" });
    expect(good.outcome).toEqual({
      kind: "success",
      value: {
        command: "echo hi; echo oops >&2",
        workingDirectory: "",
        exitCode: 0,
        signal: "",
        stdout: "hi\n",
        stderr: "oops\n",
        executionTime: expect.any(Number),
        interleavedOutput: expect.stringMatching(/^(hi\noops\n|oops\nhi\n)$/),
        localExecutionTimeMs: expect.any(Number),
      },
      siblings: { isBackground: false },
    });
    const bad = await run({ command: "echo no; exit 3" });
    expect(bad).toMatchObject({ kind: "failure", value: { exitCode: 3, stdout: "no\n", signal: "" } });
    expect(bad.text).toBe("no\n[exit code 3]");
  });

  test("the Shell tool reports a command that a signal ended", async () => {
    const killed = await run({ command: "kill -9 $$" });
    expect(killed).toMatchObject({
      kind: "failure",
      value: { exitCode: 137, signal: "SIGKILL" },
      text: "(no output)\n[killed by SIGKILL]",
    });
  });

  test("the Shell tool reports a command that its timeout ended", async () => {
    const late = await run({ command: "echo begun; sleep 60", timeout: 1000 });
    expect(late).toMatchObject({
      kind: "timeout",
      value: { timeoutMs: 1000, stdout: "begun\n", command: "echo begun; sleep 60" },
    });
    expect(late.text).toMatch(/^begun\n\[timed out after 1000 ms/);
    const place = contextWith();
    expect((await shell.wireArgs(shell.parse({ command: "ls" }), place))["timeout"]).toBe(120_000);
    expect((await shell.wireArgs(shell.parse({ command: "ls", timeout: 30 }), place))["timeout"]).toBe(30_000);
    expect((await shell.wireArgs(shell.parse({ command: "ls", timeout: 9e9 }), place))["timeout"]).toBe(600_000);
    expect((await run({ command: "echo x", timeout: 9e9 })).text).toBe(
      "x\n[timeout was lowered to 600000 ms, the maximum]",
    );
  });

  test("the Shell tool reports a command that the user cancelled", async () => {
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 200);
    const end = await run({ command: "echo half; sleep 60" }, { signal: abort.signal });
    expect(end).toMatchObject({
      kind: "error",
      value: { errorMessage: "Cancelled", error: "Cancelled", stdout: "half\n" },
    });
    expect(end.text).toContain("half\n[cancelled by the user]");
  });
});

describe("Shell results for the model", () => {
  test("the model sees a command's output, or that there was none", async () => {
    expect((await run({ command: "echo hi" })).text).toBe("hi\n");
    expect((await run({ command: "true" })).text).toBe("(no output)");
    expect((await run({ command: "false" })).text).toBe("(no output)\n[exit code 1]");
  });

  test("large command output is shortened, with a private file for the rest", async () => {
    const { value, text } = await run({ command: "seq 1 20000; printf '日本' >&2" });
    const { filePath, sizeBytes, lineCount } = value["outputLocation"];
    const whole = readFileSync(filePath, "utf8");
    expect(Buffer.byteLength(whole)).toBe(sizeBytes);
    expect(whole.startsWith("1\n2\n") && whole.includes("\n20000\n") && whole.includes("日本")).toBe(true);
    expect(lineCount).toBe(20000);
    expect(statSync(filePath).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(filePath)).mode & 0o777).toBe(0o700);
    expect(text).toContain(filePath);
    expect(text.length).toBeLessThan(16_500);
    expect(value["stdout"].length).toBeLessThan(41_000);
    expect(text.startsWith("1\n2\n3\n")).toBe(true);
    expect(text).toMatch(/\n\[… \d+ characters omitted …\]\n/);
    expect(text).toContain("\n20000\n");
  });

  test("command output may be shortened for the model yet complete in the stream", async () => {
    const { value, text } = await run({ command: "seq 1 5000" });
    expect(value["stdout"].length).toBe(23_893);
    expect(value["outputLocation"]).toBeUndefined();
    expect(text.length).toBeLessThan(16_500);
    const file = /all of it: (\S+)/.exec(text)![1]!;
    expect(readFileSync(file, "utf8")).toBe(value["stdout"]);
  });

  test.each([
    [
      "colours and titles",
      "printf '\\e[1;31mred\\e[0m \\e]0;title\\a\\e]8;;http://x\\e\\\\link\\e]8;;\\e\\\\\\e(B\\n'",
      "red link\n",
    ],
    ["progress", "for i in 1 2 3; do printf '\\r%s%%' $i; done; printf '\\r\\ndone\\r\\n'", "3%\ndone\n"],
    ["blank lines", "printf 'a\\n\\n \\n\\n\\n  b\\n\\nc\\n'", "a\n\n  b\n\nc\n"],
  ])(
    "the model gets a command's output as plain lines, and the stream gets it unchanged: %s",
    async (_what, command, plain) => {
      const { value, text } = await run({ command });
      expect(text).toBe(plain);
      expect(value["stdout"]).not.toBe(plain);
    },
  );

  const alternating = "for i in 1 2 3; do echo o$i; echo e$i >&2; done";
  const inOrder = "o1\ne1\no2\ne2\no3\ne3\n";

  test("stdout and stderr keep their order where one has been read before the other is written", async () => {
    const seen = join(workspace, "seen");
    writeFileSync(seen, "");
    const read = (what: string) => `until grep -q ${what} ${seen}; do sleep 0.01; done;`;
    const command = `for i in 1 2 3; do echo o$i; ${read("o$i")} echo e$i >&2; ${read("e$i")} done`;
    const { value, text } = await run({ command }, { print: (chunk) => appendFileSync(seen, chunk) });
    expect(value).toMatchObject({ stdout: "o1\no2\no3\n", stderr: "e1\ne2\ne3\n", interleavedOutput: inOrder });
    expect(text).toBe(inOrder);
  });

  test.each([alternating, `${alternating} # ${"x".repeat(120_000)}`])(
    "a command's stdout and stderr keep their order when they are merged",
    async (command) => {
      for (let round = 0; round < 3; round++) {
        const { value, text } = await run({ command }, { mergeOutput: true });
        expect(value).toMatchObject({ stdout: inOrder, stderr: "", interleavedOutput: inOrder });
        expect(text).toBe(inOrder);
      }
      expect((await run({ command: "exit 3" }, { mergeOutput: true })).value["exitCode"]).toBe(3);
    },
  );

  test("the Shell tool's environment asks commands not to print colours", async () => {
    expect((await run({ command: "echo $NO_COLOR" })).value["stdout"]).toBe("1\n");
  });

  test("a Shell result never exceeds its limit", async () => {
    const { text, value } = await run({ command: "seq 1 5000" }, { resultLimit: 5000 });
    expect(text.length).toBeLessThan(5600);
    expect(value["outputLocation"].lineCount).toBe(5000);
  });

  test.skipIf(notLinux)(orSkipped("that a process was left behind and ended", notLinux), async () => {
    const sleep = uniqueSleep();
    const { text } = await run({ command: `sleep ${sleep} >/dev/null 2>&1 & echo started` });
    expect(text).toContain("1 process that the command left running");
    expect(text).toContain("isBackground");
    expect(aliveWith(sleep)).toEqual([]);
  });

  test("invalid UTF-8 in command output is replaced", async () => {
    const { text, value } = await run({ command: "head -c 100000 /dev/urandom" });
    expect(isValidText(text) && isValidText(JSON.stringify(value))).toBe(true);
  });
});

describe("running a Shell call", () => {
  test("a command runs in the workspace or the given directory", async () => {
    expect((await run({ command: "pwd; mkdir -p sub/er" })).value["stdout"]).toBe(`${workspace}\n`);
    const inside = await run({ command: "pwd", workingDirectory: "sub/er" });
    expect(inside.value).toMatchObject({
      stdout: `${workspace}/sub/er\n`,
      workingDirectory: join(workspace, "sub/er"),
    });
    const failure = await run({ command: "pwd", workingDirectory: "none" }).catch((error) => error);
    expect(failure).toBeInstanceOf(ToolFailure);
    expect(failure).toMatchObject({ kind: "spawnError", value: { workingDirectory: join(workspace, "none") } });
    expect(failure.message).toContain(join(workspace, "none"));
    expect(failure.message).toContain("does not exist");
  });

  test("a Shell call needs one permission, for its command in its directory", () => {
    const needs = shell.needs(shell.parse({ command: "rm -r x", workingDirectory: "sub" }), contextWith());
    expect(needs).toEqual([{ kind: "Shell", target: "rm -r x", cwd: join(workspace, "sub") }]);
  });

  test("the Shell tool runs a command longer than the system's argument limit", async () => {
    const { value } = await run({ command: `cat <<'EOF' | wc -c\n${"x".repeat(300_000)}\nEOF\n` });
    expect(value["stdout"].trim()).toBe("300001");
  });

  test("a shell command may open /dev/stdout and /dev/stderr by name", async () => {
    const { value } = await run({ command: "echo a | tee /dev/stderr; echo b > /dev/stdout; exit 4" });
    expect(value).toMatchObject({ stdout: "a\nb\n", stderr: "a\n", exitCode: 4 });
  });

  test("the Shell tool refuses an empty command, and one with a NUL character", () => {
    expect(() => shell.parse({ command: " " })).toThrow(/must not be empty/);
    expect(() => shell.parse({ command: "ls\0" })).toThrow(/NUL/);
    expect(() => shell.parse({})).toThrow(/"command" is missing/);
  });

  test("the Shell tool streams a command's output as it is printed", async () => {
    const chunks: { text: string; at: number }[] = [];
    const print = (text: string) => void chunks.push({ text, at: performance.now() });
    await run({ command: "echo one; sleep 0.4; echo two" }, { print });
    expect(chunks.map(({ text }) => text).join("")).toBe("one\ntwo\n");
    expect(chunks.at(-1)!.at - chunks[0]!.at).toBeGreaterThan(200);
  });
});
