// Hooks as a library: what each is told, what many say together, and what becomes of the agent.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Agent, createSession } from "../../src/agent/agent.ts";
import { createAgentHooks } from "../../src/agent/hooks/agent-hooks.ts";
import { type AskModel, createHooks, type Hooks } from "../../src/agent/hooks/index.ts";
import { runTurn } from "../../src/agent/loop.ts";
import { createProcessRunner } from "../../src/agent/process.ts";
import { realSeams } from "../../src/agent/seams.ts";
import type { Tool } from "../../src/agent/tools/tool.ts";
import type { ModelChunk, ModelRequest } from "../../src/model/provider.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";
import type { HookEventName } from "../../src/protocol/hook-events.ts";
import { type Hook, loadHooks, withWaiting } from "../../src/store/hook-files.ts";
import { hasHookFiles, hookFiles } from "../../src/store/hook-paths.ts";
import { openHookTrace, readHookTrace } from "../../src/store/hook-trace.ts";
import { approveProjectHooks } from "./hooks-fixture.ts";

let base: string;
let place: { configDir: string; workspace: string; home: string; enterpriseFile: string };
let warnings: string[];
const { signal } = new AbortController();

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "courser-hooks-")));
  const home = join(base, "home");
  place = {
    configDir: join(home, ".cursor"),
    workspace: join(base, "ws"),
    home,
    enterpriseFile: join(base, "enterprise/hooks.json"),
  };
  for (const folder of [place.configDir, place.workspace]) mkdirSync(folder, { recursive: true });
  warnings = [];
});
afterEach(() => {
  for (const folder of [base, `${base}-ws`]) rmSync(folder, { recursive: true, force: true });
});

function write(file: string, content: unknown): string {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

type Entry = Partial<Hook> & { event: HookEventName };

function hooksOf(entries: readonly Entry[], more: { askModel?: AskModel } = {}): Hooks {
  const hooks = entries.map(
    (entry, index): Hook => ({
      format: "cursor",
      level: "user",
      file: "hooks.json",
      entry: `hooks.${entry.event}[${index}]`,
      cwd: base,
      loopLimit: 5,
      failClosed: false,
      ...entry,
    }),
  );
  return createHooks({
    hooks,
    session: {
      sessionId: "session",
      model: "Some Model",
      version: "2026.01.01-abcdef0",
      workspace: place.workspace,
      roots: [],
      transcriptPath: "/t.jsonl",
      mode: "default",
    },
    processes: createProcessRunner(),
    env: { PATH: process.env["PATH"], HOME: place.home, SOME_TOKEN: "very-secret-value" },
    warn: (message) => warnings.push(message),
    trace: openHookTrace(place, (text) => text.replaceAll("hidden", "[redacted]")),
    ...more,
  });
}

const print = (value: unknown) => `printf '%s' '${JSON.stringify(value)}'`;
const call = { tool_name: "Shell", tool_input: { command: "ls" }, tool_use_id: "c", cwd: "/" };

describe("hooks files", () => {
  const stop = (command: string) => ({ version: 1, hooks: { stop: [{ command }] } });

  it("hooks files of all levels apply in order, each script in its own folder", () => {
    write(place.enterpriseFile, stop("enterprise"));
    write(join(place.workspace, ".cursor/hooks.json"), stop("project"));
    write(join(place.configDir, "hooks.json"), stop("user"));
    const claude = (command: string) => ({ hooks: { Stop: [{ hooks: [{ type: "command", command }] }] } });
    write(join(place.workspace, ".claude/settings.local.json"), claude("local"));
    write(join(place.workspace, ".claude/settings.json"), claude("shared"));
    write(join(place.home, ".claude/settings.json"), { ...claude("own"), model: "opus" });
    approveProjectHooks(place);
    const { hooks, warnings: said, waiting } = loadHooks(place, { trusted: true });
    expect(hooks.map(({ command, level, loopLimit }) => [command, level, loopLimit])).toEqual([
      ["enterprise", "enterprise", 5],
      ["project", "project", 5],
      ["user", "user", 5],
      ["local", "claude local", null],
      ["shared", "claude project", null],
      ["own", "claude user", null],
    ]);
    expect(hooks.slice(0, 3).map(({ cwd }) => cwd)).toEqual([
      dirname(place.enterpriseFile),
      place.workspace,
      place.configDir,
    ]);
    expect([said, waiting]).toEqual([[], []]);
  });

  it.each([undefined, null, "", "*"])("hooks with the matcher %j match every call", (matcher) => {
    write(join(place.configDir, "hooks.json"), { version: 1, hooks: { preToolUse: [{ command: "true", matcher }] } });
    expect(loadHooks(place, { trusted: true }).hooks.map((hook) => hook.matcher)).toEqual([undefined]);
  });

  it("a hook matcher that is not a string is rejected", () => {
    const entries = [{ command: "true", matcher: 5 }];
    write(join(place.configDir, "hooks.json"), { version: 1, hooks: { preToolUse: entries } });
    expect(() => loadHooks(place, { trusted: true })).toThrow('"hooks.preToolUse[0].matcher" must be a string, not 5');
  });

  it("Claude hook files may name unknown events; one that resembles a known event is reported", () => {
    const group = [{ hooks: [{ type: "command", command: "true" }] }];
    const file = write(join(place.home, ".claude/settings.json"), {
      hooks: { Setup: group, TeammateIdle: group, PreTolUse: group },
    });
    expect(loadHooks(place, { trusted: true })).toMatchObject({
      hooks: [],
      warnings: [`${file}: the event "PreTolUse" is unknown: did you mean "PreToolUse"? Its hooks do not run.`],
    });
  });

  it("hooks files are found in the usual place of each operating system", () => {
    const { enterpriseFile: _given, ...own } = place;
    const at = (platform: NodeJS.Platform) => hookFiles({ ...own, platform })[0]!.file;
    expect(at("linux")).toBe("/etc/cursor/hooks.json");
    expect(at("darwin")).toBe("/Library/Application Support/Cursor/hooks.json");
    expect(at("win32")).toBe("C:\\ProgramData\\Cursor\\hooks.json");
    expect(hasHookFiles(place)).toBe(false);
    write(join(place.configDir, "hooks.json"), "{}");
    expect(hasHookFiles(place)).toBe(true);
  });

  it("hooks in the home directory are the user's own, even if home is the workspace", () => {
    const home = { ...place, workspace: place.home };
    write(join(place.configDir, "hooks.json"), stop("user"));
    expect(loadHooks(home, { trusted: false })).toMatchObject({ hooks: [{ level: "user" }], warnings: [] });
  });

  it("project hooks do not run before the folder is trusted and, after each change, approved again", () => {
    const file = write(join(place.workspace, ".cursor/hooks.json"), stop("one"));
    expect(loadHooks(place, { trusted: false })).toMatchObject({ hooks: [], waiting: [] });
    expect(loadHooks(place, { trusted: false }).warnings[0]).toContain("--trust");
    expect(loadHooks(place, { trusted: true })).toMatchObject({ hooks: [], waiting: [{ file }] });
    approveProjectHooks(place);
    expect(loadHooks(place, { trusted: true })).toMatchObject({ hooks: [{ command: "one" }], waiting: [] });
    write(file, stop("two"));
    expect(loadHooks(place, { trusted: true })).toMatchObject({ hooks: [], waiting: [{ file }] });
    write(file, stop("one"));
    expect(loadHooks(place, { trusted: true }).hooks).toHaveLength(1);
    // A workspace that shares the folder in the configuration has approved nothing.
    const other = { ...place, workspace: place.workspace.replace(/\/ws$/, "-ws") };
    write(join(other.workspace, ".cursor/hooks.json"), stop("one"));
    expect(loadHooks(other, { trusted: true }).hooks).toEqual([]);
  });

  it("a script listed in both Cursor's and Claude's files runs once, unless that would lose something", () => {
    const shared = (entry: object, group: object, command = '"$CLAUDE_PROJECT_DIR"/.hooks/a.ts --host claude') => {
      const cursor = { command: "./.hooks/a.ts --host cursor", ...entry };
      write(join(place.workspace, ".cursor/hooks.json"), { version: 1, hooks: { preToolUse: [cursor] } });
      const claude = { PreToolUse: [{ ...group, hooks: [{ type: "command", command }] }] };
      write(join(place.workspace, ".claude/settings.json"), { hooks: claude });
      const before = loadHooks(place, { trusted: true });
      const asked = withWaiting(before, place).map(({ format }) => format);
      approveProjectHooks(place);
      const loaded = loadHooks(place, { trusted: true }).hooks.map(({ format }) => format);
      expect(asked).toEqual(loaded);
      return loaded;
    };
    expect(shared({}, {})).toEqual(["cursor"]);
    expect(shared({}, { matcher: "Bash" })).toEqual(["cursor"]);
    expect(shared({ matcher: "Shell|Write" }, { matcher: "Bash|Edit|MultiEdit" })).toEqual(["cursor"]);
    expect(shared({ matcher: "Shell" }, { matcher: "Edit" })).toEqual(["cursor", "claude"]);
    expect(shared({ matcher: "Shell" }, {})).toEqual(["cursor", "claude"]);
    expect(shared({}, {}, '"$CLAUDE_PROJECT_DIR"/.hooks/b.ts --host claude')).toEqual(["cursor", "claude"]);
    expect(shared({ command: "./.hooks/a.ts" }, {})).toEqual(["cursor", "claude"]);
    // What was not approved guards nothing, so the other one stays.
    write(join(place.workspace, ".cursor/hooks.json"), {
      version: 1,
      hooks: { preToolUse: [{ command: "./.hooks/a.ts --host cursor", timeout: 7 }] },
    });
    expect(loadHooks(place, { trusted: true }).hooks.map(({ format }) => format)).toEqual(["claude"]);
    // The same words of another folder are another script.
    write(join(place.configDir, "hooks.json"), {
      version: 1,
      hooks: { preToolUse: [{ command: "./.hooks/a.ts --host cursor" }] },
    });
    expect(loadHooks(place, { trusted: true }).hooks.map(({ format }) => format)).toEqual(["cursor", "claude"]);
  });

  it("errors in hooks files name the place", () => {
    const file = join(place.configDir, "hooks.json");
    write(file, '{\n  "hooks": {\n    "stop": [\n      { "command": "x", "timeout": "1s" }\n    ]\n  }\n}');
    expect(() => loadHooks(place, { trusted: true })).toThrow(
      /hooks\.json, line 4: "hooks\.stop\[0\]\.timeout" must be/,
    );
    write(file, '{ "hooks": { "stop": [ { "command": 1 } ] ');
    expect(() => loadHooks(place, { trusted: true })).toThrow(/line 1, column \d+/);
  });
});

describe("a single hook", () => {
  it("a hook reads one JSON object in the documented environment", async () => {
    const told = join(base, "told.json");
    const seen = join(base, "env");
    const hooks = hooksOf([{ event: "preToolUse", command: `cat > '${told}'; env > '${seen}'` }]);
    hooks.generationId = "generation";
    await hooks.fire("preToolUse", call, { signal });
    expect(JSON.parse(readFileSync(told, "utf8"))).toEqual({
      conversation_id: "session",
      generation_id: "generation",
      session_id: "session",
      model: "Some Model",
      hook_event_name: "preToolUse",
      cursor_version: "2026.01.01-abcdef0",
      workspace_roots: [place.workspace],
      user_email: null,
      transcript_path: "/t.jsonl",
      ...call,
    });
    const env = Object.fromEntries(
      readFileSync(seen, "utf8")
        .split("\n")
        .map((line) => line.split(/=(.*)/s).slice(0, 2)),
    ) as Record<string, string>;
    expect(env).toMatchObject({
      CURSOR_PROJECT_DIR: place.workspace,
      CLAUDE_PROJECT_DIR: place.workspace,
      CURSOR_VERSION: "2026.01.01-abcdef0",
      COURSER_VERSION: "2026.01.01-abcdef0",
      CURSOR_TRANSCRIPT_PATH: "/t.jsonl",
      HOME: place.home,
    });
    expect(env).not.toHaveProperty("SOME_TOKEN");
    expect(env).not.toHaveProperty("CURSOR_USER_EMAIL");
  });

  it("a hook from Claude's settings gets its input in Claude's format", async () => {
    const told = join(base, "told.json");
    const hooks = hooksOf([{ event: "postToolUse", format: "claude", command: `cat > '${told}'` }]);
    await hooks.fire("postToolUse", { ...call, tool_output: "x", duration: 1 }, { signal, tool: "Shell" });
    const payload = JSON.parse(readFileSync(told, "utf8")) as object;
    expect(payload).toMatchObject({
      hook_event_name: "PostToolUse",
      session_id: "session",
      tool_name: "Bash",
      tool_response: "x",
      permission_mode: "default",
    });
    expect(payload).not.toHaveProperty("cursor_version");
    const responseTo = async (tool_output: string) => {
      await hooks.fire("postToolUse", { ...call, tool_output, duration: 1 }, { signal, tool: "Shell" });
      return (JSON.parse(readFileSync(told, "utf8")) as { tool_response: unknown }).tool_response;
    };
    // An object, as scripts for Claude take it apart.
    expect(await responseTo('{"output":"hi\\n","exitCode":0}')).toMatchObject({
      stdout: "hi\n",
      stderr: "",
      exitCode: 0,
    });
    expect(await responseTo('{"path":"/a","linesAdded":1}')).toEqual({ path: "/a", linesAdded: 1 });
  });

  it("hooks run whatever PATH an earlier hook set", async () => {
    const hooks = hooksOf([
      { event: "sessionStart", command: `echo '{"env":{"PATH":"/nowhere"}}'` },
      { event: "preToolUse", command: `echo '{"permission":"deny"}'` },
    ]);
    await hooks.fire("sessionStart", { is_background_agent: false }, { signal });
    expect(await hooks.fire("preToolUse", call, { signal, tool: "Shell" })).toMatchObject({ permission: "deny" });
  });

  it("a workspaceOpen hook gets no conversation", async () => {
    const told = join(base, "told.json");
    await hooksOf([{ event: "workspaceOpen", command: `cat > '${told}'` }]).fire("workspaceOpen", {}, { signal });
    expect(Object.keys(JSON.parse(readFileSync(told, "utf8")) as object).sort()).toEqual([
      "cursor_version",
      "hook_event_name",
      "user_email",
      "workspace_roots",
    ]);
  });

  it("a sessionStart hook sets variables for later hooks, and the higher level wins", async () => {
    const seen = join(base, "seen");
    const hooks = hooksOf([
      { event: "sessionStart", command: print({ env: { WHO: "high", "bad name": "x" }, additional_context: "one" }) },
      { event: "sessionStart", command: print({ env: { WHO: "low", MORE: "1" }, additional_context: "two" }) },
      { event: "stop", command: `echo "$WHO $MORE" > '${seen}'` },
    ]);
    const { context } = await hooks.fire("sessionStart", {}, { signal });
    await hooks.fire("stop", { status: "completed", loop_count: 0 }, { signal });
    expect(context).toEqual(["one", "two"]);
    expect(readFileSync(seen, "utf8")).toBe("high 1\n");
    expect(warnings.join()).toContain("bad name");
  });

  it("a stop hook may continue a run with follow-ups, up to a limit", async () => {
    const command = print({ followup_message: "more" });
    const stopAt = (loopLimit: number | null, loop_count: number) =>
      hooksOf([{ event: "stop", command, loopLimit }]).fire("stop", { status: "completed", loop_count }, { signal });
    expect((await stopAt(5, 4)).followup).toBe("more");
    expect((await stopAt(5, 5)).followup).toBeUndefined();
    expect((await stopAt(null, 500)).followup).toBe("more");
    expect((await stopAt(0, 0)).followup).toBeUndefined();
    expect(warnings.join()).toContain('"loop_limit" is 5');
  });

  it.each([
    ["never reads", "true"],
    ["closes its input", "exec 0<&-; sleep 0.1"],
    ["prints before it reads", "head -c 900000 /dev/zero | tr '\\000' ' '; cat > /dev/null"],
  ])("a hook that %s does not block the prompt", async (_name, command) => {
    const hooks = hooksOf([{ event: "beforeSubmitPrompt", command, failClosed: true, timeoutMs: 5000 }]);
    const prompt = "x".repeat(5_000_000);
    expect(await hooks.fire("beforeSubmitPrompt", { prompt, attachments: [] }, { signal })).toMatchObject({
      reasons: [],
    });
    expect(warnings).toEqual([]);
  });

  it("the agent ends a running hook with its run", async () => {
    const abort = new AbortController();
    const pid = join(base, "pid");
    const fired = hooksOf([{ event: "preToolUse", command: `echo $$ > '${pid}'; sleep 30`, failClosed: true }]).fire(
      "preToolUse",
      call,
      { signal: abort.signal },
    );
    while (!existsSync(pid) || readFileSync(pid, "utf8") === "")
      await new Promise((resolve) => setTimeout(resolve, 10));
    abort.abort();
    const started = performance.now();
    expect((await fired).permission).toBe("deny");
    expect(performance.now() - started).toBeLessThan(3000);
  });

  it("the agent reports a failing hook once, not at every tool call", async () => {
    const hooks = hooksOf([{ event: "preToolUse", command: "echo broken >&2; exit 9" }]);
    for (let round = 0; round < 3; round++) await hooks.fire("preToolUse", call, { signal });
    expect(warnings).toEqual([expect.stringMatching(/exited with code 9: broken/)]);
  });
});

describe("a prompt hook", () => {
  const fire = async (answer: string | Error, event: HookEventName = "preToolUse", entry: Partial<Hook> = {}) => {
    const asked: { text: string; model?: string }[] = [];
    const askModel: AskModel = async (question) => {
      asked.push(question);
      if (answer instanceof Error) throw answer;
      return answer;
    };
    const hooks = hooksOf([{ event, prompt: "Is it harmless? $ARGUMENTS", ...entry }], { askModel });
    return { asked, ...(await hooks.fire(event, call, { signal })) };
  };

  it("a prompt hook sends the event to the user's own model", async () => {
    const { asked, permission } = await fire('{"ok": true}', "preToolUse", { model: "small" });
    expect(permission).toBeUndefined();
    expect(asked).toEqual([expect.objectContaining({ model: "small" })]);
    expect(asked[0]!.text).toMatch(/^Is it harmless\? \{.*"command":"ls"/);
    expect((await fire('```json\n{"ok": false, "reason": "too bold"}\n```')).reasons).toEqual(["too bold"]);
    expect((await fire('{"ok": false, "reason": "go on"}', "stop")).followup).toBe("go on");
    expect((await fire("{}", "stop", { prompt: "Done?" })).asked[0]!.text).toMatch(/^Done\?\n\n\{/);
  });

  it.each([
    ["an unclear answer", "it is fine, I think"],
    ["two answers", '{"ok": false, "ok": true}'],
    ["a wrong type", '{"ok": "true"}'],
  ])("a prompt hook (judged by a model) denies at %s", async (_name, answer) => {
    expect((await fire(answer)).permission).toBe("deny");
  });

  it("a prompt hook that cannot reach the model counts as failed", async () => {
    expect((await fire(new Error("no network"))).permission).toBeUndefined();
    expect(warnings.join()).toContain("no network");
    expect((await fire(new Error("no network"), "preToolUse", { failClosed: true })).permission).toBe("deny");
    const never: AskModel = () => new Promise(() => {});
    const hooks = hooksOf([{ event: "preToolUse", prompt: "?", timeoutMs: 50, failClosed: true }], { askModel: never });
    expect((await hooks.fire("preToolUse", call, { signal })).permission).toBe("deny");
  });
});

describe("several hooks on one event", () => {
  it("hooks of one event run in parallel", async () => {
    const fire = async (count: number) => {
      const entries = Array.from({ length: count }, (): Entry => {
        return { event: "preToolUse", command: "sleep 0.5", failClosed: true };
      });
      const started = performance.now();
      const { permission } = await hooksOf(entries).fire("preToolUse", call, { signal });
      expect(permission).toBeUndefined();
      return performance.now() - started;
    };
    const aloneMs = await fire(1);
    expect(await fire(40)).toBeLessThan(15 * aloneMs); // the exact figure is a line of the benchmark
  }, 30_000);

  it.each([
    ["in a session of its own goes on", "setsid sleep 20", /[RS]/],
    ["of its group ends with it", "sleep 20", /^[ZX]?$/],
  ])("a hook may leave processes behind: one %s", async (_name, started, state) => {
    const file = join(base, "pid");
    const command = `${started} >/dev/null 2>&1 & echo $! > '${file}'; sleep 0.2`;
    await hooksOf([{ event: "stop", command }]).fire("stop", { loop_count: 0 }, { signal });
    const pid = Number(readFileSync(file, "utf8"));
    const seen = stateOf(pid);
    if (/[RS]/.test(seen)) process.kill(pid, "SIGKILL");
    expect(seen).toMatch(state);
  });

  it("of several hooks' answers the strictest wins, with the messages of those who gave it", async () => {
    const answer = await hooksOf([
      { event: "preToolUse", command: print({ permission: "allow", user_message: "fine" }) },
      { event: "preToolUse", command: `sleep 0.2; ${print({ permission: "deny", agent_message: "first" })}` },
      { event: "preToolUse", command: print({ permission: "deny", agent_message: "second", user_message: "look" }) },
    ]).fire("preToolUse", call, { signal });
    expect(answer).toMatchObject({ permission: "deny", reasons: ["first", "second"], messages: ["look", "fine"] });
  });

  it("the last run's hook trace is kept without secrets", async () => {
    const hooks = hooksOf([
      { event: "preToolUse", command: "echo hidden >&2; exit 2" },
      { event: "stop", command: "true" },
    ]);
    await hooks.fire("preToolUse", call, { signal });
    await hooks.fire("stop", { status: "completed", loop_count: 0 }, { signal });
    const lines = readHookTrace(place);
    expect(lines).toMatchObject([
      { event: "preToolUse", exit: 2, answer: "deny", note: "[redacted]", source: "hooks.json hooks.preToolUse[0]" },
      { event: "stop", exit: 0, answer: "nothing", note: "" },
    ]);
    expect(lines[0]!.ms).toBeGreaterThanOrEqual(0);
    await hooksOf([{ event: "stop", command: "true" }]).fire("stop", { loop_count: 0 }, { signal });
    expect(readHookTrace(place)).toHaveLength(1);
  });
});

/** R, S, Z, …; empty: gone. */
function stateOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    return text.slice(text.lastIndexOf(")") + 2)[0]!;
  } catch {
    return "";
  }
}

describe("hooks in the agent loop", () => {
  /** A tool of every kind, a model that calls it, and hooks that write down what they are told. */
  async function play(
    entries: readonly Entry[],
    replies: (string | { name: string; args: object })[],
    { isMcp = false } = {},
  ) {
    const requests: ModelRequest[] = [];
    const ran: unknown[] = [];
    const tool: Tool = {
      name: isMcp ? "docs-lookup" : "Shell",
      ...(isMcp && { mcp: { server: "docs", tool: "lookup", url: "https://example.com/mcp" } }),
      wire: isMcp ? "mcp" : "shell",
      description: "",
      parameters: {},
      readOnly: false,
      parse: (input) => input,
      wireArgs: (args) => args,
      needs: () => [],
      run: async (args) => {
        ran.push(args);
        return { outcome: { kind: "success", value: { content: "as it was" } }, text: "as it was" };
      },
    };
    const hooks = hooksOf(entries);
    const agent = {
      session: createSession(),
      provider: {
        id: "told",
        async *stream(request: ModelRequest): AsyncGenerator<ModelChunk> {
          requests.push({ ...request, messages: structuredClone(request.messages) });
          const reply = replies[requests.length - 1] ?? "end";
          yield typeof reply === "string"
            ? { type: "part", part: { type: "text", text: reply } }
            : { type: "part", part: { type: "tool_call", id: "c1", ...reply } };
        },
      },
      model: { id: "m", displayName: "M", contextTokens: 100_000 },
      system: "",
      tools: [tool],
      decide: async () => ({ verdict: "allow", reasons: [] }),
      hooks: createAgentHooks({
        hooks,
        workspace: place.workspace,
        isResumed: false,
        warn: (message) => warnings.push(message),
      }),
      limits: { maxTurnsPerPrompt: 20, loopLimit: 5 },
      seams: realSeams,
      toolContext: { sessionId: "s", workspace: place.workspace, roots: [], resultLimit: 1000 },
    } as unknown as Agent;
    const prompt = { text: "go", parts: [{ type: "text" as const, text: "go" }], requestId: "r" };
    const events: AgentEvent[] = [];
    for await (const event of runTurn(agent, prompt, signal)) events.push(event);
    return { events, requests, ran, types: events.map(({ type }) => type) };
  }

  it("a hook's follow-up continues the run like a prompt, with one ending", async () => {
    const command = `if grep -q '"loop_count":0'; then ${print({ followup_message: "and now the tests" })}; fi`;
    const { events, requests, types } = await play([{ event: "stop", command }], ["one", "two"]);
    expect(types).toEqual(["user", "text_end", "user", "text_end", "done"]);
    expect(events[2]).toMatchObject({ text: "and now the tests" });
    expect(requests[1]!.messages.at(-1)).toEqual({
      role: "user",
      parts: [{ type: "text", text: "and now the tests" }],
    });
    expect(events.at(-1)).toMatchObject({ type: "done", text: "onetwo" });
  });

  it("hooks' follow-ups stop at the limit", async () => {
    const endless = print({ followup_message: "again" });
    const { types } = await play([{ event: "stop", command: endless, loopLimit: 3 }], Array(10).fill("x"));
    expect(types.filter((type) => type === "user")).toHaveLength(4);
    const unlimited = await play([{ event: "stop", command: endless, loopLimit: null }], Array(50).fill("x"));
    expect(unlimited.events.at(-1)).toMatchObject({ type: "fail", code: "MAX_TURNS" });
  });

  it("the model receives context from hooks beside the tool result", async () => {
    const { requests } = await play(
      [{ event: "postToolUse", command: print({ additional_context: "mind the gap" }) }],
      [{ name: "Shell", args: { command: "ls" } }, "done"],
    );
    expect(requests[1]!.messages.at(-1)!.parts).toMatchObject([
      { type: "tool_result" },
      { type: "text", text: expect.stringContaining("mind the gap") },
    ]);
  });

  it("the agent does not send a prompt that a hook blocks", async () => {
    const { events, requests, types } = await play(
      [{ event: "beforeSubmitPrompt", command: print({ continue: false, user_message: "not on Fridays" }) }],
      ["never"],
    );
    expect(types).toEqual(["user", "fail"]);
    expect(events[1]).toMatchObject({ code: "PROMPT_BLOCKED", message: "A hook stopped the prompt: not on Fridays" });
    expect(requests).toEqual([]);
  });

  it("hooks see MCP calls and may replace their results", async () => {
    const told = join(base, "mcp.json");
    const replaced = { content: [{ type: "text", text: "cleaned" }] };
    const { requests, ran } = await play(
      [
        { event: "beforeMCPExecution", command: `cat > '${told}'` },
        { event: "postToolUse", command: print({ updated_mcp_tool_output: replaced }), matcher: "MCP:lookup" },
      ],
      [{ name: "docs-lookup", args: { q: 1 } }, "done"],
      { isMcp: true },
    );
    expect(ran).toEqual([{ q: 1 }]);
    expect(JSON.parse(readFileSync(told, "utf8"))).toMatchObject({
      tool_name: "lookup",
      tool_input: '{"q":1}',
      url: "https://example.com/mcp",
    });
    expect(requests[1]!.messages.at(-1)!.parts[0]).toMatchObject({ type: "tool_result", text: "cleaned" });
  });

  it("hooks cannot replace the results of tools other than MCP tools", async () => {
    const { requests } = await play(
      [{ event: "postToolUse", command: print({ updated_mcp_tool_output: { content: [] } }) }],
      [{ name: "Shell", args: { command: "ls" } }, "done"],
    );
    expect(requests[1]!.messages.at(-1)!.parts[0]).toMatchObject({ text: "as it was" });
  });

  it("when one hook changes a call's input, the other hooks see the new input and may refuse it", async () => {
    const guard = `read -r told; case $told in *touch*) printf '{"permission":"deny"}' ;; *) printf '{}' ;; esac`;
    const change = { event: "preToolUse", command: print({ updated_input: { command: "touch x" } }) } as const;
    for (const hooks of [
      [change, { event: "preToolUse", command: guard }],
      [{ event: "preToolUse", command: guard }, change],
    ] as const) {
      const { ran } = await play([...hooks], [{ name: "Shell", args: { command: "ls" } }, "done"]);
      expect(ran).toEqual([]);
    }
    const { ran } = await play(
      [change, { event: "preToolUse", command: "printf '{}'" }],
      [{ name: "Shell", args: { command: "ls" } }, "done"],
    );
    expect(ran).toEqual([{ command: "touch x" }]);
  });

  it("a tool call runs with, and shows, the input that a hook changed", async () => {
    const { events, ran } = await play(
      [{ event: "preToolUse", command: print({ updated_input: { command: "pwd" } }) }],
      [{ name: "Shell", args: { command: "ls" } }, "done"],
    );
    expect(ran).toEqual([{ command: "pwd" }]);
    const shown = events.filter((event) => event.type === "tool_start" || event.type === "tool_end");
    expect(shown).toMatchObject([{ args: { command: "ls" } }, { args: { command: "pwd" } }]);
  });
});
