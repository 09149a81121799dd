// HostedSession: a live run in one process of Courser's CLI, controlled over `hello` and control lines. The counterpart of openRun.
import { resolve } from "node:path";
import { isObject, type JsonObject } from "../../json/object.ts";
import { settlesWithin } from "../../process/clock.ts";
import {
  type ControlLine,
  type ControlNotice,
  readControlLine,
  readControlNotice,
} from "../../protocol/control-lines.ts";
import { deferred } from "../../protocol/deferred.ts";
import { type UserError, usageError } from "../../protocol/error-codes.ts";
import type { AgentEvent, EventOf } from "../../protocol/event.ts";
import { failedTurn, type OpenPrompt, userError } from "../../protocol/prompts.ts";
import type { Question, TurnEnding } from "../../protocol/run.ts";
import type { RunOrder } from "../../protocol/run-elsewhere.ts";
import { createDecoder, derived, isDerived } from "../../protocol/stream-json.ts";
import type { CliEnd, RunningCli } from "../child.ts";
import type { AgentDriver, RunLoss } from "../drivers/driver.ts";
import { judge } from "../outcome.ts";
import { createNamer } from "../run-event.ts";
import type { Questions } from "./questions.ts";
import { type LiveEnd, type LiveSession, OpenSession } from "./session.ts";

export type HostedParts = {
  driver: AgentDriver;
  child: RunningCli;
  questions: Questions;
  losses: readonly RunLoss[];
  graceMs: number;
  signal: AbortSignal | undefined;
};

export class HostedSession extends OpenSession implements LiveSession {
  readonly ended: Promise<LiveEnd>;
  /** Resolved once `init` and the answer to `hello` have arrived; never, if the process ends before. */
  readonly greeted = deferred();
  /** Resolved when the process has printed its first line. */
  readonly helloReceived = deferred();
  /** Resolved when the `init` event has arrived. */
  readonly begun = deferred();
  readonly #parts: HostedParts;
  readonly #named = createNamer({ tool: "cursor", isOurs: true });
  readonly #decode = createDecoder();
  readonly #decoders = new Map<string, ReturnType<typeof createDecoder>>();
  /** Lets the session read on when its first reader has arrived. */
  #resumeReading: () => void = () => {};
  #chatId = "";
  #isGreeted = false;
  /** Events that arrived before the numbers of stored events were known. */
  #early: AgentEvent[] = [];
  #lastNumber = 0;
  #isInTurn = false;
  /** A result that belongs to no prompt, which contains the reason why the process gives up. */
  #fault: TurnEnding | undefined;

  constructor(parts: HostedParts) {
    super(parts.driver, parts.losses);
    this.#parts = parts;
    this.ended = this.#follow();
    this.endOnAbort(parts.signal, this.ended);
  }

  get chatId(): string {
    return this.#chatId;
  }

  /** Why the caller closed the session, if it did. */
  get endReason(): UserError | undefined {
    return this.closing && this.stopped;
  }

  /** Whether no turn is running and no prompt is waiting. */
  get isIdle(): boolean {
    return this.prompts.isEmpty && !this.isAwaited;
  }

  attend(): void {
    if (!this.stopped) this.#parts.child.write({ type: "attend" });
  }

  runCall(call: string, agent?: string): void {
    if (!this.stopped) this.#parts.child.write({ type: "run_call", call, ...(agent !== undefined && { agent }) });
  }

  /** Withdraws queued prompts and interrupts the turn, so that closing its input makes the process exit. */
  protected async endAll(why: UserError): Promise<void> {
    const { child, questions, graceMs } = this.#parts;
    for (const { id } of this.prompts.list()) child.write({ type: "withdraw", prompt: id });
    child.write({ type: "interrupt", reason: why.message });
    child.endInput();
    this.stopped ??= why;
    this.#resumeReading();
    questions.closeAll();
    this.failRequests(this.stopped);
    if (!(await settlesWithin(child.ended, graceMs))) child.stop();
    await this.ended;
  }

  protected pass(item: OpenPrompt): void {
    const { kind, prompt, id } = item;
    this.#parts.child.write(kind === "steer" ? { type: "steer", text: prompt.text, id } : promptLine(item));
  }

  protected sendOrder(order: RunOrder): undefined {
    check(order);
    this.#parts.child.write(order);
  }

  protected override onAsk(): void {
    this.#resumeReading();
  }

  /** Whether we are stopping the process, other than by `close`: its further output is not an answer. */
  get #isBeingEnded(): boolean {
    return !this.stopped && this.#parts.child.stopReason() !== undefined;
  }

  async #follow(): Promise<LiveEnd> {
    const { child } = this.#parts;
    for await (const batch of child.batches) {
      for (const { value } of batch) {
        this.#receive(value);
        while (this.#isHeldUp()) await this.#waitForRoom();
      }
    }
    return this.#conclude(await child.ended);
  }

  /** Whether the first reader has fallen behind. Not while a caller waits for a reply, since it may be that reader. */
  #isHeldUp(): boolean {
    return !this.stopped && !this.isAwaited && this.log.ready() !== undefined;
  }

  #waitForRoom(): Promise<void> {
    return new Promise((resolve) => {
      this.#resumeReading = resolve;
      void this.log.ready()?.then(resolve);
    });
  }

  #receive(value: JsonObject): void {
    this.helloReceived.resolve();
    if (value.type === "control") {
      const notice = readControlNotice(value);
      if (notice) this.#handleNotice(notice);
      return;
    }
    const { event_number: eventNumber, agent_id: agent, ...line } = value;
    const number = typeof eventNumber === "number" ? eventNumber : undefined;
    if (typeof agent === "string") {
      this.#showOf(agent, number, line);
      return;
    }
    const events = this.#decode(line).map(plainFailure);
    for (const [index, event] of events.entries()) {
      const next = events[index + 1];
      if (event.type === "text_end" && isDerived(event) && next)
        this.#show(cutBy(next, event), this.#numberBefore(number));
      else this.#show(event, isDerived(event) ? undefined : number);
    }
  }

  #showOf(agent: string, number: number | undefined, line: JsonObject): void {
    const decode = this.#decoders.get(agent) ?? createDecoder();
    this.#decoders.set(agent, decode);
    for (const event of decode(line)) {
      const numbered = number === undefined || isDerived(event) ? {} : { number };
      this.record({ agent, ...numbered, event: this.#named(event) });
      if (event.type === "done" || event.type === "fail") this.#decoders.delete(agent);
    }
  }

  #show(event: AgentEvent, number: number | undefined): void {
    if (event.type === "init") this.begun.resolve();
    if (!this.#isGreeted && number === undefined) {
      if (event.type === "fail") this.#fault = event;
      this.#early.push(event);
      return;
    }
    if (!this.#note(event)) return;
    if (number === undefined) this.record({ event });
    else this.record({ number, event: this.#named(event) });
    this.#lastNumber = number ?? this.#lastNumber;
  }

  /** Returns the number of a text that was stored before this event without a line in the stream. */
  #numberBefore(number: number | undefined): number | undefined {
    return number !== undefined && number - 1 > this.#lastNumber ? number - 1 : undefined;
  }

  /** Returns false for an ending that answers no prompt and is not part of the conversation. */
  #note(event: AgentEvent): boolean {
    switch (event.type) {
      case "user": {
        const item = this.prompts.nextWaiting();
        if (item && (!this.#isInTurn || item.kind === "steer")) item.state = "told";
        this.#isInTurn = true;
        return true;
      }
      case "done":
      case "fail":
        if (this.#isBeingEnded) return false;
        this.#isInTurn = false;
        if (this.prompts.isEmpty) this.#fault = event;
        return this.#fault !== event;
      default:
        return true;
    }
  }

  #handleNotice(notice: ControlNotice): void {
    switch (notice.subtype) {
      case "hello":
        this.#chatId = notice.session_id;
        this.#isGreeted = true;
        for (const event of this.#early.splice(0))
          this.#show(event, event.type === "init" ? notice.event_number : undefined);
        this.greeted.resolve();
        break;
      case "question":
        void this.#answer(notice.question);
        break;
      case "question_closed":
        this.#parts.questions.close(notice.question);
        break;
      case "ended":
        if (!this.#isBeingEnded) this.promptEnded({ ...notice, code: notice.error_code }, notice.state);
        break;
      case "reply":
        this.replied({ ...notice, code: notice.error_code });
        break;
    }
  }

  async #answer(question: Question): Promise<void> {
    // let readers first receive the events that the question is about
    await new Promise((resolve) => setImmediate(resolve));
    const answer = await this.#parts.questions.ask(question);
    if (!answer) return;
    const line = { type: "answer", question: question.id, hash: question.hash, answer } as const;
    const isAnswer = isObject(readControlLine(line));
    const refusal = { type: "no", reason: "The answer could not be understood." } as const;
    this.#parts.child.write(isAnswer ? line : { ...line, answer: refusal });
  }

  /** Ends every open call, settles every prompt, and fails all pending requests. */
  #conclude(end: CliEnd): LiveEnd {
    const { driver, questions } = this.#parts;
    const error = this.stopped ? undefined : judge(end, this.#fault, driver);
    this.stopped ??= userError(error?.code, error?.message ?? "The process has ended.");
    questions.closeAll();
    this.failRequests(this.stopped);
    if (this.#isInTurn) this.failTurn({ ...failedTurn(this.stopped, this.startedAt), carried: derived });
    for (const item of this.prompts.list()) {
      if (item.state === "told" && this.lastEnding) this.prompts.end(item, "told", this.lastEnding);
      else this.drop(item, this.stopped);
    }
    this.log.close();
    const { exitCode, signal, stderr, stages } = end;
    return { exitCode, signal, stderr, stages, ...(error && { error }) };
  }
}

function promptLine({ id, prompt: { text, data, images = [] } }: Pick<OpenPrompt, "id" | "prompt">): object {
  const pictures = images.map((image) => ({
    type: "image",
    source:
      typeof image === "string"
        ? { type: "file", path: resolve(image) }
        : { type: "base64", media_type: image.mime, data: image.base64 },
  }));
  const blocks = [{ type: "text", text }, ...(data === undefined ? [] : [{ type: "data", text: data }]), ...pictures];
  return { type: "user", message: { role: "user", content: blocks.length === 1 ? text : blocks }, id };
}

/** Refuses a line that the CLI could not parse, because such a line would end its process. */
function check(line: ControlLine): void {
  const read = readControlLine(line);
  if (typeof read === "string") throw usageError(`${read}.`);
}

/** Removes the prefix that failures have on the wire, where they are text for people. */
function plainFailure(event: AgentEvent): AgentEvent {
  return event.type === "fail" ? { ...event, message: event.message.replace(/^Error: /, "") } : event;
}

/** Marks a text that was cut off by the end of its turn, which the plain stream cannot express. */
function cutBy(next: AgentEvent, event: EventOf<"text_end">): AgentEvent {
  return next.type === "fail" ? { ...event, cut: true } : event;
}
