// Reads sessions of pi: a file of lines that each name their parent; the last line is the end of the conversation.
import { randomUUID } from "node:crypto";
import { rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isObject, type JsonObject, textIn } from "../../json/object.ts";
import { wordsIn } from "../drivers/foreign-calls.ts";
import { unifiedToolName } from "../tool-names.ts";
import type { UnifiedContent, UnifiedMessage } from "../unified.ts";
import { appendLine, copyLines } from "./edit-lines.ts";
import { filesBelow, firstText, readJsonLines } from "./lines.ts";
import {
  countAt,
  finishSession,
  homeOf,
  Losses,
  parseTimestamp,
  type ReadSession,
  type SessionReader,
} from "./session.ts";

export const piReader: SessionReader = {
  tool: "pi",
  folder: (env) => join(env["PI_CODING_AGENT_DIR"] || join(homeOf(env), ".pi/agent"), "sessions"),
  list: (folder) => filesBelow(folder, (path) => /_[0-9a-f-]{36}\.jsonl$/.test(path)),
  recognises: ([first]) => isObject(first) && first.type === "session" && typeof first.cwd === "string",
  workspaceOf: (path) =>
    firstText(path, (value) => isObject(value) && value.type === "session" && textIn(value, "cwd")),
  read,
  editor: {
    rename({ path }, name) {
      let last: unknown = null;
      readJsonLines(path, (value) => (last = isObject(value) && value.type !== "session" ? value.id : last));
      const id = randomUUID().slice(0, 8);
      appendLine(path, { type: "session_info", id, parentId: last, timestamp: new Date().toISOString(), name });
    },
    delete: ({ path }) => rmSync(path),
    fork({ path }) {
      const id = randomUUID();
      const timestamp = new Date().toISOString();
      const copy = join(dirname(path), `${timestamp.replace(/[:.]/g, "-")}_${id}.jsonl`);
      copyLines(path, copy, (line) =>
        line.type === "session" ? { ...line, id, timestamp, parentSession: path } : line,
      );
      return id;
    },
  },
};

function read(path: string): ReadSession {
  const losses = new Losses();
  const lines: JsonObject[] = [];
  const bad = readJsonLines(path, (value) => (isObject(value) ? lines.push(value) : losses.add("unknown")));
  losses.add("bad_line", bad);
  const [head] = lines;
  const branch = branchOf(lines);
  const messages = branch.flatMap((line) => convertLine(line, losses));
  losses.add("branch", lines.filter(({ type }) => type === "message").length - branch.length);
  const workspace = textIn(head, "cwd");
  const title = textIn(
    lines.findLast(({ type }) => type === "session_info"),
    "name",
  );
  return finishSession({
    tool: "pi",
    title,
    id: textIn(head, "id") ?? basename(path, ".jsonl"),
    path,
    ...(workspace !== undefined && { workspace }),
    createdAt: parseTimestamp(head?.timestamp),
    messages,
    losses,
  });
}

/** Returns the lines on the path of parents from the root to the last line. */
function branchOf(lines: readonly JsonObject[]): JsonObject[] {
  const byId = new Map(lines.map((line) => [line.id, line]));
  const branch: JsonObject[] = [];
  const seen = new Set<unknown>();
  for (let line = lines.at(-1); line && !seen.has(line); line = byId.get(line.parentId)) {
    seen.add(line);
    if (line.type === "message") branch.unshift(line);
  }
  return branch;
}

function convertLine(line: JsonObject, losses: Losses): UnifiedMessage[] {
  const { message } = line;
  if (!isObject(message)) return [];
  const { role } = message;
  const base = {
    id: String(line.id),
    timestamp: parseTimestamp(line.timestamp) ?? 0,
    tool: "pi" as const,
    _original: line,
  };
  if (role === "toolResult") {
    const result = {
      type: "tool_result" as const,
      tool_use_id: String(message.toolCallId),
      is_error: message.isError === true,
    };
    return [{ ...base, role: "user", content: [{ ...result, content: wordsIn(message.content) }] }];
  }
  if (role !== "user" && role !== "assistant") {
    losses.add("context");
    return [];
  }
  const content = blocksIn(message.content);
  if (content.length === 0) return [];
  const { usage } = message;
  return [
    {
      ...base,
      role,
      content,
      ...(role === "assistant" && typeof message.model === "string" && { model: message.model }),
      ...(role === "assistant" && isObject(usage) && { usage: parseUsage(usage) }),
    },
  ];
}

function parseUsage(usage: JsonObject) {
  return {
    inputTokens: countAt(usage, "input"),
    outputTokens: countAt(usage, "output"),
    cacheReadTokens: countAt(usage, "cacheRead"),
    cacheWriteTokens: countAt(usage, "cacheWrite"),
  };
}

function blocksIn(content: unknown): UnifiedContent[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  if (!Array.isArray(content)) return [];
  return content.filter(isObject).flatMap((block): UnifiedContent[] => {
    switch (block.type) {
      case "text":
        return textIn(block, "text") ? [{ type: "text", text: textIn(block, "text")! }] : [];
      case "thinking":
        return [{ type: "thinking", thinking: textIn(block, "thinking") ?? "" }];
      case "toolCall": {
        const name = unifiedToolName("pi", String(block.name));
        return [{ type: "tool_use", id: String(block.id), name, input: block.arguments }];
      }
      case "image": {
        const [media_type, data] = [textIn(block, "mimeType"), textIn(block, "data")];
        return media_type && data ? [{ type: "image", source: { type: "base64", media_type, data } }] : [];
      }
      default:
        return [];
    }
  });
}
