// Runs and agents as records: put together from what a run shall be, the last message of its log, and what it was told.

import { UserError } from "../../../protocol/error-codes.ts";
import { collapsed } from "../../../text/one-line.ts";
import { programName } from "../../../text/program-name.ts";
import { cut } from "../../../text/width.ts";
import {
  type AgentRecord,
  isOver,
  type ListOptions,
  type NewRun,
  type RunRecord,
  type RunSpec,
  type RunState,
} from "../../fleet.ts";
import { lastWord, word } from "./keys.ts";
import type { RunLogs } from "./log.ts";
import type { Mailbox } from "./mailbox.ts";
import type { Payloads } from "./payloads.ts";
import { positionOf } from "./rules.ts";
import { Refused, type Server, type Stored } from "./server.ts";
import { Signs } from "./signs.ts";

/** What is never changed of a run. */
type Made = { id: string; agent: string; spec: RunSpec; createdAt: number };
type MadeAgent = { id: string };
/** What is kept of an agent; the rest is that of its latest run. */
type KeptAgent = Omit<AgentRecord, "isBusy">;

/** So many runs of a fleet are looked at one by one. */
const fewRuns = 500;
const pageSize = 128;
const largestPage = 4096;

export class Records {
  readonly #server: Server;
  readonly #logs: RunLogs;
  readonly #mailbox: Mailbox;
  readonly #payloads: Payloads;
  readonly #signs: Signs;

  constructor(server: Server, logs: RunLogs, mailbox: Mailbox, payloads: Payloads) {
    this.#server = server;
    this.#logs = logs;
    this.#mailbox = mailbox;
    this.#payloads = payloads;
    this.#signs = new Signs(server);
  }

  /** The agent is this run's from now on: AGENT_BUSY, AGENT_ARCHIVED. Then the run is made, once. */
  async make({ id, agent, spec, name }: NewRun, now: number): Promise<void> {
    await this.#server
      .publish("runs", `agent.${word(agent)}`, JSON.stringify({ id: agent } satisfies MadeAgent), { after: 0 })
      .catch(notRefused);
    await this.#changeKept(agent, async (kept) => {
      if (kept?.isArchived)
        throw new UserError("AGENT_ARCHIVED", `The agent ${agent} is archived. Unarchive it first.`);
      if (kept && kept.latestRun !== id && (await this.#isBusy(kept)))
        throw new UserError("AGENT_BUSY", `The agent ${agent} is busy with another run. Wait for it, or cancel it.`);
      const fresh = {
        id: agent,
        name: name ?? cut(collapsed(spec.prompt.text), 80),
        cli: spec.cli,
        workspace: spec.request.workspace,
        createdAt: now,
        isArchived: false,
      };
      return { ...(kept ?? fresh), updatedAt: now, latestRun: id };
    });
    const made: Made = { id, agent, spec, createdAt: now };
    const data = await this.#payloads.pack(id, made, { keep: true });
    await this.#server.publish("state", `of.${word(agent)}.${word(id)}`, "");
    await this.#server.publish("runs", `run.${word(id)}`, data, { after: 0 }).catch(notRefused);
  }

  async run(id: string): Promise<RunRecord | undefined> {
    const stored = await this.#server.last("runs", `run.${word(id)}`);
    return stored && this.#record(stored);
  }

  /** Throws RUN_NOT_FOUND. */
  async need(id: string): Promise<void> {
    if (!(await this.#server.last("runs", `run.${word(id)}`)))
      throw new UserError("RUN_NOT_FOUND", `The run ${id} was not found. To list the runs: ${programName()} runs list`);
  }

  async runs({ agent, states, limit = 100, before }: ListOptions = {}): Promise<RunRecord[]> {
    const end = before === undefined ? undefined : (await this.#server.last("runs", `run.${word(before)}`))?.sequence;
    if (before !== undefined && end === undefined) return [];
    const found: RunRecord[] = [];
    for await (const page of this.#runPages(end, agent, states)) {
      const records = await Promise.all(page.map((stored) => this.#record(stored)));
      for (const record of records) if (record && (!states || states.includes(record.state))) found.push(record);
      if (found.length >= limit) break;
    }
    return found.slice(0, limit);
  }

  /** Newest first. Where only a few can be meant, no others are looked at. */
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
    if (agent !== undefined) return (await this.#server.keys("state", `of.${word(agent)}.*`)).map(lastWord);
    if (!states || states.some(isOver)) return undefined;
    if (!states.includes("queued")) return (await this.#signs.all()).flatMap(({ run }) => run ?? []);
    const waiting = await this.#server.keys("work", "*.*.*.*");
    return waiting.length > fewRuns ? undefined : waiting.map(lastWord);
  }

  /** Those that were made before the time and whose logs are still there, oldest first. */
  async *prunable(time: number): AsyncGenerator<RunRecord> {
    const cursor = await this.#server.last("state", "pruned");
    const from = cursor ? Number(Buffer.from(cursor.data).toString()) : 1;
    let keptBack: number | undefined;
    let last = from - 1;
    for (let to = from + pageSize - 1, end = await this.#server.end("runs"); last < end; to += pageSize) {
      const page = await this.#server.range("runs", "run.*", last + 1, { to });
      for (const stored of page) {
        if (stored.at >= time) keptBack ??= stored.sequence;
        const record = keptBack === stored.sequence ? undefined : await this.#record(stored);
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
    const kept = await this.#kept(id);
    return kept && { ...kept.value, isBusy: await this.#isBusy(kept.value) };
  }

  async agents({
    limit = 100,
    before,
    archived = false,
  }: {
    limit?: number;
    before?: string;
    archived?: boolean;
  } = {}): Promise<AgentRecord[]> {
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

  async changeAgent(id: string, change: Partial<KeptAgent>): Promise<void> {
    await this.#changeKept(id, async (kept) => kept && { ...kept, ...change });
  }

  /** The ids of its runs come back. */
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

  async #record(stored: Stored): Promise<RunRecord | undefined> {
    const id = lastWord(stored.key);
    const [made, { last, entries }] = await Promise.all([
      this.#payloads.unpack<Made>(id, stored.data),
      this.#logs.lastEntries(id),
    ]);
    if (!made || (last.sequence === 0 && !(await this.#isOffered(id)))) return undefined;
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

  /** A run without a log waits; where it does not, its log is not kept any more, and neither is the run. */
  async #isOffered(run: string): Promise<boolean> {
    return (await this.#server.keys("work", `*.*.*.${word(run)}`)).length > 0;
  }

  /** A run that was never made, or is not kept any more, holds nobody up. */
  async #isBusy({ latestRun }: KeptAgent): Promise<boolean> {
    const run = latestRun === undefined ? undefined : await this.run(latestRun);
    return run !== undefined && !isOver(run.state);
  }

  async #kept(agent: string): Promise<{ sequence: number; value: KeptAgent } | undefined> {
    const stored = await this.#server.last("state", `agent.${word(agent)}`);
    if (!stored) return undefined;
    return { sequence: stored.sequence, value: JSON.parse(Buffer.from(stored.data).toString()) as KeptAgent };
  }

  /** Compared and set: who was overtaken looks again. */
  async #changeKept(
    agent: string,
    change: (kept: KeptAgent | undefined) => Promise<KeptAgent | undefined>,
  ): Promise<void> {
    while (true) {
      const kept = await this.#kept(agent);
      const changed = await change(kept?.value);
      if (!changed) return;
      try {
        const after = kept?.sequence ?? 0;
        await this.#server.publish("state", `agent.${word(agent)}`, JSON.stringify(changed), { after });
        return;
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
      }
    }
  }
}

/** Back from a sequence in ever larger pages: who wants the newest few reads few. */
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
