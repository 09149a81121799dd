// REST v1, as the original's cloud agents speak it, over the runs of this machine or of a fleet. Beyond it: `workspace`, `cli`, `source`.
import * as v from "valibot";
import type { JsonObject } from "../../json/object.ts";
import type { RunRequest } from "../../protocol/run.ts";
import { restrict } from "../../protocol/run-request.ts";
import { listModels } from "../../sdk/detect.ts";
import { beginRun, type ServeContext } from "../context.ts";
import { type AgentRecord, cliNames, isOver, type NewRun, priorities, type RunRecord } from "../fleet.ts";
import { type Call, HttpError, type Route, route } from "../http/route.ts";
import { followUp, newRun, newSpec } from "../new-run.ts";
import { type GivenPlace, placeRun } from "../place-run.ts";
import { sumUsage } from "../run-end.ts";
import { refuseGrants, restrictingShapes, restrictionsIn } from "./request-shapes.ts";
import {
  agentShape,
  agentView,
  deleted,
  failures,
  mostImages,
  pageOf,
  promptShape,
  runShape,
  runView,
  usageShape,
} from "./rest-shapes.ts";
import { streamRun } from "./rest-stream.ts";

const page = v.object({
  limit: v.optional(v.pipe(v.string(), v.regex(/^[1-9]\d{0,2}$/, "must be from 1 to 100.")), "20"),
  cursor: v.optional(v.string()),
});

const agentPage = v.object({
  ...page.entries,
  includeArchived: v.optional(v.picklist(["true", "false"]), "true"),
});

/** Fields of the original that mean a service of its own. Asking for them is an error. */
const unsupported = [
  "envVars",
  "workOnCurrentBranch",
  "autoCreatePR",
  "skipReviewerRequest",
  "mcpServers",
  "customSubagents",
];

const modelShape = v.strictObject({ id: v.string(), params: v.optional(v.array(v.unknown())) });

const newAgent = v.strictObject({
  ...restrictingShapes,
  prompt: promptShape,
  /** Ours: a trusted folder of this machine. Needed, unless a fleet is told where the files come from. */
  workspace: v.optional(v.string()),
  /** Over a fleet: where the files come from, as `--source` says it; or, as the original, one repository. */
  source: v.optional(v.string()),
  repos: v.optional(v.array(v.strictObject({ url: v.string(), startingRef: v.optional(v.string()) }))),
  /** Over a fleet: which workers. */
  env: v.optional(v.strictObject({ type: v.string(), name: v.optional(v.string()) })),
  labels: v.optional(v.record(v.string(), v.string())),
  priority: v.optional(v.picklist(priorities)),
  onWorkerLoss: v.optional(v.picklist(["continue", "interrupt"])),
  /** Ours: which agent CLI. */
  cli: v.optional(v.picklist(cliNames), "courser"),
  model: v.optional(modelShape),
  name: v.optional(v.pipe(v.string(), v.maxLength(200))),
  agentId: v.optional(v.pipe(v.string(), v.regex(/^bc-[0-9a-f-]{36}$/i, "must be bc-<uuid>."))),
  /** Ours: everything but deny rules and protected paths. */
  force: v.optional(v.boolean()),
});

const newFollowUp = v.strictObject({
  ...restrictingShapes,
  prompt: promptShape,
  model: v.optional(modelShape),
});

export const restRoutes: readonly Route[] = [
  route({
    method: "post",
    path: "/v1/agents",
    summary: "Create an agent and its first run",
    body: newAgent,
    refuse: refuseUnsupported,
    replies: {
      201: { description: "Created", schema: v.object({ agent: agentShape, run: runShape }) },
      ...failures(400, 403, 409),
    },
    async handle({ context, body, signal }) {
      const { fleet } = context;
      if (body.agentId !== undefined && (await fleet.agent(body.agentId)))
        throw new HttpError(409, "agent_id_conflict", `An agent ${body.agentId} already exists.`);
      const request: RunRequest = { workspace: "", ...requestOf(body), ...(body.force && { force: true }) };
      const names = {
        ...(body.agentId !== undefined && { agent: body.agentId }),
        ...(body.name !== undefined && { name: body.name }),
      };
      const asked = newRun({ cli: body.cli, request, prompt: promptOf(body.prompt) }, names);
      const run = await beginRun(context, await placeRun(context, asked, placeOf(body), signal));
      return { status: 201, body: { agent: agentView((await fleet.agent(run.agent))!), run: runView(run) } };
    },
  }),
  route({
    method: "get",
    path: "/v1/agents",
    summary: "List agents, newest first",
    query: agentPage,
    replies: { 200: { description: "A page", schema: pageOf(agentShape) }, ...failures(400) },
    async handle({ context, query }) {
      const limit = limitOf(query.limit);
      const before = query.cursor === undefined ? {} : { before: query.cursor };
      const agents = await context.fleet.agents({
        limit: limit + 1,
        archived: query.includeArchived === "true",
        ...before,
      });
      return { status: 200, body: paged(agents, limit, agentView) };
    },
  }),
  route({
    method: "get",
    path: "/v1/agents/:id",
    summary: "Get an agent",
    replies: { 200: { description: "The agent", schema: agentShape }, ...failures(404) },
    handle: async (call) => ({ status: 200, body: agentView(await agentOf(call)) }),
  }),
  route({
    method: "delete",
    path: "/v1/agents/:id",
    summary: "Delete an agent with its runs. The session of its CLI is kept",
    replies: { 200: { description: "Deleted", schema: deleted }, ...failures(404, 409) },
    async handle(call) {
      const { id } = await agentOf(call);
      await call.context.fleet.deleteAgent(id);
      return { status: 200, body: { id } };
    },
  }),
  ...[true, false].map((isArchived) =>
    route({
      method: "post",
      path: `/v1/agents/:id/${isArchived ? "archive" : "unarchive"}`,
      summary: isArchived ? "Archive an agent: it takes no more runs" : "Unarchive an agent",
      replies: { 200: { description: "Done", schema: deleted }, ...failures(404, 409) },
      async handle(call) {
        const { id, isBusy } = await agentOf(call);
        if (isArchived && isBusy) throw new HttpError(409, "agent_busy", "The agent is busy. Cancel its run first.");
        await call.context.fleet.changeAgent(id, { isArchived });
        return { status: 200, body: { id } };
      },
    }),
  ),
  route({
    method: "get",
    path: "/v1/agents/:id/usage",
    summary: "Tokens and cost of an agent, in total and by run",
    replies: { 200: { description: "Usage", schema: usageShape }, ...failures(404) },
    async handle(call) {
      const { id } = await agentOf(call);
      const ends = (await call.context.fleet.runs({ agent: id, limit: 1000 })).flatMap(({ id: runId, end }) =>
        end?.usage ? [{ runId, usage: end.usage, costUsd: end.costUsd }] : [],
      );
      const costs = ends.flatMap(({ costUsd }) => costUsd ?? []);
      const cost = costs.length === 0 ? {} : { cost: { totalUsd: costs.reduce((sum, each) => sum + each, 0) } };
      const runs = ends.map(({ runId, usage }) => ({ runId, usage }));
      return { status: 200, body: { agentId: id, usage: sumUsage(ends.map(({ usage }) => usage)), ...cost, runs } };
    },
  }),
  route({
    method: "post",
    path: "/v1/agents/:id/runs",
    summary: "Send a follow-up: the next run of an agent",
    body: newFollowUp,
    refuse: refuseUnsupported,
    replies: { 201: { description: "Created", schema: v.object({ run: runShape }) }, ...failures(400, 404, 409) },
    async handle(call) {
      const run = await nextRun(call.context, await agentOf(call), call.body);
      return { status: 201, body: { run: runView(await beginRun(call.context, run)) } };
    },
  }),
  route({
    method: "get",
    path: "/v1/agents/:id/runs",
    summary: "List the runs of an agent, newest first",
    query: page,
    replies: { 200: { description: "A page", schema: pageOf(runShape) }, ...failures(400, 404) },
    async handle(call) {
      const { id } = await agentOf(call);
      const limit = limitOf(call.query.limit);
      const before = call.query.cursor === undefined ? {} : { before: call.query.cursor };
      const runs = await call.context.fleet.runs({ agent: id, limit: limit + 1, ...before });
      return { status: 200, body: paged(runs, limit, runView) };
    },
  }),
  route({
    method: "get",
    path: "/v1/agents/:id/runs/:runId",
    summary: "Get a run",
    replies: { 200: { description: "The run", schema: runShape }, ...failures(404) },
    handle: async (call) => ({ status: 200, body: runView(await runOf(call)) }),
  }),
  route({
    method: "get",
    path: "/v1/agents/:id/runs/:runId/stream",
    summary: "What happens in a run, as server-sent events; Last-Event-ID continues",
    replies: { 200: { description: "Events", type: "text/event-stream" }, ...failures(400, 404, 410) },
    async handle(call) {
      const run = await runOf(call);
      if (run.isPruned) throw new HttpError(410, "stream_expired", "The log of this run is no longer stored.");
      const from = lastEventOf(call) ?? 0;
      return { stream: (events) => streamRun(call.context.fleet, run, from, events, call.signal) };
    },
  }),
  route({
    method: "post",
    path: "/v1/agents/:id/runs/:runId/cancel",
    summary: "Cancel a run",
    replies: { 200: { description: "Its host was told", schema: deleted }, ...failures(404, 409) },
    async handle(call) {
      const { id } = await runOf(call);
      if (!(await call.context.fleet.cancel(id, "The run was cancelled.")))
        throw new HttpError(409, "run_not_cancellable", "The run is over.");
      return { status: 200, body: { id } };
    },
  }),
  route({
    method: "get",
    path: "/v1/models",
    summary: "The available models",
    replies: {
      200: {
        description: "Models",
        schema: v.object({ items: v.array(v.object({ id: v.string(), displayName: v.string() })) }),
      },
    },
    async handle({ context: { program, env } }) {
      const models = await listModels("cursor", { executable: program, env });
      return { status: 200, body: { items: models.map(({ id, name }) => ({ id, displayName: name })) } };
    },
  }),
  route({
    method: "get",
    path: "/v1/me",
    summary: "Whose token this is",
    replies: {
      200: {
        description: "The user",
        schema: v.object({ apiKeyName: v.string(), userName: v.string(), version: v.string() }),
      },
    },
    handle: async ({ context: { env, version } }) => ({
      status: 200,
      body: { apiKeyName: "serve.json", userName: env["USER"] ?? env["USERNAME"] ?? "", version },
    }),
  }),
];

async function agentOf({ context, params }: Pick<Call<unknown, unknown>, "context" | "params">): Promise<AgentRecord> {
  const agent = await context.fleet.agent(params["id"] ?? "");
  if (!agent) throw new HttpError(404, "not_found", "There is no such agent.");
  return agent;
}

async function runOf(call: Pick<Call<unknown, unknown>, "context" | "params">): Promise<RunRecord> {
  const run = await call.context.fleet.run(call.params["runId"] ?? "");
  if (!run || run.agent !== call.params["id"]) throw new HttpError(404, "not_found", "There is no such run.");
  return run;
}

async function nextRun(
  { fleet }: ServeContext,
  { id, sessionId }: AgentRecord,
  body: v.InferOutput<typeof newFollowUp>,
): Promise<NewRun> {
  const [last] = await fleet.runs({ agent: id, limit: 1 });
  if (!last) throw new HttpError(404, "not_found", "The agent has no run to continue from.");
  if (!isOver(last.state)) throw new HttpError(409, "agent_busy", "The agent is busy. Wait for its run, or cancel it.");
  const next = followUp(last, sessionId, promptOf(body.prompt));
  return { ...next, spec: newSpec({ ...next.spec, request: nextRequest(next.spec.request, requestOf(body)) }) };
}

/** What the agent began with holds, and more may be added. Among the modes without force its client may switch. */
function nextRequest({ mode: before, ...base }: RunRequest, more: Partial<RunRequest>): RunRequest {
  const mode = more.mode ?? before;
  return restrict({ ...base, ...(mode && { mode }) }, more);
}

function requestOf({ model, ...body }: v.InferOutput<typeof newFollowUp>): Partial<RunRequest> {
  return { ...(model && { model: model.id }), ...restrictionsIn(body) };
}

function promptOf({ text, images = [] }: v.InferOutput<typeof promptShape>): NewRun["spec"]["prompt"] {
  if (images.length > mostImages) throw new HttpError(400, "invalid_request", `At most ${mostImages} images.`);
  return {
    text,
    ...(images.length > 0 && { images: images.map(({ data, mimeType }) => ({ mime: mimeType, base64: data })) }),
  };
}

function placeOf(body: v.InferOutput<typeof newAgent>): GivenPlace {
  const { workspace, source, repos = [], env, labels, priority, onWorkerLoss } = body;
  if (repos.length > 1) throw new HttpError(400, "invalid_request", "One repository for a run.");
  if (repos[0] && source !== undefined) throw new HttpError(400, "invalid_request", '"repos" or "source", not both.');
  if (env && env.type !== "pool")
    throw new HttpError(400, "unsupported_field", 'Of "env" there is {"type": "pool", "name"}.');
  const ref = repos[0]?.startingRef === undefined ? "" : `#${repos[0].startingRef}`;
  return {
    ...(workspace !== undefined && { workspace }),
    ...(source !== undefined && { source }),
    ...(repos[0] && { source: `git:${repos[0].url}${ref}` }),
    ...(env?.name !== undefined && { pool: env.name }),
    ...(labels && { labels }),
    ...(priority && { priority }),
    ...(onWorkerLoss && { onWorkerLoss }),
  };
}

function refuseUnsupported(body: JsonObject, { fleetUrl }: ServeContext): void {
  refuseGrants(body);
  const here = fleetUrl === undefined ? [...unsupported, "repos", "env"] : unsupported;
  const named = here.filter((field) => body[field] !== undefined);
  if (named.length > 0)
    throw new HttpError(
      400,
      "unsupported_field",
      `Not here: ${named.join(", ")}.${fleetUrl === undefined ? ' Runs work in "workspace" on this machine.' : ""}`,
    );
}

/** Undefined without the header. 0 is an id: that of a client which connected before anything had happened. */
export function lastEventOf({ lastEventId }: Pick<Call<unknown, unknown>, "lastEventId">): number | undefined {
  if (lastEventId === undefined || lastEventId === "") return undefined;
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId);
  throw new HttpError(400, "invalid_last_event_id", "Last-Event-ID must be the id of an event of this stream.");
}

function limitOf(text: string): number {
  return Math.min(100, Number(text));
}

/** One more than asked for was looked up: whether there is another page. */
function paged<Item extends { id: string }, View>(found: readonly Item[], limit: number, view: (item: Item) => View) {
  const items = found.slice(0, limit);
  const hasMore = found.length > limit;
  return { items: items.map(view), ...(hasMore && { nextCursor: items.at(-1)!.id }) };
}
