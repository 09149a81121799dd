// The table of `hooks` commands. Help, the parser and the dispatcher read it.
import { type Flag, flag } from "../../flags.ts";
import type { InnerCommand } from "../inner-command.ts";
import { textOrJson } from "../text-or-json.ts";

const hosts: Flag = flag(
  "Run",
  "--hosts <names>",
  "cursor, claude, codex, comma-separated (default: those in use here)",
);
const events: Flag = flag("Run", "--events <names>", "Events, comma-separated (default: the five that every host has)");
const matcher: Flag = flag("Run", "--matcher <pattern>", "Only for tools whose name matches, such as 'Bash|Edit'");
const global: Flag = flag("Run", "--global", "In your home directory instead of the project");
const dryRun: Flag = flag("Run", "--dry-run", "Only show what would change");

export const hookCommands: readonly InnerCommand[] = [
  {
    name: "init",
    summary: "Write a starter hook script, .hooks/NAME.ts",
    operands: "[name]",
    flags: [textOrJson],
    uses: ["force", "workspace"],
    examples: ["hooks init", "hooks init guard"],
    load: async () => (await import("./init.ts")).initHook,
  },
  {
    name: "install",
    summary: "Register a script with Cursor, Courser, Claude Code and Codex",
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
    flags: [textOrJson],
    uses: ["trust", "workspace"],
    load: async () => (await import("./list.ts")).listHooks,
  },
  {
    name: "doctor",
    summary: "Find problems with the hooks here, and how to fix them; exit code 1 if there are any",
    flags: [textOrJson],
    uses: ["trust", "workspace"],
    load: async () => (await import("./doctor.ts")).checkHooks,
  },
  {
    name: "test",
    summary: "Run the hooks of an event on a payload and show what would happen",
    operands: "<event>",
    flags: [
      flag("Run", "--payload <file>", "Fields of the event as JSON; - is stdin (default: a sample)"),
      flag("Run", "--host <name>", "As courser (default), cursor, claude or codex would run them", {
        choices: ["courser", "cursor", "claude", "codex"],
      }),
      textOrJson,
    ],
    uses: ["trust", "workspace"],
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

/** Every flag of theirs, each name once: the parser reads a line before it is known whose it is. */
export const hookFlags: readonly Flag[] = hookCommands
  .flatMap((command) => command.flags ?? [])
  .filter((flag, index, all) => all.findIndex((other) => other.name === flag.name) === index);
