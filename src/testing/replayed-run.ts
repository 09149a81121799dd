// ReplayedRun: a recording as a LiveRun. It shows the same events, byte for byte, and changes nothing; each request is first
// compared with what would be sent today, built from the workspace as it is now.
import { setTimeout as sleep } from "node:timers/promises";
import { UserError, usageError } from "../protocol/error-codes.ts";
import type { AgentEvent } from "../protocol/event.ts";
import { EventLog, MemoryKeeper } from "../protocol/event-log.ts";
import { failedTurn, type OpenPrompt, Prompts, sentOf } from "../protocol/prompts.ts";
import type { ContextUse, LiveRun, Prompt, Recorded, RunRequest, Sent, TurnEnding } from "../protocol/run.ts";
import { noSpending } from "../protocol/usage.ts";
import type { RunHost } from "../run/host.ts";
import { digestOf } from "../text/digest.ts";
import { eventsIn, type Recording, type RecordingLine } from "./recording.ts";
import { createCheck, type RunCheck } from "./replay-check.ts";
import type { OnMismatch } from "./replay-model.ts";

/** `check` compares today's requests with the recorded ones. `until` is the last request to show. */
export type ShowOptions = {
  check?: { request: RunRequest; host: RunHost; onMismatch: OnMismatch };
  until?: number;
  /** The factor by which the replay is faster; without it there are no pauses. */
  speed?: number;
  signal?: AbortSignal;
};

export async function openReplay(recording: Recording, options: ShowOptions = {}): Promise<ReplayedRun> {
  const check = options.check && (await createCheck(recording, options.check));
  return new ReplayedRun(recording, options, check);
}

export class ReplayedRun implements LiveRun {
  readonly chatId: string;
  readonly prompts: readonly string[];
  readonly #recording: Recording;
  readonly #options: ShowOptions;
  readonly #check: RunCheck | undefined;
  readonly #log: EventLog;
  readonly #open = new Prompts();
  readonly #turns: RecordingLine[][];
  #next = 0;
  #working: Promise<void> = Promise.resolve();
  #lastAt: number | undefined;
  #isClosed = false;
  /** The first difference that did not stop the run. */
  #difference: string | undefined;

  constructor(recording: Recording, options: ShowOptions, check: RunCheck | undefined) {
    this.#recording = recording;
    this.#options = options;
    this.#check = check;
    this.chatId = recording.header.chatId;
    this.#log = new EventLog(new MemoryKeeper(), options.check?.host);
    const [start = [], ...turns] = splitTurns(recording.lines);
    this.#turns = turns;
    this.prompts = turns.map((lines) => firstPrompt(lines) ?? "");
    for (const line of start) for (const event of eventsIn(line)) this.#log.append(event);
  }

  send(prompt: Prompt): Sent {
    const item = this.#open.add("prompt", prompt);
    this.#working = this.#working.then(() => this.#play(item));
    return sentOf(item, async () => false);
  }

  steer(text: string): Sent {
    return this.send({ text });
  }

  interrupt(): void {
    this.#isClosed = true;
  }

  async background(): Promise<boolean> {
    return false;
  }

  setMode(): never {
    throw fixedRecordingError();
  }

  async setModel(): Promise<never> {
    throw fixedRecordingError();
  }

  async compact(): Promise<never> {
    throw fixedRecordingError();
  }

  async rewind(): Promise<never> {
    throw fixedRecordingError();
  }

  async context(): Promise<ContextUse> {
    const window = this.#recording.header.model.contextTokens;
    return { window, used: 0, system: 0, tools: 0, messages: 0 };
  }

  async aside(): Promise<never> {
    throw fixedRecordingError();
  }

  async names(): ReturnType<LiveRun["names"]> {
    return [];
  }

  events(from?: number): AsyncIterable<Recorded> {
    return this.#log.events(from);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#working;
    this.#log.close();
  }

  /** Plays one turn, line by line, up to the first request that differs today. */
  async #play(item: OpenPrompt): Promise<void> {
    item.state = "told";
    const lines = this.#turns[this.#next++];
    if (!lines) {
      this.#end(
        item,
        new UserError(
          "REPLAY_DIVERGED",
          `${this.#name} has only ${this.#turns.length === 1 ? "1 prompt" : `${this.#turns.length} prompts`}.`,
        ),
      );
      return;
    }
    let ending: TurnEnding | undefined;
    let isFirst = true;
    let isStopped = false;
    for (const line of lines) {
      isStopped = this.#isClosed || this.#options.signal?.aborted === true || this.#isBeyond(line);
      if (isStopped) break;
      if ("request" in line) {
        const isOwn = line.agent === "main";
        const why = await this.#findDifference(line.request, isOwn && isFirst ? item.prompt : undefined);
        if (isOwn) isFirst = false;
        if (why === undefined) continue;
        this.#end(item, new UserError("REPLAY_DIVERGED", why));
        return;
      }
      const changed = changedLine(line);
      if (changed !== undefined && this.#check) {
        const why = this.#recordedMessage(`${this.#name} was changed: ${changed}`);
        if (why !== undefined) {
          this.#end(item, new UserError("REPLAY_DIVERGED", why));
          return;
        }
      }
      for (const shown of eventsIn(line)) {
        const event = this.#judgeEnding(shown);
        await this.#waitForPace(event.at);
        this.#log.append(event);
        await this.#log.ready();
        if (event.type === "done" || event.type === "fail") ending = event;
      }
    }
    if (ending) this.#open.end(item, "told", ending);
    else this.#end(item, isStopped ? stoppedError(this.#options) : this.#cutOff());
  }

  #isBeyond(line: RecordingLine): boolean {
    const { until } = this.#options;
    return until !== undefined && "request" in line && line.request > until;
  }

  #cutOff(): UserError {
    return new UserError(
      "RECORDING_INVALID",
      `${this.#name} ends before its run does: whoever wrote it was stopped. Record the run again with --record FILE.`,
    );
  }

  async #findDifference(request: number, prompt: Prompt | undefined): Promise<string | undefined> {
    const difference = await this.#check?.(request, prompt);
    return (
      difference && this.#recordedMessage(`${this.#name} differs from this run in request ${request}: ${difference}`)
    );
  }

  /** Turns the end of a replay with differences into a failure, if that was requested. */
  #judgeEnding(event: AgentEvent): AgentEvent {
    const isWanted = this.#options.check?.request.failOn?.includes("replay");
    if (event.type !== "done" || !isWanted || this.#difference === undefined) return event;
    const { type: _type, text: answer, ...ending } = event;
    const message = `The run ended, but a --fail-on condition was met: the replay differs: ${this.#difference}.`;
    return { type: "fail", message, code: "NOT_DONE", answer, ...ending };
  }

  /** Returns the error text for a difference to the recording; undefined if the run only reports it and continues. */
  #recordedMessage(message: string): string | undefined {
    if (this.#options.check?.onMismatch === "continue") {
      this.#difference ??= message;
      this.#log.append({ type: "notice", kind: "replay", message });
      return undefined;
    }
    return `${message}. Record it again, or continue anyway with --replay-on-mismatch continue.`;
  }

  #end(item: OpenPrompt, why: UserError): void {
    const ending = { ...failedTurn(why, Date.now()), usage: noSpending }; // this run called no model
    this.#log.append(ending);
    this.#open.end(item, "told", ending);
  }

  async #waitForPace(at: number | undefined): Promise<void> {
    const { speed, signal } = this.#options;
    if (speed === undefined || at === undefined) return;
    const ms = Math.max(0, at - (this.#lastAt ?? at)) / speed;
    this.#lastAt = at;
    if (ms >= 1) await sleep(Math.min(ms, 60_000), undefined, { signal }).catch(() => {});
  }

  get #name(): string {
    return `The recording ${this.#recording.file}`;
  }
}

function fixedRecordingError(): UserError {
  return usageError("A replayed run cannot be changed while it is shown.");
}

function stoppedError({ until, signal }: ShowOptions): UserError {
  const reason: unknown = signal?.reason;
  if (reason instanceof UserError) return reason;
  return new UserError("INTERRUPTED", until === undefined ? "The replay was stopped." : `Shown up to step ${until}.`);
}

/** Returns the `init` events at the start, followed by the lines of each turn up to its `done` or `fail`. */
function splitTurns(lines: readonly RecordingLine[]): RecordingLine[][] {
  const start: RecordingLine[] = [];
  const turns: RecordingLine[][] = [];
  let turn: RecordingLine[] | undefined;
  for (const line of lines) {
    const type = "event" in line ? line.event.type : undefined;
    if (!turn && turns.length === 0 && type === "init") {
      start.push(line);
      continue;
    }
    if (!turn) turns.push((turn = []));
    turn.push(line);
    if (type === "done" || type === "fail") turn = undefined;
  }
  return [start, ...turns];
}

function firstPrompt(lines: readonly RecordingLine[]): string | undefined {
  for (const line of lines) if ("event" in line && line.event.type === "user") return line.event.text;
  return undefined;
}

/** Describes a result that does not match its recorded digest. */
function changedLine(line: RecordingLine): string | undefined {
  if (!("event" in line) || line.event.type !== "tool_end" || line.digest === undefined) return undefined;
  const now = digestOf(JSON.stringify(line.event.outcome ?? null));
  if (now === line.digest) return undefined;
  return `the result of ${line.event.tool} (${line.event.callId}): recorded with the digest ${line.digest}, now ${now}`;
}
