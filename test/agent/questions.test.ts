// What only a person can say: questions and plans, in print mode and on a terminal. Nothing is answered for anybody.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { parseChoiceAnswer } from "../../src/cli/terminal-human.ts";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import { type CliRun, createWorkspace, type Workspace } from "../support/run-cli.ts";
import { converse, hasScript } from "../support/terminal.ts";

const workspaces: Workspace[] = [];
afterAll(() => {
  for (const workspace of workspaces) workspace.remove();
});

function make(replies: unknown): Workspace {
  const workspace = createWorkspace();
  workspaces.push(workspace);
  workspace.file("main.json", JSON.stringify(replies));
  return workspace;
}

const print = ["-p", "--trust", "--output-format", "stream-json", "--model", "script:main.json"];
const colours = {
  title: "Colours",
  questions: [
    {
      id: "wall",
      prompt: "Which wall?",
      options: [
        { id: "n", label: "North" },
        { id: "s", label: "South" },
      ],
    },
    { prompt: "Which paints?", options: [{ label: "red" }, { label: "blue" }], allow_multiple: true },
  ],
};
const plan = {
  name: "Paint: the ../wall",
  overview: "All of it",
  plan: "# Steps\n1. Buy paint\n2. Paint",
  todos: [{ content: "Buy" }],
};

function toolEnd(run: CliRun) {
  return run.lines().find((line) => line["type"] === "tool_call" && line["subtype"] === "completed")!["tool_call"];
}

const pair = (run: CliRun) => run.lines().filter((line) => line["type"] === "interaction_query");

describe("questions in print mode", () => {
  it("print mode answers a model's question as skipped, and the stream shows that answer", async () => {
    const reason = "Questions skipped by the user, continue with the information you already have";
    const workspace = make([
      { calls: [{ name: "AskQuestion", args: colours }] },
      { expect: reason, text: "Then north." },
    ]);
    const run = await workspace.run([...print, "--force", "paint"]);
    const args = {
      title: "Colours",
      questions: [
        { ...colours.questions[0], allowMultiple: false },
        {
          id: "q2",
          prompt: "Which paints?",
          options: [
            { id: "1", label: "red" },
            { id: "2", label: "blue" },
          ],
          allowMultiple: true,
        },
      ],
      runAsync: false,
      asyncOriginalToolCallId: "",
    };
    expect(toolEnd(run).askQuestionToolCall).toEqual({ args, result: { rejected: { reason } } });
    const [request, response] = pair(run);
    expect(request).toMatchObject({
      subtype: "request",
      query_type: "askQuestionInteractionQuery",
      query: { id: 0, askQuestionInteractionQuery: { args, toolCallId: "call_script_1" } },
    });
    expect(response).toMatchObject({
      subtype: "response",
      query_type: "askQuestionInteractionQuery",
      response: { id: 0, askQuestionInteractionResponse: { result: { rejected: { reason } } } },
    });
    expect(run.exit).toBe(0);
    expect(run.lines().at(-1)).toMatchObject({ is_error: false, result: "Then north." });
  });

  it("print mode accepts a plan and stores it in a file that only its owner can read", async () => {
    const workspace = make([
      { calls: [{ name: "CreatePlan", args: plan }] },
      { expect: "accepted and saved", text: "Planned." },
    ]);
    const run = await workspace.run([...print, "--mode", "plan", "paint"]);
    const { result } = toolEnd(run).createPlanToolCall;
    expect(result).toEqual({ success: {}, planUri: expect.stringContaining("/.cursor/plans/paint-the-wall-") });
    expect(pair(run)[0]).toMatchObject({
      query_type: "createPlanRequestQuery",
      query: { createPlanRequestQuery: { args: { name: plan.name } } },
    });
    expect(pair(run)[1]!["response"].createPlanRequestResponse).toEqual({ result });
    const file = fileURLToPath(result.planUri);
    expect(readFileSync(file, "utf8")).toBe(
      '---\nname: "Paint: the ../wall"\noverview: "All of it"\ntodos:\n  - id: "1"\n    content: "Buy"\n    status: pending\n---\n\n# Steps\n1. Buy paint\n2. Paint\n',
    );
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it("the plan tool exists only in plan mode, and COURSER_COMPAT=2025 has no questions or subagents", async () => {
    const workspace = make([{ calls: [{ name: "CreatePlan", args: plan }] }, { text: "ok" }]);
    const run = await workspace.run([...print, "go"]);
    expect(JSON.stringify(run.lines())).toContain("There is no tool named CreatePlan");
    workspace.file(
      "main.json",
      JSON.stringify([
        { calls: [{ name: "AskQuestion", args: {} }] },
        { expect: "There is no tool named AskQuestion", calls: [{ name: "Task", args: {} }] },
        { expect: "There is no tool named Task", text: "ok" },
      ]),
    );
    const old = await workspace.run([...print, "go"], { env: { COURSER_COMPAT: "2025" } });
    expect(old.lines().map(({ type }) => type)).toEqual(["system", "user", "assistant", "result"]);
    expect(old.lines().at(-1)).toMatchObject({ subtype: "success", result: "ok" });
  });

  it("the agent offers no question tool if nobody can answer", async () => {
    await using server = await modelServer(() => ({ text: "hi", usage: { input: 1, output: 1 } }));
    const workspace = make([]);
    const ask = (args: readonly string[]) =>
      workspace.run(["-p", "--trust", "-e", `${server.url}/v1`, "--model", "m", ...args, "hi"]);
    await ask([]);
    await ask(["--mode", "plan"]);
    const tools = server.requests.map(({ json }) => json.tools.map((tool: any) => tool.function));
    const names = tools.map((list) => list.map((tool: any) => tool.name));
    expect(names[0]).toContain("Task");
    expect(names[0]).not.toContain("AskQuestion");
    expect(names[0]).not.toContain("CreatePlan");
    expect(names[1]).toContain("CreatePlan");
    const delegating = tools[1].filter((tool: any) => ["Task", "CreatePlan"].includes(tool.name));
    expect(JSON.stringify(delegating).length).toBeLessThan(1200);
  });
});

describe.skipIf(!hasScript)(
  `questions on a terminal${hasScript ? "" : " (skipped: there is no `script` here)"}`,
  () => {
    it("the agent asks questions one by one, and the user can accept a plan or send it back", async () => {
      const workspace = make([
        { calls: [{ name: "AskQuestion", args: colours }] },
        {
          expect: ["Which wall?\n  South", "Which paints?\n  my own green"],
          calls: [{ name: "CreatePlan", args: plan }],
        },
        {
          expect: "did not accept the plan: cheaper please",
          calls: [{ name: "CreatePlan", args: { ...plan, plan: "Use chalk" } }],
        },
        { expect: "accepted and saved", text: "Planned." },
      ]);
      const { screen, exit } = await converse(
        "--trust --mode plan --model script:main.json paint",
        [
          [/2\. South[\s\S]*own words/, "2\n"],
          [/2\. blue[\s\S]*own words/, "my own green\n"],
          [/Accept this plan/, "cheaper please\n"],
          [/Use chalk[\s\S]*Accept this plan/, "y\n"],
          [/Planned\.[\s\S]*> /, "/help\n"],
          [/\/explore +Explores the code[^\n]*\(subagent\)[\s\S]*> /, "/quit\n"],
        ],
        workspace,
      );
      expect(exit, screen).toBe(0);
      expect(screen).toContain("│ Which wall?");
      expect(screen).toContain("│ 2. Paint");
      expect(readdirSync(join(workspace.config, "plans"))).toHaveLength(1);
    }, 20_000);

    it("a question that is still open when the input ends gets no answer", async () => {
      const workspace = make([
        { calls: [{ name: "AskQuestion", args: colours }] },
        { expect: "skipped", text: "Then none." },
      ]);
      const { screen } = await converse("--trust --model script:main.json paint", [[/own words/, "\u0004"]], workspace);
      expect(screen).toContain("Then none.");
      expect(existsSync(join(workspace.config, "plans"))).toBe(false);
    }, 20_000);
  },
);

describe("answers to questions", () => {
  const asked = {
    id: "q",
    prompt: "?",
    options: [
      { id: "a", label: "Red" },
      { id: "b", label: "2" },
    ],
    allowMultiple: false,
  };
  it.each([
    ["1", { selectedOptionIds: ["a"] }],
    ["red", { selectedOptionIds: ["a"] }],
    ["3", { selectedOptionIds: [], freeformText: "3" }],
    ["1 2", { selectedOptionIds: [], freeformText: "1 2" }],
    ["0", { selectedOptionIds: [], freeformText: "0" }],
  ])("the typed answer %s chooses an option or is free text", (typed, answer) => {
    expect(parseChoiceAnswer(asked, typed)).toEqual({ questionId: "q", ...answer });
  });
  it("a question accepts several answers, or none, if the model allows it", () => {
    expect(parseChoiceAnswer({ ...asked, allowMultiple: true }, "2, 1 2")).toEqual({
      questionId: "q",
      selectedOptionIds: ["b", "a"],
    });
    expect(parseChoiceAnswer(asked, "")).toBeUndefined();
  });
});
