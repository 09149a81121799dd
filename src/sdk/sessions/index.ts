// The table of session readers: one for each CLI whose sessions can be read.

import { existsSync, statSync } from "node:fs";
import { UserError, usageError } from "../../protocol/error-codes.ts";
import { programName } from "../../text/program-name.ts";
import type { BuiltInTool } from "../unified.ts";
import { claudeReader } from "./claude.ts";
import { codexReader } from "./codex.ts";
import { geminiReader } from "./gemini.ts";
import { firstValues } from "./lines.ts";
import { opencodeReader } from "./opencode.ts";
import { piReader } from "./pi.ts";
import type { SessionFile, SessionReader } from "./session.ts";

export type { Loss, LossKind, ReadSession, SessionFile, SessionReader } from "./session.ts";

/** The readers of sessions of other CLIs. The one for cursor is in cursor.ts, since it loads the database. */
export const foreignReaders = {
  claude: claudeReader,
  codex: codexReader,
  gemini: geminiReader,
  opencode: opencodeReader,
  pi: piReader,
} satisfies Partial<Record<BuiltInTool, SessionReader>>;

export type ForeignTool = keyof typeof foreignReaders;

export const foreignTools = Object.keys(foreignReaders) as ForeignTool[];

/** Detects which CLI a session file belongs to, from its content. */
export function readerOf(path: string): SessionReader | undefined {
  const values = firstValues(path);
  return Object.values(foreignReaders).find((reader) => reader.recognises(values));
}

export type ListedSession = SessionFile & { tool: ForeignTool };

/** Lists every session of other CLIs on this machine, newest first. */
export function listForeignSessions(
  env: NodeJS.ProcessEnv,
  tools: readonly ForeignTool[] = foreignTools,
): ListedSession[] {
  const found = tools.flatMap((tool) => {
    const reader = foreignReaders[tool];
    return reader.list(reader.folder(env)).map((file) => ({ ...file, tool }));
  });
  return found.sort((a, b) => b.updatedAt - a.updatedAt);
}

/** Finds sessions by a file, a folder, or the id of a session (or its beginning) where its CLI keeps it. */
export function findForeignSessions(
  what: string,
  env: NodeJS.ProcessEnv,
  tools: readonly ForeignTool[] = foreignTools,
): ListedSession[] {
  if (existsSync(what)) return statSync(what).isDirectory() ? sessionsIn(what, tools) : [sessionAt(what, tools)];
  const found = sessionsNamed(what, env, tools);
  if (found.length === 0) {
    const whose = tools.length === 1 ? tools[0] : tools.join(", ");
    throw new UserError(
      "SESSION_NOT_FOUND",
      `Session not found: ${what} is neither a file nor a directory, and no session of ${whose} has this id. To list them: ${programName()} sessions import --all`,
    );
  }
  if (found.length > 1) {
    const list = found.map(({ path }) => `  ${path}`).join("\n");
    throw usageError(`${found.length} session ids start with ${what}. Pass the file instead:\n${list}`);
  }
  return found;
}

/** Finds sessions whose id equals or begins with `id`, newest first. */
export function sessionsNamed(id: string, env: NodeJS.ProcessEnv, tools: readonly ForeignTool[]): ListedSession[] {
  const isIdLike = /^[\w-]{4,}$/.test(id);
  return isIdLike ? listForeignSessions(env, tools).filter(({ path }) => namesSession(path, id)) : [];
}

/** The file name is the id or ends with it: rollout-<time>-<id>.jsonl; or it has only the first eight digits. */
function namesSession(path: string, id: string): boolean {
  const name = path.replace(/^.*[\\/]/, "").replace(/\.jsonl?$/, "");
  const last = name.split(/[-_](?=[0-9a-f]{8}(?:-|$))/i).at(-1)!;
  return last.startsWith(id) || (/^[0-9a-f]{8}$/i.test(last) && id.startsWith(last));
}

function sessionsIn(folder: string, tools: readonly ForeignTool[]): ListedSession[] {
  const found = tools
    .flatMap((tool) => foreignReaders[tool].list(folder).map((file) => ({ ...file, tool })))
    .filter(({ path, tool }) => readerOf(path)?.tool === tool);
  if (found.length > 0) return found.sort((a, b) => b.updatedAt - a.updatedAt);
  throw new UserError("SESSION_NOT_FOUND", `Session not found: no session of ${tools.join(", ")} in ${folder}.`);
}

function sessionAt(path: string, tools: readonly ForeignTool[]): ListedSession {
  const reader = tools.length === 1 ? foreignReaders[tools[0]!] : readerOf(path);
  if (reader) return { path, tool: reader.tool as ForeignTool, updatedAt: Math.round(statSync(path).mtimeMs) };
  throw new UserError(
    "FILE_UNREADABLE",
    `${path}: its first lines do not look like a session of ${tools.join(", ")}. If it is one, say which: --from claude.`,
  );
}
