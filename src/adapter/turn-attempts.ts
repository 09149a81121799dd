// SentTurn: the events and attempts of a turn, and the fallback from a failed attempt to the next candidate.
import { UserError } from "../protocol/error-codes.ts";
import type { Frame, FrameParserOptions } from "../protocol/frames.ts";
import type { KnownTool, Turn, TurnEvent } from "../protocol/turn-contract.ts";
import { type Attempt, newAttempt, runAttempt } from "./attempt.ts";
import type { ReadFrame } from "./frame-reader.ts";
import { callKey } from "./repeated-calls.ts";
import { RepeatedText } from "./repeated-text.ts";
import type { ModelProfile, Rotation } from "./rotation.ts";

export type SentTurnContext = {
  session: { id: string; model: string; cwd: string };
  rotation: Rotation;
  tools: readonly KnownTool[];
  /** "full": assistant lines as they are, even if they repeat deltas. "new": no text twice. */
  text: "full" | "new";
  preferred?: { model: string; profile: string };
  signal?: AbortSignal;
  platform?: NodeJS.Platform;
  parser?: FrameParserOptions;
  redact(text: string): string;
  log(line: string): void;
  debug?(line: string): void;
  /** Called when reading of the events begins, and when it is over. */
  onBegin(turn: SentTurn): void;
  onEnd(turn: SentTurn): void;
};

/** Tools of CLIs that only read. All others may have changed something. */
const lookingTools = new Set(
  "read ls grep glob semSearch readLints webFetch webSearch updateTodos readTodos askQuestion createPlan listMcpResources readMcpResource await".split(
    " ",
  ),
);

/** A turn that was sent; iterate its events. */
export class SentTurn implements AsyncIterable<TurnEvent> {
  readonly turnId: string;
  /** Every candidate that was tried, in order; the last one answered or failed last. */
  readonly attempts: Attempt[] = [];
  readonly #turn: Turn;
  readonly #place: SentTurnContext;
  readonly #abort = new AbortController();
  readonly #events: AsyncGenerator<TurnEvent>;
  #running: Promise<unknown> = Promise.resolve();

  constructor(turn: Turn, context: SentTurnContext) {
    this.turnId = turn.turnId;
    this.#turn = turn;
    this.#place = context;
    this.#events = this.#forwardEvents();
  }

  /** Yields the events to a single reader. The CLI is started at the first read, and stopped when the reader stops. */
  [Symbol.asyncIterator](): AsyncGenerator<TurnEvent> {
    return this.#events;
  }

  /** Ends the turn with the error INTERRUPTED; resolves when its process is gone. */
  async cancel(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  async *#forwardEvents(): AsyncGenerator<TurnEvent> {
    const { rotation, session, preferred } = this.#place;
    this.#place.onBegin(this);
    try {
      const delivered = new Delivered(this.#place.text);
      let left = rotation.candidates(session.model, preferred);
      for (;;) {
        const candidate = left.shift();
        if (!candidate) throw new UserError("CONFIG_INVALID", `The model "${session.model}" is not enabled.`);
        const attempt = yield* this.#try(candidate, delivered);
        if (attempt.outcome === "ok") return;
        const kind = attempt.kind ?? "final";
        left = kind === "final" ? [] : rotation.after(candidate, kind, left);
        const why = left.length > 0 ? this.#reasonToStay(candidate, attempt) : undefined;
        if (why !== undefined) attempt.kept = why;
        if (left.length === 0 || why !== undefined) {
          yield { type: "error", data: { code: attempt.error!.code, message: this.#lastWords(attempt) } };
          return;
        }
        const next = left[0]!;
        this.#say(`falling back to ${next.model.name} (profile ${next.profile})`);
      }
    } finally {
      this.#place.onEnd(this);
    }
  }

  async *#try(candidate: ModelProfile, delivered: Delivered): AsyncGenerator<TurnEvent, Attempt> {
    const { session, tools, signal, platform, parser, redact, debug } = this.#place;
    const attempt = newAttempt(candidate);
    this.attempts.push(attempt);
    delivered.begin();
    this.#say(`asking ${attempt.model} (profile ${attempt.profile}): ${candidate.model.command}`);
    const readings = runAttempt(attempt, candidate, this.#turn, {
      cwd: session.cwd,
      tools,
      signal: signal ? AbortSignal.any([signal, this.#abort.signal]) : this.#abort.signal,
      platform,
      parser,
      redact,
      onStart: (ended) => {
        this.#running = ended;
      },
      ...(debug && { onFrame: (frame: Frame) => debug(redact(JSON.stringify({ turnId: this.turnId, ...frame }))) }),
    });
    for await (const reading of readings) yield* delivered.next(reading);
    const end = attempt.outcome === "ok" ? "answered" : `failed: ${attempt.error!.message} [${attempt.error!.code}]`;
    this.#say(`${attempt.model} (profile ${attempt.profile}) ${end} after ${attempt.durationMs} ms`);
    for (const warning of attempt.warnings) this.#say(warning);
    return attempt;
  }

  /** Changes made by the CLI's own tools would be made again by the next candidate. */
  #reasonToStay({ model }: ModelProfile, { ownTools }: Attempt): string | undefined {
    const changing = ownTools.filter((name) => !lookingTools.has(name));
    if (changing.length === 0 || model.fallbackAfterOwnTools) return undefined;
    return `No fallback was tried, because ${model.command} had already used ${changing.join(", ")}, which must not run twice ("fallbackAfterOwnTools" permits it).`;
  }

  #lastWords({ error, kept }: Attempt): string {
    const tried = this.attempts.map((each) => `${each.model} (profile ${each.profile}): ${each.error?.code}`);
    return [error!.message, ...(kept ? [kept] : []), ...(tried.length > 1 ? [`Tried: ${tried.join("; ")}.`] : [])].join(
      " ",
    );
  }

  #say(line: string): void {
    this.#place.log(this.#place.redact(`turn ${this.turnId}: ${line}`));
  }
}

/** Records what the caller has received in this turn, over all attempts, so that nothing is delivered twice. */
class Delivered {
  readonly #mode: SentTurnContext["text"];
  #text = "";
  readonly #calls = new Map<string, number>();
  #retelling: RepeatedText | undefined;
  /** Calls of earlier attempts that the current one has not made yet. */
  #mayRepeat = new Map<string, number>();

  constructor(mode: SentTurnContext["text"]) {
    this.#mode = mode;
  }

  /** Prepares for a new attempt, which repeats the turn from its beginning. */
  begin(): void {
    this.#retelling = this.#text === "" ? undefined : new RepeatedText(this.#text);
    this.#mayRepeat = new Map(this.#calls);
  }

  *next({ events, newText }: ReadFrame): Generator<TurnEvent> {
    const isFull = this.#mode === "full" && !this.#retelling;
    const text = this.#retelling ? this.#retelling.next(newText) : newText;
    if (!isFull && text !== "") yield { type: "assistant_delta", data: { content: text } };
    this.#text += text;
    for (const event of events) {
      if (event.type === "assistant_delta" ? isFull : event.type !== "tool_call" || this.#isNew(event.data))
        yield event;
    }
  }

  #isNew(call: { name: string; args: unknown }): boolean {
    const key = callKey(call);
    const before = this.#mayRepeat.get(key) ?? 0;
    if (before > 0) {
      this.#mayRepeat.set(key, before - 1);
      return false;
    }
    this.#calls.set(key, (this.#calls.get(key) ?? 0) + 1);
    return true;
  }
}
