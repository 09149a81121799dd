// Implements the fleet of one machine: a SQLite file that any number of processes use at once. A method's changes are committed
// when it resolves; every write is one transaction, so that a killed process leaves a whole step or none.
import { dirname, join } from "node:path";
import { abortAfter } from "../../protocol/abort-after.ts";
import { randomUuid } from "../../store/chats/random-uuid.ts";
import type { SqlValue } from "../../store/sqlite.ts";
import {
  type Entry,
  type Fleet,
  type GivenAnswer,
  hasLabels,
  isOver,
  type Labels,
  type Lease,
  type LocalFleet,
  type LogEntry,
  type Message,
  type NewRun,
  type ReceivedMessage,
  type RunEnd,
  type RunRecord,
} from "../fleet.ts";
import { Changes } from "./changes.ts";
import { ObjectFiles } from "./object-files.ts";
import { agentName, leaseLost, questionClosed, refuseRun, refuseToDelete, runOver } from "./refusals.ts";
import {
  countWaiting,
  isFree,
  listAgents,
  listQuestions,
  listRuns,
  logEntry,
  newerRuns,
  readAgent,
  readRun,
  runRow,
} from "./sqlite-records.ts";
import { FleetTables } from "./sqlite-tables.ts";

const pageSize = 500;

type LocalLease = Parameters<LocalFleet["lease"]>[0];

export function openSqliteFleet(file: string): LocalFleet {
  return new SqliteFleet(file);
}

class SqliteFleet implements LocalFleet {
  readonly #tables: FleetTables;
  readonly #changes: Changes;
  readonly #objects: ObjectFiles;
  readonly #abandoned = new Set<string>();
  #seen = 0;

  constructor(file: string) {
    this.#tables = new FleetTables(file);
    this.#changes = new Changes(dirname(file));
    this.#objects = new ObjectFiles(join(dirname(file), "objects"));
  }

  async enqueue(run: NewRun): Promise<RunRecord> {
    const { id, agent, spec } = run;
    const at = Date.now();
    return this.#write((tables) => {
      const existingRun = readRun(tables, id);
      if (existingRun) return existingRun;
      const found = readAgent(tables, agent);
      if (found) refuseRun(found);
      if (found) tables.run("UPDATE agents SET updated = ? WHERE id = ?", at, agent);
      else {
        const sql = "INSERT INTO agents (id, name, cli, workspace, created, updated) VALUES (?, ?, ?, ?, ?, ?)";
        tables.run(sql, agent, agentName(run), spec.cli, spec.request.workspace, at, at);
      }
      const sql = "INSERT INTO runs (id, agent, spec, state, created) VALUES (?, ?, ?, 'queued', ?)";
      tables.run(sql, id, agent, JSON.stringify(spec), at);
      return readRun(tables, id)!;
    });
  }

  async lease(options: LocalLease): Promise<Lease | undefined> {
    while (true) {
      const seen = this.#changes.count;
      // Every change wakes all waiting workers: without free runs, take no lock and announce nothing.
      const { count, nextMs } = countWaiting(this.#tables, awakeMs());
      for (const { run, version } of options.onNewer ? newerRuns(this.#tables, awakeMs()) : [])
        options.onNewer!(run, version);
      const lease = count === 0 ? undefined : this.#tables.transact(() => this.#takeLease(options));
      if (lease) this.#changes.announce();
      if (lease || !options.wait || options.wait.aborted) return lease;
      const soon = nextMs === undefined ? [] : [abortAfter(nextMs + 5)];
      await this.#changes.after(seen, AbortSignal.any([options.wait, ...soon]), { patient: true });
    }
  }

  #takeLease({ worker, ttlMs, run, most, pool = "default", labels = {} }: LocalLease): Lease | undefined {
    const tables = this.#tables;
    const now = awakeMs();
    if (most !== undefined && countWaiting(tables, now).hosted >= most) return undefined;
    const free = tables.rows(
      `SELECT number, id, attempts, spec ->> '$.placement.labels' AS labels FROM runs
       WHERE ${isFree} AND (?2 IS NULL OR id = ?2) AND coalesce(spec ->> '$.placement.pool', 'default') = ?3
       ORDER BY ${byPriority}, number`,
      ...[now, run ?? null, pool],
    );
    const found = free.find((row) => isSubset(row["labels"], labels));
    if (!found) return undefined;
    const number = Number(found["number"]);
    const attempt = Number(found["attempts"]) + 1;
    const token = randomUuid();
    tables.run(
      `UPDATE runs SET state = 'running', lease = ?, ttl = ?, deadline = ?, attempts = ?,
           started = coalesce(started, ?) WHERE number = ?`,
      ...[token, ttlMs, now + ttlMs, attempt, Date.now(), number],
    );
    // Logged in the same transaction as the lease, so that the former host's position is outdated from now on.
    const position = this.#log(number, [{ type: "leased", worker, attempt }]);
    return { run: String(found["id"]), token, position, ttlMs };
  }

  async renew({ run, token, ttlMs }: Lease): Promise<boolean> {
    if (this.#abandoned.has(token)) return false;
    const sql = "UPDATE runs SET deadline = ?, ttl = ? WHERE id = ? AND lease = ? AND state = 'running'";
    return this.#tables.run(sql, awakeMs() + ttlMs, ttlMs, run, token).changes === 1;
  }

  async append(lease: Lease, entries: readonly Entry[], after: number): Promise<number> {
    return this.#write((tables) => {
      const number = this.#checkLease(lease, after);
      const { ttlMs } = lease;
      tables.run("UPDATE runs SET deadline = ?, ttl = ? WHERE number = ?", awakeMs() + ttlMs, ttlMs, number);
      return entries.length === 0 ? after : this.#log(number, entries);
    });
  }

  async finish(lease: Lease, end: RunEnd, after: number, handled: number): Promise<boolean> {
    return this.#write((tables) => {
      const number = this.#checkLease(lease, after);
      const unheard = tables.rows("SELECT message FROM messages WHERE run = ? AND number > ?", number, handled);
      const isAsked = unheard.some((row) => ["prompt", "steer"].includes(messageIn(row["message"]).type));
      if (isAsked && end.outcome !== "cancelled") return false;
      this.#end(number, end);
      return true;
    });
  }

  abandon({ token }: Lease): void {
    this.#abandoned.add(token);
  }

  async release(lease: Lease, after: number): Promise<void> {
    this.#write((tables) => {
      const number = this.#checkLease(lease, after);
      tables.run("UPDATE runs SET state = 'queued', lease = NULL, deadline = NULL WHERE number = ?", number);
    });
  }

  async cancel(run: string, reason: string): Promise<boolean> {
    return this.#write((tables) => {
      const { number, state, since } = runRow(tables, run);
      if (isOver(state)) return false;
      if (state === "queued") {
        const durationMs = Date.now() - since;
        this.#end(number, { outcome: "cancelled", text: reason, code: "INTERRUPTED", durationMs, turns: 0 });
        return true;
      }
      tables.run("UPDATE runs SET cancelled = ? WHERE number = ?", reason, number);
      this.#addMessage(number, { type: "cancel", reason });
      return true;
    });
  }

  async answer(run: string, given: GivenAnswer): Promise<void> {
    this.#write((tables) => {
      const { number } = runRow(tables, run);
      const sql = "DELETE FROM questions WHERE run = ? AND id = ? AND hash = ?";
      if (tables.run(sql, number, given.question, given.hash).changes === 0) throw questionClosed();
      this.#addMessage(number, { type: "answer", ...given });
    });
  }

  async say(run: string, message: Message): Promise<void> {
    this.#write((tables) => {
      const { number, state } = runRow(tables, run);
      if (isOver(state)) throw runOver(run);
      this.#addMessage(number, message);
    });
  }

  async *receive({ run }: Lease, after: number, signal: AbortSignal): AsyncGenerator<ReceivedMessage> {
    const { number: id } = runRow(this.#tables, run);
    const sql = "SELECT number, message FROM messages WHERE run = ? AND number > ? ORDER BY number";
    let last = after;
    while (!signal.aborted) {
      const seen = this.#changes.count;
      const rows = this.#tables.rows(sql, id, last);
      for (const row of rows) {
        last = Number(row["number"]);
        yield { number: last, message: messageIn(row["message"]) };
      }
      if (rows.length === 0) await this.#changes.after(seen, signal);
    }
  }

  async *follow(run: string, from: number, signal: AbortSignal): AsyncGenerator<LogEntry> {
    let last = from;
    while (!signal.aborted) {
      const seen = this.#changes.count;
      const { state, position, isPruned } = runRow(this.#tables, run); // before the page, which then has the end
      const page = await this.entries(run, last, pageSize);
      for (const each of page) {
        last = each.position;
        yield each;
        if (each.entry.type === "result") return;
      }
      if (page.length > 0) continue;
      if (isOver(state) && (last >= position || isPruned)) return;
      await this.#changes.after(seen, signal);
    }
  }

  async *followAll(from: number, signal: AbortSignal): AsyncGenerator<LogEntry> {
    const sql = `SELECT entries.position AS position, id, at, entry FROM entries JOIN runs ON runs.number = entries.run
      WHERE entries.position > ? ORDER BY entries.position LIMIT ${pageSize}`;
    let last = from;
    while (!signal.aborted) {
      const seen = this.#changes.count;
      const rows = this.#tables.rows(sql, last);
      for (const row of rows) {
        last = Number(row["position"]);
        yield logEntry(row, String(row["id"]));
      }
      if (rows.length === 0) await this.#changes.after(seen, signal, { patient: true });
    }
  }

  async position(): Promise<number> {
    return Number(this.#tables.row("SELECT max(position) AS last FROM entries")?.["last"] ?? 0);
  }

  async entries(run: string, from: number, limit: number): Promise<LogEntry[]> {
    const sql = "SELECT position, at, entry FROM entries WHERE run = ? AND position > ? ORDER BY position LIMIT ?";
    return this.#tables.rows(sql, runRow(this.#tables, run).number, from, limit).map((row) => logEntry(row, run));
  }

  run = async (id: string) => readRun(this.#tables, id);
  runs: Fleet["runs"] = async (options = {}) => listRuns(this.#tables, options);
  agent = async (id: string) => readAgent(this.#tables, id);
  agents: Fleet["agents"] = async (options = {}) => listAgents(this.#tables, options);
  questions = async () => listQuestions(this.#tables);
  waiting = async () => countWaiting(this.#tables, awakeMs());

  async changeAgent(id: string, { name, isArchived }: { name?: string; isArchived?: boolean }): Promise<void> {
    this.#write((tables) => {
      if (name !== undefined) tables.run("UPDATE agents SET name = ? WHERE id = ?", name, id);
      if (isArchived !== undefined) tables.run("UPDATE agents SET archived = ? WHERE id = ?", isArchived ? 1 : 0, id);
    });
  }

  async deleteAgent(id: string): Promise<void> {
    const runs = this.#write((tables) => {
      refuseToDelete(readAgent(tables, id) ?? { id, isBusy: false });
      const deleted = tables.rows("SELECT id FROM runs WHERE agent = ?", id).map((row) => String(row["id"]));
      for (const table of ["entries", "messages", "questions"])
        tables.run(`DELETE FROM ${table} WHERE run IN (SELECT number FROM runs WHERE agent = ?)`, id);
      tables.run("DELETE FROM runs WHERE agent = ?", id);
      tables.run("DELETE FROM agents WHERE id = ?", id);
      return deleted;
    });
    for (const run of runs) this.#objects.drop(run);
  }

  async prune(time: number): Promise<number> {
    const pruned = this.#write((tables) => {
      const old = "FROM runs WHERE ended < ? AND pruned = 0";
      const runs = tables.rows(`SELECT id ${old}`, time).map((row) => String(row["id"]));
      tables.run(`DELETE FROM entries WHERE run IN (SELECT number ${old})`, time);
      tables.run("UPDATE runs SET pruned = 1 WHERE ended < ? AND pruned = 0", time);
      return runs;
    });
    for (const run of pruned) this.#objects.drop(run);
    return pruned.length;
  }

  put = (run: string, name: string, bytes: AsyncIterable<Uint8Array>) => this.#objects.put(run, name, bytes);
  get = async (run: string, name: string) => this.#objects.get(run, name);

  onReach(): void {} // a file can always be reached

  async changed(signal: AbortSignal): Promise<void> {
    await this.#changes.after(this.#seen, signal, { patient: true });
    this.#seen = this.#changes.count;
  }

  close(): void {
    this.#changes.close();
    this.#tables.close();
  }

  /** Returns the number of the run. Throws LEASE_LOST if the lease is lost or the log does not end at `after`. */
  #checkLease({ run, token }: Lease, after: number): number {
    const row = this.#tables.row("SELECT number, state, lease, position FROM runs WHERE id = ?", run);
    const isOurs = row?.["state"] === "running" && row["lease"] === token && !this.#abandoned.has(token);
    if (isOurs && row["position"] === after) return Number(row["number"]);
    throw leaseLost(run);
  }

  #log(number: number, entries: readonly Entry[]): number {
    const at = Date.now();
    let position = 0;
    for (const entry of entries) {
      const sql = "INSERT INTO entries (run, at, entry) VALUES (?, ?, ?)";
      position = this.#tables.run(sql, number, at, JSON.stringify(entry)).lastRow;
      this.#note(number, entry, at);
    }
    this.#tables.run("UPDATE runs SET position = ? WHERE number = ?", position, number);
    return position;
  }

  /** Updates the questions and the session id, which other processes look up without reading the log. */
  #note(number: number, entry: Entry, at: number): void {
    const tables = this.#tables;
    if (entry.type === "question") {
      const { question } = entry;
      const sql = "INSERT OR REPLACE INTO questions (run, id, hash, at, question) VALUES (?, ?, ?, ?, ?)";
      tables.run(sql, number, question.id, question.hash, at, JSON.stringify(question));
    }
    if (entry.type === "question_closed")
      tables.run("DELETE FROM questions WHERE run = ? AND id = ?", number, entry.question);
    if (entry.type === "event" && entry.agent === undefined && entry.event.type === "init") {
      const { sessionId } = entry.event;
      tables.run("UPDATE runs SET session = ? WHERE number = ?", sessionId, number);
      const ofRun = "(SELECT agent FROM runs WHERE number = ?)";
      tables.run(`UPDATE agents SET session = ?, updated = ? WHERE id = ${ofRun}`, sessionId, at, number);
    }
  }

  #end(number: number, end: RunEnd): void {
    const tables = this.#tables;
    const at = Date.now();
    this.#log(number, [{ type: "result", end }]);
    tables.run("DELETE FROM questions WHERE run = ?", number);
    tables.run("DELETE FROM messages WHERE run = ?", number);
    const sql = "UPDATE runs SET state = ?, lease = NULL, deadline = NULL, ended = ?, result = ? WHERE number = ?";
    tables.run(sql, end.outcome, at, JSON.stringify(end), number);
    tables.run("UPDATE agents SET updated = ? WHERE id = (SELECT agent FROM runs WHERE number = ?)", at, number);
  }

  #addMessage(number: number, message: Message): void {
    this.#tables.run("INSERT INTO messages (run, message) VALUES (?, ?)", number, JSON.stringify(message));
  }

  #write<T>(work: (tables: FleetTables) => T): T {
    const result = this.#tables.transact(() => work(this.#tables));
    this.#changes.announce();
    return result;
  }
}

const byPriority = `CASE spec ->> '$.placement.priority' WHEN 'high' THEN 0 WHEN 'low' THEN 2 ELSE 1 END`;

function isSubset(wanted: SqlValue | undefined, labels: Labels): boolean {
  if (typeof wanted !== "string") return true;
  return hasLabels(labels, JSON.parse(wanted) as Labels);
}

function messageIn(text: unknown): Message {
  return JSON.parse(String(text)) as Message;
}

/** Time since boot without sleep: the same in all processes, and leases do not expire while the machine sleeps. */
function awakeMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}
