// Reads the fleet's SQLite tables as records.

import type { Question } from "../../protocol/run.ts";
import type { SqlRow, SqlValue } from "../../store/sqlite.ts";
import {
  type AgentListOptions,
  type AgentRecord,
  type CliName,
  type Entry,
  isOver,
  type ListOptions,
  type LogEntry,
  type OpenQuestion,
  type RunEnd,
  type RunRecord,
  type RunSpec,
  type RunState,
  specVersion,
} from "../fleet.ts";
import { runNotFound } from "./refusals.ts";
import type { FleetTables } from "./sqlite-tables.ts";

/** ?1 is the time. A deadline further away than its ttl was set before the machine's last restart. */
const isUnhosted = "(state = 'queued' OR (state = 'running' AND (deadline <= ?1 OR deadline > ?1 + ttl)))";
const version = "coalesce(spec ->> '$.version', 1)";
/** Runs of a newer record version are left to newer hosts. */
export const isFree = `(${isUnhosted} AND ${version} <= ${specVersion})`;
export const isHosted = "(state = 'running' AND deadline > ?1 AND deadline <= ?1 + ttl)";

export type RunRow = { number: number; state: RunState; position: number; isPruned: boolean; since: number };

/** Throws RUN_NOT_FOUND if there is no such run. */
export function runRow(tables: FleetTables, run: string): RunRow {
  const row = tables.row("SELECT number, state, started, created, position, pruned FROM runs WHERE id = ?", run);
  if (!row) throw runNotFound(run);
  return {
    number: Number(row["number"]),
    state: row["state"] as RunState,
    position: Number(row["position"]),
    isPruned: row["pruned"] === 1,
    since: Number(row["started"] ?? row["created"]),
  };
}

export function readRun(tables: FleetTables, id: string): RunRecord | undefined {
  const row = tables.row("SELECT * FROM runs WHERE id = ?", id);
  return row && runRecord(tables, row);
}

export function listRuns(tables: FleetTables, { agent, states, limit = 100, before }: ListOptions): RunRecord[] {
  const conditions = ["1"];
  const values: SqlValue[] = [];
  if (agent !== undefined) {
    conditions.push("agent = ?");
    values.push(agent);
  }
  if (states) conditions.push(`state IN (${states.map((state) => `'${state}'`).join(", ")})`);
  if (before !== undefined) {
    conditions.push("number < (SELECT number FROM runs WHERE id = ?)");
    values.push(before);
  }
  const sql = `SELECT * FROM runs WHERE ${conditions.join(" AND ")} ORDER BY number DESC LIMIT ?`;
  return tables.rows(sql, ...values, limit).map((row) => runRecord(tables, row));
}

function runRecord(tables: FleetTables, row: SqlRow): RunRecord {
  const open = tables.row("SELECT count(*) AS count FROM questions WHERE run = ?", Number(row["number"]))!["count"];
  return {
    id: String(row["id"]),
    agent: String(row["agent"]),
    spec: JSON.parse(String(row["spec"])) as RunSpec,
    state: row["state"] as RunState,
    createdAt: Number(row["created"]),
    ...(row["started"] !== null && { startedAt: Number(row["started"]) }),
    ...(row["ended"] !== null && { endedAt: Number(row["ended"]) }),
    position: Number(row["position"]),
    attempts: Number(row["attempts"]),
    ...(row["session"] !== null && { sessionId: String(row["session"]) }),
    open: Number(open),
    ...(row["cancelled"] !== null && { cancelReason: String(row["cancelled"]) }),
    ...(row["pruned"] === 1 && { isPruned: true as const }),
    ...(row["result"] !== null && { end: JSON.parse(String(row["result"])) as RunEnd }),
  };
}

export function readAgent(tables: FleetTables, id: string): AgentRecord | undefined {
  const row = tables.row("SELECT * FROM agents WHERE id = ?", id);
  return row && agentRecord(tables, row);
}

export function listAgents(
  tables: FleetTables,
  { limit = 100, before, archived = false }: AgentListOptions,
): AgentRecord[] {
  const older = before === undefined ? "" : "AND rowid < (SELECT rowid FROM agents WHERE id = ?)";
  const sql = `SELECT * FROM agents WHERE ${archived ? "1" : "archived = 0"} ${older} ORDER BY rowid DESC LIMIT ?`;
  return tables.rows(sql, ...(before === undefined ? [] : [before]), limit).map((row) => agentRecord(tables, row));
}

function agentRecord(tables: FleetTables, row: SqlRow): AgentRecord {
  const id = String(row["id"]);
  const latest = tables.row("SELECT id, state FROM runs WHERE agent = ? ORDER BY number DESC LIMIT 1", id);
  return {
    id,
    name: String(row["name"]),
    cli: row["cli"] as CliName,
    workspace: String(row["workspace"]),
    createdAt: Number(row["created"]),
    updatedAt: Number(row["updated"]),
    isArchived: row["archived"] === 1,
    ...(row["session"] !== null && { sessionId: String(row["session"]) }),
    ...(latest && { latestRun: String(latest["id"]) }),
    isBusy: latest !== undefined && !isOver(latest["state"] as RunState),
  };
}

export function listQuestions(tables: FleetTables): OpenQuestion[] {
  const sql =
    "SELECT runs.id AS id, at, question FROM questions JOIN runs ON runs.number = questions.run ORDER BY at, questions.rowid";
  return tables.rows(sql).map((row) => ({
    run: String(row["id"]),
    at: Number(row["at"]),
    question: JSON.parse(String(row["question"])) as Question,
  }));
}

/** Counts unhosted and hosted runs; `nextMs` is the time until the first lease expires. `now` is on the clock of the deadlines. */
export function countWaiting(tables: FleetTables, now: number): { count: number; hosted: number; nextMs?: number } {
  const free = tables.row(`SELECT count(*) AS count FROM runs WHERE ${isFree}`, now)!["count"];
  const hosted = tables.row(`SELECT count(*) AS count, min(deadline) AS next FROM runs WHERE ${isHosted}`, now)!;
  const next = hosted["next"];
  const nextMs = next === null ? {} : { nextMs: Math.max(0, Number(next) - now) };
  return { count: Number(free), hosted: Number(hosted["count"]), ...nextMs };
}

/** Returns the runs that wait for a newer host than this one. */
export function newerRuns(tables: FleetTables, now: number): { run: string; version: number }[] {
  const sql = `SELECT id, ${version} AS version FROM runs WHERE ${isUnhosted} AND ${version} > ${specVersion}`;
  return tables.rows(sql, now).map((row) => ({ run: String(row["id"]), version: Number(row["version"]) }));
}

export function logEntry(row: SqlRow, run: string): LogEntry {
  return {
    position: Number(row["position"]),
    run,
    at: Number(row["at"]),
    entry: JSON.parse(String(row["entry"])) as Entry,
  };
}
