// Questions as menus: one row is marked, arrows and Enter choose, letters too, Esc is the safe no.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sandboxMissing } from "../agent/sandbox-fixture.ts";
import { marked, pause, read, ready, send, shell, starter } from "./started.ts";

const start = starter();
const down = "\x1b[B";
const up = "\x1b[A";
const asks = { args: ["--trust", "--sandbox", "disabled"] };

describe("menus", () => {
  it("at the terminal's trust prompt Enter trusts this time, and arrows reach the no", async () => {
    const { pty, again } = await start([], { args: [] });
    await pty.waitFor("Do you trust");
    expect(await marked(pty)).toMatch(/^› y {2}yes, this time/);
    await read();
    pty.type("\r");
    await ready(pty);
    pty.type("\x04\x04");
    await pty.ended;
    const second = again([]);
    await second.waitFor("Do you trust"); // nothing was saved
    await read();
    second.type(up);
    await second.waitFor(/› n {2}no, quit/);
    second.type("\r");
    expect(await second.ended).toBe(1);
  });

  it("at a permission prompt Enter allows once, arrows choose the session, Esc refuses", async () => {
    const { pty, workspace } = await start(
      [
        shell("touch a"),
        shell("touch b"),
        shell("touch b c"),
        shell("touch b c d"),
        shell("touch e"),
        { text: "Over." },
      ],
      asks,
    );
    await ready(pty);
    send(pty, "go");
    await pty.waitFor("wants permission");
    expect(await marked(pty)).toBe("› y  once");
    await read();
    pty.type("\r");
    await pty.waitFor(/touch b +wants/);
    expect(existsSync(join(workspace.path, "a"))).toBe(true);
    await read();
    pty.type(down);
    await pty.waitFor(/› s {2}this session/);
    pty.type("\r"); // Shell(touch b) covers the next two as well
    await pty.waitFor(/touch e +wants/);
    expect(existsSync(join(workspace.path, "d"))).toBe(true);
    await read();
    pty.type("\x1b");
    await pty.waitFor("Over.");
    expect(existsSync(join(workspace.path, "e"))).toBe(false);
  });

  it('"no" is highlighted if not even --force would allow it', async () => {
    const { pty } = await start([shell("echo x >> .git/config"), { text: "Over." }], { args: ["--trust", "--force"] });
    await ready(pty);
    send(pty, "go");
    await pty.waitFor("wants permission");
    expect(await marked(pty)).toMatch(/^› n {2}no, and say why/);
    await read();
    pty.type("\r");
    await pty.waitFor("No:");
    pty.type("\r");
    await pty.waitFor("Over.");
  });

  it("Enter never answers a permission prompt that just appeared, nor while the user types", async () => {
    const { pty, workspace } = await start(
      [
        { steps: [{ delayMs: 500 }, { call: { name: "Shell", args: { command: "touch made" } } }] },
        { expect: ["and then"], text: "Over." },
      ],
      asks,
    );
    await ready(pty);
    send(pty, "go");
    await pty.waitFor("Working");
    pty.type("and then");
    await pty.waitFor("wants permission");
    await pty.waitFor("enter sends this first");
    await read();
    pty.type("\r");
    await pty.waitFor("queued: 1");
    pty.type("\r\r\r"); // in one burst with it
    await pause(100);
    expect(existsSync(join(workspace.path, "made"))).toBe(false);
    await read();
    pty.type("\r");
    await pty.waitFor("Over.");
    expect(existsSync(join(workspace.path, "made"))).toBe(true);
  });

  it("letters typed at a permission prompt go to the editor unless they answer it, and Ctrl+O still works", async () => {
    const { pty, workspace } = await start([shell("touch made"), { expect: ["try another"], text: "Over." }], asks);
    await ready(pty);
    send(pty, "go");
    await pty.waitFor("wants permission");
    await read();
    pty.type("\x0f"); // the whole conversation, before one decides
    await pty.waitFor("The whole conversation");
    pty.type("q");
    await pty.waitFor("wants permission");
    await read();
    pty.type("try another"); // its y is no yes
    await pty.waitFor(/› try another +enter sends this first/);
    pty.type("\r");
    await pty.waitFor("queued: 1");
    expect(existsSync(join(workspace.path, "made"))).toBe(false);
    await read();
    pty.type("y");
    await pty.waitFor("Over.");
    expect(existsSync(join(workspace.path, "made"))).toBe(true);
  });

  it("in a window of 60 by 20, a plan shows where it goes and how it begins, and leaves half of the screen", async () => {
    const plan = `# Uploads\n\n${Array.from({ length: 30 }, (_, index) => `- step ${index}`).join("\n")}`;
    const args = { name: "Uploads that survive", overview: "Rename.", plan, todos: [] };
    const { pty } = await start([{ calls: [{ name: "CreatePlan", args }] }, { text: "Over." }], {
      args: ["--trust", "--plan"],
      columns: 60,
      rows: 20,
    });
    await ready(pty);
    send(pty, "go");
    await pty.waitFor(
      /Plan: Uploads that survive\n +to be saved as\n +~\/\.cursor\/plans\/\S+\.plan\.md\n +│ Uploads\n/,
    );
    await pty.waitFor(/… \d+ more lines · d shows all\n {2}y {2}yes, do it › n {2}keep planning/);
    const lines = await pty.screen();
    expect(lines.findIndex((line) => line.includes("Plan:"))).toBeGreaterThanOrEqual(
      lines.findLastIndex((line) => line !== "") - 10,
    );
  });

  it('the first row of a choice is highlighted, and "keep planning" at a plan', async () => {
    const options = ["red", "green"].map((label) => ({ id: label, label }));
    const questions = [
      { id: "1", prompt: "Which colour?", options },
      { id: "2", prompt: "Which size?", options: [{ id: "s", label: "small" }] },
    ];
    const { pty } = await start(
      [
        { calls: [{ name: "AskQuestion", args: { title: "Colours", questions } }] },
        {
          expect: ["green"],
          calls: [
            {
              name: "CreatePlan",
              args: { name: "Paint", overview: "Paint it.", plan: "# Paint\n\nAll green.", todos: [] },
            },
          ],
        },
        { text: "Planned on." },
      ],
      { args: ["--trust", "--plan"] },
    );
    await ready(pty);
    send(pty, "go");
    await pty.waitFor("Which colour?");
    expect(await marked(pty)).toBe("› 1  red");
    await pty.waitFor(/^ {2}Colours · 1 of 2$/m);
    await pty.waitFor(/↑↓ enter · esc skips$/m);
    await read();
    pty.type(up);
    await pty.waitFor(/› o {2}your own answer/);
    pty.type("\r");
    await pty.waitFor("your answer");
    await pty.waitFor("esc cancels");
    expect((await pty.screen()).join("\n")).not.toContain("esc interrupts");
    pty.type("\x1b"); // back to the options
    await pty.waitFor("› 1  red");
    await read();
    pty.type(`${down}\r`);
    await pty.waitFor(/· 2 of 2\n +│ Which size\?/);
    await read();
    pty.type("\r");
    await pty.waitFor("Plan: Paint");
    expect(await marked(pty)).toMatch(/^› n {2}keep planning/);
    await read();
    pty.type("\r");
    await pty.waitFor("Keep planning:");
    pty.type("\r");
    await pty.waitFor("Planned on.");
  });

  it("the permission prompt does not repeat a long command in its reason", async () => {
    const folder = `somewhere/${"a-long-name/".repeat(9)}`;
    const { pty } = await start([shell(`touch ${folder}`), { text: "Over." }], { ...asks, columns: 60, rows: 20 });
    await ready(pty);
    send(pty, "go");
    await pty.waitFor(/No allow rule\s+covers it\./);
  });

  it.each([
    [100, 30],
    [200, 50],
    [60, 20],
  ])(
    "at %d columns and %d rows the permission prompt cuts nothing and leaves half of a small window free",
    async (columns, rows) => {
      const talk = Array.from({ length: 60 }, (_, index) => `Line ${index}.`).join("\n\n");
      const call = { name: "Shell", args: { command: "npm test -- upload --repeat 50 --reporter verbose" } };
      // The question names the folder: where TMPDIR is long, it would take a line more.
      const before = process.env["TMPDIR"];
      process.env["TMPDIR"] = "/tmp";
      const starting = start([{ text: talk, calls: [call] }, { text: "Over." }], { ...asks, columns, rows });
      if (before === undefined) delete process.env["TMPDIR"];
      else process.env["TMPDIR"] = before;
      const { pty } = await starting;
      await ready(pty);
      send(pty, "go");
      await pty.waitFor("wants permission");
      const lines = await pty.screen();
      const rule = lines.findLastIndex((line) => line.startsWith("────"));
      expect(lines.slice(rule).join("\n")).not.toContain("…");
      expect(lines.slice(rule).join(" ").replace(/\s+/g, " ")).toContain("--reporter verbose)");
      expect(lines.find((line) => line.includes("wants permission"))).toMatch(
        /(Bash|Shell|verbose) {2,8}wants permission/,
      );
      expect(rule).toBeGreaterThanOrEqual(rows / 2);
      // A choice that fits into a row is not broken.
      expect(lines.slice(rule).join("\n")).toMatch(/\s {2}n {2}no, and say why(?: {3,}|$)/m);
      expect(lines.at(-1) || lines.at(-2)).toMatch(/↑↓ enter · esc: no$/);
    },
  );
});

describe('"always" at a permission prompt', () => {
  it("the permission prompt offers the narrowest rule first and a wider one second, and saves the shown one", async () => {
    const { pty, workspace } = await start(
      [shell("node --test src/"), shell("node --check a.js"), shell("node a.js"), { text: "Over." }],
      asks,
    );
    const saved = () => JSON.parse(readFileSync(join(workspace.path, ".cursor/cli.json"), "utf8")).permissions.allow;
    await ready(pty);
    send(pty, "go");
    await pty.waitFor(/a {2}always: Shell\(node --test src\/\)\s+A {2}wider: Shell\(node\)/);
    await read();
    pty.type("a");
    await pty.waitFor("From now on, without asking:");
    await pty.waitFor(/^ +Shell\(node --test src\/\)$/m);
    await read();
    pty.type("\r"); // in this project
    await pty.waitFor(/node --check a.js +wants/);
    expect(saved()).toEqual(["Shell(node --test src/)"]);
    await read();
    pty.type("A");
    await pty.waitFor(/^ +Shell\(node\)$/m);
    await read();
    pty.type("p");
    await pty.waitFor("Over.");
    expect(saved()).toEqual(["Shell(node --test src/)", "Shell(node)"]);
  });
});

describe.skipIf(sandboxMissing())("commands in the sandbox without asking", () => {
  it("once the user chose so, commands run without a question in this and the next run of the project", async () => {
    const replies = [shell("touch a"), shell("touch b"), shell("cp a ../outside.txt"), { text: "Over." }];
    const { pty, workspace, again } = await start([shell("ls -la && cat a.txt"), ...replies], {
      args: ["--trust"],
      files: { "a.txt": "hello\n" },
    });
    await ready(pty);
    send(pty, "go");
    // What only reads was not asked about.
    await pty.waitFor(/touch a +wants/);
    await pty.waitFor(/b {2}run commands in the sandbox without asking, in this project/);
    await read();
    pty.type("b");
    await pty.waitFor(/cp a \.\.\/outside\.txt +wants/);
    expect([existsSync(join(workspace.path, "a")), existsSync(join(workspace.path, "b"))]).toEqual([true, true]);
    expect((await pty.screen()).join("\n")).not.toContain("run commands in the sandbox");
    await read();
    pty.type("n\r");
    await pty.waitFor("Over.");
    pty.type("\x04\x04");
    await pty.ended;
    writeFileSync(join(workspace.path, "../script.json"), JSON.stringify([shell("touch c"), { text: "Again over." }]));
    const second = again();
    await ready(second);
    send(second, "go");
    await second.waitFor("Again over.");
    expect(existsSync(join(workspace.path, "c"))).toBe(true);
  });
});
