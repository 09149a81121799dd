// What a terminal goes through in a day: pastes of every size, bursts, other scripts, vim, random keys, hostile text.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";
import { hostile } from "./hostile.ts";
import { openCli, type Pty } from "./pty.ts";
import { playRandomKeys } from "./random-keys.ts";

const opened: { pty: Pty; workspace: Workspace }[] = [];
afterEach(async () => {
  for (const { pty, workspace } of opened.splice(0)) {
    pty.kill();
    await pty.ended;
    workspace.remove();
  }
});

async function start(script: unknown, files: Record<string, string> = {}): Promise<{ pty: Pty; workspace: Workspace }> {
  const workspace = createWorkspace(files);
  const file = join(workspace.path, "../script.json");
  writeFileSync(file, JSON.stringify(script));
  const pty = openCli(workspace, ["--model", `script:${file}`, "--force", "--trust"], { columns: 90, rows: 26 });
  opened.push({ pty, workspace });
  await pty.waitFor("Ask, or type /");
  return { pty, workspace };
}

describe("large pastes", () => {
  it("the terminal receives a paste of 10,000 lines whole and in order, before the following Enter", async () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index}`);
    const { pty } = await start([{ expect: ["line 0\nline 1\n", "line 9998\nline 9999"], text: "All of it." }]);
    pty.type(`\x1b[200~${lines.join("\n")}\x1b[201~\r`);
    await pty.waitFor("All of it.", { timeoutMs: 20_000, in: "scrollback" });
  });

  it("the terminal receives a paste that arrives byte by byte", async () => {
    const { pty } = await start([{ expect: "one\n日本\nthree", text: "Three lines." }]);
    for (const byte of Buffer.from("\x1b[200~one\n日本\nthree\x1b[201~")) {
      pty.type(Buffer.from([byte]));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await pty.waitFor("three");
    pty.type("\r");
    await pty.waitFor("Three lines.");
  });
});

describe("fast typing", () => {
  it("the terminal submits text that arrives in one burst with Enter", async () => {
    const { pty } = await start([{ expect: "hello there", text: "Got it." }]);
    pty.type("hello tehre\x7f\x7f\x7f\x7fhere\r");
    await pty.waitFor("Got it.");
  });

  it("the terminal's cursor moves two columns over a wide character", async () => {
    const { pty } = await start([{ expect: "日x本語👩‍💻e\u0301", text: "読んだ。" }]);
    pty.type("日本語👩‍💻e\u0301");
    await pty.waitFor("日本語");
    await expect.poll(async () => (await pty.cursor()).column, { timeout: 5000 }).toBe(2 + 6 + 2 + 1);
    pty.type("\x1b[D".repeat(4));
    await expect.poll(async () => (await pty.cursor()).column, { timeout: 5000 }).toBe(2 + 2);
    pty.type("x\r");
    await pty.waitFor("読んだ。");
  });

  it("the editor's vim mode works once the user enables it", async () => {
    const { pty } = await start([{ expect: "keep the last word", text: "Edited." }]);
    pty.type("/vim\r");
    await pty.waitFor("Vim keys are on.");
    pty.type("keep the wrong word\x1b");
    await pty.waitFor(/ normal$/m);
    pty.type("0wwcwlast\x1b");
    await pty.waitFor(/keep the last word +normal/);
    pty.type("\r");
    await pty.waitFor("Edited.");
  });
});

describe("2,000 random keys and resizes", () => {
  it("random keys and resizes do not crash the terminal, and every answer is in the scrollback once", {
    timeout: 120_000,
  }, async () => {
    const { answers, lost, doubled, exit } = await playRandomKeys({ seed: 20, keys: 2000 });
    expect({ lost, doubled }).toEqual({ lost: [], doubled: [] });
    expect(answers).toBeGreaterThan(5);
    expect(exit).toBeLessThan(2);
  });
});

describe("forty hostile texts", () => {
  /** Ours as well, at their own time. */
  const own = ["\x1b[?25l", "\x1b[?7l", "\x1b[?2004l", "\x1b[?2026h", "\x1b[>1u", "\x1b[>4;2m", "\x1b[10A", "\x1b[J"];

  it("the terminal shows hostile text from model, command, file and name, and never executes it", async () => {
    const all = hostile.join(" ¦ ");
    const named = "a\x1b]0;owned\x07\x1b[2J\u202eb.txt";
    const { pty } = await start(
      [
        { text: `Look: ${all}\n\n`, calls: [{ name: "Shell", args: { command: "cat hostile.txt" } }] },
        { calls: [{ name: "Write", args: { path: named, content: `${all}\n` } }] },
        { calls: [{ name: "Read", args: { path: `no such ${all}` } }] },
        { text: "Over." },
      ],
      { "hostile.txt": `${all}\n` },
    );
    const before = pty.output().length;
    pty.type("go\r");
    await pty.waitFor("Over.", { in: "scrollback" });
    await pty.waitFor("Ask, or type /");
    const written = pty.output().slice(before);
    for (const text of hostile.filter((each) => !own.includes(each)))
      expect(written, JSON.stringify(text)).not.toContain(text);
    expect(pty.isAlternate()).toBe(false);
    expect(pty.title()).not.toContain("evil");
    expect(pty.title()).not.toContain("owned");
    // It still answers to keys, and the cursor is in the editor.
    pty.type("still here");
    await pty.waitFor(/^› still here$/m);
  });
});
