// Lists the sessions of all agents on this machine: the program that wrote each, its state, and the run that works in it.
import * as v from "valibot";
import { foreignTools } from "../sdk/sessions/index.ts";
import { listSessions, type SessionInfo, searchSessions } from "../sdk/sessions/library.ts";
import type { BuiltInTool } from "../sdk/unified.ts";
import { readStatus } from "../store/chats/read-chat.ts";
import { metadataFields } from "../store/chats/transcript-files.ts";
import { isTrusted } from "../store/trust.ts";
import { tryOr } from "../text/try-or.ts";
import type { ServeContext } from "./context.ts";
import { type CliName, cliNames, isOver, type RunRecord, type RunState } from "./fleet.ts";
import { toolForCli } from "./live-options.ts";

export const sessionStates = ["running", "waiting", "done", "failed", "interrupted"] as const;
export type SessionState = (typeof sessionStates)[number];

export const sessionTools: readonly BuiltInTool[] = ["cursor", ...foreignTools];

export const listedSession = v.object({
  tool: v.picklist(sessionTools),
  /** The program that wrote the session. Our chats and those of the original are in the same folder. */
  agent: v.picklist(cliNames),
  state: v.picklist(sessionStates),
  id: v.string(),
  title: v.string(),
  workspace: v.optional(v.string()),
  model: v.optional(v.string()),
  createdAt: v.number(),
  updatedAt: v.number(),
  snippet: v.optional(v.string()),
  /** The id of the run that is working in this session now. */
  run: v.optional(v.string()),
  isTrusted: v.boolean(),
});

export type ListedSession = v.InferOutput<typeof listedSession>;

export type SessionQuery = {
  limit: number;
  since: number;
  agent?: CliName;
  state?: SessionState;
  project?: string;
  search?: string;
};

/** The maximum number of sessions read before filters are applied. */
const maxListed = 5000;

export async function sessionList(context: ServeContext, query: SessionQuery) {
  const { agent, state, project, since, search, limit } = query;
  const scope = { env: context.env, limit: maxListed, ...(agent && { tool: toolForCli(agent) }) };
  const found: (SessionInfo & { snippet?: string })[] =
    search === undefined ? await listSessions(scope) : await searchSessions(search, { ...scope, limit: 1000 });
  const latest = await latestRuns(context);
  const projects = [...new Set(found.flatMap(({ workspace }) => workspace ?? []))].sort();
  const items: ListedSession[] = [];
  for (const session of found) {
    if (items.length === limit) break;
    if (session.updatedAt < since || (project !== undefined && session.workspace !== project)) continue;
    const view = toListedSession(context, session, latest.get(session.id));
    if ((agent === undefined || view.agent === agent) && (state === undefined || view.state === state))
      items.push(view);
  }
  return { items, projects };
}

async function latestRuns({ fleet }: ServeContext): Promise<Map<string, RunRecord>> {
  const latest = new Map<string, RunRecord>();
  for (const run of await fleet.runs({ limit: 1000 }))
    if (run.sessionId !== undefined && !latest.has(run.sessionId)) latest.set(run.sessionId, run);
  return latest;
}

/** Returns a session's agent and state, and whether runs may start in its workspace, whether or not it is listed. */
export async function ownerOf(context: ServeContext, session: SessionInfo) {
  const { agent, state, isTrusted } = toListedSession(context, session, (await latestRuns(context)).get(session.id));
  return { agent, state, isTrusted };
}

function toListedSession({ configDir }: ServeContext, session: SessionInfo, run: RunRecord | undefined): ListedSession {
  const { path, ...rest } = session;
  const isLive = run !== undefined && !isOver(run.state);
  return {
    ...rest,
    agent: sessionAgent(session, run),
    state: isLive ? liveState(run) : (sessionStatus(session, path) ?? after[run?.state ?? "finished"]),
    ...(isLive && { run: run.id }),
    isTrusted: session.workspace !== undefined && isTrusted(configDir, session.workspace),
  };
}

function liveState({ open }: RunRecord): SessionState {
  return open > 0 ? "waiting" : "running";
}

/** Chats of this program and of the original share a folder; this program's have a section of their own in the metadata file. */
function sessionAgent({ tool, path }: SessionInfo, run: RunRecord | undefined): CliName {
  if (tool !== "cursor") return tool;
  if (run) return run.spec.cli;
  return metadataFields(path).courser ? "courser" : "cursor";
}

const statuses = new Map<string, { updatedAt: number; status: SessionState | undefined }>();

/** Cached until the session changes, because reading the status opens the session's store. */
function sessionStatus({ tool, updatedAt }: SessionInfo, folder: string): SessionState | undefined {
  if (tool !== "cursor") return undefined;
  const existing = statuses.get(folder);
  if (existing?.updatedAt === updatedAt && existing.status !== "running") return existing.status;
  // A store that is damaged or busy does not hide the others.
  const status = tryOr(() => readStatus(folder), undefined);
  statuses.set(folder, { updatedAt, status });
  return status;
}

const after: Readonly<Record<RunState, SessionState>> = {
  queued: "running",
  running: "running",
  finished: "done",
  error: "failed",
  cancelled: "interrupted",
};
