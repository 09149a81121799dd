// The bridge beside its cases (test/cases/hooks-bridge.jsonl): hosts, what the types promise, and what happens when a script fails.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, expectTypeOf, it } from "vitest";
import {
  askTable,
  askTreatment,
  BridgeError,
  claude,
  codex,
  cursor,
  defineHook,
  detectHost,
  type HookAnswer,
  type HookReply,
  type HostName,
  hosts,
  type RunOptions,
  run,
} from "../../src/bridge/index.ts";
import { hookEvents } from "../../src/protocol/hook-events.ts";
import { readBlocks } from "../support/doc-examples.ts";
import { repository } from "../support/run-cli.ts";

type Recorded = { host: HostName; version: string; payload: Record<string, unknown> };
const recorded = JSON.parse(readFileSync(join(import.meta.dirname, "recorded-payloads.json"), "utf8")) as Recorded[];
const shell = { hook_event_name: "beforeShellExecution", cursor_version: "3.2.16", command: "rm -rf /", cwd: "/w" };

describe("hook hosts", () => {
  it("the parts of the hook bridge for each host are pure functions that do not change the payload", () => {
    const payload = structuredClone(shell);
    const event = cursor.parse(payload);
    const answer: HookAnswer = { decision: "ask", modified_input: { command: "ls" } };
    expect(cursor.serialize(answer, event)).toEqual(cursor.serialize(answer, event));
    expect(event._native).toBe(payload);
    expect(payload).toEqual(shell);
    expect(answer).toEqual({ decision: "ask", modified_input: { command: "ls" } });
  });

  it("the hook bridge accepts text as well as objects", () => {
    expect(cursor.parse(JSON.stringify(shell))).toEqual(cursor.parse(shell));
    expect(() => cursor.parse("nonsense")).toThrow(BridgeError);
    expect(() => cursor.parse([])).toThrow("not a JSON object");
  });

  it("the hook bridge refuses unknown options for a host", () => {
    const event = cursor.parse(shell);
    for (const host of [cursor, claude, codex])
      expect(() => host.parse(shell, { event: "all" } as never)).toThrow(
        "parse: unknown option 'event'. Did you mean events?",
      );
    expect(() => cursor.serialize({}, event, { cursorAskFallback: "no" } as never)).toThrow(
      "serialize: cursorAskFallback must be one of allow, deny, ask.",
    );
  });

  it("the hook bridge throws on events that a host does not support", () => {
    for (const name of Object.keys(hookEvents)) {
      const payload = {
        ...shell,
        hook_event_name: name,
        tool_name: "Read",
        tool_input: {},
        prompt: "",
        file_path: "/a",
      };
      if (name in cursor.events) expect(cursor.parse(payload, { events: "all" }).event).toBe(cursor.events[name]);
      else expect(() => cursor.parse(payload, { events: "all" })).toThrow("other hosts have nothing like it");
    }
    expect(Object.keys(cursor.events)).toHaveLength(16);
    expect(() => cursor.parse({ ...shell, hook_event_name: "preToolUsed" })).toThrow("did you mean preToolUse?");
    expect(() => cursor.parse({ ...shell, hook_event_name: "sessionEnd" })).toThrow('Pass events: "all"');
    expect(() => codex.parse({ hook_event_name: "PostToolUseFailure" })).toThrow("is not supported");
    expect(() => claude.parse({ hook_event_name: "preToolUse" })).toThrow("did you mean PreToolUse?");
  });

  it("the hook bridge gives scripts written for other bridges the tool names they expect", () => {
    const event = cursor.parse({ ...shell, conversation_id: "c" });
    expect(event).toMatchObject({ tool_input: { command: "rm -rf /" }, session_id: "c", native_tool: "Shell" });
    expect(claude.parse({ hook_event_name: "Stop", stop_hook_active: true })).toMatchObject({ stop_hook_active: true });
  });

  it("the hook bridge returns, as data, the parts of an answer that a host cannot express", () => {
    const lost = (host: keyof typeof hosts, payload: object, answer: HookAnswer) =>
      hosts[host].serialize(answer, hosts[host].parse(payload)).losses;
    expect(lost("cursor", shell, { decision: "ask", additional_context: "c" })).toEqual([
      { field: "additional_context", host: "cursor", event: "beforeShellExecution" },
      { field: "decision", host: "cursor", event: "beforeShellExecution", instead: "deny" },
    ]);
    const prompt = { hook_event_name: "beforeSubmitPrompt", prompt: "p" };
    expect(lost("cursor", prompt, { decision: "ask" })).toEqual([
      { field: "decision", host: "cursor", event: "beforeSubmitPrompt", instead: "deny" },
    ]);
    const bash = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "x" } };
    expect(lost("codex", bash, { decision: "allow" })).toEqual([
      { field: "decision", host: "codex", event: "PreToolUse" },
    ]);
    const everything: HookAnswer = { decision: "ask", reason: "r", user_message: "u", additional_context: "c" };
    expect(lost("claude", bash, { ...everything, modified_input: { command: "y" } })).toEqual([]);
  });

  it.each(["claude", "codex"] as const)(
    "a hook script that refuses a call ends as the host documents it: %s",
    (host) => {
      const serialize = (payload: object, answer: HookAnswer) =>
        hosts[host].serialize(answer, hosts[host].parse(payload));
      const bash = { hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "x" } };
      const prompt = { hook_event_name: "UserPromptSubmit", prompt: "p" };
      expect(serialize(bash, { decision: "deny", reason: "no" })).toMatchObject({ exit_code: 2, stderr: "no\n" });
      expect(serialize(bash, { decision: "deny" })).toMatchObject({ exit_code: 2, stderr: "A hook refused it.\n" });
      expect(serialize(prompt, { decision: "deny", reason: "no" })).toMatchObject({ exit_code: 2, stderr: "no\n" });
      // What is said beside the reason is in the JSON, which is read with 0 alone.
      const more = serialize(bash, { decision: "deny", reason: "no", user_message: "Look." });
      expect(more).toMatchObject({ exit_code: 0, stderr: "" });
      expect(JSON.parse(more.stdout)).toMatchObject({
        systemMessage: "Look.",
        hookSpecificOutput: { permissionDecision: "deny" },
      });
      expect(serialize(bash, {})).toMatchObject({ exit_code: 0, stdout: "" });
      expect(serialize({ ...bash, hook_event_name: "PostToolUse" }, { decision: "deny", reason: "no" }).exit_code).toBe(
        0,
      );
    },
  );

  it.each(["claude", "codex"] as const)(
    "the host %s answers a hook's request for permission, or leaves it to the person",
    (host) => {
      const request = {
        hook_event_name: "PermissionRequest",
        turn_id: "t",
        tool_name: "Bash",
        tool_input: { command: "x" },
      };
      const event = hosts[host].parse(request);
      expect(event).toMatchObject({ event: "PermissionRequest", tool: "Bash", input: { command: "x" } });
      const answer = (given: HookAnswer) => {
        const { stdout, exit_code, stderr } = hosts[host].serialize(given, event);
        return { exit_code, stderr, said: stdout === "" ? undefined : JSON.parse(stdout).hookSpecificOutput.decision };
      };
      expect(answer({ decision: "allow" })).toEqual({ exit_code: 0, stderr: "", said: { behavior: "allow" } });
      const denied = { exit_code: 2, stderr: "no\n", said: { behavior: "deny", message: "no" } };
      expect(answer({ decision: "deny", reason: "no" })).toEqual(denied);
      expect(answer({ decision: "ask" })).toEqual({ exit_code: 0, stderr: "", said: undefined });
      expect(answer({})).toEqual({ exit_code: 0, stderr: "", said: undefined });
      const changed = answer({ decision: "allow", modified_input: { command: "y" } });
      if (host === "claude") expect(changed.said).toEqual({ behavior: "allow", updatedInput: { command: "y" } });
      else
        expect(changed).toMatchObject({
          said: { behavior: "allow" },
          stderr: expect.stringContaining("modified_input"),
        });
    },
  );

  it.each(recorded.map((line) => [line.host, line.payload["hook_event_name"] as string, line] as const))(
    "%s: the hook bridge recognises and parses a recorded payload of %s",
    (_, name, { host, payload }) => {
      expect(detectHost(payload)).toBe(host);
      const event = hosts[host].parse(payload);
      expect(event).toMatchObject({ event: name, host, cwd: "/work", sessionId: payload["session_id"] });
      if ("tool" in event) expect(event).toMatchObject({ tool: "Bash", input: { command: "echo hi" } });
      expect(hosts[host].serialize({}, event)).toEqual({ stdout: "", stderr: "", exit_code: 0, losses: [] });
    },
  );

  it("the hook bridge recognises hosts by their payloads", () => {
    const told = (fields: object) => detectHost(fields);
    expect(told(shell)).toBe("cursor");
    expect(told({ hook_event_name: "stop" })).toBe("cursor");
    expect(told({ hook_event_name: "brandNew", cursor_version: "9" })).toBe("cursor");
    expect(told({ hook_event_name: "PreToolUse", session_id: "s", tool_use_id: "t" })).toBe("claude");
    expect(told({ hook_event_name: "PreToolUse", session_id: "s", turn_id: "t" })).toBe("codex");
    expect(told({ hook_event_name: "SessionStart", session_id: "s", model: "m", source: "startup" })).toBe("claude");
    const start = { hook_event_name: "SessionStart", session_id: "s", model: "m", source: "startup" };
    expect(told({ ...start, permission_mode: "default", transcript_path: null })).toBe("codex");
    expect(told({ hook_event_name: "SessionEnd", session_id: "s", reason: "other", transcript_path: null })).toBe(
      "codex",
    );
    // What Courser sends to hooks of Claude's settings has the fields of both.
    expect(told({ hook_event_name: "PreToolUse", session_id: "s", cursor_version: "1", model: "m" })).toBe("claude");
    for (const other of [null, [], "x", {}, { hook_event_name: 1 }, { hook_event_name: "x" }])
      expect(told(other as object)).toBeUndefined();
  });
});

describe('the table of "ask" answers', () => {
  it("the table of hook hosts has an answer for every version", () => {
    expect(
      ["0.46.0", "2.4.20", "2.4.21", "2.10.0", "3.0.0", "3.2.16", "2026.09.18-a1b2c3d"].map((version) =>
        askTreatment(version),
      ),
    ).toEqual(["asks", "asks", "deny", "deny", "allow", "allow", "unknown"]);
    expect(askTreatment("2.4.21-nightly.3")).toBe("deny");
    for (const odd of [undefined, "", "nightly", "x.y"]) expect(askTreatment(odd)).toBe("unknown");
    const empty = cursor.serialize({ decision: "ask" }, cursor.parse({ ...shell, cursor_version: "" }));
    expect(empty.stderr).toMatch(/^\[agent-hooks-bridge\] cursor of unknown version: /);
    expect(askTreatment("2026.11.16-0000000", "courser")).toBe("asks");
    expect(askTable.filter((row) => row.lastVerified)).toHaveLength(1);
  });
});

describe("types of the bridge", () => {
  it("TypeScript narrows the hook bridge's event types by event and by tool", () => {
    defineHook({
      PreToolUse(event) {
        expectTypeOf(event.event).toEqualTypeOf<"PreToolUse">();
        expectTypeOf(event.paths).toEqualTypeOf<string[]>();
        if (event.tool === "Bash") expectTypeOf(event.input.command).toEqualTypeOf<string>();
        if (event.tool === "Bash") expectTypeOf(event.tool_input.command).toEqualTypeOf<string>();
        if (event.tool === "Edit") expectTypeOf(event.input.file_path).toEqualTypeOf<string | undefined>();
        if (event.tool === "MCP") expectTypeOf(event.input).toEqualTypeOf<Record<string, unknown>>();
        // @ts-expect-error only after a look at `tool`
        event.input.command satisfies string;
        return { decision: "deny" };
      },
      PostToolUse: async (event) => void expectTypeOf(event.output).toBeUnknown(),
      UserPromptSubmit: (event) => void expectTypeOf(event.prompt).toEqualTypeOf<string>(),
      Stop: (event) => void expectTypeOf(event.isContinued).toEqualTypeOf<boolean>(),
      SubagentStop(event) {
        expectTypeOf(event.lastMessage).toEqualTypeOf<string | null | undefined>();
        expectTypeOf(event).toExtend<{ session_id?: string }>();
      },
    });
    // @ts-expect-error no such decision
    defineHook({ PreToolUse: () => ({ decision: "block" }) });
    // @ts-expect-error no such event
    expect(() => defineHook({ PreToolUSe: () => ({}) })).toThrow("Did you mean PreToolUse?");
  });
});

describe("run() of the bridge", () => {
  it("the hook bridge takes its host from the option, then the arguments, then the payload", async () => {
    const seen: string[] = [];
    const handlers = defineHook({ Stop: ({ host }) => void seen.push(host) });
    const stdin = JSON.stringify({ hook_event_name: "Stop", session_id: "s" });
    await quietly(handlers, { stdin });
    await quietly(handlers, { stdin, argv: ["--host", "codex"] });
    await quietly(handlers, { stdin, argv: ["x", "--host=codex"] });
    await quietly(handlers, { stdin, argv: ["--host", "codex"], host: "claude" });
    expect(seen).toEqual(["claude", "codex", "codex", "claude"]);
    expect(await quietly(handlers, { stdin, argv: ["--host"] })).toMatchObject({ exit_code: 1 });
  });

  it("the hook bridge refuses the call on every host if its input is unreadable", async () => {
    const handlers = defineHook({ PreToolUse: () => ({ decision: "allow" }) });
    const refused = async (stdin: RunOptions["stdin"], text: string, maxBytes?: number) => {
      const reply = await quietly(handlers, { stdin, maxBytes });
      expect(reply).toEqual({ stdout: "", exit_code: 2, stderr: expect.stringContaining(text), losses: [] });
    };
    await refused("", "not a JSON object");
    await refused("{", "not a JSON object");
    await refused("[1]", "not a JSON object");
    await refused(`${JSON.stringify(shell)}{}`, "not a JSON object");
    await refused(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), "UTF-8");
    await refused(JSON.stringify(shell), "larger than 20 bytes", 20);
    await refused(JSON.stringify({ ...shell, command: ["rm"] }), 'no string "command"');
    async function* broken() {
      yield "{";
      throw new Error("torn");
    }
    await refused(broken(), "torn");
  });

  it("the hook bridge reads its input up to a limit", async () => {
    let given = 0;
    async function* endless() {
      for (;;) {
        given += 1000;
        yield Buffer.alloc(1000, 0x20);
      }
    }
    expect(await quietly({}, { stdin: endless(), maxBytes: 5000 })).toMatchObject({ exit_code: 2 });
    expect(given).toBe(6000);
  });

  it("the hook bridge reads a payload in pieces and with a byte order mark", async () => {
    const bytes = Buffer.from(`\ufeff${JSON.stringify({ ...shell, command: "echo ä€😀" })}`);
    async function* pieces() {
      for (const byte of bytes) yield Buffer.from([byte]);
    }
    let command = "";
    const handlers = defineHook({ PreToolUse: (event) => void (command = String(event.tool_input["command"])) });
    await quietly(handlers, { stdin: pieces() });
    expect(command).toBe("echo ä€😀");
  });

  it("the hook bridge denies a permission event whenever the handler fails, with a reason", async () => {
    const cycle: Record<string, unknown> = {};
    cycle["self"] = cycle;
    const wrong: [string, () => unknown][] = [
      ["boom", () => Promise.reject(new Error("boom"))],
      ["TypeError", () => Promise.reject(Object.assign(new TypeError("")))],
      ["plain", () => Promise.reject("plain")],
      ['it returned "deny"', () => "deny"],
      ['"modified_input" must be an object, not an array', () => ({ decision: "allow", modified_input: [] })],
      ['"reason" must be a string, not a number', () => ({ reason: 1 })],
      ["circular", () => ({ decision: "allow", modified_input: cycle })],
    ];
    const payload = { ...shell, hook_event_name: "preToolUse", tool_name: "Shell", tool_input: { command: "x" } };
    for (const [text, handler] of wrong) {
      const reply = await quietly({ PreToolUse: handler as () => HookAnswer }, { stdin: JSON.stringify(payload) });
      expect(reply, text).toMatchObject({ exit_code: 2, stderr: expect.stringContaining(text) });
      expect(JSON.parse(reply.stdout), text).toMatchObject({ permission: "deny" });
    }
    const misnamed = { PreToolUse: () => ({ decision: "allow" }), PostToolUSe: () => ({}) } as object;
    expect(await quietly(misnamed, { stdin: JSON.stringify(shell) })).toMatchObject({ exit_code: 2 });
  });

  it("the hook bridge does not print secrets of a handler's error", async () => {
    const key = ["sk", "ant", "api03", "A1b2C3d4".repeat(12)].join("-");
    const handlers = defineHook({
      PreToolUse() {
        throw new Error(`ANTHROPIC_API_KEY=${key}\nsecond line`);
      },
    });
    const { stdout, stderr } = await quietly(handlers, { stdin: JSON.stringify(shell) });
    expect(stdout + stderr).not.toContain(key);
    expect(stderr.split("\n")).toHaveLength(2);
  });

  it("the hook bridge's run() can be called twice in one process", async () => {
    const before = console.log;
    const first = await quietly(defineHook({ PreToolUse: () => ({}) }), { stdin: JSON.stringify(shell) });
    const second = await quietly(defineHook({ PreToolUse: () => ({}) }), { stdin: JSON.stringify(shell) });
    expect(second).toEqual(first);
    expect(console.log).toBe(before);
  });
});

describe("a bridge script", () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "courser-bridge-"));
    await build({
      absWorkingDir: repository,
      entryPoints: { hooks: "src/bridge/index.ts" },
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      target: "node20",
      outdir: join(folder, "node_modules/courser-agent"),
      outExtension: { ".js": ".mjs" },
    });
    const manifest = { name: "courser-agent", exports: { "./hooks": "./hooks.mjs" } };
    writeFileSync(join(folder, "node_modules/courser-agent/package.json"), JSON.stringify(manifest));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const script = (handler: string, before = "") =>
    `import { defineHook, run } from "courser-agent/hooks";
     ${before}
     await run(defineHook({ PreToolUse: ${handler}, Stop: ${handler} }));`;
  const play = (text: string, payload: object | string = shell, argv: string[] = []) =>
    spawnSync(process.execPath, ["--input-type=module", "-e", text, "--", ...argv], {
      input: typeof payload === "string" ? payload : JSON.stringify(payload),
      encoding: "utf8",
      timeout: 20_000,
      cwd: folder,
      env: {},
    });

  it("a hook script blocks a call on every host, in that host's format", () => {
    const guard = script(
      `(event) => event.tool === "Bash" && /rm -rf/.test(event.input.command) ? { decision: "deny", reason: "no" } : {}`,
    );
    expect(play(guard, shell, ["--host", "cursor"])).toMatchObject({
      status: 2,
      stdout: '{"permission":"deny","agent_message":"no"}\n',
      stderr: "",
    });
    const call = {
      hook_event_name: "PreToolUse",
      session_id: "s",
      tool_name: "Bash",
      tool_input: { command: "rm -rf /" },
    };
    const denied = { hookEventName: "PreToolUse", permissionDecision: "deny", permissionDecisionReason: "no" };
    for (const host of ["claude", "codex"]) {
      const { status, stdout, stderr } = play(guard, call, ["--host", host]);
      expect({ status, stderr }).toEqual({ status: 2, stderr: "no\n" });
      expect(JSON.parse(stdout)).toEqual({ hookSpecificOutput: denied });
    }
  });

  it("the documented hook script works as shown", () => {
    const file = "docs/hooks-bridge.md";
    const blocks = readBlocks(file, readFileSync(join(repository, file), "utf8"));
    for (const { name, text } of blocks.filter((block) => /^[\w.]+$/.test(block.name)))
      writeFileSync(join(folder, name), text);
    const shown = blocks.filter((block) => block.after?.mark.includes("the tests of the bridge run it"));
    expect(shown).toHaveLength(2);
    for (const { after, text, line } of shown) {
      const env = { PATH: `${dirname(process.execPath)}:${process.env["PATH"]}` };
      const ran = spawnSync("sh", ["-c", after!.text], { cwd: folder, encoding: "utf8", env, timeout: 20_000 });
      expect(ran.stdout + ran.stderr, `${file}:${line}`).toBe(`${text}\n`);
    }
  });

  it("a hook script with a misspelt option refuses the calls it guards, and says why", async () => {
    const options = { cursorAskFalback: "ask", write: () => {}, writeError: () => {}, exit: () => {} };
    const answer = await run({ PreToolUse: () => ({}) }, { ...options, stdin: JSON.stringify(shell) } as never);
    expect(answer).toMatchObject({ exit_code: 2 });
    expect(answer.stderr).toContain("run: unknown option 'cursorAskFalback'. Did you mean cursorAskFallback?");
    expect(JSON.parse(answer.stdout)).toMatchObject({ permission: "deny" });
    const stop = JSON.stringify({ ...shell, hook_event_name: "stop" });
    expect(await run({ Stop: () => ({}) }, { ...options, stdin: stop } as never)).toMatchObject({ exit_code: 0 });
  });

  it("a hook script may print without spoiling its answer on stdout", () => {
    const { stdout, stderr } = play(script(`() => { console.log("seen"); console.info("too"); return {}; }`));
    expect(stdout).toBe('{"permission":"allow"}\n');
    expect(stderr).toBe("seen\ntoo\n");
  });

  it.each([
    ["exits early", `() => process.exit(0)`],
    ["waits for ever", `() => new Promise(() => {})`],
    ["crashes elsewhere", `() => new Promise(() => setTimeout(() => { throw new Error("far away"); }, 1))`],
    ["forgets a rejection", `() => new Promise(() => { Promise.reject(new Error("lost")); })`],
  ])("when a hook script %s, the call is not allowed", (_, handler) => {
    const guarded = play(script(handler));
    expect(guarded).toMatchObject({ status: 2, stdout: "" });
    expect(guarded.stderr).toContain("[agent-hooks-bridge] the script ended before its handler answered; denied.");
    expect(play(script(handler), { hook_event_name: "stop" }).status).not.toBe(2);
  });

  it("a hook script answers without waiting for work that its handler left running", () => {
    expect(play(script(`() => { setInterval(() => {}, 1000); return {}; }`)).status).toBe(0);
  });

  it("a hook script writes a long answer completely, even to a slow reader", async () => {
    const long = script(`() => ({ decision: "allow", reason: "x".repeat(3_000_000) })`);
    const child = spawn(process.execPath, ["--input-type=module", "-e", long], {
      cwd: folder,
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.end(JSON.stringify(shell));
    let length = 0;
    for await (const chunk of child.stdout) {
      length += (chunk as Buffer).length;
      await new Promise((settle) => setTimeout(settle, 1));
    }
    expect(length).toBeGreaterThan(3_000_000);
  });

  it("a hook script reads a large payload from a pipe", () => {
    const content = "x".repeat(5_000_000);
    const text = script(`(event) => ({ decision: event.input.content.length === 5000000 ? "deny" : "allow" })`);
    expect(play(text, { ...shell, hook_event_name: "beforeReadFile", file_path: "/a", content }).status).toBe(2);
  });
});

/** `run` with nothing of the outside. */
async function quietly(handlers: Parameters<typeof run>[0], options: RunOptions): Promise<HookReply> {
  let stdout = "";
  let stderr = "";
  let code = -1;
  const reply = await run(handlers, {
    argv: [],
    env: {},
    ...options,
    write: (chunk) => (stdout += chunk),
    writeError: (chunk) => (stderr += chunk),
    exit: (given) => (code = given),
  });
  expect({ stdout, stderr, code }).toEqual({ stdout: reply.stdout, stderr: reply.stderr, code: reply.exit_code });
  return reply;
}
