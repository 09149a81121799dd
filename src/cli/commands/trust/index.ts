// The table of `trust` commands: which folders the user trusts.
import { flag, textOrJson } from "../../flags.ts";
import type { InnerCommand } from "../inner-command.ts";

export const trustCommands: readonly InnerCommand[] = [
  {
    name: "list",
    summary: "List the trusted directories",
    flags: [textOrJson],
    load: async () => (await import("./change.ts")).listTrusted,
  },
  {
    name: "add",
    summary: "Trust a directory (default: this one) with its settings, hooks and servers",
    operands: "[path]",
    flags: [flag("Workspace", "-y, --yes", "Do not ask for confirmation"), textOrJson],
    examples: ["trust add", "trust add ../library"],
    load: async () => (await import("./change.ts")).addTrust,
  },
  {
    name: "remove",
    summary: "Stop trusting a directory (default: this one)",
    operands: "[path]",
    flags: [textOrJson],
    examples: ["trust remove", "trust remove ../library"],
    load: async () => (await import("./change.ts")).removeTrust,
  },
];
