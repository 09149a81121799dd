// Reads sessions of opencode, which keeps all of them in one database. Here a session is found at the path of the database with
// its id as one more step.
import { basename, dirname, join } from "node:path";
import { isObject, type JsonObject, textIn, tryParse } from "../../json/object.ts";
import { openDatabase, type SqlRow, type SqlValue } from "../../store/sqlite.ts";
import { unifiedToolName } from "../tool-names.ts";
import type { UnifiedContent, UnifiedMessage, UnifiedToolResultBlock } from "../unified.ts";
import { filesBelow } from "./lines.ts";
import {
  countAt,
  finishSession,
  homeOf,
  Losses,
  pictureKinds,
  type ReadSession,
  type SessionReader,
} from "./session.ts";

export const opencodeReader: SessionReader = {
  tool: "opencode",
  folder: (env) => join(env["XDG_DATA_HOME"] || join(homeOf(env), ".local/share"), "opencode"),
  list: (folder) =>
    filesBelow(folder, (path) => /^opencode(-[\w.-]+)?\.db$/.test(path), 0).flatMap(({ path }) =>
      // Skip sessions with a parent, since they belong to subagents.
      queryRows(path, "SELECT id, time_updated FROM session WHERE parent_id IS NULL").map((row) => ({
        path: join(path, String(row.id)),
        updatedAt: Number(row.time_updated),
      })),
    ),
  recognises: () => false,
  workspaceOf: (path) => textIn(sessionRow(path), "directory"),
  read,
};

/** Returns nothing for a database that another version made differently. */
function queryRows(database: string, sql: string, ...values: SqlValue[]): SqlRow[] {
  const opened = openDatabase(database, { readOnly: true });
  try {
    return opened.prepare(sql).all(...values);
  } catch (error) {
    if (/no such (table|column)/.test((error as Error).message)) return [];
    throw error;
  } finally {
    opened.close();
  }
}

function sessionRow(path: string): SqlRow | undefined {
  return queryRows(dirname(path), "SELECT * FROM session WHERE id = ?", basename(path))[0];
}

function read(path: string): ReadSession {
  const [database, id] = [dirname(path), basename(path)];
  const losses = new Losses();
  const row = sessionRow(path);
  const stored = (table: string) =>
    queryRows(database, `SELECT * FROM ${table} WHERE session_id = ? ORDER BY time_created, id`, id);
  const parts = new Map<string, SqlRow[]>();
  for (const part of stored("part")) {
    const message = String(part.message_id);
    parts.set(message, [...(parts.get(message) ?? []), part]);
  }
  // Reverted messages stay in the database until the next prompt.
  const revertedFrom = textIn(tryParse(String(row?.revert ?? "")), "messageID");
  const messages: UnifiedMessage[] = [];
  for (const message of stored("message")) {
    if (revertedFrom !== undefined && String(message.id) >= revertedFrom) losses.add("branch");
    else messages.push(...convertMessage(message, parts.get(String(message.id)) ?? [], losses));
  }
  const subagents = queryRows(database, "SELECT id FROM session WHERE parent_id = ?", id).length;
  losses.add("subagent", subagents);
  const workspace = textIn(row, "directory");
  return finishSession({
    tool: "opencode",
    id,
    path: database,
    title: textIn(row, "title"),
    ...(workspace !== undefined && { workspace }),
    createdAt: countAt(row, "time_created"),
    updatedAt: countAt(row, "time_updated"),
    messages,
    losses,
  });
}

/** The results of the calls of an answer are a message of their own, as the model receives them. */
function convertMessage(row: SqlRow, partRows: readonly SqlRow[], losses: Losses): UnifiedMessage[] {
  const data = tryParse(String(row.data));
  const role = textIn(data, "role");
  if (!isObject(data) || (role !== "user" && role !== "assistant")) {
    losses.add("unknown");
    return [];
  }
  const parts = partRows.map((part) => tryParse(String(part.data))).filter(isObject);
  const base = { timestamp: Number(row.time_created), tool: "opencode" as const, _original: { ...data, parts } };
  const [provider, model] = [textIn(data, "providerID"), textIn(data, "modelID")];
  const content = parts.flatMap((part) => blocksOf(part, losses));
  const results = parts.flatMap(toolResultBlocks);
  return [
    {
      ...base,
      id: String(row.id),
      role,
      content,
      ...(model !== undefined && { model: provider === undefined ? model : `${provider}/${model}` }),
      ...(isObject(data.tokens) && { usage: parseTokens(data.tokens) }),
    },
    ...(results.length > 0 ? [{ ...base, id: `${row.id}-results`, role: "user" as const, content: results }] : []),
  ];
}

const blocks: Readonly<Record<string, (part: JsonObject, losses: Losses) => UnifiedContent[]>> = {
  text(part, losses) {
    if (part.synthetic === true || part.ignored === true) losses.add("context");
    else if (textIn(part, "text")) return [{ type: "text", text: textIn(part, "text")! }];
    return [];
  },
  reasoning: (part) => [{ type: "thinking", thinking: textIn(part, "text") ?? "" }],
  tool(part) {
    const { callID: id, tool, state } = part;
    const input = isObject(state) ? state.input : {};
    return [{ type: "tool_use", id: String(id), name: unifiedToolName("opencode", String(tool)), input }];
  },
  file(part, losses) {
    const [, media_type = "", data = ""] = /^data:([^;,]+);base64,(.+)$/s.exec(textIn(part, "url") ?? "") ?? [];
    if (pictureKinds.has(media_type)) return [{ type: "image", source: { type: "base64", media_type, data } }];
    losses.add("attachment");
    return [];
  },
};

/** Types of parts that describe progress and are not part of the conversation. */
const silent = new Set(["step-start", "step-finish", "snapshot", "patch", "compaction", "retry", "agent", "subtask"]);

function blocksOf(part: JsonObject, losses: Losses): UnifiedContent[] {
  const type = String(part.type);
  if (Object.hasOwn(blocks, type)) return blocks[type]!(part, losses);
  if (!silent.has(type)) losses.add("unknown");
  return [];
}

function toolResultBlocks({ type, callID: id, state }: JsonObject): UnifiedToolResultBlock[] {
  if (type !== "tool" || !isObject(state)) return [];
  const isError = state.status === "error";
  if (!isError && state.status !== "completed") return [];
  const content = textIn(state, isError ? "error" : "output") ?? "";
  return [{ type: "tool_result", tool_use_id: String(id), content, is_error: isError }];
}

function parseTokens(tokens: JsonObject) {
  return {
    inputTokens: countAt(tokens, "input"),
    outputTokens: countAt(tokens, "output") + countAt(tokens, "reasoning"),
    cacheReadTokens: countAt(tokens.cache, "read"),
    cacheWriteTokens: countAt(tokens.cache, "write"),
  };
}
