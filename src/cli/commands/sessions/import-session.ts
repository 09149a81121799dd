// Imports one session of another CLI as a chat. Importing it again changes nothing, or adds the new turns.
import { createHash } from "node:crypto";
import { realpathSync, statSync } from "node:fs";
import { isObject } from "../../../json/object.ts";
import { type ErrorCode, UserError } from "../../../protocol/error-codes.ts";
import type { EventOf, Usage } from "../../../protocol/event.ts";
import type { Message } from "../../../protocol/message.ts";
import { addUsage, noUsage } from "../../../protocol/usage.ts";
import { splitTurns, stepsOfTurn, type TurnStep } from "../../../sdk/rebuild-events.ts";
import { type ForeignTool, foreignReaders, type ListedSession, type ReadSession } from "../../../sdk/sessions/index.ts";
import { groupMessages, messagesOf, type UnifiedMessage } from "../../../sdk/unified.ts";
import type { ChatWriter } from "../../../store/chats/chat.ts";
import { findChat } from "../../../store/chats/find-chat.ts";
import { createChat, openChat } from "../../../store/chats/open-chat.ts";
import { readChat } from "../../../store/chats/read-chat.ts";
import type { SessionsContext } from "./context.ts";

/** A part of the session that could not be imported. `kind` is for programs, `message` for users. */
export type ReportedLoss = { kind: string; count: number; message: string };

export type ImportReport =
  | {
      status: "imported" | "updated" | "already imported";
      tool: ForeignTool;
      sourceId: string;
      path: string;
      id: string;
      title: string;
      workspace: string;
      messages: number;
      turns: number;
      losses: ReportedLoss[];
      note?: string;
    }
  | { status: "empty"; tool: ForeignTool; sourceId: string; path: string }
  | { status: "failed"; tool: ForeignTool; path: string; message: string; code: ErrorCode };

export function readSession({ tool, path }: Pick<ListedSession, "tool" | "path">): ReadSession {
  return foreignReaders[tool].read(path);
}

/** Returns the id of the chat that a session was imported as, or null. */
export function importedId(context: SessionsContext, session: ReadSession): string | null {
  const id = chatIdFor(session);
  return findImported(context, id) === undefined ? null : id;
}

/** Derives the same id for the same session, so that it cannot become two chats. */
export function chatIdFor({ tool, id }: Pick<ReadSession, "tool" | "id">): string {
  const bytes = createHash("sha1").update(`courser-import:${tool}:${id}`).digest().subarray(0, 16);
  // Set the version bits that mark a name-based UUID (version 5).
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

export function importFile(listed: ListedSession, context: SessionsContext): ImportReport {
  const session = readSession(listed);
  const { tool } = listed;
  const source = { tool, sourceId: session.id, path: session.path };
  const turns = importedTurns(session);
  if (turns.length === 0) return { status: "empty", ...source };

  const id = chatIdFor(session);
  const losses: ReportedLoss[] = [...session.losses];
  const workspace = workspaceOf(session, context.workspace, losses);
  const report = {
    ...source,
    id,
    title: session.title,
    workspace,
    messages: turns.flatMap((turn) => turn.messages).length,
    turns: turns.length,
    losses,
  };
  const folder = findImported(context, id);
  if (folder !== undefined) return { ...report, ...bringUpToDate(folder, session, turns) };
  const created = { id, mode: "default", title: session.title, createdAt: session.createdAt };
  const chat = createChat(
    { configDir: context.configDir, workspace },
    { ...created, ...(session.model !== undefined && { model: session.model }) },
  );
  writeTurns(chat, session, turns);
  return { status: "imported", ...report };
}

function findImported({ configDir, workspace }: SessionsContext, id: string): string | undefined {
  try {
    return findChat(configDir, id, workspace);
  } catch (error) {
    if (error instanceof UserError && error.code === "SESSION_NOT_FOUND") return undefined;
    throw error;
  }
}

/** Returns the session's own workspace if it exists on this machine. */
function workspaceOf({ workspace }: ReadSession, current: string, losses: ReportedLoss[]): string {
  if (workspace === undefined) return current;
  try {
    const real = realpathSync(workspace);
    if (statSync(real).isDirectory()) return real;
  } catch {
    // The failure is reported below.
  }
  const message = `Its workspace ${workspace} is not on this machine; the chat belongs to ${current}.`;
  losses.push({ kind: "workspace", count: 1, message });
  return current;
}

type ImportedTurn = { messages: Message[]; steps: TurnStep[]; startedAt: number };

function importedTurns(session: ReadSession): ImportedTurn[] {
  const timed = groupMessages(withPrompt(session.messages)).map(({ message, from }) => ({
    message,
    at: from[0]!.timestamp,
    from,
  }));
  return splitTurns(timed).map((group, index) => {
    const usages = group.flatMap(({ from }) => from.flatMap((each) => each.usage ?? []));
    return {
      messages: group.map(({ message }) => message),
      steps: stepsOfTurn(group, {
        id: `${session.id}-${index + 1}`,
        ...(usages.length > 0 && { usage: usages.reduce<Usage>(addUsage, noUsage) }),
      }),
      startedAt: group[0]!.at,
    };
  });
}

/** Makes the conversation begin with a user message, even if its beginning was lost. */
function withPrompt(messages: readonly UnifiedMessage[]): readonly UnifiedMessage[] {
  const [first] = messages;
  if (first?.role !== "assistant") return messages;
  const text = "(The beginning of this session is not on record.)";
  return [{ ...first, id: `${first.id}-before`, role: "user", content: [{ type: "text", text }] }, ...messages];
}

/** Writes the turns as a run would have, and always closes the chat. */
function writeTurns(chat: ChatWriter, session: ReadSession, turns: readonly ImportedTurn[]): void {
  try {
    for (const { steps, startedAt } of turns) {
      chat.record({
        type: "init",
        sessionId: chat.metadata.id,
        cwd: session.workspace ?? "",
        ...(session.model !== undefined && { model: session.model }),
        permissionMode: "default",
        apiKeySource: "none",
        at: startedAt,
      });
      for (const step of steps) {
        if (step.type === "message") {
          chat.append(step.message);
          continue;
        }
        chat.record(step);
        if (step.type === "tool_end" && step.tool === "updateTodos") saveTodos(chat, step);
      }
    }
    if (session.context) chat.replace(messagesOf(session.context));
  } finally {
    chat.close();
  }
}

/** Saves the todo list, which a resumed run starts from. */
function saveTodos(chat: ChatWriter, { outcome, at }: EventOf<"tool_end">): void {
  if (outcome?.kind !== "success" || !isObject(outcome.value) || !Array.isArray(outcome.value.todos)) return;
  const time = at ?? Date.now();
  const todos = outcome.value.todos.filter(isObject).map(({ id, content, status }) => ({
    id,
    content,
    status: String(status).replace("TODO_STATUS_", "").toLowerCase(),
    createdAt: time,
    updatedAt: time,
    dependencies: [],
  }));
  chat.saveState("todos", todos);
}

/**
 * Updates a chat that was imported before. If the original session has more turns now, they are added. A chat that was
 * continued here is left unchanged.
 */
function bringUpToDate(
  folder: string,
  session: ReadSession,
  turns: readonly ImportedTurn[],
): { status: "updated" | "already imported"; note?: string } {
  const there = new Map<number, Message[]>();
  for (const { turn, message } of readChat(folder).messages) there.set(turn, [...(there.get(turn) ?? []), message]);
  let same = 0;
  while (same < turns.length && areSameMessages(there.get(same + 1), turns[same]!.messages)) same++;
  if (same === turns.length) return { status: "already imported" };
  const last = Math.max(0, ...there.keys());
  // The last turn may have been cut off here, or continued in the source.
  const isPart = last === same + 1 && isBeginning(there.get(last)!, turns[same]!.messages);
  if (last > same && !isPart) {
    const note = `The chat continued here, and the session continued there: ${turns.length - same} of its turns are not in the chat.`;
    return { status: "already imported", note };
  }
  const chat = openChat(folder);
  if (isPart) chat.rewindTo(last);
  writeTurns(chat, session, turns.slice(same));
  return { status: "updated" };
}

function areSameMessages(have: readonly Message[] | undefined, want: readonly Message[]): boolean {
  return have?.length === want.length && isBeginning(have, want);
}

function isBeginning(have: readonly Message[], want: readonly Message[]): boolean {
  return (
    have.length <= want.length &&
    have.every((message, index) => messageFingerprint(message) === messageFingerprint(want[index]!))
  );
}

/** Returns a text to compare messages by, which contains only their role and parts. */
function messageFingerprint({ role, parts }: Message): string {
  return JSON.stringify([role, parts]);
}
