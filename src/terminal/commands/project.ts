// Commands that show the configuration of the project and the user: permissions, hooks, servers, rules, skills.
import type { CallableName } from "../../protocol/run.ts";
import type { Desk } from "../desk.ts";
import { commandOutput, type SlashCommand } from "./command.ts";
import { reopen } from "./resume-chat.ts";
import { permissionsCommand } from "./settings.ts";

export const projectCommands: readonly SlashCommand[] = [
  permissionsCommand,
  { name: "hooks", help: "Hooks, and whether they run", run: commandOutput("hooks", "list") },
  {
    name: "mcp",
    operands: "[list|list-tools|login|enable|disable] [name]",
    help: "MCP servers and their tools",
    run: mcp,
  },
  {
    name: "plugin",
    aliases: ["plugins"],
    operands: "[list|add|update|remove|enable|disable] [name or source]",
    help: "Plugins and what each contains",
    run: plugin,
  },
  {
    name: "sandbox",
    operands: "[status|enable|disable|reset]",
    help: "Where commands run, and what they can reach",
    run: sandbox,
  },
  {
    name: "shell",
    aliases: ["sh", "run"],
    operands: "[command]",
    help: "Run a shell command, like !",
    isBeside: true,
    run: (desk, rest) => desk.shell(rest),
  },
  { name: "skills", help: "Skills, called by /name", run: (desk) => showNames(desk, "skill") },
  {
    name: "commands",
    help: "Your own commands, and prompts of MCP servers, called by /name",
    run: (desk) => showNames(desk, "command", "prompt"),
  },
  {
    name: "agents",
    aliases: ["subagents"],
    help: "Subagents, called by /name",
    run: (desk) => showNames(desk, "subagent"),
  },
  {
    name: "rules",
    aliases: ["memory"],
    help: "Rules and instructions for the model",
    run: showRules,
  },
];

/** The message shown when a list of skills, commands or subagents is empty. */
const emptyListMessages: Readonly<Record<CallableName["kind"], string>> = {
  skill: "There are no skills here. /create-skill writes one.",
  command: "You have no commands here. /create-command writes one.",
  subagent: "There are no subagents here. /create-subagent writes one.",
  prompt: "",
};

/** Shows a list to choose from; the chosen name is put into the editor, to be completed and sent. */
async function showNames(desk: Desk, ...kinds: readonly CallableName["kind"][]): Promise<void> {
  await desk.conversation.refreshNames();
  const names = desk.conversation.names.filter(({ kind }) => kinds.includes(kind));
  if (names.length === 0) return desk.say(emptyListMessages[kinds[0]!]);
  const chosen = await desk.choose({
    title: kinds[0] === "skill" ? "Skills" : kinds[0] === "subagent" ? "Subagents" : "Commands",
    items: names.map(({ name, kind, description = "" }) => ({
      value: name,
      label: `/${name}`,
      detail: description,
      note: kind,
    })),
  });
  if (chosen !== undefined) desk.write(`/${chosen} `);
}

/** Subcommands by kind: `looks` only read, `asks` prompt the user and so get the terminal, `sets` change something. */
const verbs = {
  mcp: { looks: ["list", "list-tools"], asks: ["login"], sets: ["logout", "enable", "disable"] },
  plugin: { looks: ["list"], asks: ["add", "update"], sets: ["remove", "enable", "disable"] },
} as const;

async function runVerb(desk: Desk, name: keyof typeof verbs, rest: string, hint = ""): Promise<void> {
  const [verb = "list", ...words] = rest.split(/\s+/).filter(Boolean);
  const { looks, asks, sets }: Record<"looks" | "asks" | "sets", readonly string[]> = verbs[name];
  if (![looks, asks, sets].some((known) => known.includes(verb)))
    return desk.complain(`/${name} takes ${[...looks, ...asks, ...sets].join(", ")}.${hint}`);
  const command = [name, verb, ...words];
  const code = asks.includes(verb) ? await desk.interactive(command) : await showOutput(desk, command);
  if (code === 0 && !looks.includes(verb)) desk.say("It applies from the next chat on: /clear, or /resume.");
}

async function showOutput(desk: Desk, command: readonly string[]): Promise<number> {
  const { code, text } = await desk.command(command);
  desk.show(text);
  return code;
}

function mcp(desk: Desk, rest: string): Promise<void> {
  const { program } = desk;
  return runVerb(desk, "mcp", rest, ` To add or remove a server: ${program} mcp add, ${program} mcp remove.`);
}

function plugin(desk: Desk, rest: string): Promise<void> {
  return runVerb(desk, "plugin", rest);
}

async function sandbox(desk: Desk, rest: string): Promise<void> {
  const status = await desk.command(["sandbox", "status"]);
  if (rest === "") desk.show(status.text);
  const verb =
    rest !== ""
      ? rest
      : await desk.choose({
          title: "Sandbox",
          items: [
            { value: "status", label: "cancel", detail: "change nothing" },
            {
              value: "enable",
              label: "enable",
              detail: "run commands that no rule allows in it, in this terminal too",
            },
            { value: "disable", label: "disable", detail: "only rules and permission prompts" },
            { value: "reset", label: "reset", detail: "the default: print mode (-p), and commands that only read" },
          ],
        });
  if (verb === undefined || (verb === "status" && rest === "")) return;
  const { code, text } = await desk.command(["sandbox", verb]);
  if (code !== 0) return desk.complain(text.trim());
  desk.show(text);
  if (verb !== "status") await reopen(desk, desk.conversation.request);
}

/** Returns one line for each instruction file that is in the model's context from the start. */
export async function instructionLines(desk: Desk): Promise<string[]> {
  const { loadInstructions } = await import("../../agent/instructions/project.ts");
  const { configDir, homeDir } = await import("../../store/config-dir.ts");
  const { shortPath } = await import("../../text/short-path.ts");
  const { workspace, roots = [] } = desk.conversation.request;
  const home = homeDir(desk.env);
  const { sources } = loadInstructions({ workspace, roots, home, configDir: configDir(desk.env) });
  return sources.map(({ path, how }) => `  ${how.padEnd(10)} ${shortPath(path, home)}`);
}

async function showRules(desk: Desk): Promise<void> {
  const lines = await instructionLines(desk);
  if (lines.length === 0) return desk.say("No rules: neither AGENTS.md nor .cursor/rules. /init writes an AGENTS.md.");
  desk.show(lines.join("\n"));
}
