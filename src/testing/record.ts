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
import { createNormaliser, type Normaliser, type Places, placesOf } from "./normalise.ts";
import {
  type DeltasLine,
  type KeptMessage,
  type RecordingHeader,
  type RecordingLine,
  type ReplyLine,
  type ReplyPart,
  type RequestLine,
  recordingVersion,
} from "./recording.ts";

type RecorderOptions = {
  file: string;
  request: RunRequest;
  env: NodeJS.ProcessEnv;
  version: string;
  redact(text: string): string;
};

const mostUnwritten = 64 * 1024;
const longestUnwrittenMs = 500;

type Event<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>;

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #file: number;
  #places!: Places;
  #describer!: Describer;
  #normalise!: Normaliser;
  /** Of each agent, what it asked last. */
  readonly #last = new Map<string, DescribedRequest>();
  /** Replies by what they said. */
  readonly #replies = new Map<string, number>();
  #requests = 0;
  #model: ResolvedModel | undefined;
  #init: Event<"init"> | undefined;
  /** What comes before the model is known. */
  #waiting: RecordingLine[] = [];
  #hasHeader = false;
  #unwritten = "";
  #writtenAt = Date.now();
  #deltas: (DeltasLine & { now: number }) | undefined;

  /** Throws UserError where the file cannot be written. */
  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#setPlaces(options.request.workspace);
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
    const kept = redacted(event, this.#options.redact);
    const digest = kept.type === "tool_end" ? { digest: digestOf(JSON.stringify(kept.outcome ?? null)) } : {};
    this.#line({ event: kept, ...digest });
  }

  /** The same provider, listened to. */
  wrap(provider: Provider, model: ResolvedModel): Provider {
    this.#model ??= model;
    this.#writeHeader();
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
    this.#endDeltas();
    this.#writeHeader();
    this.#flush();
    closeSync(this.#file);
  }

  #setPlaces(workspace: string): void {
    const { request, env, redact } = this.#options;
    this.#places = placesOf({ ...request, workspace }, env);
    this.#normalise = createNormaliser(this.#places);
    this.#describer = createDescriber(this.#normalise, redact);
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

  #request(request: ModelRequest): number {
    this.#endDeltas();
    const { agent, purpose } = request;
    const described = this.#describer.request(request);
    const isMain = agent !== undefined && agent === this.#init?.sessionId;
    const before = agent === undefined ? undefined : this.#last.get(agent);
    if (agent !== undefined) this.#last.set(agent, described);
    const kept = commonLength(before?.messages ?? [], described.messages);
    const number = ++this.#requests;
    const line: RequestLine = {
      request: number,
      digest: described.digest,
      ...(agent !== undefined && { agent: isMain ? "main" : agent }),
      ...(purpose !== undefined && { purpose }),
      ...(!isSame(before?.system, described.system) && { system: described.system }),
      ...(!isSame(before?.tools, described.tools) && { tools: described.tools }),
      messages: { kept, added: described.messages.slice(kept).map((message) => this.#added(message)) },
    };
    this.#line(line);
    return number;
  }

  #added({ role, digest, parts }: DescribedRequest["messages"][number]): KeptMessage {
    const reply = role === "assistant" ? this.#replies.get(digest) : undefined;
    return reply === undefined ? { role, digest, parts } : { role, digest, reply };
  }

  #reply(line: ReplyLine): void {
    this.#endDeltas();
    const kept = redacted(line, this.#options.redact);
    this.#replies.set(digestOfParts(kept.parts, this.#normalise), kept.reply);
    this.#line(kept);
  }

  #delta({ type, text, at = 0 }: Event<"text" | "thinking">): void {
    if (this.#deltas?.deltas !== type) this.#endDeltas();
    this.#deltas ??= { deltas: type, text: "", sizes: [], at: [], now: 0 };
    this.#deltas.text += text;
    this.#deltas.sizes.push(text.length);
    this.#deltas.at.push(at - this.#deltas.now);
    this.#deltas.now = at;
  }

  /** A secret may have come in pieces: then it is one piece that it left. */
  #endDeltas(): void {
    if (!this.#deltas) return;
    const { now: _, ...line } = this.#deltas;
    this.#deltas = undefined;
    const text = this.#options.redact(line.text);
    if (text === line.text) this.#line(line);
    else this.#line({ ...line, text, sizes: [text.length], at: line.at.slice(0, 1) });
  }

  #line(line: RecordingLine): void {
    if (this.#hasHeader) this.#write(line);
    else this.#waiting.push(line);
  }

  #writeHeader(): void {
    if (this.#hasHeader || !this.#init) return;
    this.#hasHeader = true;
    this.#write(this.#header(this.#init));
    for (const line of this.#waiting.splice(0)) this.#write(line);
  }

  #header({ sessionId, permissionMode, model: shown }: Event<"init">): RecordingHeader {
    const { request, version, redact } = this.#options;
    const { workspace: _workspace, roots: _roots, chat, ...rest } = request;
    const asked = chat?.type === "resume" ? { chat, ...rest } : rest;
    const places = this.#places;
    const model = this.#model;
    const displayName = model?.displayName ?? shown ?? "";
    const header: RecordingHeader = {
      recording: recordingVersion,
      version,
      recordedAt: new Date().toISOString(),
      chatId: sessionId,
      mode: permissionMode as PermissionMode,
      trusted: request.trust === true || isTrusted(places.config, places.workspace),
      request: withoutEmpty(asked),
      places,
      model: {
        id: model?.id ?? "",
        displayName,
        contextTokens: model?.contextTokens ?? 0,
        ...(model?.price && { price: model.price }),
        ...(model?.effort && { effort: model.effort }),
      },
      workspace: fingerprintOf(places.workspace),
    };
    return redacted(header, redact);
  }

  /** Lines go to the file together: each write would hold up the run. */
  #write(line: RecordingLine | RecordingHeader): void {
    this.#unwritten += `${JSON.stringify(line)}\n`;
    if (this.#unwritten.length > mostUnwritten || Date.now() - this.#writtenAt > longestUnwrittenMs) this.#flush();
  }

  #flush(): void {
    const bytes = Buffer.from(this.#unwritten);
    this.#unwritten = "";
    this.#writtenAt = Date.now();
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
