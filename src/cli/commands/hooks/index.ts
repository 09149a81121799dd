// The table of `hooks` commands. Help, the parser and the dispatcher read it.
import { flag, textOrJson } from "../../flags.ts";
import type { InnerCommand } from "../inner-command.ts";

const hosts = flag(
  "Run",
  "--hosts <names>",
  "cursor, claude, codex, gemini, comma-separated (default: those in use here)",
);
const events = flag("Run", "--events <names>", "Events, comma-separated (default: the five that every host has)");
const matcher = flag("Run", "--matcher <pattern>", "Only for tools whose name matches, such as 'Bash|Edit'");
const global = flag("Run", "--global", "In your home directory instead of the project");
const dryRun = flag("Run", "--dry-run", "Only show what would change");

/** Flags that the commands share which only inspect hooks. */
const asTrusted = { uses: ["trust", "workspace"], meanings: { trust: "As in a trusted workspace; nothing is saved" } };
const printed = { flags: [textOrJson], ...asTrusted };

export const hookCommands: readonly InnerCommand[] = [
  {
    name: "init",
    summary: "Write a starter hook script, .hooks/NAME.ts",
    operands: "[name]",
    flags: [textOrJson],
    uses: ["force", "workspace"],
    meanings: { force: "Overwrite the script if it exists" },
    examples: ["hooks init", "hooks init guard"],
    load: async () => (await import("./init.ts")).initHook,
  },
  {
    name: "install",
    summary: "Register a script with Cursor, Courser, Claude Code, Codex and Gemini CLI",
    operands: "[script]",
    flags: [hosts, events, matcher, global, dryRun, textOrJson],
    uses: ["workspace"],
    examples: [
      "hooks install",
      "hooks install .hooks/guard.ts --hosts cursor,claude --dry-run",
      "hooks install .hooks/guard.ts --events PreToolUse --matcher 'Bash|Edit'",
    ],
    load: async () => (await import("./install.ts")).installHook,
  },
  {
    name: "uninstall",
    summary: "Remove what install wrote, and nothing else",
    operands: "[script]",
    flags: [hosts, global, dryRun, textOrJson],
    uses: ["workspace"],
    examples: ["hooks uninstall", "hooks uninstall .hooks/guard.ts --hosts claude"],
    load: async () => (await import("./install.ts")).uninstallHook,
  },
  {
    name: "list",
    summary: "List the hooks of all levels, and whether they run",
    ...printed,
    load: async () => (await import("./list.ts")).listHooks,
  },
  {
    name: "doctor",
    summary: "Find problems with the hooks here, and how to fix them; exit code 1 if it finds any",
    ...printed,
    load: async () => (await import("./doctor.ts")).checkHooks,
  },
  {
    name: "test",
    summary: "Run the hooks of an event on a payload and show what would happen",
    operands: "<event>",
    flags: [
      flag("Run", "--payload <file>", "Event fields as JSON; - is stdin (default: a sample)"),
      flag("Run", "--host <name>", "Run them like courser (default), cursor, claude or codex", {
        choices: ["courser", "cursor", "claude", "codex"],
      }),
      textOrJson,
    ],
    ...asTrusted,
    examples: ["hooks test preToolUse", "hooks test PreToolUse --host claude --payload call.json"],
    load: async () => (await import("./test.ts")).testHooks,
  },
  {
    name: "trace",
    summary: "Show the hook calls of the last run here, with time and answer",
    flags: [textOrJson],
    uses: ["workspace"],
    load: async () => (await import("./trace.ts")).traceHooks,
  },
];
