// The recorder: writes a run to a file while it works. It stands where events are shown and where the model is asked, and
// changes nothing.
import { closeSync, openSync, writeSync } from "node:fs";
import type { ModelChunk, ModelRequest, Provider } from "../model/provider.ts";
import { ModelError } from "../model/provider.ts";
import type { ResolvedModel } from "../model/resolve.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { PermissionMode, Recorded, RunRequest } from "../protocol/run.ts";
import { isTrusted } from "../store/trust.ts";
import { digestOf } from "../text/digest.ts";
import { createDescriber, type DescribedRequest, type Describer, digestOfParts, redacted } from "./describe.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { shortHeader, usualProvider } from "./head.ts";
import { createNormaliser, type Normaliser, type Places, placesOf } from "./normalise.ts";
import {
  type DeltasLine,
  type EventLine,
  type KeptMessage,
  type RecordingHeader,
  type RecordingLine,
  type ReplyLine,
  type ReplyPart,
  type RequestLine,
  recordingVersion,
  toolsText,
} from "./recording.ts";

type RecorderOptions = {
  file: string;
  request: RunRequest;
  env: NodeJS.ProcessEnv;
  version: string;
  redact: Redact;
};

const mostUnwritten = 256;
const longestUnwrittenMs = 500;

type Redact = (text: string) => string;

/** What lines are made with. What is described by one is remembered by it. */
type LineMaker = { redact: Redact | undefined; describer: Describer };

type Asked = { request: number; asked: ModelRequest };
type Happening = Asked | ReplyLine | EventLine | DeltasLine;

type Event<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>;

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #file: number;
  #places!: Places;
  #normalise!: Normaliser;
  #plain!: LineMaker;
  #redacting!: LineMaker;
  /** Of each agent, what it asked last. */
  #last = new Map<string, DescribedRequest>();
  /** Replies by what they said. */
  #replies = new Map<string, number>();
  #requests = 0;
  #model: ResolvedModel | undefined;
  #init: Event<"init"> | undefined;
  #hasHeader = false;
  /** What happened since the last write. Lines are made of it then: beside the run, not within it. */
  #happened: Happening[] = [];
  #timer: NodeJS.Timeout | undefined;
  #failure: UserError | undefined;
  #deltas: (DeltasLine & { now: number }) | undefined;

  /** Throws UserError where the file cannot be written. */
  constructor(options: RecorderOptions) {
    this.#options = options;
    try {
      this.#file = openSync(options.file, "w", 0o600);
    } catch (error) {
      throw new UserError(
        "FILE_UNREADABLE",
        `--record ${options.file} cannot be written: ${(error as Error).message}. Give another file.`,
      );
    }
  }

  /** Every event of the run, as it is shown. Those of subagents and live output are no part of the stream. */
  watch({ event, agent }: Recorded): void {
    if (agent !== undefined || event.type === "tool_output") return;
    if (event.type === "init") {
      this.#init = event;
      this.#setPlaces(event.cwd); // it may be a worktree of its own
    }
    if ((event.type === "text" || event.type === "thinking") && event.at !== undefined) {
      this.#delta(event);
      return;
    }
    this.#endDeltas();
    this.#add({ event });
  }

  /** The same provider, listened to. */
  wrap(provider: Provider, model: ResolvedModel): Provider {
    this.#model ??= model;
    const ask = (request: ModelRequest) => this.#ask(provider, request);
    return {
      get id() {
        return provider.id;
      },
      stream: ask,
      ...(provider.canSummarise && { canSummarise: () => provider.canSummarise!() }),
    };
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#endDeltas();
    this.#write({ isLast: true });
    closeSync(this.#file);
  }

  #setPlaces(workspace: string): void {
    const { request, env, redact } = this.#options;
    this.#places = placesOf({ ...request, workspace }, env);
    this.#normalise = createNormaliser(this.#places);
    const maker = (clean: Redact | undefined) => ({
      redact: clean,
      describer: createDescriber(this.#normalise, clean),
    });
    this.#plain = maker(undefined);
    this.#redacting = maker(redact);
  }

  async *#ask(provider: Provider, request: ModelRequest): AsyncGenerator<ModelChunk> {
    const number = this.#request(request);
    const reply = new ReplyCollector(number);
    // Whoever asked may also stop to listen.
    let ending: Pick<ReplyLine, "error" | "cut"> = { cut: true };
    try {
      for await (const chunk of provider.stream(request)) {
        reply.take(chunk);
        yield chunk;
      }
      ending = {};
    } catch (error) {
      if (error instanceof ModelError && !request.signal.aborted)
        ending = { error: { code: error.code, message: error.message } };
      throw error;
    } finally {
      this.#reply({ ...reply.line(provider.id), ...ending });
    }
  }

  /** The list of messages goes on growing; a message does not change. */
  #request(request: ModelRequest): number {
    this.#endDeltas();
    const number = ++this.#requests;
    this.#add({ request: number, asked: { ...request, messages: [...request.messages] } });
    return number;
  }

  #reply(line: ReplyLine): void {
    this.#endDeltas();
    this.#add(line);
  }

  #delta({ type, text, at = 0 }: Event<"text" | "thinking">): void {
    if (this.#deltas?.deltas !== type) this.#endDeltas();
    this.#deltas ??= { deltas: type, text: "", sizes: [], at: [], now: 0 };
    this.#deltas.text += text;
    this.#deltas.sizes.push(text.length);
    this.#deltas.at.push(at - this.#deltas.now);
    this.#deltas.now = at;
  }

  #endDeltas(): void {
    if (!this.#deltas) return;
    const { now: _, ...line } = this.#deltas;
    this.#deltas = undefined;
    this.#add(line);
  }

  /** What happened is written together: each write would hold up the run. */
  #add(happening: Happening): void {
    if (this.#failure) throw this.#failure;
    this.#happened.push(happening);
    if (this.#happened.length > mostUnwritten) this.#write();
    else this.#timer ??= setTimeout(() => this.#writeInTime(), longestUnwrittenMs).unref();
  }

  /** Nobody waits for a timer: the run learns of a failure with what happens next. */
  #writeInTime(): void {
    try {
      this.#write();
    } catch (error) {
      this.#failure = error as UserError;
    }
  }

  /** Before the model is known, there is no first line. */
  #write({ isLast = false } = {}): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (!this.#init || (!this.#model && !isLast) || this.#happened.length === 0) return;
    const happened = this.#happened.splice(0);
    const bytes = Buffer.from(this.#textOf(happened, this.#init));
    this.#hasHeader = true;
    try {
      let offset = 0;
      while (offset < bytes.length) offset += writeSync(this.#file, bytes, offset);
    } catch (error) {
      throw new UserError(
        "OUTPUT_FAILED",
        `--record ${this.#options.file} cannot be written: ${(error as Error).message}`,
      );
    }
  }

  /** One look at everything tells that there is no secret in it, as there mostly is none. Else each line is redacted by itself. */
  #textOf(happened: readonly Happening[], init: Event<"init">): string {
    const [last, replies] = [new Map(this.#last), new Map(this.#replies)];
    const textBy = (maker: LineMaker) => {
      const lines: object[] = happened.map((each) => writtenLine(this.#line(each, maker)));
      if (!this.#hasHeader) lines.unshift(redacted(this.#header(init), maker.redact));
      return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    };
    const plain = textBy(this.#plain);
    if (this.#options.redact(plain) === plain) return plain;
    [this.#last, this.#replies] = [last, replies];
    return textBy(this.#redacting);
  }

  #line(happening: Happening, { redact, describer }: LineMaker): RecordingLine {
    if ("asked" in happening) return this.#requestLine(happening, describer);
    if ("deltas" in happening) return redactedDeltas(happening, redact);
    const line = redacted(happening, redact);
    if ("reply" in line) {
      this.#replies.set(digestOfParts(line.parts, this.#normalise), line.reply);
      const { provider, ...rest } = line;
      return provider === usualProvider(this.#model?.id ?? "") ? rest : line;
    }
    if (line.event.type === "tool_end")
      return { ...line, digest: digestOf(JSON.stringify(line.event.outcome ?? null)) };
    return line;
  }

  #requestLine({ request, asked }: Asked, describer: Describer): RequestLine {
    const { agent, purpose } = asked;
    const described = describer.request(asked);
    const isMain = agent !== undefined && agent === this.#init?.sessionId;
    const before = agent === undefined ? undefined : this.#last.get(agent);
    if (agent !== undefined) this.#last.set(agent, described);
    const kept = commonLength(before?.messages ?? [], described.messages);
    return {
      request,
      digest: described.digest,
      ...(agent !== undefined && { agent: isMain ? "main" : agent }),
      ...(purpose !== undefined && { purpose }),
      ...(!isSame(before?.system, described.system) && { system: described.system }),
      ...(!isSame(before?.tools, described.tools) && { tools: described.tools }),
      messages: { kept, added: described.messages.slice(kept).map((message) => this.#added(message)) },
    };
  }

  #added({ role, digest, parts }: DescribedRequest["messages"][number]): KeptMessage {
    const reply = role === "assistant" ? this.#replies.get(digest) : undefined;
    return reply === undefined ? { role, digest, parts } : { role, digest, reply };
  }

  #header(init: Event<"init">): object {
    const { request, version } = this.#options;
    const { workspace: _workspace, roots: _roots, chat, single = false, ...rest } = request;
    const places = this.#places;
    const model = this.#model;
    const header: RecordingHeader = {
      recording: recordingVersion,
      version,
      recordedAt: new Date().toISOString(),
      chatId: init.sessionId,
      mode: init.permissionMode as PermissionMode,
      trusted: request.trust === true || isTrusted(places.config, places.workspace),
      request: withoutEmpty({ ...(chat?.type === "resume" && { chat }), ...rest, single }),
      places,
      model: {
        id: model?.id ?? "",
        displayName: model?.displayName ?? init.model ?? "",
        contextTokens: model?.contextTokens ?? 0,
        ...(model?.price && { price: model.price }),
        ...(model?.effort && { effort: model.effort }),
      },
      workspace: fingerprintOf(places.workspace),
    };
    return shortHeader(header, init);
  }
}

function writtenLine(line: RecordingLine): object {
  return "request" in line && line.tools ? { ...line, tools: toolsText(line.tools) } : line;
}

/** A secret may have come in pieces: then it is one piece that it left. */
function redactedDeltas(line: DeltasLine, redact: Redact | undefined): DeltasLine {
  const text = redact?.(line.text) ?? line.text;
  return text === line.text ? line : { ...line, text, sizes: [text.length], at: line.at.slice(0, 1) };
}

/** From chunks to the line of a reply. */
class ReplyCollector {
  readonly #number: number;
  #parts: ReplyPart[] = [];
  #usage: ReplyLine["usage"];
  #open: Record<"text" | "thinking", { text: string; sizes: number[] }> = emptyDeltas();

  constructor(number: number) {
    this.#number = number;
  }

  take(chunk: ModelChunk): void {
    switch (chunk.type) {
      case "text":
      case "thinking":
        this.#open[chunk.type].text += chunk.text;
        this.#open[chunk.type].sizes.push(chunk.text.length);
        break;
      case "part":
        this.#parts.push(this.#withDeltas(chunk.part));
        break;
      case "usage":
        this.#usage = chunk.usage;
        break;
      case "retry":
        this.#parts = [];
        this.#open = emptyDeltas();
        break;
      case "model":
      case "notice":
        break;
    }
  }

  line(provider: string): ReplyLine {
    // What was being said when it broke off.
    const open = (["thinking", "text"] as const).flatMap((type) =>
      this.#open[type].text === "" ? [] : [{ type, text: this.#open[type].text }],
    );
    return {
      reply: this.#number,
      parts: [...this.#parts, ...open],
      provider,
      ...(this.#usage && { usage: this.#usage }),
    };
  }

  #withDeltas(part: ReplyPart): ReplyPart {
    if (part.type !== "text" && part.type !== "thinking") return part;
    const { text, sizes } = this.#open[part.type];
    this.#open[part.type] = { text: "", sizes: [] };
    return text === part.text && sizes.length > 1 ? { ...part, deltas: sizes } : part;
  }
}

function emptyDeltas() {
  return { text: { text: "", sizes: [] as number[] }, thinking: { text: "", sizes: [] as number[] } };
}

function commonLength(before: readonly { digest: string }[], now: readonly { digest: string }[]): number {
  let length = 0;
  while (length < before.length && before[length]!.digest === now[length]?.digest) length++;
  return length;
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** Lists and objects with nothing in them say nothing. */
function withoutEmpty<Given extends object>(given: Given): Given {
  const isEmpty = (value: unknown) => typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => !isEmpty(value))) as Given;
}
