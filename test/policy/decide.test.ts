import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide, type Situation } from "../../src/policy/decide.ts";
import type { Need } from "../../src/policy/need.ts";
import { type Fixture, makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
});
afterAll(() => removeFixture(fixture));

type Options = Partial<Situation> & { allow?: string[]; deny?: string[] };

async function verdict(kind: Need["kind"], target: string, { allow, deny, ...changes }: Options = {}): Promise<string> {
  const rules = rulesOf({ ...(allow && { allow }), ...(deny && { deny }) });
  return (
    await decide([{ kind, target: target.replace("~HOME", fixture.home) }], situationOf(fixture, { rules, ...changes }))
  ).verdict;
}

const force = { mode: "force" } as const;

describe("decisions without a matching rule", () => {
  /** As the table of the documentation has it: in a terminal, in print mode, with --force in either. `!`: only a person. */
  it.each([
    ["read inside", "Read", "README.md", "allow", "allow", "allow", "allow"],
    ["list inside", "Read", ".", "allow", "allow", "allow", "allow"],
    ["read outside", "Read", "../outside.txt", "ask", "ask", "allow", "allow"],
    ["edit inside", "Write", "src/new.ts", "allow", "allow", "allow", "allow"],
    ["edit outside", "Write", "../outside.txt", "ask", "ask", "allow", "allow"],
    ["delete inside", "Delete", "README.md", "ask", "ask", "allow", "allow"],
    ["delete outside", "Delete", "../outside.txt", "ask", "ask", "allow", "allow"],
    ["shell", "Shell", "touch x", "ask", "ask", "allow", "allow"],
    ["shell with privileges", "Shell", "sudo touch x", "ask!", "ask!", "allow", "allow"],
    ["web", "WebFetch", "https://example.com", "ask", "ask", "allow", "allow"],
    ["web, private", "WebFetch", "http://192.168.1.1", "deny", "deny", "deny", "deny"],
    ["MCP tool", "Mcp", "server:tool", "ask", "ask", "allow", "allow"],
    ["protected path", "Write", ".cursor/mcp.json", "ask!", "ask!", "ask!", "ask!"],
    ["protected path, deleted", "Delete", ".git", "ask!", "ask!", "ask!", "ask!"],
    ["protected path, by a command", "Shell", "echo > .envrc", "ask!", "ask!", "ask!", "ask!"],
    ["the workspace, deleted", "Delete", ".", "ask!", "ask!", "ask!", "ask!"],
    ["own configuration", "Write", "~/.cursor/cli-config.json", "deny", "deny", "deny", "deny"],
  ] as const)("without a matching rule, this is decided by mode: %s", async (_, kind, target, ...expected) => {
    const ways: Partial<Situation>[] = [
      {},
      { interactive: false },
      { mode: "force" },
      { mode: "force", interactive: false },
    ];
    const answers = [];
    for (const way of ways) {
      const answer = await decide([{ kind, target }], situationOf(fixture, way));
      answers.push(answer.verdict + (answer.personOnly ? "!" : ""));
      expect(answer.confined).toBeUndefined();
      expect(answer.forced === true).toBe(
        way.mode === "force" && answer.verdict === "allow" && !answer.reasons.join().includes("inside"),
      );
    }
    expect(answers).toEqual(expected);
  });

  it("the policy asks about edits as soon as any Write rule exists", async () => {
    expect(await verdict("Write", "test/a.ts", { allow: ["Write(src/**)"] })).toBe("ask");
    expect(await verdict("Write", "src/a.ts", { allow: ["Write(src/**)"] })).toBe("allow");
    expect(await verdict("Write", "test/a.ts", { ...force, allow: ["Write(src/**)"] })).toBe("allow");
    expect(await verdict("Delete", "src/a.ts", { allow: ["Write(src/**)"] })).toBe("allow");
  });

  it.each(["plan", "ask"] as const)("%s mode permits only reading", async (mode) => {
    expect(await verdict("Read", "README.md", { mode })).toBe("allow");
    for (const [kind, target] of [
      ["Write", "a"],
      ["Delete", "README.md"],
      ["Shell", "ls"],
      ["Mcp", "a:b"],
    ] as const) {
      expect(await verdict(kind, target, { mode, allow: ["Shell(**)", "Write(**)", "Mcp(*:*)"] })).toBe("deny");
    }
  });
});

describe("deny rules", () => {
  it.each([
    ["Shell", "rm x", "Shell(rm)"],
    ["Shell", "true && (sudo nohup /bin/rm x)", "Shell(rm)"],
    ["Shell", "echo $(rm x)", "Shell(rm)"],
    ["Shell", "find . -exec rm {} +", "Shell(rm)"],
    ["Shell", "cat < .env", "Read(.env*)"],
    ["Shell", "cat ./src/../.env", "Read(.env*)"],
    ["Shell", "cp .env x", "Read(.env*)"],
    ["Shell", "echo x > a.key", "Write(**/*.key)"],
    ["Shell", "cd src && tee ../a.key", "Write(**/*.key)"],
    ["Read", ".env", "Read(.env*)"],
    ["Write", "deep/down/a.KEY", "Write(**/*.key)"],
    ["Delete", "a.key", "Write(**/*.key)"],
    ["WebFetch", "https://evil.test/x", "WebFetch(*.evil.test)"],
    ["Mcp", "Linear:delete", "Mcp(linear:*)"],
  ] as const)("deny rules hold for %s %s with --force", async (kind, target, rule) => {
    expect(await verdict(kind, target, { ...force, deny: [rule], allow: ["Shell(**)", "Read(**)", "Write(**)"] })).toBe(
      "deny",
    );
  });

  it.each(["$X y", "/bin/r[m] y", "curl x | sh", "eval $x", 'ls "open', "x=rm; $x y"])(
    "deny rules make --force ask about %s",
    async (command) => {
      expect(await verdict("Shell", command, { ...force, deny: ["Shell(rm)"] })).toBe("ask");
      expect(await verdict("Shell", command, force)).toBe("allow");
    },
  );

  it("deny rules find names in lines that cannot be parsed", async () => {
    expect(await verdict("Shell", `${"true ".repeat(40_000)}; rm x`, { ...force, deny: ["Shell(rm)"] })).toBe("deny");
    expect(await verdict("Shell", 'rm x "open', { ...force, deny: ["Shell(rm)"] })).toBe("deny");
  });
});

describe("protected paths", () => {
  it.each([
    ".cursor/mcp.json",
    ".cursor/hooks/x.sh",
    "a/b/.CURSOR/cli.json",
    ".cursor\u200b/mcp.json",
    ".git/hooks/x",
    ".git/config.worktree",
    ".git",
    ".git/info/attributes",
    ".git/modules/a/b/hooks/x",
    ".vscode/x",
    ".idea/x",
    "my.code-workspace",
    ".mcp.json",
    ".claude/x",
    ".codex/x",
    ".gemini/x",
    ".envrc",
    "sub/.envrc",
    ".devcontainer/x",
    ".cursorignore",
    "~HOME/.bashrc",
    "~HOME/.ssh/config",
    "~HOME/.gitconfig",
    "~/.zshenv",
    "src/../.cursor/./hooks.json",
    ".cursor/mcp.json/.",
  ])("the policy asks about %s in every mode", async (path) => {
    for (const options of [{ allow: ["Write(**)", "Write(/**)"] }, force]) {
      expect(await verdict("Write", path, options)).toBe("ask");
      expect(await verdict("Delete", path, options)).toBe("ask");
    }
  });

  it.each([
    ".cursor/rules/a.mdc",
    ".cursor/commands/a.md",
    ".cursor/skills/a/SKILL.md",
    ".cursor/agents/a.md",
    ".git/COMMIT_EDITMSG",
    ".github/workflows/a.yml",
    ".gitignore",
    "cursor/mcp.json",
    "x.envrc",
    ".bashrc",
    "a.cursor/x",
    "..%2fx",
  ])("the command %s runs without asking the user", async (path) => {
    expect(await verdict("Write", path)).toBe("allow");
  });

  it.each(["~HOME/.cursor/cli-config.json", "~/.cursor/rules/x.mdc", "~HOME/.CURSOR/x"])(
    "no mode allows writing the file %s",
    async (path) => {
      expect(await verdict("Write", path, { ...force, allow: [`Write(${path.replace("~HOME", fixture.home)})`] })).toBe(
        "deny",
      );
      expect(await verdict("Shell", `echo x > ${path.replace("~HOME", fixture.home)}`, force)).toBe("deny");
    },
  );

  it("the policy protects the agent's own configuration in any folder", async () => {
    const configDir = join(fixture.base, "elsewhere");
    expect(await verdict("Write", join(configDir, "x"), { ...force, configDir })).toBe("deny");
    expect(await verdict("Write", "~/.cursor/x", { ...force, configDir })).toBe("deny");
  });

  it("the policy distinguishes a workspace below a protected folder from that folder", async () => {
    const workspace = join(fixture.home, ".cursor/worktrees/repo");
    mkdirSync(workspace, { recursive: true });
    expect(await verdict("Write", "src/a.ts", { workspace })).toBe("allow");
    expect(await verdict("Write", ".cursor/mcp.json", { workspace })).toBe("ask");
    expect(await verdict("Write", "../../cli-config.json", { workspace, mode: "force" })).toBe("deny");
  });

  it("only a rule of the user that names the file lifts protection", async () => {
    expect(await verdict("Write", ".vscode/tasks.json", { allow: ["Write(.vscode/tasks.json)"] })).toBe("allow");
    expect(await verdict("Write", ".vscode/tasks.json", { allow: ["Write(.vscode/*)"] })).toBe("ask");
    expect(
      await verdict("Write", ".vscode/tasks.json", {
        rules: rulesOf({ allow: ["Write(.vscode/tasks.json)"] }, "project"),
      }),
    ).toBe("ask");
    expect(await verdict("Write", "~/.bashrc", { allow: ["Write(~/.bashrc)"] })).toBe("ask");
    expect(
      await verdict("Shell", "echo > .vscode/tasks.json", { ...force, allow: ["Write(.vscode/tasks.json)"] }),
    ).toBe("allow");
  });

  it.each([
    "echo x > .cursor/mcp.json",
    "cp a .git/hooks/pre-push",
    "tee -a ~/.bashrc",
    "cd ~ && echo x >> .zshenv",
    'echo x >> "$HOME/.profile"',
    "sed -i s/a/b/ .vscode/tasks.json",
    "rm -rf .cursor",
    "curl -o .envrc https://x.test",
    "bash -c 'echo x > .git/config'",
    "{ echo x; } > .mcp.json",
    "git -C .. status > .claude/x",
    "mv x .idea/y",
    "cd .git && tee config",
  ])("protection stops %s with --force", async (command) => {
    expect(await verdict("Shell", command, force)).toBe("ask");
  });

  it.each([
    "echo x > out.txt",
    "cp a b",
    "cat .cursor/mcp.json",
    "ls .git/hooks",
    "echo .envrc",
    "grep x .vscode/tasks.json > /dev/null",
  ])("protection allows %s with --force", async (command) => {
    expect(await verdict("Shell", command, force)).toBe("allow");
  });
});

describe("paths in decisions", () => {
  it("the policy follows symbolic links before it judges a path", async () => {
    symlinkSync(join(fixture.base, "outside.txt"), join(fixture.workspace, "out"));
    symlinkSync("loop", join(fixture.workspace, "loop"));
    symlinkSync(".cursor/later.json", join(fixture.workspace, "dangling"));
    symlinkSync(fixture.home, join(fixture.workspace, "house"));
    expect(await verdict("Read", "out")).toBe("ask");
    expect(await verdict("Write", "out")).toBe("ask");
    expect(await verdict("Write", "dangling")).toBe("ask");
    expect(await verdict("Write", "house/.ssh/config", force)).toBe("ask");
    expect(await verdict("Write", "loop/x", force)).toBe("deny");
    const { approved } = await decide([{ kind: "Read", target: "out" }], situationOf(fixture, force));
    expect(approved!.get("out")).toBe(join(fixture.base, "outside.txt"));
  });

  it.each(["a\0b", "file:///etc/passwd", "/dev/zero", "/proc/self/environ"])(
    "the policy refuses the file path %j",
    async (path) => {
      expect(await verdict("Read", path, force)).toBe("deny");
    },
  );

  it(".cursorignore hides files from reading and writing", async () => {
    writeFileSync(join(fixture.workspace, ".cursorignore"), "# private\nprivate/\n*.secret\n!ok.secret\n");
    mkdirSync(join(fixture.workspace, "private"), { recursive: true });
    symlinkSync("private", join(fixture.workspace, "public"));
    for (const path of ["private/a", "private", "public/a", "x/y.secret", "PRIVATE/a"])
      expect(await verdict("Read", path, force)).toBe("deny");
    expect(await verdict("Write", "private/a", force)).toBe("deny");
    for (const path of ["ok.secret", "README.md", "."]) expect(await verdict("Read", path)).toBe("allow");
  });

  it("an unreadable .cursorignore hides everything", async () => {
    const other = makeFixture();
    const file = join(other.workspace, ".cursorignore");
    const read = async () => (await decide([{ kind: "Read", target: "README.md" }], situationOf(other))).verdict;
    try {
      expect(await read()).toBe("allow");
      mkdirSync(file);
      expect(await read()).toBe("deny");
    } finally {
      removeFixture(other);
    }
  });

  it("the policy judges paths in additional roots like those in the workspace", async () => {
    expect(await verdict("Read", "../outside.txt", { roots: [fixture.base] })).toBe("allow");
  });
});

describe("decisions", () => {
  it("of a tool call's needs the strictest decides, with its reasons", async () => {
    const rules = rulesOf({ deny: ["Read(.env)"] });
    const needs: Need[] = [
      { kind: "Read", target: "README.md" },
      { kind: "Delete", target: "x" },
      { kind: "Read", target: ".env" },
    ];
    const { verdict: answer, reasons } = await decide(needs, situationOf(fixture, { rules }));
    expect(answer).toBe("deny");
    expect(reasons).toEqual([`Read(.env) in cli-config.json denies ${join(fixture.workspace, ".env")}.`]);
    expect((await decide([], situationOf(fixture))).verdict).toBe("allow");
  });

  it("a decision says when nobody can be asked", async () => {
    const { reasons } = await decide([{ kind: "Shell", target: "ls" }], situationOf(fixture, { interactive: false }));
    expect(reasons.join(" ")).toBe("No allow rule covers ls. Nobody can be asked in print mode.");
  });

  it("a permission decision names only a few of many reasons", async () => {
    const line = Array.from({ length: 30 }, (_, index) => `tool-${index}`).join("; ");
    const { reasons } = await decide([{ kind: "Shell", target: line }], situationOf(fixture));
    expect(reasons).toHaveLength(8);
    expect(reasons.at(-1)).toBe("There are 23 more reasons of this kind.");
  });

  it("the policy also decides about a path that goes through a file instead of a folder", async () => {
    const { verdict } = await decide([{ kind: "Shell", target: "rm -rf victim.txt/a" }], situationOf(fixture));
    expect(verdict).toBe("ask");
  });

  it("the policy decides about any text without throwing", async () => {
    let state = 7;
    const random = (below: number) => (state = (state * 1103515245 + 12345) % 2147483648) % below;
    const pieces = [
      "rm",
      "$(",
      ")",
      "`",
      "'",
      '"',
      "\\",
      "\n",
      " ",
      ";",
      "|",
      "&",
      "<<E",
      ">",
      "~",
      "..",
      "/",
      "{",
      "}",
      "((",
      "[[",
      "\u202e",
      "\ud800",
      "*",
      "-c",
      "bash",
      "env",
      "=",
      "constructor",
      "__proto__",
    ];
    for (let round = 0; round < 150; round++) {
      const target = Array.from({ length: random(30) }, () => pieces[random(pieces.length)]).join("");
      for (const kind of ["Shell", "Read", "Write", "Delete", "WebFetch", "Mcp"] as const) {
        for (const mode of ["default", "force"] as const) {
          const { verdict: answer } = await decide(
            [{ kind, target }],
            situationOf(fixture, { mode, rules: rulesOf({ allow: ["Shell(ls)"], deny: ["Shell(rm)", "Read(x)"] }) }),
          );
          expect(["allow", "ask", "deny"]).toContain(answer);
        }
      }
    }
  });
});
