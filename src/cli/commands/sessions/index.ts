// The table of `sessions` commands. Help, the parser and the dispatcher read it.
import { flag, textOrJson } from "../../flags.ts";
import type { InnerCommand } from "../inner-command.ts";

const yes = flag("Sessions", "-y, --yes", "Do not ask for confirmation");

export const listFlags = [
  flag("Sessions", "-a, --all", "Include chats of all workspaces"),
  flag("Sessions", "--search <text>", 'Search the chats of all workspaces; "…" matches a phrase'),
  flag("Sessions", "--size", "Show how much room each chat takes on the disk"),
  textOrJson,
];

/** Accepts any value, because each subcommand checks its own formats. */
export const anyFormat = flag("Output", "--format <format>", "Output format: text, json, …");

/** `sessions export` is also available as a top-level command. */
export const exportCommand: InnerCommand = {
  name: "export",
  summary: "Export a chat as Markdown, JSON, stream-json, HTML, ATIF or a recording",
  operands: "<id>",
  flags: [
    flag("Output", "--format <format>", "markdown (default), json, stream-json, html, atif or recording", {
      choices: ["markdown", "json", "stream-json", "html", "atif", "recording"],
    }),
    flag("Output", "-o, --output <file>", "Write to a file instead of stdout"),
  ],
  examples: ["sessions export 0bae > chat.md", "export 0bae --format html --output chat.html"],
  load: async () => (await import("./export.ts")).exportSession,
};

export const sessionCommands: readonly InnerCommand[] = [
  {
    name: "list",
    summary: "List chats, like ls",
    flags: listFlags,
    uses: ["workspace"],
    load: async () => (await import("../ls.ts")).ls,
  },
  {
    name: "show",
    summary: "Show what was said and done in a chat",
    operands: "<id>",
    flags: [textOrJson],
    examples: ["sessions show 0bae", "sessions show 0bae --format json"],
    load: async () => (await import("./show.ts")).showSession,
  },
  exportCommand,
  {
    name: "import",
    summary: "Import sessions of Claude Code, Codex, Gemini, opencode and pi as chats",
    operands: "[session...]",
    flags: [
      flag("Sessions", "--from <agent>", "Only sessions of claude, codex, gemini, opencode or pi", {
        choices: ["claude", "codex", "gemini", "opencode", "pi"],
      }),
      flag("Sessions", "-a, --all", "List all of them; with --yes, import them"),
      yes,
      textOrJson,
    ],
    uses: ["workspace"],
    examples: ["sessions import --all", "sessions import ~/.claude/projects/my-project/0bae.jsonl"],
    load: async () => (await import("./import.ts")).importSessions,
  },
  {
    name: "fork",
    summary: "Copy a chat into a new one and print its id",
    operands: "<id>",
    flags: [flag("Sessions", "--at <turn>", "Fork at this turn, without what came after it")],
    examples: ["sessions fork 0bae --at 3"],
    load: async () => (await import("./new-chat.ts")).forkSession,
  },
  {
    name: "rename",
    summary: "Rename a chat",
    operands: "<id> <title...>",
    examples: ["sessions rename 0bae The parser bug"],
    load: async () => (await import("./rename.ts")).renameSession,
  },
  {
    name: "changes",
    summary: "Show which files a chat changed, by edits and by commands",
    operands: "<id>",
    flags: [flag("Sessions", "--now", "Also compare with the files as they are now"), textOrJson],
    uses: ["workspace"],
    examples: ["sessions changes 0bae", "sessions changes 0bae --now"],
    load: async () => (await import("./changes.ts")).showChanges,
  },
  {
    name: "rewind",
    summary: "Rewind a chat and its files to before a turn",
    operands: "<id>",
    flags: [
      flag("Sessions", "--to <turn>", "Rewind to before this turn (default: the last one)"),
      flag("Sessions", "--conversation-only", "Rewind the conversation, but not the files"),
      flag("Sessions", "--files-only", "Rewind the files, but not the conversation"),
      flag("Sessions", "--file <path>", "Rewind this file, and nothing else"),
      flag("Sessions", "--dry-run", "Only show what would be undone"),
      flag("Sessions", "--undo", "Restore the files to their state before the last rewind"),
      yes,
    ],
    uses: ["force", "workspace"],
    meanings: { force: "Same as --yes" },
    examples: [
      "sessions rewind 0bae --dry-run",
      "sessions rewind 0bae --to 3",
      "sessions rewind 0bae --to 1 --file src/index.ts",
    ],
    load: async () => (await import("./rewind.ts")).rewindSession,
  },
  {
    name: "delete",
    summary: "Delete chats, with their transcripts and snapshots",
    operands: "<id...>",
    flags: [yes],
    uses: ["force"],
    meanings: { force: "Same as --yes" },
    examples: ["sessions delete 0bae 9723", "sessions delete 0bae --yes"],
    load: async () => (await import("./delete.ts")).deleteSessions,
  },
  {
    name: "prune",
    summary: "Delete chats of all workspaces that were not used for a while",
    flags: [
      flag("Sessions", "--older-than <age>", "Only chats that were last used longer ago: 30d, 12h, 8w"),
      flag("Sessions", "--keep-named", "Keep chats that were given a title"),
      flag("Sessions", "--dry-run", "Only show what would be deleted"),
      yes,
    ],
    uses: ["force"],
    meanings: { force: "Same as --yes" },
    examples: ["sessions prune --older-than 30d --keep-named --dry-run", "sessions prune --older-than 8w --yes"],
    load: async () => (await import("./prune.ts")).pruneSessions,
  },
];
