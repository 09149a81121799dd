// Hooks in the built program: the sequence of events, in print mode and on a terminal, and how a run ends with them.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hookEvents } from "../../src/protocol/hook-events.ts";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";
import { converse, hasScript } from "../support/terminal.ts";
import { hookPayloads } from "./hook-payloads.ts";

let workspace: Workspace;
let told: string;
beforeEach(() => {
  workspace = createWorkspace({ "a.txt": "old words\n" });
  told = join(workspace.home, "told.jsonl");
});
afterEach(() => workspace.remove());

type Entry = { command: string; [option: string]: unknown };

function write(file: string, content: unknown): void {
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
}

function userHooks(hooks: Record<string, Entry[]>): void {
  write(join(workspace.config, "hooks.json"), { version: 1, hooks });
}

const print = (value: unknown) => `printf '%s' '${JSON.stringify(value)}'`;
/** A program that writes down what it is told, a line each. */
const note = (file: string) => `cat >> '${file}'; echo >> '${file}'`;

function noteEverything(): void {
  const events = Object.entries(hookEvents).filter(([, { editorOnly }]) => !editorOnly);
  userHooks(Object.fromEntries(events.map(([name]) => [name, [{ command: note(told) }]])));
}

function toldLines(): Record<string, any>[] {
  if (!existsSync(told)) return [];
  return readFileSync(told, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, any>);
}

/** `preToolUse:Shell`, `beforeShellExecution`, … */
function sequence(): string[] {
  return toldLines().map(({ hook_event_name: name, tool_name: tool }) => (tool ? `${name}:${tool}` : String(name)));
}

const everyKind = [
  { thinking: "hm", text: "first", calls: [{ name: "Shell", args: { command: "echo out" } }] },
  { calls: [{ name: "Read", args: { path: "a.txt" } }] },
  { calls: [{ name: "Edit", args: { path: "a.txt", old_string: "old", new_string: "new" } }] },
  { calls: [{ name: "Write", args: { path: "b.txt", content: "b" } }] },
  { calls: [{ name: "LS" }] },
  { calls: [{ name: "Glob", args: { pattern: "*.txt" } }] },
  { calls: [{ name: "Grep", args: { pattern: "new" } }] },
  { calls: [{ name: "TodoWrite", args: { todos: [{ id: "1", content: "rest", status: "pending" }] } }] },
  { calls: [{ name: "Delete", args: { path: "b.txt" } }] },
  { calls: [{ name: "Shell", args: { command: "exit 3" } }] },
  { text: "last" },
];

const around = (before: string[], tool: string, after: string[], end = "postToolUse") => [
  `preToolUse:${tool}`,
  ...before,
  ...after,
  `${end}:${tool}`,
];

const everySequence = [
  "workspaceOpen",
  "sessionStart",
  "beforeSubmitPrompt",
  "afterAgentThought",
  "afterAgentResponse",
  ...around(["beforeShellExecution"], "Shell", ["afterShellExecution"]),
  ...around(["beforeReadFile"], "Read", []),
  ...around([], "Write", ["afterFileEdit"]),
  ...around([], "Write", ["afterFileEdit"]),
  ...around([], "LS", []),
  ...around([], "Glob", []),
  ...around([], "Grep", []),
  ...around([], "TodoWrite", []),
  ...around([], "Delete", []),
  ...around(["beforeShellExecution"], "Shell", ["afterShellExecution"], "postToolUseFailure"),
  "afterAgentResponse",
  "stop",
];

describe("hooks in print mode", () => {
  it("every hook event fires, with preToolUse and postToolUse around the event of the tool", async () => {
    noteEverything();
    const run = await workspace.play(everyKind);
    expect(run.exit, run.stderr).toBe(0);
    expect(sequence()).toEqual([...everySequence, "sessionEnd"]);
    expect(run.stderr).toBe("");
    const lines = toldLines();
    const first = lines.find(({ hook_event_name }) => hook_event_name === "preToolUse")!;
    expect(Object.keys(hookPayloads.preToolUse).every((key) => key in first)).toBe(true);
    expect(first).toMatchObject({ tool_input: { command: "echo out" }, agent_message: "first", cwd: workspace.path });
    expect(lines.find(({ tool_name }) => tool_name === "Read")!["tool_input"]).toEqual({
      file_path: join(workspace.path, "a.txt"),
    });
    expect(lines.at(-1)).toMatchObject({ reason: "completed", final_status: "completed" });
    const ids = new Set(lines.map(({ conversation_id }) => conversation_id).filter(Boolean));
    expect([...ids]).toEqual([run.lines()[0]!["session_id"]]);
    expect(existsSync(lines.at(-1)!["transcript_path"] as string)).toBe(true);
  });

  it("hook payloads contain the documented fields", async () => {
    noteEverything();
    await workspace.play(everyKind);
    for (const line of toldLines()) {
      const input = hookPayloads[line["hook_event_name"] as keyof typeof hookPayloads];
      const missing = Object.entries(input).filter(([key, kind]) => !kind.endsWith("?") && !(key in line));
      expect(missing, String(line["hook_event_name"])).toEqual([]);
      for (const [key, kind] of Object.entries(input)) {
        if (!(key in line)) continue;
        const type = kind.replace("?", "");
        const actual = Array.isArray(line[key]) ? "array" : typeof line[key];
        expect(actual, `${line["hook_event_name"]}.${key}`).toBe(type);
      }
    }
  });

  it("COURSER_PRINT_HOOKS=original limits print mode to the hook events of the original CLI", async () => {
    noteEverything();
    await workspace.play(
      [{ text: "hi", calls: [{ name: "Shell", args: { command: "true" } }] }, { text: "done" }],
      [],
      {
        env: { COURSER_PRINT_HOOKS: "original" },
      },
    );
    expect(sequence()).toEqual(["sessionStart", "preToolUse:Shell", "postToolUse:Shell", "sessionEnd"]);
  });

  it("a hook script of the bridge can block a command, and the run continues", async () => {
    const guard = `if grep -q 'rm -rf'; then ${print({ permission: "deny", agent_message: "rm -rf is blocked" })}; exit 2; fi`;
    userHooks({ preToolUse: [{ command: guard }] });
    const run = await workspace.play([
      { calls: [{ name: "Shell", args: { command: "rm -rf a.txt" } }] },
      { expect: "rm -rf is blocked", text: "Then not." },
    ]);
    expect(run.exit, run.stderr).toBe(0);
    expect(existsSync(join(workspace.path, "a.txt"))).toBe(true);
    expect(run.lines().at(-1)).toMatchObject({
      result: "Then not.",
      permission_denials: [{ reason: "A hook refused it: rm -rf is blocked." }],
    });
  });

  it("a prompt that a hook blocks ends with an error code and is not sent to the model", async () => {
    userHooks({ beforeSubmitPrompt: [{ command: print({ continue: false, user_message: "no passwords" }) }] });
    const run = await workspace.play([{ error: { code: "MODEL_REFUSED", message: "was asked" } }]);
    expect(run.exit).toBe(1);
    expect(run.lines().map(({ type }) => type)).toEqual(["system", "user", "result"]);
    expect(run.lines().at(-1)).toMatchObject({ is_error: true, error_code: "PROMPT_BLOCKED" });
    expect(run.stderr).toContain("A hook stopped the prompt: no passwords");
  });

  it("a hook's follow-up appears as a user line before one result, and text mode prints the last answer", async () => {
    const command = `if grep -q '"loop_count":0'; then ${print({ followup_message: "and the tests?" })}; fi`;
    userHooks({ stop: [{ command }] });
    const replies = [{ text: "Done." }, { expect: "and the tests?", text: "They pass." }];
    const run = await workspace.play(replies);
    const lines = run.lines();
    expect(lines.map(({ type }) => type)).toEqual(["system", "user", "assistant", "user", "assistant", "result"]);
    expect(lines.at(-1)).toMatchObject({ result: "Done.They pass.", is_error: false });
    const text = await workspace.play(replies, ["--output-format", "text"]);
    expect(text.stdout).toBe("They pass.\n");
  });

  it("the model sees a sessionStart hook's context from the start, and later hooks see its variables", async () => {
    const seen = join(workspace.home, "seen");
    userHooks({
      sessionStart: [{ command: print({ additional_context: "The codeword is plum.", env: { CODEWORD: "plum" } }) }],
      preToolUse: [{ command: `echo "$CODEWORD $CURSOR_PROJECT_DIR" > '${seen}'` }],
    });
    const server = await modelServer([{ toolCalls: [{ name: "LS", args: {} }] }, { text: "ok" }]);
    try {
      const args = ["-p", "--force", "-e", `${server.url}/v1`, "--model", "told", "go"];
      const run = await workspace.run(args, { env: { OPENAI_API_KEY: "test" } });
      expect(run.exit, run.stderr).toBe(0);
      expect(server.requests[0]!.body.toString()).toContain("The codeword is plum.");
    } finally {
      await server.stop();
    }
    expect(readFileSync(seen, "utf8")).toBe(`plum ${workspace.path}\n`);
  });

  it("twenty hooks on one event print no listener warnings", async () => {
    userHooks({ preToolUse: Array.from({ length: 20 }, () => ({ command: "cat > /dev/null" })) });
    const run = await workspace.play([{ calls: [{ name: "LS" }, { name: "LS" }] }, { text: "ok" }]);
    expect([run.exit, run.stderr]).toEqual([0, ""]);
  });

  it("a prompt hook asks the run's own model", async () => {
    userHooks({ beforeShellExecution: [{ type: "prompt", prompt: "Harmless?" } as unknown as Entry] });
    const run = await workspace.play([
      { calls: [{ name: "Shell", args: { command: "touch made" } }] },
      { expect: "touch made", text: '{"ok": false, "reason": "it makes things"}' },
      { expect: "it makes things", text: "Then not." },
    ]);
    expect(run.exit, run.stderr).toBe(0);
    expect(existsSync(join(workspace.path, "made"))).toBe(false);
  });

  it("the preCompact hook receives the conversation's size before it is compacted", async () => {
    userHooks({ preCompact: [{ command: `${note(told)}; ${print({ user_message: "shortening" })}` }] });
    const overflow = { error: { code: "MODEL_OVERFLOW", message: "too long" } };
    const run = await workspace.play([{ calls: [{ name: "LS" }] }, overflow, { text: "ok" }]);
    expect(run.exit, run.stderr).toBe(0);
    expect(toldLines()).toMatchObject([{ trigger: "auto", message_count: 3, is_first_compaction: true }]);
    expect(Object.keys(hookPayloads.preCompact).filter((key) => !(key in toldLines()[0]!))).toEqual([]);
    expect(run.notices()).toContain("shortening");
  });

  it("a hanging hook ends when the run is interrupted", async () => {
    const pids = join(workspace.home, "pids");
    userHooks({
      preToolUse: [{ command: `echo $$ >> '${pids}'; sleep 60` }],
      stop: [{ command: note(told) }],
      sessionEnd: [{ command: note(told) }],
    });
    const run = await workspace.play([{ calls: [{ name: "LS" }] }, { text: "ok" }], [], {
      onStart: (child) => {
        const watch = setInterval(() => {
          if (!existsSync(pids)) return;
          clearInterval(watch);
          child.kill("SIGINT");
        }, 20);
      },
    });
    expect(run.exit).toBe(130);
    expect(run.ms).toBeLessThan(8000);
    const alive = readFileSync(pids, "utf8")
      .split("\n")
      .filter(
        (pid) =>
          pid !== "" &&
          existsSync(`/proc/${pid}/environ`) &&
          readFileSync(`/proc/${pid}/stat`, "latin1").includes(") S"),
      );
    expect(alive).toEqual([]);
    expect(toldLines()).toMatchObject([
      { hook_event_name: "stop", status: "aborted" },
      { hook_event_name: "sessionEnd", reason: "aborted" },
    ]);
  });

  it("a run executes project hooks only once approved, and again needs approval after a change", async () => {
    const file = join(workspace.path, ".cursor/hooks.json");
    write(file, { version: 1, hooks: { sessionStart: [{ command: note(told) }] } });
    const replies = [{ text: "ok" }];
    const untrusted = await workspace.play(replies);
    expect(untrusted.notices()).toContain("until you trust this workspace");
    expect(toldLines()).toHaveLength(0);
    const approving = await workspace.play(replies, ["--trust"]);
    expect(approving.stderr).toBe("");
    expect(toldLines()).toHaveLength(1);
    await workspace.play(replies);
    expect(toldLines()).toHaveLength(2);
    write(file, { version: 1, hooks: { sessionStart: [{ command: `${note(told)}; true` }] } });
    const changed = await workspace.play(replies);
    expect(changed.notices()).toMatch(/has changed since it was approved: its hooks do not run.*--trust/);
    expect(toldLines()).toHaveLength(2);
    await workspace.play(replies, ["--trust"]);
    expect(toldLines()).toHaveLength(3);
  });

  it("approving a hook approves its script; changes that the run makes to it take no effect", async () => {
    const guard = [{ command: "./guard.sh", matcher: "Shell" }];
    write(join(workspace.path, ".cursor/hooks.json"), { version: 1, hooks: { preToolUse: guard } });
    const script = workspace.file("guard.sh", "#!/bin/sh\ncat >/dev/null; echo ran >> guarded\n");
    chmodSync(script, 0o755);
    const call = { name: "Shell", args: { command: "echo hello" } };
    const replies = [{ calls: [call] }, { text: "ok" }];
    const guarded = () => (existsSync(join(workspace.path, "guarded")) ? 1 : 0);
    expect((await workspace.play(replies, ["--trust"])).exit).toBe(0);
    expect(guarded()).toBe(1);
    rmSync(join(workspace.path, "guarded"));

    // Written by the run itself: neither does it run, nor is the call let through without it.
    const edit = { name: "Write", args: { path: "guard.sh", contents: "#!/bin/sh\necho evil > guarded\n" } };
    const own = await workspace.play([{ calls: [edit] }, ...replies]);
    expect(own.notices()).toContain("a file that it runs has changed since it was approved");
    expect(own.stdout).toContain("so it has not allowed it");
    expect(guarded()).toBe(0);

    // By the next run it has not been approved.
    expect((await workspace.play(replies)).notices()).toMatch(/guard|or a script that it runs, is new or has changed/);
    expect(guarded()).toBe(0);
  });

  it("a run does not execute hooks (of flags or plugins too) whose files it changed itself", async () => {
    const hooks = { version: 1, hooks: { postToolUse: [{ command: "node ./tools/note.js" }] } };
    const note = "require('./lib/said.js'); process.stdin.resume();\n";
    const evil = { name: "Write", args: { path: "lib/said.js", contents: "require('fs').writeFileSync('evil', '')" } };
    const places: [folder: string, file: string, args: string[]][] = [
      ["", ".cursor/hooks.json", ["--trust"]],
      ["", "given.json", ["--trust", "--hooks", "given.json"]],
      ["plugin", "plugin/hooks/hooks.json", ["--trust", "--plugin-dir", "plugin"]],
    ];
    for (const [folder, file, args] of places) {
      const inside = (name: string) => join(folder, "tools", name);
      write(join(workspace.path, file), hooks);
      workspace.file(inside("note.js"), note);
      workspace.file(inside("lib/said.js"), "");
      const call = { ...evil, args: { ...evil.args, path: inside("lib/said.js") } };
      const other = { name: "Write", args: { path: "other.txt", contents: file } };
      const run = await workspace.play([{ calls: [call] }, { calls: [other] }, { text: "ok" }], args);
      expect(run.exit).toBe(0);
      expect(run.notices()).toContain("a file that it runs has changed since it was approved");
      expect([existsSync(join(workspace.path, "evil")), existsSync(join(workspace.path, folder, "evil"))]).toEqual([
        false,
        false,
      ]);
      rmSync(join(workspace.path, file));
    }
  });

  it("a broken hooks file stops the run and names the place", async () => {
    write(join(workspace.config, "hooks.json"), '{\n "hooks": {,}\n}');
    const run = await workspace.play([{ text: "never" }]);
    expect(run.exit).toBe(1);
    expect(run.lines().at(-1)).toMatchObject({ error_code: "CONFIG_INVALID" });
    expect(run.stderr).toMatch(/hooks\.json is not valid: line 2, column \d+/);
  });

  it("a run with --no-persist keeps no hook trace", async () => {
    userHooks({ stop: [{ command: "true" }] });
    await workspace.play([{ text: "ok" }], ["--no-persist"]);
    const traces = () =>
      readDirectory(join(workspace.config, "projects")).filter((name) => name.includes("hooks-trace"));
    expect(traces()).toEqual([]);
    await workspace.play([{ text: "ok" }]);
    expect(traces()).toHaveLength(1);
  });
});

function readDirectory(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const { readdirSync } = process.getBuiltinModule("node:fs");
  return readdirSync(folder, { recursive: true, encoding: "utf8" });
}

describe.skipIf(!hasScript)(`hooks on a terminal${hasScript ? "" : " (skipped: there is no `script` here)"}`, () => {
  async function talk(script: unknown, dialogue: [question: RegExp, answer: string][]): Promise<string> {
    const file = join(workspace.home, "script.json");
    write(file, script);
    return (await converse(`--model "script:${file}"`, dialogue, workspace)).screen;
  }

  it("a conversation in the terminal fires the same hook events as print mode", async () => {
    noteEverything();
    await workspace.play([{ text: "trusted" }], ["--trust"]);
    rmSync(told);
    await talk(
      [{ text: "hello" }, { calls: [{ name: "LS" }] }, { text: "bye" }],
      [
        [/\n> /, "one\n"],
        [/hello[\s\S]*\n> /, "two\n"],
        [/bye[\s\S]*\n> /, "/quit\n"],
      ],
    );
    expect(sequence()).toEqual([
      "workspaceOpen",
      "sessionStart",
      ...["beforeSubmitPrompt", "afterAgentResponse", "stop"],
      ...["beforeSubmitPrompt", "preToolUse:LS", "postToolUse:LS", "afterAgentResponse", "stop"],
      "sessionEnd",
    ]);
    expect(toldLines().at(-1)).toMatchObject({ reason: "user_close" });
    const generations = toldLines()
      .filter(({ hook_event_name }) => hook_event_name === "beforeSubmitPrompt")
      .map(({ generation_id }) => generation_id);
    expect(new Set(generations).size).toBe(2);
  });

  it("in the terminal, a hook can make a permission question appear, and a changed hooks file needs approval", async () => {
    const file = join(workspace.path, ".cursor/hooks.json");
    const hooks = (reason: string) => ({
      version: 1,
      hooks: { preToolUse: [{ command: print({ permission: "ask", agent_message: reason }) }] },
    });
    write(file, hooks("before"));
    await workspace.play([{ text: "trusted" }], ["--trust"]);
    write(file, hooks("sure about that"));
    const screen = await talk(
      [{ calls: [{ name: "Write", args: { path: "made", content: "x" } }] }, { text: "bye" }],
      [
        [/Run these hooks from now on\?/, "y\n"],
        [/\n> /, "one\n"],
        [/Allow\?/, "y\n"],
        [/bye[\s\S]*\n> /, "/quit\n"],
      ],
    );
    expect(screen).toMatch(/preToolUse: printf/);
    expect(screen).toContain("A hook wants a person to be asked: sure about that.");
    expect(readFileSync(join(workspace.path, "made"), "utf8")).toBe("x");
  });
});
