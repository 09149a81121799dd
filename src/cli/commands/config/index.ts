// The table of `config` commands, which read and change the user's settings.
import { textOrJson } from "../../flags.ts";
import type { InnerCommand } from "../inner-command.ts";

export const configCommands: readonly InnerCommand[] = [
  {
    name: "list",
    summary: "List every setting with its value, where it comes from and what it means",
    flags: [textOrJson],
    load: async () => (await import("./config.ts")).listSettings,
  },
  {
    name: "get",
    summary: "Print the value of a setting",
    operands: "<name>",
    flags: [textOrJson],
    examples: ["config get model"],
    load: async () => (await import("./config.ts")).getSetting,
  },
  {
    name: "set",
    summary: "Save a value: a word, a number, true or false, or a list with commas",
    operands: "<name> <value>",
    examples: ["config set model gpt-5", "config set retries 5", "config set fallbackModels gpt-5-mini,haiku"],
    load: async () => (await import("./config.ts")).setSetting,
  },
  {
    name: "unset",
    summary: "Remove a value, so that the default holds again",
    operands: "<name>",
    examples: ["config unset retries"],
    load: async () => (await import("./config.ts")).unsetSetting,
  },
  {
    name: "edit",
    summary: "Open cli-config.json (or courser.json) in $EDITOR",
    operands: "[file]",
    examples: ["config edit", "config edit courser.json"],
    load: async () => (await import("./config.ts")).editSettings,
  },
  {
    name: "path",
    summary: "Print the paths of the files that hold the settings",
    load: async () => (await import("./config.ts")).settingsPaths,
  },
];
