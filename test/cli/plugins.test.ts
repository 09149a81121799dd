// Plugins, with the built program: what they bring reaches the run, and what runs was approved.
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createWorkspace, repository, type Workspace } from "../support/run-cli.ts";

let workspace: Workspace;
afterEach(() => workspace.remove());

const server = join(repository, "test/support/mcp-server.mjs");

/** One of everything, in a folder beside the workspace. */
function plugin(files: Record<string, string> = {}, name = "kit"): string {
  const root = join(dirname(workspace.path), name);
  const all: Record<string, string> = {
    ".cursor-plugin/plugin.json": JSON.stringify({ name, version: "1.0.0", description: "A kit." }),
    "commands/greet.md": "Say hello to $1.",
    "skills/knots/SKILL.md": "---\nname: knots\ndescription: Ties knots.\n---\nTie a bowline.",
    "agents/sailor.md": "---\nname: sailor\ndescription: Sails.\n---\nYou sail.",
    "rules/sea.mdc": "---\nalwaysApply: true\n---\nThe sea is wide.",
    "hooks/hooks.json": JSON.stringify({ version: 1, hooks: { sessionStart: [{ command: "bash ./start.sh" }] } }),
    "start.sh": 'cat >/dev/null; echo "$CURSOR_PLUGIN_ROOT" > "$CURSOR_PROJECT_DIR/hooked.txt"\n',
    "mcp.json": JSON.stringify({
      mcpServers: { tide: { command: process.execPath, args: [server, "${CURSOR_PLUGIN_ROOT}"] } },
    }),
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

const done = [{ text: "Done." }];

describe("links that lead out of a plugin", () => {
  it.each([
    ["a file", "hooks/hooks.json"],
    ["a command", "commands/evil.md"],
    ["a script of a hook", "lib/deep/start.sh"],
  ])("plugin add and --plugin-dir refuse a plugin with symbolic links that lead out of it: %s", async (_name, path) => {
    workspace = createWorkspace();
    const root = plugin();
    const outside = workspace.file("../outside", "secret");
    mkdirSync(dirname(join(root, path)), { recursive: true });
    rmSync(join(root, path), { force: true });
    symlinkSync(outside, join(root, path));
    const given = await workspace.play(done, ["--trust", "--plugin-dir", root]);
    const added = await workspace.run(["plugin", "add", root, "--yes"]);
    for (const run of [given, added]) {
      expect(run.exit).toBe(1);
      expect(run.stderr).toContain("contains a link that leads out of it");
    }
    rmSync(outside);
    expect((await workspace.run(["plugin", "add", root, "--yes"])).exit).toBe(1);
  });

  it("a plugin may contain symbolic links to its own files", async () => {
    workspace = createWorkspace();
    const root = plugin();
    symlinkSync("greet.md", join(root, "commands/hello.md"));
    expect((await workspace.run(["plugin", "add", root, "--yes"])).exit).toBe(0);
    const run = await workspace.play([{ expect: "Say hello to Ada", text: "ok" }], ["--trust", "--", "/hello Ada"]);
    expect(run.exit).toBe(0);
  });
});

describe("--plugin-dir", () => {
  it("--plugin-dir brings commands, skills, subagents, rules, hooks and servers into the run", async () => {
    workspace = createWorkspace();
    const root = plugin();
    const script = [{ expect: ["Say hello to Ada"], text: "Hello." }];
    const run = await workspace.play(script, ["--trust", "--plugin-dir", root, "--", "/greet Ada"]);
    expect(run.exit).toBe(0);
    expect(readFileSync(join(workspace.path, "hooked.txt"), "utf8").trim()).toBe(root);
    expect(run.lines()[0]!["mcp_servers"]).toEqual([{ name: "plugin-kit-tide", status: "pending" }]);
    const skill = await workspace.play(
      [{ expect: ["Tie a bowline"], text: "ok" }],
      ["--plugin-dir", root, "--", "/knots"],
    );
    expect(skill.exit).toBe(0);
    const agent = await workspace.play(
      [{ expect: ["sailor"], text: "ok" }],
      ["--plugin-dir", root, "--", "/sailor north"],
    );
    expect(agent.exit).toBe(0);
  });

  it("--plugin-dir accepts Claude Code's layout and locations in the manifest", async () => {
    workspace = createWorkspace();
    const root = plugin(
      {
        ".cursor-plugin/plugin.json": "{}",
        ".claude-plugin/plugin.json": "",
        "other/greet.md": "Greet by another file.",
      },
      "claude-kit",
    );
    writeFileSync(
      join(root, ".cursor-plugin/plugin.json"),
      JSON.stringify({
        name: "claude-kit",
        commands: ["./other"],
        mcpServers: {},
        hooks: { PreToolUse: [{ matcher: "Bash", hooks: [{ type: "command", command: "echo no >&2; exit 2" }] }] },
      }),
    );
    const script = [
      { expect: ["Greet by another file"], calls: [{ name: "Shell", args: { command: "echo hi" } }] },
      { text: "Refused." },
    ];
    const run = await workspace.play(script, ["--trust", "--plugin-dir", root, "--", "/greet"]);
    expect(JSON.stringify(run.lines().find((line) => line["subtype"] === "completed"))).toContain("rejected");
  });

  it.each([
    [{ ".cursor-plugin/plugin.json": '{"name":"a b"}' }, "must have letters, digits"],
    [{ ".cursor-plugin/plugin.json": '{"name":"kit","commands":"../../etc"}' }, "does not exist"],
    [{ ".cursor-plugin/plugin.json": '{"name":"kit","skills":"../home"}' }, "outside of the plugin"],
    [{ ".cursor-plugin/plugin.json": "{" }, "unexpected end of the text"],
  ])("--plugin-dir refuses %j", async (files, message) => {
    workspace = createWorkspace();
    const root = plugin(files as unknown as Record<string, string>);
    const run = await workspace.play(done, ["--trust", "--plugin-dir", root]);
    expect([run.exit, run.stdout.includes(message)]).toEqual([1, true]);
  });
});

describe("plugin", () => {
  it.each<[what: string, make: (root: string) => void]>([
    ["bytes", (root) => truncateSync(join(root, "start.sh"), 65 * 2 ** 20)],
    [
      "files",
      (root) => {
        for (let at = 0; at < 10_001; at++) writeFileSync(join(root, "rules", `${at}`), "");
      },
    ],
  ])("plugin add refuses a plugin of too many %s, from a folder or from git", async (_what, make) => {
    workspace = createWorkspace();
    const root = plugin();
    make(root);
    const git = ["-c", "user.name=n", "-c", "user.email=e@example.com", "-C", root];
    for (const words of [
      ["init", "-q"],
      ["add", "."],
      ["commit", "-qm", "all"],
    ])
      execFileSync("git", [...git, ...words], { env: workspace.env });
    for (const source of [root, `file://${root}`]) {
      const { exit, stderr } = await workspace.run(["plugin", "add", source, "--yes"]);
      expect(exit, stderr).toBe(1);
      expect(stderr).toContain("too large: at most 10000 files and directories of 64 MiB in all");
    }
    expect(readdirSync(join(workspace.config, "plugins"))).toEqual([]);
  });

  it("plugin add shows what it runs, copies it, and loads it until the copy changes", async () => {
    workspace = createWorkspace();
    const root = plugin();
    const asked = await workspace.run(["plugin", "add", root]);
    expect(asked.exit).toBe(2);
    expect(asked.stderr).toContain("runs on sessionStart: bash ./start.sh");
    expect(asked.stderr).toContain("starts plugin-kit-tide:");
    expect((await workspace.run(["plugin", "add", root, "--yes"])).stdout).toBe("✓ Installed the plugin kit\n");
    const run = await workspace.play([{ expect: ["Say hello to Bo"], text: "ok" }], ["--trust", "--", "/greet Bo"]);
    expect(run.exit).toBe(0);
    const installed = join(workspace.config, "plugins/installed/kit");
    expect(readFileSync(join(workspace.path, "hooked.txt"), "utf8").trim()).toBe(installed);

    writeFileSync(join(installed, "start.sh"), "touch ../../../evil");
    const changed = await workspace.play(done, ["--", "go"]);
    expect(changed.notices()).toContain("The plugin kit has changed since it was approved and is not loaded.");
    expect(existsSync(join(workspace.config, "evil"))).toBe(false);
    expect((await workspace.run(["plugin", "update", "kit", "--yes"])).stdout).toBe("✓ Updated the plugin kit\n");
    expect((await workspace.run(["plugin", "update"])).stdout).toBe("✓ kit is up to date.\n");
    await workspace.run(["plugin", "disable", "kit"]);
    expect((await workspace.run(["plugin", "list"])).stdout).toContain("kit  disabled");
    await workspace.run(["plugin", "enable", "kit"]);
    const listed = JSON.parse((await workspace.run(["plugins", "--format", "json"])).stdout) as object[];
    expect(listed).toMatchObject([
      { name: "kit", state: "loaded", commands: ["greet"], skills: ["knots"], agents: ["sailor"], rules: ["sea"] },
    ]);
    expect((await workspace.run(["plugin", "remove", "kit"])).exit).toBe(0);
    expect(existsSync(installed)).toBe(false);
  });

  it("plugin add clones a repository at a ref and runs none of its code", async () => {
    workspace = createWorkspace();
    const root = plugin();
    const { execFileSync } = await import("node:child_process");
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@example.com", ...args], { cwd: root });
    git("init", "-q");
    git("add", "-A");
    git("commit", "-qm", "one");
    git("tag", "v1");
    writeFileSync(join(root, "commands/later.md"), "Later.");
    git("add", "-A");
    git("commit", "-qm", "two");
    const added = await workspace.run(["plugin", "add", `file://${root}`, "--git-ref", "v1", "--yes"]);
    expect(added.stdout).toBe("✓ Installed the plugin kit\n");
    expect(existsSync(join(workspace.config, "plugins/installed/kit/commands/later.md"))).toBe(false);
    await workspace.run(["plugin", "update", "kit", "--git-ref", "HEAD", "--yes"]);
    expect(existsSync(join(workspace.config, "plugins/installed/kit/commands/later.md"))).toBe(true);
    expect(existsSync(join(workspace.path, "hooked.txt"))).toBe(false);
  });
});

describe("generate-rule", () => {
  it("the generate-rule command writes a rule file that the next run uses", async () => {
    workspace = createWorkspace();
    const made = await workspace.run(["rule", "Use", "tabs.", "--name", "tabs"]);
    expect(made.stdout).toContain("It applies to every conversation.");
    expect(readFileSync(join(workspace.path, ".cursor/rules/tabs.mdc"), "utf8")).toBe(
      "---\nalwaysApply: true\n---\n\nUse tabs.\n",
    );
    expect((await workspace.run(["generate-rule", "x", "--name", "tabs"])).stderr).toContain("already exists");
    expect((await workspace.run(["rule"])).exit).toBe(2);
    await workspace.run(["rule", "Go", "style.", "--globs", "*.go"]);
    expect(readFileSync(join(workspace.path, ".cursor/rules/go-style.mdc"), "utf8")).toContain(
      "globs: *.go\nalwaysApply: false",
    );
  });
});

describe("flags of the original that have no meaning here", () => {
  it.each([
    [["-c", "go on"], "--continue"],
    [["--auth-token", "x", "hi"], "--api-key"],
  ])("the error for %j says what to type instead", async (args, hint) => {
    workspace = createWorkspace();
    const run = await workspace.run(["-p", "--trust", ...args]);
    expect([run.exit, run.stderr.includes(hint)]).toEqual([2, true]);
  });
});
