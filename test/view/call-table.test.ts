// What is shown of calls whose arguments and results are odd, and how the time of a turn is divided. The whole table is call-table.txt.
import { join } from "node:path";
import { expect, it } from "vitest";
import type { AgentEvent } from "../../src/protocol/event.ts";
import { viewOfCall } from "../../src/view/call-view.ts";
import { wordsOfCall } from "../../src/view/call-words.ts";
import { codePieces } from "../../src/view/code-pieces.ts";
import { changedWords, hunksOfDiff } from "../../src/view/diff-hunks.ts";
import { markdownTokens } from "../../src/view/markdown-tokens.ts";
import { shownTodos } from "../../src/view/todos.ts";
import { TurnClock } from "../../src/view/turn-clock.ts";
import { wordChanges } from "../../src/view/word-changes.ts";

/** Folders within folders, a file at the bottom. */
const tree = (depth: number): object => ({
  absPath: "/w/root",
  childrenDirs: depth === 0 ? [] : [{ ...tree(depth - 1), absPath: `/w/d${depth}` }],
  childrenFiles: depth === 0 ? [{ name: "deepest" }] : [],
});
const todos = [
  { id: "1", content: "one\n  two", status: "TODO_STATUS_PENDING" },
  { id: "2", content: "second", status: "in_progress", dependencies: ["1", "3", "none"] },
  { id: "3", content: "third", status: "COMPLETED", dependencies: ["1"] },
  { id: "4", content: 7, status: "odd" },
  { id: "5", content: "fifth", status: "TODO_STATUS_CANCELLED" },
  { id: "6", content: "sixth", status: "PENDING", dependencies: ["1", "2"] },
  "none",
];
const questions = [
  {
    id: "q",
    prompt: "Which?",
    options: [
      { id: "a", label: "A" },
      { id: "b", label: "B" },
    ],
  },
  { id: "r", prompt: "Why?", options: [] },
];

const calls: [tool: string, args: object, value?: object][] = [
  ["shell", { command: "x" }, { stdout: "out", stderr: "err", exitCode: 0 }],
  ["shell", { command: "x" }, { stdout: "", stderr: "err", exitCode: 1 }],
  ["shell", { command: "x" }, { interleavedOutput: "both\n", stdout: "out", exitCode: 2 }],
  ["shell", { command: "x" }, { interleavedOutput: "it said [exit code 2]", exitCode: 2 }],
  ["shell", { command: "x" }, { exitCode: 3 }],
  ["shell", { command: "x" }, { exitCode: "3" }],
  ["shell", {}, {}],
  ["edit", { path: "/w/a", strReplace: { oldText: "x\n", newText: "y\nz" } }],
  ["edit", { path: "/w/a", strReplace: { oldText: "", newText: "y" } }],
  ["edit", { path: "/w/a", strReplace: { oldText: "x", newText: "" } }, { linesAdded: 1, linesRemoved: 2 }],
  ["edit", { path: "/w/a", multiStrReplace: { edits: [{ oldText: "a", newText: "b" }, 7, { oldText: "c" }] } }],
  ["edit", { path: "/w/a", multiStrReplace: { edits: "no" }, applyPatch: { patchContent: "+p" } }],
  ["edit", { path: "/w/a", applyPatch: {} }],
  ["edit", { path: "/w/a", streamContent: "s\nt\n" }],
  ["edit", { path: "/w/a", fileText: "f\n\n" }],
  ["edit", { path: "/w/a", fileText: "f" }, { diffString: "+g", linesAdded: 1, linesRemoved: 0 }],
  ["write", { path: "/w/b", fileText: "f" }, { linesCreated: 2, linesAdded: 2 }],
  ["apply_patch", { input: "*** Add File: a\n+x\n*** Update File: b c\n*** Delete File: d\n*** Move to: e\n" }],
  ["apply_patch", { patch: "no file" }],
  ["apply_patch", {}],
  ["read", { path: "/w/A.TS", offset: 5, limit: 7 }, { content: "x" }],
  ["read", { path: "/w/a", limit: 7 }, { content: "x" }],
  ["read", { path: "/w/a.waytoolongextension", offset: 0 }, { content: "" }],
  ["read", { path: "/w/a", offset: 2 }, { readRange: { startLine: 2, endLine: 3 }, totalLines: 9 }],
  ["read", { path: "/w/a" }, { totalLines: 0, content: "" }],
  ["read", { path: "/w/a" }, { totalLines: -1 }],
  ["read", { path: "/w/a" }, { totalLines: 2, content: "x\n" }],
  ["ls", { path: "/w" }, { directoryTreeRoot: tree(3) }],
  ["ls", { path: "/w" }, { directoryTreeRoot: tree(20) }],
  ["ls", { path: "/w" }, { directoryTreeRoot: tree(21) }],
  ["ls", { path: "/w" }, { content: "given", directoryTreeRoot: tree(1) }],
  ["ls", { path: "/w" }, { directoryTreeRoot: { childrenFiles: [{ name: "a" }, { name: "b" }], childrenDirs: [{}] } }],
  ["glob", { globPattern: "*", targetDirectory: "/w/d" }, { files: ["a", 7, "b"], totalFiles: 9 }],
  ["glob", { globPattern: "*" }, { files: "no" }],
  ["grep", { pattern: "x", path: "p", glob: "g" }, { content: "given", workspaceResults: {} }],
  ["grep", { pattern: "x" }, { workspaceResults: { a: { files: { files: ["f"], totalFiles: 5 } } } }],
  ["grep", { pattern: "x" }, { workspaceResults: { a: { files: { files: ["f"] } }, b: { files: { files: [] } } } }],
  [
    "grep",
    { pattern: "x" },
    { workspaceResults: { a: { count: { totalMatches: 1, counts: [{ file: "f", count: 1 }] } } } },
  ],
  [
    "grep",
    { pattern: "x" },
    {
      workspaceResults: {
        a: {
          content: {
            totalMatchedLines: 4,
            matches: [
              { file: "f", matches: [] },
              { file: "g", matches: [] },
            ],
          },
        },
      },
    },
  ],
  [
    "grep",
    { pattern: "x" },
    { workspaceResults: { a: { content: { matches: [{ file: "f", matches: [{ lineNumber: 3, content: "x" }] }] } } } },
  ],
  ["grep", { pattern: "x" }, { workspaceResults: { a: {}, b: { content: "no" } } }],
  ["grep", { pattern: "x" }, { workspaceResults: "no" }],
  ["delete", { path: "/w/a" }, {}],
  ["updateTodos", { todos }, {}],
  ["updateTodos", { todos: [] }, { todos }],
  ["updateTodos", {}, {}],
  ["webFetch", { url: "http://x" }, { markdown: "ä".repeat(600) }],
  [
    "webSearch",
    { searchTerm: "s", query: "q" },
    { references: [{ title: "t", url: "u", chunk: "c" }, { url: "v" }, 7] },
  ],
  ["webSearch", { query: "q" }, { references: [{}] }],
  ["semSearch", { query: "q" }, { results: "found" }],
  ["task", { description: "d", prompt: "p", subagentType: { custom: { name: "mine" } } }, {}],
  ["task", { prompt: " p\n q", subagentType: { explore: {} } }, { isBackground: true }],
  [
    "task",
    { description: "d", prompt: "" },
    {
      conversationSteps: [
        { assistantMessage: { text: "said" } },
        { toolCall: { readToolCall: { args: { limit: 1, path: "a" } } } },
        { toolCall: { shellToolCall: {} } },
        { toolCall: "odd" },
        { other: 1 },
      ],
    },
  ],
  ["createPlan", { name: "n", plan: "# p" }, {}],
  ["askQuestion", { title: "T", questions }, { answers: [{ questionId: "q", selectedOptionIds: ["b"] }] }],
  ["askQuestion", { questions }, { answers: [{ questionId: "r", freeformText: "typed" }] }],
  ["askQuestion", { questions }, { answers: [] }],
  ["mcp", { name: "n", toolName: "t", providerIdentifier: "p", args: {} }, { content: [{ text: { text: "a" } }, {}] }],
  ["mcp", { name: "n", serverIdentifier: "s", args: { b: "x", c: [1] } }, { content: [{ resource: { text: "r" } }] }],
  ["mcp", { name: "n" }, { structured: 1 }],
  ["readMcpResource", { uri: "u", server: "s" }, { content: "c" }],
  ["listMcpResources", { server: "s" }, { resources: [1] }],
  ["await", { taskId: "t" }, {}],
  ["unheard", { path: "/w", description: "d" }, { content: "c" }],
  ["unheard", { description: "/w/a and /w/b" }, {}],
  ["unheard", { description: 7, name: "n" }],
  ["unheard", {}, { odd: 1 }],
];

it("unusual tool calls are shown as listed in the table: done, failed and under way", async () => {
  const rows = calls.flatMap(([tool, args, value]) => {
    const call = { callId: "c", tool, args };
    const views = [
      value && ({ kind: "success", value } as const),
      value && ({ kind: "failure", value } as const),
      undefined,
    ]
      .map((outcome) => viewOfCall(call, outcome as never, "/w"))
      .map((view) => JSON.stringify(view));
    const words = JSON.stringify(wordsOfCall(tool, args, value));
    return [`${tool} ${JSON.stringify(args)} ${JSON.stringify(value) ?? ""}`, ...new Set(views), words, ""];
  });
  await expect(rows.join("\n")).toMatchFileSnapshot(join(import.meta.dirname, "call-table.txt"));
});

it("a path is shortened by its workspace only where there is one", () => {
  const what = (path: string, workspace: string) =>
    viewOfCall({ callId: "c", tool: "delete", args: { path } }, undefined, workspace).what;
  expect([what("/w", "/w"), what("/w/a", "/w"), what("/wa", "/w"), what("/a", ""), what("", "")]).toEqual([
    ".",
    "a",
    "/wa",
    "/a",
    "",
  ]);
});

it("a todo is shown as waiting for open todos that it depends on", () => {
  expect(shownTodos(todos).map(({ state, words }) => `${state} ${words}`)).toEqual([
    "PENDING one two",
    "IN_PROGRESS second (after one\n  two)",
    "COMPLETED third",
    "PENDING ",
    "CANCELLED fifth",
    "PENDING sixth (after one\n  two, second)",
  ]);
  expect(shownTodos("none")).toEqual([]);
});

it.each<[what: string, events: object[], toolMs: number, waitMs: number]>([
  [
    "nothing runs",
    [
      { type: "user", at: 0 },
      { type: "text_end", at: 9 },
    ],
    0,
    0,
  ],
  [
    "a tool runs",
    [
      { type: "tool_start", callId: "a", at: 1 },
      { type: "tool_end", callId: "a", at: 8 },
    ],
    7,
    0,
  ],
  [
    "two tools run at once",
    [
      { type: "tool_start", callId: "a", at: 0 },
      { type: "tool_start", callId: "b", at: 2 },
      { type: "tool_end", callId: "a", at: 5 },
      { type: "tool_end", callId: "b", at: 9 },
      { type: "text_end", at: 20 },
    ],
    9,
    0,
  ],
  [
    "the user is asked while a tool runs",
    [
      { type: "tool_start", callId: "a", at: 0 },
      { type: "ask", id: 1, at: 3 },
      { type: "answer", id: 1, at: 7 },
      { type: "tool_end", callId: "a", at: 9 },
    ],
    5,
    4,
  ],
  ["the end of a call alone is known", [{ type: "tool_end", callId: "a", startedAt: 2, completedAt: 6, at: 9 }], 4, 0],
  ["only its end is timed", [{ type: "tool_end", callId: "a", completedAt: 6, at: 9 }], 0, 0],
  ["its end is before its start", [{ type: "tool_end", callId: "a", startedAt: 6, completedAt: 2 }], 0, 0],
  ["it has no times", [{ type: "tool_end", callId: "a" }], 0, 0],
  [
    "the clock goes back",
    [
      { type: "tool_start", callId: "a", at: 10 },
      { type: "user", at: 4 },
      { type: "tool_end", callId: "a", at: 12 },
    ],
    2,
    0,
  ],
  [
    "a stored turn tells of its questions at its end",
    [
      { type: "tool_start", callId: "a", at: 0 },
      { type: "tool_end", callId: "a", at: 9 },
      { type: "done", waitedMs: 4, at: 9 },
    ],
    5,
    4,
  ],
  ["more was waited than tools ran", [{ type: "fail", waitedMs: 4, at: 9 }], 0, 4],
  [
    "the questions were seen",
    [
      { type: "ask", id: "q", at: 0 },
      { type: "answer", id: "q", at: 6 },
      { type: "done", waitedMs: 4, at: 9 },
    ],
    0,
    6,
  ],
])("the time of a turn is divided between model, tools and waiting: %s", (_what, events, toolMs, waitMs) => {
  const clock = new TurnClock();
  for (const event of events) clock.take(event as AgentEvent);
  expect(clock.times()).toEqual({ toolMs, waitMs });
});

it("the time of a turn goes on until now", () => {
  const clock = new TurnClock();
  clock.take({ type: "tool_start", callId: "a", at: 5 } as AgentEvent);
  expect([clock.times(15), clock.times(15), clock.times(20)]).toEqual([
    { toolMs: 10, waitMs: 0 },
    { toolMs: 10, waitMs: 0 },
    { toolMs: 15, waitMs: 0 },
  ]);
});

it("Markdown, code and changed words are left as they are where they would take long", () => {
  const isParsed = (text: string) => markdownTokens(text) !== undefined;
  const word = "a ".repeat(25_000);
  expect([isParsed(word), isParsed(`${word}b`)]).toEqual([true, false]);
  for (const mark of ["*", "_", "~"])
    expect([isParsed(mark.repeat(2000)), isParsed(mark.repeat(2001))]).toEqual([true, false]);
  expect(isParsed(`fine\n\n${"*".repeat(2001)}\n\nfine`)).toBe(false);
  expect(isParsed(`${"*".repeat(1500)}\n \n${"*".repeat(1500)}`)).toBe(true);
  const isHighlighted = (code: string) =>
    codePieces(code, "ts")
      .flat()
      .some(({ kind }) => kind !== undefined);
  const lines = "return 1;\n".repeat(10_000);
  expect([isHighlighted(lines), isHighlighted(`${lines};`)]).toEqual([true, false]);
  const long = (length: number) => `return "${"x".repeat(length)}";`;
  expect([isHighlighted(long(499)), isHighlighted(long(500)), isHighlighted(long(50_000))]).toEqual([
    true,
    false,
    false,
  ]);
  expect([wordChanges("x".repeat(1000), "x".repeat(1000)), wordChanges("x".repeat(1000), "x".repeat(1001))]).toEqual([
    expect.anything(),
    undefined,
  ]);
  const signed = (mark: string) => Array.from({ length: 25 }, (_, at) => `${mark}same words ${mark}${at}`).join("\n");
  const [hunk] = hunksOfDiff(`${signed("-")}\n${signed("+")}`);
  expect(changedWords(hunk!, wordChanges).size).toBe(40);
});
