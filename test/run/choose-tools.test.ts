// Which tools a run has, by its mode and by the names that flags give.
import { expect, it } from "vitest";
import { chooseServerTools, chooseTools } from "../../src/run/choose-tools.ts";

const names = (wish: object, mode: "default" | "plan" | "ask" | "force" = "default", hasServers = false) =>
  chooseTools(wish, { mode, hasServers }).map(({ name }) => name);

it("a run offers all tools but the plan tool without flags, and only reading ones in plan and ask mode", () => {
  expect(names({})).toEqual(expect.arrayContaining(["Read", "Write", "Edit", "Shell"]));
  expect(names({})).toEqual(names({}, "force"));
  for (const mode of ["plan", "ask"] as const) {
    const few = names({}, mode);
    expect(few).toContain("Read");
    for (const writer of ["Write", "Edit", "Delete", "Shell"]) expect(few, mode).not.toContain(writer);
  }
  const plan = names({}, "plan").filter((name) => !names({}, "ask").includes(name));
  expect(plan).toHaveLength(1);
  expect(names({})).not.toContain(plan[0]);
});

it("a run offers only the tools named by flags, without the disallowed ones", () => {
  expect(names({ allowedTools: ["Read", "shell"] })).toEqual(["Read", "Shell"]);
  expect(names({ allowedTools: ["edit"] })).toEqual(expect.arrayContaining(["Write", "Edit"]));
  expect(names({ allowedTools: ["Read", "Shell"], disallowedTools: ["Shell"] })).toEqual(["Read"]);
  expect(names({ allowedTools: [] })).toEqual([]);
});

it.each(["docs-search", "docs:*", "mcp", "listMcpResources", "readMcpResource", "ReadMCPResource"])(
  "--disallowed-tools accepts the resource tool %s only if there are MCP servers",
  (name) => {
    expect(names({ disallowedTools: [name] }, "default", true)).toEqual(names({}, "default", true));
    expect(() => names({ disallowedTools: [name] })).toThrow(`--disallowed-tools: unknown tool '${name}'.`);
  },
);

it("an unknown tool name in a flag is refused, with the nearest tool", () => {
  expect(() => names({ allowedTools: ["Raed"] }, "default", true)).toThrow(
    /^--allowed-tools: unknown tool 'Raed'\. Did you mean Read\? Tools: .*Read/,
  );
  expect(() => names({ allowedTools: ["Teleport"] })).toThrow(/unknown tool 'Teleport'\. Tools: /);
});

it("flags choose MCP tools by name, by server or all at once", () => {
  const tool = (tool: string, readOnly: boolean) => ({
    name: `docs-${tool}`,
    wire: "mcp",
    readOnly,
    mcp: { server: "docs", tool },
  });
  const all = [tool("search", true), tool("save", false)] as never;
  const chosen = (wish: object, mode: "default" | "plan" = "default") =>
    chooseServerTools(all, wish, mode).map(({ name }) => name);
  expect(chosen({})).toEqual(["docs-search", "docs-save"]);
  expect(chosen({}, "plan")).toEqual(["docs-search"]);
  for (const name of ["docs:search", "docs-search", "DOCS-Search"])
    expect([chosen({ allowedTools: [name] }), chosen({ disallowedTools: [name] })]).toEqual([
      ["docs-search"],
      ["docs-save"],
    ]);
  for (const name of ["docs:*", "mcp"]) {
    expect(chosen({ allowedTools: [name] })).toEqual(["docs-search", "docs-save"]);
    expect(chosen({ disallowedTools: [name] })).toEqual([]);
  }
  expect(chosen({ allowedTools: ["other:*"] })).toEqual([]);
});
