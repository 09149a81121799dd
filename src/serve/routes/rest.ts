// REST v1, compatible with the original's cloud agents, for runs of this machine or of a fleet. Adds `workspace`, `cli` and `source`.
import * as v from "valibot";
import type { JsonObject } from "../../json/object.ts";
import type { RunRequest } from "../../protocol/run.ts";
import { restrict } from "../../protocol/run-request.ts";
import { addUsage, noUsage } from "../../protocol/usage.ts";
import { listModels } from "../../sdk/detect.ts";
import { beginRun, type ServeContext } from "../context.ts";
import { type AgentRecord, isOver, type NewRun, type RunRecord } from "../fleet.ts";
import { type Call, HttpError, type Route, route } from "../http/route.ts";
import { followUp, newRun, newSpec } from "../new-run.ts";
import { type GivenPlace, placeRun } from "../place-run.ts";
import { placeShapes, refuseGrants, restrictingShapes, restrictionsIn } from "./request-shapes.ts";
import {
  agentBody,
  agentShape,
  deleted,
  failures,
  itemsOf,
  maxImages,
  pageShape,
  promptShape,
  runShape,
  runView,
  successReplies,
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

/** Fields of the original that need its own cloud service. Requests with them are refused. */
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
  ...placeShapes,
  prompt: promptShape,
  /** The repository to work on. Like in the original API this is a list, but it may have only one item. */
  repos: v.optional(v.array(v.strictObject({ url: v.string(), startingRef: v.optional(v.string()) }))),
  /** For fleets: the pool of workers that may take the run. */
  env: v.optional(v.strictObject({ type: v.string(), name: v.optional(v.string()) })),
  model: v.optional(modelShape),
  agentId: v.optional(v.pipe(v.string(), v.regex(/^bc-[0-9a-f-]{36}$/i, "must be bc-<uuid>."))),
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
      const request: RunRequest = { workspace: "", ...followUpRequest(body), ...(body.force && { force: true }) };
      const names = {
        ...(body.agentId !== undefined && { agent: body.agentId }),
        ...(body.name !== undefined && { name: body.name }),
      };
      const asked = newRun({ cli: body.cli, request, prompt: convertPrompt(body.prompt) }, names);
      const run = await beginRun(context, await placeRun(context, asked, requestedPlace(body), signal));
      return { status: 201, body: { agent: agentBody((await fleet.agent(run.agent))!), run: runView(run) } };
    },
  }),
  route({
    method: "get",
    path: "/v1/agents",
    summary: "List agents, newest first",
    query: agentPage,
    replies: successReplies("A page", pageShape(agentShape), 400),
    async handle({ context, query }) {
      const archived = query.includeArchived === "true";
      return { body: await pageOf(query, (some) => context.fleet.agents({ ...some, archived }), agentBody) };
    },
  }),
  route({
    method: "get",
    path: "/v1/agents/:id",
    summary: "Get an agent",
    replies: successReplies("The agent", agentShape, 404),
    handle: async (call) => ({ body: agentBody(await findAgent(call)) }),
  }),
  route({
    method: "delete",
    path: "/v1/agents/:id",
    summary: "Delete an agent with its runs. The session of its CLI is kept",
    replies: successReplies("Deleted", deleted, 404, 409),
    async handle(call) {
      const { id } = await findAgent(call);
      await call.context.fleet.deleteAgent(id);
      return { body: { id } };
    },
  }),
  ...[true, false].map((isArchived) =>
    route({
      method: "post",
      path: `/v1/agents/:id/${isArchived ? "archive" : "unarchive"}`,
      summary: isArchived ? "Archive an agent: it takes no more runs" : "Unarchive an agent",
      replies: successReplies("Done", deleted, 404, 409),
      async handle(call) {
        const { id, isBusy } = await findAgent(call);
        if (isArchived && isBusy) throw new HttpError(409, "agent_busy", "The agent is busy. Cancel its run first.");
        await call.context.fleet.changeAgent(id, { isArchived });
        return { body: { id } };
      },
    }),
  ),
  route({
    method: "get",
    path: "/v1/agents/:id/usage",
    summary: "Tokens and cost of an agent, in total and by run",
    replies: successReplies("Usage", usageShape, 404),
    async handle(call) {
      const { id } = await findAgent(call);
      const ends = (await call.context.fleet.runs({ agent: id, limit: 1000 })).flatMap(({ id: runId, end }) =>
        end?.usage ? [{ runId, usage: end.usage, costUsd: end.costUsd }] : [],
      );
      const costs = ends.flatMap(({ costUsd }) => costUsd ?? []);
      const cost = costs.length === 0 ? {} : { cost: { totalUsd: costs.reduce((sum, each) => sum + each, 0) } };
      const runs = ends.map(({ runId, usage }) => ({ runId, usage }));
      return { body: { agentId: id, usage: ends.map(({ usage }) => usage).reduce(addUsage, noUsage), ...cost, runs } };
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
      const run = await nextRun(call.context, await findAgent(call), call.body);
      return { status: 201, body: { run: runView(await beginRun(call.context, run)) } };
    },
  }),
  route({
    method: "get",
    path: "/v1/agents/:id/runs",
    summary: "List the runs of an agent, newest first",
    query: page,
    replies: successReplies("A page", pageShape(runShape), 400, 404),
    async handle(call) {
      const { id } = await findAgent(call);
      return { body: await pageOf(call.query, (some) => call.context.fleet.runs({ ...some, agent: id }), runView) };
    },
  }),
  route({
    method: "get",
    path: "/v1/agents/:id/runs/:runId",
    summary: "Get a run",
    replies: successReplies("The run", runShape, 404),
    handle: async (call) => ({ body: runView(await runOf(call)) }),
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
    replies: successReplies("Its host was told", deleted, 404, 409),
    async handle(call) {
      const { id } = await runOf(call);
      if (!(await call.context.fleet.cancel(id, "The run was cancelled.")))
        throw new HttpError(409, "run_not_cancellable", "The run is over.");
      return { body: { id } };
    },
  }),
  route({
    method: "get",
    path: "/v1/models",
    summary: "The available models",
    replies: successReplies("Models", itemsOf(v.object({ id: v.string(), displayName: v.string() }))),
    async handle({ context: { program, env } }) {
      const models = await listModels("cursor", { executable: program, env });
      return { body: { items: models.map(({ id, name }) => ({ id, displayName: name })) } };
    },
  }),
  route({
    method: "get",
    path: "/v1/me",
    summary: "Whose token this is",
    replies: successReplies(
      "The user",
      v.object({ apiKeyName: v.string(), userName: v.string(), version: v.string() }),
    ),
    handle: async ({ context: { env, version } }) => ({
      body: { apiKeyName: "serve.json", userName: env["USER"] ?? env["USERNAME"] ?? "", version },
    }),
  }),
];

async function findAgent({
  context,
  params,
}: Pick<Call<unknown, unknown>, "context" | "params">): Promise<AgentRecord> {
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
  const next = followUp(last, sessionId, convertPrompt(body.prompt));
  return { ...next, spec: newSpec({ ...next.spec, request: nextRequest(next.spec.request, followUpRequest(body)) }) };
}

/** Builds the next request of an agent: its first one with restrictions added. The client may switch between modes without force. */
function nextRequest({ mode: before, ...base }: RunRequest, more: Partial<RunRequest>): RunRequest {
  const mode = more.mode ?? before;
  return restrict({ ...base, ...(mode && { mode }) }, more);
}

function followUpRequest({ model, ...body }: v.InferOutput<typeof newFollowUp>): Partial<RunRequest> {
  return { ...(model && { model: model.id }), ...restrictionsIn(body) };
}

function convertPrompt({ text, images = [] }: v.InferOutput<typeof promptShape>): NewRun["spec"]["prompt"] {
  if (images.length > maxImages) throw new HttpError(400, "invalid_request", `At most ${maxImages} images.`);
  return {
    text,
    ...(images.length > 0 && { images: images.map(({ data, mimeType }) => ({ mime: mimeType, base64: data })) }),
  };
}

function requestedPlace(body: v.InferOutput<typeof newAgent>): GivenPlace {
  const { workspace, source, repos = [], env, labels, priority, onWorkerLoss } = body;
  if (repos.length > 1) throw new HttpError(400, "invalid_request", "One repository for a run.");
  if (repos[0] && source !== undefined) throw new HttpError(400, "invalid_request", '"repos" or "source", not both.');
  if (env && env.type !== "pool")
    throw new HttpError(400, "unsupported_field", 'Of "env" there is {"type": "pool", "name"}.');
  const ref = repos[0]?.startingRef === undefined ? "" : `#${repos[0].startingRef}`;
  const from = repos[0] ? `git:${repos[0].url}${ref}` : source;
  return { workspace, source: from, pool: env?.name, labels, priority, onWorkerLoss };
}

function refuseUnsupported(body: JsonObject, { fleetUrl }: ServeContext): void {
  refuseGrants(body);
  const here = fleetUrl === undefined ? [...unsupported, "repos", "env"] : unsupported;
  const named = here.filter((field) => body[field] !== undefined);
  if (named.length > 0)
    throw new HttpError(
      400,
      "unsupported_field",
      `Unsupported fields: ${named.join(", ")}.${fleetUrl === undefined ? ' Runs work in "workspace" on this machine.' : ""}`,
    );
}

/** Parses the Last-Event-ID header; undefined without it. 0 is valid, for a client that connected before the first event. */
export function lastEventOf({ lastEventId }: Pick<Call<unknown, unknown>, "lastEventId">): number | undefined {
  if (lastEventId === undefined || lastEventId === "") return undefined;
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId);
  throw new HttpError(400, "invalid_last_event_id", "Last-Event-ID must be the id of an event of this stream.");
}

/** Reads one item more than the page has, to know whether there is another. */
async function pageOf<Item extends { id: string }, View>(
  { limit, cursor: before }: v.InferOutput<typeof page>,
  read: (some: { limit: number; before: string | undefined }) => Promise<Item[]>,
  view: (item: Item) => View,
) {
  const count = Math.min(100, Number(limit));
  const found = await read({ limit: count + 1, before });
  const items = found.slice(0, count);
  return { items: items.map(view), ...(found.length > count && { nextCursor: items.at(-1)!.id }) };
}
