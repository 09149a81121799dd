// Damaged chats through the built CLI: what is said when one is resumed, exported or rewound, and what is not written.
import { createHash } from "node:crypto";
import { chmodSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "../../src/store/sqlite.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

let space: Workspace;
let id: string;
let file: string;

beforeEach(async () => {
  space = createWorkspace({ "a.txt": "one\n" });
  const run = await space.play([
    { calls: [{ name: "Write", args: { path: "a.txt", content: "two\n" } }] },
    { text: "All is written." },
  ]);
  id = run.lines()[0]!["session_id"];
  const chats = join(space.config, "chats");
  const [store] = readdirSync(chats, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith("store.db"));
  file = join(chats, store!);
});
afterEach(() => space.remove());

function change(sql: string): void {
  const database = openDatabase(file);
  database.exec(sql);
  database.close();
}

/** Every file with its content and its times; access does not count. */
function everything(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
  return names.map((name) => {
    const stat = lstatSync(join(folder, name), { bigint: true });
    const content = stat.isFile()
      ? createHash("sha1")
          .update(readFileSync(join(folder, name)))
          .digest("hex")
      : "";
    return `${name} ${stat.mtimeNs} ${stat.ctimeNs} ${stat.mode} ${content}`;
  });
}

describe("damaged chats", () => {
  it("resuming, exporting or rewinding a damaged chat reports the damage, and a new turn is exported", async () => {
    change("UPDATE courser_events SET body = substr(body, 1, 20) WHERE kind = 'tool_end'");
    for (const prompt of ["second", "third"]) {
      const resumed = await space.play([{ text: `The ${prompt} answer.` }], ["--resume", id, "--", prompt]);
      expect(resumed.exit).toBe(0);
      expect(resumed.notices()).toContain("no longer readable");
    }
    for (const format of ["markdown", "json", "stream-json", "html"]) {
      const exported = await space.run(["sessions", "export", id, "--format", format]);
      expect(exported.exit).toBe(0);
      expect(exported.stderr).toContain("Warning: Some events of this chat are no longer readable");
      for (const said of ["All is written.", "The second answer.", "The third answer."])
        expect(exported.stdout).toContain(said);
    }
    const rewound = await space.run(["sessions", "rewind", id, "--to", "3"]);
    expect(rewound.stderr).toContain("no longer readable");
    expect(rewound.exit).toBe(0);
  });

  it("resuming a chat reports an event whose base text is lost, in the same words as export", async () => {
    change(
      "UPDATE courser_events SET body = '[[99999],0,5]' WHERE sequence = (SELECT max(sequence) FROM courser_events WHERE kind = 'tool_end')",
    );
    const resumed = await space.play([{ text: "The second answer." }], ["--resume", id, "--", "second"]);
    expect(resumed.notices()).toMatch(/Some events of this chat are no longer readable: \d+\./);
    expect((await space.run(["sessions", "export", id])).stderr).toContain("no longer readable");
  });

  it.each([
    ["deleted", "DELETE FROM courser_events WHERE kind = 'tool_end'"],
    [
      "in the table of another kind",
      "INSERT INTO courser_views SELECT * FROM courser_events; DELETE FROM courser_events",
    ],
  ])("resume, export and the list of chats report events that are %s", async (_, damage) => {
    change(damage);
    expect((await space.run(["sessions", "export", id])).stderr).toContain("are missing");
    const resumed = await space.play([{ text: "The second answer." }], ["--resume", id, "--", "second"]);
    expect(`${resumed.notices()}${resumed.stdout}`).toMatch(/are missing|damaged/);
    expect((await space.run(["ls", "--all"])).stdout).toContain("(damaged)");
  });

  it("ls marks a chat as damaged after resume refused it", async () => {
    change("DELETE FROM blobs WHERE rowid = 2");
    const resumed = await space.play([{ text: "no" }], ["--resume", id, "--", "again"]);
    expect(resumed.exit).toBe(1);
    expect((await space.run(["ls", "--all"])).stdout).toContain("(damaged)");
  });

  it("export recovers what it can from the pages of a chat database that SQLite refuses to open", async () => {
    change("DROP TABLE courser_events");
    const resumed = await space.play([{ text: "no" }], ["--resume", id, "--", "again"]);
    expect(resumed.exit).toBe(1);
    expect(resumed.lines().at(-1)!["result"]).toMatch(/^Error: The chat .* is damaged.*sessions export/);
    const exported = await space.run(["sessions", "export", id]);
    expect(exported.exit).toBe(0);
    expect(exported.stderr).toContain("put together from the parts");
    expect(exported.stdout).toContain("All is written.");
  });
});

it("a dry run of rewind writes nothing", async () => {
  const before = [everything(space.config), everything(space.path)];
  for (const flags of [[], ["--to", "1"], ["--files-only"], ["--conversation-only"]]) {
    const run = await space.run(["sessions", "rewind", id, "--dry-run", ...flags]);
    expect(run.exit).toBe(0);
    expect(run.stdout).toContain("would be undone");
  }
  await space.run(["sessions", "rewind", id, "--dry-run", "--undo"]);
  expect([everything(space.config), everything(space.path)]).toEqual(before);
});

it("a dry run of hooks install writes nothing", async () => {
  chmodSync(space.file("guard.sh", "#!/bin/sh\nexit 0\n"), 0o755);
  const before = [everything(space.home), everything(space.path)];
  const run = await space.run(["hooks", "install", "guard.sh", "--events", "preToolUse", "--dry-run"]);
  expect(run.stdout + run.stderr).toContain("preToolUse");
  expect([everything(space.home), everything(space.path)]).toEqual(before);
});

it("the export of a failed run ends with the same lines as the run itself", async () => {
  const failed = await space.play([{ error: { message: "no" } }], ["--resume", id, "--", "again"]);
  const shown = failed.lines().at(-1)!;
  expect(shown["result"]).toMatch(/^Error: /);
  const exported = await space.run(["sessions", "export", id, "--format", "stream-json"]);
  expect(exported.lines().at(-1)!["result"]).toBe(shown["result"]);
});
