// The fleet of many machines. Whose a run is and what happened to it is in its log alone, where each write names the one before it;
// everything else can be put right from there by whoever comes next.
import { UserError } from "../../../protocol/error-codes.ts";
import {
  type Entry,
  type Fleet,
  type Heard,
  isOver,
  type Lease,
  type LeaseOptions,
  type LogEntry,
  type Message,
  type NewRun,
  type RunEnd,
  type RunRecord,
} from "../../fleet.ts";
import { Leases } from "./leases.ts";
import { leaseLost, RunLogs } from "./log.ts";
import { Mailbox } from "./mailbox.ts";
import { Payloads } from "./payloads.ts";
import { Records } from "./records.ts";
import {
  ended,
  handleOf,
  type Last,
  mayWrite,
  mostEntries,
  ownerOf,
  positionOf,
  released,
  sessionOf,
  written,
} from "./rules.ts";
import type { Server } from "./server.ts";

export class NatsFleet implements Fleet {
  readonly #server: Server;
  readonly #payloads: Payloads;
  readonly #logs: RunLogs;
  readonly #mailbox: Mailbox;
  readonly #leases: Leases;
  readonly #records: Records;
  /** Of the runs that are hosted here: where their logs end, so that nobody must ask. */
  readonly #held = new Map<string, Last>();
  #news: { close(): void } | undefined;
  #isNew = false;
  #wake = () => {};

  constructor(server: Server) {
    this.#server = server;
    this.#payloads = new Payloads(server);
    this.#logs = new RunLogs(server, this.#payloads);
    this.#mailbox = new Mailbox(server, this.#logs, this.#payloads);
    this.#leases = new Leases(server, this.#logs);
    this.#records = new Records(server, this.#logs, this.#mailbox, this.#payloads);
  }

  async enqueue(run: NewRun): Promise<RunRecord> {
    const known = await this.run(run.id);
    if (!known) await this.#records.make(run, await this.#server.now());
    // Also where it was known: whoever made it may have been killed before it was offered.
    if (!known || known.state === "queued") await this.#leases.offer(run.id, (known ?? run).spec.placement);
    return known ?? (await this.run(run.id))!;
  }

  async lease(options: LeaseOptions): Promise<Lease | undefined> {
    const found =
      options.run === undefined ? await this.#leases.next(options) : await this.#takeOne(options.run, options);
    if (!found) return undefined;
    const { lease, last } = found;
    this.#held.set(lease.token, last);
    // Nobody waits for the answers to what the former host asked.
    if (last.head.attempts > 1) await this.#mailbox.withdrawAll(lease.run);
    this.#server.tellNews("runs");
    return lease;
  }

  async #takeOne(run: string, options: LeaseOptions): Promise<{ lease: Lease; last: Last } | undefined> {
    const record = await this.run(run);
    if (!record || isOver(record.state)) return undefined;
    const { pool = "default", labels = {} } = options;
    const wanted = record.spec.placement ?? {};
    const isForUs = Object.entries(wanted.labels ?? {}).every(([name, value]) => labels[name] === value);
    if ((wanted.pool ?? "default") !== pool || !isForUs) return undefined;
    return this.#leases.take(run, undefined, options);
  }

  async renew(lease: Lease): Promise<boolean> {
    return this.#leases.renew(lease, handleOf(lease.token));
  }

  async append(lease: Lease, entries: readonly Entry[], after: number): Promise<number> {
    let last = await this.#where(lease, after);
    const handle = handleOf(lease.token);
    if (entries.length === 0) {
      if (!(await this.renew(lease))) throw leaseLost(lease.run);
      return after;
    }
    for (let at = 0; at < entries.length; at += mostEntries)
      last = await this.#write(lease, last, entries.slice(at, at + mostEntries));
    if (handle !== undefined) this.#server.hold(handle, lease.ttlMs);
    return positionOf(last);
  }

  async #write(lease: Lease, last: Last, entries: readonly Entry[]): Promise<Last> {
    const { run, token, ttlMs } = lease;
    const owner = ownerOf(token);
    const questions = entries.flatMap((entry) => (entry.type === "question" ? [entry.question] : []));
    for (const question of questions) await this.#mailbox.ask(run, owner, question);
    try {
      const next = await this.#logs.write(run, entries, { ...written(last.head, entries), ttlMs }, last.sequence);
      this.#held.set(token, next);
      await this.#note(run, owner, entries);
      return next;
    } catch (error) {
      this.#held.delete(token);
      for (const { id } of questions) await this.#mailbox.withdraw(run, owner, id);
      throw error;
    }
  }

  /** What others ask for without reading the log. */
  async #note(run: string, owner: string, entries: readonly Entry[]): Promise<void> {
    for (const entry of entries) {
      if (entry.type === "question_closed") await this.#mailbox.withdraw(run, owner, entry.question);
      const sessionId = sessionOf(entry);
      if (sessionId !== undefined) await this.#touchAgent(run, { sessionId });
    }
  }

  async #touchAgent(run: string, change: { sessionId?: string } = {}): Promise<void> {
    const record = await this.run(run);
    if (record) await this.#records.changeAgent(record.agent, { ...change, updatedAt: Date.now() });
  }

  async finish(lease: Lease, end: RunEnd, after: number, heard: number): Promise<boolean> {
    const { run, token } = lease;
    const last = await this.#where(lease, after);
    const isHeard = await this.#mailbox.close(run, ownerOf(token), end.outcome === "cancelled" ? Infinity : heard);
    if (!isHeard) return false;
    const cancelReason = await this.#mailbox.cancelReason(run);
    await this.#end(run, end, last, cancelReason);
    this.#held.delete(token);
    await this.#leases.forget(run, ownerOf(token));
    await this.#leases.withdraw(run, handleOf(token));
    return true;
  }

  /** Once: whoever is second is refused. */
  async #end(run: string, end: RunEnd, last: Last, cancelReason?: string): Promise<void> {
    const head = ended(last.head, end, await this.#server.now(), cancelReason);
    await this.#logs.write(run, [{ type: "result", end }], head, last.sequence);
    await Promise.all([this.#mailbox.empty(run), this.#touchAgent(run)]);
  }

  async release(lease: Lease, after: number): Promise<void> {
    const { run, token } = lease;
    const last = await this.#where(lease, after);
    await this.#logs.write(run, [], released(last.head), last.sequence);
    this.#held.delete(token);
    await this.#leases.forget(run, ownerOf(token));
    await this.#leases.offerAgain(run, handleOf(token), (await this.run(run))?.spec.placement);
  }

  async cancel(run: string, reason: string): Promise<boolean> {
    while (true) {
      const record = await this.#needed(run);
      if (isOver(record.state)) return false;
      const last = await this.#logs.last(run);
      if (last.head.state !== "queued") {
        await this.#mailbox.cancel(run, reason);
        return true;
      }
      const durationMs = Date.now() - record.createdAt;
      const end: RunEnd = { outcome: "cancelled", text: reason, code: "INTERRUPTED", durationMs, turns: 0 };
      try {
        await this.#end(run, end, last);
        await this.#leases.withdraw(run, undefined);
        return true;
      } catch (error) {
        if (!isLost(error)) throw error; // a host was quicker
      }
    }
  }

  async answer(run: string, given: Omit<Extract<Message, { type: "answer" }>, "type">): Promise<void> {
    await this.#records.need(run);
    await this.#mailbox.answer(run, given);
  }

  async say(run: string, message: Message): Promise<void> {
    await this.#records.need(run);
    await this.#mailbox.say(run, message);
  }

  hear({ run }: Lease, after: number, signal: AbortSignal): AsyncIterable<Heard> {
    return this.#mailbox.hear(run, after, signal);
  }

  async *follow(run: string, from: number, signal: AbortSignal): AsyncGenerator<LogEntry> {
    const { state, position, isPruned } = await this.#needed(run);
    if (isOver(state) && (from >= position || isPruned)) return;
    for await (const logged of this.#logs.follow(run, from, signal)) {
      yield logged;
      if (logged.entry.type === "result") return;
    }
  }

  followAll = (from: number, signal: AbortSignal) => this.#logs.followAll(from, signal);
  position = () => this.#logs.end();

  async entries(run: string, from: number, limit: number): Promise<LogEntry[]> {
    await this.#records.need(run);
    return this.#logs.entries(run, from, limit);
  }

  run = (id: string) => this.#records.run(id);
  runs: Fleet["runs"] = (options) => this.#records.runs(options);
  agent = (id: string) => this.#records.agent(id);
  agents: Fleet["agents"] = (options) => this.#records.agents(options);
  questions = async () => (await this.#mailbox.questions()).map(({ run, at, question }) => ({ run, at, question }));
  waiting = () => this.#leases.waiting();
  changeAgent: Fleet["changeAgent"] = (id, change) => this.#records.changeAgent(id, change);

  async deleteAgent(id: string): Promise<void> {
    if ((await this.agent(id))?.isBusy)
      throw new UserError("AGENT_BUSY", `The agent ${id} is busy with a run. Cancel it first.`);
    for (const run of await this.#records.runsOf(id)) {
      await this.#payloads.drop(run, ["object", "kept"]);
      await this.#mailbox.drop(run);
      await this.#logs.drop(run);
      await this.#records.dropRun(id, run);
    }
    await this.#records.dropAgent(id);
  }

  async prune(time: number): Promise<number> {
    let count = 0;
    for await (const { id } of this.#records.prunable(time)) {
      await this.#payloads.drop(id, ["object"]);
      await this.#mailbox.drop(id);
      await this.#logs.prune(id);
      count++;
    }
    return count;
  }

  put = (run: string, name: string, bytes: AsyncIterable<Uint8Array>) => this.#payloads.put(run, name, bytes);
  get = (run: string, name: string) => this.#payloads.get(run, name);

  async changed(signal: AbortSignal): Promise<void> {
    this.#news ??= this.#server.onNews("runs", () => {
      this.#isNew = true;
      this.#wake();
    });
    if (!this.#isNew && !signal.aborted)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    this.#isNew = false;
  }

  close(): void {
    this.#news?.close();
    this.#server.close();
    this.#wake();
  }

  /** The end of the log, where it is where the host believes. */
  async #where({ run, token }: Lease, after: number): Promise<Last> {
    const held = this.#held.get(token);
    const last = held && positionOf(held) === after ? held : await this.#logs.last(run);
    if (!mayWrite(last, ownerOf(token), after)) throw leaseLost(run);
    return last;
  }

  async #needed(run: string): Promise<RunRecord> {
    await this.#records.need(run);
    return (await this.run(run))!;
  }
}

function isLost(error: unknown): boolean {
  return error instanceof UserError && error.code === "LEASE_LOST";
}
