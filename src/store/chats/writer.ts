// The only writer of an open chat. Everything passed to a method is committed when the method returns.
import { fsyncSync } from "node:fs";
import { UserError, usageError } from "../../protocol/error-codes.ts";
import type { AgentEvent } from "../../protocol/event.ts";
import { isPrompt, type Message } from "../../protocol/message.ts";
import { closeDatabaseHandle, storeError } from "../sqlite.ts";
import { syncFoldersUpTo } from "../sync.ts";
import { encodeMessage } from "./blobs.ts";
import type { ChatMetadata, ChatProblem, ChatWriter, StoredEvent, StoredMessage } from "./chat.ts";
import type { StoreConnection } from "./connection.ts";
import { type AddedBlob, EventEncoder } from "./event-bodies.ts";
import { eventsFrom, modelView, ownState, readHistory, readView, type StoreMeta, setOwnState } from "./history.ts";
import { chatIdentity, storeFile } from "./layout.ts";
import { firstLine, firstText } from "./metadata.ts";
import { dropSegment, keepSegment, OpenSegment } from "./open-segment.ts";
import { type RootBuilder, rootFromIds } from "./root.ts";
import { sha256 } from "./sha256.ts";
import { longestLog } from "./tables.ts";
import { openTranscript, type TranscriptFile, writeMetadata } from "./transcript-files.ts";
import type { WriterLock } from "./writer-lock.ts";

/** A chat that is opened for writing, whether new or existing. */
export type OpenedChat = {
  store: StoreConnection;
  /** The handle of a new store that was not synced to disk yet. */
  handle?: number;
  lock: WriterLock;
  metadata: ChatMetadata;
  meta: StoreMeta;
  messages: Message[];
  /** Lists the blobs of the conversation in order. */
  root: RootBuilder;
  /** The id of the root in the store, and of the previous root. */
  rootId: string;
  previousRootId?: string;
  turn: number;
  problems: readonly ChatProblem[];
  /** The last sequence number and message number that were assigned. */
  lastSequence: number;
  lastNumber: number;
  lastEvent: number;
};

const turnStatus = { done: "success", fail: "error" };
/** Live events that are not stored: the end of the segment or call repeats their content. */
const passing = new Set<AgentEvent["type"]>(["text", "thinking", "tool_output"]);
const durable = new Set<AgentEvent["type"]>(["tool_start", "done", "fail"]);

export class Writer implements ChatWriter {
  readonly interrupted: { callId: string; tool: string }[] = [];
  readonly #chat: OpenedChat;
  readonly #transcript: TranscriptFile;
  readonly #toolNames = new Map<string, string>();
  readonly #events = new EventEncoder();
  #rootIsStale = false;
  /** What started the running turn. Without events, the next prompt starts a new turn. */
  #running: "event" | "message" | undefined;
  /** The first error. After it, nothing more is written, since there would be a gap before it. */
  #failure: UserError | undefined;
  #isClosed = false;
  #isPlaced = false;
  /** Whether a commit was synced to disk, and with it everything before. */
  #isSettled = false;
  #shownMetadata = "";
  /** The text being streamed, saved from time to time, since only its end is logged as an event. */
  readonly #segment = new OpenSegment((text) => {
    if (!this.#failure) this.#commit(() => keepSegment(this.#chat.store, text, this.#chat.turn));
  });

  constructor(opened: OpenedChat) {
    this.#chat = opened;
    const { configDir } = chatIdentity(opened.metadata.folder);
    this.#transcript = openTranscript(configDir, opened.metadata);
    for (const message of opened.messages.slice(-2)) this.#learnTools(message);
  }

  get metadata(): ChatMetadata {
    return { ...this.#chat.metadata };
  }

  get messages(): readonly Message[] {
    return this.#chat.messages;
  }

  get problems(): readonly ChatProblem[] {
    return this.#chat.problems;
  }

  get turn(): number {
    return this.#chat.turn;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  append(...messages: readonly Message[]): void {
    if (messages.length === 0) return;
    const at = Date.now();
    this.#commit(() => {
      const blobs = messages.flatMap((message) => this.#insertMessage(message, at));
      for (const { sequence, turn, at, event, stored } of this.#events.retell(blobs, this.#chat.turn)) {
        this.#chat.store.statement("DELETE FROM courser_events WHERE sequence = ?").run(sequence);
        this.#insertEvent(sequence, turn, at, event, stored);
      }
    });
    this.#chat.metadata.hasConversation = true;
    this.#chat.metadata.updatedAt = at;
    this.#chat.messages.push(...messages);
    for (const message of messages) this.#transcript.add(message, at);
  }

  replace(messages: readonly Message[]): void {
    const body = JSON.stringify(messages);
    const hash = sha256(body);
    this.#commit(() => {
      this.#chat.store
        .statement("INSERT INTO courser_views (turn, after, hash, body) VALUES (?, ?, ?, ?)")
        .run(this.#chat.turn, this.#chat.lastSequence, hash, body);
    });
    this.#chat.messages = [...messages];
  }

  record(event: AgentEvent): number | undefined {
    if (event.type === "text") this.#segment.add(event.text);
    if (passing.has(event.type)) return undefined;
    const endsSegment = this.#segment.ends(event);
    const at = event.at ?? Date.now();
    const isEnd = event.type === "done" || event.type === "fail";
    if (event.type === "user") {
      this.#beginTurn("event", event.text);
      setImmediate(() => {
        try {
          this.#place();
        } catch {} // the first durable commit tries again and reports the error
      });
    }
    const turn = this.#running ? this.#chat.turn : this.#chat.turn + 1;
    this.#commit(
      () => {
        this.#insertEvent(++this.#chat.lastEvent, turn, at, event);
        if (endsSegment) dropSegment(this.#chat.store);
        if (isEnd) this.#writeRoot();
      },
      { durable: durable.has(event.type) },
    );
    this.#chat.metadata.updatedAt = at;
    if (isEnd) {
      this.#running = undefined;
      this.#transcript.endTurn(turnStatus[event.type]);
    }
    if (isEnd || event.type === "user") this.#writeMetadata();
    return this.#chat.lastEvent;
  }

  events(from: number, most: number): StoredEvent[] {
    return eventsFrom(this.#chat.store, from, most);
  }

  state(key: string): unknown {
    return ownState(this.#chat.store, key);
  }

  saveState(key: string, value: unknown, options: { durable?: boolean } = {}): void {
    if (key.startsWith(".")) throw new Error(`the store itself uses keys like ${key}`);
    this.#commit(() => setOwnState(this.#chat.store, key, value, this.#chat.turn), options);
  }

  rename(title: string): void {
    this.#chat.metadata.title = title;
    this.#commit(() => this.#writeMeta());
    this.#writeMetadata();
  }

  rewindTo(number: number, state: ReadonlyMap<string, unknown> = new Map()): void {
    if (!Number.isInteger(number) || number < 1 || number > this.#chat.turn) {
      const turns = this.#chat.turn === 0 ? "it has no turns" : `its turns are 1 to ${this.#chat.turn}`;
      throw usageError(`The chat ${this.#chat.metadata.id} has no turn ${number}: ${turns}.`);
    }
    const { store } = this.#chat;
    this.#events.forget();
    this.#commit(
      () => {
        this.#deleteFrom(number);
        for (const [key, value] of state) setOwnState(store, key, value, number - 1);
        setOwnState(store, ".rewinds", Number(ownState(store, ".rewinds") ?? 0) + 1);
        this.#rootIsStale = true;
        this.#writeRoot();
        this.#running = undefined;
        this.#chat.turn = number - 1;
        const { messages } = readHistory(store);
        this.#chat.messages = modelView(readView(store), messages);
        this.#chat.metadata.hasConversation = messages.length > 0;
        if (number === 1) delete this.#chat.metadata.prompt;
      },
      { durable: true },
    );
    this.rewriteTranscript(readHistory(store).messages);
    this.#writeMetadata();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#segment.close();
    try {
      if (!this.#failure) {
        this.#commit(
          () => {
            this.#writeRoot();
            this.#chat.store.statement("DELETE FROM courser_state WHERE key = '.writer'").run();
          },
          { durable: this.#rootIsStale || !this.#isSettled },
        );
        this.#writeMetadata();
      }
    } finally {
      this.#isClosed = true;
      this.#failure ??= new UserError("STORE_FAILED", `The chat ${this.#chat.metadata.id} is closed.`);
      try {
        this.#transcript.close();
      } finally {
        this.#chat.store.close();
        if (this.#chat.handle !== undefined) closeDatabaseHandle(this.#chat.handle);
        this.#chat.lock.free();
      }
    }
  }

  /** Marks what an earlier run left unfinished. Must be called before anything else is written. */
  mend(turn: number, events: readonly AgentEvent[], result: Message | undefined): void {
    const at = Date.now();
    this.#commit(() => {
      for (const event of events) {
        if (event.type === "tool_end") this.interrupted.push({ callId: event.callId, tool: event.tool });
        this.#insertEvent(++this.#chat.lastEvent, turn, at, event);
      }
      dropSegment(this.#chat.store);
      if (result) this.#insertMessage(result, at);
      if (events.length > 0 || result) this.#writeRoot();
    });
    if (result) this.#chat.messages.push(result);
    if (events.length > 0) this.#transcript.endTurn(turnStatus.fail);
  }

  /** Rewrites the transcript from the store, since the last run may have been cut off between writing the two. */
  rewriteTranscript(messages: readonly StoredMessage[]): void {
    const rows = this.#chat.store.rows(
      "SELECT turn, kind FROM courser_events WHERE kind IN ('done', 'fail') ORDER BY sequence",
    );
    const endings = rows.map(([turn, kind]) => [Number(turn), turnStatus[kind as keyof typeof turnStatus]] as const);
    this.#transcript.rewrite(messages, new Map(endings));
  }

  #insertMessage(message: Message, at: number): AddedBlob[] {
    if (isPrompt(message) && this.#running !== "event") this.#beginTurn("message", firstText(message));
    this.#learnTools(message);
    const blobs = encodeMessage(message, {
      message: ++this.#chat.lastNumber,
      firstSequence: this.#chat.lastSequence + 1,
      toolName: (callId) => this.#toolNames.get(callId) ?? "",
    });
    this.#rootIsStale = true;
    return blobs.map((text) => {
      const id = sha256(text);
      this.#chat.store.statement("INSERT INTO blobs (id, data) VALUES (?, ?)").run(id, Buffer.from(text));
      this.#chat.store
        .statement("INSERT INTO courser_messages (sequence, turn, at, blob) VALUES (?, ?, ?, ?)")
        .run(++this.#chat.lastSequence, this.#chat.turn, at, id);
      this.#chat.root.add(id);
      return { id, text };
    });
  }

  /** Tool results are stored with their tool's name, which only the call before them has. */
  #learnTools(message: Message): void {
    if (message.role !== "assistant") return;
    this.#toolNames.clear();
    for (const part of message.parts) if (part.type === "tool_call") this.#toolNames.set(part.id, part.name);
  }

  #beginTurn(by: "event" | "message", prompt: string): void {
    this.#chat.turn++;
    this.#running = by;
    this.#chat.metadata.prompt ??= firstLine(prompt);
    this.#chat.metadata.hasConversation = true;
  }

  #insertEvent(sequence: number, turn: number, at: number, event: AgentEvent, stored?: string): void {
    this.#chat.store
      .statement("INSERT INTO courser_events (sequence, turn, at, kind, body) VALUES (?, ?, ?, ?, ?)")
      .run(sequence, turn, at, event.type, stored ?? this.#events.encode(event, { sequence, turn, at }));
  }

  /** Writes the root, and keeps the previous one in case the new one is lost. */
  #writeRoot(): void {
    if (!this.#rootIsStale) return;
    const { id, data } = this.#chat.root.build();
    if (id !== this.#chat.rootId) {
      this.#chat.store.statement("INSERT OR IGNORE INTO blobs (id, data) VALUES (?, ?)").run(id, data);
      if (this.#chat.previousRootId !== undefined && this.#chat.previousRootId !== id)
        this.#chat.store.statement("DELETE FROM blobs WHERE id = ?").run(this.#chat.previousRootId);
      this.#chat.previousRootId = this.#chat.rootId;
      this.#chat.rootId = id;
      setOwnState(this.#chat.store, ".root", id);
      setOwnState(this.#chat.store, ".previous_root", this.#chat.previousRootId);
    }
    this.#rootIsStale = false;
    this.#writeMeta();
  }

  #writeMeta(): void {
    const text = metaText(this.#chat.meta, this.#chat.metadata, this.#chat.rootId);
    this.#chat.store.statement("INSERT OR REPLACE INTO meta (key, value) VALUES ('0', ?)").run(text);
  }

  #writeMetadata(): void {
    const text = JSON.stringify(this.#chat.metadata);
    if (text === this.#shownMetadata) return;
    writeMetadata(this.#chat.metadata);
    this.#shownMetadata = text;
  }

  /** Deletes all messages since a turn, and the roots that contain them, since some programs read the longest root. */
  #deleteFrom(turn: number): void {
    const gone = this.#chat.store.statement("SELECT blob FROM courser_messages WHERE turn >= ?").all(turn);
    for (const table of ["messages", "events", "views", "state"])
      this.#chat.store.statement(`DELETE FROM courser_${table} WHERE turn >= ?`).run(turn);
    const left = this.#chat.store.statement("SELECT sequence, blob FROM courser_messages ORDER BY sequence").all();
    const kept = new Set(left.map(({ blob }) => blob));
    const remove = this.#chat.store.statement("DELETE FROM blobs WHERE id = ?");
    for (const { blob } of gone) if (!kept.has(blob)) remove.run(blob!);
    for (const id of [this.#chat.rootId, this.#chat.previousRootId]) if (id !== undefined) remove.run(id);
    this.#chat.previousRootId = undefined;
    this.#chat.rootId = "";
    this.#chat.root = rootFromIds(left.map(({ blob }) => String(blob)));
    this.#chat.lastSequence = Number(left.at(-1)?.["sequence"] ?? 0);
  }

  /** Any failure stops this writer, because its counters may be ahead of the store. */
  #commit(work: () => void, options: { durable?: boolean } = {}): void {
    if (this.#failure) throw this.#failure;
    const { store, metadata } = this.#chat;
    try {
      if (options.durable) this.#prepareToLast();
      store.statement("BEGIN IMMEDIATE").run();
      work();
      store.statement("COMMIT").run();
      if (options.durable) store.exec("PRAGMA chat.synchronous = NORMAL");
    } catch (error) {
      try {
        store.rollBack();
      } catch {
        // Ignore this error, since an earlier one was reported.
      }
      this.#failure = unexpectedWriteError(metadata.id, error);
      this.#failure = storeError(error, storeFile(metadata.folder)); // rethrows errors that do not come from the store
      throw this.#failure;
    }
  }

  /** Syncs the files of a new store to disk, while the model answers or with the first durable commit. */
  #place(): void {
    const { handle, metadata } = this.#chat;
    if (this.#isPlaced || this.#isClosed || handle === undefined) return;
    fsyncSync(handle);
    syncFoldersUpTo(metadata.folder, chatIdentity(metadata.folder).configDir);
    this.#isPlaced = true;
  }

  /** The first durable commit also needs the file itself; from then on the log is checkpointed as usual. */
  #prepareToLast(): void {
    if (!this.#isSettled) {
      this.#place();
      this.#chat.store.exec(`PRAGMA wal_autocheckpoint = ${longestLog}`);
      this.#isSettled = true;
    }
    this.#chat.store.exec("PRAGMA chat.synchronous = FULL");
  }
}

function unexpectedWriteError(id: string, error: unknown): UserError {
  const reason = error instanceof Error ? error.message : String(error);
  const why = `The chat ${id} takes nothing more after an unexpected error (${reason}).`;
  return new UserError("STORE_FAILED", `${why} What was shown before is kept; continue with --resume.`);
}

/** Formats row `0` of the table `meta` like the original CLI. Unknown fields of the existing row are preserved. */
export function metaText(before: StoreMeta, metadata: ChatMetadata, root: string): string {
  const meta: StoreMeta = {
    ...before,
    agentId: metadata.id,
    latestRootBlobId: root,
    name: metadata.title,
    mode: metadata.mode,
    createdAt: metadata.createdAt,
    ...(metadata.model !== undefined && { lastUsedModel: metadata.model }),
  };
  return Buffer.from(JSON.stringify(meta)).toString("hex");
}
