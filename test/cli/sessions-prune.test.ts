// Chats that nobody used for a long time: what is deleted, by command and by itself, and what is said of the room they take.
import { existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { pruneDaily } from "../../src/run/prune-chats.ts";
import { chatsDir } from "../../src/store/chats/layout.ts";
import { createChat, openChat } from "../../src/store/chats/open-chat.ts";
import { addTurn, assistant, text } from "../store/chat-support.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = createWorkspace();
});
afterEach(() => workspace.remove());

const ids = {
  old: "aaaa1111-0000-4000-8000-000000000001",
  child: "aaaa2222-0000-4000-8000-000000000002",
  named: "bbbb3333-0000-4000-8000-000000000003",
  recent: "cccc4444-0000-4000-8000-000000000004",
};

function addChat(id: string, days: number, more: { title?: string; parent?: string } = {}): string {
  const chat = createChat({ configDir: workspace.config, workspace: workspace.path }, { id, mode: "default", ...more });
  addTurn(chat, `prompt of ${id.slice(0, 4)}`, assistant(text("answer")));
  chat.close();
  const file = join(chat.metadata.folder, "meta.json");
  const updatedAtMs = Date.now() - days * 86_400_000;
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), updatedAtMs }));
  return chat.metadata.folder;
}

/** One of each kind. */
function addAll(): Record<keyof typeof ids, string> {
  return {
    old: addChat(ids.old, 40),
    child: addChat(ids.child, 40, { parent: ids.old }),
    named: addChat(ids.named, 40, { title: "Keep me" }),
    recent: addChat(ids.recent, 20),
  };
}

const left = (folders: Record<string, string>) => Object.keys(folders).filter((name) => existsSync(folders[name]!));

describe("sessions prune", () => {
  it("sessions prune shows what it would delete, and deletes it with the chats of subagents", async () => {
    const folders = addAll();
    const prune = (...args: string[]) => workspace.run(["sessions", "prune", ...args]);
    const shown = await prune("--older-than", "30d", "--keep-named", "--dry-run");
    expect(shown).toMatchObject({ exit: 0, stderr: "" });
    expect(shown.stdout).toMatch(
      /^ID +AGE +SIZE +TITLE[\s\S]*aaaa1111.*kB +prompt of aaaa[\s\S]*Would delete 1 chat, \d+ kB\.\n$/,
    );
    expect(left(folders)).toHaveLength(4);

    expect((await prune("--older-than", "30d", "--keep-named", "--yes")).stdout).toMatch(
      /^✓ Deleted 1 chat, \d+ kB\n$/,
    );
    expect(left(folders)).toEqual(["named", "recent"]);
    expect((await prune("--older-than", "2w", "--yes")).stdout).toContain("Deleted 2 chats");
    expect(left(folders)).toEqual([]);
    expect((await prune("--older-than", "12h", "--yes")).stdout).toBe("No chat is that old.\n");
  });

  it("sessions prune needs an age and a confirmation", async () => {
    const folders = addAll();
    for (const [args, said] of [
      [[], "needs --older-than"],
      [["--older-than", "soon"], "takes an age such as 30d, 12h or 8w, not 'soon'"],
      [["--older-than", "0d"], "takes an age"],
      [["--older-than", "30d"], "courser sessions prune --older-than 30d --yes"],
    ] as const) {
      const { exit, stderr } = await workspace.run(["sessions", "prune", ...args]);
      expect(exit).toBe(2);
      expect(stderr).toContain(said);
    }
    expect(left(folders)).toHaveLength(4);
  });

  it("sessions prune skips a chat that is in use", async () => {
    const folders = addAll();
    const chat = openChat(folders.old);
    const { stdout, stderr } = await workspace.run(["sessions", "prune", "--older-than", "30d", "--yes"]);
    chat.close();
    expect(stdout).toMatch(/^✓ Deleted 1 of 2 chats/);
    expect(stderr).toContain("Warning: ");
    expect(left(folders)).toContain("old");
  }, 20_000);

  it("sessions prune runs by itself once a day if a setting says so", async () => {
    const folders = addAll();
    const run = () => workspace.run(["-p", "--force", "what is 7+7?"]);
    await run();
    expect(left(folders)).toHaveLength(4);
    writeFileSync(join(workspace.config, "courser.json"), '{ "pruneAfterDays": 30 }');
    await run();
    expect(left(folders)).toEqual(["named", "recent"]);
    addChat(ids.old, 40);
    await run();
    expect(left(folders)).toEqual(["old", "named", "recent"]);
  });
});

describe("disk use of chats", () => {
  it("ls --size and doctor show how much room chats take", async () => {
    addAll();
    expect((await workspace.run(["ls", "--size"])).stdout).toMatch(/^ID +AGE +SIZE +TITLE.*\n(.* \d+ kB .*\n){3}$/);
    const listed = JSON.parse((await workspace.run(["ls", "--size", "--format", "json"])).stdout);
    for (const { bytes } of listed) expect(bytes).toBeGreaterThan(5000);
    expect((await workspace.run(["doctor"])).stdout).toMatch(/chats take \d+ kB, snapshots 0 B/);
  });

  it("the terminal mentions once that chats take more than a gigabyte", async () => {
    const folders = addAll();
    const told: string[] = [];
    const daily = () => pruneDaily(workspace.config, { days: undefined, notice: (message) => told.push(message) });
    const note = join(workspace.config, "courser", "chats-measured");
    await daily();
    expect(told).toEqual([]);
    truncateSync(join(folders.old, "store.db"), 1_200_000_000);
    await daily();
    expect(told).toEqual([]);
    for (let days = 3; days > 0; days--) {
      const past = new Date(Date.now() - days * 86_400_000 - 1000);
      utimesSync(note, past, past);
      await daily();
    }
    expect(told).toEqual([expect.stringMatching(/^The chats take 1\.2 GB\. .*sessions prune --older-than 30d/)]);
    expect(left(folders)).toHaveLength(4);
    expect(existsSync(chatsDir(workspace.config))).toBe(true);
  });
});

it("a run without saved outputs leaves no empty output folder", async () => {
  const temporary = join(workspace.home, "temporary");
  mkdirSync(temporary);
  const script = [{ calls: [{ name: "Shell", args: { command: "echo hi" } }] }, { text: "done" }];
  workspace.file("script.json", JSON.stringify(script));
  const args = ["-p", "--force", "--model", "script:script.json", "go"];
  expect((await workspace.run(args, { env: { TMPDIR: temporary } })).exit).toBe(0);
  const folders = readdirSync(temporary).flatMap((name) =>
    name.startsWith("courser-") ? readdirSync(join(temporary, name)).filter((each) => !each.startsWith(".")) : [],
  );
  expect(folders).toEqual([]);
});
