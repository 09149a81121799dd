// Implements a fleet of many machines on NATS. A run's owner and history are only in its log, where each write names the one before
// it; the next process that needs anything else can rebuild it from there.
import { UserError } from "../../../protocol/error-codes.ts";
import { programName } from "../../../text/program-name.ts";
import {
  type Entry,
  type Fleet,
  type GivenAnswer,
  isOver,
  type Lease,
  type LeaseOptions,
  type LogEntry,
  type Message,
  type NewRun,
  type Presence,
  type ReceivedMessage,
  type RunEnd,
  type RunRecord,
} from "../../fleet.ts";
import { ignoreMissingPermission, leaseLost, refuseToDelete } from "../refusals.ts";
import { word } from "./keys.ts";
import { Leases } from "./leases.ts";
import { RunLogs } from "./log.ts";
import { Mailbox } from "./mailbox.ts";
import { Payloads } from "./payloads.ts";
import { type Kept, Records } from "./records.ts";
import {
  ended,
  handleOf,
  type Last,
  maxEntries,
  mayWrite,
  ownerOf,
  positionOf,
  released,
  sessionOf,
  written,
} from "./rules.ts";
import type { Server } from "./server.ts";

type Parts = ReturnType<typeof partsOn>;

function partsOn(server: Server) {
  const payloads = new Payloads(server);
  const logs = new RunLogs(server, payloads);
  const mailbox = new Mailbox(server, logs, payloads);
  const leases = new Leases(server, logs, payloads);
  return { payloads, logs, mailbox, leases, records: new Records(server, logs, mailbox, payloads) };
}

/**
 * A run that is hosted here. `last` caches the end of its log; `heldAt`: when a write last kept it from being handed out again;
 * `isQuiet`: neither this host nor an earlier one has asked anything. `kept` is what its last change of the agent returned.
 */
type Hosted = {
  parts: Parts;
  giveUp: AbortController;
  last?: Last;
  heldAt: number;
  agent?: string;
  kept?: Kept | undefined;
  isQuiet?: boolean;
};

export class NatsFleet implements Fleet {
  readonly #server: Server;
  readonly #sender: string | undefined;
  readonly #parts: Parts;
  /** For calls that wait until the server is back. */
  readonly #patient: Parts;
  /** Hosted runs by lease token. Their writes wait while the server is away, so that no work is lost. */
  readonly #hosted = new Map<string, Hosted>();
  readonly #abandoned = new Set<string>();

  /** `sender` is the user who sends runs from here. */
  constructor(server: Server, sender?: string) {
    this.#server = server;
    this.#sender = sender;
    this.#parts = partsOn(server);
    this.#patient = partsOn(server.patient());
  }

  async enqueue(run: NewRun): Promise<RunRecord> {
    const known = await this.run(run.id);
    if (!known && (await this.#server.fullness()) >= fullAt) throw noRoom();
    const made = this.#sender === undefined ? run : { sender: this.#sender, ...run };
    if (!known) await this.#parts.records.make(made, Math.round(await this.#server.now()));
    // Offer a known run too: its creator may have been killed before it offered the run.
    if (!known || known.state === "queued") await this.#parts.leases.offer(known ?? made);
    return known ?? (await this.run(run.id))!;
  }

  async lease(options: LeaseOptions): Promise<Lease | undefined> {
    const { leases } = options.wait ? this.#patient : this.#parts;
    const found = await leases.find(options);
    if (!found) return undefined;
    const { lease, last, stored } = found;
    const isQuiet = last.head.attempts === 1;
    const hosted: Hosted = Object.assign(this.#hosting(lease), { last, isQuiet, heldAt: last.at });
    // Answers to the questions of the former host are no longer awaited.
    if (!isQuiet) await hosted.parts.mailbox.withdrawAll(lease.run);
    const record = stored && (await hosted.parts.records.record(stored, { last, entries: [] }));
    if (!record) return lease;
    hosted.agent = record.agent;
    return { ...lease, record };
  }

  async renew(lease: Lease): Promise<boolean> {
    if (this.#abandoned.has(lease.token)) return false;
    return this.#hosting(lease).parts.leases.renew(lease);
  }

  abandon({ run, token }: Lease): void {
    this.#abandoned.add(token);
    this.#hosted.get(token)?.giveUp.abort(leaseLost(run));
    this.#hosted.delete(token);
  }

  #hosting({ run, token }: Lease): Hosted {
    if (this.#abandoned.has(token)) throw leaseLost(run);
    const known = this.#hosted.get(token);
    if (known) return known;
    const giveUp = new AbortController();
    const hosted = { giveUp, parts: partsOn(this.#server.patient(giveUp.signal)), heldAt: 0 };
    this.#hosted.set(token, hosted);
    return hosted;
  }

  async append(lease: Lease, entries: readonly Entry[], after: number): Promise<number> {
    let last = await this.#where(lease, after);
    for (let at = 0; at < entries.length; at += maxEntries)
      last = await this.#write(lease, last, entries.slice(at, at + maxEntries));
    this.#hold(lease, last.at);
    return positionOf(last);
  }

  /** A run writes several times a second, so most writes do not need to hold it. */
  #hold({ token, ttlMs }: Lease, at: number): void {
    const hosted = this.#hosted.get(token);
    if (!hosted || at - hosted.heldAt < ttlMs / 8) return;
    hosted.heldAt = at;
    this.#parts.leases.hold(token, ttlMs);
  }

  async #write(lease: Lease, last: Last, entries: readonly Entry[]): Promise<Last> {
    const { run, token, ttlMs } = lease;
    const owner = ownerOf(token);
    const hosted = this.#hosting(lease);
    const { logs, mailbox } = hosted.parts;
    const questions = entries.flatMap((entry) => (entry.type === "question" ? [entry.question] : []));
    if (questions.length > 0) hosted.isQuiet = false;
    for (const question of questions) await mailbox.ask(run, owner, question);
    try {
      const next = await logs.write(run, entries, { ...written(last.head, entries), ttlMs }, last.sequence);
      hosted.last = next;
      await this.#note(run, owner, entries, hosted);
      return next;
    } catch (error) {
      this.#hosted.delete(token);
      for (const { id } of questions) await mailbox.withdraw(run, owner, id);
      throw error;
    }
  }

  /** Updates the questions and the session id, which other processes look up without reading the log. */
  async #note(run: string, owner: string, entries: readonly Entry[], hosted: Hosted): Promise<void> {
    for (const entry of entries) {
      if (entry.type === "question_closed") await hosted.parts.mailbox.withdraw(run, owner, entry.question);
      const sessionId = sessionOf(entry);
      if (sessionId !== undefined) hosted.kept = await this.#touchAgent(run, hosted, { sessionId });
    }
  }

  async #touchAgent(
    run: string,
    { parts: { records }, agent, kept }: Pick<Hosted, "parts" | "agent" | "kept">,
    change: { sessionId?: string } = {},
  ): Promise<Kept | undefined> {
    const id = agent ?? (await records.run(run))?.agent;
    return id === undefined ? undefined : records.changeAgent(id, { ...change, updatedAt: Date.now() }, kept);
  }

  async finish(lease: Lease, end: RunEnd, after: number, handled: number): Promise<boolean> {
    const { run, token } = lease;
    const { parts, isQuiet = false, ...hosted } = this.#hosting(lease);
    const last = await this.#where(lease, after);
    const [closed, cancelReason] = await Promise.all([
      parts.mailbox.close(run, ownerOf(token), end.outcome === "cancelled" ? Infinity : handled),
      parts.mailbox.cancelReason(run),
    ]);
    if (!closed) return false;
    await this.#end(run, end, last, { parts, cancelReason });
    // The run is over even if this cleanup fails: a worker that is handed the run again sees that.
    await Promise.allSettled([
      this.#parts.leases.forget(token),
      this.#server.done(handleOf(token)),
      isQuiet && !closed.isUsed ? undefined : this.#parts.mailbox.empty(run),
      this.#touchAgent(run, { ...hosted, parts: this.#parts }),
      this.#count(run, end),
    ]);
    this.#hosted.delete(token);
    return true;
  }

  /** Writes the end of the run once; a second writer is refused. */
  async #end(
    run: string,
    end: RunEnd,
    last: Last,
    { parts, cancelReason }: { parts: Parts; cancelReason?: string | undefined },
  ): Promise<void> {
    const head = ended(last.head, end, await this.#server.now(), cancelReason);
    await parts.logs.write(run, [{ type: "result", end }], head, last.sequence);
  }

  async #count(run: string, { costUsd = 0 }: RunEnd): Promise<void> {
    const { sender } = (costUsd > 0 && (await this.run(run))) || {};
    if (sender !== undefined) await this.#parts.leases.quotas.spend(sender, costUsd);
  }

  async release(lease: Lease, after: number): Promise<void> {
    const { run, token } = lease;
    const { parts } = this.#hosting(lease);
    const last = await this.#where(lease, after);
    await parts.logs.write(run, [], released(last.head), last.sequence);
    await parts.leases.forget(token);
    await this.#server.giveBack(handleOf(token));
    this.#hosted.delete(token);
  }

  async cancel(run: string, reason: string): Promise<boolean> {
    while (true) {
      const record = await this.#needed(run);
      if (isOver(record.state)) return false;
      const last = await this.#parts.logs.last(run);
      if (last.head.state === "queued")
        try {
          const durationMs = Date.now() - record.createdAt;
          const end: RunEnd = { outcome: "cancelled", text: reason, code: "INTERRUPTED", durationMs, turns: 0 };
          await this.#end(run, end, last, { parts: this.#patient });
          const parts = this.#parts;
          await Promise.all([parts.mailbox.empty(run), this.#touchAgent(run, { parts, agent: record.agent })]);
          return true;
        } catch (error) {
          if (isLost(error)) continue; // a host took it first
          ignoreMissingPermission(error); // a user who may not write logs tells the worker that takes the run
        }
      await this.#parts.mailbox.cancel(run, reason);
      return true;
    }
  }

  async answer(run: string, given: GivenAnswer): Promise<void> {
    await this.#parts.records.requireRun(run);
    await this.#parts.mailbox.answer(run, given);
  }

  async say(run: string, message: Message): Promise<void> {
    await this.#parts.records.requireRun(run);
    await this.#parts.mailbox.say(run, message);
  }

  receive(lease: Lease, after: number, signal: AbortSignal): AsyncIterable<ReceivedMessage> {
    return this.#hosting(lease).parts.mailbox.receive(lease.run, after, signal);
  }

  async *follow(run: string, from: number, signal: AbortSignal): AsyncGenerator<LogEntry> {
    const { state, position, isPruned } = await this.#needed(run);
    if (isOver(state) && (from >= position || isPruned)) return;
    for await (const logged of this.#patient.logs.follow(run, from, signal)) {
      yield logged;
      if (logged.entry.type === "result") return;
    }
  }

  followAll = (from: number, signal: AbortSignal) => this.#patient.logs.followAll(from, signal);
  position = () => this.#parts.logs.end();

  async entries(run: string, from: number, limit: number): Promise<LogEntry[]> {
    await this.#parts.records.requireRun(run);
    return this.#parts.logs.entries(run, from, limit);
  }

  run = (id: string) => this.#parts.records.run(id);
  runs: Fleet["runs"] = (options) => this.#parts.records.runs(options);
  agent = (id: string) => this.#parts.records.agent(id);
  agents: Fleet["agents"] = (options) => this.#parts.records.agents(options);
  questions = () => this.#parts.mailbox.questions();
  waiting = () => this.#parts.leases.waiting();
  changeAgent: Fleet["changeAgent"] = async (id, change) => void (await this.#parts.records.changeAgent(id, change));

  async deleteAgent(id: string): Promise<void> {
    refuseToDelete((await this.agent(id)) ?? { id, isBusy: false });
    for (const run of await this.#parts.records.runsOf(id)) {
      await this.#parts.payloads.drop(run, ["object", "kept"]);
      await this.#parts.mailbox.drop(run);
      await this.#parts.logs.drop(run);
      await this.#parts.records.dropRun(id, run);
    }
    await this.#parts.records.dropAgent(id);
  }

  async prune(time: number): Promise<number> {
    let count = 0;
    for await (const { id } of this.#parts.records.prunable(time)) {
      await this.#parts.payloads.drop(id, ["object"]);
      await this.#parts.mailbox.drop(id);
      await this.#parts.logs.prune(id);
      count++;
    }
    return count;
  }

  put = (run: string, name: string, bytes: AsyncIterable<Uint8Array>) => this.#parts.payloads.put(run, name, bytes);
  get = (run: string, name: string) => this.#parts.payloads.get(run, name);

  async present(worker: Presence): Promise<void> {
    await this.#server.publish("lease", `worker.${word(worker.name)}`, JSON.stringify(worker));
  }

  onReach: Fleet["onReach"] = (listener) => this.#server.onReach(listener);

  close(): void {
    this.#server.close();
  }

  /** Returns the end of the log. Throws LEASE_LOST if it is not where the host expects it. */
  async #where(lease: Lease, after: number): Promise<Last> {
    const { run, token } = lease;
    const hosted = this.#hosting(lease);
    const known = hosted.last && positionOf(hosted.last) === after ? hosted.last : undefined;
    const last = known ?? (await hosted.parts.logs.last(run, after));
    if (!mayWrite(last, ownerOf(token), after)) throw leaseLost(run);
    return last;
  }

  async #needed(run: string): Promise<RunRecord> {
    await this.#parts.records.requireRun(run);
    return (await this.run(run))!;
  }
}

/** New runs are refused above this share of the space; the rest is reserved for runs that have started. */
const fullAt = 0.9;

function noRoom(): UserError {
  return new UserError(
    "FLEET_FULL",
    `The fleet is nearly full, so no new runs are taken; those that run go on. Ask its operator for space, or to keep less: ${programName()} fleet limits --keep-days N`,
  );
}

function isLost(error: unknown): boolean {
  return error instanceof UserError && error.code === "LEASE_LOST";
}
