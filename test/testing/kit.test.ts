// The test kit as its users have it: scripted, replayed and served models, workspaces, runs, and what is said about them.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { start } from "../../src/sdk/index.ts";
import {
  type CliRun,
  type CourserMatchers,
  courserMatchers,
  expectRun,
  modelServer,
  replayModel,
  type ScriptedReply,
  scriptedModel,
  type Workspace,
  workspace,
} from "../../src/testing/kit/index.ts";

declare module "vitest" {
  interface Matchers<T = any> extends CourserMatchers<T> {}
}
expect.extend(courserMatchers);

const open: { remove(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.remove();
});

function made(...given: Parameters<typeof workspace>): Workspace {
  const work = workspace(...given);
  open.push(work);
  return work;
}

function scripted(...given: Parameters<typeof scriptedModel>) {
  const model = scriptedModel(...given);
  open.push(model);
  return model;
}

const question = {
  questions: [
    {
      id: "q",
      prompt: "Which wall?",
      options: [
        { id: "n", label: "North" },
        { id: "s", label: "South" },
      ],
    },
  ],
};

const everything: ScriptedReply[] = [
  {
    calls: [
      { name: "Read", args: { path: "a.txt" } },
      { name: "Write", args: { path: "src/new.txt", contents: "new\n" } },
      { name: "Write", args: { path: "a.txt", contents: "changed\n" } },
      { name: "Write", args: { path: "same.txt", contents: "same\n" } },
      { name: "Delete", args: { path: "old.txt" } },
      { name: "Shell", args: { command: "rm -rf src" } },
      { name: "AskQuestion", args: question },
    ],
  },
  { expect: "Hello", text: "Painted." },
];
const files = { "a.txt": "Hello\n", "old.txt": "old\n", "same.txt": "same\n" };

describe("a run of the kit", () => {
  it("a run of the testing kit lists what was called, changed, denied and asked", async () => {
    const work = made(files);
    const run = await work.run("paint", { model: scripted(everything), args: ["--force", "--deny", "Shell(rm)"] });
    expect(run).toHaveSucceeded();
    expect({ ...run, exitCode: null, signal: "SIGKILL" }).not.toHaveSucceeded();
    expect(run).toHaveAnswered("Painted");
    expect(run.text).toBe("Painted.");
    expect(run).toHaveCalledTool("Read", { path: "a.txt" }, { times: 1, outcome: "success" });
    expect(run).toHaveCalledTool("Bash", { command: /^rm/ }, { outcome: "rejected" });
    expect(run).toHaveCalledTool("Shell", { command: /^rm/ }); // as the model calls it
    expect(run).toHaveBeenDenied("Shell");
    expect(run.events).toHaveBeenDenied("Shell");
    expect(run).toHaveCalledTool("Write", { path: expect.stringContaining("new") });
    expect(run).not.toHaveCalledTool("Grep");
    expect(run).toHaveChangedFiles(["src/new.txt", "old.txt", "a.txt"]);
    expect(run).toHaveChangedFiles({ "src/new.txt": "added", "old.txt": "deleted", "a.txt": "modified" });
    expect(run).not.toHaveChangedFiles(["a.txt"]);
    expect(run).toHaveBeenDenied("Bash", "Shell(rm)");
    expect(run).toHaveAsked(/wall/);
    expect(run.questions).toMatchObject([{ kind: "askQuestion", text: "Which wall?" }]);
    expect(run.denials[0]).toMatchObject({ name: "Bash", tool: "Shell", rule: "Shell(rm)" });
    expect(work.read("a.txt")).toBe("changed\n");
    expect(work.files()).toEqual(["a.txt", "same.txt", "src/new.txt"]);

    // The same is true of its events alone.
    expect(run.events).toHaveCalledTool("Read");
    expectRun(run.events).toHaveAsked("Which wall?");
    expect(() => expectRun(run.events).toHaveChangedFiles()).toThrow(/needs a run of runCli/);
  });

  it("a failed matcher of the testing kit explains itself", async () => {
    const work = made(files);
    const run = await work.run("paint", { model: scripted(everything), args: ["--force", "--deny", "Shell(rm)"] });
    const path = join(work.path, "a.txt");
    expect(said(() => expectRun(run).toHaveCalledTool("Grep", { pattern: /x/ }))).toContain(
      `Expected the run to have called Grep with {"pattern":"/x/"}.\nIt called:\n  Read {"path":"${path}"} → success\n`,
    );
    expect(said(() => expectRun(run).not.toHaveCalledTool("Read"))).toMatch(
      /^Expected the run not to have called Read\./,
    );
    expect(said(() => expectRun(run).toHaveChangedFiles(["a.txt"]))).toBe(
      "Expected the run to have changed a.txt.\nIt changed:\n  a.txt (modified)\n  old.txt (deleted)\n  src/new.txt (added)",
    );
    expect(said(() => expectRun(run).toHaveAsked("ceiling"))).toBe(
      'Expected the run to have asked "ceiling".\nIt asked:\n  askQuestion: Which wall?',
    );
    expect(said(() => expectRun(run).toHaveBeenDenied("Read"))).toContain(
      "It was denied:\n  Bash: Shell(rm) in --deny",
    );
    expect(said(() => expectRun(run).toHaveFailed())).toBe(
      'Expected the run to have failed.\nIt answered "Painted.".\nIts exit code was 0.',
    );
    expect(said(() => expect(run).toHaveAnswered("Cooked"))).toContain('to have answered "Cooked"');
    expect(said(() => expect(run).not.toHaveSucceeded())).toContain("Expected the run not to have succeeded.");
    expect(() => expect("text").toHaveSucceeded()).toThrow(/needs what runCli\(\) or agent\(\) gave/);
  });

  it("MCP calls name their tool and server", async () => {
    const mcp = { demo: { command: process.execPath, args: [join(import.meta.dirname, "../support/mcp-server.mjs")] } };
    const work = made(files, { config: { "mcp.json": { mcpServers: mcp } } });
    const model = scripted([{ calls: [{ name: "demo-add", args: { a: 1, b: 2 } }] }, "3"]);
    const run = await work.run("add", { model, args: ["--force"] });
    expect(run).toHaveCalledTool("demo-add", { a: 1 }, { outcome: "success" });
    expect(run).not.toHaveCalledTool("demo-add", { a: 2 });
    expect(said(() => expectRun(run).toHaveCalledTool("demo-fail"))).toContain('demo-add {"a":1,"b":2} → success');
    const text = await work.cli(["-p", "--trust", "--model", "offline", "what is 2+2?"]);
    expect(said(() => expectRun(text).toHaveSucceeded())).toContain("--output-format json and stream-json");
    const json = await work.cli(["-p", "--trust", "--model", "offline", "--output-format", "json", "what is 2+2?"]);
    expect([json.text, json.sessionId]).toEqual(["2 + 2 = 4", expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  });

  it("the testing kit returns a failed run as a value instead of throwing", async () => {
    const work = made();
    const refused = await work.run("go", { model: scripted([{ error: { code: "MODEL_REFUSED", message: "no" } }]) });
    expect(refused).toHaveFailed("MODEL_REFUSED");
    expect(refused).not.toHaveSucceeded();
    expect(said(() => expectRun(refused).toHaveSucceeded())).toMatch(/It failed with MODEL_REFUSED: .*no/);
    expect(said(() => expectRun(refused).toHaveCalledTool("Read"))).toMatch(
      /It called nothing\.\nIt failed with MODEL_REFUSED/,
    );
    const slow = await work.run("go", { model: scripted([{ delayMs: 60_000 }]), timeoutMs: 3000 });
    expect(slow).toMatchObject({ timedOut: true });
    expect(slow).not.toHaveSucceeded();
    await expect(work.cli([], { executable: "no-such-program" })).rejects.toThrow(/no-such-program/);
  });

  it("the testing kit can run another CLI than Courser", async () => {
    const work = made({
      "cli.cjs": 'console.log(JSON.stringify({type:"result",subtype:"success",is_error:false,result:process.argv[2]}))',
    });
    const run = await work.cli(["hello"], { executable: [process.execPath, join(work.path, "cli.cjs")] });
    expect(run).toHaveAnswered("hello");
    expect(run).not.toHaveChangedFiles();
  });
});

describe("the kit's scripted model", () => {
  it("a scripted model continues within a chat and restarts in another", async () => {
    const work = made();
    const model = scripted(["one", { error: { code: "MODEL_REFUSED" } }, { expect: "third", text: "three" }]);
    const first = await work.run("first", { model });
    const resume = ["--resume", first.sessionId!];
    const second = await work.run("second", { model, args: resume });
    expect(second).toHaveFailed("MODEL_REFUSED");
    expect(await work.run("third", { model, args: resume })).toHaveAnswered("three");
    expect(await work.run("other", { model })).toHaveAnswered("one");
    expect(await work.run("fourth", { model, args: resume })).toHaveFailed("MODEL_BAD_RESPONSE");
  });

  it("a scripted model continues in follow-ups and repairs of the SDK", async () => {
    const work = made();
    const { model } = scripted(["no JSON", '{"n": 1}', { expect: "And now?", text: '{"n": 2}' }]);
    const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const;
    const options = { model, schema, cwd: work.path, env: work.env, trust: true } as const;
    const first = start({ ...options, prompt: "Count." });
    expect(await first.result).toMatchObject({ outcome: "success", data: { n: 1 } });
    const next = first.session.send("And now?", { schema });
    expect(await next.result).toMatchObject({ outcome: "success", data: { n: 2 } });
  });

  it("the testing kit validates a scripted model when created, and removes its files", () => {
    expect(() => scriptedModel([{ text: "a", cals: [] } as ScriptedReply])).toThrow(
      /"cals" is not known.*did you mean "calls"/,
    );
    const file = (() => {
      using model = scriptedModel(["hi"]);
      const path = model.model.replace("script:", "");
      expect(existsSync(path)).toBe(true);
      return path;
    })();
    expect(existsSync(file)).toBe(false);
  });
});

it("a replayed model answers from a recording, with recorded or real tools", async () => {
  const work = made(files);
  const model = scripted([{ calls: [{ name: "Write", args: { path: "b.txt", contents: "b\n" } }] }, "Done."]);
  const args = ["--force", "--record", join(work.home, "run.jsonl")];
  expect(await work.run("write", { model, args })).toHaveChangedFiles(["b.txt"]);
  const file = join(work.home, "run.jsonl");
  const other = made(files);
  const recorded = await other.run("write", { model: replayModel(file), args: ["--force"] });
  expect(recorded).toHaveAnswered("Done.");
  expect(recorded).toHaveCalledTool("Write");
  expect(recorded).not.toHaveChangedFiles();
  const live = await other.run("write", { model: replayModel(file, { tools: "live" }), args: ["--force"] });
  expect(live).toHaveChangedFiles(["b.txt"]);
  expect(() => replayModel(join(work.path, "a.txt"))).toThrow(/a\.txt/);
});

describe("the kit's model server", () => {
  it("the model server speaks every wire, and fails on request", async () => {
    await using server = await modelServer([
      { status: 529, body: { error: { type: "overloaded_error", message: "busy" } } },
      { toolCalls: [{ name: "Read", args: { path: "a.txt" } }], repeat: 4, when: isFirst },
      { text: "Read it.", repeat: 4 },
    ]);
    const work = made(files, { server });
    const models = ["anthropic/claude-x", "openai/gpt-x", "google/gemini-x", "chat/any"];
    const runs: CliRun[] = [];
    for (const model of models) runs.push(await work.run("read", { model }));
    for (const run of runs) {
      expectRun(run).toHaveAnswered("Read it.");
      expectRun(run).toHaveCalledTool("Read", { path: "a.txt" });
    }
    expect(new Set(server.requests.map(({ wire }) => wire))).toEqual(
      new Set(["anthropic", "openai-responses", "gemini", "openai-chat"]),
    );
    expect(server.requests.length).toBe(9);
  });

  it("the model server answers non-streaming clients, and words errors like the vendor", async () => {
    const call = { name: "Read", args: { path: "a.txt" } };
    await using server = await modelServer([
      { thinking: "Hm.", text: ["Let me ", "look."], toolCalls: [call], repeat: 4 },
      { status: 429, repeat: 4 },
    ]);
    const ask = async (path: string) => {
      const response = await fetch(`${server.url}${path}`, { method: "POST", body: '{"model":"m"}' });
      return (await response.json()) as any;
    };
    const paths = ["/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1beta/models/m:generateContent"];
    const [message, completion, response, content] = [
      await ask(paths[0]!),
      await ask(paths[1]!),
      await ask(paths[2]!),
      await ask(paths[3]!),
    ];
    expect(message).toMatchObject({ content: [{}, { text: "Let me look." }, { input: call.args }], model: "m" });
    const [choice] = completion.choices;
    expect(choice.message).toMatchObject({ content: "Let me look.", reasoning_content: "Hm." });
    expect(JSON.parse(choice.message.tool_calls[0].function.arguments)).toEqual(call.args);
    expect(response.output[1].content).toMatchObject([{ type: "output_text", text: "Let me look." }]);
    expect(response.output[2]).toMatchObject({ call_id: "call_3", arguments: JSON.stringify(call.args) });
    expect(content.candidates[0].content.parts.at(-1)).toMatchObject({ functionCall: call });
    const errors = [await ask(paths[0]!), await ask(paths[1]!), await ask(paths[3]!)].map(({ error }) => error);
    expect(errors).toMatchObject([
      { type: "rate_limit_error" },
      { code: "rate_limit_exceeded" },
      { code: 429, status: "RESOURCE_EXHAUSTED" },
    ]);
  });
});

it("the testing kit isolates a workspace and removes it afterwards", async () => {
  const work = workspace(
    { "a.json": { a: 1 } },
    { config: { "cli-config.json": { permissions: { deny: ["Read(**)"] } } } },
  );
  expect(JSON.parse(work.read("a.json"))).toEqual({ a: 1 });
  expect(Object.keys(work.env).filter((name) => /KEY|TOKEN/.test(name))).toEqual([]);
  const model = scripted([{ calls: [{ name: "Read", args: { path: "a.json" } }] }, "No."]);
  expect(await work.run("read", { model })).toHaveBeenDenied("Read");
  work.remove();
  expect([existsSync(work.path), existsSync(work.home)]).toEqual([false, false]);
});

/** Nothing of it has been answered. */
function isFirst({ body }: { body: Buffer }): boolean {
  return !/tool_result|function_call_output|functionResponse|"role":"tool"/.test(body.toString());
}

function said(assertion: () => void): string {
  try {
    assertion();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("it held");
}
