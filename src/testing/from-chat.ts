// Exports a chat as a recording, without system prompts and tools, which a chat does not keep.
import type { ErrorCode } from "../protocol/error-codes.ts";
import type { AgentEvent, EventOf } from "../protocol/event.ts";
import type { Message } from "../protocol/message.ts";
import { redact } from "../redact/redact.ts";
import { rebuildEvents } from "../sdk/rebuild-events.ts";
import type { ChatRecord } from "../store/chats/chat.ts";
import { digestOf } from "../text/digest.ts";
import { createDescriber, digestOfRequest, redacted } from "./describe.ts";
import { createNormaliser, placesOf } from "./normalise.ts";
import { type RecordingHeader, type RecordingLine, type RequestLine, recordingVersion } from "./recording.ts";

export function* recordingExport(record: ChatRecord): Generator<string> {
  for (const line of recordingLines(record)) yield `${JSON.stringify(redacted(line, redact))}\n`;
}

function* recordingLines(record: ChatRecord): Generator<RecordingHeader | RecordingLine> {
  const turns = rebuildEvents(record);
  const init = turns[0]?.events.find((event) => event.type === "init");
  const header = headerOf(record, init);
  yield header;
  if (init) yield { event: init };
  const conversation = new ChatReader(record, header);
  for (const { number, events } of turns) {
    conversation.begin(number);
    for (const stored of events) {
      const event = redacted(stored, redact);
      if (event.type === "init") continue;
      if (conversation.isAnswered(event)) yield* conversation.nextReply();
      if (event.type === "done" || event.type === "fail") yield* conversation.rest();
      if (event.type === "fail") yield* conversation.failed(event);
      const digest = event.type === "tool_end" ? { digest: digestOf(JSON.stringify(event.outcome ?? null)) } : {};
      yield { event, ...digest };
    }
  }
}

function headerOf({ metadata }: ChatRecord, init: EventOf<"init"> | undefined): RecordingHeader {
  const { id, model = "", workspace = init?.cwd ?? "/", createdAt } = metadata;
  return {
    recording: recordingVersion,
    version: "",
    recordedAt: new Date(createdAt).toISOString(),
    chatId: id,
    mode: (init?.permissionMode ?? "default") as RecordingHeader["mode"],
    trusted: true,
    request: {},
    places: placesOf({ workspace }, process.env),
    model: { id: "", displayName: init?.model ?? model, contextTokens: 128_000 },
    workspace: { entries: 0, digest: "" },
  };
}

/** Splits the messages of a chat into requests and replies, in step with the events. */
class ChatReader {
  readonly #messages: { turn: number; message: Message }[];
  readonly #describer;
  #turn = 0;
  /** The number of messages that have been written. */
  #written = 0;
  #kept = 0;
  #requests = 0;
  /** Whether something was sent to the model since the last reply. */
  #isOpen = true;
  #running = 0;

  constructor({ messages }: ChatRecord, { places }: RecordingHeader) {
    this.#messages = messages;
    this.#describer = createDescriber(createNormaliser(places), redact);
  }

  begin(turn: number): void {
    this.#turn = turn;
  }

  /** Whether this event is the first of the next reply. */
  isAnswered(event: AgentEvent): boolean {
    const isFirst =
      this.#isOpen && this.#running === 0 && ["thinking", "text", "text_end", "tool_start"].includes(event.type);
    if (event.type === "tool_start") this.#running++;
    if (event.type === "tool_end") this.#running--;
    if (event.type === "user" || event.type === "tool_end") this.#isOpen = true;
    else if (isFirst) this.#isOpen = false;
    return isFirst;
  }

  /** Yields the next request and its reply. */
  *nextReply(): Generator<RecordingLine> {
    const at = this.#messages.findIndex(
      ({ message, turn }, index) => index >= this.#written && turn === this.#turn && message.role === "assistant",
    );
    if (at < 0) return;
    yield this.#request(at);
    const { parts, provider } = this.#messages[at]!.message;
    yield { reply: this.#requests, parts: [...parts], ...(provider !== undefined && { provider }) };
    this.#written = at + 1;
  }

  /** Yields a request that the model failed to answer. */
  *failed({ code, message }: { code?: string; message: string }): Generator<RecordingLine> {
    const at = this.#messages.findLastIndex(({ turn }) => turn === this.#turn) + 1;
    const isAsked = this.#messages[at - 1]?.message.role === "user";
    if (!isAsked || !code?.startsWith("MODEL_")) return;
    yield this.#request(at);
    yield { reply: this.#requests, parts: [], error: { code: code as ErrorCode, message } };
    this.#written = at;
  }

  /** Returns the request with the messages up to position `at`. */
  #request(at: number): RequestLine {
    const messages = this.#messages.slice(0, at).map(({ message }) => this.#describer.message(message));
    const added = messages.slice(this.#kept);
    const kept = this.#kept;
    this.#kept = at;
    return {
      request: ++this.#requests,
      digest: digestOfRequest({ system: [], tools: {}, messages }),
      agent: "main",
      messages: { kept, added },
    };
  }

  /** Yields the replies of the turn that are stored but have no event. */
  *rest(): Generator<RecordingLine> {
    const last = this.#messages.findLastIndex(
      ({ message, turn }) => turn === this.#turn && message.role === "assistant",
    );
    while (this.#written <= last) yield* this.nextReply();
  }
}
