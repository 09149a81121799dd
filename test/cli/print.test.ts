// Print mode as programs use it: one prompt, exactly one result, whatever happens.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import { untilItReads } from "../support/reads-stdin.ts";
import { type CliRun, cli, createWorkspace, type Workspace } from "../support/run-cli.ts";

const workspaces: Workspace[] = [];
const workspace = (files?: Record<string, string>): Workspace => {
  const made = createWorkspace(files);
  workspaces.push(made);
  return made;
};
afterAll(() => {
  for (const each of workspaces) each.remove();
});

const stream = ["-p", "--force", "--output-format", "stream-json"];
const shell = (command: string, more: object = {}) => ({ calls: [{ name: "Shell", args: { command, ...more } }] });

function results(run: CliRun): Record<string, any>[] {
  return run.lines().filter((line) => line["type"] === "result");
}

function onlyResult(run: CliRun): Record<string, any> {
  const found = results(run);
  expect(found, run.stdout + run.stderr).toHaveLength(1);
  expect(run.lines().at(-1)).toEqual(found[0]);
  return found[0]!;
}

it.each(["--force", "--trust"])(
  "with %s, commands that the agent runs see the chat's id in CURSOR_CONVERSATION_ID",
  async (grant) => {
    const place = workspace({
      "script.json": JSON.stringify([shell("echo id=$CURSOR_CONVERSATION_ID"), { text: "ok" }]),
    });
    const flags = ["-p", grant, "--output-format", "stream-json", "--model", "script:script.json"];
    const run = await place.run([...flags, "go"]);
    expect(run.stdout).toContain(`id=${run.lines()[0]!["session_id"]}`);
  },
);

describe("the prompt", () => {
  it("print mode does not wait for stdin if a prompt is given", async () => {
    const run = await workspace().run([...stream, "what is 2+2?"], { stdin: "open", timeoutMs: 15_000 });
    expect(run.exit).toBe(0);
    expect(onlyResult(run)["result"]).toBe("2 + 2 = 4");
  });

  it("print mode reads the prompt from stdin when the command line has no words", async () => {
    const run = await workspace().run(["-p", "--force"], { stdin: "what is 3+4?\n" });
    expect(run.stdout).toBe("3 + 4 = 7\n");
  });

  it("in print mode, a lone dash as a word adds stdin to the prompt", async () => {
    const run = await workspace().run([...stream, "say", "-"], { stdin: "piped words" });
    expect(run.lines()[1]!["message"].content[0].text).toBe("say\n\npiped words");
  });

  it("print mode takes everything after -- as the prompt, options included", async () => {
    const run = await workspace().run(["-p", "--trust", "--output-format", "stream-json", "--", "say", "--force", "-"]);
    expect(run.lines()[0]!["permissionMode"]).toBe("default");
    expect(run.lines()[1]!["message"].content[0].text).toBe("say --force -");
  });

  it.each([
    ["missing.png", "no such file"],
    ["text.png", "is not a PNG"],
    [".", "it is not a file"],
  ])("print mode refuses an unusable --image file: %s", async (path, why) => {
    const run = await workspace({ "text.png": "RIFF but no picture" }).run([
      ...stream,
      "--image",
      path,
      "what is this?",
    ]);
    expect(run.exit).toBe(1);
    expect(onlyResult(run)["error_code"]).toBe("FILE_UNREADABLE");
    expect(run.stderr).toContain(why);
  });

  it("print mode accepts a prompt that begins with a dash and a space", async () => {
    const run = await workspace().run([...stream, "- say a\n- say b"]);
    expect(run.lines()[1]!["message"].content[0].text).toBe("- say a\n- say b");
  });

  it("print mode without a prompt is a usage error", async () => {
    const run = await workspace().run(["-p", "--force", "--output-format", "json"], { stdin: "" });
    expect(run.exit).toBe(2);
    expect(onlyResult(run)).toMatchObject({ is_error: true, error_code: "USAGE", session_id: "" });
  });
});

describe("the formats", () => {
  it("text mode prints the text after the last tool call", async () => {
    const place = workspace();
    const script = [{ text: "First I look.", ...shell("echo hi") }, { text: "All done." }];
    const run = await place.play(script, ["--output-format", "text"]);
    expect(run.stdout).toBe("All done.\n");
  });

  it("--output-format json prints a single object", async () => {
    const run = await workspace().play([{ text: "ok" }], ["--output-format", "json"]);
    expect(run.lines()).toHaveLength(1);
    expect(onlyResult(run)).toMatchObject({ subtype: "success", result: "ok" });
  });

  it("in the stream, all text segments joined equal the result, and flushed ones carry the call's id", async () => {
    const run = await workspace().play([{ text: "One. ", ...shell("true") }, { text: "Two." }]);
    const said = run.lines().filter((line) => line["type"] === "assistant");
    expect(said.map((line) => line["message"].content[0].text)).toEqual(["One. ", "Two."]);
    expect(said[0]).toHaveProperty("model_call_id");
    expect(said[1]).not.toHaveProperty("model_call_id");
    expect(said.map((line) => typeof line["timestamp_ms"])).toEqual(["number", "undefined"]);
    expect(onlyResult(run)["result"]).toBe("One. Two.");
  });

  it("partial output adds deltas with a timestamp; whole messages repeat their text", async () => {
    const run = await workspace().play([{ text: ["a", "b"] }], ["--stream-partial-output"]);
    const said = run.lines().filter((line) => line["type"] === "assistant");
    const deltas = said.filter((line) => "timestamp_ms" in line);
    expect(deltas.map((line) => line["message"].content[0].text).join("")).toBe("ab");
    expect(said.filter((line) => !("timestamp_ms" in line)).map((line) => line["message"].content[0].text)).toEqual([
      "ab",
    ]);
  });

  it.each([
    [["--stream-partial-output"], "--output-format stream-json"],
    [["--output-format", "yaml"], "text, json, stream-json"],
    [["--output-format"], "needs a value"],
    [["--max-turns", "0"], "--max-turns 20"],
    [["--max-time", "soon"], "--max-time 90s"],
    [["--max-cost", "-1"], "--max-cost 0.50"],
    [["--mode", "edit"], "plan, ask, agent"],
    [["--plan", "--mode", "ask"], "Choose one"],
    [["--froce"], "--force"],
    [["--allowed-tools", "Raed"], "Did you mean Read"],
  ])("print mode refuses %j and says what to type", async (args, hint) => {
    const run = await workspace().run(["-p", "--trust", ...args, "--", "hi"]);
    expect(run.exit).toBe(2);
    expect(run.stderr).toContain(hint);
    expect(run.stdout).toBe("");
  });
});

describe("empty prompts", () => {
  it.each([[""], ["  \n"]])("print mode does not take %j as a prompt, and creates nothing", async (prompt) => {
    const place = workspace();
    const run = await place.run(["-p", "--force", "--", prompt]);
    expect(run).toMatchObject({ exit: 2, stdout: "" });
    expect(run.stderr).toContain("no prompt was given");
    expect(existsSync(join(place.config, "chats"))).toBe(false);
  });
});

describe("the end of a print run", () => {
  it("a model error gives one result line and exit code 1", async () => {
    const run = await workspace().play([
      { text: "a", ...shell("true") },
      { error: { code: "MODEL_BAD_REQUEST", message: "no" } },
    ]);
    expect(run.exit).toBe(1);
    expect(onlyResult(run)).toMatchObject({
      subtype: "error",
      is_error: true,
      error_code: "MODEL_BAD_REQUEST",
      result: "Error: no",
    });
    expect(run.stderr).toContain("Error: no [MODEL_BAD_REQUEST]");
  });

  it.each(["text", "json", "stream-json"])("an untrusted workspace writes nothing on stdout as %s", async (format) => {
    const run = await workspace().run(["-p", "--output-format", format, "what is 2+2?"]);
    expect(run).toMatchObject({ exit: 1, stdout: "" });
    expect(run.stderr).toContain("Workspace Trust Required");
    expect(run.stderr).toContain("--trust, --yolo, or -f");
    expect(run.stderr).toContain("[UNTRUSTED]");
  });

  it("--trust holds for the run even if it cannot be saved", async () => {
    const env = { HOME: "/dev/null/nobody" };
    const kept = await workspace().run(["-p", "--trust", "what is 2+2?"], { env });
    expect(kept.exit).toBe(1);
    expect(kept.stderr).toContain("--no-persist");
    const run = await workspace().run(["-p", "--trust", "--no-persist", "what is 2+2?"], { env });
    expect(run.stdout).toBe("2 + 2 = 4\n");
    expect(run.stderr).toContain("applies for this run only");
  });

  it("--trust is saved for later runs, --force is not", async () => {
    const place = workspace();
    expect((await place.run(["-p", "--force", "what is 2+2?"])).exit).toBe(0);
    expect((await place.run(["-p", "what is 2+2?"])).exit).toBe(1);
    expect((await place.run(["-p", "--trust", "what is 2+2?"])).exit).toBe(0);
    expect((await place.run(["-p", "what is 2+2?"])).exit).toBe(0);
  });

  it.each([
    ["SIGINT", 130, "INTERRUPTED"],
    ["SIGTERM", 143, "TERMINATED"],
  ] as const)("%s during a command ends it, with a result and exit code %i", async (signal, exit, code) => {
    const place = workspace();
    const run = await place.play([shell("echo $$ > pid; sleep 600"), { text: "never" }], [], {
      onStart: (child) => whenExists(join(place.path, "pid"), () => child.kill(signal)),
    });
    expect(run.exit, run.stderr).toBe(exit);
    expect(onlyResult(run)).toMatchObject({ is_error: true, error_code: code });
    const completed = run.lines().find((line) => line["subtype"] === "completed");
    expect(completed).toBeDefined();
    expect(isRunning(Number(readFileSync(join(place.path, "pid"), "utf8")))).toBe(false);
  });

  it("a signal while the model is slow ends the run", async () => {
    const run = await workspace().play([{ delayMs: 60_000, text: "late" }], [], {
      onStart: (child) => afterFirstLine(child, () => child.kill("SIGINT")),
    });
    expect(run.exit).toBe(130);
    expect(onlyResult(run)["error_code"]).toBe("INTERRUPTED");
    expect(run.ms).toBeLessThan(20_000);
  });

  it("a signal while the prompt is read from stdin ends the run", async () => {
    const run = await workspace().run(["-p", "--force", "--output-format", "json"], {
      stdin: "open",
      onStart: (child) => void untilItReads(child).then(() => child.kill("SIGTERM")),
    });
    expect(run.exit).toBe(143);
    expect(onlyResult(run)["error_code"]).toBe("TERMINATED");
  });

  it("--max-time may exceed the range of a timer", async () => {
    const run = await workspace().play([{ delayMs: 300, text: "ok" }], ["--max-time", "900h"]);
    expect(run.exit, run.stderr).toBe(0);
    expect(run.stderr).toBe("");
  });

  it("when its reader closes the pipe, print mode ends without an error message", async () => {
    const place = workspace();
    const long = Array.from({ length: 2000 }, () => "word ".repeat(200));
    const run = await place.play([{ text: long, ...shell("sleep 600") }], ["--stream-partial-output"], {
      onStart: (child) => child.stdout!.once("data", () => child.stdout!.destroy()),
    });
    expect(run.stderr).toBe("");
    expect(run.exit).toBe(141);
  });

  it("a full disk behind stdout is reported on stderr", async () => {
    if (!existsSync("/dev/full")) return;
    const place = workspace();
    const child = spawn(process.execPath, [cli, ...stream, "what is 2+2?"], {
      cwd: place.path,
      env: place.env,
      stdio: ["ignore", openSync("/dev/full", "w"), "pipe"],
    });
    let stderr = "";
    child.stderr!.on("data", (chunk) => {
      stderr += chunk;
    });
    const exit = await new Promise((resolve) => child.on("close", resolve));
    expect(exit).toBe(1);
    expect(stderr).toContain("STORE_FULL");
  });

  it("print mode writes 10 MB of text completely into a pipe with a slow reader", async () => {
    const place = workspace();
    const piece = "0123456789abcdef".repeat(64);
    place.file("script.json", JSON.stringify([{ text: Array.from({ length: 10_240 }, () => piece) }]));
    const run = await bash(
      `"${process.execPath}" "${cli}" -p --force --model script:script.json x | (sleep 1; cat) | wc -c`,
      place.path,
      place.env,
    );
    expect(Number(run.stdout)).toBe(10_240 * piece.length + 1);
  });

  it("--max-turns, --max-time and the detection of endless repetition end a run with an error code", {
    timeout: 90_000,
  }, async () => {
    const place = workspace({ "a.txt": "a" });
    const read = (name: string) => ({ calls: [{ name: "Read", args: { path: name } }] });
    const turns = await place.play({ loop: true, replies: [read("a.txt"), read("b.txt")] }, ["--max-turns", "3"]);
    expect(onlyResult(turns)["error_code"]).toBe("MAX_TURNS");
    // What the flag gives holds, whatever the files say.
    place.file(`${place.config}/courser.json`, '{ "maxTurns": 2 }');
    const more = await place.play([read("a.txt"), read("b.txt"), read("c.txt"), { text: "ok" }], ["--max-turns", "9"]);
    expect(onlyResult(more)["result"]).toBe("ok");
    const fewer = await place.play([read("a.txt"), read("b.txt"), read("c.txt"), { text: "ok" }]);
    expect(onlyResult(fewer)["error_code"]).toBe("MAX_TURNS");
    const time = await place.play([shell("sleep 600")], ["--max-time", "500ms"]);
    expect(onlyResult(time)["error_code"]).toBe("MAX_TIME");
    expect(time.exit).toBe(1);
    const repeated = await place.play({ loop: true, replies: [read("a.txt")] }, ["--max-turns", "3000"]);
    expect(onlyResult(repeated)["error_code"]).toBe("LOOP_DETECTED");
    const heeded = { expect: ["made the same calls 3 times in a row"], text: "I stop." };
    const most = ["--max-turns", "20"];
    expect((await place.play([read("a.txt"), read("a.txt"), read("a.txt"), heeded], most)).exit).toBe(0);
    const polls = new Array(7).fill(shell("sleep 0.01; cat a.txt"));
    const polled = await place.play([...polls, { text: "It waited." }], most);
    expect(onlyResult(polled)["result"]).toBe("It waited.");
    expect(repeated.lines().filter((line) => line["subtype"] === "started").length).toBeLessThanOrEqual(10);
  });

  it("an unexpected error gives one result and exit 1", async () => {
    const place = workspace();
    const bug = place.file("bug.cjs", 'setTimeout(() => { throw new Error("a bug"); }, 400);');
    const run = await place.play([{ delayMs: 60_000, text: "late" }], [], {
      env: { NODE_OPTIONS: `--require="${bug}"` },
    });
    expect(run.exit).toBe(1);
    expect(onlyResult(run)).toMatchObject({ is_error: true, error_code: "INTERNAL" });
    expect(run.stderr).toContain("a bug");
  });

  it("--max-cost is refused if it could not be enforced", async () => {
    const run = await workspace().run([
      "-p",
      "--force",
      "--max-cost",
      "1",
      "-e",
      "http://192.0.2.1/v1",
      "--model",
      "x",
      "hi",
    ]);
    expect(run.exit).toBe(2);
    expect(run.stderr).toContain("the price of x is not known");
  });

  it("--debug logs to stderr and leaves stdout alone", async () => {
    const run = await workspace().play([shell("true"), { text: "ok" }], ["--debug"]);
    expect(onlyResult(run)["result"]).toBe("ok");
    expect(run.stderr).toMatch(/debug \d+ms shell ends: success/);
  });

  it("print mode reports an empty answer of the model as an error", async () => {
    const run = await workspace().play([{ text: "" }]);
    expect(run.exit).toBe(1);
    expect(onlyResult(run)["error_code"]).toBe("MODEL_EMPTY");
  });
});

describe("tool calls in print mode", () => {
  it("the agent runs the tool calls of one reply in parallel if they cannot conflict", async () => {
    const run = await workspace().play([
      {
        calls: [
          { name: "Shell", args: { command: "sleep 1.5; echo a" } },
          { name: "Shell", args: { command: "sleep 1; echo b" } },
        ],
      },
      { text: "ok" },
    ]);
    const events = run
      .lines()
      .filter((line) => line["type"] === "tool_call")
      .map((line) => line["subtype"]);
    expect(events).toEqual(["started", "started", "completed", "completed"]);
    const [first] = run.lines().filter((line) => line["subtype"] === "completed");
    expect(first!["tool_call"].shellToolCall.args.command).toContain("echo b");
  });

  it("the agent runs the shell commands of one reply one after the other, in order", async () => {
    const place = workspace();
    const run = await place.play([
      {
        calls: [
          { name: "Shell", args: { command: "sleep 0.4; echo one >> log; false" } },
          { name: "Shell", args: { command: "echo two >> log" } },
          { name: "Shell", args: { command: "cat log" } },
          { name: "Shell", args: { command: "sleep 0.2; echo three >> log", isBackground: true } },
          { name: "Await", args: { taskId: "shell_1", blockUntilMs: 20_000 } },
          { name: "Shell", args: { command: "tail -1 log" } },
        ],
      },
      { expect: ["one\ntwo", "[shell_1: exit code 0", "three"], text: "ok" },
    ]);
    expect(run.exit, run.stderr).toBe(0);
    const steps = run.lines().filter((line) => line["type"] === "tool_call");
    expect(steps.slice(0, 6).map((line) => line["subtype"])).toEqual(new Array(6).fill("started"));
    expect(readFileSync(join(place.path, "log"), "utf8")).toBe("one\ntwo\nthree\n");
    const outputs = steps.slice(6).map((line) => line["tool_call"].shellToolCall?.result.success?.stdout);
    expect(outputs.slice(1)).toEqual(["", "one\ntwo\n", "", undefined, "three\n"]);
  });

  it("the agent runs tool calls that write one after the other", async () => {
    const place = workspace();
    const calls = [
      { name: "Write", args: { path: "a.txt", content: "one" } },
      { name: "Edit", args: { path: "a.txt", edits: [{ oldText: "one", newText: "two" }] } },
      { name: "Shell", args: { command: "cat a.txt" } },
    ];
    const run = await place.play([{ calls }, { text: "ok" }]);
    const ended = run.lines().filter((line) => line["subtype"] === "completed");
    expect(ended.at(-1)!["tool_call"].shellToolCall.result.success.stdout).toBe("two");
  });

  it("for unknown tools and invalid arguments the agent runs nothing and tells the model", async () => {
    const place = workspace();
    const calls = [
      { name: "sudo_shell", args: { command: "touch pwned" } },
      { name: "Shell", args: "{not json" },
      { name: "Shell", args: { commandline: "touch pwned" } },
    ];
    const run = await place.play([{ calls }, { expect: ["no tool named sudo_shell"], text: "ok" }]);
    expect(run.exit, run.stderr).toBe(0);
    expect(existsSync(join(place.path, "pwned"))).toBe(false);
    for (const line of run.lines().filter((each) => each["subtype"] === "completed")) {
      const tool = Object.values(line["tool_call"])[0] as { result: object };
      expect(Object.keys(tool.result)).toEqual(["error"]);
    }
  });

  it("shell commands and file tool calls of one reply wait for each other", async () => {
    const place = workspace();
    const calls = [
      { name: "Shell", args: { command: "sleep 0.5; echo late > f.txt" } },
      { name: "Read", args: { path: "f.txt" } },
    ];
    const run = await place.play([{ calls }, { text: "ok" }]);
    const read = run.lines().filter((line) => line["subtype"] === "completed")[1]!["tool_call"].readToolCall;
    expect(read.result.success.content).toBe("late\n");
  });

  it("no tool can reach a file hidden by an ignore file or a deny rule", async () => {
    const place = workspace({
      ".cursorignore": "secret.txt\n",
      "secret.txt": "hidden words",
      "open.txt": "other words",
      ".cursor/commands/leak.md": "look at @secret.txt",
      ".cursor/rules/leak.mdc": "---\nalwaysApply: true\n---\n@secret.txt",
    });
    mkdirSync(place.config, { recursive: true });
    writeFileSync(join(place.config, "auth.json"), JSON.stringify({ version: 1, keys: { x: { key: "hidden key" } } }));
    const server = await modelServer((request) =>
      request.json.messages.at(-1).role === "tool"
        ? { text: "ok" }
        : {
            toolCalls: [
              { name: "Grep", args: { pattern: "hidden|other", path: place.home } },
              { name: "Grep", args: { pattern: "hidden|other" } },
              { name: "LS", args: {} },
            ],
          },
    );
    try {
      for (const prompt of ["see @secret.txt", "/leak"]) {
        const run = await place.run([...stream, "-e", `${server.url}/v1`, "--model", "m", prompt]);
        expect(run.exit, run.stderr).toBe(0);
      }
      const told = server.requests.map((request) => request.body.toString()).join("");
      expect(told).toContain("other words");
      expect(told).not.toContain("hidden words");
      expect(told).not.toContain("hidden key");
    } finally {
      await server.stop();
    }
  });

  it("print mode does not expand @mentions in piped data", async () => {
    const place = workspace({ "a.txt": "content of a" });
    await using server = await modelServer(() => ({ text: "ok" }));
    const run = await place.run([...stream, "-e", `${server.url}/v1`, "--model", "m", "review", "-"], {
      stdin: "see @a.txt",
    });
    expect(run.exit, run.stderr).toBe(0);
    expect(server.requests[0]!.body.toString()).toContain("see @a.txt");
    expect(server.requests[0]!.body.toString()).not.toContain("content of a");
  });

  it("print mode rejects tool calls without permission, with arguments and reason, and the run succeeds", async () => {
    const place = workspace();
    const file = place.file("script.json", JSON.stringify([shell("touch pwned"), { text: "I could not." }]));
    const flags = ["-p", "--trust", "--sandbox", "disabled", "--output-format", "stream-json"];
    const run = await place.run([...flags, "--model", `script:${file}`, "go"]);
    expect(run.exit).toBe(0);
    expect(existsSync(join(place.path, "pwned"))).toBe(false);
    const call = run.lines().find((line) => line["subtype"] === "completed")!["tool_call"].shellToolCall;
    expect(call.args.command).toBe("touch pwned");
    expect(call.result.rejected.reason).toBeTruthy();
    expect(onlyResult(run)["permission_denials"]).toHaveLength(1);
    expect(run.stderr).toBe("");
    const text = await place.run([...flags, "--output-format", "text", "--model", `script:${file}`, "go"]);
    expect(text.stderr).toContain("Rejected: Shell:");
  });

  it("plan mode, ask mode and flags limit the tools", async () => {
    const place = workspace();
    const write = [{ calls: [{ name: "Write", args: { path: "a.txt", content: "x" } }] }, { text: "ok" }];
    for (const flags of [
      ["--plan"],
      ["--mode", "ask"],
      ["--disallowed-tools", "edit"],
      ["--allowed-tools", "Read,Grep"],
    ]) {
      await place.play(write, flags);
      expect(existsSync(join(place.path, "a.txt")), flags.join(" ")).toBe(false);
    }
    expect((await place.play(write)).exit).toBe(0);
    expect(existsSync(join(place.path, "a.txt"))).toBe(true);
  });

  it("background commands can be read, awaited and stopped", async () => {
    const place = workspace();
    const run = await place.play([
      shell("echo $$ > pid; echo ready; sleep 600", { isBackground: true }),
      { calls: [{ name: "Await", args: { taskId: "shell_1", blockUntilMs: 3000, pattern: "ready" } }] },
      { expect: ["ready"], text: "It runs." },
    ]);
    // Ended with the run, which is therefore not a success.
    expect(run.exit, run.stderr).toBe(1);
    const ending = run.lines().at(-1)!;
    expect([ending["error_code"], ending["background"]]).toEqual([
      "BACKGROUND_CUT_OFF",
      [expect.objectContaining({ id: "shell_1", status: "cut_off" })],
    ]);
    expect(isRunning(Number(readFileSync(join(place.path, "pid"), "utf8")))).toBe(false);
  });
});

function whenExists(file: string, then: () => void): void {
  const started = Date.now();
  const timer = setInterval(() => {
    if (existsSync(file) && readFileSync(file, "utf8").trim() !== "") {
      clearInterval(timer);
      then();
    } else if (Date.now() - started > 20_000) clearInterval(timer);
  }, 20);
}

function afterFirstLine(child: ChildProcess, then: () => void): void {
  child.stdout!.once("data", () => setTimeout(then, 300));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function bash(command: string, cwd: string, env: Record<string, string>): Promise<{ stdout: string; stderr: string }> {
  const child = spawn("bash", ["-c", command], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve) => child.on("close", () => resolve({ stdout, stderr })));
}
