// Lists, loads and searches the sessions of every CLI on this machine. Loads the database only for chats of cursor.
import { realpathSync } from "node:fs";
import { UserError, usageError } from "../../protocol/error-codes.ts";
import { isWord, termsIn } from "../../store/chats/search-terms.ts";
import { snippetOf } from "../../store/chats/snippet.ts";
import { configDir } from "../../store/config-dir.ts";
import { tryOr } from "../../text/try-or.ts";
import { checkOptions, loadChecks, searchChecks } from "../option-checks.ts";
import { type BuiltInTool, textOf, type UnifiedContent, type UnifiedMessage, type UnifiedTool } from "../unified.ts";
import { type ForeignTool, foreignReaders, type ListedSession, listForeignSessions, sessionsNamed } from "./index.ts";
import type { ReadSession } from "./session.ts";

/** A session as a list shows it. */
export type SessionInfo = {
  tool: BuiltInTool;
  /** The CLI's own id of the session, for `loadMessages` and `resume`. */
  id: string;
  title: string;
  /** The file or the folder that holds the session. */
  path: string;
  /** The directory of the session, if it is recorded. */
  workspace?: string;
  model?: string;
  createdAt: number;
  updatedAt: number;
};

/** A session found by `searchSessions`. */
export type SessionHit = SessionInfo & {
  /** The passage with most of the words, on one line. */
  snippet: string;
};

type SessionScope = {
  /** Only sessions of these CLIs. */
  tool?: UnifiedTool | readonly UnifiedTool[] | undefined;
  /** Only sessions of this directory. */
  cwd?: string | undefined;
  /** Same as `cwd`, under the name that other SDKs use. */
  projectPath?: string | undefined;
  /** The most sessions to return. Default: 50. */
  limit?: number | undefined;
  /** The environment that locates the CLIs' data. Default: the environment of this process. */
  env?: NodeJS.ProcessEnv | undefined;
};

/** The options of `listSessions`. */
export type ListSessionsOptions = SessionScope;
/** The options of `searchSessions`. */
export type SearchSessionsOptions = SessionScope;

/** The options of `loadSession` and `loadMessages`. */
export type LoadSessionOptions = {
  tool: UnifiedTool;
  /** The id, or an unambiguous beginning of it. */
  sessionId: string;
  /** If several sessions match, the one of this directory is chosen. Default: the current directory. */
  cwd?: string | undefined;
  /** Only a session of this directory is accepted. */
  projectPath?: string | undefined;
  env?: NodeJS.ProcessEnv | undefined;
};

/** Lists the sessions on this machine, newest first. Sessions that cannot be read are left out. */
export async function listSessions(options: ListSessionsOptions = {}): Promise<SessionInfo[]> {
  checkOptions("listSessions", options, searchChecks);
  const { tools, env, workspace, limit } = withDefaults(options);
  const found: SessionInfo[] = [];
  if (tools.has("cursor")) {
    const { listChats, shownTitle } = await import("../../store/chats/list-chats.ts");
    for (const chat of listChats(configDir(env), workspace === undefined ? {} : { workspace }))
      found.push(chatInfo(chat, shownTitle(chat)));
  }
  let count = 0;
  for await (const session of foreignSessions(tools, env, workspace)) {
    found.push(sessionInfo(session));
    if (++count === limit) break;
  }
  return newestFirst(found).slice(0, limit);
}

/** Loads a whole session: its messages, the model's current context, and what could not be converted. */
export async function loadSession(options: LoadSessionOptions): Promise<ReadSession> {
  checkOptions("loadSession", options, loadChecks, { example: "{ tool, sessionId }", required: "sessionId" });
  const { tool, sessionId, projectPath, cwd = projectPath ?? process.cwd(), env = process.env } = options;
  const only = projectPath === undefined ? undefined : realPath(projectPath);
  if (tool === "cursor") {
    const [{ findChat }, { cursorReader }] = await Promise.all([
      import("../../store/chats/find-chat.ts"),
      import("./cursor.ts"),
    ]);
    const session = cursorReader.read(findChat(configDir(env), sessionId, realPath(cwd)));
    if (isIn(session.workspace, only)) return session;
    throw new UserError("SESSION_NOT_FOUND", `Session not found: the chat ${sessionId} is not of ${projectPath}.`);
  }
  const reader = readerFor(tool);
  const found = sessionsNamed(sessionId, env, [reader.tool as ForeignTool]).filter(
    ({ path }) => only === undefined || isIn(reader.workspaceOf(path, only), only),
  );
  const here =
    found.length > 1 ? found.filter(({ path }) => isIn(reader.workspaceOf(path, realPath(cwd)), realPath(cwd))) : [];
  const sessions = (here.length > 0 ? here : found).map(({ path }) => reader.read(path));
  const exact = sessions.find(({ id }) => id === sessionId);
  if (exact) return exact;
  if (sessions.length === 1) return sessions[0]!;
  throw new UserError(
    "SESSION_NOT_FOUND",
    sessions.length === 0
      ? `Session not found: no session of ${tool} has the id ${sessionId} in ${reader.folder(env)}.`
      : `Session not found: ${sessions.length} session ids of ${tool} start with ${sessionId}. Use the whole id.`,
  );
}

/** Loads the messages of a session, in order. */
export async function loadMessages(options: LoadSessionOptions): Promise<UnifiedMessage[]> {
  return (await loadSession(options)).messages;
}

/** Loads the messages of a chat of cursor-agent or of this package's CLI. */
export async function loadCursorSession(
  sessionId: string,
  options: { cwd?: string | undefined; projectPath?: string | undefined; env?: NodeJS.ProcessEnv | undefined } = {},
): Promise<UnifiedMessage[]> {
  return loadMessages({ ...options, tool: "cursor", sessionId });
}

/**
 * Finds sessions that contain all of these words; `"…"` is a phrase. Chats of cursor come first, best match first; then
 * others, newest first.
 */
export async function searchSessions(text: string, options: SearchSessionsOptions = {}): Promise<SessionHit[]> {
  checkOptions("searchSessions", options, searchChecks);
  const { tools, env, workspace, limit } = withDefaults(options);
  const words = termsIn(text).filter(isWord);
  const wanted = words.length > 0 ? words.map((word) => word.text) : [text.trim()];
  if (text.trim() === "") return [];
  const hits: SessionHit[] = [];
  if (tools.has("cursor")) {
    const [{ searchChats }, { shownTitle }] = await Promise.all([
      import("../../store/chats/search.ts"),
      import("../../store/chats/list-chats.ts"),
    ]);
    // The search covers all directories, so filter out chats of other ones.
    for (const { metadata, snippet } of searchChats(configDir(env), text, { limit: workspace ? 1000 : limit }))
      if (isIn(metadata.workspace, workspace)) hits.push({ ...chatInfo(metadata, shownTitle(metadata)), snippet });
  }
  for await (const session of foreignSessions(tools, env, workspace)) {
    if (hits.length >= limit) break;
    const searchedText = `${session.title}\n${session.messages.map(textIn).join("\n")}`;
    const lower = searchedText.toLowerCase();
    if (wanted.every((word) => lower.includes(word.toLowerCase())))
      hits.push({ ...sessionInfo(session), snippet: snippetOf(searchedText, wanted) });
  }
  return hits.slice(0, limit);
}

function withDefaults({ tool, projectPath, cwd = projectPath, limit = 50, env = process.env }: SessionScope) {
  const all: readonly UnifiedTool[] = ["cursor", ...(Object.keys(foreignReaders) as ForeignTool[])];
  const wantedTools = tool === undefined ? all : typeof tool === "string" ? [tool] : tool;
  for (const each of wantedTools) if (each !== "cursor") readerFor(each);
  return { tools: new Set(wantedTools), env, limit, workspace: cwd === undefined ? undefined : realPath(cwd) };
}

function readerFor(tool: UnifiedTool) {
  if (isForeign(tool)) return foreignReaders[tool];
  const toolNames = ["cursor", ...Object.keys(foreignReaders)].join(", ");
  throw usageError(`Sessions of '${tool}' cannot be read: it must be one of ${toolNames}.`);
}

function isForeign(tool: UnifiedTool): tool is ForeignTool {
  return Object.hasOwn(foreignReaders, tool);
}

/** Reads sessions one by one, newest first, and yields to the event loop in between. */
async function* foreignSessions(
  tools: ReadonlySet<UnifiedTool>,
  env: NodeJS.ProcessEnv,
  workspace: string | undefined,
): AsyncGenerator<ReadSession> {
  const wanted = [...tools].filter(isForeign);
  for (const file of listForeignSessions(env, wanted)) {
    await new Promise((resolve) => setImmediate(resolve));
    const session = tryReading(file, workspace);
    if (session && session.messages.length > 0) yield session;
  }
}

function tryReading({ tool, path }: ListedSession, workspace: string | undefined): ReadSession | undefined {
  const reader = foreignReaders[tool];
  try {
    if (workspace !== undefined && !isIn(reader.workspaceOf(path, workspace), workspace)) return undefined;
    return reader.read(path);
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

function isIn(place: string | undefined, workspace: string | undefined): boolean {
  return workspace === undefined || (place !== undefined && (place === workspace || realPath(place) === workspace));
}

/** Returns the path unchanged if it no longer exists, as a session's directory may not. */
function realPath(path: string): string {
  return tryOr(() => realpathSync(path), path);
}

type ChatLike = Omit<SessionInfo, "tool" | "path" | "title"> & { folder: string };

function chatInfo({ id, folder, workspace, model, createdAt, updatedAt }: ChatLike, title: string): SessionInfo {
  return { tool: "cursor", id, title, path: folder, ...optional({ workspace, model }), createdAt, updatedAt };
}

function sessionInfo({ tool, id, title, path, workspace, model, createdAt, updatedAt }: ReadSession): SessionInfo {
  return { tool, id, title, path, ...optional({ workspace, model }), createdAt, updatedAt };
}

function optional(values: { workspace?: string | undefined; model?: string | undefined }) {
  return {
    ...(values.workspace !== undefined && { workspace: values.workspace }),
    ...(values.model !== undefined && { model: values.model }),
  };
}

function newestFirst(sessions: readonly SessionInfo[]): SessionInfo[] {
  return [...sessions].sort((a, b) => b.updatedAt - a.updatedAt || (a.path < b.path ? -1 : 1));
}

/** The searchable text of a message: text, tool inputs and tool results. */
function textIn({ content }: UnifiedMessage): string {
  return content.map(blockText).join("\n");
}

function blockText(block: UnifiedContent): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "tool_use":
      return `${block.name} ${JSON.stringify(block.input)}`;
    case "tool_result":
      return textOf(block);
    case "thinking":
    case "image":
      return "";
  }
}
