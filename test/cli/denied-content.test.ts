// What may not be read comes out by no detour: not by an error, a diff, an instruction or a mention.
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

const mark = "quaggabrindle";
let space: Workspace;
afterEach(() => space.remove());

function open(rules: { allow?: string[]; deny: string[] }): void {
  space = createWorkspace({
    "private/notes.txt": `the password is ${mark}\r\n`,
    "src/app.ts": "export const app = 1;\n",
  });
  mkdirSync(space.config, { recursive: true });
  const permissions = { allow: [], ...rules };
  writeFileSync(join(space.config, "cli-config.json"), JSON.stringify({ version: 1, permissions }));
}

const deny = ["Read(private/**)"];
const call = (name: string, args: object) => [{ calls: [{ name, args }] }, { text: "done" }];

/** In what was printed, and in what was kept of the conversation, which is what a model was told. */
function places(run: { stdout: string; stderr: string }): string[] {
  const found = [];
  if (run.stdout.includes(mark)) found.push("stdout");
  if (run.stderr.includes(mark)) found.push("stderr");
  const chats = join(space.config, "chats");
  for (const file of existsSync(chats) ? readdirSync(chats, { recursive: true, encoding: "utf8" }) : []) {
    if (/\.(db|db-wal|json|jsonl)$/.test(file) && readFileSync(join(chats, file)).includes(mark)) found.push(file);
  }
  return found;
}

describe("a file that a Read rule denies", () => {
  it.each([
    [
      "Edit that finds nothing",
      "Edit",
      { path: "private/notes.txt", oldText: "the password is unknown", newText: "x" },
    ],
    ["Edit that would fit", "Edit", { path: "private/notes.txt", oldText: "the password is ", newText: "x" }],
    [
      "several edits",
      "MultiEdit",
      { path: "private/notes.txt", edits: [{ oldText: "the password is it", newText: "x" }] },
    ],
    ["Edit by another name", "Edit", { path: "link/notes.txt", oldText: "the password is unknown", newText: "x" }],
    ["Delete", "Delete", { path: "private/notes.txt" }],
  ])("for a file that a Read deny rule covers, %s is refused without revealing content", async (_, name, args) => {
    for (const allow of [[], ["Write(**)"]]) {
      open({ allow, deny });
      symlinkSync("private", join(space.path, "link"));
      const before = readFileSync(join(space.path, "private/notes.txt"), "utf8");
      const run = await space.play(call(name, args));
      const result = run.lines().at(-1)!;
      expect(result["permission_denials"]).toHaveLength(1);
      expect(places(run)).toEqual([]);
      expect(readFileSync(join(space.path, "private/notes.txt"), "utf8")).toBe(before);
      space.remove();
    }
  });

  it("the Write tool may replace a file that Read deny rules cover, without revealing its content", async () => {
    open({ allow: ["Write(**)"], deny });
    const run = await space.play(call("Write", { path: "private/notes.txt", content: "new\n" }));
    const end = run.lines().find((line) => line["subtype"] === "completed")!;
    const { success } = end["tool_call"]["editToolCall"]["result"];
    expect(success).toMatchObject({ linesAdded: 1, linesRemoved: 0, afterFullFileContent: "new\n" });
    expect(success).not.toHaveProperty("beforeFullFileContent");
    expect(readFileSync(join(space.path, "private/notes.txt"), "utf8")).toBe("new\n");
    expect(places(run)).toEqual([]);
  });

  it("a link to a denied file is not read as instructions, rule, command or skill", async () => {
    open({ deny });
    for (const [name, target] of [
      ["AGENTS.md", "private/notes.txt"],
      ["src/AGENTS.md", "../private/notes.txt"],
      [".cursor/rules/own.mdc", "../../private/notes.txt"],
      [".cursor/commands/tell.md", "../../private/notes.txt"],
      [".cursor/skills/tell/SKILL.md", "../../../private/skill.md"],
    ] as const) {
      mkdirSync(join(space.path, name, ".."), { recursive: true });
      symlinkSync(target, join(space.path, name));
    }
    space.file("private/skill.md", `---\nname: tell\ndescription: ${mark}\n---\n${mark}\n`);
    const asked: string[] = [];
    for (const prompt of ["/tell me", "read @private/notes.txt and @src/AGENTS.md"]) {
      const run = await space.play(call("Read", { path: "src/app.ts" }), ["--", prompt]);
      asked.push(...places(run));
      expect(run.exit).toBe(0);
    }
    expect(asked).toEqual([]);
  });
});
