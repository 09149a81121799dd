// Subagents, by the built CLI: what they may do, what the stream and the store say of them, and that they end with the run.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { UsageBudget } from "../../src/agent/usage-budget.ts";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import { type CliOptions, type CliRun, createWorkspace, type Workspace } from "../support/run-cli.ts";

const workspaces: Workspace[] = [];
afterAll(() => {
  for (const workspace of workspaces) workspace.remove();
});

type Reply = Record<string, unknown>;

/** Scripts by file name; `main.json` is the model of the run. */
function workspaceWith(scripts: Record<string, Reply[]>, files: Record<string, string> = {}): Workspace {
  const workspace = createWorkspace({ "a.txt": "hello\n", ...files });
  workspaces.push(workspace);
  for (const [name, replies] of Object.entries(scripts)) workspace.file(name, JSON.stringify(replies));
  return workspace;
}

function agentFile(name: string, fields = ""): string {
  return `---\nname: ${name}\ndescription: About ${name}\nmodel: script:${name}.json\n${fields}---\nYou are ${name}.\n`;
}

function task(subagent: string, more: Record<string, unknown> = {}) {
  return {
    name: "Task",
    args: { description: `Ask ${subagent}`, prompt: `work, ${subagent}`, subagent_type: subagent, ...more },
  };
}

const print = ["-p", "--trust", "--output-format", "stream-json", "--model", "script:main.json"];

function go(workspace: Workspace, args: readonly string[] = [], options: CliOptions = {}): Promise<CliRun> {
  return workspace.run([...print, ...args, "go"], options);
}

type Line = Record<string, any>;

function ends(run: CliRun, tool = "taskToolCall"): Line[] {
  const lines = run.lines().filter((line) => line["type"] === "tool_call" && line["subtype"] === "completed");
  return lines.flatMap((line) => (line["tool_call"][tool] ? [line["tool_call"][tool]] : []));
}

const lastLine = (run: CliRun) => run.lines().at(-1)!;

describe("two subagents at once", () => {
  let workspace: Workspace;
  let run: CliRun;
  /** Before one of the tests deletes the chat. */
  let transcript: string;
  beforeAll(async () => {
    workspace = workspaceWith(
      {
        "main.json": [
          { text: "Starting.", calls: [task("reviewer"), task("reviewer")], usage: { inputTokens: 10 } },
          { expect: "All fine.", text: "Done." },
        ],
        "reviewer.json": [
          {
            thinking: "hm",
            text: "Looking.",
            calls: [
              { name: "Read", args: { path: "a.txt" } },
              { name: "Write", args: { path: "b.txt", content: "x" } },
              { name: "Shell", args: { command: "touch c.txt" } },
            ],
            usage: { inputTokens: 5, outputTokens: 7 },
          },
          { text: "All fine.", usage: { inputTokens: 1 } },
        ],
      },
      { ".cursor/agents/reviewer.md": agentFile("reviewer", "readonly: true\n") },
    );
    run = await go(workspace, ["--force"]);
    transcript = readFileSync(ends(run)[0]!["result"].success.transcriptPath, "utf8");
  });

  it("stream lines about subagents look as documented", () => {
    const [started] = run.lines().filter((line) => line["subtype"] === "started");
    expect(started!["tool_call"].taskToolCall.args).toEqual({
      description: "Ask reviewer",
      prompt: "work, reviewer",
      subagentType: { custom: { name: "reviewer" } },
      agentId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      attachments: [],
      mode: "TASK_MODE_UNSPECIFIED",
      respondingToMessageIds: [],
      environment: "SUBAGENT_EXECUTION_ENVIRONMENT_LOCAL",
    });
    const { success } = ends(run)[0]!["result"];
    expect(success).toMatchObject({
      agentId: ends(run)[0]!["args"].agentId,
      isBackground: false,
      backgroundReason: "SUBAGENT_BACKGROUND_REASON_UNSPECIFIED",
      durationMs: expect.stringMatching(/^\d+$/),
      transcriptPath: expect.stringContaining(`/subagents/${success.agentId}.jsonl`),
    });
    expect(success.conversationSteps[0]).toEqual({ thinkingMessage: { text: "hm", durationMs: expect.any(Number) } });
    expect(success.conversationSteps[1]).toEqual({ assistantMessage: { text: "Looking." } });
    expect(success.conversationSteps.at(-1)).toEqual({ assistantMessage: { text: "All fine." } });
    const read = success.conversationSteps.find((step: Line) => step["toolCall"]?.readToolCall);
    expect(read.toolCall.readToolCall.result.success.content).toBe("hello\n");
    expect(transcript).toContain("All fine.");
  });

  it("two subagents run in parallel; the stream shows only the Task calls, and their tokens count for the run", () => {
    const kinds = run.lines().map((line) => line["subtype"] ?? line["type"]);
    expect(kinds).toEqual([
      "init",
      "user",
      "assistant",
      "started",
      "started",
      "completed",
      "completed",
      "assistant",
      "success",
    ]);
    expect(lastLine(run)).toMatchObject({ result: "Starting.Done.", usage: { inputTokens: 22, outputTokens: 14 } });
  });

  it("a read-only subagent changes nothing, even under --force", () => {
    expect(existsSync(join(workspace.path, "b.txt"))).toBe(false);
    expect(existsSync(join(workspace.path, "c.txt"))).toBe(false);
  });

  it("a subagent has its own chat: resumable, not listed, and deleted with its parent", async () => {
    const id = ends(run)[0]!["result"].success.agentId as string;
    const list = await workspace.run(["ls"]);
    expect(list.stdout.trim().split("\n")).toHaveLength(2);
    const parent = await workspace.run(["sessions", "show", "-1"]);
    expect(parent.stdout).toMatch(new RegExp(`Subagents:\\n(.*\\n)*  ${id}  Ask reviewer`));
    const shown = await workspace.run(["sessions", "show", id]);
    const page = await workspace.run(["export", "-1"]);
    expect(page.stdout).toMatch(/Task <code>Ask reviewer<\/code>[\s\S]*Looking\.\n[\s\S]*· Read [\s\S]*All fine\./);
    expect(shown.stdout).toMatch(/1\. work, reviewer\n.*· Read a\.txt[\s\S]*All fine\./);

    workspace.file(
      "main.json",
      JSON.stringify([{ calls: [task("reviewer", { resume: id })] }, { expect: "twice", text: "ok" }]),
    );
    workspace.file("reviewer.json", JSON.stringify([{ expect: "work, reviewer", text: "twice" }]));
    const again = await go(workspace, ["--continue"]);
    expect(lastLine(again)).toMatchObject({ is_error: false, result: "ok" });
    expect(ends(again)[0]!["result"].success.agentId).toBe(id);
    expect((await workspace.run(["sessions", "show", id])).stdout).toContain("2. work, reviewer");

    const { session_id: session } = lastLine(run);
    workspace.file("main.json", JSON.stringify([{ calls: [task("explore", { resume: session })] }, { text: "ok" }]));
    const foreign = await go(workspace, ["--no-persist"]);
    expect(JSON.stringify(ends(foreign)[0]!["result"].error)).toContain("to resume");

    const gone = await workspace.run(["sessions", "delete", session, "--yes"]);
    expect(gone.stdout.match(/Deleted/g)).toHaveLength(3);
    expect((await workspace.run(["sessions", "show", id])).exit).toBe(1);
  }, 30_000);
});

describe("limits of subagents", () => {
  it("subagents can be nested one level deep", async () => {
    const workspace = workspaceWith(
      {
        "main.json": [{ calls: [task("first")] }, { text: "ok" }],
        "first.json": [{ calls: [task("second")] }, { expect: "second says", text: "first says: second says no" }],
        "second.json": [{ calls: [task("first")] }, { expect: "There is no tool named Task", text: "second says no" }],
      },
      { ".cursor/agents/first.md": agentFile("first"), ".claude/agents/second.md": agentFile("second") },
    );
    const run = await go(workspace);
    const steps = ends(run)[0]!["result"].success.conversationSteps as Line[];
    expect(steps.at(-1)).toEqual({ assistantMessage: { text: "first says: second says no" } });
    expect(lastLine(run)["is_error"]).toBe(false);
  });

  it("turn and cost limits count the run together with its subagents", async () => {
    const loop = { "main.json": [{ calls: [task("busy")] }, { text: "ok" }], "busy.json": [] as Reply[] };
    for (let index = 0; index < 9; index++)
      loop["busy.json"].push({ calls: [{ name: "Read", args: { path: "a.txt", limit: index + 1 } }] });
    const workspace = workspaceWith(loop, { ".cursor/agents/busy.md": agentFile("busy") });
    const run = await go(workspace, ["--max-turns", "4"]);
    expect(ends(run)[0]!["result"].error.error).toContain("limit of 4 turns");
    expect(lastLine(run)).toMatchObject({ is_error: true, error_code: "MAX_TURNS" });
  });

  it("starting a subagent with the same task again and again counts as a loop", async () => {
    const workspace = workspaceWith(
      { "same.json": [{ text: "same" }] },
      { ".cursor/agents/same.md": agentFile("same") },
    );
    workspace.file("main.json", JSON.stringify({ replies: [{ calls: [task("same")] }], loop: true }));
    const run = await go(workspace);
    expect(lastLine(run)).toMatchObject({ is_error: true, error_code: "LOOP_DETECTED" });
  });

  it("a subagent without usable tools does not start, and an error about an unknown tool lists only offered ones", async () => {
    const workspace = workspaceWith({
      "main.json": [
        { calls: [task("shell"), { name: "Nonsense", args: {} }] },
        {
          expect: [
            "The subagent shell cannot work here: it needs Shell. Available: generalPurpose, explore.",
            "CreatePlan",
          ],
          text: "I see.",
        },
      ],
    });
    const run = await go(workspace, ["--mode", "plan"]);
    expect(run.exit, run.stderr).toBe(0);
    const error = run.lines().find((line) => JSON.stringify(line).includes("There is no tool named"))!;
    expect(JSON.stringify(error)).not.toMatch(/Shell|AskQuestion|WebFetch/);
  });

  it("a subagent has no permission that its parent lacks", async () => {
    const workspace = workspaceWith(
      {
        "main.json": [{ calls: [task("writer")] }, { text: "ok" }],
        "writer.json": [
          {
            calls: [
              { name: "Write", args: { path: "b.txt", content: "x" } },
              { name: "Read", args: { path: "/etc/hostname" } },
            ],
          },
          { text: "tried" },
        ],
      },
      { ".cursor/agents/writer.md": agentFile("writer") },
    );
    const plan = await go(workspace, ["--mode", "plan"]);
    expect(JSON.stringify(ends(plan)[0])).toContain("There is no tool named Write");
    const usual = await go(workspace, ["--mode", "agent"]);
    expect(existsSync(join(workspace.path, "b.txt"))).toBe(true);
    expect(lastLine(usual)["permission_denials"]).toMatchObject([{ tool: "Read" }]);
    expect(usual.stderr).toBe("");
  });

  it("project subagents need a trusted folder; an unavailable model is replaced by the parent's, with a notice", async () => {
    const workspace = workspaceWith({}, { ".cursor/agents/theirs.md": agentFile("theirs") });
    workspace.file(join(workspace.config, "agents/mine.md"), "---\nmodel: gpt-5\n---\nmine");
    // The parent's model answers in between: the second reply is the subagent's.
    const replies = [
      { calls: [task("mine"), task("theirs")] },
      { text: "from the script of the run" },
      {
        expect: ["from the script of the run", 'Unknown subagent "theirs". Available: mine, generalPurpose'],
        text: "ok",
      },
    ];
    workspace.file("main.json", JSON.stringify(replies));
    const run = await workspace.run(["-p", "--force", "--model", "script:main.json", "go"]);
    expect(run).toMatchObject({ exit: 0, stdout: "ok\n" });
    expect(run.stderr).toContain("The subagent mine wants the model gpt-5, but uses Script: Not authenticated");
  });
});

it("in a run with a local model, a subagent that names a remote model uses the local one", async () => {
  const workspace = workspaceWith({
    "main.json": [{ calls: [task("mine")] }, { text: "from here" }, { expect: "from here", text: "ok" }],
  });
  workspace.file(join(workspace.config, "agents/mine.md"), "---\nmodel: sonnet\n---\nmine");
  const run = await go(workspace, [], {
    env: { ANTHROPIC_API_KEY: "sk-ant-test", ANTHROPIC_BASE_URL: "http://192.0.2.1/" },
  });
  expect(lastLine(run)).toMatchObject({ is_error: false, result: "ok" });
  expect(run.lines().find((line) => line["subtype"] === "model_change")!["message"]).toContain(
    "The model of the run is on this machine",
  );
});

describe("spending of subagents", () => {
  it("a subagent's tokens count for the run, at the price of its own model", () => {
    const usage = { inputTokens: 1_000_000, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
    const run = new UsageBudget();
    const child = new UsageBudget(new UsageBudget(run));
    run.add(usage, { input: 1, output: 1 });
    child.add(usage, { input: 5, output: 1 });
    child.add(usage, undefined);
    child.countReply();
    expect(child.whole).toBe(run);
    expect([run.cost, run.replies, run.usage.inputTokens]).toEqual([6, 1, 3_000_000]);
    expect([child.cost, child.usage.inputTokens]).toEqual([5, 2_000_000]);
  });
});

describe("background subagents", () => {
  it("a run continues beside a background subagent, waits for its end, and the model gets its result", async () => {
    const workspace = workspaceWith(
      {
        "main.json": [
          { calls: [task("slow")] },
          { expect: "Started in the background", text: "Meanwhile." },
          { expect: ['The background subagent "Ask slow"', "slow is done"], text: "All done." },
        ],
        "slow.json": [{ calls: [{ name: "Read", args: { path: "a.txt" } }] }, { delayMs: 300, text: "slow is done" }],
      },
      { ".cursor/agents/slow.md": agentFile("slow", "is_background: true\n") },
    );
    const run = await go(workspace);
    const { agentId, ...success } = ends(run)[0]!["result"].success;
    expect(success).toEqual({
      conversationSteps: [],
      isBackground: true,
      backgroundReason: "SUBAGENT_BACKGROUND_REASON_AGENT_REQUEST",
    });
    const notice = run.lines().find((line) => line["subtype"] === "task_notification");
    expect(notice).toMatchObject({ task_id: agentId, status: "success", title: "Ask slow", detail: "slow is done" });
    expect(lastLine(run)).toMatchObject({ is_error: false, result: "Meanwhile.All done." });
    const output = readFileSync(join(workspace.config, "subagents", `${agentId}.md`), "utf8");
    expect(output).toMatch(/Ask slow: Read .*a\.txt\n\nslow is done\n$/);
  });

  it("a background subagent can be inspected, awaited and stopped by its id", async () => {
    const server = await modelServer(({ json }) => {
      const last = JSON.stringify(json.messages.at(-1).content);
      if (last.includes("work, generalPurpose")) return { delayMs: 20_000, text: "too late" };
      const id =
        /Started in the background: ([0-9a-f-]{36})/.exec(last)?.[1] ??
        /\[([0-9a-f-]{36}): still running/.exec(last)?.[1];
      if (id !== undefined)
        return {
          toolCalls: [
            {
              name: "Await",
              args: last.includes("Started") ? { taskId: id, blockUntilMs: 100 } : { taskId: id, kill: true },
            },
          ],
        };
      if (last.includes("Stopped by the agent")) return { text: "It was ended." };
      return { toolCalls: [{ name: "Task", args: task("generalPurpose", { run_in_background: true }).args }] };
    });
    try {
      const workspace = workspaceWith({});
      const run = await workspace.run([
        "-p",
        "--trust",
        "-e",
        `${server.url}/v1`,
        "--model",
        "m",
        "--output-format",
        "stream-json",
        "go",
      ]);
      expect(lastLine(run)).toMatchObject({ is_error: false, result: "It was ended." });
      expect(ends(run, "awaitToolCall").map(({ result }) => result.success.status)).toEqual(["running", "failed"]);
      expect(run.ms).toBeLessThan(15_000);
    } finally {
      await server.stop();
    }
  }, 30_000);

  it("a background subagent ends with a run that is stopped, and leaves no command behind", async () => {
    const workspace = workspaceWith({
      "main.json": [
        { calls: [task("shell", { run_in_background: true }), task("shell")] },
        { calls: [{ name: "Shell", args: { command: "sleep 77.5" } }] },
        { calls: [{ name: "Shell", args: { command: "sleep 77.5" } }] },
      ],
    });
    const run = await go(workspace, ["--force"], {
      onStart: (child) => {
        let seen = "";
        child.stdout!.on("data", (chunk: Buffer) => {
          const before = seen.includes('"completed"');
          seen += chunk.toString();
          if (!before && seen.includes('"completed"')) setTimeout(() => child.kill("SIGINT"), 400);
        });
      },
    });
    expect(run.exit).toBe(130);
    expect(ends(run)).toHaveLength(2);
    expect(lastLine(run)).toMatchObject({ type: "result", is_error: true });
    const { execFileSync } = await import("node:child_process");
    expect(execFileSync("ps", ["-eo", "args"], { encoding: "utf8" })).not.toContain("sleep 77.5");
  });
});

describe("hooks of subagents", () => {
  it("hooks may refuse a subagent, receive events of its calls and continue it", async () => {
    const note = 'printf "%s\\n" "$(cat)" >> "$CURSOR_PROJECT_DIR/heard.jsonl"';
    const again = `${note}; [ -e "$CURSOR_PROJECT_DIR/again" ] || { touch "$CURSOR_PROJECT_DIR/again"; echo '{"followup_message":"once more"}'; }`;
    const hooks = {
      subagentStart: [
        { command: note },
        { command: 'echo \'{"permission":"deny","user_message":"no shells"}\'', matcher: "shell" },
      ],
      subagentStop: [{ command: again }],
      preToolUse: [{ command: note, matcher: "Read" }],
    };
    const workspace = workspaceWith(
      {
        "main.json": [{ calls: [task("helper"), task("shell")] }, { expect: "helped again", text: "ok" }],
        "helper.json": [
          {
            calls: [
              { name: "Read", args: { path: "a.txt" } },
              { name: "Write", args: { path: "b.txt", content: "x" } },
            ],
          },
          { text: "helped" },
          { expect: "once more", text: "helped again" },
        ],
      },
      {
        ".cursor/agents/helper.md": agentFile("helper"),
        ".cursor/hooks.json": JSON.stringify({ version: 1, hooks }),
      },
    );
    const run = await go(workspace);
    const results = ends(run).map((end) => end["result"]);
    expect(results).toContainEqual({ rejected: { reason: "A hook refused the subagent: no shells" } });
    expect(lastLine(run)).toMatchObject({ is_error: false, permission_denials: [{ tool: "Task" }] });
    const heard = readFileSync(join(workspace.path, "heard.jsonl"), "utf8").trim().split("\n");
    const events = heard.filter(Boolean).map((line) => JSON.parse(line) as Line);
    const of = (name: string) => events.filter((event) => event["hook_event_name"] === name);
    expect(of("preToolUse")).toHaveLength(1);
    const { success } = results.find((result) => result.success)!;
    expect(of("subagentStart")).toContainEqual(
      expect.objectContaining({
        subagent_id: success.agentId,
        subagent_type: "helper",
        task: "work, helper",
        tool_call_id: "call_script_1",
        subagent_model: "Script",
        is_parallel_worker: true,
        parent_conversation_id: lastLine(run)["session_id"],
      }),
    );
    expect(of("subagentStop").map((event) => [event["loop_count"], event["summary"]])).toEqual([
      [0, "helped"],
      [1, "helped again"],
    ]);
    expect(of("subagentStop")[0]).toMatchObject({
      status: "completed",
      tool_call_count: 2,
      modified_files: [join(workspace.path, "b.txt")],
      agent_transcript_path: success.transcriptPath,
    });
  });
});
