// Finding, listing and managing chats with the built CLI: as programs call it, and on a terminal.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sessionCommands } from "../../src/cli/commands/sessions/index.ts";
import { projectId, transcriptFile } from "../../src/store/chats/layout.ts";
import { createChat } from "../../src/store/chats/open-chat.ts";
import { readChat } from "../../src/store/chats/read-chat.ts";
import { addTurn, assistant, text } from "../store/chat-support.ts";
import { writeOriginalChat } from "../store/original-chat.ts";
import { cli, createWorkspace, type Workspace } from "../support/run-cli.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const workspaces: Workspace[] = [];
afterAll(() => {
  for (const workspace of workspaces) workspace.remove();
});

function make(): Workspace {
  const workspace = createWorkspace();
  workspaces.push(workspace);
  return workspace;
}

/** A chat of one turn for each prompt; `age` in minutes. */
function addChat(
  workspace: Workspace,
  id: string,
  prompts: readonly string[],
  { age = 0, at = workspace.path, title = undefined as string | undefined } = {},
): string {
  const chat = createChat(
    { configDir: workspace.config, workspace: at },
    { id, mode: "default", model: "Test", ...(title && { title }) },
  );
  for (const prompt of prompts) addTurn(chat, prompt, assistant(text(`You said: ${prompt}.`)));
  chat.close();
  const file = join(chat.metadata.folder, "meta.json");
  const updatedAtMs = Date.now() - age * 60_000;
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), updatedAtMs }));
  return chat.metadata.folder;
}

const first = "aaaa1111-0000-4000-8000-000000000001";
const second = "aaaa2222-0000-4000-8000-000000000002";
const third = "bbbb3333-0000-4000-8000-000000000003";

describe("create-chat", () => {
  it("create-chat prints only the id, at once, in an untrusted directory, whatever stdin does", async () => {
    const workspace = make();
    const run = await workspace.run(["create-chat"], { stdin: "open", timeoutMs: 10_000 });
    expect(run).toMatchObject({ exit: 0, stderr: "" });
    const id = run.stdout.trimEnd();
    expect(run.stdout).toBe(`${id}\n`);
    expect(id).toMatch(uuid);
    const folder = join(workspace.config, "chats", projectId(workspace.path), id);
    expect(readChat(folder)).toMatchObject({ metadata: { id, title: "New Agent", mode: "default" }, turns: [] });
    expect(statSync(join(folder, "store.db")).mode & 0o777).toBe(0o600);
  });

  it("create-chat follows --workspace and --force, and creates a new chat each time", async () => {
    const workspace = make();
    const other = join(workspace.home, "other");
    mkdirSync(other);
    const ids = new Set<string>();
    for (const args of [
      ["--workspace", other],
      [`--workspace=${other}`, "--force"],
    ]) {
      const { stdout } = await workspace.run(["create-chat", ...args]);
      ids.add(stdout.trim());
    }
    const project = join(workspace.config, "chats", projectId(other));
    expect(readdirSync(project).sort()).toEqual([...ids].sort());
    const modes = [...ids].map((id) => readChat(join(project, id)).metadata.mode);
    expect(modes).toEqual(["default", "auto-run"]);
    const missing = await workspace.run(["create-chat", "--workspace", "/does/not/exist"]);
    expect(missing.exit).toBe(1);
    expect(missing.stderr).toContain("[CWD_MISSING]");
  });

  it("create-chat creates a chat that a run can resume", async () => {
    const workspace = make();
    const id = (await workspace.run(["create-chat"])).stdout.trim();
    const run = await workspace.run([
      "-p",
      "--force",
      "--output-format",
      "stream-json",
      "--resume",
      id,
      "what is 7+7?",
    ]);
    expect(run.exit, run.stderr).toBe(0);
    expect(new Set(run.lines().map((line) => line["session_id"]))).toEqual(new Set([id]));
    const again = await workspace.run(["-p", "--force", "--resume", id.slice(0, 8), "what was my last question?"]);
    expect(again.stdout).toContain("what is 7+7?");
    expect((await workspace.run(["ls", "--format", "json"])).stdout).toContain('"title": "what is 7+7?"');
  });

  it("--name sets the title of a new or resumed chat", async () => {
    const workspace = make();
    for (const [flag, title] of [
      ["-n", "Sums"],
      ["--name", "More sums"],
    ] as const) {
      const resumed = title === "Sums" ? [] : ["--continue"];
      const run = await workspace.run(["-p", "--force", flag, title, ...resumed, "what is 7+7?"]);
      expect(run.exit, run.stderr).toBe(0);
      expect((await workspace.run(["ls", "--format", "json"])).stdout).toContain(`"title": "${title}"`);
    }
  });
});

const hasBubblewrap = spawnSync("bwrap", ["--dev-bind", "/", "/", "true"]).status === 0;

describe.skipIf(!hasBubblewrap)(`a read-only disk${hasBubblewrap ? "" : " (skipped: bwrap does not run here)"}`, () => {
  it("a read-only disk is named as such, and its chats can be read", async () => {
    const workspace = make();
    addChat(workspace, first, ["what is 7+7?"]);
    const run = (...args: string[]) =>
      spawnSync(
        "bwrap",
        ["--dev-bind", "/", "/", "--ro-bind", workspace.config, workspace.config, process.execPath, cli, ...args],
        { cwd: workspace.path, env: workspace.env, encoding: "utf8", timeout: 20_000 },
      );
    const attempts = [
      ["create-chat"],
      ["-p", "--force", "hi"],
      ["-p", "--force", "--resume", first, "hi"],
      ["sessions", "fork", first],
      ["sessions", "rename", first, "Sums"],
    ];
    for (const args of attempts) {
      const { status, stdout, stderr } = run(...args);
      expect([status, stdout], args.join(" ")).toEqual([1, ""]);
      expect(stderr).toMatch(/the disk is read-only\. .* \[STORE_READONLY\]\n$/);
    }
    for (const args of [["ls"], ["sessions", "show", first], ["export", first]])
      expect(run(...args).stdout).toContain("what is 7+7?");
  });
});

describe("ls", () => {
  let workspace: Workspace;
  beforeAll(() => {
    workspace = make();
    addChat(workspace, first, ["fix the parser\nit is broken"], { age: 5 });
    addChat(workspace, second, ["what is 7+7?"], { age: 180, title: "Sums" });
    const other = join(workspace.home, "other");
    mkdirSync(other);
    addChat(workspace, third, ["tidy the cupboard"], { age: 60 * 24 * 3, at: other });
  });

  it("without a terminal, ls prints a table of this workspace's chats", async () => {
    const { exit, stdout, stderr } = await workspace.run(["ls"]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(stdout).toBe(
      [
        "ID                                    AGE    TITLE           WORKSPACE",
        `${first}  5 min  fix the parser  ${workspace.path}`,
        `${second}  3 h    Sums            ${workspace.path}`,
        "",
      ].join("\n"),
    );
    expect((await workspace.run(["sessions", "list"])).stdout).toBe(stdout);
    expect((await workspace.run(["sessions"])).stdout).toBe(stdout);
  });

  it("ls shows all workspaces with --all, and another one with --workspace", async () => {
    const all = (await workspace.run(["ls", "--all"])).stdout;
    expect(all.split("\n")[3]).toBe(`${third}  3 days  tidy the cupboard  ~/other`);
    const other = (await workspace.run(["ls", "--workspace", join(workspace.home, "other")])).stdout;
    expect(other).toContain(third);
    expect(other).not.toContain(first);
  });

  it("ls --format json prints JSON", async () => {
    const { stdout } = await workspace.run(["ls", "--format", "json"]);
    const chats = JSON.parse(stdout);
    expect(chats).toHaveLength(2);
    expect(chats[0]).toEqual({
      id: first,
      title: "fix the parser",
      workspace: workspace.path,
      createdAt: expect.any(Number),
      updatedAt: expect.any(Number),
      model: "Test",
      mode: "default",
      hasConversation: true,
    });
    expect(JSON.parse((await workspace.run(["ls", "--all", "--output-format", "json"])).stdout)).toHaveLength(3);
  });

  it("ls --search searches every chat and shows where the words are", async () => {
    const { exit, stdout, stderr } = await workspace.run(["ls", "--search", "cupb"]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(stdout.split("\n").slice(1)).toEqual([
      expect.stringMatching(`^${third}  .*  tidy the cupboard  ~/other$`),
      "    tidy the cupboard You said: tidy the cupboard.",
      "",
    ]);
    const [hit] = JSON.parse((await workspace.run(["ls", "--search", '"the parser"', "--format", "json"])).stdout);
    expect(hit).toMatchObject({ id: first, snippet: expect.stringContaining("fix the parser") });
    expect((await workspace.run(["ls", "--search", "elephant"])).stdout).toBe(
      "No chat contains these words: elephant\n",
    );
    expect((await workspace.run(["ls", '--search=AND ("', "--format", "json"])).stdout).toBe("[]\n");
  });

  it("two parallel searches can build the index", async () => {
    const crowd = make();
    for (let index = 0; index < 40; index++)
      addChat(crowd, `cccc0000-0000-4000-8000-${String(index).padStart(12, "0")}`, [`zebra number ${index}`]);
    const runs = await Promise.all(
      Array.from({ length: 3 }, () => crowd.run(["ls", "--search", "zebra", "--format", "json"])),
    );
    for (const { exit, stdout, stderr } of runs) {
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
      expect(JSON.parse(stdout)).toHaveLength(40);
    }
  });

  it("ls says what to type when there are no chats", async () => {
    const empty = make();
    const { exit, stdout } = await empty.run(["ls"]);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^No chats in .* yet\. To start one: courser "…"; .* courser ls --all\n$/);
    expect((await empty.run(["ls", "--format", "json"])).stdout).toBe("[]\n");
    expect(existsSync(empty.config)).toBe(false);
  });

  it("ls shows no control characters of a title", async () => {
    const odd = make();
    addChat(odd, first, ["\x1b[31mred\x07 \u202e and\ttabs"]);
    const { stdout } = await odd.run(["ls"]);
    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\u202e]/);
    expect(stdout).toContain("\\u001b[31mred");
  });

  it("ls lists chats of the original, by their title or their first prompt", async () => {
    const workspace = make();
    const place = { configDir: workspace.config, workspace: workspace.path };
    writeOriginalChat(place, { id: first, name: "The old one", prompts: ["what is 7+7?"] });
    writeOriginalChat(place, { id: second, prompts: ["say hello"] });
    const { stdout } = await workspace.run(["ls"]);
    expect(stdout).toMatch(/The old one/);
    expect(stdout).toMatch(/say hello/);
  });
});

describe("resume", () => {
  it("resume continues the latest chat of this workspace with the next prompt", async () => {
    const workspace = make();
    addChat(workspace, first, ["what is 1+1?"], { age: 60 });
    addChat(workspace, second, ["what is 7+7?"], { age: 5 });
    const run = await workspace.run(["resume", "-p", "--force", "what was my last question?"]);
    expect(run.exit, run.stderr).toBe(0);
    expect(run.stdout).toContain("what is 7+7?");
    const { turns } = readChat(join(workspace.config, "chats", projectId(workspace.path), second));
    expect(turns.map((turn) => turn.prompt)).toEqual(["what is 7+7?", "what was my last question?"]);
  });

  it("resume counts back with --resume -N, however that is written", async () => {
    const workspace = make();
    addChat(workspace, first, ["what is 1+1?"], { age: 60 });
    addChat(workspace, second, ["what is 7+7?"], { age: 5 });
    for (const count of [["--resume=-2"], ["--resume", "-2"]]) {
      const run = await workspace.run(["-p", "--force", "--no-persist", ...count, "what was my last question?"]);
      expect(run.exit, run.stderr).toBe(0);
      expect(run.stdout).toContain("what is 1+1?");
    }
  });

  it("--no-persist stores nothing of a resumed run", async () => {
    const workspace = make();
    addChat(workspace, first, ["what is 7+7?"]);
    const args = ["-p", "--force", "--no-persist", "--resume", first, "--fork", "what was my last question?"];
    const run = await workspace.run(args);
    expect(run.exit, run.stderr).toBe(0);
    expect(run.stdout).toContain("what is 7+7?");
    expect(readdirSync(join(workspace.config, "chats", projectId(workspace.path)))).toEqual([first]);
  });

  it("resume restores the mode and the todo list, even with --no-persist", async () => {
    const workspace = make();
    const todo = (args: object) => [{ calls: [{ name: "TodoWrite", args }] }, { text: "Noted." }];
    const script = workspace.file(
      "first.json",
      JSON.stringify(todo({ todos: [{ id: "1", content: "buy milk", status: "pending" }] })),
    );
    const more = { merge: true, todos: [{ id: "2", content: "write code", status: "pending" }] };
    const next = workspace.file("next.json", JSON.stringify(todo(more)));
    const plan = ["-p", "--trust", "--plan", "--session-id", first, "--model", `script:${script}`, "plan it"];
    expect((await workspace.run(plan)).exit).toBe(0);
    for (const flag of [["--no-persist"], ["--no-persist", "--fork"], []]) {
      const args = ["-p", "--output-format", "stream-json", "--model", `script:${next}`, "--resume", first];
      const run = await workspace.run([...args, ...flag, "go on"]);
      expect(run.exit, run.stderr).toBe(0);
      expect(run.lines()[0]).toMatchObject({ permissionMode: "plan" });
      expect(run.stdout).toContain('"totalCount":2');
    }
    for (const mode of [["--mode", "agent"], []]) {
      const run = await workspace.run([
        "-p",
        "--output-format",
        "stream-json",
        ...mode,
        "--resume",
        first,
        "what is 1+1?",
      ]);
      expect(run.lines()[0]).toMatchObject({ permissionMode: "default" });
    }
  });

  it("a new chat cannot have the id of a chat in another directory", async () => {
    const workspace = make();
    addChat(workspace, first, ["one"], { at: workspace.home });
    const run = await workspace.run(["-p", "--force", "--session-id", first, "what is 1+1?"]);
    expect(run).toMatchObject({ exit: 2, stdout: "" });
    expect(run.stderr).toContain(`A chat with the id ${first} already exists. Resume it: courser --resume`);
    expect(JSON.parse((await workspace.run(["ls", "--all", "--format", "json"])).stdout)).toHaveLength(1);
  });

  it("resume fails when there is no chat", async () => {
    const workspace = make();
    const run = await workspace.run(["resume", "-p", "--force", "hi"]);
    expect(run).toMatchObject({ exit: 1, stdout: "" });
    expect(run.stderr).toMatch(/^Error: Session not found: no chat to resume .* \[SESSION_NOT_FOUND\]\n$/);
    expect(existsSync(join(workspace.config, "chats"))).toBe(false);
  });
});

describe("sessions", () => {
  it("sessions show prints a summary of a chat", async () => {
    const workspace = make();
    const script = [
      {
        calls: [
          { name: "Shell", args: { command: "echo hi" } },
          { name: "Write", args: { path: "a.txt", contents: "x" } },
        ],
      },
      { text: Array.from({ length: 30 }, (_, line) => `line ${line}`).join("\n") },
    ];
    expect((await workspace.play(script)).exit).toBe(0);
    const [{ id }] = JSON.parse((await workspace.run(["ls", "--format", "json"])).stdout);
    const { exit, stdout } = await workspace.run(["sessions", "show", id.slice(0, 8)]);
    expect(exit).toBe(0);
    const lines = stdout.split("\n");
    expect(lines[0]).toBe("go");
    expect(lines[1]).toMatch(new RegExp(`^${id} · .* · 1 turn · now$`));
    expect(lines.slice(3, 7)).toEqual(["1. go", "   · Shell echo hi", "   · Write a.txt", "   line 0"]);
    expect(lines.slice(-4)).toEqual(["   line 10", "   …", `   All of it: courser sessions export ${id}`, ""]);
    const json = JSON.parse((await workspace.run(["sessions", "show", id, "--format", "json"])).stdout);
    expect(json).toMatchObject({
      id,
      turns: [{ number: 1, prompt: "go", status: "done", calls: ["Shell echo hi", "Write a.txt"] }],
    });
    expect(json.turns[0].answer).toContain("line 29");
  });

  it("fork prints the id of the copy", async () => {
    const workspace = make();
    addChat(workspace, first, ["one", "two", "three"]);
    const { exit, stdout, stderr } = await workspace.run(["sessions", "fork", "aaaa", "--at", "2"]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(stdout.trimEnd()).toMatch(uuid);
    const project = join(workspace.config, "chats", projectId(workspace.path));
    expect(readChat(join(project, stdout.trimEnd())).turns.map((turn) => turn.prompt)).toEqual(["one", "two"]);
    expect(readChat(join(project, first)).turns).toHaveLength(3);
    for (const at of ["0", "x", "-1", "1.5"])
      expect((await workspace.run(["sessions", "fork", "aaaa1", `--at=${at}`])).exit, at).toBe(2);
    expect((await workspace.run(["sessions", "fork", first, "--at", "9"])).stderr).toContain("its turns are 1 to 3");
  });

  it("sessions rename sets the title", async () => {
    const workspace = make();
    addChat(workspace, first, ["one"]);
    const { stdout } = await workspace.run(["sessions", "rename", "aaaa", "The", "parser bug"]);
    expect(stdout).toBe(`✓ ${first} is now called The parser bug\n`);
    expect((await workspace.run(["ls"])).stdout).toContain("The parser bug");
    const none = await workspace.run(["sessions", "rename", "aaaa"]);
    expect(none.exit).toBe(2);
    expect(none.stderr).toContain("courser sessions rename <id> <title…>");
  });

  it("sessions delete asks for confirmation, deletes all or nothing, and leaves no trace", async () => {
    const workspace = make();
    const folders = [addChat(workspace, first, ["find the walrus"]), addChat(workspace, second, ["two"])];
    await workspace.run(["ls", "--search", "walrus"]);
    const unsure = await workspace.run(["sessions", "delete", first]);
    expect(unsure.exit).toBe(2);
    expect(unsure.stderr).toContain(`courser sessions delete ${first} --yes`);
    const wrong = await workspace.run(["sessions", "delete", first, third, "--yes"]);
    expect(wrong.exit).toBe(1);
    expect(folders.map((folder) => existsSync(folder))).toEqual([true, true]);

    const { exit, stdout } = await workspace.run(["sessions", "delete", first, "aaaa2", first, "--yes"]);
    expect(exit).toBe(0);
    expect(stdout).toBe(`✓ Deleted ${first} find the walrus\n✓ Deleted ${second} two\n`);
    expect(folders.map((folder) => existsSync(folder))).toEqual([false, false]);
    expect(existsSync(transcriptFile(workspace.config, workspace.path, first))).toBe(false);
    expect((await workspace.run(["ls", "--search", "walrus"])).stdout).toContain("No chat contains");
    expect((await workspace.run(["sessions", "delete"])).stderr).toContain("needs <id...>");
  });

  it("sessions delete removes the snapshots of a chat", async () => {
    const workspace = make();
    workspace.file("a.txt", "the walrus was here\n");
    const script = [{ calls: [{ name: "Shell", args: { command: "echo gone > a.txt" } }] }, { text: "done" }];
    expect((await workspace.play(script)).exit).toBe(0);
    const objects = join(workspace.config, "courser/snapshots", projectId(workspace.path), "objects");
    const count = () =>
      readdirSync(objects, { recursive: true, encoding: "utf8" }).filter((name) => name.length > 30).length;
    expect(count()).toBeGreaterThan(0);
    const [{ id }] = JSON.parse((await workspace.run(["ls", "--format", "json"])).stdout);
    const { exit, stderr } = await workspace.run(["sessions", "delete", id, "--force"]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(count()).toBe(0);
  });

  it("export and sessions export are the same", async () => {
    const workspace = make();
    addChat(workspace, first, ["find the walrus"]);
    const long = await workspace.run(["sessions", "export", "aaaa"]);
    const short = await workspace.run(["export", "aaaa"]);
    expect(long.exit, long.stderr).toBe(0);
    expect(long.stdout).toContain("find the walrus");
    expect(short.stdout).toBe(long.stdout);
    expect((await workspace.run(["export", "aaaa", "--format", "json"])).exit).toBe(0);
    const wrong = await workspace.run(["sessions", "export", "aaaa", "--format", "text"]);
    expect(wrong.exit).toBe(2);
    expect(wrong.stderr).toContain("it must be one of markdown, json, stream-json, html");
  });

  it("sessions rejects unknown subcommands and lists the known ones", async () => {
    const workspace = make();
    const cases: [string[], RegExp][] = [
      [["sessions", "frok"], /unknown command 'sessions frok'\. Did you mean sessions fork\?/],
      [["sessions", "zzzzzz"], /The commands are list, show, export/],
      [["sessions", "show", "aaaa", "--at", "1"], /'sessions show' does not take --at/],
      [["sessions", "show", "aaaa", "--format", "html"], /it must be one of text, json/],
      [["sessions", "show"], /needs <id>\. Type: courser sessions show <id>\. To list the chats: courser ls/],
      [["sessions", "show", "a", "b"], /takes one id, not 2 words/],
      [["sessions", "list", "x"], /takes no arguments/],
      [["ls", "x"], /takes no arguments/],
    ];
    for (const [args, message] of cases) {
      const { exit, stdout, stderr } = await workspace.run(args);
      expect({ exit, stdout }, args.join(" ")).toEqual({ exit: 2, stdout: "" });
      expect(stderr).toMatch(message);
    }
  });
});

describe("help for exports", () => {
  const workspace = createWorkspace();
  afterAll(() => workspace.remove());

  it("every help page leads to the export command", async () => {
    const topic = await workspace.run(["help", "export"]);
    expect(topic.exit).toBe(0);
    expect(topic.stdout).toMatch(/^Usage: courser export \[options\] <id>\n/);
    expect(topic.stdout).toContain("--format <format>");
    expect((await workspace.run(["help", "sessions"])).stdout).toMatch(/^ {2}export <id> +Export a chat/m);
    expect((await workspace.run(["help", "--all"])).stdout).toMatch(/^ {2}export <id> +Export a chat/m);
  });

  it.each(sessionCommands.map((command) => [command.name, command] as const))(
    "help sessions %s",
    async (name, command) => {
      const { exit, stdout } = await workspace.run(["help", "sessions", name]);
      expect(exit).toBe(0);
      expect(stdout).toMatch(
        `Usage: courser sessions ${name} [options]${command.operands ? ` ${command.operands}` : ""}\n`,
      );
      expect(stdout).toContain(command.summary);
      for (const flag of command.flags ?? []) expect(stdout).toContain(`--${flag.name}`);
      expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
      expect((await workspace.run(["sessions", name, "--help"])).stdout).toBe(stdout);
    },
  );
});

describe("a chat that does not exist", () => {
  const missing = "0bae1f09-3bb0-49b8-9b9d-96a70ede533f";

  it.each([
    [missing, `Session not found: the chat ${missing} was not found in`],
    [
      "fix the bug",
      'Session not found: "fix the bug" is not a chat id. To resume the latest chat: courser --continue "fix the bug"',
    ],
    ["../../../etc/passwd", 'Session not found: "../../../etc/passwd" is not a chat id. To resume'],
    ["", "Session not found: the id is empty. Leave --resume out for a new chat; the latest one: courser --continue"],
  ])("a missing chat is reported for %s, and nothing is created", async (id, message) => {
    const workspace = make();
    const run = await workspace.run(["-p", "--force", "--output-format", "json", "--resume", id, "hi"]);
    expect(run.exit).toBe(1);
    expect(run.stderr).toContain(`Error: ${message}`);
    expect(run.lines()).toMatchObject([{ type: "result", is_error: true, error_code: "SESSION_NOT_FOUND" }]);
    expect(existsSync(join(workspace.config, "chats"))).toBe(false);
    const shown = await workspace.run(["sessions", "show", id]);
    expect(shown).toMatchObject({ exit: 1, stdout: "" });
    expect(shown.stderr).toMatch(/^Error: Session not found: .* courser ls --all \[SESSION_NOT_FOUND\]\n$/);
    expect(shown.stderr).not.toContain("--continue");
  });

  it("--resume-or-new starts a chat with that id, and resumes it the next time", async () => {
    const workspace = make();
    const refused = await workspace.run(["-p", "--force", "--resume", missing, "hi"]);
    expect(refused.stderr).toContain(`courser --resume-or-new ${missing} "…"`);
    const ask = (prompt: string, ...flags: string[]) =>
      workspace.run(["-p", "--force", "--output-format", "json", "--resume-or-new", missing, ...flags, prompt]);
    expect((await ask("what is 7+7?")).lines()).toMatchObject([{ result: "7 + 7 = 14", session_id: missing }]);
    const [again] = (await ask("what was my last question?")).lines();
    expect(again).toMatchObject({ session_id: missing, result: expect.stringContaining("what is 7+7?") });
    expect(await ask("hi", "--continue")).toMatchObject({ exit: 2 });
    const wrong = await workspace.run(["-p", "--force", "--resume-or-new", "mine", "hi"]);
    expect(wrong).toMatchObject({ exit: 2, stderr: expect.stringContaining("create-chat") });
  });

  it("errors about a missing chat use the program's name", async () => {
    const workspace = make();
    const link = join(workspace.home, "cursor-agent");
    symlinkSync(cli, link);
    expect((await workspace.run(["sessions", "show", missing], { name: link })).stderr).toContain(
      "cursor-agent ls --all",
    );
  });
});

const hasScript = existsSync("/usr/bin/script");

describe.skipIf(!hasScript)(`sessions on a terminal${hasScript ? "" : " (skipped: there is no `script` here)"}`, () => {
  let workspace: Workspace;
  beforeAll(() => {
    workspace = make();
    addChat(workspace, first, ["what is 1+1?"], { age: 60, title: "Sums" });
    addChat(workspace, second, ["tidy the cupboard"], { age: 30 });
    addChat(workspace, third, ["paint the fence"], { age: 5 });
    addChat(workspace, "eeee5555-0000-4000-8000-000000000005", []); // made ahead of time: nothing to choose
  });
  const asked = /Which chat\?/;
  const folderOf = (id: string) => join(workspace.config, "chats", projectId(workspace.path), id);

  it("ls lets arrow keys choose a chat and continues it", async () => {
    const { screen, exit } = await type("ls --trust", [
      [asked, "\x1b[B\x1b[B"],
      [/› .*Sums/, "\r"],
      [/Ask, or type/, "what was my last question?\r"],
      [/last question\?[\s\S]*1\+1[\s\S]*Done in/, "/quit\r"],
    ]);
    expect(exit, screen).toBe(0);
    expect(readChat(folderOf(first)).turns.map((turn) => turn.prompt)).toEqual([
      "what is 1+1?",
      "what was my last question?",
    ]);
  });

  it("ls narrows the list by what is typed", async () => {
    const { screen, exit } = await type("ls --trust", [
      [asked, "cupb"],
      [/1 of 3/, "\r"],
      [/Ask, or type/, "/quit\r"],
    ]);
    expect(exit, screen).toBe(0);
    expect(screen).not.toContain("no matches");
  });

  it("ls --search lets the user choose among the chats it found", async () => {
    const { screen, exit } = await type("ls --search fence", [[/Which chat\?[\s\S]*paint the fence/, "\x1b"]]);
    expect(exit, screen).toBe(0);
    expect(screen).not.toContain("cupboard");
  });

  it("ls exits on Esc, Ctrl+D and Ctrl+C, and prints a table if asked to", async () => {
    expect((await type("ls", [[asked, "\x1b"]])).exit).toBe(0);
    expect((await type("ls", [[asked, "\x04"]])).exit).toBe(0);
    expect((await type("ls", [[asked, "\x03"]])).exit).toBe(130);
    const { screen, exit } = await type("ls --format text", []);
    expect(exit).toBe(0);
    expect(screen).toContain("AGE");
  });

  it("ls asks for a number if keys cannot be read", async () => {
    const dumb = { TERM: "dumb" };
    const { screen, exit } = await type(
      "ls --trust",
      [
        [/Number, or Enter/, "9\r"],
        [/'9' is not in the list[\s\S]*Number/, "2\r"],
        [/\n> /, "/quit\r"],
      ],
      dumb,
    );
    expect(exit, screen).toBe(0);
    expect(screen).toContain("cupboard");
    expect((await type("ls", [[/Number, or Enter/, "\r"]], dumb)).exit).toBe(0);
  });

  it("resume in a terminal continues the latest chat", async () => {
    const { screen, exit } = await type("resume --trust", [[/You said: /, "/quit\r"]]);
    expect(exit, screen).toBe(0);
  });

  it("sessions delete in a terminal asks, and does nothing on no", async () => {
    const id = "dddd4444-0000-4000-8000-000000000004";
    const folder = addChat(workspace, id, ["throw this away"]);
    const no = await type("sessions delete dddd", [[/Delete this chat\?/, "n\r"]]);
    expect(no.screen).toContain("Nothing was deleted.");
    expect(existsSync(folder)).toBe(true);
    const yes = await type("sessions delete dddd", [[/throw this away[\s\S]*Delete this chat\?/, "y\r"]]);
    expect(yes.screen).toContain(`✓ Deleted ${id}`);
    expect(existsSync(folder)).toBe(false);
  });

  /** Types each answer when its question has appeared. */
  async function type(
    args: string,
    dialogue: [question: RegExp, keys: string][],
    env: Record<string, string> = {},
  ): Promise<{ screen: string; exit: number | null }> {
    const child = spawn(
      "script",
      ["-qfec", `stty cols 120 rows 24; "${process.execPath}" "${cli}" ${args}`, "/dev/null"],
      {
        cwd: workspace.path,
        env: { ...workspace.env, TERM: "xterm", SHELL: "/bin/sh", ...env },
      },
    );
    let screen = "";
    let seen = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      screen += chunk.toString();
      const next = dialogue[0];
      if (next?.[0].test(screen.slice(seen).replaceAll("\r", ""))) {
        dialogue.shift();
        seen = screen.length;
        child.stdin.write(next[1]);
      }
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), 15_000);
    const exit = await new Promise<number | null>((resolve) => child.on("close", resolve));
    clearTimeout(timer);
    return { screen: screen.replaceAll("\r", ""), exit };
  }
});
