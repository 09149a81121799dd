// docs/sdk/agents.md says what the drivers do: names of tools, flags of permission modes, abilities, places.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { normalizeToolName } from "../../src/sdk/cursor/index.ts";
import type { AgentDriver, CliInfo, PermissionMode } from "../../src/sdk/drivers/driver.ts";
import { drivers } from "../../src/sdk/drivers/index.ts";
import { createUnifier } from "../../src/sdk/live-messages.ts";
import { createNamer } from "../../src/sdk/run-event.ts";
import { claudeReader } from "../../src/sdk/sessions/claude.ts";
import { cursorReader } from "../../src/sdk/sessions/cursor.ts";
import { unifiedToolName } from "../../src/sdk/tool-names.ts";
import type { UnifiedTool } from "../../src/sdk/unified.ts";
import { codeSpans } from "../support/doc-examples.ts";
import { repository } from "../support/run-cli.ts";

const page = readFileSync(join(repository, "docs/sdk/agents.md"), "utf8");

/** The rows of the table below a heading, without its head. */
function table(heading: string): string[][] {
  const part = page.split(`## ${heading}\n`)[1]!.split("\n## ")[0]!;
  const rows = part.split("\n").filter((line) => line.startsWith("|"));
  return rows.slice(2).map((row) =>
    row
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim()),
  );
}

const words = (cell: string) => codeSpans(cell).map((span) => span.text);

/** The columns of the tables of CLIs. */
const columns: { driver: AgentDriver; cli: CliInfo }[] = [
  { driver: drivers.cursor, cli: { path: "", isOurs: true } },
  { driver: drivers.cursor, cli: { path: "", isOurs: false } },
  { driver: drivers.claude, cli: { path: "", isOurs: false } },
  { driver: drivers.codex, cli: { path: "", isOurs: false } },
  { driver: drivers.gemini, cli: { path: "", isOurs: false } },
];

describe("tool names", () => {
  const rows = table("Tool names");
  it("the table of tool names has the fourteen documented names", () => {
    expect(rows.map(([name]) => words(name!)[0])).toEqual(
      "Read Write Edit Bash Ls Grep Glob Delete TodoWrite WebFetch WebSearch SemanticSearch Mcp Task".split(" "),
    );
  });

  it.each(rows)("the documented tool name is the one in use: %s", (unified, cursor, ...others) => {
    const [name] = words(unified!);
    for (const key of words(cursor!)) {
      const created = { success: { path: "/a", afterFullFileContent: "" } };
      expect(normalizeToolName({ [key]: { args: {}, ...(name === "Write" && { result: created }) } })).toBe(name);
    }
    for (const [index, tool] of (["claude", "codex", "gemini"] satisfies UnifiedTool[]).entries())
      for (const own of words(others[index]!)) expect(unifiedToolName(tool, own), `${tool} ${own}`).toBe(name);
  });
});

describe("permission modes", () => {
  const rows = table("Permission modes");
  const argsOf = ({ driver, cli }: (typeof columns)[number], permissionMode: PermissionMode) =>
    driver.command({ prompt: "", cwd: "/", permissionMode, partial: false }, cli);

  it("all permission modes are covered", () =>
    expect(rows.map(([mode]) => words(mode!)[0])).toEqual([...drivers.cursor.capabilities().permissionModes]));

  it.each(rows)("the documented permission mode is what the drivers do: %s", (mode, ...cells) => {
    for (const [index, cell] of cells.entries()) {
      const { args, losses } = argsOf(columns[index]!, words(mode!)[0] as PermissionMode);
      const plain = argsOf(columns[index]!, "default").args;
      if (cell.startsWith("—")) expect(args, cell).toEqual(plain);
      else expect(` ${args.join(" ")} `).toContain(` ${words(cell)[0]} `);
      expect(losses.length > 0, cell).toBe(cell.includes("loss"));
    }
  });
});

describe("capabilities", () => {
  const rows = table("Abilities");
  it("these tests cover every capability of the CLIs", () => {
    const known = Object.keys(drivers.cursor.capabilities()).filter((name) => name !== "permissionModes");
    expect(rows.map(([name]) => words(name!)[0])).toEqual(known);
  });

  it.each(rows)("the documented capability is what the drivers can do: %s", (name, ...cells) => {
    const told = columns.map(({ driver, cli }) => driver.capabilities(cli)[words(name!)[0] as "usage"]);
    expect(cells).toEqual(told.map((can) => (can ? "yes" : "no")));
  });
});

it("the command line of cursor-agent is as documented", () => {
  const line = (cli: CliInfo, more: { permissionMode: PermissionMode; resume?: string }) =>
    drivers.cursor.command({ prompt: "", cwd: "/", partial: false, ...more }, cli).args;
  for (const { cli } of columns.slice(0, 2)) {
    expect(line(cli, { permissionMode: "default" })).toEqual(["--print", "--output-format", "stream-json"]);
    expect(line(cli, { permissionMode: "force", resume: "id" })).toEqual(
      "--print --output-format stream-json --force --resume id".split(" "),
    );
  }
});

describe("differences between cursor-agent and Claude Code", () => {
  const row = (name: string) => table("Cursor and Claude Code").find(([first]) => first === name)!;

  it("the documented session folders are those that are read", () => {
    const [, claude, cursor] = row("where");
    expect(claude).toContain(`\`${claudeReader.folder({ HOME: "~" })}/`);
    expect(words(cursor!)[0]!.replace("~", "/home")).toMatch(
      new RegExp(`^${cursorReader.folder({ CURSOR_CONFIG_DIR: "/home/.cursor" })}/`),
    );
  });

  it("both spellings of a call give the same tool use", () => {
    const [, claude, cursor] = row("a call");
    const request = { prompt: "", cwd: "/", permissionMode: "default", partial: false } as const;
    const filled = (cell: string) => JSON.parse(words(cell)[0]!.replace("{…}", '{"path":"a"}'));
    const uses = (tool: "cursor" | "claude", line: object) =>
      drivers[tool]
        .decoder(request)(line)
        .map(createNamer({ tool, isOurs: true }))
        .flatMap(createUnifier({ tool, startedAt: 0 }))
        .flatMap((message) => message.content)
        .filter((block) => block.type === "tool_use");
    const use = { type: "tool_use", id: "c1", name: "Read", input: { path: "a" } };
    const message = { role: "assistant", content: [{ ...filled(claude!), id: "c1" }] };
    expect(uses("claude", { type: "assistant", message, session_id: "s" })).toEqual([use]);
    expect(uses("cursor", { ...filled(cursor!), subtype: "started", call_id: "c1", session_id: "s" })).toEqual([use]);
  });

  it("the documented flags are those that the drivers use", () => {
    const [, claude, cursor] = row("streamed text");
    const partial = { prompt: "", cwd: "/", permissionMode: "default", partial: true } as const;
    const used = (column: number) => columns[column]!.driver.command(partial, columns[column]!.cli).args;
    expect(used(2)).toContain(words(claude!)[0]);
    expect(used(0)).toContain(words(cursor!)[0]);
  });
});
