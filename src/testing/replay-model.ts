// A model that answers from a recording. The first request that differs stops the run, or is noted.
import { type ModelChunk, ModelError, type ModelRequest, type Provider } from "../model/provider.ts";
import { changedSince, differenceOf, type Sides, wholeRequests } from "./compare.ts";
import { createDescriber, type DescribedRequest } from "./describe.ts";
import { createNormaliser, type Places } from "./normalise.ts";
import type { Recording, ReplyPart } from "./recording.ts";

export type OnMismatch = "stop" | "continue";

export type ReplayOptions = {
  places: Places;
  redact(text: string): string;
  onMismatch: OnMismatch;
  /** A note about the workspace, which is added to reported differences. */
  note: string;
};

export class ReplayModel implements Provider {
  readonly id: string;
  readonly #recording: Recording;
  readonly #options: ReplayOptions;
  readonly #whole: DescribedRequest[];
  readonly #used = new Set<number>();
  readonly #describer;
  readonly #sides: Sides;
  /** The session of the main agent, which sends the first request. */
  #main: string | undefined;

  constructor(recording: Recording, options: ReplayOptions) {
    this.#recording = recording;
    this.#options = options;
    this.#whole = wholeRequests(recording);
    const now = createNormaliser(options.places);
    this.#describer = createDescriber(now, options.redact);
    this.#sides = { recorded: createNormaliser(recording.header.places), now };
    this.id = [...recording.replies.values()].find(({ provider }) => provider !== undefined)?.provider ?? "replay";
  }

  canSummarise(): boolean {
    return this.#recording.requests.some(({ purpose }, index) => purpose === "summary" && !this.#used.has(index));
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelChunk> {
    request.signal.throwIfAborted();
    const { index, difference } = this.#find(request);
    this.#used.add(index);
    if (difference !== undefined) yield { type: "notice", kind: "replay", message: difference };
    const reply = this.#recording.replies.get(index + 1);
    for (const part of reply?.parts ?? []) yield* replayChunks(part);
    if (reply?.usage) yield { type: "usage", usage: reply.usage };
    if (reply?.error) throw new ModelError(reply.error.code, reply.error.message);
    if (!reply || reply.cut)
      throw new ModelError("MODEL_TRUNCATED", "The recorded run was stopped at this reply, and so is this one.");
  }

  /** Finds the recorded request that matches this one. */
  #find(request: ModelRequest): { index: number; difference?: string } {
    this.#main ??= request.agent;
    const now = this.#describer.request(request);
    const open = [...this.#whole.keys()].filter((index) => !this.#used.has(index));
    const same = open.find((index) => this.#whole[index]!.digest === now.digest);
    if (same !== undefined) return { index: same };
    const meant = open.find((index) => this.#isMeant(index, request)) ?? -1;
    if (meant < 0) {
      throw new ModelError(
        "REPLAY_DIVERGED",
        `${this.#name} has ${this.#whole.length === 1 ? "1 request" : `${this.#whole.length} requests`}, and the run asks for one more.`,
      );
    }
    const recorded = this.#whole[meant]!;
    const difference =
      changedSince(this.#recording, meant + 1, recorded) ??
      differenceOf(recorded, now, { ...this.#sides, tools: request.tools });
    if (difference === undefined) return { index: meant };
    const message = `${this.#name} differs from this run in request ${meant + 1}: ${difference}`;
    if (this.#options.onMismatch === "continue") return { index: meant, difference: `${message}.` };
    throw new ModelError(
      "REPLAY_DIVERGED",
      `${message}${this.#options.note} Record it again, or continue anyway with --replay-on-mismatch continue.`,
    );
  }

  get #name(): string {
    return `The recording ${this.#recording.file}`;
  }

  /** Whether the recorded request is of the same agent. Subagents have new ids, but begin with their task. */
  #isMeant(index: number, { agent, purpose, messages }: ModelRequest): boolean {
    const line = this.#recording.requests[index]!;
    if (line.purpose !== purpose || (line.agent === undefined) !== (agent === undefined)) return false;
    if (agent === undefined) return true;
    const isOfMain = line.agent === "main";
    if (isOfMain || agent === this.#main) return isOfMain && agent === this.#main;
    const first = messages[0] && this.#describer.message(messages[0]).digest;
    return this.#whole[index]!.messages[0]?.digest === first;
  }
}

function* replayChunks({ deltas, ...part }: ReplyPart): Generator<ModelChunk> {
  if (part.type === "text" || part.type === "thinking") {
    let from = 0;
    for (const size of deltas ?? [part.text.length]) {
      yield { type: part.type, text: part.text.slice(from, from + size) };
      from += size;
    }
  }
  yield { type: "part", part };
}
