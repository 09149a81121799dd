// What evaluation is made of: reading tasks and Dockerfiles, the estimator, reports.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AttemptResult, Status } from "../../src/eval/attempt.ts";
import { readDockerfile } from "../../src/eval/environment.ts";
import { summarizeResults } from "../../src/eval/evaluate.ts";
import { type AttemptFolders, withOwnPaths } from "../../src/eval/folders.ts";
import { meanPassAtK, passAtK } from "../../src/eval/pass-at-k.ts";
import { exitCodeOf, predictions, reportJunit, reportText, summaryLine } from "../../src/eval/report.ts";
import { findTasks, readTask, type Task } from "../../src/eval/task.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

const dockerfile = (text: string) => readDockerfile(text, (line, why) => new Error(`${line}: ${why}`) as never);

function taskIn(place: Workspace, name: string, toml: string, files: Record<string, string> = {}): string {
  for (const [file, text] of Object.entries({
    "task.toml": toml,
    "instruction.md": "do it\n",
    "tests/test.sh": "exit 0\n",
    ...files,
  }))
    place.file(join(name, file), text);
  return join(place.path, name);
}

describe("Dockerfiles of tasks", () => {
  it("eval follows a Dockerfile that only copies files", () => {
    expect(
      dockerfile(
        `# the image\nFROM node:22\nWORKDIR /app\nCOPY . .\nCOPY a.txt \\\n  b.txt docs/\nCOPY ["one file.txt", "x.txt"]\n`,
      ),
    ).toEqual({
      workdir: "/app",
      copies: [
        { from: ".", to: "./" },
        { from: "a.txt", to: "docs/" },
        { from: "b.txt", to: "docs/" },
        { from: "one file.txt", to: "x.txt" },
      ],
    });
  });

  it.each([
    [
      "FROM node:22\n\nRUN apt-get update\n",
      "3: only FROM, WORKDIR and COPY can be followed without a container, not: RUN apt-get update",
    ],
    ["FROM a AS b\n", "1: builds of several stages are not supported"],
    ["FROM a\nCOPY --from=b /x /y\n", "2: COPY --from=b is not supported"],
    ["FROM a\nWORKDIR /app\nCOPY x /etc/x\n", "3: /etc/x is outside the directory to work in, /app"],
    ["FROM a\nWORKDIR /app\nCOPY ../x .\n", "3: ../x is outside environment/"],
    ["FROM a\nCOPY *.txt /\n", "2: patterns and variables are not supported"],
  ])(
    "a Dockerfile that cannot be followed without a container is refused, and the error names the line: %j",
    (text, why) => {
      expect(() => dockerfile(text)).toThrow(why);
    },
  );
});

describe("reading tasks", () => {
  it("eval reads a task into plain data", () => {
    const place = createWorkspace();
    const folder = taskIn(
      place,
      "one",
      `[agent]\ntimeout_sec = 1.5\n[verifier]\nenv = { A = "b" }\n[metadata.courser]\nmode = "ask"\n[[environment.mcp_servers]]\nname = "s"\ncommand = "x"\nargs = ["y", 1]\nenv = { A = "b" }\n[[environment.mcp_servers]]\nname = "far"\nurl = "http://x"\n`,
      { "recordings/gpt.jsonl": "", "script.json": "[]" },
    );
    const task = readTask(folder);
    expect(task).toMatchObject({
      name: "one",
      instruction: "do it",
      agent: { timeoutMs: 1500 },
      verifier: { timeoutMs: 600_000, env: { A: "b" } },
      mcpServers: { s: { command: "x", args: ["y", "1"], env: { A: "b" } }, far: { url: "http://x" } },
      mode: "ask",
      noop: "fail",
      recordings: { gpt: join(folder, "recordings/gpt.jsonl") },
      script: join(folder, "script.json"),
    });
    expect(JSON.parse(JSON.stringify(task))).toEqual(task);
    place.remove();
  });

  it.each([
    ["[agent]\ntimeout_sec = = 1\n", {}, "task.toml, line 2"],
    ["[agent]\ntimeout_sec = -1\n", {}, "agent.timeout_sec must be a positive number"],
    ["[agent]\ntimeout_sec = 0\n", {}, "agent.timeout_sec must be a positive number"],
    ["[agent]\ntimeout_sec = 'x'\n", {}, "agent.timeout_sec must be a positive number"],
    ["[environment]\nbuild_timeout_sec = 'x'\n", {}, "environment.build_timeout_sec must be a positive number"],
    ["[verifier]\nenv = { A = 'b', C = 1 }\n", {}, "verifier.env must be a table of strings"],
    ["[solution]\nenv = 'A'\n", {}, "solution.env must be a table of strings"],
    ["[environment]\nmcp_servers = 'x'\n", {}, "environment.mcp_servers must be a list of tables"],
    ["[environment]\nmcp_servers = ['x']\n", {}, "needs a name, and a command or a url"],
    ["[[environment.mcp_servers]]\ncommand = 'x'\n", {}, "needs a name, and a command or a url"],
    ["[[environment.mcp_servers]]\nname = 'x'\n", {}, "needs a name, and a command or a url"],
    ["[metadata.courser]\nnoop = 'maybe'\n", {}, 'must be "pass" or "fail"'],
    ["[[steps]]\nname = 'a'\n", {}, "tasks of several steps"],
    ["[environment]\ndocker_image = 'x'\n", {}, "there are no containers here"],
    ["", { "environment/docker-compose.yaml": "" }, "docker-compose.yaml needs containers"],
    ["", { "environment/Dockerfile": "FROM a\nRUN b\n" }, "environment/Dockerfile, line 2"],
    ["[metadata.courser]\nmode = 'fast'\n", {}, 'must be "plan" or "ask"'],
  ] as [string, Record<string, string>, string][])(
    "an eval task that cannot be used says why: %j",
    (toml, files, why) => {
      const place = createWorkspace();
      const folder = taskIn(place, "one", toml, files);
      expect(() => readTask(folder)).toThrow(why);
      place.remove();
    },
  );

  it("eval finds a single task folder, and tasks in a folder of tasks", () => {
    const place = createWorkspace();
    taskIn(place, "tasks/b", "");
    taskIn(place, "tasks/a", "");
    mkdirSync(join(place.path, "tasks/none"));
    writeFileSync(join(place.path, "tasks/readme.md"), "");
    expect(findTasks([join(place.path, "tasks")]).map(({ name }) => name)).toEqual(["a", "b"]);
    expect(findTasks([join(place.path, "tasks/a"), join(place.path, "tasks")]).map(({ name }) => name)).toEqual([
      "a",
      "b",
    ]);
    expect(() => findTasks([join(place.path, "tasks/none")])).toThrow("holds no task");
    expect(() => findTasks([join(place.path, "absent")])).toThrow("is not a directory");
    place.remove();
  });

  it("eval translates a task's container paths", () => {
    const folders = { logs: "/x/logs", tests: "/x/tests", solution: "/x/solution", work: "/x/w" } as AttemptFolders;
    const task = { environment: { workdir: "/app", copies: [] } } as unknown as Task;
    expect(
      withOwnPaths(`echo 1 > /logs/verifier/reward.txt; cd "/app"; ls /app/a /application $X/tests`, task, folders),
    ).toBe(`echo 1 > /x/logs/verifier/reward.txt; cd "/x/w"; ls /x/w/a /application $X/tests`);
  });
});

describe("pass@k", () => {
  it("pass@k equals counting all choices of k attempts", () => {
    const share = (n: number, c: number, k: number) => {
      let [all, hit] = [0, 0];
      for (let set = 0; set < 1 << n; set++) {
        if (set.toString(2).replaceAll("0", "").length !== k) continue;
        all++;
        if (set & ((1 << c) - 1)) hit++;
      }
      return hit / all;
    };
    for (const [n, c, k] of [
      [1, 0, 1],
      [1, 1, 1],
      [5, 2, 1],
      [5, 2, 3],
      [7, 3, 5],
      [6, 0, 4],
      [6, 6, 2],
    ] as const)
      expect(passAtK(n, c, k)).toBeCloseTo(share(n, c, k), 12);
  });

  it("pass@k is the mean over tasks with enough attempts", () => {
    const tasks = [
      { attempts: 2, passed: 1 },
      { attempts: 1, passed: 1 },
    ];
    expect(meanPassAtK(tasks, 1)).toBe(0.75);
    expect(meanPassAtK(tasks, 2)).toBe(1);
    expect(meanPassAtK(tasks, 3)).toBeUndefined();
  });
});

describe("eval reports", () => {
  const result = (task: string, status: Status, more: Partial<AttemptResult> = {}): AttemptResult => ({
    task,
    attempt: "1",
    status,
    durationMs: 1200,
    agent: { steps: 2, inputTokens: 10, outputTokens: 5, costUsd: 0.25, denials: [], differences: [] },
    patch: `of ${task}`,
    ...more,
  });
  const results = [
    result("a", "passed"),
    result("b", "failed", { why: 'it says "no" <&> \u0007🎉' }),
    result("c", "error", { why: "no setup" }),
    result("d", "skipped", { why: "no recording" }),
  ];
  const summary = summarizeResults(results, 5000);

  it("eval's summary leaves out skipped tasks", () => {
    expect(summary).toMatchObject({
      tasks: 4,
      passed: 1,
      failed: 1,
      error: 1,
      skipped: 1,
      costUsd: 1,
      inputTokens: 40,
    });
    expect(summary.passAt).toEqual({ 1: 1 / 3 });
  });

  it("eval has an exit code for each kind of ending", () => {
    expect(exitCodeOf(summary)).toBe(1);
    expect(exitCodeOf(summarizeResults(results.slice(0, 2), 0))).toBe(5);
    expect(exitCodeOf(summarizeResults(results.slice(0, 1), 0))).toBe(0);
    expect(exitCodeOf(summarizeResults(results.slice(3), 0))).toBe(5);
  });

  it("eval's table of attempts aligns its columns, with reasons below", () => {
    const costly = { steps: 120, inputTokens: 9_000, outputTokens: 1_000, costUsd: 0.05, denials: [{}, {}] };
    const rows = [result("a", "passed"), result("long-name", "failed", { attempt: "12", why: "no\nway" })];
    const more = { ...rows[1]!, status: "error" as const, agent: { ...rows[1]!.agent, ...costly } as never };
    const unpriced = result("c", "skipped", { agent: { ...rows[0]!.agent, costUsd: undefined } as never });
    const all = [
      ...rows,
      more,
      { ...unpriced, why: "none" },
      result("d", "passed", { agent: { ...rows[0]!.agent, costUsd: 0 } }),
    ];
    const text = reportText({ results: all, summary: summarizeResults(all, 65_000), interrupted: true } as never);
    expect(`\n${text}`).toMatchInlineSnapshot(`
      "
               task       attempt   time  steps  tokens     cost  denied
      ok       a          1        1.2 s      2      15    $0.25       0
      FAILED   long-name  12       1.2 s      2      15    $0.25       0
               no way
      ERROR    long-name  12       1.2 s    120     10k  $0.0500       2
               no way
      skipped  c          1        1.2 s      2      15                0
               none
      ok       d          1        1.2 s      2      15       $0       0

      Interrupted. 4 tasks: 2 passed, 1 failed, 1 could not be judged, 1 skipped. pass@1 66.7 %, pass@2 0.0 %, 10k tokens, $0.55, 2 denied, 65.0 s.
      "
    `);
    expect(summaryLine(summarizeResults(rows.slice(0, 1), 900))).toMatchInlineSnapshot(
      `"1 task: 1 passed, 0 failed. pass@1 100.0 %, 15 tokens, $0.25, 0.9 s."`,
    );
  });

  it("eval's JUnit report is valid XML", () => {
    expect(reportJunit({ results, summary })).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="eval" tests="4" failures="1" errors="1" skipped="1" time="5.000">
  <testcase classname="eval.a" name="a #1" time="1.200"/>
  <testcase classname="eval.b" name="b #1" time="1.200"><failure message="it says &quot;no&quot; &lt;&amp;&gt; \ufffd🎉"/></testcase>
  <testcase classname="eval.c" name="c #1" time="1.200"><error message="no setup"/></testcase>
  <testcase classname="eval.d" name="d #1" time="1.200"><skipped message="no recording"/></testcase>
</testsuite>
`);
  });

  it("eval writes a prediction for each attempt", () => {
    const lines = predictions({ results, summary }, "gpt").trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toEqual(
      ["a", "b", "c"].map((task) => ({ instance_id: task, model_name_or_path: "gpt", model_patch: `of ${task}` })),
    );
  });
});
