// The table of `sandbox` commands. Help, the parser and the dispatcher read it.
import { flag, textOrJson } from "../../flags.ts";
import type { InnerCommand } from "../inner-command.ts";

const ofRun = [
  flag("Permissions", "--allow-paths <paths>", "Additional writable paths (comma-separated)"),
  flag("Permissions", "--readonly-paths <paths>", "Read-only paths (comma-separated)"),
  flag("Permissions", "--blocked-patterns <globs>", "Paths neither readable nor writable (comma-separated)"),
  flag("Permissions", "--network", "Allow public hosts, through a proxy"),
  flag("Output", "--sb-debug", "Print the started command on stderr"),
];

export const sandboxCommands: readonly InnerCommand[] = [
  {
    name: "enable",
    summary: "Run commands that no rule allows in the sandbox, even with --force",
    load: async () => (await import("./switch.ts")).enable,
  },
  {
    name: "disable",
    summary: "Do not use the sandbox, only allow rules",
    load: async () => (await import("./switch.ts")).disable,
  },
  {
    name: "reset",
    summary: "Restore the default: used in print mode (-p), and for commands that only read",
    load: async () => (await import("./switch.ts")).reset,
  },
  {
    name: "status",
    summary: "Show whether it is on, whether it works here, and what it allows",
    flags: [textOrJson],
    uses: ["workspace"],
    load: async () => (await import("./switch.ts")).sandboxStatus,
  },
  {
    name: "run",
    summary: "Run a command in it; input, output and exit code are passed through",
    operands: "<cmd...>",
    flags: ofRun,
    uses: ["workspace", "add-dir"],
    examples: ["sandbox run npm test --silent", "sandbox run --network npm ci", 'sandbox run "ls -l | wc -l"'],
    load: async () => (await import("./run.ts")).runInSandbox,
  },
];
