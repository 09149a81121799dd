// Recorded runs, replayed by the built CLI: the same bytes elsewhere, and every difference named.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";
import { campaign } from "./recorded-runs.ts";

const script = [
  { text: "Let me look.", calls: [{ name: "Read", args: { path: "a.txt" } }] },
  { text: ["It says ", "hello."], usage: { inputTokens: 5, outputTokens: 2 } },
];

let here: Workspace;
let there: Workspace;
let file: string;
const files = { "a.txt": "hello\n", "AGENTS.md": `${"Be brief.\n".repeat(40)}Be kind.\n` };
beforeEach(async () => {
  [here, there] = [createWorkspace(files), createWorkspace(files)];
  file = join(here.home, "run.jsonl");
});
afterEach(() => {
  here.remove();
  there.remove();
});

const record = (args: readonly string[] = [], replies: unknown = script) =>
  here.play(replies, ["--record", file, ...args]);
const stream = ["-p", "--force", "--output-format", "stream-json"];
const replay = (args: readonly string[] = [], prompt = "go") =>
  there.run([...stream, "--model", `replay:${file}`, ...args, prompt]);
const resultOf = (run: { stdout: string }) => JSON.parse(run.stdout.trim().split("\n").at(-1)!);
const change = (from: string, to: string) => writeFileSync(file, readFileSync(file, "utf8").replace(from, to));

// The long form: npm run long -- replay --runs 200
it("random runs replay byte for byte in another workspace and home, changing nothing", {
  timeout: 240_000,
}, async () => {
  const { faults, endings, sizes } = await campaign({ runs: 10, seed: 7, concurrency: 3 });
  expect(faults).toEqual([]);
  expect(endings.size).toBeGreaterThan(2);
  // A run that fails at once is the worst: 3, and a little more where paths are long.
  expect(Math.max(...sizes.map(({ ratio }) => ratio))).toBeLessThan(3);
});

describe("differences found by replay", () => {
  it("replay names a prompt that differs by a character", async () => {
    await record();
    const run = await replay([], "ga");
    expect(run.exit).toBe(1);
    expect(run.lines().map(({ type }) => type)).toEqual(["system", "user", "result"]);
    expect(resultOf(run)).toMatchObject({ is_error: true, error_code: "REPLAY_DIVERGED" });
    expect(resultOf(run).result).toContain('in request 1: messages[0] (user): recorded "go", now "ga"');
  });

  it("replay names the changed rule file", async () => {
    await record();
    there.file("AGENTS.md", files["AGENTS.md"].replace("kind", "kinf"));
    for (const tools of ["recorded", "live"]) {
      const { result } = resultOf(await replay(["--replay-tools", tools]));
      expect(result).toContain('request 1: system, AGENTS.md: line 41, recorded "Be kind.", now "Be kinf."');
    }
  });

  it("replay names the nested or pattern rule that a touched file brings", async () => {
    const nested = {
      "src/AGENTS.md": "No classes.\n",
      ".cursor/rules/ts.mdc": '---\nglobs: "**/*.ts"\n---\nNo any.\n',
      "src/main.ts": "export {};\n",
    };
    for (const place of [here, there]) for (const [name, text] of Object.entries(nested)) place.file(name, text);
    await record([], [{ calls: [{ name: "Read", args: { path: "src/main.ts" } }] }, { text: "ok" }]);
    expect((await replay()).exit).toBe(0);
    for (const [name, from, to] of [
      ["src/AGENTS.md", "No classes.", "No clazzes."],
      [".cursor/rules/ts.mdc", "No any.", "No anx."],
    ] as const) {
      there.file(name, nested[name].replace(from, to));
      for (const tools of ["recorded", "live"]) {
        const { result } = resultOf(await replay(["--replay-tools", tools]));
        expect(result).toMatch(/request 2: messages\[2\]/);
        expect(result).toContain(`, ${name}: recorded "${from}", now "${to}"`);
      }
      there.file(name, nested[name]);
    }
  });

  it("a replay names the tools that differ from the recording", async () => {
    await record();
    const { result } = resultOf(await replay(["--disallowed-tools", "WebSearch"]));
    expect(result).toContain("request 1: tools: recorded with WebSearch, now without WebSearch");
  });

  it("replay names a tool result that differs, here or in the recording", async () => {
    await record();
    there.file("a.txt", "hellp\n");
    const live = await replay(["--replay-tools", "live"]);
    expect(resultOf(live).result).toMatch(
      /request 2: messages\[2\] \(result of Read, \S+\): recorded "hello\\n", now "hellp\\n"/,
    );
    change('"text":"hello\\n"', '"text":"hellp\\n"');
    expect(resultOf(await replay()).result).toMatch(
      /request 2, messages\[2\] \(result of Read, \S+\): recorded .* now .*hellp/,
    );
    change('"text":"hellp\\n"', '"text":"hello\\n"');
    change('"content":"hello\\n"', '"content":"hellp\\n"');
    expect(resultOf(await replay()).result).toMatch(/was changed: the result of read \(\S+\)/);
  });

  it("replay can continue after a difference, and says so", async () => {
    await record();
    for (const tools of ["recorded", "live"]) {
      const run = await replay(["--replay-tools", tools, "--replay-on-mismatch", "continue"], "ga");
      expect(run.exit).toBe(0);
      expect(run.notices()).toContain("messages[0]");
      expect(resultOf(run).result).toBe("Let me look.It says hello.");
    }
  });

  it("replay ignores different dates, paths, branches and ids", async () => {
    here.file(".git/HEAD", "ref: refs/heads/main\n");
    await record([], [{ calls: [{ name: "Shell", args: { command: "pwd; echo $HOME" } }] }, { text: "ok" }]);
    change("Date: 20", "Date: 19");
    const live = await replay(["--replay-tools", "live"]);
    expect([live.exit, resultOf(live).result]).toEqual([0, "ok"]);
  });
});

it("replay plays every turn of a recording with several prompts", async () => {
  const line = (text: string) => `${JSON.stringify({ type: "user", message: { role: "user", content: text } })}\n`;
  const stdin = `${line("read a.txt")}${line("what is 2+2?")}`;
  const hosted = [...stream, "--input-format", "stream-json", "--model"];
  const run = await here.run([...hosted, "offline", "--record", file], { stdin });
  expect(run.lines().filter(({ type }) => type === "result")).toHaveLength(2);
  expect((await there.run([...hosted, `replay:${file}`], { stdin })).stdout).toBe(run.stdout);
  const other = await there.run([...hosted, `replay:${file}`], { stdin: stdin.replace("2+2", "2+3") });
  expect(resultOf(other).result).toMatch(/request 3: messages\[\d\] \(user\): recorded "what is 2\+2/);
});

it("replay plays a worktree run in another worktree, also with live tools", async () => {
  const worktree = async (at: Workspace, name: string, args: readonly string[]) => {
    const git = (...words: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd: at.path });
    if (!existsSync(join(at.path, ".git"))) {
      git("init", "-q");
      git("add", ".");
      git("commit", "-qm", "begin");
    }
    return at.run([...stream, "--worktree", name, ...args, "go"]);
  };
  const model = `script:${here.file("../script.json", JSON.stringify(script))}`;
  expect((await worktree(here, "one", ["--record", file, "--model", model])).exit).toBe(0);
  const live = await worktree(there, "two", ["--model", `replay:${file}`, "--replay-tools", "live"]);
  expect([live.exit, resultOf(live).result]).toEqual([0, "Let me look.It says hello."]);
});

it("a replay with live tools changes files again", async () => {
  await record([], [{ calls: [{ name: "Write", args: { path: "made.txt", contents: "x" } }] }, { text: "ok" }]);
  const recorded = await replay();
  expect([recorded.exit, existsSync(join(there.path, "made.txt"))]).toEqual([0, false]);
  const live = await replay(["--replay-tools", "live"]);
  expect([live.exit, existsSync(join(there.path, "made.txt"))]).toEqual([0, true]);
  const more = await replay(["--replay-tools", "live", "--max-turns", "1"]);
  expect(resultOf(more).error_code).toBe("MAX_TURNS");
});

it("a recording can be renewed from its replies and current tool results", async () => {
  await record();
  there.file("a.txt", "hi there\n");
  const fresh = join(there.home, "new.jsonl");
  const live = ["--replay-tools", "live", "--replay-on-mismatch", "continue", "--record", fresh];
  expect((await replay(live)).exit).toBe(0);
  for (const tools of ["live", "recorded"]) {
    const run = await there.run([...stream, "--model", `replay:${fresh}`, "--replay-tools", tools, "go"]);
    expect([run.exit, run.notices(), run.stdout.includes("hi there")]).toEqual([0, "", true]);
  }
  expect((await replay(["--record", fresh])).stderr).toContain("--replay-tools live");
  const args = ["-p", "--force", "--model", "offline", "--replay-tools", "live", "hi"];
  expect((await there.run(args)).stderr).toContain("--model replay:FILE");
});

it("a recording contains no secret and shows the redacted original", async () => {
  const key = `sk-ant-api03-${"q8Zr2LmT".repeat(6)}`;
  here.file("a.txt", `key=${key}\n`);
  const run = await record();
  expect(run.stdout).toContain(key);
  const kept = readFileSync(file, "utf8");
  expect(kept).not.toContain(key);
  expect(kept).toContain("hello."); // all else is there
  const shown = await there.run(["replay", file, "--output-format", "stream-json"]);
  const marker = /key=(.+?)\\n/.exec(shown.stdout)![1]!;
  expect(shown.stdout).toBe(run.stdout.replaceAll(key, marker));
});

it("the recording of a killed run contains everything written until then", async () => {
  const waits = [{ text: "Let me wait.", calls: [{ name: "Shell", args: { command: "sleep 20" } }] }];
  await here.play(waits, ["--record", file], {
    onStart(child) {
      const timer = setInterval(() => {
        if (!existsSync(file) || !readFileSync(file, "utf8").includes("tool_start")) return;
        clearInterval(timer);
        child.kill("SIGKILL");
      }, 50);
      child.on("exit", () => clearInterval(timer));
    },
  });
  const shown = await there.run(["replay", file, "--output-format", "stream-json"]);
  expect(shown.stdout).toContain("Let me wait.");
  expect(shown.stdout).toContain("sleep 20");
  expect(shown.exit).toBe(1);
  expect(shown.stderr).toMatch(/ends before its run does.*\[RECORDING_INVALID\]/s);
});

it("a run fails if its recording cannot be written", async () => {
  const run = await here.play([{ text: "done" }], ["--record", "/dev/full"]);
  expect(run.exit).toBe(1);
  expect(run.stdout.trimEnd().split("\n").at(-1)).toMatch(/"subtype":"error".*--record \/dev\/full.*OUTPUT_FAILED/);
});

it("a full disk stops the recorded run after every tool call has ended", async () => {
  const slow = { name: "Shell", args: { command: "sleep 20" } };
  const queued = { name: "Write", args: { path: "queued.txt", content: "x" } };
  const run = await here.play([{ calls: [slow, queued] }, { text: "done" }], ["--record", "/dev/full"]);
  const lines = run.lines();
  const shown = lines.map(({ type, subtype, call_id: id }) => [type, subtype, id].filter(Boolean).join(" "));
  expect(shown.slice(2)).toEqual([
    "tool_call started call_script_1",
    "tool_call started call_script_2",
    "tool_call completed call_script_1",
    "tool_call completed call_script_2",
    "result error",
  ]);
  expect(JSON.stringify(lines.at(-2))).toContain("Not run: the turn was stopped.");
  expect(lines.at(-1)).toMatchObject({ error_code: "OUTPUT_FAILED" });
  expect(existsSync(join(here.path, "queued.txt"))).toBe(false);
  expect(run.stderr.match(/--record \/dev\/full cannot be written/g)).toHaveLength(1);
  // The chat was closed behind it, and goes on.
  const next = await here.play(
    [{ expect: ["Not run: the turn was stopped."], text: "I see." }],
    [...["--resume", lines[0]!["session_id"]]],
  );
  expect([next.exit, next.lines().at(-1)!["result"]], next.stderr).toEqual([0, "I see."]);
});

it("replay refuses a damaged recording and names its line", async () => {
  await record();
  const whole = readFileSync(file, "utf8");
  const lines = whole.trimEnd().split("\n");
  const damages: [number, string][] = [
    [1, lines.slice(1).join("\n")],
    [1, whole.replace('"recording":1', '"recording":9')],
    [4, lines.with(3, lines[3]!.slice(0, -20)).join("\n")],
    [5, lines.with(4, "{}").join("\n")],
    [4, lines.with(3, lines[3]!.replace('"request":1', '"request":7')).join("\n")],
  ];
  for (const [line, text] of damages) {
    writeFileSync(file, text);
    const run = await replay();
    expect([run.exit, resultOf(run).error_code]).toEqual([1, "RECORDING_INVALID"]);
    expect(resultOf(run).result).toContain(`is damaged, line ${line}:`);
  }
});

describe("courser replay", () => {
  it("the replay command shows a run whole or up to a step, in every format", async () => {
    const run = await record();
    const shown = await there.run(["replay", file]);
    expect(shown.stdout).toBe("> go\nLet me look.\n  · Read a.txt\nIt says hello.\n");
    expect((await there.run(["replay", file, "--until", "1"])).stdout).toBe("> go\nLet me look.\n  · Read a.txt\n");
    const same = await there.run(["replay", file, "--output-format", "stream-json", "--speed", "100"]);
    expect(same.stdout).toBe(run.stdout);
  });

  it("replay continues from a step with another model, with or without running tools again", async () => {
    await record();
    const other = there.file("other.json", JSON.stringify([{ expect: "and now?", text: "Now this." }]));
    const from = (...args: string[]) =>
      there.run([
        "replay",
        file,
        ...stream.slice(1),
        "--model",
        `script:${other}`,
        "--from-step",
        "1",
        ...args,
        "and now?",
      ]);
    const recorded = await from();
    expect([recorded.stderr, resultOf(recorded).result]).toEqual(["", "Now this."]);
    const live = await from("--replay-tools", "live");
    expect(live.lines().map(({ type, subtype }) => subtype ?? type)).toEqual([
      "init",
      "user",
      "assistant",
      "started",
      "completed",
      "user",
      "assistant",
      "success",
    ]);
    const wrong = await there.run(["replay", file, "--from-step", "9", "x"]);
    expect(wrong.stderr).toContain("has the steps 1 to 2");
  });
});

it("sessions export can turn a chat into a recording", async () => {
  const exported = async (run: { lines(): Record<string, any>[] }) =>
    (await here.run(["sessions", "export", run.lines()[0]!["session_id"], "--format", "recording"])).stdout;
  const error = { code: "MODEL_REFUSED", message: "no" };
  const failed = await here.play([script[0], { error }]);
  writeFileSync(file, await exported(failed));
  for (const tools of ["recorded", "live"])
    expect(resultOf(await replay(["--replay-tools", tools]))).toMatchObject({ error_code: error.code });
  const run = await here.play(script);
  writeFileSync(file, await exported(run));
  expect((await replay()).stdout).toBe(run.stdout);
  const live = await replay(["--replay-tools", "live"]);
  expect([live.exit, resultOf(live).result]).toEqual([0, "Let me look.It says hello."]);
  there.file("a.txt", "hellp\n");
  expect(resultOf(await replay(["--replay-tools", "live"])).result).toContain("messages[2]");
});
