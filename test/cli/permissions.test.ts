// `permissions`, and what a run says about calls that need a permission. The built program, real files.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

const workspaces: Workspace[] = [];
afterAll(() => {
  for (const workspace of workspaces) workspace.remove();
});

function make(permissions?: { allow?: string[]; deny?: string[] }, more: Record<string, unknown> = {}): Workspace {
  const workspace = createWorkspace({ "src/app.ts": "" });
  workspaces.push(workspace);
  mkdirSync(workspace.config, { recursive: true });
  if (permissions) writeFileSync(configOf(workspace), JSON.stringify({ version: 1, permissions, ...more }, null, 2));
  return workspace;
}

function configOf({ config }: Workspace): string {
  return join(config, "cli-config.json");
}

describe("permissions check", () => {
  let workspace: Workspace;
  beforeAll(() => {
    workspace = make(
      { allow: ["Shell(git)", "Shell(ls)"], deny: ["Shell(rm)", "Read(.env*)"] },
      { sandbox: { mode: "disabled" } },
    );
  });
  const check = (...args: string[]) => workspace.run(["permissions", "check", ...args]);

  it.each([
    ["Shell: git status && ls", [], 0, "allow"],
    ["Shell: make", [], 3, "ask"],
    ["Shell: make", ["--force"], 0, "allow"],
    ["Shell: make", ["--print"], 3, "ask"],
    ["Shell: make", ["--allow", "Shell(make)"], 0, "allow"],
    ["Shell: make", ["--deny", "Shell(make)", "--force"], 4, "deny"],
    ["Shell: git log | xargs rm", ["--force"], 4, "deny"],
    ["Shell: ls", ["--mode", "plan"], 4, "deny"],
    ["Read: src/app.ts", [], 0, "allow"],
    ["Read: .env.local", [], 4, "deny"],
    ["Read: /etc/hosts", [], 3, "ask"],
    ["Write: src/new.ts", [], 0, "allow"],
    ["Write: .git/hooks/pre-push", ["--yolo"], 3, "ask"],
    ["Write: ~/.cursor/cli-config.json", ["-f"], 4, "deny"],
    ["Delete: src/app.ts", [], 3, "ask"],
    ["WebFetch: https://example.com", [], 3, "ask"],
    ["WebFetch: http://127.0.0.1:80", ["-f"], 4, "deny"],
    ["Mcp: server:tool", [], 3, "ask"],
  ])("permissions check of %s with %j exits with %i", async (question, flags, exit, word) => {
    const run = await check(question, ...flags);
    expect([run.exit, run.stdout.split("\n")[0], run.stderr]).toEqual([exit, word, ""]);
  });

  it("permissions check gives reasons and what would help, for people and for programs", async () => {
    const run = await check("Shell: git status; npm test");
    expect(run.stdout).toBe(
      "ask\n  No allow rule covers npm test.\n  To allow it: courser.cjs permissions allow 'Shell(npm test)'\n".replace(
        "courser.cjs",
        /allow it: (\S+)/.exec(run.stdout)![1]!,
      ),
    );
    const { stdout } = await check("--format", "json", "Shell: git status; npm test");
    expect(JSON.parse(stdout)).toEqual({
      kind: "Shell",
      target: "git status; npm test",
      verdict: "ask",
      reasons: ["No allow rule covers npm test."],
      remedy: ["Shell(npm test)"],
    });
    expect(JSON.parse((await check("--format=json", "Shell: rm x")).stdout).reasons).toEqual([
      `Shell(rm) in ${configOf(workspace)} denies rm x.`,
    ]);
  });

  it.each([
    [["permissions", "check", "ls"], /is not a question/],
    [["permissions", "check"], /needs <question>/],
    [["permissions", "chek", "x"], /Did you mean permissions check\?/],
    [["permissions", "list", "x"], /takes no arguments/],
    [["permissions", "check", "--project", "Shell: ls"], /does not take --project/],
    [["permissions", "check", "--allow", "Bash(ls)", "Shell: ls"], /--allow: .*did you mean Shell\(ls\)\?/],
  ])("permissions check refuses %j", async (args, message) => {
    const run = await workspace.run(args);
    expect([run.exit, run.stdout]).toEqual([2, ""]);
    expect(run.stderr).toMatch(message);
  });

  it("every permissions command stops at a broken configuration file, as a run does", async () => {
    const broken = make();
    writeFileSync(configOf(broken), '{\n  "permissions": { "deny": ["Shell(rm" }\n}');
    for (const command of [["check", "Shell: ls"], ["list"], ["lint"], ["allow", "Shell(ls)"]]) {
      const run = await broken.run(["permissions", ...command]);
      expect([run.exit, run.stdout]).toEqual([1, ""]);
      expect(run.stderr).toMatch(/line 2, column 40.*\[CONFIG_INVALID\]/);
    }
    const told = JSON.parse((await broken.run(["permissions", "list", "--format", "json"])).stdout);
    expect(told).toEqual({
      is_error: true,
      error_code: "CONFIG_INVALID",
      error: expect.stringContaining("line 2, column 40"),
    });
  });
});

describe("permissions explain", () => {
  it("permissions explain shows the parts, the rules with their lines, and the answer", async () => {
    const workspace = make({ allow: ["Shell(ls)"], deny: ["Shell(rm)"] });
    const run = await workspace.run(["permissions", "explain", "Shell: ls && sudo rm x > .envrc"]);
    expect(run.exit).toBe(4);
    for (const line of [
      "├─ allow ls",
      "└─ ask   sudo rm x > .envrc  (after &&)",
      "   └─ deny  rm x  (run by sudo)",
      "            Shell(rm) denies it.",
      `  deny Shell(rm)  ${configOf(workspace)}, line 8`,
      `  .envrc → ${workspace.path}/.envrc: in the workspace; .envrc is protected: it can run code, or change what the agent may do`,
      "deny",
    ])
      expect(run.stdout.split("\n")).toContain(line);
    const json = JSON.parse((await workspace.run(["permissions", "explain", "--format", "json", "Shell: ls"])).stdout);
    expect(json).toMatchObject({
      verdict: "allow",
      commands: [{ program: ["ls"], rule: { text: "Shell(ls)", line: 5 } }],
    });
  });
});

describe("permissions list", () => {
  it("permissions list names the rules with their files, protected paths and what --force does not override", async () => {
    const workspace = make({ allow: ["Shell(ls)"], deny: ["Shell(rm)"] });
    workspace.file(".cursor/cli.json", '{"permissions":{"allow":["Shell(make)"],"deny":["Read(.env)"]}}');
    const run = await workspace.run(["permissions", "list"]);
    expect(run.exit).toBe(0);
    expect(run.stdout).toMatch(/Shell\(rm\) .*cli-config\.json, line 8/);
    expect(run.stdout).toMatch(/Read\(\.env\) .*cli\.json, line 1\n/);
    expect(run.stdout).toMatch(/Shell\(make\) .*is ignored: this workspace is not trusted/);
    expect(run.stdout).toMatch(/What --force does not override:\n {2}deny rules/);
    expect(run.stdout).toMatch(/Protected in every mode/);
    const json = JSON.parse((await workspace.run(["permissions", "list", "--format", "json", "--trust"])).stdout);
    expect(json.trusted).toBe(true);
    expect(json.rules.map(({ text, counts }: any) => [text, counts])).toEqual([
      ["Shell(rm)", true],
      ["Read(.env)", true],
      [`Read(${workspace.config}/auth.json)`, true],
      [`Read(${workspace.config}/mcp-auth.json)`, true],
      [`Read(${workspace.config}/serve.json)`, true],
      [`Read(${workspace.config}/services/**)`, true],
      ["Shell(ls)", true],
      ["Shell(make)", true],
    ]);
    // Looking is not trust.
    expect((await workspace.run(["-p", "hi"])).stderr).toContain("Workspace Trust Required");
  });
});

describe("permissions lint", () => {
  it("permissions lint exits with 1 and names file and line", async () => {
    const workspace = make({ allow: ["Shell(ls)", "Shell(bash)", "Bash(x)"], deny: ["Shell(ls)"] });
    const run = await workspace.run(["permissions", "lint"]);
    expect(run.exit).toBe(1);
    const file = configOf(workspace);
    expect(run.stdout).toContain(`${file}:5: shadowed: allow Shell(ls)\n`);
    expect(run.stdout).toContain(`${file}:6: wide: allow Shell(bash)\n`);
    expect(run.stdout).toContain(`${file}:7: misspelt: allow Bash(x)\n`);
    const json = JSON.parse((await workspace.run(["permissions", "lint", "--format", "json"])).stdout);
    expect(json.problems.map(({ kind, line }: any) => [kind, line])).toEqual([
      ["shadowed", 5],
      ["wide", 6],
      ["misspelt", 7],
    ]);
  });

  it("permissions lint finds a deny rule that would stop a run, and misspelt fields", async () => {
    const workspace = make({ deny: ["Shel(rm)"] }, { permisions: {} });
    const run = await workspace.run(["permissions", "lint", "--format", "json"]);
    expect(run.exit).toBe(1);
    expect(JSON.parse(run.stdout).problems).toMatchObject([
      { kind: "misspelt", verdict: "deny", advice: "Write Shell(rm)." },
    ]);
  });

  it("permissions lint finds nothing in the documented sample", async () => {
    const workspace = make({ allow: ["Shell(ls)", "Shell(cd)", "Shell(npm install)", "Shell(npm run)"], deny: [] });
    const run = await workspace.run(["permissions", "lint"]);
    expect([run.exit, run.stdout]).toEqual([0, "✓ 4 rules, no problems found.\n"]);
  });
});

describe("permissions allow and deny", () => {
  it("permissions allow and deny keep comments and unknown fields, add once, and warn", async () => {
    const workspace = make();
    const file = configOf(workspace);
    writeFileSync(
      file,
      '{\n  // mine\n  "permissions": {\n    "allow": [\n      "Shell(ls)", // list\n    ],\n  },\n  "later": 1,\n}\n',
    );
    const first = await workspace.run(["permissions", "allow", "Shell(npm test)", "Shell(bash)"]);
    expect(first.exit).toBe(0);
    expect(first.stderr).toMatch(/^Warning: .*wide: allow Shell\(bash\)/);
    expect((await workspace.run(["permissions", "deny", "Shell(rm)"])).exit).toBe(0);
    const expected =
      '{\n  // mine\n  "permissions": {\n    "allow": [\n      "Shell(ls)", // list\n      "Shell(npm test)",\n      "Shell(bash)",\n    ],\n    "deny": [\n      "Shell(rm)"\n    ],\n  },\n  "later": 1,\n}\n';
    expect(readFileSync(file, "utf8")).toBe(expected);
    const again = await workspace.run(["permissions", "allow", "--format", "json", "Shell(npm test)"]);
    expect(JSON.parse(again.stdout)).toEqual({
      list: "allow",
      file,
      changes: [{ rule: "Shell(npm test)", added: false }],
      problems: [],
    });
    expect(readFileSync(file, "utf8")).toBe(expected);
  });

  it("permissions allow and deny can write the project's file", async () => {
    const workspace = make();
    const run = await workspace.run(["permissions", "allow", "--project", "Write(docs/**)"]);
    expect(run.exit).toBe(0);
    expect(run.stderr).toContain("not trusted");
    expect(JSON.parse(readFileSync(join(workspace.path, ".cursor/cli.json"), "utf8"))).toEqual({
      permissions: { allow: ["Write(docs/**)"], deny: [] },
    });
    expect(existsSync(configOf(workspace))).toBe(false);
  });

  it("permissions allow and deny change nothing if one rule is invalid", async () => {
    const workspace = make();
    const run = await workspace.run(["permissions", "allow", "Shell(ls)", "Bash(ls)"]);
    expect(run.exit).toBe(2);
    expect(run.stderr).toContain("did you mean Shell(ls)?");
    expect(existsSync(configOf(workspace))).toBe(false);
  });

  it("parallel permissions allow commands lose no rules", async () => {
    const workspace = make();
    const names = ["a", "b", "c", "d"];
    const runs = await Promise.all(names.map((name) => workspace.run(["permissions", "allow", `Shell(tool-${name})`])));
    expect(runs.map(({ exit }) => exit)).toEqual([0, 0, 0, 0]);
    const { permissions } = JSON.parse(readFileSync(configOf(workspace), "utf8"));
    expect(permissions.allow.toSorted()).toEqual(names.map((name) => `Shell(tool-${name})`));
  });

  it("permissions allow and deny refuse to run inside an agent", async () => {
    const workspace = make();
    const run = await workspace.run(["permissions", "allow", "Shell(**)"], { env: { CURSOR_AGENT: "1" } });
    expect([run.exit, existsSync(configOf(workspace))]).toEqual([1, false]);
    expect(run.stderr).toContain("agents may not change their own permissions");
  });
});

describe("permissions of a run", () => {
  const shell = (command: string) => ({ name: "Shell", args: { command } });

  it("a run follows the rules, and reports what it would have asked", async () => {
    const workspace = make({ allow: ["Shell(echo)"], deny: ["Shell(rm)"] }, { sandbox: { mode: "disabled" } });
    const script = {
      replies: [
        { calls: [shell("echo hi")] },
        { calls: [shell("touch made")] },
        { calls: [shell("rm x")] },
        { text: "ok" },
      ],
    };
    const file = join(workspace.path, "script.json");
    writeFileSync(file, JSON.stringify(script));
    const run = await workspace.run([
      "-p",
      "--trust",
      "--output-format",
      "stream-json",
      "--model",
      `script:${file}`,
      "go",
    ]);
    expect(run.exit).toBe(0);
    const lines = run.lines();
    const results = lines
      .filter(({ subtype }) => subtype === "completed")
      .map((line) => line["tool_call"].shellToolCall.result);
    expect(results.map((result) => Object.keys(result)[0])).toEqual(["success", "rejected", "rejected"]);
    expect(existsSync(join(workspace.path, "made"))).toBe(false);
    const queries = lines.filter(({ type }) => type === "interaction_query");
    expect(queries).toEqual([
      {
        type: "interaction_query",
        subtype: "request",
        query_type: "shellRequestQuery",
        query: {
          id: 0,
          shellRequestQuery: {
            args: expect.objectContaining({ command: "touch made" }),
            toolCallId: expect.any(String),
          },
        },
        session_id: expect.any(String),
        timestamp_ms: expect.any(Number),
      },
      {
        type: "interaction_query",
        subtype: "response",
        query_type: "shellRequestQuery",
        response: {
          id: 0,
          shellRequestResponse: {
            rejected: {
              reason:
                "No allow rule covers touch made. Nobody can be asked in print mode. It would be allowed by Shell(touch made).",
            },
          },
        },
        session_id: expect.any(String),
        timestamp_ms: expect.any(Number),
      },
    ]);
    expect(lines.at(-1)!["permission_denials"]).toHaveLength(2);
  });

  it("with auto-review, the user's model decides about calls that the user would be asked about", async () => {
    const workspace = make(
      { allow: [], deny: ["Shell(rm)"] },
      { approvalMode: "auto-review", sandbox: { mode: "disabled" } },
    );
    const file = join(workspace.path, "script.json");
    const replies = [
      { calls: [shell("touch reviewed")] },
      { text: '{"decision": "allow", "reason": "An empty file."}' },
      { calls: [shell("touch refused")] },
      { text: "allow" },
      // Neither of these is put to it.
      { calls: [shell("rm x"), shell("touch .envrc")] },
      { text: "ok" },
    ];
    writeFileSync(file, JSON.stringify({ replies }));
    const run = await workspace.run([
      "-p",
      "--trust",
      "--output-format",
      "stream-json",
      "--model",
      `script:${file}`,
      "go",
    ]);
    expect([run.exit, run.lines().at(-1)!["result"]]).toEqual([0, "ok"]);
    const made = ["reviewed", "refused", ".envrc"].map((name) => existsSync(join(workspace.path, name)));
    expect(made).toEqual([true, false, false]);
    expect(run.lines().filter(({ subtype }) => subtype === "auto_review")).toMatchObject([
      { message: "Shell: The reviewer (Script) allowed it: An empty file." },
    ]);
    expect(run.lines().at(-1)!["permission_denials"]).toHaveLength(3);
  });

  it("approvalMode unrestricted means --force, in the user's own file only", async () => {
    const workspace = make({ deny: ["Shell(rm)"] }, { approvalMode: "unrestricted" });
    const file = join(workspace.path, "script.json");
    writeFileSync(file, JSON.stringify({ replies: [{ calls: [shell("touch made")] }, { text: "ok" }] }));
    const args = [
      "-p",
      "--trust",
      "--sandbox",
      "disabled",
      "--output-format",
      "stream-json",
      "--model",
      `script:${file}`,
      "go",
    ];
    const run = await workspace.run(args);
    expect(run.lines()[0]!["permissionMode"]).toBe("force");
    expect(existsSync(join(workspace.path, "made"))).toBe(true);
    const project = make();
    project.file(".cursor/cli.json", '{"approvalMode": "unrestricted"}');
    const ignored = await project.run(args);
    expect(ignored.lines()[0]!["permissionMode"]).toBe("default");
    expect(ignored.notices()).toContain("approvalMode ignored");
    expect(existsSync(join(project.path, "made"))).toBe(false);
  });

  it("a broken sandbox.json stops a run before it does anything, with line and column", async () => {
    const workspace = make();
    mkdirSync(join(workspace.path, ".cursor"), { recursive: true });
    writeFileSync(join(workspace.path, ".cursor/sandbox.json"), '{\n  "type": workspace_readonly\n}');
    const file = join(workspace.path, "script.json");
    writeFileSync(file, JSON.stringify([{ calls: [{ name: "Write", args: { path: "made", contents: "" } }] }, {}]));
    const run = await workspace.run(["-p", "--trust", "--model", `script:${file}`, "go"]);
    expect([run.exit, existsSync(join(workspace.path, "made"))]).toEqual([1, false]);
    expect(run.stderr).toMatch(/sandbox\.json is not valid: line 2, column 11: .*\[CONFIG_INVALID\]/);
  });

  it("an agent cannot change its own permissions", async () => {
    const workspace = make({ allow: ["Shell(courser)", "Shell(node)", "Shell(**)"] });
    const before = readFileSync(configOf(workspace), "utf8");
    const commands = [
      "courser permissions allow 'Shell(rm)'",
      `node "${process.argv[1]}/courser.cjs" permissions deny 'Shell(ls)'`,
    ];
    const run = await workspace.play({ replies: [{ calls: commands.map(shell) }, { text: "ok" }] });
    const completed = run.lines().filter(({ subtype }) => subtype === "completed");
    for (const line of completed) expect(line["tool_call"].shellToolCall.result).toHaveProperty("rejected");
    expect(completed).toHaveLength(2);
    expect(readFileSync(configOf(workspace), "utf8")).toBe(before);
  });
});
