// Lists what a plugin contains: its texts, and what it runs.
import { readdirSync, statSync } from "node:fs";
import { basename } from "node:path";
import { pluginHooks } from "../../../store/hook-files.ts";
import { serversIn } from "../../../store/mcp-servers.ts";
import { type Plugin, serverName, withPluginRoot } from "../../../store/plugins/read-plugin.ts";

export type PluginContents = {
  commands: string[];
  skills: string[];
  agents: string[];
  rules: string[];
  /** The plugin's hooks, each with the command line that it runs. */
  hooks: { event: string; command: string }[];
  servers: { name: string; start: string }[];
};

export function contentsOf(plugin: Plugin): PluginContents {
  const names = (folders: readonly string[]) => folders.flatMap(namesIn);
  return {
    commands: names(plugin.commands),
    skills: names(plugin.skills),
    agents: names(plugin.agents),
    rules: names(plugin.rules),
    hooks: pluginHooks(plugin, plugin.root).hooks.map(({ event, command, prompt }) => ({
      event,
      command: command ?? `asks a model: ${prompt}`,
    })),
    servers: plugin.servers.flatMap(({ file, content }) =>
      serversIn(withPluginRoot(content, plugin), { scope: "user", file, folder: plugin.root }, []).map(
        ({ name, definition: { command, args = [], url } }) => ({
          name: serverName(plugin, name),
          start: url ?? [command, ...args].join(" "),
        }),
      ),
    ),
  };
}

/** Describes the contents for the user who is asked to approve the plugin. */
export function describe({ commands, skills, agents, rules, hooks, servers }: PluginContents): string[] {
  return [
    ...Object.entries({ commands, skills, agents, rules })
      .filter(([, names]) => names.length > 0)
      .map(([kind, names]) => `  ${kind}: ${names.join(", ")}`),
    ...hooks.map(({ event, command }) => `  runs on ${event}: ${command}`),
    ...servers.map(({ name, start }) => `  starts ${name}: ${start}`),
  ];
}

function namesIn(path: string): string[] {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) return [basename(path).replace(/\.\w+$/, "")];
  return readdirSync(path)
    .filter((name) => !name.startsWith("."))
    .map((name) => name.replace(/\.(md|mdc|markdown|txt)$/, ""));
}
