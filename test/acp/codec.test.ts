// Version 1 of the protocol, without a process: what clients announce, ask and answer, and what they are told of calls, questions and
// events. test/acp/codec.txt is the whole table.
import { join } from "node:path";
import { expect, it } from "vitest";
import { answerFromElicitation, cursorAnswer, cursorQuestion, elicitationOf } from "../../src/acp/v1/choices.ts";
import { cursorNotification, cursorPlan } from "../../src/acp/v1/cursor.ts";
import { abilitiesOf, initializeResult } from "../../src/acp/v1/initialize.ts";
import { configOptions, modeIdOf, modeState } from "../../src/acp/v1/options.ts";
import { openParams, parsePrompt } from "../../src/acp/v1/params.ts";
import { answerIn, type Choosable, permissionForm } from "../../src/acp/v1/permission.ts";
import { callFields, callTitle, endFields, toolKind } from "../../src/acp/v1/tool-call.ts";
import { Updates } from "../../src/acp/v1/updates.ts";
import { sampleCall, samples, type states, workspace } from "../studio/sample-calls.ts";

const rows: string[] = [];
const clean = (_key: string, value: unknown) =>
  value instanceof Set
    ? [...value]
    : typeof value === "string" && value.length > 300
      ? `${value.slice(0, 300)}…${value.length}`
      : value;
function put(what: string, work: () => unknown): void {
  let said: string | undefined;
  try {
    said = JSON.stringify(work(), clean);
  } catch (error) {
    said = `refused: ${(error as Error).message}`;
  }
  rows.push(`${what}: ${said}`);
}

it("the ACP codec turns each agent event into the ACP update listed in the table", async () => {
  for (const clientCapabilities of [
    undefined,
    { fs: { readTextFile: true, writeTextFile: false } },
    {
      fs: { writeTextFile: true },
      elicitation: { form: {} },
      session: { notices: {}, compaction: {} },
      auth: { terminal: true },
    },
    { fs: "all", elicitation: { form: true }, session: { notices: true }, auth: { terminal: "yes" } },
    { _meta: { cursor: true } },
    { _meta: { parameterizedModelPicker: true } },
    { _meta: { "cursor/task": true, "cursor/ask_question": "yes", "cursor/create_plan": true } },
  ])
    put(`abilities ${JSON.stringify(clientCapabilities)}`, () => {
      const abilities = abilitiesOf({ clientCapabilities });
      return [abilities, (initializeResult(abilities, "1.0") as any).authMethods.length];
    });
  put("initialize", () => initializeResult(abilitiesOf({}), "1.0"));
  for (const mode of ["default", "force", "plan", "ask"] as const) {
    const models = [
      { id: "a", name: "A" },
      { id: "b", name: "B" },
    ] as never;
    put(`mode ${mode}`, () => [
      modeIdOf(mode),
      modeState({ mode: modeIdOf(mode), model: "a", effort: undefined, models } as never),
    ]);
    put(`options ${mode}`, () =>
      configOptions({
        mode: modeIdOf(mode),
        model: mode === "ask" ? "c" : "a",
        effort: mode === "plan" ? "high" : undefined,
        models,
      } as never),
    );
  }

  const server = { name: "s", command: "c", args: ["a"], env: [{ name: "N", value: "v" }] };
  for (const params of [
    {},
    { cwd: "relative" },
    { cwd: "/w" },
    { cwd: "/w", additionalDirectories: ["/x"], mcpServers: null },
    { cwd: "/w", additionalDirectories: ["x"] },
    { cwd: "/w", additionalDirectories: "x" },
    { cwd: "/w", mcpServers: [server] },
    { cwd: "/w", mcpServers: [{ ...server, type: "stdio", args: undefined, env: null }] },
    { cwd: "/w", mcpServers: [{ name: "h", type: "http", url: "http://x", headers: [{ name: "A", value: "b" }] }] },
    { cwd: "/w", mcpServers: [{ name: "h", type: "sse", url: "http://x" }] },
    { cwd: "/w", mcpServers: [{ name: "h", type: "ftp", url: "http://x" }] },
    { cwd: "/w", mcpServers: [{ name: "h", type: "http" }] },
    { cwd: "/w", mcpServers: [{ ...server, name: "" }] },
    { cwd: "/w", mcpServers: [{ ...server, args: [1] }] },
    { cwd: "/w", mcpServers: [{ ...server, env: [{ name: "N" }] }] },
    { cwd: "/w", mcpServers: ["s"] },
  ])
    put(`open ${JSON.stringify(params)}`, () => openParams(params));

  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  for (const prompt of [
    undefined,
    [],
    [{ type: "text", text: " " }],
    [
      { type: "text", text: "a" },
      { type: "text", text: "b" },
    ],
    [{ type: "text" }],
    ["text"],
    [{ type: "audio", data: "x" }],
    [{ type: "resource_link", uri: "file:///w/a%20b.ts", name: "n" }],
    [{ type: "resource_link", uri: "file:///w/a.ts" }],
    [{ type: "resource_link", uri: "file://host/%zz", name: "" }],
    [{ type: "resource_link", uri: "https://x/y" }],
    [{ type: "resource_link" }],
    [{ type: "resource", resource: { uri: "file:///w/a", text: "/compact" } }],
    [{ type: "resource", resource: { uri: "x:y", blob: "AA==" } }],
    [{ type: "resource", resource: { uri: "x:y", blob: png, mimeType: "image/png" } }],
    [{ type: "resource", resource: { uri: "x:y" } }],
    [{ type: "resource" }],
    [{ type: "image", data: png }],
    [{ type: "image", data: "AAAA" }],
    [{ type: "image" }],
  ])
    put(`prompt ${JSON.stringify(prompt)?.slice(0, 120)}`, () => parsePrompt({ prompt } as never));

  const call = {
    id: "q",
    hash: "h",
    type: "permission",
    callId: "c",
    tool: "Shell",
    args: { command: "ls\n-l" },
    needs: [],
    reasons: ["why", "so"],
  };
  const questions: object[] = [
    call,
    { ...call, rules: ["Shell(ls)", "Shell(cat)"], offersSandbox: true },
    { ...call, rules: ["Shell(ls)"], personOnly: true, reasons: [] },
    { ...call, tool: "Write", args: { path: "/w/a" }, diff: "+a\n" },
    { ...call, tool: "LS", args: { path: "/w" } },
    { ...call, tool: "SemanticSearch", args: { query: "x" } },
    { ...call, tool: "Search", args: { providerIdentifier: "git", toolName: "log" } },
    { id: "q", hash: "h", type: "plan", name: "N", text: "T" },
    { id: "q", hash: "h", type: "trust", workspace: "/w" },
    { id: "q", hash: "h", type: "server", name: "s", file: "/f", start: "run x" },
    {
      id: "q",
      hash: "h",
      type: "hooks",
      files: [
        {
          file: "/f",
          hooks: [
            { event: "stop", command: "x" },
            { event: "stop", prompt: "y" },
          ],
        },
      ],
    },
  ];
  for (const question of questions) {
    const form = permissionForm(question as Choosable, undefined, "/w");
    put(`form ${JSON.stringify(question)}`, () => form);
    put("  answers", () =>
      form.options.map(({ optionId }) => answerIn({ outcome: { outcome: "selected", optionId } }, form.options)),
    );
  }
  const { options } = permissionForm(call as unknown as Choosable, { callId: "told", tool: "shell", args: {} }, "/w");
  for (const result of [
    undefined,
    {},
    { outcome: "cancelled" },
    { outcome: { outcome: "cancelled" } },
    { outcome: { outcome: "selected", optionId: "other" } },
  ])
    put(`answer ${JSON.stringify(result)}`, () => answerIn(result, options));

  const choices = {
    type: "choices",
    title: "T",
    questions: [
      {
        id: "a",
        prompt: "A?",
        options: [
          { id: "1", label: "One" },
          { id: "2", label: "Two" },
        ],
        allowMultiple: false,
      },
      { id: "b", prompt: "B?", options: [{ id: "1", label: "One" }], allowMultiple: true },
      { id: "c", prompt: "C?", options: [], allowMultiple: false },
    ],
  } as never;
  put("choices", () => [
    cursorQuestion(choices, "c"),
    cursorQuestion({ ...(choices as object), title: "" } as never, "c"),
    elicitationOf(choices),
    elicitationOf({ ...(choices as object), title: "" } as never),
  ]);
  for (const answers of [
    undefined,
    [{ questionId: "a", selectedOptionIds: ["1", "9"] }],
    [
      { questionId: "a", selectedOptionIds: ["1", "2"] },
      { questionId: "b", selectedOptionIds: "1" },
    ],
    [{ questionId: "x", selectedOptionIds: ["1"] }, "no"],
    [
      { questionId: "c", freeformText: "words" },
      { questionId: "a", freeformText: "  " },
    ],
  ])
    put(`chosen ${JSON.stringify(answers)}`, () => [
      cursorAnswer({ outcome: { outcome: "answered", answers } }, choices),
      cursorAnswer({ outcome: "answered", answers }, choices),
      cursorAnswer({ outcome: { outcome: "skipped", answers } }, choices),
    ]);
  for (const content of [undefined, { a: "1" }, { a: "9", b: ["1", 2] }, { c: "free" }, { c: "" }])
    put(`elicited ${JSON.stringify(content)}`, () => [
      answerFromElicitation({ action: "accept", content }, choices),
      answerFromElicitation({ action: "decline", content }, choices),
    ]);
  put("plan", () => [
    cursorPlan({ id: "q", type: "plan", name: "N", text: "T" } as never, undefined),
    cursorPlan({ id: "q", type: "plan", name: "N", text: "T" } as never, {
      callId: "c",
      tool: "createPlan",
      args: { todos: [] },
    }),
  ]);

  for (const name of Object.keys(samples)) {
    const { callId, tool, args } = sampleCall(name, "success");
    put(`call ${name}`, () => [
      toolKind(tool),
      callTitle({ callId, tool, args }, workspace),
      callFields({ callId, tool, args }, workspace),
    ]);
    for (const state of ["success", "failed", "refused", "unknown"] as const satisfies (keyof typeof states)[]) {
      const { outcome } = sampleCall(name, state);
      put(`  ${state}`, () => [
        endFields({ callId, tool, args }, outcome as never, workspace),
        cursorNotification({ type: "tool_end", callId, tool, args, outcome } as never) ?? null,
      ]);
    }
  }

  const events: object[] = [
    { type: "init" },
    { type: "user", text: "hi" },
    { type: "text", text: "He" },
    { type: "text", text: "" },
    { type: "text_end", text: "Hello" },
    { type: "text_end", text: "Whole" },
    { type: "text_end", text: "" },
    { type: "thinking", text: "hm" },
    { type: "thinking_end", text: "hm" },
    { type: "thinking_end" },
    { type: "text", text: "again" },
    { type: "retry", discards: true, reason: "busy" },
    { type: "text", text: "new" },
    { type: "retry", discards: false },
    { type: "text", text: "same" },
    { type: "tool_start", callId: "c", tool: "shell", args: { command: "ls" } },
    { type: "tool_output", callId: "c", chunk: "a" },
    { type: "tool_output", callId: "other", chunk: "b" },
    { type: "ask", id: 1, query: { toolCallId: "c" } },
    { type: "answer", id: 1, response: { approved: true } },
    { type: "answer", id: 1, response: { approved: true } },
    { type: "ask", id: 2, query: {} },
    { type: "answer", id: 2, response: { approved: {} } },
    {
      type: "tool_end",
      callId: "c",
      tool: "shell",
      args: { command: "ls" },
      outcome: { kind: "success", value: { stdout: "x" } },
    },
    {
      type: "tool_end",
      callId: "t",
      tool: "updateTodos",
      args: {},
      outcome: {
        kind: "success",
        value: {
          todos: [
            { content: "a", status: "TODO_STATUS_PENDING" },
            { content: "b", status: "TODO_STATUS_IN_PROGRESS" },
            { content: "c", status: "TODO_STATUS_COMPLETED" },
            { content: "d", status: "TODO_STATUS_CANCELLED" },
            7,
          ],
        },
      },
    },
    { type: "tool_end", callId: "t", tool: "updateTodos", args: {}, outcome: { kind: "error", value: { todos: [] } } },
    { type: "notice", kind: "warning", message: "one\ntwo\n three " },
    { type: "notice", kind: "info", message: "plain" },
    { type: "notice", kind: "mode_change", message: "x" },
    { type: "notice", kind: "model_change", message: "x" },
    { type: "notice", kind: "compacted", message: "shorter" },
    { type: "fail", message: "broke", code: "X" },
    { type: "fail", message: "stopped", code: "INTERRUPTED" },
    { type: "text", text: "after" },
    { type: "done", text: "after" },
    { type: "other" },
  ];
  for (const [notices, compaction] of [
    [false, false],
    [true, true],
  ] as const) {
    let count = 0;
    const facts = { workspace, newId: () => `id-${++count}`, notices, compaction };
    const [live, past] = [new Updates(facts), new Updates(facts)];
    for (const event of events)
      put(`event ${JSON.stringify(event).slice(0, 90)}`, () => [live.live(event as never), past.past(event as never)]);
  }
  await expect(`${rows.join("\n")}\n`).toMatchFileSnapshot(join(import.meta.dirname, "codec.txt"));
});

it("the ACP server sends a command's output at most ten times a second, and only its latest part", () => {
  const updates = new Updates({ workspace, newId: () => "id", notices: false, compaction: false });
  const print = (chunk: string) => updates.live({ type: "tool_output", callId: "c", chunk } as never);
  updates.live({ type: "tool_start", callId: "c", tool: "shell", args: {} } as never);
  expect(print("first")).toHaveLength(1);
  expect(updates.hasUnshownOutput).toBe(false);
  expect(print("second")).toEqual([]);
  expect(updates.hasUnshownOutput).toBe(true);
  expect(JSON.stringify(updates.liveOutput())).toContain("firstsecond");
  expect(updates.liveOutput()).toEqual([]);
  print("x".repeat(9000));
  const [update] = updates.liveOutput();
  expect(JSON.stringify(update)).not.toContain("second");
  expect(JSON.stringify(update)).toContain("x".repeat(7990));
});
