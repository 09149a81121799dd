// Small parts of the SDK, each by itself: budgets, times, names of tools, follow-ups, and what of a session is shown.
import { afterAll, describe, expect, it } from "vitest";
import { textIn } from "../../src/json/object.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";
import { BudgetWatch } from "../../src/sdk/budget.ts";
import type { Budget } from "../../src/sdk/drivers/driver.ts";
import { countAt, parseTimestamp } from "../../src/sdk/sessions/session.ts";
import { type AnyOptions, driverRequest, followUp } from "../../src/sdk/start-options.ts";
import { unifiedToolName } from "../../src/sdk/tool-names.ts";
import type { UnifiedTool } from "../../src/sdk/unified.ts";
import { lines, losses, sessionFiles, texts } from "./session-files.ts";

describe("parsing timestamps", () => {
  it.each([
    ["2026-11-18T07:00:00Z", Date.UTC(2026, 10, 18, 7)],
    [1_763_449_200, 1_763_449_200_000],
    [1_763_449_200_000, 1_763_449_200_000],
    [99_999_999_999, 99_999_999_999_000],
    [100_000_000_000, 100_000_000_000],
    [1, 1000],
    [0, undefined],
    [-5, undefined],
    [Number.NaN, undefined],
    ["yesterday", undefined],
    ["", undefined],
    [undefined, undefined],
    [null, undefined],
    [{}, undefined],
  ])("the timestamp %j is read as %s", (value, ms) => {
    expect(parseTimestamp(value)).toBe(ms);
  });

  it("number fields of a stream accept only strings and finite numbers", () => {
    expect([textIn({ a: "x" }, "a"), textIn({ a: 1 }, "a"), textIn("x", "a"), textIn(null, "a")]).toEqual([
      "x",
      undefined,
      undefined,
      undefined,
    ]);
    const values = [3, 0, -1, Number.POSITIVE_INFINITY, Number.NaN, "3"];
    expect(values.map((a) => countAt({ a }, "a"))).toEqual([3, 0, 0, 0, 0, 0]);
    expect(countAt([], "a")).toBe(0);
  });
});

describe("tool names of other CLIs", () => {
  it.each<[UnifiedTool, Record<string, string>]>([
    ["cursor", { Shell: "Bash", LS: "Ls", StrReplace: "Edit", MCP: "Mcp", "MCP:github": "Mcp", Read: "Read" }],
    ["claude", { LS: "Ls", MultiEdit: "Edit", Agent: "Task", Bash: "Bash", "MCP:x": "MCP:x" }],
    [
      "codex",
      {
        shell: "Bash",
        shell_command: "Bash",
        exec_command: "Bash",
        "container.exec": "Bash",
        local_shell: "Bash",
        local_shell_call: "Bash",
        read_file: "Read",
        view_image: "Read",
        file_change: "Edit",
        list_dir: "Ls",
        grep_files: "Grep",
        web_search: "WebSearch",
        update_plan: "TodoWrite",
        apply_patch: "apply_patch",
      },
    ],
    [
      "gemini",
      {
        run_shell_command: "Bash",
        read_file: "Read",
        write_file: "Write",
        replace: "Edit",
        list_directory: "Ls",
        search_file_content: "Grep",
        grep_search: "Grep",
        glob: "Glob",
        web_fetch: "WebFetch",
        google_web_search: "WebSearch",
        write_todos: "TodoWrite",
        mcp_github_create_issue: "mcp__github__create_issue",
        mcp_: "mcp_",
      },
    ],
    [
      "opencode",
      {
        bash: "Bash",
        read: "Read",
        write: "Write",
        edit: "Edit",
        list: "Ls",
        grep: "Grep",
        glob: "Glob",
        webfetch: "WebFetch",
        websearch: "WebSearch",
        todowrite: "TodoWrite",
        task: "Task",
      },
    ],
    [
      "pi",
      { bash: "Bash", read: "Read", write: "Write", edit: "Edit", ls: "Ls", grep: "Grep", find: "Glob", odd: "odd" },
    ],
  ])("the tool names of %s are unified", (tool, names) => {
    for (const [own, unified] of Object.entries(names)) expect(unifiedToolName(tool, own), own).toBe(unified);
  });
});

describe("follow-ups", () => {
  const options = {
    tool: "cursor",
    prompt: "first",
    model: "m",
    cwd: "/w",
    images: ["/a.png"],
    schema: { type: "object" },
    jsonSchema: {},
    signal: new AbortController().signal,
    resume: "old",
    fork: true,
    trust: true,
    addDirs: ["/more"],
    budget: { turns: 3 },
  } as unknown as AnyOptions;

  it("follow-ups keep the run's options, and send images, schemas and signals once", () => {
    expect(followUp(options, "next", undefined)).toEqual({
      tool: "cursor",
      prompt: "next",
      model: "m",
      cwd: "/w",
      trust: true,
      addDirs: ["/more"],
      budget: { turns: 3 },
    });
    const more = followUp(options, "next", { images: ["/b.png"], model: "n" });
    expect(more).toMatchObject({ images: ["/b.png"], model: "n", prompt: "next" });
  });

  it("follow-ups use the driver's own options", () => {
    const first = driverRequest(options, undefined, false);
    expect(first).toMatchObject({
      prompt: "first",
      cwd: "/w",
      permissionMode: "default",
      partial: true,
      resume: "old",
      fork: true,
      trust: true,
      images: ["/a.png"],
      addDirs: ["/more"],
      model: "m",
    });
    const next = driverRequest(followUp(options, "next", undefined), "s-1", false);
    expect(next).toMatchObject({ resume: "s-1", prompt: "next" });
    for (const name of ["images", "fork"]) expect(next).not.toHaveProperty(name);
    expect(driverRequest(followUp(options, "next", undefined), "s-1", true)).toMatchObject({ fork: true });
    const plain = driverRequest(
      { prompt: "x", partial: false, permissionMode: "plan", images: [] } as never,
      undefined,
      true,
    );
    expect(plain).toEqual({ prompt: "x", cwd: process.cwd(), permissionMode: "plan", partial: false });
  });
});

describe("budgets", () => {
  const text: AgentEvent = { type: "text", text: "x" };
  const start = (callId: string) => ({ type: "tool_start", callId }) as AgentEvent;
  const end = (callId: string) => ({ type: "tool_end", callId }) as AgentEvent;
  const usage = (inputTokens: number, outputTokens: number) => ({
    inputTokens,
    outputTokens,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
  });
  const done = (more: object = {}) => ({ type: "done", text: "", ...more }) as unknown as AgentEvent;
  const breachOf = (budget: Budget, events: AgentEvent[], options = {}) => {
    const watch = new BudgetWatch(budget, options);
    return events.map((event) => watch.take(event)?.code);
  };

  it("the SDK's turn budget counts replies, not their pieces", () => {
    const watch = new BudgetWatch();
    for (const event of [text, text, { type: "text_end", text: "xx" } as AgentEvent, start("a"), start("b")])
      watch.take(event);
    expect(watch.turns).toBe(1);
    watch.take(end("a"));
    watch.take(text);
    expect(watch.turns).toBe(1);
    watch.take(end("b"));
    watch.take({ type: "thinking", text: "hm" } as AgentEvent);
    expect(watch.turns).toBe(2);
    watch.take(done());
    watch.take(text);
    expect(watch.turns).toBe(3);
  });

  it("the SDK's turn budget ends a run when another reply is needed, unless the CLI counts itself", () => {
    expect(breachOf({ turns: 1 }, [text, start("a"), end("a")])).toEqual([undefined, "MAX_TURNS", undefined]);
    expect(breachOf({ turns: 1 }, [text, start("a")], { limitsTurns: true })).toEqual([undefined, undefined]);
    expect(breachOf({ turns: 2 }, [text, start("a"), end("a"), text, start("b")])).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      "MAX_TURNS",
    ]);
    const watch = new BudgetWatch({ turns: 0 });
    expect(watch.take(text)!.message).toBe("The run reached its limit of 0 replies of the model.");
  });

  it("the SDK's token and cost budgets end a run once it exceeds them", () => {
    expect(breachOf({ tokens: 10 }, [done({ usage: usage(6, 4) }), done({ usage: usage(1, 0) })])).toEqual([
      undefined,
      "MAX_TOKENS",
    ]);
    expect(breachOf({ costUsd: 1 }, [done({ costUsd: 1 }), done({}), done({ costUsd: 0.1 })])).toEqual([
      undefined,
      undefined,
      "MAX_COST",
    ]);
    const watch = new BudgetWatch({ tokens: 1, costUsd: 0.5 });
    expect(watch.take(done({ usage: usage(1, 1) }))!.message).toBe("The run reached its limit of 1 tokens.");
    const priced = new BudgetWatch({ costUsd: 0.5 });
    expect(priced.take(done({ costUsd: 1 }))!.message).toBe("The run reached its limit of 0.5 dollars.");
  });

  it("the SDK replaces usage reported during a turn by the usage at its end", () => {
    const watch = new BudgetWatch();
    const notice = (kind: string) =>
      ({ type: "notice", kind, message: "", fields: usage(2, 3) }) as unknown as AgentEvent;
    watch.take(notice("usage"));
    watch.take(notice("other"));
    watch.take(notice("usage"));
    expect(watch.usage).toMatchObject({ inputTokens: 4, outputTokens: 6 });
    watch.take(done({ usage: usage(10, 10), costUsd: 0.25 }));
    expect(watch.usage).toMatchObject({ inputTokens: 10, outputTokens: 10 });
    watch.take(notice("usage"));
    watch.take(done({ costUsd: 0.5 }));
    expect(watch.usage).toMatchObject({ inputTokens: 12, outputTokens: 13 });
    expect(watch.costUsd).toBe(0.75);
    expect(new BudgetWatch().usage).toBeUndefined();
  });
});

describe("reading a session", () => {
  const at = (second: number) => new Date(1_760_000_000_000 + second * 1000).toISOString();
  const user = (content: unknown, second: number, parent: string | null) => ({
    type: "user",
    uuid: `u${second}`,
    parentUuid: parent,
    sessionId: "s",
    timestamp: at(second),
    cwd: "/p",
    message: { role: "user", content },
  });
  const answer = (content: unknown[], second: number, parent: string) => ({
    ...user("", second, parent),
    type: "assistant",
    uuid: `a${second}`,
    message: { id: `m${second}`, role: "assistant", model: "m", content },
  });
  const use = (id: string) => ({ type: "tool_use", id, name: "Bash", input: { command: "ls" } });
  const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "out" });
  const files = sessionFiles();
  afterAll(() => files.remove());

  it("reading a session gives calls their own ids, and counts unmatched calls and results", () => {
    const session = files.read(
      lines([
        user("go", 1, null),
        answer([use("c")], 2, "u1"),
        user([result("c")], 3, "a2"),
        answer([use("c")], 4, "u3"),
        user([result("c"), result("nobody's")], 5, "a4"),
        answer([use("d")], 6, "u5"),
      ]),
    );
    const calls = session.messages.flatMap(({ content }) =>
      content.flatMap((block) =>
        block.type === "tool_use" ? block.id : block.type === "tool_result" ? `=${block.tool_use_id}` : [],
      ),
    );
    expect(calls).toEqual(["c", "=c", "c_2", "=c_2", "d"]);
    expect(losses(session)).toMatchObject({ open_call: 1, orphan_result: 1 });
    expect(texts(session)[0]).toBe("u: go");
    expect([session.createdAt, session.updatedAt]).toEqual([1_760_000_001_000, 1_760_000_006_000]);
  });

  it.each([
    ["short", "short"],
    ["\n\n  first line  here \nsecond", "first line here"],
    [`${"word ".repeat(20)}end`, `${"word ".repeat(12).trim()}…`],
    ["x".repeat(80), `${"x".repeat(60)}…`],
    ["y".repeat(60), "y".repeat(60)],
    ["   ", "Imported session"],
  ])("a session is named after its first prompt: %j", (prompt, title) => {
    const session = files.read(lines([user(prompt, 1, null), answer([{ type: "text", text: "ok" }], 2, "u1")]));
    expect(session.title).toBe(title);
  });
});
