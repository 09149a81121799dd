// RunLogWriter: writes the host's entries into the log of a run, in order. Deltas wait a moment to be joined, and so do events that
// follow a write closely; all other entries are written at once, together with those that wait before them.
import { milliseconds } from "../process/clock.ts";
import type { UserError } from "../protocol/error-codes.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { Recorded } from "../protocol/run.ts";
import type { Entry, Fleet, Lease, Message } from "./fleet.ts";

const deltaMs = 40;
/** Events within this many milliseconds are written to the log together, since each write is costly. Text is watched as it appears. */
const betweenMs = { deltas: 100, others: 200 };
const maxWaiting = 200;

export class RunLogWriter {
  readonly #fleet: Fleet;
  readonly #lease: Lease;
  readonly #onWritten: (sentAt: number) => void;
  readonly #onLost: (error: UserError) => void;
  #waiting: Entry[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  #writtenAt = -Infinity;
  #isLost = false;
  #isClosed = false;
  position: number;

  /** `onWritten` is called when entries are in the log, with the time they were sent; `onLost` when no more can be written. */
  constructor(
    fleet: Fleet,
    lease: Lease,
    { onWritten, onLost }: { onWritten(sentAt: number): void; onLost(error: UserError): void },
  ) {
    this.#fleet = fleet;
    this.#lease = lease;
    this.#onWritten = onWritten;
    this.#onLost = onLost;
    this.position = lease.position;
  }

  event({ number, agent, event }: Recorded): void {
    if (this.#isClosed) return;
    const last = this.#waiting.at(-1);
    const joined = last?.type === "event" && last.agent === agent ? joinDeltas(last.event, event) : undefined;
    const entry: Entry = {
      type: "event",
      ...(number !== undefined && { number }),
      ...(agent !== undefined && { agent }),
      event: joined ?? event,
    };
    if (joined) this.#waiting[this.#waiting.length - 1] = entry;
    else this.#waiting.push(entry);
    if (isDelta(event) && this.#timer !== undefined && this.#waiting.length < maxWaiting) return;
    const [leastMs, apartMs] = isDelta(event) ? [deltaMs, betweenMs.deltas] : [0, betweenMs.others];
    const waitMs = Math.max(leastMs, this.#writtenAt + apartMs - milliseconds());
    if (waitMs <= 0 || this.#waiting.length >= maxWaiting) return void this.flush();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.flush(), waitMs);
  }

  add(entry: Entry): void {
    if (this.#isClosed) return;
    this.#waiting.push(entry);
    void this.flush();
  }

  /** Logs a prompt that waits, so that all clients see it and not only its sender. */
  noteWaiting(message: Message): void {
    if ((message.type !== "prompt" && message.type !== "steer") || message.id === undefined) return;
    const text = message.type === "prompt" ? message.prompt.text : message.text;
    this.add({ type: "prompt", id: message.id, kind: message.type, text });
  }

  /** Writes what was added so far, and ignores everything after it. */
  async close(): Promise<void> {
    const written = this.flush();
    this.#isClosed = true;
    await written;
  }

  /** Resolves when everything so far is in the log, or never will be. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const entries = this.#waiting;
    if (entries.length === 0 || this.#isLost) return;
    this.#waiting = [];
    const sentAt = milliseconds();
    try {
      this.position = await this.#fleet.append(this.#lease, entries, this.position);
      this.#writtenAt = milliseconds();
      this.#onWritten(sentAt);
    } catch (error) {
      this.#isLost = true;
      this.#onLost(error as UserError);
    }
  }
}

function isDelta({ type }: AgentEvent): boolean {
  return type === "text" || type === "thinking" || type === "tool_output";
}

/** Joins two deltas of the same text or output to one. Returns undefined if the events are anything else. */
function joinDeltas(one: AgentEvent, next: AgentEvent): AgentEvent | undefined {
  if ((one.type === "text" || one.type === "thinking") && next.type === one.type)
    return { ...one, text: one.text + next.text };
  if (one.type === "tool_output" && next.type === "tool_output" && one.callId === next.callId)
    return { ...one, chunk: one.chunk + next.chunk };
  return undefined;
}
