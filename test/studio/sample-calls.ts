// Calls of every tool, in every state that a card can have.
import type { ToolCall } from "../../src/studio/components/index.ts";

type Sample = { tool: string; args: object; success: object; more?: Partial<ToolCall> };

const workspace = "/home/ada/src/api";
export const pixel =
  "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAPUlEQVR4nO3NQQ0AIAwEsJPGn3HIwMbBa5J+u7PTfWcCAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIPXTBqAkV3V4cAAAAASUVORK5CYII=";

const directory = (absPath: string, files: string[], folders: object[] = []) => ({
  ...{ absPath, childrenDirs: folders, childrenFiles: files.map((name) => ({ name })) },
  ...{ childrenWereProcessed: true, fullSubtreeExtensionCounts: {}, numFiles: files.length },
});

const run = (command: string, printed: string, exitCode = 0) => ({
  ...{ command, workingDirectory: workspace, exitCode, signal: "", stdout: printed, stderr: "" },
  ...{ executionTime: 2300, interleavedOutput: printed },
});

export const diffString = `--- a/src/upload/store.ts
+++ b/src/upload/store.ts
@@ -40,5 +40,7 @@
 export async function store(request: Request, path: string) {
   const out = createWriteStream(path);
-  request.pipe(out);
+  await pipeline(request, out, { signal });
+  await out.close();
   return path;
 }
`;

export const samples: Record<string, Sample> = {
  ListTool: {
    tool: "ls",
    args: { path: `${workspace}/src`, ignore: [], toolCallId: "1" },
    success: {
      directoryTreeRoot: directory(
        `${workspace}/src`,
        ["index.ts", "server.ts"],
        [
          directory(
            `${workspace}/src/upload`,
            ["store.ts", "limits.ts"],
            [directory(`${workspace}/src/upload/kinds`, ["png.ts"])],
          ),
        ],
      ),
    },
  },
  ReadTool: {
    tool: "read",
    args: { path: `${workspace}/src/upload/store.ts`, offset: 38, limit: 6 },
    success: {
      content: `// Keeps what was uploaded.\nexport async function store(request: Request, path: string): Promise<string> {\n  const out = createWriteStream(path);\n  const limit = 5 * 1024;\n  request.pipe(out);\n  return \`\${path}/done\`;\n}\n`,
      ...{
        isEmpty: false,
        exceededLimit: false,
        totalLines: 120,
        fileSize: 4096,
        path: `${workspace}/src/upload/store.ts`,
      },
      readRange: { startLine: 38, endLine: 44 },
    },
  },
  EditTool: {
    tool: "edit",
    args: { path: `${workspace}/src/upload/store.ts`, streamContent: "" },
    success: {
      path: `${workspace}/src/upload/store.ts`,
      linesAdded: 2,
      linesRemoved: 1,
      diffString,
      afterFullFileContent: "",
      message: "Updated.",
    },
  },
  WriteTool: {
    tool: "write",
    args: { path: `${workspace}/NOTES.md`, fileText: "# Notes\n\nOne line.\n", toolCallId: "1" },
    success: { path: `${workspace}/NOTES.md`, linesCreated: 3, fileSize: 20 },
  },
  DeleteTool: {
    tool: "delete",
    args: { path: `${workspace}/src/upload/old-store.ts` },
    success: { path: `${workspace}/src/upload/old-store.ts`, message: "Deleted." },
  },
  GlobTool: {
    tool: "glob",
    args: { targetDirectory: workspace, globPattern: "**/*.test.ts" },
    success: {
      ...{
        pattern: "**/*.test.ts",
        path: workspace,
        files: ["test/upload.test.ts", "test/limits.test.ts"],
        totalFiles: 2,
      },
      ...{ clientTruncated: false, ripgrepTruncated: false },
    },
  },
  GrepTool: {
    tool: "grep",
    args: { pattern: "createWriteStream", path: `${workspace}/src`, caseInsensitive: false, multiline: false },
    success: {
      ...{ pattern: "createWriteStream", path: `${workspace}/src`, outputMode: "content" },
      workspaceResults: {
        [workspace]: {
          content: {
            matches: [
              {
                file: "./src/upload/store.ts",
                matches: [
                  {
                    lineNumber: 3,
                    content: 'import { createWriteStream } from "node:fs";',
                    contentTruncated: false,
                    isContextLine: false,
                  },
                  {
                    lineNumber: 40,
                    content: "export async function store() {",
                    contentTruncated: false,
                    isContextLine: true,
                  },
                  {
                    lineNumber: 41,
                    content: "  const out = createWriteStream(path);",
                    contentTruncated: false,
                    isContextLine: false,
                  },
                ],
              },
              {
                file: "./src/log.ts",
                matches: [
                  {
                    lineNumber: 9,
                    content: "const file = createWriteStream(name);",
                    contentTruncated: true,
                    isContextLine: false,
                  },
                ],
              },
            ],
            totalMatchedLines: 3,
          },
        },
      },
    },
    more: { startedAt: 1000, endedAt: 1012 },
  },
  BashTool: {
    tool: "shell",
    args: {
      command: "npm test -- upload",
      workingDirectory: workspace,
      timeout: 30000,
      description: "Run the upload tests",
    },
    success: run(
      "npm test -- upload",
      "\x1b[1m\x1b[46m RUN \x1b[0m v4.1\n\n \x1b[32m✓\x1b[39m uploads a small file \x1b[2m12 ms\x1b[22m\n \x1b[32m✓\x1b[39m uploads an empty file\n \x1b[33m!\x1b[39m uploads slowly\n\n\x1b[1mTests\x1b[22m \x1b[32m3 passed\x1b[39m\n",
    ),
    more: { startedAt: 1000, endedAt: 3300 },
  },
  TodoTool: {
    tool: "updateTodos",
    args: { todos: [], merge: false },
    success: {
      todos: [
        { id: "1", content: "Reproduce", status: "TODO_STATUS_COMPLETED" },
        { id: "2", content: "Find the race", status: "TODO_STATUS_COMPLETED" },
        { id: "3", content: "Fix the writer", status: "TODO_STATUS_IN_PROGRESS" },
        { id: "4", content: "Repeat 50 times", status: "TODO_STATUS_PENDING" },
        { id: "5", content: "Rewrite in Rust", status: "TODO_STATUS_CANCELLED" },
      ],
      ...{ totalCount: 5, wasMerge: false },
    },
  },
  McpTool: {
    tool: "mcp",
    args: {
      name: "charts-draw",
      args: { kind: "bar", values: [1, 2, 3] },
      toolCallId: "1",
      providerIdentifier: "charts",
      toolName: "draw",
    },
    success: {
      content: [
        { text: { text: '{"status":"drawn","bars":3}' } },
        { image: { data: pixel, mimeType: "image/png" } },
        { resource: { uri: "chart://1", text: "1 2 3" } },
      ],
      isError: false,
    },
    more: { startedAt: 1000, endedAt: 1450 },
  },
  "McpTool of resources": {
    tool: "listMcpResources",
    args: { server: "charts" },
    success: { resources: [{ uri: "chart://1", name: "First", description: "Three bars", mimeType: "text/plain" }] },
  },
  WebFetchTool: {
    tool: "webFetch",
    args: { url: "https://nodejs.org/api/stream.html" },
    success: {
      url: "https://nodejs.org/api/stream.html",
      markdown:
        "# Stream\n\nA **stream** is an *abstract* interface, see [pipeline](https://nodejs.org/pipeline).\n\n- one\n- two\n",
    },
  },
  WebSearchTool: {
    tool: "webSearch",
    args: { searchTerm: "node stream pipeline abort" },
    success: {
      references: [
        {
          title: "stream.pipeline",
          url: "https://nodejs.org/api/stream.html",
          chunk: "Pipes between streams and forwards errors.",
        },
      ],
    },
  },
  SemanticSearchTool: {
    tool: "semSearch",
    args: { query: "where are uploads written", targetDirectories: [] },
    success: {
      results: `<search_result path="src/upload/store.ts" startLine="40" endLine="44">\nexport async function store() {\n  const out = createWriteStream(path);\n}\n</search_result>\n<search_result path="src/log.ts" startLine="9" endLine="9">\nconst file = createWriteStream(name);\n</search_result>`,
    },
  },
  TaskTool: {
    tool: "task",
    args: {
      description: "Find every writer",
      prompt: "List the places that **write** files.",
      subagentType: { explore: {} },
      agentId: "agent-1",
    },
    success: {
      conversationSteps: [
        { thinkingMessage: { text: "I look for streams.", durationMs: 1500 } },
        {
          toolCall: {
            grepToolCall: {
              args: { pattern: "write", caseInsensitive: false, multiline: false },
              result: { success: { workspaceResults: {} } },
            },
            toolCallId: "t1",
          },
        },
        { assistantMessage: { text: "Two places: `store.ts` and `log.ts`." } },
      ],
      ...{ agentId: "agent-1", isBackground: false },
    },
    more: { startedAt: 1000, endedAt: 9200 },
  },
  PlanTool: {
    tool: "createPlan",
    args: {
      name: "Fix the race",
      plan: "1. Await the stream\n2. Close it\n",
      todos: [{ content: "Await", status: "pending" }],
    },
    success: {},
  },
  QuestionTool: {
    tool: "askQuestion",
    args: {
      title: "Which database?",
      questions: [
        {
          id: "q",
          prompt: "Which database?",
          options: [
            { id: "a", label: "SQLite" },
            { id: "b", label: "Postgres" },
          ],
          allowMultiple: false,
        },
      ],
    },
    success: { answers: [{ questionId: "q", selectedOptionIds: ["a"], freeformText: "with WAL" }] },
  },
  GenericTool: {
    tool: "paintWall",
    args: { colour: "blue", coats: 2 },
    success: { walls: 4, left: { paint: "1 l" } },
  },
};

export const states = {
  success: (value: object) => ({ outcome: { kind: "success", value } }),
  failed: () => ({ outcome: { kind: "error", value: { error: "File not found: src/none.ts" } } }),
  refused: () => ({
    outcome: { kind: "rejected", value: { reason: "Denied by the rule Shell(rm) in ~/.cursor/cli-config.json." } },
  }),
  running: () => ({ isRunning: true, startedAt: Date.now() - 12_000, output: "\x1b[32m✓\x1b[39m first\nsecond\n" }),
  waiting: () => ({ isRunning: true, isAsked: true }),
  unknown: () => ({}),
} satisfies Record<string, (value: object) => Partial<ToolCall>>;

export type State = keyof typeof states;

export function sampleCall(name: string, state: State): ToolCall {
  const { tool, args, success, more } = samples[name]!;
  const timed = state === "success" ? more : {};
  return { callId: `${name}-${state}`.replaceAll(" ", "-"), tool, args, ...timed, ...states[state](success) };
}

/** A command that ran and failed. */
export const failedCommand: ToolCall = {
  callId: "failed-command",
  tool: "shell",
  args: { command: "npm test -- upload --repeat 50", workingDirectory: workspace },
  outcome: {
    kind: "failure",
    value: run(
      "npm test",
      "\x1b[31m✗ uploads a small file\x1b[39m\n  expected \x1b[32m3\x1b[39m, got \x1b[31m2\x1b[39m\n",
      1,
    ),
  },
  ...{ startedAt: 1000, endedAt: 43_000 },
};

export { workspace };
