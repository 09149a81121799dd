// Twelve scripted sessions against the built CLI: what they send to the model and how many calls they need, before and now.
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ModelAnswer, modelServer, type RecordedRequest } from "../../src/testing/kit/model-server.ts";
import { createWorkspace, repository } from "../support/run-cli.ts";

type Call = { name: string; args: object };

type Session = {
  files?: Record<string, string>;
  flags?: readonly string[];
  contextTokens?: number;
  /** What else is there before it begins. */
  prepare?(path: string): void;
  /** So many runs, each of which resumes the chat of the one before. */
  runs?: number;
  /** What the model does next, from what it was answered last. No calls: it ends. */
  next(results: readonly string[], reply: number): Call[];
  /** Measured with the program as it was before these rules: bytes of all requests, and calls of tools. */
  before: { bytes: number; calls: number };
  /** Of the bytes before, and the calls now. */
  now: { share: number; calls: number };
  /** Of the last request, and how the run ended. */
  check?(told: string, run: { exit: number | null; text: string }): void;
};

const build =
  "for i in $(seq 8); do seq -f 'compiling module number %g of the whole project' 60; sleep 0.35; done; echo built";
const colourfulLog = `awk 'BEGIN { for (i = 1; i <= 20000; i++) printf "\\033[32mline %d of a log\\033[0m\\n", i }'`;

const sessions: Record<string, Session> = {
  "a long build in the background": {
    next(results, reply) {
      if (reply === 0) return [{ name: "Shell", args: { command: build, isBackground: true } }];
      if (reply > 1 && results[0]!.includes("exit code 0")) return [];
      return [{ name: "Await", args: { taskId: "shell_1", blockUntilMs: 120_000 } }];
    },
    before: { bytes: 247_308, calls: 10 },
    now: { share: 0.2, calls: 2 },
    check: (told) => expect(told).toContain("built"),
  },
  "a big grep": {
    files: manyFiles(400, "export const value = 1; // a line as they are\n".repeat(15)),
    next: once({ name: "Grep", args: { pattern: "value" } }),
    before: { bytes: 120_068, calls: 1 },
    now: { share: 0.4, calls: 1 },
    check: (told) =>
      expect(told).toContain("[250 of 6,000 lines in 400 files. Narrow pattern, path or glob, or set headLimit.]"),
  },
  "a big log": {
    next: once({ name: "Shell", args: { command: colourfulLog } }),
    before: { bytes: 73_878, calls: 1 },
    now: { share: 0.6, calls: 1 },
    check(told) {
      expect(told).toContain("line 1 of a log");
      expect(told).toContain("line 20000 of a log");
      expect(told).toContain("all of it: ");
    },
  },
  "two commands in one reply": {
    next(results, reply) {
      const make = { name: "Shell", args: { command: "sleep 0.3; echo made > made.txt" } };
      const look = { name: "Shell", args: { command: "cat made.txt" } };
      const start = { name: "Shell", args: { command: "echo built", isBackground: true } };
      const wait = { name: "Await", args: { taskId: "shell_1", blockUntilMs: 20_000 } };
      if (reply === 0) return [make, look, start, wait];
      return [look, wait].filter((_, index) =>
        results.some((result) => [/No such file/, /Unknown back/][index]!.test(result)),
      );
    },
    before: { bytes: 29_084, calls: 6 },
    now: { share: 0.75, calls: 4 },
    check: (told) => expect(told).toContain("[shell_1: exit code 0"),
  },
  "a refusal of the network": {
    flags: ["--trust"],
    // A model that does not know why tries other ways.
    next(results, reply) {
      const host = "http://model.test/";
      const ways = [
        { name: "Shell", args: { command: `curl -sS ${host} 2>&1 | head -3` } },
        { name: "Shell", args: { command: `wget -qO- ${host} 2>&1 | head -3` } },
        { name: "WebFetch", args: { url: host } },
        { name: "Shell", args: { command: "getent hosts model.test | head -1" } },
      ];
      const isExplained = reply > 0 && results.some((result) => /no network/.test(result));
      return isExplained || reply === ways.length ? [] : [ways[reply]!];
    },
    before: { bytes: 46_537, calls: 4 },
    now: { share: 0.6, calls: 1 },
    check(told) {
      expect(told).toContain(
        "Commands: they run in a sandbox: only the workspace and /tmp (private to commands) can be written, protected paths cannot, and there is no network. No rule allows any outside it.",
      );
      expect(told).not.toContain('"name":"WebFetch"');
    },
  },
  "a plan": {
    flags: ["--mode", "plan", "--trust"],
    next: once({ name: "CreatePlan", args: { name: "A plan", plan: "1. Change it, and run the tests.\n".repeat(60) } }),
    before: { bytes: 15_179, calls: 1 },
    now: { share: 1, calls: 1 },
    check: (told) => expect(told).toContain("End with two lines: what it does, and what is open."),
  },
  "a merge of todos": {
    next(results, reply) {
      const items = Array.from({ length: 6 }, (_, index) => ({
        id: `${index}`,
        content: "a step of the work",
        status: "pending",
      }));
      if (reply === 0) return [{ name: "TodoWrite", args: { todos: items } }];
      const todos = items.map(({ id }) => ({ id, status: "completed" }));
      if (reply === 1) return [{ name: "TodoWrite", args: { todos, merge: true } }];
      const again = items.map((item) => ({ ...item, status: "completed" }));
      return results[0]!.includes("is missing") ? [{ name: "TodoWrite", args: { todos: again } }] : [];
    },
    before: { bytes: 39_662, calls: 3 },
    now: { share: 0.8, calls: 2 },
    check: (told) => expect(told).toContain("[x] 5: a step of the work"),
  },
  "a loop": {
    next: (results, reply) =>
      reply > 0 && results.some((result) => result.includes("in a row"))
        ? []
        : [{ name: "Glob", args: { pattern: "*.none" } }],
    before: { bytes: 46_070, calls: 5 },
    now: { share: 0.85, calls: 3 },
    check: (_told, { exit }) => expect(exit).toBe(0),
  },
  "a batch of 16 noisy calls at 32k": {
    contextTokens: 32_000,
    next: (_results, reply) => (reply < 4 ? noisyCalls(reply) : []),
    before: { bytes: 86_977, calls: 64 },
    // More than before, when every step but the last ones was forgotten.
    now: { share: 2, calls: 64 },
    check(told) {
      for (let call = 0; call < 64; call++) expect(told).toContain(`echo step-${call}`);
    },
  },
  "a chat that is resumed": {
    runs: 2,
    files: { "notes.md": "a line of notes\n".repeat(200), "src/main.ts": "export const value = 1;\n" },
    prepare(path) {
      const git = (...args: string[]) => execFileSync("git", [...identity, ...args], { cwd: path, stdio: "ignore" });
      git("init", "-q", "-b", "a-branch-with-a-long-name");
      for (let index = 0; index < 3; index++)
        git(
          "commit",
          "-q",
          "--allow-empty",
          "-m",
          `area: a subject that is as long as titles may become, ${index} times`,
        );
    },
    flags: ["--trust", "--force"],
    next(results, reply) {
      if (reply === 0) return [{ name: "Read", args: { path: "notes.md" } }];
      // What is said of the repository stays as it was when the chat began.
      if (reply === 1) return [{ name: "Write", args: { path: "more.md", content: "" } }];
      if (reply === 2) return [];
      // Whoever is resumed still knows what was read.
      return reply === 3 && results.length > 1 ? [{ name: "Read", args: { path: "notes.md" } }] : [];
    },
    before: { bytes: 46_883, calls: 2 },
    // What the environment says of the repository.
    now: { share: 1.1, calls: 2 },
    check(told) {
      expect(told).toContain("a line of notes");
      expect(told).toContain("Git: a-branch-with-a-long-name, 2 changed files; last commits: ");
    },
  },
  "a language server": {
    files: {
      "tsconfig.json": '{ "compilerOptions": { "strict": true, "noEmit": true }, "include": ["src"] }',
      "src/main.ts": "export function width(text: string): number {\n  return text.length;\n}\n",
    },
    prepare(path) {
      const modules = join(repository, "node_modules");
      mkdirSync(join(path, "node_modules/.bin"), { recursive: true });
      symlinkSync(join(modules, "typescript"), join(path, "node_modules/typescript"));
      symlinkSync(join(modules, ".bin/tsc"), join(path, "node_modules/.bin/tsc"));
    },
    flags: ["--trust", "--force"],
    // A model that is not told of the error finds it with the project's own check.
    next(results, reply) {
      const change = (oldText: string, newText: string) => ({
        name: "Edit",
        args: { path: "src/main.ts", edits: [{ oldText, newText }] },
      });
      const fix = [change("`${text.length}`", "text.length + 1")];
      const isTold = results.some((result) => result.includes("is not assignable"));
      if (reply === 0) return [change("text.length", "`${text.length}`")];
      if (reply === 1) return isTold ? fix : [{ name: "Shell", args: { command: "node_modules/.bin/tsc" } }];
      return reply === 2 && isTold ? fix : [];
    },
    before: { bytes: 37_444, calls: 3 },
    now: { share: 0.8, calls: 2 },
    check: (told) => expect(told).toContain("1 new error (tsc):\\nsrc/main.ts:2:3 Type 'string'"),
  },
  "many files": {
    files: manyFiles(1200, ""),
    next: once({ name: "Glob", args: { pattern: "**/*.ts" } }),
    before: { bytes: 43_912, calls: 1 },
    now: { share: 0.6, calls: 1 },
    check: (told) => expect(told).toContain("[200 of 1,200 files. Narrow pattern or path.]"),
  },
};

const identity = ["-c", "user.name=A", "-c", "user.email=a@example.com"];

function noisyCalls(reply: number): Call[] {
  return Array.from({ length: 16 }, (_, index) => {
    const command = `echo step-${reply * 16 + index}; seq 3000 | tr '\\n' ' ' | fold -w 100`;
    return { name: "Shell", args: { command } };
  });
}

function once(...calls: Call[]): Session["next"] {
  return (_results, reply) => (reply === 0 ? calls : []);
}

function manyFiles(count: number, text: string): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`src/folder/module-${index}.ts`, text]));
}

describe("bytes sent and calls needed", () => {
  test.each(Object.entries(sessions))(
    "the scripted session %s sends no more bytes and makes no more tool calls than the table allows",
    async (_name, session) => {
      let calls = 0;
      let reply = 0;
      const answer = (request: RecordedRequest): ModelAnswer => {
        const next = session.next(lastResults(request), reply++);
        calls += next.length;
        if (next.length === 0) return { text: "Done." };
        return { toolCalls: next.map((call, index) => ({ id: `call_${reply}_${index}`, ...call })) };
      };
      await using server = await modelServer(answer);
      using place = createWorkspace(session.files);
      mkdirSync(place.config, { recursive: true });
      writeFileSync(
        join(place.config, "courser.json"),
        JSON.stringify({ ...server.settings, contextTokens: session.contextTokens ?? 200_000 }),
      );
      const flags = session.flags ?? ["--force"];
      session.prepare?.(place.path);
      const args = ["-p", ...flags, "--output-format", "stream-json", "--model", "chat/model", "go"];
      let run = await place.run(args, { env: server.env, timeoutMs: 60_000 });
      for (let more = 1; more < (session.runs ?? 1); more++)
        run = await place.run([...args, "--continue"], { env: server.env, timeoutMs: 60_000 });
      const asked = server.requests.filter(({ method }) => method === "POST");
      const bytes = asked.reduce((sum, { body }) => sum + body.length, 0);
      if (process.env["SHOW_SIZES"])
        console.log(
          _name,
          { bytes, calls, each: asked.map(({ body }) => body.length).join(" ") },
          (bytes / session.before.bytes).toFixed(2),
        );
      expect(asked[0]!.body.length).toBeLessThanOrEqual(9500);
      if (session.contextTokens === undefined) expectSamePrefix(asked);
      session.check?.(JSON.stringify(asked.at(-1)!.json), { exit: run.exit, text: run.stdout });
      expect(calls).toBe(session.now.calls);
      expect(bytes).toBeLessThan(session.before.bytes * session.now.share);
    },
  );
});

const longFolder = `${"d".repeat(200)}/${"e".repeat(200)}`;

describe("the size of the first request with all tools and long names", () => {
  test.each(["chat/model", "sonnet-4.5", "opus-5.5", "gpt-5.5", "gemini-3.1-pro"])(
    "the first request with all tools and long names stays small: %s",
    async (model) => {
      await using server = await modelServer(() => ({ text: "Done." }));
      const place = createWorkspace({ [`${longFolder}/a.txt`]: "one\n" });
      const git = (...args: string[]) => execFileSync("git", args, { cwd: place.path });
      try {
        git("init", "-q", "-b", "feature-".repeat(25));
        for (const word of ["one", "two", "three"])
          git(
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@x",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            `${word} `.repeat(60),
          );
        mkdirSync(place.config, { recursive: true });
        writeFileSync(join(place.config, "courser.json"), JSON.stringify(server.settings));
        const args = ["-p", "--force", "--trust", "--model", model, "go"];
        const run = await place.run(args, { env: server.env, cwd: join(place.path, longFolder) });
        expect(run.exit, run.stderr).toBe(0);
        const body = server.requests.find(({ method }) => method === "POST")!.body;
        expect(body.toString()).toContain("last commits: ");
        expect(body.length).toBeLessThanOrEqual(9500);
      } finally {
        place.remove();
      }
    },
  );
});

/** Each request begins with the one before it, byte by byte: vendors cache it. */
function expectSamePrefix(asked: readonly RecordedRequest[]): void {
  for (const [index, { json }] of asked.slice(1).entries()) {
    const { messages, ...rest } = asked[index]!.json;
    const { messages: now, ...same } = json;
    expect(JSON.stringify(same)).toBe(JSON.stringify(rest));
    expect(JSON.stringify(now.slice(0, messages.length))).toBe(JSON.stringify(messages));
  }
}

function lastResults({ json }: RecordedRequest): string[] {
  const messages: { role: string; content: string }[] = json.messages;
  const from = messages.findLastIndex(({ role }) => role === "assistant") + 1;
  return messages.slice(from).map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content)));
}
