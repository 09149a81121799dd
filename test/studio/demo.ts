// What the pictures show: a project with a flaky test, an agent that fixes it, others that work or are done.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { metadataFile } from "../../src/store/chats/layout.ts";
import { createChat } from "../../src/store/chats/open-chat.ts";
import { randomUuid } from "../../src/store/chats/random-uuid.ts";
import { trust } from "../../src/store/trust.ts";
import type { TestService } from "../serve/service-support.ts";
import { until } from "../serve/service-support.ts";

const store = `import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type { IncomingMessage } from "node:http";

/** Writes an upload to its temporary file. */
export async function store(request: IncomingMessage, path: string, signal: AbortSignal) {
  const out = createWriteStream(path);
  request.pipe(out);
}
`;

const test = `import { test } from "node:test";
import { upload } from "./support.ts";

test("uploads a small file", async () => {
  await upload("small.txt", 12);
});
`;

export type Demo = {
  workspace: string;
  waiting: { id: string; sessionId: string };
  finished: { id: string; sessionId: string };
};

export async function prepareDemo(service: TestService): Promise<Demo> {
  const base = dirname(service.workspace.path);
  const workspace = join(base, "api");
  const file = (name: string, text: string) => {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), text);
  };
  file("src/upload/store.ts", store);
  file("test/upload.test.ts", test);
  file("package.json", '{ "name": "api", "scripts": { "test": "node --test" } }\n');
  trust(service.workspace.config, workspace);
  oldSessions(service, base);
  const start = async (prompt: string, replies: unknown, more: object = {}) => {
    const body = { workspace, prompt: { text: prompt }, model: service.script(replies), sandbox: "disabled", ...more };
    const run = (await service.call("POST", "/api/runs", body)).body;
    await until(async () => (await service.fleet.run(run.id))?.sessionId !== undefined, "the session");
    return { id: run.id as string, sessionId: (await service.fleet.run(run.id))!.sessionId! };
  };
  const finished = await start("Close files that uploads leave open", fixing(workspace));
  await service.over(finished.id);
  file("src/upload/store.ts", store);
  file("test/upload.test.ts", test);
  await start("Migrate the config loader to JSONC", [
    { text: "I will look at how settings are read.", calls: [{ name: "Grep", args: { pattern: "readFileSync" } }] },
    { text: "The loader is next.", delayMs: 600_000 },
  ]);
  await start("Move config to one file", [
    { calls: [{ name: "Shell", args: { command: "rm -r legacy/" } }] },
    { text: "All settings are in config.ts now." },
  ]);
  const waiting = await start(
    "Make the flaky upload test pass\nIt fails about once in ten runs. Find out why and fix the cause.",
    [
      ...fixing(workspace).slice(0, -1),
      { text: "", calls: [{ name: "Shell", args: { command: "npm test -- upload --repeat 50" } }] },
      { text: "It passes fifty times in a row." },
    ],
  );
  await until(async () => (await service.fleet.questions()).length === 2, "the questions");
  return { workspace, waiting, finished };
}

function fixing(workspace: string) {
  const usage = (inputTokens: number, cacheReadTokens: number, outputTokens: number) => ({
    usage: { inputTokens, cacheReadTokens, outputTokens },
  });
  const todos = (done: number) =>
    ["Reproduce", "Find the race", "Fix the writer", "Repeat 50 times"].map((content, index) => ({
      id: String(index + 1),
      content,
      status: index < done ? "completed" : index === done ? "in_progress" : "pending",
    }));
  return [
    {
      delayMs: 900,
      thinking: "The test fails only sometimes, so something is not waited for. Where is the temporary file written?",
      text: "I will look at who writes the temporary file.",
      calls: [
        { name: "TodoWrite", args: { todos: todos(1), merge: false } },
        { name: "Grep", args: { pattern: "createWriteStream", path: "src" } },
        { name: "Glob", args: { pattern: "**/*.test.ts" } },
        { name: "Read", args: { path: join(workspace, "test/upload.test.ts") } },
        { name: "Read", args: { path: join(workspace, "package.json") } },
      ],
      ...usage(6200, 0, 180),
    },
    {
      delayMs: 700,
      text: "The failure is a race: the server answers before the temporary file is flushed.",
      calls: [{ name: "Read", args: { path: join(workspace, "src/upload/store.ts") } }],
      ...usage(1400, 6200, 160),
    },
    {
      calls: [
        {
          name: "Edit",
          args: {
            path: join(workspace, "src/upload/store.ts"),
            old_string: "  request.pipe(out);\n",
            new_string: "  await pipeline(request, out, { signal });\n  await out.close();\n",
          },
        },
        {
          name: "Edit",
          args: {
            path: join(workspace, "test/upload.test.ts"),
            old_string: "12);\n});\n",
            new_string:
              '12);\n});\n\ntest("uploads an empty file", async () => {\n  await upload("empty.txt", 0);\n});\n',
          },
        },
        { name: "TodoWrite", args: { todos: todos(2), merge: false } },
      ],
      ...usage(2100, 7600, 420),
    },
    { text: "The writer waits for the file now, and a test covers the empty one.", ...usage(900, 9700, 60) },
  ];
}

export const claudeId = "5f3c1c7e-52d1-4c5e-9f0e-0a4b8a1d2c3e";

/** Sessions of other agents, as these write them. */
function otherSessions(home: string, base: string): void {
  const at = new Date(Date.now() - 1_500_000).toISOString();
  const said = (id: string, cwd: string, prompt: string, answer: string) => {
    const common = { sessionId: id, cwd, version: "2.1.325", isSidechain: false, userType: "external", timestamp: at };
    const content = [{ type: "text", text: answer }];
    const message = {
      id: `msg_${id}`,
      role: "assistant",
      model: "claude-sonnet-4-5",
      content,
      stop_reason: "end_turn",
    };
    return [
      { ...common, parentUuid: null, uuid: `${id}-1`, type: "user", message: { role: "user", content: prompt } },
      { ...common, parentUuid: `${id}-1`, uuid: `${id}-2`, type: "assistant", message },
    ];
  };
  const file = join(home, ".claude/projects/-web", `${claudeId}.jsonl`);
  mkdirSync(dirname(file), { recursive: true });
  const lines = said(
    claudeId,
    join(base, "web"),
    "Explain the router",
    "Routes are matched from the longest to the shortest.",
  );
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const rollout = "0c9d3f10-6a1b-4d8e-8f5e-7b2a9c4d1e6f";
  const folder = join(home, ".codex/sessions/2026/11/17");
  mkdirSync(folder, { recursive: true });
  const part = (type: string, text: string) => [{ type, text }];
  const codex = [
    { type: "session_meta", payload: { id: rollout, timestamp: at, cwd: join(base, "api"), cli_version: "0.169.0" } },
    {
      type: "response_item",
      payload: { type: "message", role: "user", content: part("input_text", "Name the queues after their jobs") },
    },
    {
      type: "response_item",
      payload: { type: "message", role: "assistant", content: part("output_text", "Five queues have new names.") },
    },
  ];
  const named = join(folder, `rollout-2026-11-17T10-00-00-${rollout}.jsonl`);
  writeFileSync(named, codex.map((line) => `${JSON.stringify({ timestamp: at, ...line })}\n`).join(""));
}

/** Chats of the last days, as other runs left them. */
function oldSessions({ workspace }: TestService, base: string): void {
  const { config } = workspace;
  const day = 86_400_000;
  const old: [title: string, project: string, ago: number, end: "done" | "fail", cost: number][] = [
    ["Explain the retry policy", "api", 0.2 * 3_600_000, "done", 0.01],
    ["Bump dependencies, keep the lock file", "web", 0.6 * 3_600_000, "done", 0.21],
    ["Rename Session to Chat", "web", 0.9 * 3_600_000, "fail", 0.34],
    ["Write a changelog for 0.4", "site", day, "done", 0.08],
    ["Read settings from TOML as well", "api", 1.2 * day, "done", 0.62],
    ["Find the leak in the worker pool", "api", 3 * day, "done", 0.47],
    ["Sort imports by folder", "web", 4 * day, "done", 0.11],
    ["Speed up the parser of dates", "api", 5 * day, "done", 0.93],
    ["Add a dark theme", "site", 6 * day, "done", 0.38],
    ["Draw the schema of the queue", "api", 8 * day, "done", 0.05],
    ["Replace the mailer", "web", 9 * day, "done", 0.71],
    ["Translate the error messages", "web", 12 * day, "done", 0.26],
  ];
  otherSessions(workspace.home, base);
  for (const [title, project, ago, end, totalCost] of old) {
    const at = Date.now() - ago;
    const id = randomUuid();
    const chat = createChat({ configDir: config, workspace: join(base, project) }, { id, mode: "default" });
    chat.record({ type: "user", text: title, at });
    chat.append(
      { role: "user", parts: [{ type: "text", text: title }] },
      { role: "assistant", parts: [{ type: "text", text: "Done." }] },
    );
    const usage = { inputTokens: 9000, outputTokens: 700, cacheReadTokens: 41_000, cacheWriteTokens: 0, totalCost };
    const numbers = { durationMs: 42_000 + 400_000 * totalCost, apiDurationMs: 30_000, usage, at };
    chat.record(
      end === "done"
        ? { type: "done", text: "Done.", ...numbers }
        : { type: "fail", message: "The model is overloaded.", code: "MODEL_RATE_LIMIT", ...numbers },
    );
    chat.close();
    // As if it had been written then.
    const beside = metadataFile(chat.metadata.folder);
    const fields = JSON.parse(readFileSync(beside, "utf8"));
    writeFileSync(beside, JSON.stringify({ ...fields, createdAtMs: at, updatedAtMs: at }));
  }
}
