// Evaluation step by step: what a verifier's files and output mean, which attempts are planned, what checks and summaries say.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { noWork, runAgent } from "../../src/eval/agents.ts";
import type { Attempt, AttemptResult, Status } from "../../src/eval/attempt.ts";
import { checkText } from "../../src/eval/check.ts";
import { readDockerfile, readEnvironment } from "../../src/eval/environment.ts";
import { evaluate, summarizeResults } from "../../src/eval/evaluate.ts";
import {
  type AttemptFolders,
  checkFolders,
  makeFolders,
  readIfThere,
  removeFolders,
  renewFolders,
  withOwnPaths,
} from "../../src/eval/folders.ts";
import { keepOutput, recordingIn } from "../../src/eval/keep-output.ts";
import { type EvaluationWishes, planAttempts } from "../../src/eval/plan.ts";
import { exitCodeOf, predictions, resultsJson, summaryLine } from "../../src/eval/report.ts";
import type { Task } from "../../src/eval/task.ts";
import { findTasks } from "../../src/eval/task.ts";
import { reasonIn, verify } from "../../src/eval/verify.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "courser-parts-"));
});
afterEach(() => rmSync(folder, { recursive: true }));
const write = (path: string, text = "") => {
  mkdirSync(join(folder, path, ".."), { recursive: true });
  writeFileSync(join(folder, path), text);
  return join(folder, path);
};

const phase = { timeoutMs: 2500, env: {} };
const task = (more: Partial<Task> = {}): Task => ({
  ...{ name: "one", folder: join(folder, "one"), instruction: "do", environment: { copies: [] }, mcpServers: {} },
  ...{ setup: phase, agent: phase, verifier: phase, solution: phase, noop: "fail", recordings: {} },
  ...more,
});
const result = (status: Status, more: Partial<AttemptResult> = {}): AttemptResult => ({
  ...{ task: "one", attempt: "1", status, durationMs: 1, agent: noWork, patch: "p" },
  ...more,
});

it.each([
  ["a\n  TypeError: no\nlast", "TypeError: no"],
  ["ValueError in x: y\nz", "ValueError in x: y"],
  ["SomeException: e", "SomeException: e"],
  ["error: e\nfatal: f", "error: e"],
  ["x\nfatal: f\ny", "fatal: f"],
  ["ok 1\nnot ok 2\nok 3", "not ok 2"],
  ["x\nFAIL a.test.ts\ny", "FAIL a.test.ts"],
  ["an error: e\n\n  last \n\n", "last"],
  ["not okay\nErrors", "Errors"],
  ["\n \n", ""],
])("eval reads from the verifier's output %j the reason '%s'", (output, reason) =>
  expect(reasonIn(output)).toBe(reason),
);

describe("verdicts", () => {
  const verdict = async (end: object, files: Record<string, string> = {}) => {
    const one = task();
    write("one/tests/test.sh");
    const folders = makeFolders(one);
    mkdirSync(join(folders.logs, "verifier"), { recursive: true });
    writeFileSync(join(folders.logs, "verifier/reward.txt"), "1"); // of the agent
    const run = async (script: string, given: object) => {
      expect([script, given]).toEqual([join(folders.tests, "test.sh"), phase]);
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folders.logs, "verifier", name), text);
      return { exitCode: 0, timedOut: false, output: "said", ...end };
    };
    const { signal } = new AbortController();
    const { output, ...rest } = await verify(one, { folders, scripts: { run } as never, signal });
    expect(output).toBe("output" in end ? end.output : "said");
    removeFolders(folders);
    return rest;
  };

  it.each([
    [{}, {}, { reward: 1 }],
    [{ exitCode: 1 }, {}, { reward: 0 }],
    [{ timedOut: true }, { "reward.txt": "1" }, { fault: "tests/test.sh took longer than 2.5 s" }],
    [{ exitCode: null, output: "" }, {}, { fault: "tests/test.sh could not be run: exit code null" }],
    [{ exitCode: 126 }, {}, { fault: "tests/test.sh could not be run: said" }],
    [{ exitCode: 127 }, {}, { fault: "tests/test.sh could not be run: said" }],
    [{ exitCode: 125 }, {}, { reward: 0 }],
    [{ exitCode: 127 }, { "reward.txt": " 0.5\n" }, { reward: 0.5 }],
    [{}, { "reward.txt": "" }, { fault: "reward.txt contains '', which is not a number" }],
    [
      {},
      { "reward.txt": `${"x".repeat(50)}` },
      { fault: `reward.txt contains '${"x".repeat(40)}…', which is not a number` },
    ],
    [{}, { "reward.txt": "1", "reward.json": '{"a":1,"b":0,"c":"x"}' }, { reward: 0.5 }],
    [{}, { "reward.json": '{"a":1,"reward":0.25}' }, { reward: 0.25 }],
    [{}, { "reward.json": '{"a":1,"reward":"x"}' }, { reward: 1 }],
    [{}, { "reward.json": "{}" }, { fault: "reward.json is not an object of numbers" }],
    [{}, { "reward.json": "[1]" }, { fault: "reward.json is not an object of numbers" }],
    [{}, { "reward.json": "no" }, { fault: "reward.json is not an object of numbers" }],
  ])("an eval attempt that ends as %j with the verifier's files %j counts as %j", async (end, files, expected) => {
    expect(await verdict(end, files)).toEqual(expected);
  });
});

describe("planned attempts", () => {
  const wishes: EvaluationWishes = {
    ...{ agent: "cli", model: "gpt", executable: ["courser"], args: ["-x"], onMismatch: "stop", attempts: 2 },
    ...{ confined: true, record: false, keep: false },
  };
  const planned = (more: Partial<EvaluationWishes>, one: Partial<Task> = {}) =>
    planAttempts([task(one)], { ...wishes, ...more }).map(({ task: _, ...attempt }) => attempt);
  const live = ["-x", "--replay-tools", "live", "--replay-on-mismatch", "stop"];
  const cli = (model: string, args = ["-x"]) => ({ type: "cli", model, executable: ["courser"], args });

  it.each<[string, Partial<EvaluationWishes>, Partial<Task>, object[]]>([
    ["a model", {}, {}, ["1", "2"].map((label) => ({ label, agent: cli("gpt") }))],
    ["nothing", { agent: "noop", attempts: 1 }, {}, [{ label: "1", agent: { type: "noop" } }]],
    [
      "another tool",
      { tool: "claude", attempts: 1 },
      {},
      [{ label: "1", agent: { type: "other", tool: "claude", model: "gpt" } }],
    ],
    [
      "its own model",
      { tool: "claude", model: "default", attempts: 1 },
      {},
      [{ label: "1", agent: { type: "other", tool: "claude" } }],
    ],
    ["a script", { model: "script", attempts: 1 }, { script: "/s" }, [{ label: "1", agent: cli("script:/s") }]],
    [
      "one recording",
      { model: "replay:a\nb", attempts: 1 },
      {},
      [{ label: "1", agent: cli(`replay:${resolve("a\nb")}`, live) }],
    ],
    [
      "its recordings",
      { model: "replay" },
      { recordings: { x: "/x", y: "/y" } },
      [
        { label: "x", agent: cli("replay:/x", live) },
        { label: "y", agent: cli("replay:/y", live) },
      ],
    ],
  ])("eval plans the attempts for %s", (_what, more, one, expected) => {
    expect(planned(more, one)).toEqual(expected.map((each) => ({ ...each, confined: true })));
  });

  it("eval skips an attempt whose script or recording is missing, and passes the options on to the others", () => {
    expect(planned({ model: "script", attempts: 1 })[0]!.skip).toBe("it has no script.json");
    expect(planned({ model: "replay" }).map(({ label, skip }) => [label, skip])).toEqual([
      ["1", "it has no recordings"],
    ]);
    expect(
      planned({ model: "a/b c", record: true, keep: true, output: "/o", confined: false, attempts: 1 })[0],
    ).toMatchObject({
      ...{ output: "/o", recordTo: join(folder, "one/recordings/a-b-c.jsonl"), keep: true, confined: false },
    });
    const run = async () => ({}) as never;
    expect(planned({ remote: run as never, attempts: 1 })[0]!.agent).toEqual({ type: "remote", model: "gpt", run });
  });
});

it("eval runs a limited number of attempts at a time, and counts those cut off as skipped", async () => {
  const skipped = (label: string): Attempt => ({
    task: task(),
    agent: { type: "noop" },
    label,
    confined: false,
    skip: "why",
  });
  const seen: string[] = [];
  const progress = {
    started: ({ label }: Attempt) => void seen.push(`+${label}`),
    ended: ({ label }: Attempt, { status }: AttemptResult) => void seen.push(`-${label} ${status}`),
  };
  const options = { env: {}, concurrency: 2, progress };
  const three = ["1", "2", "3"].map(skipped);
  const whole = await evaluate(three, { ...options, signal: new AbortController().signal });
  expect(whole.results.map(({ attempt, status, why }) => [attempt, status, why])).toEqual(
    ["1", "2", "3"].map((label) => [label, "skipped", "why"]),
  );
  expect(whole.interrupted).toBeUndefined();
  expect(seen.slice(0, 2)).toEqual(["+1", "+2"]);
  expect(seen).toHaveLength(6);
  const cut = await evaluate(three, { ...options, signal: AbortSignal.abort() });
  expect([cut.interrupted, cut.results[2]!.why, cut.summary.skipped]).toEqual([
    true,
    "interrupted before it was finished",
    3,
  ]);
});

it("eval --check says which tasks are sound, and why others are not", () => {
  const check = (name: string, faults: string[]) => ({
    ...{ task: name, sound: faults.length === 0, faults, oracle: result("passed"), noop: result("failed") },
  });
  expect(checkText([check("a", [])])).toBe("ok   a  oracle passed, noop failed\n\n1 task: all sound.\n");
  expect(checkText([check("longer", ["it\nfails"]), check("a", [])])).toBe(
    "BAD  longer  oracle passed, noop failed\n     it fails\nok   a       oracle passed, noop failed\n\n2 tasks: 1 not sound.\n",
  );
});

it("eval's summary rounds tokens, cost and pass@k correctly at their limits", () => {
  const used = (inputTokens: number, costUsd?: number) => ({
    agent: { ...noWork, inputTokens, ...(costUsd !== undefined && { costUsd }) },
  });
  const line = (...results: AttemptResult[]) => summaryLine(summarizeResults(results, 1000));
  expect(line(result("passed", used(9_999, 0.0999)))).toContain("9999 tokens, $0.0999, 1.0 s.");
  expect(line(result("passed", used(10_000, 0.1)))).toContain("10k tokens, $0.10, 1.0 s.");
  expect(line()).toBe("0 tasks: 0 passed, 0 failed. 0 tokens, 1.0 s.");
  const many = Array.from({ length: 12 }, (_, at) => result(at < 3 ? "passed" : "failed", { attempt: `${at}` }));
  expect(line(...many).match(/pass@\d+/g)).toEqual(["pass@1", "pass@2", "pass@3", "pass@5", "pass@10", "pass@12"]);
  expect(exitCodeOf(summarizeResults([], 0))).toBe(5);
  expect(exitCodeOf(summarizeResults([result("passed"), result("failed")], 0))).toBe(5);
  const all = {
    results: [result("skipped"), result("failed", { agent: { ...noWork, model: "own" } })],
    summary: summarizeResults([], 0),
  };
  expect(JSON.parse(predictions(all, "gpt"))).toEqual({
    instance_id: "one",
    model_name_or_path: "own",
    model_patch: "p",
  });
  expect(JSON.parse(resultsJson({ ...all, interrupted: true }, { model: "m" }))).toMatchObject({
    model: "m",
    interrupted: true,
  });
  expect(resultsJson(all, {})).not.toMatch(/patch|interrupted/);
});

describe("folders of an attempt", () => {
  it("eval replaces container paths in scripts, the longest first, and nothing that only looks like one", () => {
    const folders = { logs: "/x/l", tests: "/x/t", solution: "/x/s", work: "/x/w" } as AttemptFolders;
    const own = (text: string, workdir?: string) =>
      withOwnPaths(text, task({ environment: { copies: [], ...(workdir && { workdir }) } }), folders);
    expect(own("/tests /solution/a /logs. /testsuite a/tests ~/tests -/tests }/tests =/tests")).toBe(
      "/x/t /x/s/a /logs. /testsuite a/tests ~/tests -/tests }/tests =/x/t",
    );
    expect(own("/logs/app /logs", "/logs/app")).toBe("/x/w /x/l");
    expect(own("/a+b /aab", "/a+b")).toBe("/x/w /aab");
  });

  it("eval copies a task's environment, folders with their content, without its Dockerfile", () => {
    write("one/environment/d/e", "1");
    write("one/environment/f", "2");
    write("one/environment/Dockerfile", "FROM x");
    const copies = [
      { from: ".", to: "." },
      { from: "d", to: "g/" },
      { from: "f", to: "h/" },
      { from: "f", to: "i/j" },
    ];
    const folders = makeFolders(task({ environment: { copies } }));
    for (const [path, text] of Object.entries({ "d/e": "1", f: "2", "g/e": "1", "h/f": "2", "i/j": "2" }))
      expect(readFileSync(join(folders.work, path), "utf8")).toBe(text);
    expect(readIfThere(join(folders.work, "Dockerfile"))).toBeUndefined();
    removeFolders(folders);
    expect(readIfThere(folders.base)).toBeUndefined();
    expect(() => makeFolders(task({ environment: { copies: [{ from: "none", to: "." }] } }))).toThrow(
      "environment/none does not exist",
    );
  });

  it("eval removes what a setup left outside workspace and home, and refuses links in place of its folders", () => {
    const folders = makeFolders(task());
    for (const path of ["extra/x", "workspace/kept", "home/kept", "home/.cursor/own", "logs/agent/own"])
      write(join("..", folders.base.slice(tmpdir().length), path));
    renewFolders(folders);
    const has = (path: string) => readIfThere(join(folders.base, path)) !== undefined;
    expect(["extra/x", "workspace/kept", "home/kept", "home/.cursor/own", "logs/agent/own"].map(has)).toEqual([
      ...[false, true, true, false, false],
    ]);
    rmSync(join(folders.logs, "agent"), { recursive: true });
    expect(() => checkFolders(folders)).not.toThrow();
    symlinkSync("/tmp", join(folders.logs, "agent"));
    expect(() => checkFolders(folders)).toThrow("has replaced its agent directory");
    removeFolders(folders);
  });

  it("eval keeps the recording of a passed attempt, without what is specific to machine and attempt", async () => {
    const folders = makeFolders(task());
    const system = "Workspace: BASE/w\\nPlatform: plan9 1.2.3; more\\nPlatform: hurd 9\\nEnd";
    writeFileSync(recordingIn(folders), system.replace("BASE", folders.base));
    const attempt = {
      task: task(),
      agent: { type: "noop" as const },
      label: "l",
      confined: false,
      recordTo: join(folder, "deep/r.jsonl"),
    };
    await keepOutput(attempt, folders, result("failed"));
    expect(readIfThere(attempt.recordTo)).toBeUndefined();
    await keepOutput({ ...attempt, output: join(folder, "out") }, folders, result("passed", { why: "w" }));
    expect(readIfThere(attempt.recordTo)).toBe(
      `Workspace: ${folders.base.slice(0, -6)}000000/w\\nPlatform: ${process.platform}; more\\nPlatform: ${process.platform}\\nEnd`,
    );
    const kept = (name: string) => readIfThere(join(folder, "out/one/l", name));
    expect([kept("patch.diff"), kept("answer.txt"), kept("trajectory.json")]).toEqual(["p", undefined, undefined]);
    expect(JSON.parse(kept("result.json")!)).toMatchObject({ status: "passed", why: "w" });
    expect(kept("result.json")).not.toContain("patch");
    removeFolders(folders);
  });
});

describe("agents", () => {
  const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 };
  const ended = { outcome: "success", text: "said", turns: 3, model: "m", sessionId: "s", denials: [], usage };
  const work = (one: Task, run?: object) => {
    const { signal } = new AbortController();
    const scripts = { run: async () => ({ exitCode: 0, timedOut: false, output: "said", ...run }) };
    return { task: one, folders: makeFolders(one), scripts: scripts as never, env: {}, confined: true, signal };
  };

  it.each([
    [{}, { steps: 1 }],
    [{ timedOut: true, exitCode: null }, { failure: "solution/solve.sh took longer than 2.5 s" }],
    [{ exitCode: 4 }, { failure: "solution/solve.sh ended with exit code 4: said" }],
  ])("a solution that ends with %j is reported", async (run, report) => {
    const own = work(task(), run);
    expect(await runAgent({ type: "oracle" }, own)).toEqual({ ...noWork, fault: "it has no solution/solve.sh" });
    write("one/solution/solve.sh");
    expect(await runAgent({ type: "oracle" }, own)).toEqual({ ...noWork, ...report });
    removeFolders(own.folders);
  });

  it("a run elsewhere gets what the task asks for, and its result is reported", async () => {
    const one = task({
      mode: "ask",
      mcpServers: { s: { url: "u" } },
      instruction: "see /logs and /app",
      environment: { workdir: "/app", copies: [] },
    });
    const own = work(one);
    const given: object[] = [];
    const run = (result: object) => async (asked: object) => {
      given.push(asked);
      return { result, left: "a note" };
    };
    const remote = (result: object) => ({
      type: "remote" as const,
      model: `script:${write("s.json", "[]")}`,
      run: run(result) as never,
    });
    expect(await runAgent(remote(ended), own)).toEqual({
      ...{
        steps: 3,
        inputTokens: 8,
        outputTokens: 2,
        denials: [],
        differences: [],
        model: "m",
        sessionId: "s",
        left: "a note",
      },
    });
    const { base, work: workspace, logs } = own.folders;
    expect(given).toEqual([
      {
        ...{ prompt: `see ${logs} and .`, workspace, model: `script:${join(base, "script.json")}`, mode: "ask" },
        ...{ mcpServers: { s: { url: "u" } }, timeoutMs: 2500, confined: true, signal: own.signal },
      },
    ]);
    expect(readIfThere(join(logs, "agent/answer.txt"))).toBe("said");
    const error = { code: "C", message: "m" };
    const denials = [{ tool: "t", reason: "r", more: 1 }];
    for (const [outcome, turns, expected] of [
      ["error", 0, { fault: "m [C]" }],
      ["error", 1, { failure: "m [C]" }],
      ["timeout", 0, { failure: "m [C]" }],
    ] as const) {
      const report = await runAgent(
        remote({ outcome, turns, error, text: "", denials, costUsd: 2, usage: { ...usage, totalCost: 0.5 } }),
        own,
      );
      expect(report).toMatchObject({ ...expected, costUsd: 0.5, denials: [{ tool: "t", reason: "r" }] });
      expect(Object.keys(report)).not.toContain("model");
    }
    expect((await runAgent(remote({ ...ended, usage: undefined, costUsd: 2 }), own)).costUsd).toBe(2);
    const needy = { ...own, task: { ...one, agent: { ...phase, env: { A: "b" } } } };
    expect((await runAgent(remote(ended), needy)).fault).toContain("which do not travel");
    removeFolders(own.folders);
  });
});

describe("environments", () => {
  const read = (text: string) => readDockerfile(text, (line, why) => new Error(`${line}: ${why}`) as never);
  it.each([
    ["from x\nworkdir /a\nworkdir b\ncopy f .\n", { workdir: "/a/b", copies: [{ from: "f", to: "./" }] }],
    ["FROM x\nWORKDIR\nCOPY /f /g\n", { copies: [{ from: "f", to: "g" }] }],
    ["FROM x\nCOPY a/./b/ c/\n", { copies: [{ from: "a/b/", to: "c/" }] }],
    ["FROM x\r\n  # c\r\n\r\nCOPY f \\\r\n# in between\r\ng", { copies: [{ from: "f", to: "g" }] }],
    ["FROM x\nCOPY [broken g]\n", { copies: [{ from: "[broken", to: "g]" }] }],
    ["FROM x\nCOPY / /\n", { copies: [{ from: ".", to: "./" }] }],
  ])("eval follows the Dockerfile %j", (text, expected) => expect(read(text)).toEqual(expected));

  it.each([
    ["FROM x\nCOPY f\n", "2: COPY needs a source and a destination"],
    ["FROM x\nCOPY $a b\n", "2: patterns and variables are not supported"],
    ["FROM x\nCOPY a? b\n", "2: patterns and variables"],
    ["FROM x\n\nRUN a \\\n b\n", "3: only FROM, WORKDIR and COPY can be followed without a container, not: RUN a   b"],
    ["FROM x As y\n", "1: builds of several stages"],
  ])("eval refuses the Dockerfile %j", (text, why) => expect(() => read(text)).toThrow(why));

  it("without a Dockerfile eval copies everything; it refuses compose files", () => {
    expect(readEnvironment(folder)).toEqual({ copies: [] });
    write("environment/a");
    expect(readEnvironment(folder)).toEqual({ copies: [{ from: ".", to: "." }] });
    write("environment/docker-compose.yml");
    expect(() => readEnvironment(folder)).toThrow("environment/docker-compose.yml needs containers");
  });

  it("eval refuses two tasks with the same name", () => {
    for (const name of ["a/x", "b/x"])
      for (const file of ["task.toml", "instruction.md", "tests/test.sh"]) write(join(name, file));
    expect(() => findTasks([join(folder, "a"), join(folder, "b")])).toThrow("there is another task named x");
    expect(findTasks([join(folder, "a"), join(folder, "a/x")])).toHaveLength(1);
    for (const name of ["c/m", "c/z", "c/a", "c/k"])
      for (const file of ["task.toml", "instruction.md", "tests/test.sh"]) write(join(name, file));
    expect(findTasks([join(folder, "c")]).map(({ name }) => name)).toEqual(["a", "k", "m", "z"]);
  });
});
