// The command `eval`: tasks of this project as a gate, and tasks that go wrong in every way.
import { chmodSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "smol-toml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runProgram } from "../../src/process/run-program.ts";
import { modelServer, workspace } from "../../src/testing/kit/index.ts";
import { sandboxMissing } from "../agent/sandbox-fixture.ts";
import { cli, createWorkspace, repository } from "../support/run-cli.ts";
import { orSkipped } from "../support/skipping.ts";

const tasks = join(repository, "eval/tasks");
const place = createWorkspace();
const missing = sandboxMissing();
/** Where there is no sandbox the tasks of this project run without it: their scripts are ours. */
const confinement = missing === undefined ? [] : ["--sandbox", "disabled"];

afterAll(() => place.remove());

const run = (args: readonly string[]) => place.run(["eval", ...args], { timeoutMs: 120_000 });
const evaluate = async (args: readonly string[]) => {
  const end = await run([...args, ...confinement, "--format", "json"]);
  return { ...end, told: JSON.parse(end.stdout) as any };
};

/** A task that asks for done.txt. */
function makeTask(name: string, files: Record<string, string | undefined> = {}): string {
  const usual: Record<string, string | undefined> = {
    "task.toml": "[agent]\ntimeout_sec = 30\n[verifier]\ntimeout_sec = 30\n",
    "instruction.md": "Write done.txt.\n",
    "environment/given.txt": "given\n",
    "tests/test.sh": 'test "$(cat done.txt)" = done || { echo "Error: done.txt is not there" >&2; exit 1; }\n',
    "solution/solve.sh": "echo done > done.txt\n",
    "script.json": JSON.stringify([
      {
        calls: [{ name: "Write", args: { path: "done.txt", content: "done\n" } }],
        usage: { inputTokens: 7, outputTokens: 3 },
      },
      { text: "Done." },
    ]),
  };
  for (const [file, text] of Object.entries({ ...usual, ...files }))
    if (text !== undefined) place.file(join("made", name, file), text);
  return join(place.path, "made", name);
}

it("eval --cli measures another agent: its model, its steps and what it did", async () => {
  const task = makeTask("by-claude", { "instruction.md": "Write done.txt, please.\n" });
  const peer = join(repository, "test/sdk/fixtures/peer-cli.mjs");
  const program = place.file(
    "bin/claude",
    `#!/bin/sh\necho done > done.txt\nexec "${process.execPath}" "${peer}" claude "$@"\n`,
  );
  chmodSync(program, 0o755);
  const args = ["eval", task, "--cli", "claude", "--model", "opus", "--sandbox", "disabled", "--format", "json"];
  const { stdout, exit } = await place.run(args, { env: { CLAUDE_CODE_PATH: program } });
  const [result] = JSON.parse(stdout).results;
  expect(result).toMatchObject({ status: "passed", agent: { model: "m", steps: 1 } });
  expect(exit).toBe(0);
  for (const wrong of [["--model", "replay"], ["--save-recordings"], ["--max-turns", "3"]])
    expect((await run([task, "--cli", "claude", ...wrong])).stderr).toMatch(
      /cannot be used with --cli claude|answers our own CLI/,
    );
});

describe("the tasks of this project", () => {
  it("the project's tasks pass with recorded models and live tools", { timeout: 120_000 }, async () => {
    const { exit, told, stderr } = await evaluate([tasks, "--model", "replay", "--concurrency", "4"]);
    const notPassed = told.results.filter((result: any) => result.status !== "passed");
    expect(notPassed, stderr).toEqual([]);
    expect(exit).toBe(0);
    expect(told.summary.tasks).toBeGreaterThanOrEqual(30);
    expect(told.summary.passAt["1"]).toBe(1);
  });

  it("the project's tasks pass with their solution, and fail without it", { timeout: 120_000 }, async () => {
    // A part of them, another one each day; `npm run eval` checks them all.
    const names = readdirSync(tasks);
    const today = Math.floor(Date.now() / 86_400_000);
    const chosen = names.filter((_, index) => index % 16 === today % 16).map((name) => join(tasks, name));
    const { exit, told } = await evaluate([...chosen, "--check", "--concurrency", "4"]);
    expect(told.filter((task: any) => !task.sound)).toEqual([]);
    expect(exit).toBe(0);
  });

  it("the project's tasks have one form and name no machine", () => {
    for (const name of readdirSync(tasks)) {
      const has = (file: string) => existsSync(join(tasks, name, file));
      const files = [
        "task.toml",
        "instruction.md",
        "tests/test.sh",
        "solution/solve.sh",
        "script.json",
        "recordings/script.jsonl",
      ];
      expect([name, files.filter((file) => !has(file))]).toEqual([name, []]);
      const { metadata } = parse(readFileSync(join(tasks, name, "task.toml"), "utf8")) as any;
      expect(metadata.category, name).toBeTypeOf("string");
      const recording = readFileSync(join(tasks, name, "recordings/script.jsonl"), "utf8");
      const paths = recording.match(/(?<![\w.<:/-])\/(home|Users|root|work|var\/folders)\b[^"\\\s]*/g) ?? [];
      expect([name, paths]).toEqual([name, []]);
    }
  });
});

describe("an evaluation", () => {
  let good: string;
  let bad: string;
  beforeAll(() => {
    good = makeTask("good");
    bad = makeTask("bad", { "script.json": JSON.stringify([{ text: "I would rather not." }]) });
  });

  it("eval reports each attempt in table, JUnit, predictions and results", async () => {
    const args = [
      good,
      bad,
      "--model",
      "script",
      "--attempts",
      "2",
      "--output",
      "out",
      "--junit",
      "eval.xml",
      "--preds",
      "p.jsonl",
    ];
    const { exit, stdout, stderr } = await run([...args, ...confinement]);
    expect(exit).toBe(5);
    expect(stdout).toMatch(/^ +task +attempt +time +steps +tokens +cost +denied$/m);
    expect(stdout).toMatch(/^ok +good +2 .* 2 +10 +\$0 +0$/m);
    expect(stdout).toMatch(/^FAILED +bad +1 .*\n +Error: done.txt is not there$/m);
    expect(stdout).toContain("2 tasks: 2 passed, 2 failed. pass@1 50.0 %, pass@2 50.0 %, 20 tokens, $0, ");
    expect(stderr).toMatch(/^failed bad #2 in [\d.]+ s: Error: done.txt is not there$/m);
    const read = (name: string) => readFileSync(join(place.path, name), "utf8");
    expect(read("eval.xml")).toContain('<testsuite name="eval" tests="4" failures="2" errors="0" skipped="0"');
    expect(read("out/junit.xml")).toContain('<failure message="Error: done.txt is not there"/>');
    const [first] = read("p.jsonl").split("\n");
    expect(JSON.parse(first!)).toMatchObject({ instance_id: "good", model_name_or_path: "Script" });
    expect(JSON.parse(first!).model_patch).toContain("+++ b/done.txt\n@@ -0,0 +1 @@\n+done\n");
    expect(read("out/preds.jsonl")).toBe(read("p.jsonl"));
    expect(JSON.parse(read("out/results.json"))).toMatchObject({
      model: "script",
      summary: { passed: 2, failed: 2, tasks: 2 },
    });
    expect(read("out/good/1/answer.txt")).toBe("Done.");
    expect(read("out/good/1/stream.jsonl")).toContain('"type":"result"');
    expect(read("out/good/1/recording.jsonl")).toContain('{"recording":1');
    expect(JSON.parse(read("out/good/1/trajectory.json"))).toMatchObject({
      schema_version: "ATIF-v1.7",
      steps: [{ source: "user" }, { tool_calls: [{ function_name: "Write" }] }, { message: "Done." }],
    });
    expect(read("out/bad/1/verifier.txt")).toContain("Error: done.txt is not there\n");
  });

  it("eval uses the user's model, keys and endpoints, and counts the cost", async () => {
    const write = { id: "call_1", name: "Write", args: { path: "done.txt", content: "done\n" } };
    await using server = await modelServer([
      { toolCalls: [write], usage: { input: 1000, output: 100 } },
      { text: "Done.", usage: { input: 1200, output: 50 } },
    ]);
    using work = workspace({}, { server });
    const args = [
      "eval",
      good,
      "--model",
      "anthropic/claude-sonnet-4-5",
      "--price",
      "1,2",
      "--format",
      "json",
      ...confinement,
    ];
    const { stdout, stderr } = await work.cli(args, { timeoutMs: 60_000 });
    const [result] = JSON.parse(stdout).results;
    expect(result, stderr).toMatchObject({
      status: "passed",
      agent: { steps: 2, inputTokens: 2200, outputTokens: 150 },
    });
    expect(result.agent.costUsd).toBeCloseTo(0.0025, 8);
    expect(server.requests).toHaveLength(2);
  });

  it("an interrupted eval ends everything, says so, and saves what was finished", async () => {
    const quick = makeTask("quick");
    const waits = makeTask("waits", {
      "script.json": JSON.stringify([{ calls: [{ name: "Shell", args: { command: "touch begun; sleep 300" } }] }]),
    });
    const temporary = place.file("../tmp/.keep", "").replace("/.keep", "");
    const args = ["--model", "script", "--concurrency", "1", "--output", "interrupted", ...confinement];
    const { exit, stdout, stderr } = await place.run(["eval", quick, waits, ...args], {
      env: { TMPDIR: temporary },
      onStart(child) {
        const look = setInterval(() => {
          const begun = readdirSync(temporary).some((name) => existsSync(join(temporary, name, "workspace/begun")));
          if (!begun) return;
          clearInterval(look);
          child.kill("SIGINT");
        }, 50);
        child.once("close", () => clearInterval(look));
      },
    });
    expect(exit).toBe(130);
    expect(stderr).toContain("[INTERRUPTED]");
    expect(stdout).toMatch(/^Interrupted\. 2 tasks: 1 passed, 0 failed, 1 skipped\. pass@1 100\.0 %/m);
    const told = (file: string) => readFileSync(join(place.path, "interrupted", file), "utf8");
    expect(JSON.parse(told("results.json"))).toMatchObject({
      interrupted: true,
      summary: { passed: 1, skipped: 1 },
      results: [{ task: "quick" }, { task: "waits", why: "interrupted before it was finished" }],
    });
    expect(told("preds.jsonl").trim().split("\n")).toHaveLength(1);
    expect(told("junit.xml")).toContain('tests="2" failures="0" errors="0" skipped="1"');
    expect(readdirSync(temporary).filter((name) => name.startsWith("courser-eval-"))).toEqual([]);
  });

  it("eval saves passing attempts as recordings that replay anywhere", async () => {
    const own = makeTask("recorded");
    expect((await run([own, "--model", "script", "--save-recordings", ...confinement])).exit).toBe(0);
    const file = join(own, "recordings/script.jsonl");
    expect(readFileSync(file, "utf8")).toContain("courser-eval-000000");
    const { exit, told } = await evaluate([own, "--model", "replay", "--replay-on-mismatch", "stop"]);
    expect(exit).toBe(0);
    expect(told.results).toMatchObject([{ attempt: "script", status: "passed", agent: { steps: 2, differences: [] } }]);
    place.file(join("made/recorded/instruction.md"), "Write the file done.txt.\n");
    const changed = await evaluate([own, "--model", "replay"]);
    expect(changed.told.results[0].agent.differences[0]).toContain('recorded "Write done.txt."');
    expect(changed.exit).toBe(0);
    const strict = await evaluate([own, "--model", "replay", "--replay-on-mismatch", "stop"]);
    expect(strict.told.results[0]).toMatchObject({ status: "error" });
    expect(strict.told.results[0].why).toContain("REPLAY_DIVERGED");
    expect(strict.exit).toBe(1);
  });

  it("eval skips a task that has no recording (--model replay) or script (--model script) and reports why", async () => {
    const none = makeTask("none", { "script.json": undefined });
    const replayed = await evaluate([none, good, "--model", "replay"]);
    expect(replayed.told.results.map((each: any) => each.why)).toEqual([
      "it has no recordings",
      "it has no recordings",
    ]);
    expect(replayed.exit).toBe(5);
    const scripted = await evaluate([none, good, "--model", "script"]);
    expect(scripted.told.results.map((each: any) => each.status)).toEqual(["skipped", "passed"]);
    expect(scripted.exit).toBe(0);
  });

  it("eval --check names faulty tasks", async () => {
    const made = [
      good,
      makeTask("unsolved", { "solution/solve.sh": "exit 3\n" }),
      makeTask("easy", { "tests/test.sh": "exit 0\n" }),
      makeTask("mute", { "tests/test.sh": "mkdir -p /logs/verifier; echo maybe > /logs/verifier/reward.txt\n" }),
      makeTask("unset", { "setup.sh": "echo 'no such thing'; exit 1\n" }),
      makeTask("unsolvable", { "solution/solve.sh": undefined }),
    ];
    const { exit, stdout } = await run([...made, "--check", ...confinement]);
    expect(exit).toBe(5);
    expect(stdout).toMatch(/^ok +good +oracle passed, noop failed$/m);
    expect(stdout).toMatch(/^BAD +unsolved .*\n.*its solution does not pass: .*solve.sh ended with exit code 3/m);
    expect(stdout).toMatch(/^BAD +easy .*\n.*it passes when nothing is done/m);
    expect(stdout).toMatch(
      /^BAD +mute .*\n.*its solution does not pass: reward\.txt contains 'maybe', which is not a number/m,
    );
    expect(stdout).toMatch(/^BAD +unset .*\n.*setup.sh ended with exit code 1: no such thing/m);
    expect(stdout).toMatch(/^BAD +unsolvable .*\n.*it has no solution\/solve.sh/m);
    expect(stdout).toContain("6 tasks: 5 not sound.");
  });

  it("eval follows a Dockerfile that only copies, with its paths translated", async () => {
    const task = makeTask("container", {
      "instruction.md": "Write 'done' to /app/out/done.txt.\n",
      "environment/Dockerfile": "FROM debian:13\nWORKDIR /app\nCOPY data/ out/\nCOPY given.txt ./\n",
      "environment/data/a.txt": "a\n",
      "environment/other.txt": "not copied\n",
      "tests/test.sh": "cd / && bash /tests/check.sh\n",
      "tests/check.sh":
        'test -f /app/given.txt -a -f /app/out/a.txt -a ! -e /app/other.txt -a ! -e /app/Dockerfile && test "$(cat /app/out/done.txt)" = done\n',
      "solution/solve.sh": "echo done > /app/out/done.txt\n",
    });
    const { told } = await evaluate([task, "--oracle"]);
    expect(told.results[0].status, told.results[0].why).toBe("passed");
    const { told: done } = await evaluate([task, "--model", "script", "--output", "container-out"]);
    const stream = readFileSync(join(place.path, "container-out/container/1/stream.jsonl"), "utf8");
    expect(stream).toMatch(/Write 'done' to \/\S+\/workspace\/out\/done.txt/);
    expect(done.results[0].status).toBe("failed");
  });

  it("eval applies permission rules, ignore files and hooks of the task's environment", async () => {
    const write = (path: string) => ({ name: "Write", args: { path, content: "done\n" } });
    const files = {
      "environment/.cursor/cli.json": JSON.stringify({ permissions: { deny: ["Write(by-rule.txt)"] } }),
      "environment/.cursorignore": "hidden.txt\n",
      "environment/.cursor/hooks.json": JSON.stringify({
        version: 1,
        hooks: { preToolUse: [{ command: "grep -q by-hook && exit 2 || exit 0" }] },
      }),
      "script.json": JSON.stringify([
        { calls: ["by-rule.txt", "hidden.txt", "by-hook.txt", "done.txt"].map(write) },
        { text: "Done." },
      ]),
    };
    const { told } = await evaluate([makeTask("restricted", files), "--model", "script", "--output", "restricted-out"]);
    const [attempt] = told.results;
    expect([attempt.status, attempt.agent.denials.length]).toEqual(["passed", 3]);
    const patch = readFileSync(join(place.path, "restricted-out/restricted/1/patch.diff"), "utf8");
    expect(patch.match(/^\+\+\+ .*/gm)).toEqual(["+++ b/done.txt"]);
  });

  it("eval reads rewards as Harbor's verifiers write them", async () => {
    const rewards = {
      text: "echo 1.0 > /logs/verifier/reward.txt; exit 7\n",
      json: `echo '{"style": 0.5, "reward": 1}' > /logs/verifier/reward.json\n`,
      half: `echo '{"a": 1, "b": 0, "why": "half"}' > /logs/verifier/reward.json\n`,
      float: "echo 1e0 > /logs/verifier/reward.txt\n",
      folder: "mkdir /logs/verifier/reward.txt; exit 1\n",
      word: "echo high > /logs/verifier/reward.txt\n",
    };
    const made = Object.entries(rewards).map(([name, script]) =>
      makeTask(`reward-${name}`, { "tests/test.sh": script }),
    );
    const { told } = await evaluate([...made, "--agent", "noop"]);
    expect(told.results.map(({ task, reward, status }: any) => [task, reward, status])).toEqual([
      ["reward-text", 1, "passed"],
      ["reward-json", 1, "passed"],
      ["reward-half", 0.5, "failed"],
      ["reward-float", 1, "passed"],
      ["reward-folder", 0, "failed"],
      ["reward-word", undefined, "error"],
    ]);
    expect(told.results.at(-1).why).toBe("reward.txt contains 'high', which is not a number");
  });

  it("eval gives verifiers the variables they name, and hides secrets they print", async () => {
    const judged = makeTask("judged", {
      "task.toml": '[verifier]\nenv = { KEY = "${JUDGE_API_KEY}", WORD = "${NOT_SET_HERE:-otherwise}" }\n',
      "tests/test.sh": 'echo "Error: $KEY $WORD" >&2; test ${#KEY} = 20 || exit 2; exit 1\n',
    });
    const key = "jk-0123456789abcdefg";
    const args = ["eval", judged, "--agent", "noop", "--output", "judged", ...confinement];
    const { stdout, stderr } = await place.run(args, { env: { JUDGE_API_KEY: key } });
    const kept = readFileSync(join(place.path, "judged/judged/1/verifier.txt"), "utf8");
    expect(stdout).toMatch(/Error: .* otherwise/);
    for (const text of [stdout, stderr, kept]) expect(text).not.toContain(key);
  });

  it("eval takes tests and rewards only from the task, not from the agent's files", async () => {
    const cheats = makeTask("cheats", {
      "solution/solve.sh": "echo 1 > /logs/verifier/reward.txt; mkdir -p ../tests; echo exit 0 > ../tests/test.sh\n",
    });
    expect((await evaluate([cheats, "--oracle"])).told.results[0]).toMatchObject({ status: "failed", reward: 0 });
  });

  it("eval ends an attempt over its time limit without leaving processes", async () => {
    const mark = `${Math.random()}`.slice(2);
    const slowAgent = makeTask("slow-agent", {
      "task.toml": "[agent]\ntimeout_sec = 2\n",
      "script.json": JSON.stringify([{ calls: [{ name: "Shell", args: { command: `sleep 300.${mark}` } }] }]),
    });
    const slowTest = makeTask("slow-test", {
      "task.toml": "[verifier]\ntimeout_sec = 1\n",
      "tests/test.sh": `sleep 301.${mark}\n`,
    });
    const { exit, told } = await evaluate([slowAgent, slowTest, "--model", "script"]);
    expect(exit).toBe(1);
    expect(told.results[0]).toMatchObject({ status: "failed" });
    expect(told.results[0].why).toMatch(/2 s|2 seconds|TIMEOUT/i);
    expect(told.results[1]).toMatchObject({ status: "error", why: "tests/test.sh took longer than 1 s" });
    if (process.platform !== "linux") return;
    const left = readdirSync("/proc").filter((pid) => {
      if (!/^\d+$/.test(pid)) return false;
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(mark);
      } catch {
        return false;
      }
    });
    expect(left).toEqual([]);
  });

  it.skipIf(missing !== undefined)(
    orSkipped("eval runs the agent and the task's scripts in the sandbox, and hides the tests from the agent", missing),
    async () => {
      const outside = join(place.path, "outside.txt");
      const task = makeTask("nosy", {
        "solution/solve.sh": `echo x > ${outside} || echo done > done.txt\n`,
      });
      const commands = [
        `cat ${task}/tests/test.sh`,
        // What policy cannot read, the sandbox hides.
        `cat "$(echo ${Buffer.from(join(task, "tests/test.sh")).toString("base64")} | base64 -d)" ../tests/test.sh; echo x > ${outside}; echo done > done.txt`,
      ];
      const script = commands.map((command) => ({ calls: [{ name: "Shell", args: { command } }] }));
      place.file("made/nosy/script.json", JSON.stringify([...script, { text: "ok" }]));
      const { told } = await evaluate([task, "--model", "script", "--output", "nosy"]);
      expect(told.results[0]).toMatchObject({ status: "passed", agent: { denials: [{ tool: "Shell" }] } });
      expect(readFileSync(join(place.path, "nosy/nosy/1/stream.jsonl"), "utf8")).not.toContain("is not there");
      expect((await evaluate([task, "--oracle"])).told.results[0].status).toBe("passed");
      expect(existsSync(outside)).toBe(false);
    },
  );

  it("where no sandbox works, eval says so, and runs only with a flag", async () => {
    // In a world where bubblewrap is an empty file.
    const without =
      missing === undefined
        ? ["/usr/bin/bwrap", "--dev-bind", "/", "/", "--ro-bind", "/dev/null", "/usr/bin/bwrap", "--"]
        : [];
    const command = [...without, process.execPath, cli, "eval", good, "--model", "script"];
    const start = (...args: string[]) =>
      runProgram({ command: [...command, ...args], cwd: place.path, env: place.env, timeoutMs: 60_000 });
    const refused = await start();
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("[SANDBOX_UNAVAILABLE]");
    expect(refused.stderr).toContain("--sandbox disabled");
    const told = await start("--sandbox", "disabled");
    expect(told.exitCode, told.stderr).toBe(0);
  });

  it.each([
    [[], "eval needs a task or a directory of tasks", 2],
    [["nowhere"], "is not a directory", 1],
    [["made/good", "--attempts", "0"], "--attempts '0' must be a positive integer", 2],
    [["made/good", "--model", "replay", "--attempts", "2"], "leave --attempts out", 2],
    [["made/good", "--oracle", "--save-recordings"], "--save-recordings needs a model", 2],
    [["made/good", "--agent", "nobody"], "nobody", 2],
    [["made/good", "--model", "anthropic/claude-sonnet-4-5"], "Not authenticated", 1],
    [["made/good", "--model", "nonsense-9"], "nonsense-9", 1],
  ] as [string[], string, number][])("eval refuses %j", async (args, why, code) => {
    const { exit, stderr } = await run(args);
    expect(stderr).toContain(why);
    expect(exit).toBe(code);
  });
});
