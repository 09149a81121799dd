// The sessions on this machine, of every CLI: list, load, search. The database is loaded where chats of ours are asked for.
import { realpathSync } from "node:fs";
import { UserError } from "../../protocol/error-codes.ts";
import { isWord, termsIn } from "../../store/chats/search-terms.ts";
import { snippetOf } from "../../store/chats/snippet.ts";
import { configDir } from "../../store/config-dir.ts";
import { checkOptions, loadChecks, searchChecks } from "../option-checks.ts";
import { resultText, type UnifiedContent, type UnifiedMessage, type UnifiedTool } from "../unified.ts";
import { type ForeignTool, foreignReaders, type ListedSession, listForeignSessions, sessionsNamed } from "./index.ts";
import type { ReadSession } from "./session.ts";

/** What a list shows of a session. */
export type SessionInfo = {
  tool: UnifiedTool;
  /** The id that its own CLI knows it by: what `loadMessages` and `resume` take. */
  id: string;
  title: string;
  /** The file, or the folder, that holds it. */
  path: string;
  /** Where it was worked, as far as it tells. */
  workspace?: string;
  model?: string;
  createdAt: number;
  updatedAt: number;
};

export type SessionHit = SessionInfo & {
  /** The place where most of the words stand, on one line. */
  snippet: string;
};

type SessionScope = {
  /** Of these CLIs only. */
  tool?: UnifiedTool | readonly UnifiedTool[] | undefined;
  /** Of this workspace only. */
  cwd?: string | undefined;
  /** The same, by the name that other SDKs have for it. */
  projectPath?: string | undefined;
  /** Most sessions; default 50. */
  limit?: number | undefined;
  /** Names the homes of the CLIs; default: the environment of this process. */
  env?: NodeJS.ProcessEnv | undefined;
};

export type ListSessionsOptions = SessionScope;
export type SearchSessionsOptions = SessionScope;

export type LoadSessionOptions = {
  tool: UnifiedTool;
  /** The id, or the beginning of it where that is clear. */
  sessionId: string;
  /** Where several fit, the session of this workspace is meant; default: the current directory. */
  cwd?: string | undefined;
  /** Only a session of this workspace will do. */
  projectPath?: string | undefined;
  env?: NodeJS.ProcessEnv | undefined;
};

/** Newest first. What cannot be read is left out. */
export async function listSessions(options: ListSessionsOptions = {}): Promise<SessionInfo[]> {
  checkOptions("listSessions", options, searchChecks);
  const { tools, env, workspace, limit } = settled(options);
  const found: SessionInfo[] = [];
  if (tools.has("cursor")) {
    const { listChats, shownTitle } = await import("../../store/chats/list-chats.ts");
    for (const chat of listChats(configDir(env), workspace === undefined ? {} : { workspace }))
      found.push(chatInfo(chat, shownTitle(chat)));
  }
  let count = 0;
  for await (const session of foreignSessions(tools, env, workspace)) {
    found.push(infoOf(session));
    if (++count === limit) break;
  }
  return newestFirst(found).slice(0, limit);
}

/** A session whole: its messages, what its model is still told, and what could not be carried over. */
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

/** Its messages, in true order. */
export async function loadMessages(options: LoadSessionOptions): Promise<UnifiedMessage[]> {
  return (await loadSession(options)).messages;
}

/** A chat of cursor-agent, ours or the original's. */
export async function loadCursorSession(
  sessionId: string,
  options: { cwd?: string | undefined; projectPath?: string | undefined; env?: NodeJS.ProcessEnv | undefined } = {},
): Promise<UnifiedMessage[]> {
  return loadMessages({ ...options, tool: "cursor", sessionId });
}

/** Sessions with all of these words; `"…"` is a phrase. Those of cursor the best first, then the others, newest first. */
export async function searchSessions(text: string, options: SearchSessionsOptions = {}): Promise<SessionHit[]> {
  checkOptions("searchSessions", options, searchChecks);
  const { tools, env, workspace, limit } = settled(options);
  const words = termsIn(text).filter(isWord);
  const wanted = words.length > 0 ? words.map((word) => word.text) : [text.trim()];
  if (text.trim() === "") return [];
  const hits: SessionHit[] = [];
  if (tools.has("cursor")) {
    const [{ searchChats }, { shownTitle }] = await Promise.all([
      import("../../store/chats/search.ts"),
      import("../../store/chats/list-chats.ts"),
    ]);
    // Those of other workspaces are left out afterwards.
    for (const { metadata, snippet } of searchChats(configDir(env), text, { limit: workspace ? 1000 : limit }))
      if (isIn(metadata.workspace, workspace)) hits.push({ ...chatInfo(metadata, shownTitle(metadata)), snippet });
  }
  for await (const session of foreignSessions(tools, env, workspace)) {
    if (hits.length >= limit) break;
    const said = `${session.title}\n${session.messages.map(textIn).join("\n")}`;
    const lower = said.toLowerCase();
    if (wanted.every((word) => lower.includes(word.toLowerCase())))
      hits.push({ ...infoOf(session), snippet: snippetOf(said, wanted) });
  }
  return hits.slice(0, limit);
}

function settled({ tool, projectPath, cwd = projectPath, limit = 50, env = process.env }: SessionScope) {
  const all: readonly UnifiedTool[] = ["cursor", ...(Object.keys(foreignReaders) as ForeignTool[])];
  const given = tool === undefined ? all : typeof tool === "string" ? [tool] : tool;
  for (const each of given) if (each !== "cursor") readerFor(each);
  return { tools: new Set(given), env, limit, workspace: cwd === undefined ? undefined : realPath(cwd) };
}

function readerFor(tool: UnifiedTool) {
  if (isForeign(tool)) return foreignReaders[tool];
  const known = ["cursor", ...Object.keys(foreignReaders)].join(", ");
  throw new UserError("USAGE", `Sessions of '${tool}' cannot be read: it must be one of ${known}.`);
}

function isForeign(tool: UnifiedTool): tool is ForeignTool {
  return Object.hasOwn(foreignReaders, tool);
}

/** Read one by one, newest first; between two of them others may run. */
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

/** A session may speak of a folder that is gone. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

type ChatLike = Omit<SessionInfo, "tool" | "path" | "title"> & { folder: string };

function chatInfo({ id, folder, workspace, model, createdAt, updatedAt }: ChatLike, title: string): SessionInfo {
  return { tool: "cursor", id, title, path: folder, ...optional({ workspace, model }), createdAt, updatedAt };
}

function infoOf({ tool, id, title, path, workspace, model, createdAt, updatedAt }: ReadSession): SessionInfo {
  return { tool, id, title, path, ...optional({ workspace, model }), createdAt, updatedAt };
}

function optional(facts: { workspace?: string | undefined; model?: string | undefined }) {
  return {
    ...(facts.workspace !== undefined && { workspace: facts.workspace }),
    ...(facts.model !== undefined && { model: facts.model }),
  };
}

function newestFirst(sessions: readonly SessionInfo[]): SessionInfo[] {
  return [...sessions].sort((a, b) => b.updatedAt - a.updatedAt || (a.path < b.path ? -1 : 1));
}

/** What can be found of a message: what was said, what tools were told and what they answered. */
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
      return resultText(block);
    case "thinking":
    case "image":
      return "";
  }
}
