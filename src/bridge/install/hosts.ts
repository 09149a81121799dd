// Where each host keeps its hooks, and the format of an entry. To add a host, add a row.
import { cursorToolNames, geminiToolNames, renamedTools } from "../../protocol/hook-events.ts";
import { codexHookNames, type HookName, type HostName, hookNames } from "../event.ts";
import { sameNames } from "../hosts/claude-format.ts";
import { geminiEvents } from "../hosts/gemini.ts";

export type InstallHost = {
  name: HostName;
  /** The name shown to people. */
  title: string;
  /** The host's folder in the project and in the home directory. If it exists, the host is considered in use. */
  folder: string;
  file: string;
  /** The content that a new file starts with. */
  head: Readonly<Record<string, unknown>>;
  /** True if entries are in groups, `{"matcher": …, "hooks": [{"type": "command", …}]}`; else each stands alone. */
  grouped: boolean;
  /** Programs whose presence means that the host is in use. */
  programs: readonly string[];
  /** The host's names for the bridge's events, in the order in which they are written. */
  events: Readonly<Partial<Record<HookName, string>>>;
  /** Events that only this host has. */
  further: readonly string[];
  /** The project's root as a shell expression, because hooks do not always run there. */
  root: string;
  /** Tool names in matchers, if they differ from the names in the bridge. */
  tools: Readonly<Record<string, string>>;
};

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
    events: sameNames(hookNames),
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
    events: sameNames(codexHookNames),
    further: [],
    // Find the project's folder with git, since Codex does not pass it to hooks and runs them in the session's start
    // folder.
    root: '"$(git rev-parse --show-toplevel 2>/dev/null || pwd)"',
    tools: { Shell: "Bash" },
  },
  {
    name: "gemini",
    title: "Gemini CLI",
    folder: ".gemini",
    file: "settings.json",
    head: {},
    grouped: true,
    programs: ["gemini"],
    events: Object.fromEntries(Object.entries(geminiEvents).map(([own, name]) => [name, own])),
    further: [],
    root: "$GEMINI_PROJECT_DIR",
    tools: geminiToolNames,
  },
];

/** Events about a tool, the only ones whose matchers mean the same on every host. */
export const toolEvents: readonly HookName[] = ["PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"];

/** Replaces the tool names in a matcher by those of the host. */
export function matcherFor(host: InstallHost, matcher: string): string {
  return renamedTools(matcher, host.tools);
}

/** Builds the shell command of a hook. `script` is relative to the project's root, or absolute. */
export function commandFor(host: InstallHost, script: string): string {
  const word = shellWord(script);
  const path = /^(\/|[A-Za-z]:)/.test(script) ? word : `${host.root}/${word}`;
  return `${path} --host ${host.name}`;
}

/** Quotes a word, unless a shell would leave it unchanged. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
