// The table of `plugin` commands.
import { flag, textOrJson } from "../../flags.ts";
import type { InnerCommand } from "../inner-command.ts";

const yes = flag("Permissions", "-y, --yes", "Do not ask for confirmation");
const ref = flag("Run", "--git-ref <ref>", "Branch, tag or commit of a git source");

export const pluginCommands: readonly InnerCommand[] = [
  {
    name: "list",
    summary: "List plugins and what each contains",
    flags: [textOrJson],
    load: async () => (await import("./list.ts")).listPlugins,
  },
  {
    name: "add",
    summary: "Install a plugin from a directory or a git URL, after your approval",
    operands: "<source>",
    flags: [ref, yes],
    examples: ["plugin add ./my-plugin", "plugin add https://example.com/team/plugin.git --git-ref v2"],
    load: async () => (await import("./install.ts")).addPlugin,
  },
  {
    name: "update",
    summary: "Update installed plugins, and approve the changes",
    operands: "[name...]",
    flags: [ref, yes],
    load: async () => (await import("./install.ts")).updatePlugins,
  },
  {
    name: "remove",
    summary: "Remove installed plugins",
    operands: "<name...>",
    load: async () => (await import("./install.ts")).removePlugins,
  },
  {
    name: "enable",
    summary: "Enable a disabled plugin",
    operands: "<name>",
    load: async () => (await import("./install.ts")).enablePlugin,
  },
  {
    name: "disable",
    summary: "Keep a plugin, but do not load it",
    operands: "<name>",
    load: async () => (await import("./install.ts")).disablePlugin,
  },
];
