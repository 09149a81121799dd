// Turns what happened in a run into the lines of its recording, without repeating anything and without secrets.
import type { ModelRequest } from "../model/provider.ts";
import type { ResolvedModel } from "../model/resolve.ts";
import type { EventOf } from "../protocol/event.ts";
import type { PermissionMode, RunRequest } from "../protocol/run.ts";
import { isTrusted } from "../store/trust.ts";
import { digestOf } from "../text/digest.ts";
import { createDescriber, type DescribedRequest, type Describer, digestOfParts, redacted } from "./describe.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { shortHeader } from "./head.ts";
import { createNormaliser, type Normaliser, type Places, placesOf } from "./normalise.ts";
import {
  type DeltasLine,
  type EventLine,
  type KeptMessage,
  type RecordingHeader,
  type RecordingLine,
  type ReplyLine,
  type RequestLine,
  recordingVersion,
  type WorkspaceFingerprint,
} from "./recording.ts";
import { SaidBefore } from "./short-lines.ts";

export type LineOptions = {
  request: RunRequest;
  env: NodeJS.ProcessEnv;
  version: string;
  redact: Redact;
};

type Redact = (text: string) => string;

type Asked = { request: number; asked: ModelRequest };
export type Happening = Asked | ReplyLine | EventLine | DeltasLine;

/** The state in which the run began, before its workspace changed. `model` is undefined if it called none. */
export type Begun = {
  init: EventOf<"init">;
  at: Date;
  model?: ResolvedModel | undefined;
  workspace?: WorkspaceFingerprint | undefined;
};

/** What is needed to make lines. The describer caches its descriptions. */
type LineMaker = { redact: Redact | undefined; describer: Describer };

/** Writes the lines of a recording, leaving out what earlier lines already contain. */
export class LineWriter {
  readonly #options: LineOptions;
  readonly #begun: Begun;
  readonly #places: Places;
  readonly #normalise: Normaliser;
  readonly #plain: LineMaker;
  readonly #redacting: LineMaker;
  /** The last request of each agent in the run. */
  #last = new Map<string, DescribedRequest>();
  /** Numbers of replies that were written, by content. */
  #replies = new Map<string, number>();
  readonly #said: SaidBefore;
  #hasHeader = false;

  constructor(options: LineOptions, begun: Begun) {
    this.#options = options;
    this.#begun = begun;
    this.#said = new SaidBefore(begun.model?.id ?? "");
    // the run may work in its own worktree
    this.#places = placesOf({ ...options.request, workspace: begun.init.cwd }, options.env);
    this.#normalise = createNormaliser(this.#places);
    const maker = (redact: Redact | undefined) => ({ redact, describer: createDescriber(this.#normalise, redact) });
    this.#plain = maker(undefined);
    this.#redacting = maker(options.redact);
  }

  /** Checks all lines at once for secrets, since there are mostly none. If there are, redacts each line by itself. */
  text(happened: readonly Happening[]): string {
    const [last, replies] = [new Map(this.#last), new Map(this.#replies)];
    const { redact } = this.#options;
    const plain = this.#lines(happened, this.#plain);
    const whole = plain.map((line) => JSON.stringify(line)).join("\n");
    const isClean = redact(whole) === whole;
    if (!isClean) [this.#last, this.#replies] = [last, replies];
    const lines = isClean ? plain : this.#lines(happened, this.#redacting);
    const written = lines.map((line) => this.#said.shortened(line));
    if (!this.#hasHeader) written.unshift(redacted(this.#header(), redact));
    this.#hasHeader = true;
    return written.map((line) => `${JSON.stringify(line)}\n`).join("");
  }

  #lines(happened: readonly Happening[], maker: LineMaker): RecordingLine[] {
    return happened.map((each) => this.#line(each, maker));
  }

  #line(happening: Happening, { redact, describer }: LineMaker): RecordingLine {
    if ("asked" in happening) return this.#requestLine(happening, describer);
    if ("deltas" in happening) return redactedDeltas(happening, redact);
    const line = redacted(happening, redact);
    if ("reply" in line) {
      this.#replies.set(digestOfParts(line.parts, this.#normalise), line.reply);
      return line;
    }
    if (line.event.type === "tool_end")
      return { ...line, digest: digestOf(JSON.stringify(line.event.outcome ?? null)) };
    return line;
  }

  #requestLine({ request, asked }: Asked, describer: Describer): RequestLine {
    const { agent, purpose } = asked;
    const described = describer.request(asked);
    const isMain = agent !== undefined && agent === this.#begun.init.sessionId;
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
      messages: { kept, added: described.messages.slice(kept).map((message) => this.#addMessage(message)) },
    };
  }

  #addMessage({ role, digest, parts }: DescribedRequest["messages"][number]): KeptMessage {
    const reply = role === "assistant" ? this.#replies.get(digest) : undefined;
    return reply === undefined ? { role, digest, parts } : { role, digest, reply };
  }

  #header(): object {
    const { request, version } = this.#options;
    const { init, at, model, workspace } = this.#begun;
    const { workspace: _workspace, roots: _roots, chat, single = false, ...rest } = request;
    const places = this.#places;
    const header: RecordingHeader = {
      recording: recordingVersion,
      version,
      recordedAt: at.toISOString(),
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
      workspace: workspace ?? fingerprintOf(places.workspace),
    };
    return shortHeader(header, init);
  }
}

/** Redacts deltas. A secret may span several of them; then the redacted text is written as one. */
function redactedDeltas(line: DeltasLine, redact: Redact | undefined): DeltasLine {
  const text = redact?.(line.text) ?? line.text;
  return text === line.text ? line : { ...line, text, sizes: [text.length], at: line.at.slice(0, 1) };
}

function commonLength(before: readonly { digest: string }[], now: readonly { digest: string }[]): number {
  let length = 0;
  while (length < before.length && before[length]!.digest === now[length]?.digest) length++;
  return length;
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function withoutEmpty<Given extends object>(given: Given): Given {
  const isEmpty = (value: unknown) => typeof value === "object" && value !== null && Object.keys(value).length === 0;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => !isEmpty(value))) as Given;
}
