// The sessions of a connection: opens, loads, resumes, lists, closes and deletes them. A session id is a chat id.
import type { JsonObject } from "../json/object.ts";
import { realTarget } from "../policy/paths.ts";
import { UserError, usageError } from "../protocol/error-codes.ts";
import type { ChatChoice, RunRequest } from "../protocol/run.ts";
import { deleteChats } from "../run/delete-chats.ts";
import type { RunHost } from "../run/host.ts";
import type { ChatMetadata } from "../store/chats/chat.ts";
import { findChat } from "../store/chats/find-chat.ts";
import { isChatId } from "../store/chats/layout.ts";
import { listChats, metadataAtAGlance, shownTitle, withSubagents } from "../store/chats/list-chats.ts";
import { randomUuid } from "../store/chats/random-uuid.ts";
import { readChat, readState } from "../store/chats/read-chat.ts";
import { untilWritable } from "../store/chats/writer-lock.ts";
import { configDir } from "../store/config-dir.ts";
import type { AcpClient } from "./client.ts";
import type { RpcCall } from "./rpc.ts";
import { AcpSession } from "./session.ts";
import { type OpenParams, openParams, parsePrompt, textParam } from "./v1/params.ts";

/** The parts of a request that all runs of this process share, from the command line flags. */
export type RunTemplate = Omit<RunRequest, "workspace" | "chat">;

const pageSize = 100;

export class AcpSessions {
  readonly #open = new Map<string, AcpSession>();
  /** Pending operations on whole sessions, by session id. The next operation on the same session waits. */
  readonly #work = new Map<string, Promise<unknown>>();
  #isOver = false;
  readonly #client: AcpClient;
  readonly #template: RunTemplate;
  readonly #host: RunHost;

  constructor(parts: { client: AcpClient; template: RunTemplate; host: RunHost }) {
    this.#client = parts.client;
    this.#template = parts.template;
    this.#host = parts.host;
  }

  new(params: JsonObject, { answered }: RpcCall): Promise<object> {
    return this.#oneByOne({ sessionId: randomUuid() }, async (id) => {
      const session = await this.#begin(openParams(params), { type: "new", id }, { id, answered });
      return { sessionId: id, ...session.state };
    });
  }

  /** Loads a session. The whole chat is replayed before the request is answered. */
  load(params: JsonObject, call: RpcCall): Promise<object> {
    return this.#oneByOne(params, async (id) => {
      const { session, metadata } = await this.#resumeSession(id, params, call);
      await session.replay(readChat(metadata.folder, { events: true }));
      return { sessionId: id, ...session.state };
    });
  }

  resume(params: JsonObject, call: RpcCall): Promise<object> {
    return this.#oneByOne(params, async (id) => {
      const { session } = await this.#resumeSession(id, params, call);
      return { sessionId: id, ...session.state };
    });
  }

  async prompt(params: JsonObject, { signal }: RpcCall): Promise<object> {
    return { stopReason: await this.#requireSession(params).prompt(parsePrompt(params), signal) };
  }

  cancel({ sessionId }: JsonObject): void {
    this.#open.get(String(sessionId).toLowerCase())?.cancel();
  }

  async setMode(params: JsonObject): Promise<object> {
    this.#requireSession(params).setMode(textParam(params, "modeId"));
    return {};
  }

  async setOption(params: JsonObject): Promise<object> {
    const session = this.#requireSession(params);
    return { configOptions: await session.setOption(textParam(params, "configId"), textParam(params, "value")) };
  }

  /** Returns a page of chats, newest first. Empty chats are left out unless they are open here. */
  async list({ cwd, cursor }: JsonObject): Promise<object> {
    if (cwd !== undefined && cwd !== null && typeof cwd !== "string") throw usageError('"cwd" must be a path.');
    const workspace = typeof cwd === "string" ? realTarget(cwd) : undefined;
    const chats = listChats(this.#configDir, workspace === undefined ? {} : { workspace }).filter(
      ({ id, workspace: folder, hasConversation }) => folder !== undefined && (hasConversation || this.#open.has(id)),
    );
    const start = cursor === undefined || cursor === null ? 0 : pageStart(cursor, chats);
    const page = chats.slice(start, start + pageSize);
    const last = page.at(-1);
    return {
      sessions: page.map((chat) => ({
        sessionId: chat.id,
        cwd: chat.workspace,
        title: shownTitle(chat),
        updatedAt: new Date(chat.updatedAt).toISOString(),
      })),
      ...(last && start + pageSize < chats.length && { nextCursor: cursorOf(last) }),
    };
  }

  close(params: JsonObject): Promise<object> {
    return this.#oneByOne(params, async (id) => {
      const session = this.#requireSession(params);
      this.#open.delete(id);
      await session.close();
      return {};
    });
  }

  /** Deletes a session. Succeeds if it does not exist. */
  delete(params: JsonObject): Promise<object> {
    return this.#oneByOne(params, async (id) => {
      const session = this.#open.get(id);
      this.#open.delete(id);
      await session?.close();
      const folder = isChatId(id) ? this.#folderOf(id, session?.workspace ?? "/") : undefined;
      if (folder === undefined) return {};
      const chats = withSubagents(this.#configDir, [metadataAtAGlance(folder)]);
      await deleteChats(this.#configDir, chats, (message) => this.#client.log(message));
      return {};
    });
  }

  async end(): Promise<void> {
    this.#isOver = true;
    for (const session of this.#open.values()) session.cancel();
    await Promise.allSettled(this.#work.values());
    await Promise.all([...this.#open.values()].map((session) => session.close()));
  }

  /** Runs operations on a session one at a time: a chat has one writer, and waiting for it here would deadlock. */
  async #oneByOne(params: JsonObject, work: (id: string) => Promise<object>): Promise<object> {
    const id = textParam(params, "sessionId").toLowerCase();
    const before = this.#work.get(id);
    const done = (async () => {
      await before?.catch(() => {});
      if (this.#isOver) throw new UserError("INTERRUPTED", "The client is gone.");
      return work(id);
    })();
    this.#work.set(id, done);
    try {
      return await done;
    } finally {
      if (this.#work.get(id) === done) this.#work.delete(id);
    }
  }

  get #configDir(): string {
    return configDir(this.#host.env);
  }

  async #resumeSession(id: string, params: JsonObject, { answered }: RpcCall) {
    const open = openParams(params);
    const folder = isChatId(id) ? this.#folderOf(id, open.cwd) : undefined;
    if (folder === undefined) throw unknownSession(id, this.#host.program);
    // Reopen a session that is open already, since its servers or directory may differ.
    await this.#open.get(id)?.close();
    this.#open.delete(id);
    if (!this.#template.ephemeral) await untilWritable(folder); // other sessions continue in the meantime
    const metadata = metadataAtAGlance(folder);
    const mode = readState(folder, ["mode"]).get("mode");
    const session = await this.#begin(open, { type: "resume", id }, { id, answered, mode });
    void answered.then(() => session.sendTitle(shownTitle(metadata)));
    return { session, metadata };
  }

  async #begin(
    { cwd, roots, mcpConfig }: OpenParams,
    chat: ChatChoice,
    parts: { id: string; answered: Promise<void>; mode?: unknown },
  ): Promise<AcpSession> {
    const { roots: ownRoots = [], mcpConfigs = [], ...template } = this.#template;
    const request: RunRequest = {
      ...template,
      workspace: cwd,
      roots: [...ownRoots, ...roots],
      chat,
      // The client's servers come first, because the first server of a name wins.
      mcpConfigs: [...(mcpConfig === undefined ? [] : [mcpConfig]), ...mcpConfigs],
    };
    const session = await AcpSession.begin(request, { ...parts, client: this.#client, host: this.#host });
    this.#open.set(parts.id, session);
    return session;
  }

  #requireSession(params: JsonObject): AcpSession {
    const id = textParam(params, "sessionId");
    const session = this.#open.get(id.toLowerCase());
    if (!session) throw unknownSession(id, this.#host.program);
    return session;
  }

  #folderOf(id: string, workspace: string): string | undefined {
    try {
      return findChat(this.#configDir, id, workspace, this.#host.program);
    } catch (error) {
      if (error instanceof UserError && error.code === "SESSION_NOT_FOUND") return undefined;
      throw error;
    }
  }
}

function unknownSession(id: string, program: string): UserError {
  const quotedId = JSON.stringify(id.slice(0, 100));
  return new UserError(
    "SESSION_NOT_FOUND",
    `Session not found: ${quotedId}. To list the sessions: session/list, or ${program} ls --all`,
  );
}

/** Returns the cursor for the next page, which is the last chat of this page. */
function cursorOf({ id, updatedAt }: ChatMetadata): string {
  return Buffer.from(`${updatedAt} ${id}`).toString("base64url");
}

function pageStart(cursor: unknown, chats: readonly ChatMetadata[]): number {
  const [, time, id] = /^(\d+) ([0-9a-f-]+)$/.exec(Buffer.from(String(cursor), "base64url").toString()) ?? [];
  if (time === undefined) throw usageError('"cursor" must be the nextCursor of an earlier answer.');
  const known = chats.findIndex((chat) => chat.id === id);
  // The chat was deleted or written to since: continue with the next older one.
  const place =
    known >= 0 && chats[known]!.updatedAt === Number(time)
      ? known + 1
      : chats.findIndex(({ updatedAt }) => updatedAt < Number(time));
  return place < 0 ? chats.length : place;
}
