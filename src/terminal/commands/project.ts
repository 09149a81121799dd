// Commands that look at what the project and the user have set: permissions, hooks, servers, rules, skills.
import type { Desk } from "../desk.ts";
import { type SlashCommand, shows } from "./command.ts";

export const projectCommands: readonly SlashCommand[] = [
  {
    name: "permissions",
    help: "What is allowed, asked and denied",
    group: "Project",
    run: shows("permissions", "list"),
  },
  { name: "hooks", help: "Hooks, and whether they run", group: "Project", run: shows("hooks", "list") },
  {
    name: "mcp",
    operands: "[list|list-tools <name>]",
    help: "MCP servers and their tools",
    group: "Project",
    async run(desk, rest) {
      const words = rest === "" ? ["list"] : rest.split(/\s+/);
      if (words[0] !== "list" && words[0] !== "list-tools")
        return desk.complain(
          `/mcp shows: /mcp list, /mcp list-tools <name>. To change servers: ${desk.program} mcp ${words[0]}`,
        );
      desk.show((await desk.command(["mcp", ...words])).text);
    },
  },
  { name: "sandbox", help: "Where commands run, and what they can reach", group: "Project", run: shows("sandbox") },
  { name: "skills", help: "Skills that /name calls", group: "Project", run: (desk) => showNames(desk, "skills") },
  {
    name: "commands",
    help: "Custom commands that /name calls",
    group: "Project",
    run: (desk) => showNames(desk, "commands"),
  },
  {
    name: "agents",
    aliases: ["subagents"],
    help: "Subagents that /name calls",
    group: "Project",
    run: (desk) => showNames(desk, "subagents"),
  },
  { name: "rules", help: "Rules and instructions that the model is told", group: "Project", run: showRules },
];

async function showNames(desk: Desk, kind: "skills" | "commands" | "subagents"): Promise<void> {
  const names = (await desk.conversation.run?.names())?.[kind] ?? [];
  if (names.length === 0) return desk.say(`There are no ${kind} here.`);
  desk.show(names.map((name) => `  /${name}`).join("\n"));
}

async function showRules(desk: Desk): Promise<void> {
  const { loadInstructions } = await import("../../agent/instructions/project.ts");
  const { configDir, homeDir } = await import("../../store/config-dir.ts");
  const { shortPath } = await import("../../text/short-path.ts");
  const { workspace, roots = [] } = desk.conversation.request;
  const home = homeDir(desk.env);
  const { sources } = loadInstructions({ workspace, roots, home, configDir: configDir(desk.env) });
  if (sources.length === 0)
    return desk.say("No rules: neither AGENTS.md nor .cursor/rules. /init writes an AGENTS.md.");
  desk.show(sources.map(({ path, how }) => `  ${how.padEnd(10)} ${shortPath(path, home)}`).join("\n"));
}
