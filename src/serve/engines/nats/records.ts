// Builds the records of runs and agents from the stored request, the last message of the run's log, and its mailbox.

import {
  type AgentListOptions,
  type AgentRecord,
  type Entry,
  isOver,
  type ListOptions,
  type NewRun,
  type RunRecord,
  type RunState,
} from "../../fleet.ts";
import { agentName, refuseRun, runNotFound } from "../refusals.ts";
import { laneOf, lastWord, word } from "./keys.ts";
import type { RunLogs } from "./log.ts";
import type { Mailbox } from "./mailbox.ts";
import type { Payloads } from "./payloads.ts";
import { type Last, positionOf } from "./rules.ts";
import { Refused, type Server, type Stored } from "./server.ts";
import { WorkerPresence } from "./worker-presence.ts";

/** The part of a run that never changes. */
type Made = Pick<RunRecord, "id" | "agent" | "spec" | "sender" | "createdAt">;
type MadeAgent = { id: string };
/** The stored part of an agent; the rest comes from its latest run. */
type KeptAgent = Omit<AgentRecord, "isBusy">;
export type Kept = { sequence: number; value: KeptAgent };

/** The maximum number of waiting runs that are looked up one by one. */
const fewRuns = 500;
const pageSize = 128;
const largestPage = 4096;

export class Records {
  readonly #server: Server;
  readonly #logs: RunLogs;
  readonly #mailbox: Mailbox;
  readonly #payloads: Payloads;
  readonly #presence: WorkerPresence;

  constructor(server: Server, logs: RunLogs, mailbox: Mailbox, payloads: Payloads) {
    this.#server = server;
    this.#logs = logs;
    this.#mailbox = mailbox;
    this.#payloads = payloads;
    this.#presence = new WorkerPresence(server);
  }

  /** Assigns the agent to this run, then creates the run once. Throws AGENT_BUSY or AGENT_ARCHIVED. */
  async make(run: NewRun, now: number): Promise<void> {
    const { id, agent, spec } = run;
    await this.#server
      .publish("runs", `agent.${word(agent)}`, JSON.stringify({ id: agent } satisfies MadeAgent), { after: 0 })
      .catch(notRefused);
    await this.#changeKept(agent, async (kept) => {
      if (kept) refuseRun({ ...kept, isBusy: kept.latestRun !== id && (await this.#isBusy(kept)) });
      const fresh = {
        id: agent,
        name: agentName(run),
        cli: spec.cli,
        workspace: spec.request.workspace,
        createdAt: now,
        isArchived: false,
      };
      return { ...(kept ?? fresh), updatedAt: now, latestRun: id };
    });
    const record: Made = { id, agent, spec, createdAt: now, ...(run.sender !== undefined && { sender: run.sender }) };
    const data = await this.#payloads.pack(id, record, { keep: true });
    await this.#server.publish("state", `of.${word(agent)}.${word(id)}`, "");
    await this.#server.publish("runs", `run.${word(id)}`, data, { after: 0 }).catch(notRefused);
  }

  async run(id: string): Promise<RunRecord | undefined> {
    const stored = await this.#server.last("runs", `run.${word(id)}`);
    return stored && this.record(stored);
  }

  /** Throws RUN_NOT_FOUND if there is no such run. */
  async requireRun(id: string): Promise<void> {
    if (!(await this.#server.last("runs", `run.${word(id)}`))) throw runNotFound(id);
  }

  async runs({ agent, states, limit = 100, before }: ListOptions = {}): Promise<RunRecord[]> {
    const end = before === undefined ? undefined : (await this.#server.last("runs", `run.${word(before)}`))?.sequence;
    if (before !== undefined && end === undefined) return [];
    const found: RunRecord[] = [];
    for await (const page of this.#runPages(end, agent, states)) {
      const records = await Promise.all(page.map((stored) => this.record(stored)));
      for (const record of records) if (record && (!states || states.includes(record.state))) found.push(record);
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  }

  /** Yields runs, newest first. If only a few can match, reads just those. */
  async *#runPages(
    end: number | undefined,
    agent: string | undefined,
    states: readonly RunState[] | undefined,
  ): AsyncGenerator<Stored[]> {
    const few = await this.#fewRuns(agent, states);
    if (!few) return yield* newestFirst(this.#server, "run.*", end);
    const found = await Promise.all(few.map((run) => this.#server.last("runs", `run.${word(run)}`)));
    const older = found.flatMap((stored) => (stored && stored.sequence < (end ?? Infinity) ? [stored] : []));
    yield older.sort((one, other) => other.sequence - one.sequence);
  }

  async #fewRuns(agent: string | undefined, states: readonly RunState[] | undefined): Promise<string[] | undefined> {
    if (agent !== undefined) return this.runsOf(agent);
    if (!states || states.some(isOver)) return undefined;
    if (!states.includes("queued")) return (await this.#presence.all()).flatMap(({ run }) => run ?? []);
    const waiting = await this.#server.keys("work", "*.*.*.*");
    return waiting.length > fewRuns ? undefined : waiting.map(lastWord);
  }

  /** Yields runs that were created and ended before `time` and still have logs, oldest first. */
  async *prunable(time: number): AsyncGenerator<RunRecord> {
    const cursor = await this.#server.last("state", "pruned");
    const from = cursor ? Number(Buffer.from(cursor.data).toString()) : 1;
    let keptBack: number | undefined;
    let last = from - 1;
    for (let to = from + pageSize - 1, end = await this.#server.end("runs"); last < end; to += pageSize) {
      const page = await this.#server.range("runs", "run.*", last + 1, { to });
      for (const stored of page) {
        if (stored.at >= time) keptBack ??= stored.sequence;
        const record = keptBack === stored.sequence ? undefined : await this.record(stored);
        if (record?.endedAt !== undefined && record.endedAt < time) {
          if (!record.isPruned) yield record;
        } else keptBack ??= stored.sequence;
      }
      last = to;
      if (page.some(({ at }) => at >= time)) break;
    }
    await this.#server.publish(
      "state",
      "pruned",
      String(keptBack ?? Math.min(last, await this.#server.end("runs")) + 1),
    );
  }

  async agent(id: string): Promise<AgentRecord | undefined> {
    const kept = await this.#readAgent(id);
    return kept && { ...kept.value, isBusy: await this.#isBusy(kept.value) };
  }

  async agents({ limit = 100, before, archived = false }: AgentListOptions = {}): Promise<AgentRecord[]> {
    const end = before === undefined ? undefined : (await this.#server.last("runs", `agent.${word(before)}`))?.sequence;
    if (before !== undefined && end === undefined) return [];
    const found: AgentRecord[] = [];
    for await (const page of newestFirst(this.#server, "agent.*", end)) {
      const records = await Promise.all(page.map(({ key }) => this.agent(lastWord(key))));
      for (const record of records) if (record && (archived || !record.isArchived)) found.push(record);
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  }

  /** Changes an agent's record. `known` is what the last change returned, which saves a read unless somebody else has changed it since. */
  changeAgent(id: string, change: Partial<KeptAgent>, known?: Kept): Promise<Kept | undefined> {
    return this.#changeKept(id, async (kept) => kept && { ...kept, ...change }, known);
  }

  async runsOf(agent: string): Promise<string[]> {
    return (await this.#server.keys("state", `of.${word(agent)}.*`)).map(lastWord);
  }

  async dropRun(agent: string, run: string): Promise<void> {
    await this.#server.purge("runs", `run.${word(run)}`);
    await this.#server.purge("state", `of.${word(agent)}.${word(run)}`);
  }

  async dropAgent(id: string): Promise<void> {
    await this.#server.purge("state", `agent.${word(id)}`);
    await this.#server.purge("runs", `agent.${word(id)}`);
  }

  /** Builds the record of a run from its stored specification and the end of its log, which the caller may know. */
  async record(stored: Stored, end?: { last: Last; entries: Entry[] }): Promise<RunRecord | undefined> {
    const id = lastWord(stored.key);
    const [made, { last, entries }] = await Promise.all([
      this.#payloads.unpack<Made>(id, stored.data),
      end ?? this.#logs.lastEntries(id),
    ]);
    if (!made || (last.sequence === 0 && !(await this.#isOffered(made)))) return undefined;
    const { state, attempts, startedAt, endedAt, sessionId, open, isPruned } = last.head;
    const cancelReason =
      last.head.cancelReason ?? (state === "running" ? await this.#mailbox.cancelReason(id) : undefined);
    const result = entries.at(-1);
    return {
      ...made,
      state,
      ...(startedAt !== undefined && { startedAt: Math.round(startedAt) }),
      ...(endedAt !== undefined && { endedAt: Math.round(endedAt) }),
      position: positionOf(last),
      attempts,
      ...(sessionId !== undefined && { sessionId }),
      open: open.length,
      ...(cancelReason !== undefined && { cancelReason }),
      ...(isPruned && { isPruned }),
      ...(result?.type === "result" && { end: result.end }),
    };
  }

  /** A run without a log must be queued; otherwise its log has expired, and the run with it. */
  async #isOffered({ id, spec, sender }: Made): Promise<boolean> {
    return (await this.#server.last("work", `${laneOf(spec.placement, sender)}.${word(id)}`)) !== undefined;
  }

  /** A latest run that was never created or has expired does not make the agent busy. */
  async #isBusy({ latestRun }: KeptAgent): Promise<boolean> {
    const run = latestRun === undefined ? undefined : await this.run(latestRun);
    return run !== undefined && !isOver(run.state);
  }

  async #readAgent(agent: string): Promise<Kept | undefined> {
    const stored = await this.#server.last("state", `agent.${word(agent)}`);
    if (!stored) return undefined;
    return { sequence: stored.sequence, value: JSON.parse(Buffer.from(stored.data).toString()) as KeptAgent };
  }

  /** Compares and sets: reads again and retries if another writer came first. */
  async #changeKept(
    agent: string,
    change: (kept: KeptAgent | undefined) => Promise<KeptAgent | undefined>,
    known?: Kept,
  ): Promise<Kept | undefined> {
    const key = `agent.${word(agent)}`;
    for (let kept = known ?? (await this.#readAgent(agent)); ; kept = await this.#readAgent(agent)) {
      const value = await change(kept?.value);
      if (!value) return undefined;
      try {
        const after = { after: kept?.sequence ?? 0 };
        return { value, sequence: await this.#server.publish("state", key, JSON.stringify(value), after) };
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
      }
    }
  }
}

/** Reads backwards from a sequence in growing pages, so that reading the newest few is cheap. */
async function* newestFirst(server: Server, filter: string, before: number | undefined): AsyncGenerator<Stored[]> {
  let end = before ?? (await server.end("runs")) + 1;
  for (let size = pageSize; end > 1; size = Math.min(size * 2, largestPage)) {
    const from = Math.max(1, end - size);
    yield (await server.range("runs", filter, from, { to: end - 1 })).reverse();
    end = from;
  }
}

function notRefused(error: unknown): void {
  if (!(error instanceof Refused)) throw error;
}
