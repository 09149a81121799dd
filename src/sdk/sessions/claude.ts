// Reads sessions of Claude Code: JSON Lines that form a tree, in which one path from root to leaf is the conversation.
import { randomUUID } from "node:crypto";
import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fieldsOf, isObject, type JsonObject, textIn } from "../../json/object.ts";
import type { UnifiedMessage } from "../unified.ts";
import { answerBlocks, parseUsage, userBlocks } from "./claude-blocks.ts";
import { activeBranch, isSaid, type TreeEntry } from "./claude-tree.ts";
import { appendLine, copyLines } from "./edit-lines.ts";
import { filesBelow, firstText, readJsonLines } from "./lines.ts";
import { finishSession, homeOf, Losses, parseTimestamp, type ReadSession, type SessionReader } from "./session.ts";

export const claudeReader: SessionReader = {
  tool: "claude",
  folder: (env) => join(env["CLAUDE_CONFIG_DIR"] || join(homeOf(env), ".claude"), "projects"),
  list: (folder) => filesBelow(folder, (path) => /\.jsonl$/.test(path) && !/(^|\/)(subagents\/|agent-)/.test(path)),
  recognises: (values) => values.some(isEntry) || values.some((value) => isObject(value) && isBookkeeping(value)),
  workspaceOf: (path) => firstText(path, (value) => textIn(value, "cwd")),
  read,
  editor: {
    rename: ({ path, id }, title) => appendLine(path, { type: "custom-title", customTitle: title, sessionId: id }),
    delete({ path }) {
      rmSync(path);
      // Remove the folder next to the file, which contains the session's subagents and long outputs.
      rmSync(path.replace(/\.jsonl$/, ""), { recursive: true, force: true });
    },
    fork({ path }) {
      const sessionId = randomUUID();
      copyLines(path, join(dirname(path), `${sessionId}.jsonl`), (line) =>
        "sessionId" in line ? { ...line, sessionId } : line,
      );
      return sessionId;
    },
  },
};

function isEntry(value: unknown): boolean {
  return isObject(value) && "parentUuid" in value && typeof value.sessionId === "string";
}

/** Types of lines that are not part of the conversation: titles, costs, undo data, request details. */
const bookkeeping =
  /^(summary|custom-title|ai-title|last-prompt|mode|permission-mode|file-history-snapshot|file-history-delta|queue-operation|cost-state|tools-used|atis-latch|api-request|api-request-blob|api-request-shape|agent-name|agent-color|agent-setting|pr-link|tag|progress|attribution-snapshot|content-replacement|worktree-state|task-summary|marble-origami-commit)$/;

function isBookkeeping(line: JsonObject): boolean {
  return typeof line.sessionId === "string" && bookkeeping.test(String(line.type));
}

function read(path: string): ReadSession {
  const losses = new Losses();
  const main: TreeEntry[] = [];
  const side: TreeEntry[] = [];
  const titles: Record<string, string | undefined> = {};
  losses.add(
    "bad_line",
    readJsonLines(path, (value) => {
      if (!isObject(value)) return losses.add("unknown");
      if (typeof value.uuid === "string" && "parentUuid" in value) {
        (value.isSidechain === true ? side : main).push({ ...value, uuid: value.uuid, type: String(value.type) });
        return;
      }
      if (value.type === "custom-title") titles["custom"] = textIn(value, "customTitle");
      else if (value.type === "ai-title") titles["ai"] = textIn(value, "aiTitle");
      else if (value.type === "summary") titles["summary"] = textIn(value, "summary");
      else if (!bookkeeping.test(String(value.type))) losses.add("unknown");
    }),
  );
  // The file of a subagent contains only a side chain.
  const { entries, boundary, givenUp } = activeBranch(main.length > 0 ? main : side);
  losses.add("branch", givenUp);
  if (main.length > 0) losses.add("subagent", side.filter(isSaid).length + subagentMessages(path));

  const before = boundary === undefined ? [] : entries.slice(0, entries.indexOf(boundary));
  const after = boundary === undefined ? entries : entries.slice(entries.indexOf(boundary) + 1);
  const history = conversation([...before, ...after], losses, { summaries: before.every((entry) => !isSaid(entry)) });
  const kept = new Set(preservedUuids(boundary));
  const context = boundary && [
    ...conversation(after.filter(isSummary), new Losses(), { summaries: true, isContext: true }),
    ...conversation(
      [...before.filter((entry) => kept.has(entry.uuid)), ...after.filter((entry) => !isSummary(entry))],
      new Losses(),
      { summaries: true, isContext: true },
    ),
  ];
  const first = entries.find((entry) => typeof entry.cwd === "string");
  return finishSession({
    tool: "claude",
    id: idOf(path, main.length > 0 ? entries : []),
    path,
    title: titles["custom"] ?? titles["ai"] ?? titles["summary"],
    ...(first && { workspace: first.cwd as string }),
    messages: history,
    ...(context && { context }),
    losses,
  });
}

function isSummary(entry: TreeEntry): boolean {
  return entry.isCompactSummary === true;
}

function preservedUuids(boundary: TreeEntry | undefined): string[] {
  const metadata = boundary?.compactMetadata;
  const kept = isObject(metadata) ? metadata.preservedMessages : undefined;
  return isObject(kept) && Array.isArray(kept.uuids) ? kept.uuids.map(String) : [];
}

/** Lines of a sub-agent carry the id of its parent session, so its own id is the name of its file. */
function idOf(path: string, entries: readonly TreeEntry[]): string {
  const name = basename(path, ".jsonl");
  return /^[0-9a-f-]{36}$/i.test(name) ? name : (textIn(entries.at(-1), "sessionId") ?? name);
}

/** Counts the messages of subagents, which newer versions store in files next to the session. */
function subagentMessages(path: string): number {
  const folder = join(dirname(path), basename(path, ".jsonl"), "subagents");
  let count = 0;
  try {
    for (const name of readdirSync(folder).filter((each) => each.endsWith(".jsonl"))) {
      readJsonLines(join(folder, name), (value) => {
        if (isObject(value) && (value.type === "user" || value.type === "assistant")) count++;
      });
    }
  } catch {
    // The session has no subagents.
  }
  return count;
}

/** Converts entries to messages. An answer is written as one line per block; all lines with the same message id are one message. */
function conversation(
  entries: readonly TreeEntry[],
  losses: Losses,
  options: { summaries: boolean; isContext?: true },
): UnifiedMessage[] {
  const messages: UnifiedMessage[] = [];
  const answers = new Map<string, UnifiedMessage>();
  /** Whether the last entry was a slash command. If the user defined it, the next entry is its prompt. */
  let command = false;
  for (const [index, entry] of entries.entries()) {
    const timestamp = parseTimestamp(entry.timestamp) ?? messages.at(-1)?.timestamp ?? 0;
    const common = { id: entry.uuid, timestamp, tool: "claude" as const, _original: entry };
    if (entry.type === "assistant") {
      command = false;
      addAnswer(entry, common);
    } else if (entry.type === "user") {
      if (isSummary(entry) && !options.summaries) continue;
      const kind: UserKind = isSummary(entry) ? "prompt" : userEntryKind(entry, command);
      command = kind === "command" && !isLocal(entries, index);
      // Skip what the CLI did without the model, since the model never saw it.
      if (kind === "command" && !command && options.isContext) continue;
      if (kind !== "prompt" && kind !== "command") {
        losses.add(lossOfKind[kind]);
        continue;
      }
      const content =
        kind === "command"
          ? [{ type: "text" as const, text: commandLine(entry) }]
          : userBlocks(entryContent(entry), losses);
      if (content.length > 0) messages.push({ ...common, role: "user", content });
    } else if (entry.type === "attachment") {
      const text = queuedPrompt(entry);
      if (text === undefined) losses.add("context");
      else messages.push({ ...common, role: "user", content: userBlocks(text, losses) });
    } else if (entry.type === "system") {
      if (entry.subtype !== "compact_boundary") losses.add("notice");
    } else if (!bookkeeping.test(entry.type)) {
      losses.add("unknown");
    }
  }
  return messages;

  function addAnswer(entry: TreeEntry, common: Pick<UnifiedMessage, "id" | "timestamp" | "tool" | "_original">): void {
    const message = fieldsOf(entry.message);
    if (entry.isApiErrorMessage === true || message.model === "<synthetic>") {
      losses.add("notice");
      return;
    }
    const key = textIn(message, "id") ?? entry.uuid;
    const existing = answers.get(key);
    const content = answerBlocks(message.content, losses).filter(
      (block) =>
        block.type !== "tool_use" ||
        !existing?.content.some((each) => each.type === "tool_use" && each.id === block.id),
    );
    const usage = parseUsage(message.usage);
    if (existing) {
      existing.content.push(...content);
      existing._original = [...(Array.isArray(existing._original) ? existing._original : [existing._original]), entry];
      // Each line repeats the usage of the whole message; the last line has the final numbers.
      if (usage) existing.usage = usage;
      return;
    }
    const model = textIn(message, "model");
    const answer: UnifiedMessage = {
      ...common,
      role: "assistant",
      content,
      ...(model && { model }),
      ...(usage && { usage }),
    };
    answers.set(key, answer);
    messages.push(answer);
  }
}

function entryContent(entry: TreeEntry): unknown {
  return isObject(entry.message) ? entry.message.content : undefined;
}

function plainText(entry: TreeEntry | undefined): string {
  const content = entry && entryContent(entry);
  if (typeof content === "string") return content;
  return Array.isArray(content) ? content.map((block) => textIn(block, "text") ?? "").join("\n") : "";
}

/** The kinds of user entries. `local` is a command that the user ran without the model. */
type UserKind = "prompt" | "command" | "local" | "note" | "interrupted";

const lossOfKind = { local: "command", note: "context", interrupted: "notice" } as const;

function userEntryKind(entry: TreeEntry, afterCommand: boolean): UserKind {
  const text = plainText(entry).trimStart();
  if (/^<(command-name|command-message)>/.test(text)) return "command";
  if (/^<bash-(input|stdout|stderr)>/.test(text)) return "local";
  if (/^<local-command-(stdout|stderr|caveat)>/.test(text)) return "note";
  if (/^\[Request interrupted by user[^\]]*\]$/.test(text.trim())) return "interrupted";
  if (entry.isMeta !== true) return "prompt";
  return afterCommand ? "prompt" : "note";
}

/** Built-in commands print something; user-defined commands go to the model. */
function isLocal(entries: readonly TreeEntry[], index: number): boolean {
  const next = entries.slice(index + 1).find(({ type }) => type === "user" || type === "assistant");
  return next === undefined || /^<local-command-std(out|err)>/.test(plainText(next).trimStart());
}

function commandLine(entry: TreeEntry): string {
  const text = plainText(entry);
  const name = /<command-name>([^<]*)<\/command-name>/.exec(text)?.[1] ?? "";
  const commandArgs = /<command-args>([\s\S]*?)<\/command-args>/.exec(text)?.[1] ?? "";
  return `${name} ${commandArgs}`.trim();
}

/** Returns a prompt that the user typed while the agent was working. */
function queuedPrompt(entry: TreeEntry): unknown {
  const { attachment } = entry;
  if (!isObject(attachment) || attachment.type !== "queued_command" || attachment.isMeta === true) return undefined;
  return attachment.prompt;
}
