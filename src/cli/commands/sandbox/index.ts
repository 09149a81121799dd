// The table of `sandbox` commands. Help, the parser and the dispatcher read it.
import { flag, textOrJson } from "../../flags.ts";
import type { InnerCommand } from "../inner-command.ts";

const ofRun = [
  flag("Permissions", "--allow-paths <paths>", "Also writable (comma-separated)"),
  flag("Permissions", "--readonly-paths <paths>", "Not writable (comma-separated)"),
  flag("Permissions", "--blocked-patterns <globs>", "Neither read nor written (comma-separated)"),
  flag("Permissions", "--network", "Public hosts may be reached, through a proxy"),
  flag("Output", "--sb-debug", "Show on stderr what is started"),
];

export const sandboxCommands: readonly InnerCommand[] = [
  {
    name: "enable",
    summary: "Commands that no rule allows run in it, even with --force",
    load: async () => (await import("./switch.ts")).enable,
  },
  {
    name: "disable",
    summary: "Use the allowlist alone",
    load: async () => (await import("./switch.ts")).disable,
  },
  {
    name: "reset",
    summary: "Restore the default: used where nobody can be asked, as with -p",
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
    summary: "Run a command in it; its input, output and exit code are passed on",
    operands: "<cmd...>",
    flags: ofRun,
    uses: ["workspace", "add-dir"],
    examples: ["sandbox run npm test --silent", "sandbox run --network npm ci", 'sandbox run "ls -l | wc -l"'],
    load: async () => (await import("./run.ts")).runInSandbox,
  },
];
