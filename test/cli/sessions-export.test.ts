// `sessions export` and `sessions import`, run as a user would: what comes out, what is said, what a resume knows.
import { execFile, execFileSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openChat } from "../../src/store/chats/open-chat.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import { createWorkspace, repository, type Workspace } from "../support/run-cli.ts";

const recordings = join(repository, "test/recordings/sessions");
const recorded = {
  claude: join(recordings, "claude/c60a81f7-6814-4292-bfb1-b2ab1c2a684a.jsonl"),
  claudeCompacted: join(recordings, "claude/6f61cca6-927c-4767-8f3f-233764704efb.jsonl"),
  codex: join(recordings, "codex/rollout-2026-11-16T03-45-56-01a1e276-27c1-7f52-ab39-1d98df314be4.jsonl"),
  gemini: join(recordings, "gemini/chats/session-2026-11-16T03-46-9f9bcdb1.jsonl"),
};

const workspaces: Workspace[] = [];
function scratch(files: Record<string, string> = {}): Workspace {
  const workspace = createWorkspace(files);
  workspaces.push(workspace);
  return workspace;
}
afterAll(() => {
  for (const workspace of workspaces) workspace.remove();
});

describe("export", () => {
  const id = "11111111-2222-4333-8444-555555555555";
  let workspace: Workspace;
  let live: string;
  beforeAll(async () => {
    workspace = scratch({ "a.txt": "Helo\n" });
    const script = [
      {
        thinking: "A typo.",
        text: "I look.",
        calls: [
          { name: "Read", args: { path: "a.txt" } },
          { name: "Shell", args: { command: "exit 3" } },
        ],
        usage: { inputTokens: 10, outputTokens: 5 },
      },
      { calls: [{ name: "Edit", args: { path: "a.txt", edits: [{ oldText: "Helo", newText: "Hello" }] } }] },
      { text: "Fixed, with `care`." },
    ];
    const first = await workspace.play(script, ["--trust", "--session-id", id, "--", "fix <b>it</b>"]);
    const second = await workspace.run([
      "-p",
      "--resume",
      id,
      "--output-format",
      "stream-json",
      "what was my last question?",
    ]);
    expect([first.exit, second.exit]).toEqual([0, 0]);
    live = first.stdout + second.stdout;
  });

  it("export as stream-json gives the lines that were shown", async () => {
    const { stdout } = await workspace.run(["sessions", "export", id, "--format", "stream-json"]);
    // When a thought came is not kept, only when it was over.
    const untimed = (text: string) => text.replace(/("subtype":"delta".*"timestamp_ms":)\d+/g, "$10");
    expect(untimed(stdout)).toBe(untimed(live));
  });

  it("export writes Markdown by default, unified messages as json, and a page as html", async () => {
    const markdown = await workspace.run(["export", id.slice(0, 6)]);
    expect(markdown.stdout).toContain("> fix &lt;b>it&lt;/b>\n");
    expect(markdown.stdout).toContain("<summary>Thinking</summary>\n\n> A typo.\n");
    expect(markdown.stdout).toContain("-Helo\n+Hello\n");
    expect(markdown.stdout).toMatch(/<summary>Bash <code>exit 3<\/code> — failed/);
    const json = JSON.parse((await workspace.run(["sessions", "export", id, "--format", "json"])).stdout);
    expect(json.messages.map((message: { role: string }) => message.role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
    expect(json.messages[1].content[2]).toMatchObject({ type: "tool_use", name: "Read", input: { path: "a.txt" } });
    expect(json.messages[5].usage).toMatchObject({ inputTokens: 10, outputTokens: 5 });
    const html = (await workspace.run(["sessions", "export", id, "--format", "html"])).stdout;
    expect(html).toContain("fix &lt;b>it&lt;/b>");
    expect(html).toContain("<ins>Hello</ins>");
  });

  it("export replaces a file in one step, readable only by its owner", async () => {
    const file = join(workspace.path, "chat.html");
    const run = await workspace.run(["sessions", "export", id, "--format", "html", "--output", file]);
    expect([run.exit, run.stdout, run.stderr]).toEqual([0, "", ""]);
    expect(readFileSync(file, "utf8")).toMatch(/^<!doctype html>/);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const folder = await workspace.run(["sessions", "export", id, "-o", workspace.path]);
    expect([folder.exit, folder.stderr]).toEqual([
      2,
      expect.stringContaining("is a directory. Give the name of a file"),
    ]);
    const missing = await workspace.run(["sessions", "export", id, "-o", "no/such/folder.md"]);
    expect([missing.exit, missing.stderr]).toEqual([1, expect.stringMatching(/mkdir -p .*no\/such \[STORE_IO\]/)]);
    expect(readdirSync(workspace.path).sort()).toEqual(["a.txt", "chat.html"]);
  });

  it("export writes into a pipe and through a link without replacing them", async () => {
    const folder = join(workspace.home, "exports");
    mkdirSync(folder);
    const [pipe, file, link] = ["pipe", "file", "link"].map((name) => join(folder, name)) as [string, string, string];
    execFileSync("mkfifo", [pipe]);
    const reader = promisify(execFile)("cat", [pipe], { timeout: 20_000 });
    expect((await workspace.run(["export", id, "-o", pipe])).exit).toBe(0);
    expect((await reader).stdout).toContain("> fix &lt;b>it");
    expect(statSync(pipe).isFIFO()).toBe(true);
    writeFileSync(file, "old");
    symlinkSync("file", link);
    expect((await workspace.run(["export", id, "-o", link])).exit).toBe(0);
    expect(readlinkSync(link)).toBe("file");
    expect(readFileSync(file, "utf8")).toContain("> fix &lt;b>it");
    expect(readdirSync(folder).sort()).toEqual(["file", "link", "pipe"]);
  });

  it("the export of a forked chat has the fork's id on every line of stream-json", async () => {
    const copy = (await workspace.run(["sessions", "fork", id])).stdout.trim();
    const { lines } = await workspace.run(["export", copy, "--format", "stream-json"]);
    expect(new Set(lines().map((line) => line["session_id"]))).toEqual(new Set([copy]));
    await workspace.run(["sessions", "delete", copy, "--yes"]);
  });

  it("export says what is wrong with the command line", async () => {
    const unknown = await workspace.run(["sessions", "export", "99999999"]);
    expect([unknown.exit, unknown.stdout]).toEqual([1, ""]);
    expect(unknown.stderr).toMatch(/^Error: Session not found.*\[SESSION_NOT_FOUND\]$/m);
    expect((await workspace.run(["sessions", "export"])).stderr).toMatch(/needs <id>.*To list the chats: courser ls/);
    const format = await workspace.run(["sessions", "export", id, "--format", "htm"]);
    expect([format.exit, format.stderr]).toEqual([2, expect.stringContaining("Did you mean html?")]);
  });

  it("export writes as much as possible of a damaged chat and reports the rest", async () => {
    const damaged = scratch();
    await damaged.play([{ text: "one" }], ["--trust", "--session-id", id, "--", "first"]);
    await damaged.play([{ text: "two" }], ["--resume", id, "--", "second"]);
    const [project] = readdirSync(join(damaged.config, "chats"));
    const store = openDatabase(join(damaged.config, "chats", project!, id, "store.db"));
    const { id: blob } = store.prepare(`SELECT id FROM blobs WHERE CAST(data AS TEXT) LIKE '%"text":"one"%'`).get()!;
    store.prepare("DELETE FROM blobs WHERE id = ?").run(blob!);
    store.close();

    const markdown = await damaged.run(["sessions", "export", id]);
    expect(markdown.exit).toBe(0);
    expect(markdown.stderr).toBe(`Warning: 1 blob with a part of the conversation is missing: ${blob}.\n`);
    expect(markdown.stdout).toContain("> **This chat is damaged; what could be read follows.**");
    expect(markdown.stdout).toContain("two");
    const json = JSON.parse((await damaged.run(["sessions", "export", id, "--format", "json"])).stdout);
    expect(json.problems).toMatchObject([{ code: "STORE_MISSING_BLOB", blobs: [blob] }]);
    expect(json.messages).toHaveLength(3);
    const html = await damaged.run(["sessions", "export", id, "--format", "html"]);
    expect(html.stdout).toContain('<div class="problems">');
  });
});

describe("import", () => {
  const vendor = { ANTHROPIC_API_KEY: "test" };

  it.each(Object.entries(recorded))(
    "%s: on resume the model gets the whole import, and export writes it",
    async (name, file) => {
      const workspace = scratch();
      // "/compact" is a turn as well, which nothing answered.
      const unanswered = name === "claudeCompacted" ? [true] : [];
      const imported = await workspace.run(["sessions", "import", file, "--format", "json"]);
      expect([imported.exit, imported.stderr]).toEqual([0, ""]);
      const [report] = JSON.parse(imported.stdout).sessions;
      expect(report).toMatchObject({
        status: "imported",
        turns: 2 + unanswered.length,
        title: "Fix the greeting in hello.txt",
        workspace: workspace.path,
      });
      expect(report.losses.map((loss: { kind: string }) => loss.kind)).toContain("context");

      const server = await modelServer([{ text: "I remember." }]);
      try {
        const args = ["-p", "--trust", "--resume", report.id, "--model", "sonnet-4.5", "and now?"];
        const resumed = await workspace.run(args, { env: { ...vendor, ANTHROPIC_BASE_URL: `${server.url}/v1` } });
        expect([resumed.stderr, resumed.stdout]).toEqual(["", "I remember.\n"]);
        const told = JSON.stringify(server.requests.at(-1)!.json.messages);
        expect(told).toContain("What did I ask?");
        expect(told).toContain(name === "claudeCompacted" ? "A summary of the conversation" : "Fix the greeting");
        expect(told).toContain("and now?");
        if (name !== "claudeCompacted") expect(told).toContain('"type":"tool_result"');
      } finally {
        await server.stop();
      }

      const lines = (await workspace.run(["sessions", "export", report.id, "--format", "stream-json"])).lines();
      expect(lines.filter((line) => line.type === "result").map((line) => line.is_error)).toEqual([
        false,
        ...unanswered,
        false,
        false,
      ]);
      const json = JSON.parse((await workspace.run(["sessions", "export", report.id, "--format", "json"])).stdout);
      expect(json.messages[0].timestamp).toBeGreaterThan(Date.parse("2026-11-16T03:45:00Z"));
      expect(json.messages[0].timestamp).toBeLessThan(Date.parse("2026-11-16T03:48:00Z"));
      const markdown = (await workspace.run(["sessions", "export", report.id])).stdout;
      expect(markdown).toContain(`## ${3 + unanswered.length}. and now?`);
    },
  );

  it("sessions import says what was imported and what was not", async () => {
    const workspace = scratch();
    const { stdout } = await workspace.run(["sessions", "import", recorded.codex]);
    expect(stdout).toMatch(
      new RegExp(
        [
          "^Imported codex session 01a1e276-27c1-7f52-ab39-1d98df314be4: Fix the greeting in hello.txt",
          "  chat {7}([0-9a-f-]{36})",
          "  workspace {2}/.*",
          "  carried {4}12 messages in 2 turns",
          "  lost {7}2 notes that the CLI itself gave its model .*",
          " {13}1 thought is kept for reading, but not sent back to a model: .*",
          " {13}Its workspace /home/user/project is not on this machine; the chat belongs to .*",
          "  resume {5}\\S+ --resume \\1\n$",
        ].join("\n"),
      ),
    );
  });

  it("importing a session twice adds only what is new, and skips a chat that went on here", async () => {
    const workspace = scratch();
    const file = join(workspace.path, basename(recorded.claude));
    copyFileSync(recorded.claude, file);
    const read = async () =>
      JSON.parse((await workspace.run(["sessions", "import", file, "--format", "json"])).stdout).sessions[0];
    const { id } = await read();
    expect(await read()).toMatchObject({ id, status: "already imported" });
    expect((await workspace.run(["sessions", "import", file])).stdout).toMatch(/^Already imported, claude session /);

    const parentUuid = JSON.parse(
      readFileSync(file, "utf8")
        .split("\n")
        .findLast((line) => line.includes('"type":"assistant"'))!,
    ).uuid;
    const base = { sessionId: "x", isSidechain: false, timestamp: "2026-11-17T00:00:00Z" };
    const more = {
      ...base,
      parentUuid,
      uuid: "more",
      type: "user",
      message: { role: "user", content: "One more thing" },
    };
    const said = {
      ...base,
      parentUuid: "more",
      uuid: "said",
      type: "assistant",
      message: { id: "m9", content: [{ type: "text", text: "Yes?" }] },
    };
    appendFileSync(file, `${JSON.stringify(more)}\n`);
    expect(await read()).toMatchObject({ id, status: "updated", turns: 3 });
    appendFileSync(file, `${JSON.stringify(said)}\n`);
    expect(await read()).toMatchObject({ id, status: "updated", turns: 3 });
    const exported = await workspace.run(["sessions", "export", id, "--format", "json"]);
    const texts = JSON.parse(exported.stdout).messages.map(
      (message: { content: { text?: string }[] }) => message.content[0]!.text,
    );
    expect(texts.slice(-3)).toEqual(["You asked me to fix the greeting.", "One more thing", "Yes?"]);

    await workspace.play([{ text: "Here it goes on." }], ["--trust", "--resume", id, "--", "go on"]);
    expect(await read()).toMatchObject({ id, status: "already imported" });
    appendFileSync(
      file,
      `${JSON.stringify({ ...more, parentUuid: "said", uuid: "again", message: { content: "There too" } })}\n`,
    );
    expect((await read()).note).toMatch(/^The chat continued here, and the session continued there: 1 of its turns/);
    expect(JSON.parse((await workspace.run(["ls", "--all", "--format", "json"])).stdout)).toHaveLength(1);
  });

  it("sessions import keeps the workspace if it exists on this machine", async () => {
    const workspace = scratch();
    const project = join(workspace.home, "project");
    mkdirSync(project);
    const folder = join(workspace.home, ".claude/projects/-project");
    mkdirSync(folder, { recursive: true });
    const text = readFileSync(recorded.claude, "utf8").replaceAll("/home/user/project", project);
    const id = basename(recorded.claude, ".jsonl");
    writeFileSync(join(folder, `${id}.jsonl`), text);
    // By the id that its own CLI knows it by.
    const { stdout } = await workspace.run(["sessions", "import", id.slice(0, 8), "--format", "json"]);
    expect(JSON.parse(stdout).sessions[0]).toMatchObject({ status: "imported", workspace: project });
    const here = JSON.parse((await workspace.run(["ls", "--format", "json"], { cwd: project })).stdout);
    expect(here).toMatchObject([{ title: "Fix the greeting in hello.txt", workspace: project }]);
  });

  it("sessions import does not replace a session by the file of its subagent", async () => {
    const workspace = scratch();
    const session = basename(recorded.claudeCompacted, ".jsonl");
    const agent = join(recordings, "claude", session, "subagents/agent-acbccd79764a23185.jsonl");
    const read = async (file: string) =>
      JSON.parse((await workspace.run(["sessions", "import", file, "--format", "json"])).stdout).sessions[0];
    expect(await read(agent)).toMatchObject({ status: "imported", sourceId: "agent-acbccd79764a23185" });
    expect(await read(recorded.claudeCompacted)).toMatchObject({ status: "imported", sourceId: session });
  });

  it("sessions import keeps the session's todo list", async () => {
    const workspace = scratch();
    const { stdout } = await workspace.run(["sessions", "import", recorded.gemini, "--format", "json"]);
    const [project] = readdirSync(join(workspace.config, "chats"));
    const chat = openChat(join(workspace.config, "chats", project!, JSON.parse(stdout).sessions[0].id));
    expect(chat.state("todos")).toMatchObject([{ id: "1", content: "Fix typo", status: "completed" }]);
    chat.close();
  });

  it("sessions import --all only lists; with --yes it imports", async () => {
    const workspace = scratch();
    const empty = await workspace.run(["sessions", "import", "--all"]);
    expect(empty.stdout).toBe("No sessions of other agents were found on this machine.\n");
    expect((await workspace.run(["sessions", "import", "--all", "--yes"])).stdout).toBe(empty.stdout);
    const places = [
      [recorded.claude, ".claude/projects/-home-user-project"],
      [recorded.codex, ".codex/sessions/2026/11/16"],
      [recorded.gemini, ".gemini/tmp/project/chats"],
    ] as const;
    for (const [file, place] of places) {
      mkdirSync(join(workspace.home, place), { recursive: true });
      copyFileSync(file, join(workspace.home, place, basename(file)));
    }
    writeFileSync(join(workspace.home, ".claude/projects/-home-user-project/broken.jsonl"), "not a session");
    const listed = await workspace.run(["sessions", "import", "--all"]);
    expect(listed.stdout.match(/Fix the greeting in hello.txt$/gm)).toHaveLength(3);
    expect(listed.stderr).toContain("4 sessions. Nothing was imported.");
    expect(JSON.parse((await workspace.run(["ls", "--all", "--format", "json"])).stdout)).toEqual([]);
    const codex = JSON.parse(
      (await workspace.run(["sessions", "import", "--all", "--from", "codex", "--format", "json"])).stdout,
    );
    expect(codex.sessions).toMatchObject([{ tool: "codex", messages: 12, imported: null }]);

    const all = await workspace.run(["sessions", "import", "--all", "--yes", "--format", "json"]);
    const statuses = JSON.parse(all.stdout).sessions.map((report: { status: string }) => report.status);
    expect(statuses.sort()).toEqual(["empty", "imported", "imported", "imported"]);
    expect(all.exit).toBe(0);
    expect((await workspace.run(["sessions", "import", "--all"])).stdout.match(/\(imported\)$/gm)).toHaveLength(3);
  });

  it("sessions import rejects what is not a session, with the reason", async () => {
    const workspace = scratch({ "notes.txt": "hello\n" });
    const cases: [args: string[], exit: number, message: RegExp][] = [
      [[], 2, /'sessions import' needs a session/],
      [["notes.txt"], 1, /its first lines do not look like a session of claude, codex, gemini, opencode, pi/],
      [["absent.jsonl"], 1, /Session not found: absent.jsonl is neither a file nor a directory/],
      [[workspace.path], 1, /Session not found: no session of claude, codex, gemini, opencode, pi in/],
      [["x", "--from", "cursor"], 2, /option '--from' cannot be 'cursor'/],
    ];
    for (const [args, exit, message] of cases) {
      const run = await workspace.run(["sessions", "import", ...args]);
      expect([run.exit, run.stdout]).toEqual([exit, ""]);
      expect(run.stderr).toMatch(message);
    }
  });
});
