// The drivers: the command line of every option, what the recorded streams become, and the way back to their lines.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { findProgram } from "../../src/process/find-program.ts";
import { spawnWords } from "../../src/process/windows-command.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";
import { isDerived } from "../../src/protocol/stream-json.ts";
import type { CliInfo, Connection, DriverRequest } from "../../src/sdk/drivers/driver.ts";
import { explainedFailure } from "../../src/sdk/drivers/failures.ts";
import { driverOf, drivers } from "../../src/sdk/drivers/index.ts";
import { createUnifier } from "../../src/sdk/live-messages.ts";
import { promptInput } from "../../src/sdk/prompt-input.ts";
import { rebuildLines } from "../../src/sdk/rebuild-lines.ts";
import { createNamer } from "../../src/sdk/run-event.ts";
import { withoutShell } from "../../src/sdk/shell-line.ts";
import type { UnifiedTool } from "../../src/sdk/unified.ts";
import { causeIn } from "../../src/text/cause.ts";

const folder = mkdtempSync(join(tmpdir(), "courser-drivers-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ours: CliInfo = { path: "/bin/courser", isOurs: true };
const original: CliInfo = { path: "/bin/cursor-agent", isOurs: false };
const plain: DriverRequest = { prompt: "go", cwd: "/w", permissionMode: "default", partial: false };
const line = (tool: UnifiedTool, more: Partial<DriverRequest>, cli: CliInfo = ours) =>
  driverOf(tool).command({ ...plain, ...more }, cli);
const args = (tool: UnifiedTool, more: Partial<DriverRequest>, cli?: CliInfo) => line(tool, more, cli).args.join(" ");

describe("command lines of other CLIs", () => {
  test("cursor-agent's command line is as documented", () => {
    expect(args("cursor", {})).toBe("--print --output-format stream-json");
    expect(args("cursor", { permissionMode: "force", resume: "id" })).toBe(
      "--print --output-format stream-json --force --resume id",
    );
    expect(args("cursor", { partial: true })).toBe("--print --output-format stream-json --stream-partial-output");
  });

  const base = {
    cursor: "--print --output-format stream-json",
    claude: "-p --verbose --output-format stream-json",
    codex: "exec --json",
    gemini: "--output-format stream-json",
  };

  test.each<[keyof typeof base, Partial<DriverRequest>, string]>([
    ["cursor", { permissionMode: "acceptEdits" }, ""],
    ["cursor", { permissionMode: "bypassPermissions" }, " --force"],
    ["cursor", { permissionMode: "plan" }, " --mode plan"],
    ["cursor", { trust: true, model: "gpt-5" }, " --trust --model gpt-5"],
    ["cursor", { resume: true, images: ["/a.png"] }, " --continue --image /a.png"],
    ["cursor", { resume: "id", fork: true }, " --resume id --fork"],
    ["cursor", { allowedTools: ["Read", "Grep"] }, " --allowed-tools Read,Grep"],
    ["cursor", { budget: { turns: 4 } }, " --max-turns 4"],
    ["claude", { permissionMode: "default", partial: true }, " --include-partial-messages"],
    ["claude", { permissionMode: "acceptEdits" }, " --permission-mode acceptEdits"],
    ["claude", { permissionMode: "force" }, " --permission-mode bypassPermissions"],
    ["claude", { permissionMode: "bypassPermissions" }, " --permission-mode bypassPermissions"],
    ["claude", { permissionMode: "plan" }, " --permission-mode plan"],
    ["claude", { resume: "id", fork: true, model: "opus" }, " --model opus --resume id --fork-session"],
    ["claude", { resume: true }, " --continue"],
    ["claude", { allowedTools: ["Read"], disallowedTools: ["Bash"] }, " --tools=Read --disallowedTools=Bash"],
    ["claude", { systemPrompt: "-x", budget: { costUsd: 0.5 } }, " --system-prompt=-x --max-budget-usd 0.5"],
    ["gemini", { permissionMode: "default" }, " --approval-mode default"],
    ["gemini", { permissionMode: "acceptEdits", trust: true }, " --approval-mode auto_edit --skip-trust"],
    ["gemini", { permissionMode: "force" }, " --approval-mode yolo --skip-trust"],
    ["gemini", { permissionMode: "plan", resume: true }, " --approval-mode plan --resume latest"],
    ["codex", {}, ""],
    ["codex", { permissionMode: "acceptEdits" }, ' -c sandbox_mode="workspace-write"'],
    ["codex", { permissionMode: "plan", images: ["/a.png"] }, ' -c sandbox_mode="read-only" --image=/a.png'],
    ["codex", { permissionMode: "force" }, " --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox"],
  ])("the command line for the CLI %s with %j", (tool, request, expected) => {
    expect(args(tool, request)).toBe(base[tool] + expected);
  });

  test("codex resumes and forks by a subcommand, with the id last", () => {
    expect(args("codex", { resume: "id", model: "m" })).toBe("exec resume --json --model m id");
    expect(args("codex", { resume: true })).toBe("exec resume --json --last");
    expect(args("codex", { resume: "id", fork: true })).toBe("exec fork --json id -");
  });

  test("the SDK lists options that a CLI cannot honour, and refuses if one of them restricts", () => {
    const losses = (tool: UnifiedTool, more: Partial<DriverRequest>, cli?: CliInfo) =>
      line(tool, more, cli).losses.map(({ option }) => option);
    expect(losses("cursor", { permissionMode: "acceptEdits", systemPrompt: "x" }, original)).toEqual([
      "permissionMode",
      "systemPrompt",
    ]);
    expect(losses("codex", { partial: true, appendSystemPrompt: "x" })).toEqual(["appendSystemPrompt", "partial"]);
    expect(() => line("claude", { images: ["/no/a.png"] })).toThrow("/no/a.png cannot be read");
    expect(line("gemini", { images: ["/a.png", "/d e/(1).png"] }).prompt).toBe("go\n\n@/a.png\n@/d\\ e/\\(1\\).png");
    expect(line("pi", { prompt: "@a.txt says?" }).promptVia).toBe("stdin");
    for (const tool of ["codex", "gemini"] as const)
      expect(() => line(tool, { disallowedTools: ["Bash"] })).toThrow(/cannot be enforced/);
    expect(() => line("cursor", { allowedTools: ["Read"] }, original)).toThrow(/cannot be enforced/);
    expect(() => line("cursor", { resume: "id", fork: true }, original)).toThrow(/fork/);
    expect(() => line("gemini", { resume: "id", fork: true })).toThrow(/fork/);
  });

  test("the SDK passes hooks, ask commands and MCP servers to a CLI by flags, or by files in a folder of the run", () => {
    const connection = {
      folder,
      hook: { command: ["node", "/a b/relay.cjs"], events: ["preToolUse"] },
      ask: { command: ["node", "ask"] },
      mcp: { name: "mine", command: ["node", "mcp"] },
    };
    const [hooks, ask, mcp] = ["--hooks", "--ask-command", "--mcp-config"].map((flag) => {
      const list = line("cursor", { connection }).args;
      return list[list.indexOf(flag) + 1]!;
    });
    expect(JSON.parse(hooks!)).toEqual({
      version: 1,
      hooks: { preToolUse: [{ command: "node '/a b/relay.cjs'", failClosed: true, timeout: 3600 }] },
    });
    expect(ask).toBe("node ask");
    expect(JSON.parse(mcp!)).toEqual({ mcpServers: { mine: { command: "node", args: ["mcp"] } } });
    const claude = line("claude", { connection }).args;
    expect(JSON.parse(claude[claude.indexOf("--settings") + 1]!).hooks).toHaveProperty("PreToolUse");
    expect(claude).toContain("--allowedTools=mcp__mine");
    expect(args("codex", { connection })).toContain('mcp_servers.mine.args=["mcp"]');
    expect(args("codex", { connection })).toContain(
      `hooks.PreToolUse=[{ "matcher" = "*", "hooks" = [{ "type" = "command", "command" = "node '/a b/relay.cjs'", "timeout" = 3600 }] }]`,
    );
    expect(line("gemini", { connection }).env!["GEMINI_CLI_SYSTEM_SETTINGS_PATH"]).toBe(join(folder, "settings.json"));
    expect(JSON.parse(readFileSync(join(folder, "settings.json"), "utf8"))).toMatchObject({
      hooks: { BeforeTool: [{ matcher: "*", hooks: [{ command: "node '/a b/relay.cjs'", timeout: 3_600_000 }] }] },
      hooksConfig: { enabled: true },
      mcpServers: { mine: { trust: true } },
    });
    expect(args("cursor", { connection }, original)).toContain(`--plugin-dir ${folder}`);
    expect(JSON.parse(readFileSync(join(folder, "hooks.json"), "utf8"))).toEqual(JSON.parse(hooks!));
    expect(line("cursor", { connection }, original).losses.map(({ option }) => option)).toEqual(["canUseTool"]);
  });
});

test("the SDK reports a call that a callback denied, even if Codex's stream omits it", () => {
  const refusedCalls: NonNullable<Connection["refusedCalls"]>[number][] = [];
  const decode = drivers.codex.decoder({ ...plain, connection: { folder, refusedCalls } });
  decode({ type: "thread.started", thread_id: "t" });
  refusedCalls.push({ id: "call_1", name: "Bash", input: { command: "rm x" }, reason: "Not today." });
  const events = decode({ type: "item.completed", item: { id: "i", type: "agent_message", text: "Done." } });
  expect(events.slice(0, 2)).toMatchObject([
    { type: "tool_start", callId: "call_1", tool: "shell", args: { command: "rm x" } },
    { type: "tool_end", callId: "call_1", outcome: { kind: "rejected", value: { reason: "Not today." } } },
  ]);
  expect(events.slice(0, 2).every(isDerived)).toBe(true);
  expect(decode({ type: "turn.started" })).toEqual([]);
});

describe("command lines on Windows", () => {
  test("the SDK passes words to a .cmd program through the shell, each quoted", () => {
    expect(spawnWords("C:\\npm\\claude.cmd", ["-p", 'say "hi" & del %PATH%', "a\\"], { platform: "win32" })).toEqual({
      program: "cmd.exe",
      args: [
        "/d",
        "/s",
        "/c",
        '"^"C:\\npm\\claude.cmd^" ^^^"-p^^^" ^^^"say^^^ \\^^^"hi\\^^^"^^^ ^^^&^^^ del^^^ ^^^%PATH^^^%^^^" ^^^"a\\\\^^^""',
      ],
      verbatim: true,
    });
    expect(spawnWords("C:\\cursor-agent.exe", ["a b"], { platform: "win32" })).toEqual({
      program: "C:\\cursor-agent.exe",
      args: ["a b"],
      verbatim: false,
    });
    expect(spawnWords("/bin/x.cmd", ["a b"], { platform: "linux" }).verbatim).toBe(false);
  });

  test("the SDK sends a prompt through stdin if the shell would interpret it or the line is too long", () => {
    const via = (command: string, prompt: string, platform: NodeJS.Platform) =>
      promptInput({ command, args: ["-p"], prompt }, platform).via;
    expect(via("claude.cmd", "hi", "win32")).toBe("stdin");
    expect(via("claude.exe", "say hi", "win32")).toBe("argument");
    expect(via("claude.exe", "update", "win32")).toBe("stdin");
    expect(via("claude.exe", "x ".repeat(10_000), "win32")).toBe("stdin");
    expect(via("claude.cmd", "say hi", "linux")).toBe("argument");
    expect(via("claude", "x ".repeat(10_000), "linux")).toBe("argument");
    expect(via("claude", "é ".repeat(60_000), "darwin")).toBe("stdin");
  });

  test("on Windows, the SDK finds programs with the endings of PATHEXT", () => {
    const file = join(folder, "tool.CMD");
    rmSync(file, { force: true });
    expect(findProgram("tool", { PATH: folder, PATHEXT: ".EXE;.CMD" }, "win32")).toBeUndefined();
    readdirSync(folder);
    return import("node:fs").then(({ writeFileSync }) => {
      writeFileSync(file, "");
      expect(findProgram("tool", { PATH: folder, PATHEXT: ".EXE;.CMD" }, "win32")).toBe(file);
      expect(findProgram("tool", { PATH: folder }, "linux")).toBeUndefined();
    });
  });
});

describe("recorded streams of other CLIs", () => {
  const recordings = join(import.meta.dirname, "../recordings/peers");
  const peers = ["claude", "codex", "gemini", "opencode", "pi"] as const;
  const linesOf = (tool: string, name: string) =>
    readFileSync(join(recordings, tool, `${name}.jsonl`), "utf8")
      .trim()
      .split("\n");
  const decoded = (tool: UnifiedTool, lines: readonly string[]): AgentEvent[] => {
    const decode = driverOf(tool).decoder({ ...plain, prompt: "go" });
    return lines.flatMap((each) => decode(JSON.parse(each)));
  };
  const all = peers.flatMap((tool) =>
    ["work", "refused", "retried", "failed"]
      .filter((name) => existsSync(join(recordings, tool, `${name}.jsonl`)))
      .map((name) => [tool, name] as const),
  );

  test.each(all)(
    "every line of a recorded stream of %s %s survives decoding and JSON, without keeping its text",
    (tool, name) => {
      const lines = linesOf(tool, name).map((each) => JSON.stringify(JSON.parse(each)));
      const events = JSON.parse(JSON.stringify(decoded(tool, lines))) as AgentEvent[];
      expect(rebuildLines(events, tool).map((each) => JSON.stringify(each))).toEqual(lines);
      for (const each of lines) expect(JSON.stringify(events)).not.toContain(JSON.stringify(each).slice(1, -1));
    },
  );

  test.each(all)(
    "a recorded stream of %s %s has one start, one end, every call ended, text once, nothing unknown",
    (tool, name) => {
      const events = decoded(tool, linesOf(tool, name));
      expect(events.slice(0, 2).map(({ type }) => type)).toEqual(["init", "user"]);
      expect(events.filter(({ type }) => type === "done" || type === "fail")).toEqual([events.at(-1)]);
      expect(events.filter(({ type }) => type === "other")).toEqual([]);
      const starts = events.flatMap((event) => (event.type === "tool_start" ? [event.callId] : []));
      const ends = events.flatMap((event) => (event.type === "tool_end" ? [event.callId] : []));
      expect(ends).toEqual(starts);
      const joined = (type: "text" | "text_end") =>
        events.flatMap((event) => (event.type === type ? [(event as { text: string }).text] : [])).join("");
      expect(joined("text")).toBe(joined("text_end"));
      const last = events.at(-1)!;
      if (last.type === "done") expect(last.text).toBe(joined("text"));
    },
  );

  test.each(peers)("calls have unified names and outcomes in the recordings of %s", (tool) => {
    const events = decoded(tool, linesOf(tool, "work"));
    const ends = events.flatMap((event) => (event.type === "tool_end" ? [event] : []));
    expect(ends[0]).toMatchObject({ tool: "shell", outcome: { kind: "success" } });
    // Gemini does not say that a command failed.
    expect(ends[1]!.outcome!.kind).toBe(tool === "gemini" ? "success" : "failure");
    expect(ends[2]!.tool).toBe("edit");
    const unify = createUnifier({ tool, startedAt: 1 });
    const messages = events.map(createNamer({ tool, isOurs: false })).flatMap(unify);
    const names = messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "tool_use" ? [block.name] : [])),
    );
    const expected = {
      claude: ["Bash", "Bash", "Write", "Read", "Edit"],
      codex: ["Bash", "Bash", "Write", "Bash", "Edit"],
      gemini: ["Bash", "Bash", "Write", "Read", "Edit"],
      opencode: ["Bash", "Bash", "Write", "Read", "Edit"],
      pi: ["Bash", "Bash", "Write", "Read", "Edit"],
    };
    expect(names).toEqual(expected[tool]);
    expect(messages.at(-1)).toMatchObject({ role: "assistant", usage: { inputTokens: 7200, outputTokens: 204 } });
  });

  test("the SDK reports refused and failed tool calls of other CLIs as such", () => {
    const ends = (tool: UnifiedTool) =>
      decoded(tool, linesOf(tool, "refused")).flatMap((event) => (event.type === "tool_end" ? [event.outcome] : []));
    expect(ends("claude")).toMatchObject([{ kind: "rejected" }]);
    expect(ends("gemini")).toMatchObject([{ kind: "rejected" }]);
    expect(ends("codex")).toMatchObject([{ kind: "error" }]);
    expect(ends("opencode")).toMatchObject([{ kind: "rejected" }]);
    expect(decoded("claude", linesOf("claude", "refused")).at(-1)).toMatchObject({
      denials: [{ tool: "Write", callId: "call_1" }],
    });
    const failures = peers.map((tool) => decoded(tool, linesOf(tool, "failed")).at(-1)!);
    for (const failure of failures)
      expect(failure).toMatchObject({ type: "fail", message: expect.stringContaining("The model has no time.") });
    expect(failures[0]).toMatchObject({ code: "MODEL_BAD_REQUEST" });
  });

  test("tool outcomes decoded from other CLIs contain what the CLI said and nothing else", () => {
    const values = (tool: UnifiedTool) =>
      decoded(tool, linesOf(tool, "work")).flatMap((event) =>
        event.type === "tool_end" ? [event.outcome!.value] : [],
      );
    const [, failed, made, read, changed] = values("claude") as any[];
    expect(failed).toEqual({ command: "echo oops >&2; exit 3", exitCode: 3, stdout: "oops" });
    expect(made).toMatchObject({ linesAdded: 2, linesRemoved: 0, afterFullFileContent: "one\ntwo\n" });
    expect(read).toMatchObject({ content: "one\ntwo\n", totalLines: 3, readRange: { startLine: 1, endLine: 3 } });
    expect(read).not.toHaveProperty("fileSize");
    expect(changed).toMatchObject({
      linesAdded: 1,
      linesRemoved: 1,
      diffString: expect.stringContaining("@@ -1,2 +1,2 @@"),
    });
    const [, unsaid, whole, unread, replaced] = values("gemini") as any[];
    expect(unsaid).toEqual({ command: "echo oops >&2; exit 3", stdout: "oops" });
    expect(whole).not.toHaveProperty("linesRemoved");
    expect(unread).toEqual({ path: "/home/dev/project/new.txt" });
    expect(replaced).toMatchObject({ linesAdded: 1, linesRemoved: 1, diffString: "-two\n+three" });
    const [, exited, added] = values("codex") as any[];
    expect(exited).toEqual({ command: "echo oops >&2; exit 3", exitCode: 3, stdout: "oops\n" });
    expect(added).toEqual({ path: "/home/dev/project/new.txt" });
    const [, left, opened, seen, patched] = values("opencode") as any[];
    expect(left).toMatchObject({ exitCode: 3, stdout: "oops\n" });
    expect(opened).toMatchObject({ linesAdded: 2, linesRemoved: 0 });
    expect(seen).toMatchObject({ content: "one\ntwo", totalLines: 2, readRange: { startLine: 1, endLine: 2 } });
    expect(patched).toMatchObject({ linesAdded: 1, linesRemoved: 1, diffString: expect.stringMatching(/^@@/) });
    const [, quit, written, words, edited] = values("pi") as any[];
    expect(quit).toEqual({ command: "echo oops >&2; exit 3", exitCode: 3, stdout: "oops" });
    expect(written).not.toHaveProperty("linesAdded");
    expect(words).toEqual({ path: "/home/dev/project/new.txt", content: "one\ntwo\n" });
    expect(edited).toMatchObject({ linesAdded: 1, linesRemoved: 1, diffString: expect.stringMatching(/^@@/) });
    for (const tool of peers) {
      const [start] = decoded(tool, linesOf(tool, "work")).filter(({ type }) => type === "tool_start") as any[];
      expect(start.args).not.toHaveProperty("hasOutputRedirect");
      expect(start.args.command).toBe("echo hello");
    }
  });

  test("the SDK removes a CLI's words for the model around a tool result", () => {
    const ended = (lines: object[], tool: UnifiedTool) =>
      (
        decoded(
          tool,
          lines.map((line) => JSON.stringify(line)),
        ) as any[]
      ).findLast(({ type }) => type === "tool_end").outcome;
    const pi = (name: string, args: object, text: string, { isError = false, details = {} } = {}) =>
      ended(
        [
          { type: "session", id: "s", cwd: "/w" },
          { type: "tool_execution_start", toolCallId: "1", toolName: name, args },
          {
            type: "tool_execution_end",
            toolCallId: "1",
            toolName: name,
            result: { content: [{ type: "text", text }], details },
            isError,
          },
        ],
        "pi",
      );
    const command = { command: "true" };
    expect(pi("bash", command, "(no output)")).toEqual({ kind: "success", value: { ...command, stdout: "" } });
    expect(pi("bash", command, "(no output)\n\nCommand exited with code 3", { isError: true })).toEqual({
      kind: "failure",
      value: { ...command, stdout: "", exitCode: 3 },
    });
    const truncation = { content: "b\nc", truncated: true, totalLines: 9, outputLines: 2 };
    const cut = pi("read", { path: "a", offset: 2 }, "b\nc\n\n[Showing lines 2-3 of 9.]", { details: { truncation } });
    expect(cut.value).toEqual({
      path: "a",
      content: "b\nc",
      exceededLimit: true,
      totalLines: 9,
      readRange: { startLine: 2, endLine: 3 },
    });
    const state = { status: "completed", input: command, output: "(no output)", metadata: { exit: 0 } };
    const shell = { type: "tool_use", sessionID: "s", part: { type: "tool", callID: "1", tool: "bash", state } };
    expect(ended([shell], "opencode").value).toEqual({ ...command, stdout: "", exitCode: 0 });
    const content = "<tool_use_error>String to replace not found.</tool_use_error>";
    const claude = ended(
      [
        { type: "system", subtype: "init", session_id: "s" },
        { type: "assistant", message: { content: [{ type: "tool_use", id: "1", name: "Edit", input: {} }] } },
        { type: "user", message: { content: [{ type: "tool_result", tool_use_id: "1", content, is_error: true }] } },
      ],
      "claude",
    );
    expect(claude.value.message).toBe("String to replace not found.");
  });

  test("the SDK decodes a CLI's repeated request as a retry with its reason", () => {
    const retries = (tool: UnifiedTool) =>
      decoded(tool, linesOf(tool, "retried")).filter(({ type }) => type === "retry");
    expect(retries("claude")).toMatchObject([{ attempt: 1, discards: false, reason: "rate_limit (status 429)" }]);
    expect(retries("codex")).toMatchObject([{ attempt: 1, reason: expect.stringContaining("429 Too Many Requests") }]);
  });

  test("the SDK drops a CLI's events without content, and keeps their lines with the next event", () => {
    for (const tool of peers)
      for (const event of decoded(tool, linesOf(tool, "work")))
        if (event.type === "notice" && event.kind !== "usage") expect(event.message).not.toBe("");
  });

  test("a CLI's failure has the same code whether its stream or stderr tells it", () => {
    const told = (tool: UnifiedTool, message: string, stderr = "") =>
      explainedFailure({ message }, stderr, driverOf(tool).failures);
    expect(told("codex", "unexpected status 401 Unauthorized: no key, url: http://x").code).toBe("MODEL_AUTH_ERROR");
    expect(told("codex", "exceeded retry limit, last status: 429 Too Many Requests").code).toBe("MODEL_RATE_LIMIT");
    expect(told("codex", "The model `x` does not exist or you do not have access to it.").code).toBe("MODEL_UNKNOWN");
    expect(told("claude", "No conversation found with session ID: 1").code).toBe("SESSION_NOT_FOUND");
    expect(told("gemini", '[API Error: {"error":{"code":401,"message":"no key"}}]')).toEqual({
      message: "no key",
      code: "MODEL_AUTH_ERROR",
    });
    expect(told("gemini", "[API Error: it is tired]", "Error: x\n    at y {\n  status: 503\n}").code).toBe(
      "MODEL_SERVER_ERROR",
    );
    expect(told("gemini", "[API Error: it is tired]")).toEqual({ message: "it is tired", code: "CLI_FAILED" });
    const stderr =
      "WARNING: no aliases\nReading prompt from stdin...\nError: no rollout found\n    at main (a.js:1:2)\n";
    expect(causeIn(stderr)).toBe("Error: no rollout found");
    expect(causeIn("WARNING: no aliases\nit is over\n")).toBe("it is over");
  });

  test("the SDK removes the shell wrapper around a CLI's command, and nothing else", () => {
    expect(withoutShell("/bin/bash -lc 'echo hi; exit 3'")).toBe("echo hi; exit 3");
    expect(withoutShell("bash -c ls")).toBe("ls");
    expect(withoutShell(`/bin/zsh -lc "echo 'a' \\"b\\""`)).toBe(`echo 'a' "b"`);
    expect(withoutShell("bash -c ls; rm x")).toBe("bash -c ls; rm x");
    expect(withoutShell("echo bash -c ls")).toBe("echo bash -c ls");
  });

  test("Codex's rollout file gives file changes and the usage of one turn", async () => {
    const home = mkdtempSync(join(folder, "codex-"));
    const thread = "00000000-0000-4000-8000-000000000001";
    mkdirSync(join(home, "sessions"));
    const usage = { input_tokens: 140, cached_input_tokens: 40, output_tokens: 10 };
    const at = (ms: number, payload: object) =>
      JSON.stringify({ timestamp: new Date(ms).toISOString(), type: "event_msg", payload });
    const changes = { "/w/new.txt": { type: "update", unified_diff: "@@ -1 +1 @@\n-a\n+b\n" } };
    const lines = [
      at(1000, { type: "token_count", info: { total_token_usage: usage } }),
      at(3000, { type: "item_completed", item: { type: "FileChange", changes } }),
      at(3000, { type: "token_count", info: { total_token_usage: { ...usage, input_tokens: 280 } } }),
    ];
    writeFileSync(join(home, "sessions", `rollout-2026-01-01T00-00-00-${thread}.jsonl`), `${lines.join("\n")}\n`);
    const add = drivers.codex.addDetails!({ env: { CODEX_HOME: home }, since: 2000, resume: thread });
    const decode = drivers.codex.decoder(plain);
    const item = {
      id: "i",
      type: "file_change",
      changes: [{ path: "/w/new.txt", kind: "update" }],
      status: "completed",
    };
    const told: AgentEvent[] = [];
    for (const line of [
      { type: "thread.started", thread_id: thread },
      { type: "item.completed", item },
      { type: "turn.completed", usage: { input_tokens: 280, cached_input_tokens: 80, output_tokens: 20 } },
    ])
      for (const event of decode(line)) told.push(await add(event));
    const end = told.find(({ type }) => type === "tool_end") as any;
    expect(end.outcome.value).toMatchObject({ linesAdded: 1, linesRemoved: 1, diffString: "@@ -1 +1 @@\n-a\n+b\n" });
    expect(told.at(-1)).toMatchObject({ usage: { inputTokens: 100, outputTokens: 10, cacheReadTokens: 40 } });
  });

  test("the SDK keeps and reports stream lines that it does not know", () => {
    for (const tool of peers) {
      const decode = driverOf(tool).decoder(plain);
      for (const raw of [
        { type: "weather" },
        { type: "toString" },
        { type: "assistant" },
        { type: "item.started" },
        1,
      ]) {
        const events = decode(raw);
        expect(events.length, `${tool} ${JSON.stringify(raw)}`).toBeGreaterThan(0);
        expect(rebuildLines(events, tool)).toEqual([raw]);
      }
    }
  });

  test("every recording that the driver tests use exists", () => expect(existsSync(recordings)).toBe(true));
});

describe("pi in a read-only mode", () => {
  test("pi gets only the allowed reading tools", () => {
    expect(args("pi", { mode: "plan" })).toContain("--tools read,grep,find,ls");
    const some = args("pi", { mode: "plan", allowedTools: ["bash", "read"] });
    expect(some.match(/--tools \S+/g)).toEqual(["--tools read"]);
    expect(() => args("pi", { mode: "plan", allowedTools: ["bash"] })).toThrow(/names none of them/);
  });
});
