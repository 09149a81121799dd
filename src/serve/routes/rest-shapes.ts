// The schemas of REST v1, and the conversion of records to them.
import * as v from "valibot";
import { type AgentRecord, cliNames, type RunEnd, type RunRecord, type RunState } from "../fleet.ts";
import type { Reply, Schema } from "../http/route.ts";

export const maxImages = 5;

export const promptShape = v.strictObject({
  text: v.pipe(v.string(), v.nonEmpty("must not be empty.")),
  images: v.optional(v.array(v.strictObject({ data: v.string(), mimeType: v.string() }))),
});

export const runStatuses = ["CREATING", "RUNNING", "FINISHED", "ERROR", "CANCELLED", "EXPIRED"] as const;

const statuses: Readonly<Record<RunState, (typeof runStatuses)[number]>> = {
  queued: "CREATING",
  running: "RUNNING",
  finished: "FINISHED",
  error: "ERROR",
  cancelled: "CANCELLED",
};

export function restStatus(state: RunState): (typeof runStatuses)[number] {
  return statuses[state];
}

export const agentShape = v.object({
  id: v.string(),
  name: v.string(),
  status: v.picklist(["ACTIVE", "IDLE", "ARCHIVED"]),
  createdAt: v.string(),
  updatedAt: v.string(),
  latestRunId: v.optional(v.string()),
  workspace: v.string(),
  cli: v.picklist(cliNames),
  sessionId: v.optional(v.string()),
});

export function agentBody(agent: AgentRecord): v.InferOutput<typeof agentShape> {
  const { id, name, isArchived, isBusy, createdAt, updatedAt, latestRun, workspace, cli, sessionId } = agent;
  return {
    id,
    name,
    status: isArchived ? "ARCHIVED" : isBusy ? "ACTIVE" : "IDLE",
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
    ...(latestRun !== undefined && { latestRunId: latestRun }),
    workspace,
    cli,
    ...(sessionId !== undefined && { sessionId }),
  };
}

const usage = v.object({
  inputTokens: v.number(),
  outputTokens: v.number(),
  cacheReadTokens: v.number(),
  cacheWriteTokens: v.number(),
});

export const runShape = v.object({
  id: v.string(),
  agentId: v.string(),
  status: v.picklist(runStatuses),
  createdAt: v.string(),
  updatedAt: v.string(),
  durationMs: v.optional(v.number()),
  /** The final answer, or why the run failed. */
  result: v.optional(v.string()),
  errorCode: v.optional(v.string()),
  /** The number of questions that are not answered yet. */
  questions: v.number(),
  git: v.object({ branches: v.array(v.unknown()) }),
  sessionId: v.optional(v.string()),
});

export function runView(run: RunRecord): v.InferOutput<typeof runShape> {
  const { id, agent, state, createdAt, startedAt, endedAt, end, open, sessionId } = run;
  return {
    id,
    agentId: agent,
    status: restStatus(state),
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(endedAt ?? startedAt ?? createdAt),
    ...(end && { durationMs: end.durationMs, result: end.text }),
    ...(end?.code !== undefined && { errorCode: end.code }),
    questions: open,
    git: branchesOf(end),
    ...(sessionId !== undefined && { sessionId }),
  };
}

export function branchesOf(end: RunEnd | undefined): { branches: { name: string }[] } {
  return { branches: end?.branch === undefined ? [] : [{ name: end.branch }] };
}

export const usageShape = v.object({
  agentId: v.string(),
  usage,
  cost: v.optional(v.object({ totalUsd: v.number() })),
  runs: v.array(v.object({ runId: v.string(), usage })),
});

export const deleted = v.object({ id: v.string() });

export function pageShape<Item extends Schema>(item: Item) {
  return v.object({ items: v.array(item), nextCursor: v.optional(v.string()) });
}

export const errorShape = v.object({ error: v.object({ code: v.string(), message: v.string() }) });

const reasons: Readonly<Record<number, string>> = {
  400: "The request is wrong",
  403: "Not allowed here",
  404: "Not found",
  409: "Not now",
  410: "Not kept any more",
};

export function failures(...codes: readonly number[]): Record<number, Reply> {
  return Object.fromEntries(codes.map((code) => [code, { description: reasons[code]!, schema: errorShape }]));
}

export function successReplies(
  description: string,
  schema: Schema,
  ...codes: readonly number[]
): Record<number, Reply> {
  return { 200: { description, schema }, ...failures(...codes) };
}

export function itemsOf<Item extends Schema>(item: Item) {
  return v.object({ items: v.array(item) });
}

export const anything = v.record(v.string(), v.unknown());

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
