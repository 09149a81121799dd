// The plain conversation on a terminal: a real one, made by `script`.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";
import { converse, hasScript } from "../support/terminal.ts";

const workspaces: Workspace[] = [];
afterAll(() => {
  for (const workspace of workspaces) workspace.remove();
});

describe.skipIf(!hasScript)(
  `line mode on a terminal${hasScript ? "" : " (skipped: there is no `script` here)"}`,
  () => {
    const make = (): Workspace => {
      const workspace = createWorkspace();
      workspaces.push(workspace);
      return workspace;
    };

    it("line mode (a terminal without key input) asks for trust, answers, asks before commands and exits", async () => {
      const workspace = make();
      const { screen, exit } = await converse(
        "",
        [
          [/Trust this directory/, "a\n"],
          [/\n> /, "what is 6*7?\n"],
          [/42[\s\S]*> /, "run echo one > one.txt\n"],
          [/Allow\?/, "n\n"],
          [/\n> /, "run echo two > two.txt\n"],
          [/Allow\?/, "y\n"],
          [/\n> /, "quit\n"],
        ],
        workspace,
      );
      expect(exit, screen).toBe(0);
      expect(screen).toContain("6 * 7 = 42");
      expect(screen).toContain("· Bash echo two > two.txt"); // the names of tools are those of the screen
      expect(screen).toContain("Bash wants permission");
      expect(screen).toMatch(/\nResume with: \S+ --resume [\w-]+\s*$/);
      expect(existsSync(join(workspace.path, "one.txt"))).toBe(false);
      expect(readFileSync(join(workspace.path, "two.txt"), "utf8")).toBe("two\n");
    });

    it("Ctrl+D during an answer exits line mode cleanly", async () => {
      const workspace = make();
      const file = join(workspace.path, "slow.json");
      writeFileSync(file, JSON.stringify([{ delayMs: 600, text: "the answer" }]));
      const { screen, exit } = await converse(
        `--trust --model script:${file} go`,
        [[/Ctrl\+D to quit/, "\u0004"]],
        workspace,
      );
      expect(exit, screen).toBe(0);
      expect(screen).toMatch(/the answer\s+Resume with: /);
      expect(screen).not.toContain("Unexpected failure");
    });

    it('line mode remembers "always" for the same command', async () => {
      const workspace = make();
      const { screen } = await converse(
        "--trust",
        [
          [/\n> /, "run echo x >> log.txt\n"],
          [/Allow\?/, "a\n"],
          [/\n> /, "run echo x >> log.txt\n"],
          [/Output|log[\s\S]*\n> /, "/quit\n"],
          [/\n> /, "/quit\n"],
        ],
        workspace,
      );
      expect(screen.match(/Allow\?/g)).toHaveLength(1);
      expect(readFileSync(join(workspace.path, "log.txt"), "utf8")).toBe("x\nx\n");
    });

    it("line mode asks one question at a time, and ends on a signal without leaving children", async () => {
      const workspace = make();
      for (const name of ["a.txt", "b.txt", "c.txt"]) workspace.file(name, "x");
      const script = workspace.file(
        "script.json",
        JSON.stringify([
          { calls: ["a.txt", "b.txt"].map((path) => ({ name: "Delete", args: { path } })) },
          { text: "two gone" },
          { calls: [{ name: "Shell", args: { command: "echo $$ > pid; echo begun; sleep 600", isBackground: true } }] },
          { calls: [{ name: "Await", args: { taskId: "shell_1", pattern: "begun", blockUntilMs: 20_000 } }] },
          { text: "it runs" },
        ]),
      );
      const { screen } = await converse(
        `--trust --model 'script:${script}'`,
        [
          [/\n> /, "delete both\n"],
          [/Allow\?/, "y\n"],
          [/Allow\?/, "y\n"],
          [/two gone[\s\S]*> /, "start it\n"],
          [/Allow\?/, "y\n"],
          [/it runs[\s\S]*> /, "\u0003"],
        ],
        workspace,
      );
      expect(existsSync(join(workspace.path, "a.txt")), screen).toBe(false);
      expect(existsSync(join(workspace.path, "b.txt"))).toBe(false);
      const pid = Number(readFileSync(join(workspace.path, "pid"), "utf8"));
      expect(() => process.kill(pid, 0)).toThrow();
    });

    it("line mode (a terminal without key input) refuses flags of print mode", async () => {
      const { screen, exit } = await converse("--output-format json hi", [], make());
      expect(exit).toBe(2);
      expect(screen).toContain("-p --output-format");
    });
  },
);
