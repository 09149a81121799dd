// Help through the built CLI: complete by the tables, aligned, and as quick as a start allows. docs/cli.md is held to the same tables.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type Command, commands } from "../../src/cli/commands/index.ts";
import { flags } from "../../src/cli/flags.ts";
import { cli, createWorkspace, repository } from "../support/run-cli.ts";

const workspace = createWorkspace();
afterAll(() => workspace.remove());

/** The reference of the documented CLI: flags, with their short forms and values. */
const documented = [
  "-v, --version",
  "--api-key <key>",
  "-p, --print",
  "-b, --background",
  "--resume [chatId]",
  "--model <model>",
  "-f, --force",
  "--approve-mcps",
  "--browser",
  "-h, --help",
  "--output-format <format>",
  "--stream-partial-output",
];
const documentedCommands = [
  "install-shell-integration",
  "uninstall-shell-integration",
  "login",
  "logout",
  "mcp",
  "status | whoami",
  "update | upgrade",
  "create-chat",
  "agent [prompt...]",
  "ls",
  "resume",
  "sandbox",
  "help [command]",
];

function isBuilt(command: Command): boolean {
  return command.name === "agent" || command.load !== undefined || command.commands !== undefined;
}

describe("help", () => {
  it.each([["--help"], ["-h"], ["help"], ["agent", "--help"], ["help", "agent"]])(
    "the help of %s %s fits one screen: what it is, commands, options, examples",
    async (...args) => {
      const { exit, stdout, stderr } = await workspace.run(args.filter((word) => word !== undefined));
      expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
      expect(stdout).toMatch(/^courser: .+\n\nUsage: courser /);
      expect(stdout.trimEnd().split("\n").length).toBeLessThanOrEqual(36);
      expect(stdout.indexOf("\nCommands:")).toBeLessThan(stdout.indexOf("\nOptions:"));
      const named = /Commands:\n([\s\S]+?)\n\n/
        .exec(stdout)![1]!
        .split("\n")
        .flatMap((row) => row.slice(2, 30).trim().split(", "));
      for (const name of named)
        expect(
          commands.find((each) => each.name === name && isBuilt(each)),
          name,
        ).toBeDefined();
    },
  );

  it("the examples in the help work as printed, in a fresh folder", async () => {
    const examples = /Examples:\n([\s\S]+?)\n\n/.exec((await workspace.run(["--help"])).stdout)![1]!.split("\n");
    expect(examples.length).toBeGreaterThan(2);
    for (const example of examples) {
      const fresh = createWorkspace();
      const run = spawnSync("bash", ["-c", example.replace(/\bcourser\b/, `"${process.execPath}" "${cli}"`)], {
        cwd: fresh.path,
        env: fresh.env,
        encoding: "utf8",
      });
      fresh.remove();
      expect({ example, status: run.status, stderr: run.stderr }).toEqual({ example, status: 0, stderr: "" });
    }
  });

  it("help --all shows every existing flag and command", async () => {
    const { exit, stdout, stderr } = await workspace.run(["help", "--all"]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(stdout.indexOf("\nCommands:")).toBeLessThan(stdout.indexOf("\nRun:"));
    for (const flag of flags.filter((each) => !each.hidden))
      expect(new RegExp(`^  (-\\w, )?--${flag.name}\\b`, "m").test(stdout), flag.name).toBe(true);
    for (const command of commands) expect(stdout).toMatch(new RegExp(`^  ${command.name}\\b`, "m"));
    for (const row of [...documented, ...documentedCommands])
      expect(stdout.split("\n").map((line) => line.slice(2))).toContainEqual(expect.stringMatching(startsWith(row)));
  });

  it("help says what --force does not override, the environment variables and the exit codes", async () => {
    const { stdout } = await workspace.run(["help", "--all"]);
    for (const heading of ["Environment:", "Exit codes:", "What --force does not override:"])
      expect(stdout).toContain(`\n${heading}\n`);
    for (const name of [
      "CURSOR_API_KEY",
      "ANTHROPIC_API_KEY",
      "COURSER_MODEL",
      "CURSOR_CONFIG_DIR",
      "HTTPS_PROXY",
      "NO_PROXY",
      "COURSER_COMPAT",
    ])
      expect(stdout).toContain(name);
    for (const code of ["0", "1", "2", "130", "143"]) expect(stdout).toMatch(new RegExp(`^  ${code} {5,}\\w`, "m"));
    expect(stdout).toMatch(/deny rules/);
    expect(stdout).toMatch(/protected paths/);
  });

  it.each([["--help"], ["help", "--all"]])(
    "the help page of %s fits 80 columns, with descriptions in one column",
    async (...args) => {
      const { stdout } = await workspace.run(args);
      const lines = stdout.split("\n");
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      const described = lines.filter((line) => /^ {2}-/.test(line) && / {2,}\S/.test(line.slice(3)));
      expect(described.length).toBeGreaterThan(5);
      for (const line of described) expect(line.slice(29, 32), line).toMatch(/ {2}\S/);
    },
  );

  it("help --all lists nothing that does not exist", () => {
    expect(commands.filter((command) => !isBuilt(command)).map(({ name }) => name)).toEqual([]);
    expect(flags.filter((flag) => flag.instead !== undefined && !flag.hidden)).toEqual([]);
  });

  it.each(
    commands
      .filter((each) => each.name !== "agent" && each.name !== "help")
      .map((command) => [command.name, command] as const),
  )("help for the command %s shows its summary and usage", async (name, command) => {
    const asked = await workspace.run(["help", name]);
    expect(asked.exit).toBe(0);
    expect(asked.stdout.split("\n")[0]).toBe(
      `Usage: courser ${name} [options]${command.operands ? ` ${command.operands}` : ""}`,
    );
    expect(asked.stdout).toContain(command.summary);
    for (const flag of command.flags ?? []) expect(asked.stdout).toContain(`--${flag.name}`);
    for (const alias of command.aliases ?? []) expect((await workspace.run(["help", alias])).stdout).toBe(asked.stdout);
    // The page about it, if there is one, follows.
    const short = (await workspace.run([name, "--help"])).stdout;
    const page = existsSync(join(repository, "docs", `${name}.md`));
    expect(asked.stdout).toMatch(page ? /^# /m : /All options: courser help --all\n$/);
    expect(asked.stdout.slice(0, short.length)).toBe(short);
  });

  it("help shows examples by the name it was called by", async () => {
    const link = join(workspace.home, "cursor-agent");
    symlinkSync(cli, link);
    const { stdout } = await workspace.run(["help", "login"], { name: link });
    expect(stdout).toContain("Usage: cursor-agent login");
    expect(stdout).toContain("  cursor-agent login anthropic\n");
    expect(stdout).toContain("| cursor-agent login openai\n");
    expect(stdout).not.toContain("courser");
    expect((await workspace.run(["--help"], { name: link })).stdout).toMatch(/\nUsage: cursor-agent /);
  });

  it.each([
    ["configuration", "# Configuration\n"],
    ["docs/scripted-model.md", "# The scripted model\n"],
    ["sdk", "# The SDK\n"],
    ["sdk/reference", "# "],
    ["decisions/running", "# Runs: choices that may look odd\n"],
  ])("help %s is a page of the documentation", async (name, head) => {
    const { exit, stdout, stderr } = await workspace.run(["help", name]);
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    expect(stdout.startsWith(head), stdout.slice(0, 80)).toBe(true);
    expect(stdout).not.toMatch(/\]\((?!http)|^<!--|\n!\[/);
  });

  it("help pages use the program's name, and only pages can be read", async () => {
    const link = join(workspace.home, "agent");
    symlinkSync(cli, link);
    const { stdout } = await workspace.run(["help", "models"], { name: link });
    expect(stdout).toContain('agent -p --trust "what does this project do?"');
    for (const name of ["../package", "/etc/passwd", "decisions", ""])
      expect((await workspace.run(["help", name])).exit, name).toBe(2);
  });

  it("an unknown help topic is a usage error with a suggestion", async () => {
    const { exit, stdout, stderr } = await workspace.run(["help", "stauts"]);
    expect({ exit, stdout }).toEqual({ exit: 2, stdout: "" });
    expect(stderr).toMatch(/^Error: unknown command or page 'stauts'\. Did you mean status\? \[USAGE\]\n/);
    expect(await workspace.run(["help", "sessions", "nosuch"])).toMatchObject({ exit: 2, stdout: "" });
    expect((await workspace.run(["help", "zzzzzzzzzz"])).stderr).toContain("'courser help index' the pages");
  });

  it("help takes at most twice as long as an empty program", () => {
    /** Of the processor, which others do not make longer. */
    const time = (args: string[]) => {
      const timed = ["-c", 'TIMEFORMAT="%U %S"; time "$0" "$@" > /dev/null', process.execPath, ...args];
      const { status, stderr } = spawnSync("bash", timed, { env: workspace.env, encoding: "utf8" });
      expect([status, stderr]).toEqual([0, expect.stringMatching(/^[\d.]+ [\d.]+\n$/)]);
      return stderr.split(" ").reduce((sum, seconds) => sum + Number(seconds), 0);
    };
    // The least of each is what the work itself takes.
    const empty: number[] = [];
    const helped: number[] = [];
    for (let round = 0; round < 8; round++) {
      empty.push(time(["-e", "0"]));
      helped.push(time([cli, "--help"]));
    }
    expect(Math.min(...helped) / Math.min(...empty)).toBeLessThanOrEqual(2);
  });

  it("help exits without an error when its reader closes the pipe", async () => {
    const shell = spawnSync(
      "bash",
      ["-c", `"$0" "$1" --help | head -1; echo "\${PIPESTATUS[0]}"`, process.execPath, cli],
      { env: workspace.env, encoding: "utf8" },
    );
    expect(shell.stdout).toMatch(/^courser: .*\n(0|141)\n$/);
    expect(shell.stderr).toBe("");
  });
});

describe("docs/cli.md", () => {
  const page = readFileSync(join(repository, "docs/cli.md"), "utf8");
  const firstCells = [...page.matchAll(/^\| (`.+?) \| /gm)].map(([, cell]) => cell!);
  const codes = firstCells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, code]) => code!));
  const flagsOfCommands = page.slice(page.indexOf("### Of one command"), page.indexOf("### General"));
  const sideBySide = [...flagsOfCommands.matchAll(/`(-[^`]+)`/g)].map(([, code]) => code!);
  const spelled = (flag: (typeof flags)[number]) =>
    `${flag.short ? `-${flag.short}, ` : ""}--${flag.name}${flag.value ? ` ${flag.value}` : ""}`;

  it("docs/cli.md lists every flag as the flag table spells it, and no other", () => {
    const own = commands.flatMap((command) => command.flags ?? []);
    const shown = flags.filter((flag) => flag.instead === undefined);
    const expected = [...new Set([...shown, ...own].map(spelled))].sort();
    expect([...codes.filter((code) => /^-/.test(code)), ...sideBySide].sort()).toEqual(expected);
  });

  it("docs/cli.md lists every command and alias", () => {
    const listed = codes.filter((code) => /^[a-z]/.test(code)).map((code) => code.replace(/ [[<].*$/, ""));
    for (const name of commands.flatMap((command) => [command.name, ...(command.aliases ?? [])]))
      expect(listed).toContain(name);
  });
});

function startsWith(row: string): RegExp {
  return new RegExp(`^${row.replace(/[[\]().|]/g, "\\$&")}( |$)`);
}
