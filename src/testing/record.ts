// The recorder: collects what happens in a run and writes it to a file. It observes the events and the model calls and changes
// nothing. The lines are built outside the run's critical path, by code that is loaded on demand.
import { closeSync, openSync, writeSync } from "node:fs";
import type { ModelChunk, ModelRequest, Provider } from "../model/provider.ts";
import type { ResolvedModel } from "../model/resolve.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { EventOf } from "../protocol/event.ts";
import type { Recorded } from "../protocol/run.ts";
import { fingerprintOf } from "./fingerprint.ts";
import type { Begun, Happening, LineOptions, LineWriter } from "./line-writer.ts";
import type { DeltasLine, ReplyLine, ReplyPart } from "./recording.ts";

/** Options for a recording. `fail` is called once if the file cannot be written. */
type RecorderOptions = LineOptions & { file: string; fail(error: UserError): void };

const maxUnwritten = 256;
const longestUnwrittenMs = 500;

export class Recorder {
  readonly #options: RecorderOptions;
  readonly #file: number;
  #requests = 0;
  #begun: Partial<Begun> = {};
  #lines: typeof import("./line-writer.ts") | undefined;
  #writer: LineWriter | undefined;
  /** Events and replies that happened since the last write. */
  #happened: Happening[] = [];
  #timer: NodeJS.Timeout | undefined;
  /** The last write. Each write waits for the previous one. */
  #written: Promise<void> = Promise.resolve();
  #failure: UserError | undefined;
  #deltas: (DeltasLine & { now: number }) | undefined;

  /** Throws a UserError if the file cannot be written. */
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

  /** Records every event of the run as it is shown. Events of subagents and live output are skipped. */
  watch({ event, agent }: Recorded): void {
    if (agent !== undefined || event.type === "tool_output") return;
    // this notice is about the recording that is being replayed
    if (event.type === "notice" && event.kind === "replay") return;
    if (event.type === "init") Object.assign(this.#begun, { init: event, at: new Date() });
    if ((event.type === "text" || event.type === "thinking") && event.at !== undefined) {
      this.#delta(event);
      return;
    }
    this.#endDeltas();
    this.#add({ event });
  }

  /** Wraps a provider so that its calls are recorded. */
  wrap(provider: Provider, model: ResolvedModel): Provider {
    this.#begun.model ??= model;
    const ask = (request: ModelRequest) => this.#ask(provider, request);
    return {
      get id() {
        return provider.id;
      },
      stream: ask,
      ...(provider.canSummarise && { canSummarise: () => provider.canSummarise!() }),
    };
  }

  /** Writes everything to the file, or throws: a run whose recording is lost did not succeed. */
  flush(): void {
    this.#endDeltas();
    this.#write({ isLast: false });
    if (this.#failure) throw this.#failure;
  }

  async end(): Promise<void> {
    this.#endDeltas();
    const earlierFailure = this.#failure; // the run has already failed with this error
    await this.#writeSoon({ isLast: true });
    closeSync(this.#file);
    if (this.#failure && !earlierFailure) throw this.#failure;
  }

  async *#ask(provider: Provider, request: ModelRequest): AsyncGenerator<ModelChunk> {
    const loading = this.#load(); // load the code while the model is working
    const number = this.#request(request);
    const reply = new ReplyCollector(number);
    // Assume that the reply is cut off until it ends, since the caller may stop reading early.
    let ending: Pick<ReplyLine, "error" | "cut"> = { cut: true };
    try {
      for await (const chunk of provider.stream(request)) {
        reply.take(chunk);
        yield chunk;
      }
      ending = {};
      await loading;
    } catch (error) {
      // loaded here, because a run that calls a model needs it anyway, and `init` need not wait for it
      const { ModelError } = await import("../model/provider.ts");
      if (error instanceof ModelError && !request.signal.aborted)
        ending = { error: { code: error.code, message: error.message } };
      throw error;
    } finally {
      this.#reply({ ...reply.line(provider.id), ...ending });
    }
  }

  /** Records a request. The list of messages grows, but the messages in it do not change. */
  #request(request: ModelRequest): number {
    this.#endDeltas();
    const number = ++this.#requests;
    const { init } = this.#begun;
    try {
      if (init) this.#begun.workspace ??= fingerprintOf(init.cwd);
    } catch (error) {
      this.#fail(error);
    }
    this.#add({ request: number, asked: { ...request, messages: [...request.messages] } });
    return number;
  }

  #reply(line: ReplyLine): void {
    this.#endDeltas();
    this.#add(line);
  }

  #delta({ type, text, at = 0 }: EventOf<"text" | "thinking">): void {
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

  /** Collects events to write them together, because each write would delay the run. */
  #add(happening: Happening): void {
    if (this.#failure) return;
    this.#happened.push(happening);
    if (this.#happened.length > maxUnwritten) void this.#writeSoon();
    else this.#timer ??= setTimeout(() => void this.#writeSoon(), longestUnwrittenMs).unref();
  }

  /** Writes soon. The run does not wait for it; a failure stops the run. */
  #writeSoon(when = { isLast: false }): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#written = this.#written.then(() => this.#load()).then(() => this.#write(when));
    return this.#written;
  }

  async #load(): Promise<void> {
    this.#lines ??= await import("./line-writer.ts");
  }

  /** Writes nothing until the model is known, because the first line needs it, unless this is the last write. */
  #write({ isLast }: { isLast: boolean }): void {
    const begun = this.#begun;
    if (this.#failure || !this.#lines || !isBegun(begun) || (!begun.model && !isLast)) return;
    if (this.#happened.length === 0) return;
    try {
      this.#writer ??= new this.#lines.LineWriter(this.#options, begun);
      const bytes = Buffer.from(this.#writer.text(this.#happened.splice(0)));
      let offset = 0;
      while (offset < bytes.length) offset += writeSync(this.#file, bytes, offset);
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Records a failure of the recording. It is not thrown into the run that is recorded. */
  #fail(error: unknown): void {
    this.#failure = new UserError(
      "OUTPUT_FAILED",
      `--record ${this.#options.file} cannot be written: ${(error as Error).message}. Give a file on a disk with room, or run without it.`,
    );
    this.#options.fail(this.#failure);
  }
}

function isBegun(begun: Partial<Begun>): begun is Begun {
  return begun.init !== undefined;
}

/** Collects the chunks of a reply for its line in the recording. */
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
    // Find the text or thinking that was incomplete when the reply was cut off.
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
