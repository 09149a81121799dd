// Where each host keeps its hooks, and what an entry there looks like. A new host is a row.
import { cursorToolNames, renamedTools } from "../../protocol/hook-events.ts";
import { codexHookNames, type HookName, type HostName, hookNames } from "../event.ts";

export type InstallHost = {
  name: HostName;
  /** As people call it. */
  title: string;
  /** In the project, and in the home directory. It being there means that the host is used. */
  folder: string;
  file: string;
  /** What a new file begins with. */
  head: Readonly<Record<string, unknown>>;
  /** Entries stand in groups, `{"matcher": …, "hooks": [{"type": "command", …}]}`; else each stands alone. */
  grouped: boolean;
  /** Programs that mean that the host is used. */
  programs: readonly string[];
  /** Its names of our events, in the order in which they are written. */
  events: Readonly<Partial<Record<HookName, string>>>;
  /** Events that only it has. */
  further: readonly string[];
  /** The root of the project, for a shell: hooks do not always run there. */
  root: string;
  /** What a matcher calls tools, where that is not the name in the bridge. */
  tools: Readonly<Record<string, string>>;
};

/** The names of the bridge are Claude's. */
function asTheyAre(names: readonly HookName[]): InstallHost["events"] {
  return Object.fromEntries(names.map((name) => [name, name]));
}

export const installHosts: readonly InstallHost[] = [
  {
    name: "cursor",
    title: "Cursor and Courser",
    folder: ".cursor",
    file: "hooks.json",
    head: { version: 1 },
    grouped: false,
    programs: ["cursor-agent", "cursor"],
    events: {
      SessionStart: "sessionStart",
      PreToolUse: "preToolUse",
      PostToolUse: "postToolUse",
      UserPromptSubmit: "beforeSubmitPrompt",
      Stop: "stop",
      SessionEnd: "sessionEnd",
      PreCompact: "preCompact",
      SubagentStart: "subagentStart",
      SubagentStop: "subagentStop",
      PostToolUseFailure: "postToolUseFailure",
    },
    further: [
      "beforeShellExecution",
      "afterShellExecution",
      "beforeMCPExecution",
      "afterMCPExecution",
      "beforeReadFile",
      "afterFileEdit",
    ],
    root: ".",
    tools: cursorToolNames,
  },
  {
    name: "claude",
    title: "Claude Code",
    folder: ".claude",
    file: "settings.json",
    head: {},
    grouped: true,
    programs: ["claude"],
    events: asTheyAre(hookNames),
    further: [],
    root: '"$CLAUDE_PROJECT_DIR"',
    tools: { Shell: "Bash" },
  },
  {
    name: "codex",
    title: "Codex",
    folder: ".codex",
    file: "hooks.json",
    head: {},
    grouped: true,
    programs: ["codex"],
    events: asTheyAre(codexHookNames),
    further: [],
    // It tells its hooks nothing of the project, and runs them where the session was started.
    root: '"$(git rev-parse --show-toplevel 2>/dev/null || pwd)"',
    tools: { Shell: "Bash" },
  },
];

/** Events with a tool, the only ones whose matchers mean the same on every host. */
export const toolEvents: readonly HookName[] = ["PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"];

/** The words of a matcher in a host's own names. */
export function matcherFor(host: InstallHost, matcher: string): string {
  return renamedTools(matcher, host.tools);
}

/** `script`: from the root of the project, or absolute. As the shell reads it. */
export function commandFor(host: InstallHost, script: string): string {
  const word = shellWord(script);
  const path = /^(\/|[A-Za-z]:)/.test(script) ? word : `${host.root}/${word}`;
  return `${path} --host ${host.name}`;
}

/** As it is where a shell would take it so. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
