// The studio's routes for live runs: start, message, answer and stop them, and one stream for all of them.
import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import { definedFields } from "../../json/object.ts";
import { type ControlLine, readControlLine } from "../../protocol/control-lines.ts";
import { type RunRequest, reasoningEfforts } from "../../protocol/run.ts";
import { beginRun, type ServeContext } from "../context.ts";
import { fileChanges } from "../file-changes.ts";
import { type LogEntry, type Message, type RunRecord, runStates } from "../fleet.ts";
import type { EventStream } from "../http/event-stream.ts";
import { HttpError, type Route, route } from "../http/route.ts";
import { followUp, newRun } from "../new-run.ts";
import { patchOf } from "../patch.ts";
import { placeRun } from "../place-run.ts";
import { changedSessions } from "../session-watch.ts";
import { placeShapes, refuseGrants, restrictingShapes } from "./request-shapes.ts";
import { lastEventOf } from "./rest.ts";
import { anything, failures, itemsOf, successReplies } from "./rest-shapes.ts";

const runView = v.looseObject({
  id: v.string(),
  agent: v.string(),
  state: v.picklist(runStates),
  createdAt: v.number(),
  position: v.number(),
  open: v.number(),
});

const entryView = v.object({ position: v.number(), run: v.string(), at: v.number(), entry: anything });

const image = v.strictObject({ mime: v.string(), base64: v.string() });
const prompt = v.strictObject({
  text: v.pipe(v.string(), v.nonEmpty("must not be empty.")),
  images: v.optional(v.pipe(v.array(image), v.maxLength(5, "may be 5."))),
});

/** Images are sent as data, because clients may not name files on this machine. */
const newStudioRun = v.strictObject({
  ...restrictingShapes,
  ...placeShapes,
  pool: v.optional(v.string()),
  prompt,
  model: v.optional(v.string()),
  effort: v.optional(v.picklist(reasoningEfforts)),
  sandbox: v.optional(v.picklist(["enabled", "disabled"])),
  /** If set, the run works in a git worktree of the workspace. */
  worktree: v.optional(v.strictObject({ name: v.optional(v.string()), base: v.optional(v.string()) })),
  /** The session of our own CLI to resume, or to copy and continue. */
  session: v.optional(
    v.strictObject({ id: v.pipe(v.string(), v.regex(/^[\w-]+$/, "is not an id.")), fork: v.optional(v.boolean()) }),
  ),
});

const answerBody = v.strictObject({ question: v.string(), hash: v.string(), answer: anything });

export const studioRunRoutes: readonly Route[] = [
  route({
    method: "get",
    path: "/api/runs",
    summary: "Runs, newest first; without `state` and `before`, all that are not over are among them",
    query: v.object({ state: v.optional(v.picklist(runStates)), before: v.optional(v.string()) }),
    replies: successReplies("Runs", itemsOf(runView), 400),
    async handle({ context, query: { state, before } }) {
      if (state === undefined && before === undefined) return { body: { items: await listedRuns(context) } };
      const some = { limit: 100, ...(state && { states: [state] }), ...(before !== undefined && { before }) };
      return { body: { items: await context.fleet.runs(some) } };
    },
  }),
  route({
    method: "post",
    path: "/api/runs",
    summary: "Start a run in a trusted workspace: new, resumed or forked",
    body: newStudioRun,
    refuse: refuseGrants,
    replies: { 201: { description: "The run", schema: runView }, ...failures(400, 403, 409) },
    async handle({ context, body, signal }) {
      const { cli, prompt: asked, name, session, ...more } = body;
      const { workspace, source, pool, labels, priority, onWorkerLoss, ...rest } = more;
      const request = { ...rest, workspace: "", ...chatChoice(session) };
      const run = newRun(
        { cli, request: request as RunRequest, prompt: convertPrompt(asked), attended: true },
        name === undefined ? {} : { name },
      );
      const place = { workspace, source, onWorkerLoss, pool, labels, priority };
      return { status: 201, body: await beginRun(context, await placeRun(context, run, place, signal)) };
    },
  }),
  route({
    method: "get",
    path: "/api/runs/:id/patch",
    summary: "What a run changed in its own workspace, as a git diff",
    replies: { 200: { description: "The patch", type: "text/x-diff" }, ...failures(404) },
    async handle({ context, params }) {
      const run = await runOf(context, params);
      const patch = await patchOf(context.fleet, run);
      if (!patch) throw new HttpError(404, "not_found", "The run has no patch.");
      return { file: { name: `${run.id}.patch`, type: "text/x-diff", text: patch.toString("utf8") } };
    },
  }),
  route({
    method: "get",
    path: "/api/runs/:id",
    summary: "A run",
    replies: successReplies("The run", runView, 404),
    handle: async ({ context, params }) => ({ body: await runOf(context, params) }),
  }),
  route({
    method: "get",
    path: "/api/runs/:id/log",
    summary: "The log of a run, after a position",
    query: v.object({ from: v.optional(v.pipe(v.string(), v.regex(/^\d+$/, "must be a position.")), "0") }),
    replies: successReplies("Entries", itemsOf(entryView), 400, 404),
    async handle({ context, params, query }) {
      const { id } = await runOf(context, params);
      return { body: { items: await context.fleet.entries(id, Number(query.from), 1000) } };
    },
  }),
  route({
    method: "get",
    path: "/api/runs/:id/changes",
    summary: "What a run changed, by file",
    replies: successReplies("Files", itemsOf(anything), 404),
    async handle({ context, params, signal }) {
      const { id, position } = await runOf(context, params);
      const events = [];
      let turn = 0;
      for await (const { entry, position: at } of context.fleet.follow(id, 0, signal)) {
        if (entry.type === "event" && entry.agent === undefined) {
          if (entry.event.type === "user") turn++;
          events.push({ turn, event: entry.event });
        }
        if (at >= position) break;
      }
      return { body: { items: fileChanges(events) } };
    },
  }),
  route({
    method: "post",
    path: "/api/runs/:id/messages",
    summary: "Send a running agent a message: a prompt, steer, interrupt, mode, model, … Replies appear in its log",
    body: anything,
    replies: { 202: { description: "It is told", schema: anything }, ...failures(400, 404, 409) },
    async handle({ context, params, body }) {
      const { id } = await runOf(context, params);
      const message = parseMessage(body);
      // A user who sends messages from the page is watching the run, so it may ask questions.
      if (message.type === "prompt" || message.type === "steer") await context.fleet.say(id, { type: "attend" });
      await context.fleet.say(id, message);
      return { status: 202, body: {} };
    },
  }),
  route({
    method: "post",
    path: "/api/runs/:id/follow-up",
    summary: "The next run of the same agent: resumes its session, as before unless told otherwise",
    body: v.strictObject({
      prompt,
      mode: restrictingShapes.mode,
      model: v.optional(v.string()),
      force: v.optional(v.boolean()),
    }),
    replies: { 201: { description: "The run", schema: runView }, ...failures(400, 404, 409) },
    async handle({ context, params, body: { prompt: asked, ...changed } }) {
      const run = await runOf(context, params);
      const agent = await context.fleet.agent(run.agent);
      const next = followUp(run, agent?.sessionId, convertPrompt(asked), true);
      const spec = { ...next.spec, request: { ...next.spec.request, ...definedFields(changed) } };
      return { status: 201, body: await beginRun(context, { ...next, spec }) };
    },
  }),
  route({
    method: "post",
    path: "/api/runs/:id/stop",
    summary: "Stop a run",
    replies: successReplies("Its host was told", anything, 404, 409),
    async handle({ context, params }) {
      const { id } = await runOf(context, params);
      if (!(await context.fleet.cancel(id, "The run was stopped by its user.")))
        throw new HttpError(409, "run_over", "The run is over.");
      return { body: { id } };
    },
  }),
  route({
    method: "post",
    path: "/api/runs/:id/answer",
    summary: "Answer a question of this run: accepted once, and only for the question with this hash",
    body: answerBody,
    replies: successReplies("Counted", anything, 400, 404, 409),
    async handle({ context, params, body: { question, hash, answer } }) {
      const { id } = await runOf(context, params);
      const line = readControlLine({ type: "answer", question, hash, answer });
      if (typeof line !== "object" || line.type !== "answer")
        throw new HttpError(400, "invalid_request", `Invalid answer: ${line ?? "unknown"}.`);
      await context.fleet.answer(id, { question, hash, answer: line.answer });
      return { body: { question } };
    },
  }),
  route({
    method: "get",
    path: "/api/questions",
    summary: "Open questions of all runs",
    replies: successReplies("Questions", itemsOf(v.object({ run: v.string(), at: v.number(), question: anything }))),
    handle: async ({ context }) => ({ body: { items: await context.fleet.questions() } }),
  }),
  route({
    method: "get",
    path: "/api/stream",
    summary:
      "One stream for all runs: `entry` events. `runs`: those whose every step is wanted; of others, what changes their state. `hello`: the runs and open questions there are, and the last step of each run that is not over; `runs` events: those that were queued since; `sessions` events: which grew on the disk",
    query: v.object({ runs: v.optional(v.pipe(v.string(), v.regex(/^[\w,-]*$/, "must be ids of runs."))) }),
    replies: { 200: { description: "Events", type: "text/event-stream" }, ...failures(400) },
    async handle(call) {
      const { context, query, signal } = call;
      const wanted = query.runs === undefined ? undefined : new Set(query.runs.split(","));
      const from = lastEventOf(call) ?? (await context.fleet.position());
      return {
        async stream(events) {
          const [runs, questions] = await Promise.all([listedRuns(context), context.fleet.questions()]);
          const steps = await lastSteps(context, runs);
          await events.send("hello", { position: from, runs, questions, steps }, from);
          void streamSessions(events, context, signal);
          void streamQueued(events, context, new Set(runs.map(({ id }) => id)), signal);
          for await (const logged of context.fleet.followAll(from, signal)) {
            const isStep = logged.entry.type === "event";
            if (!isStep || !wanted || wanted.has(logged.run)) await events.send("entry", logged, logged.position);
          }
        },
      };
    },
  }),
];

async function listedRuns({ fleet }: ServeContext): Promise<RunRecord[]> {
  const newest = await fleet.runs({ limit: 100 });
  if (newest.length < 100) return newest;
  const newestIds = new Set(newest.map(({ id }) => id));
  const live = await fleet.runs({ states: ["queued", "running"], limit: 1000 });
  return [...newest, ...live.filter(({ id }) => !newestIds.has(id))];
}

/** How many positions of the common log to look back when a page opens. */
const lookedBack = 300;
const maxSteps = 50;

/** Returns the last call or text of each run that is not over, for clients that did not see it. */
async function lastSteps({ fleet }: ServeContext, runs: readonly RunRecord[]): Promise<LogEntry[]> {
  const live = runs.filter(({ state }) => state === "running").slice(0, maxSteps);
  const steps = await Promise.all(
    live.map(async ({ id, position }) => {
      const entries = await fleet.entries(id, Math.max(0, position - lookedBack), lookedBack).catch(() => []);
      return entries.findLast(isStep);
    }),
  );
  return steps.filter((step) => step !== undefined);
}

function isStep({ entry }: LogEntry): boolean {
  return entry.type === "event" && entry.agent === undefined && /^(tool_start|text_end)$/.test(entry.event.type);
}

const queueEveryMs = 1000;

/** Reports queued runs, which have no log yet, to clients that did not start them. */
async function streamQueued(events: EventStream, { fleet }: ServeContext, known: Set<string>, signal: AbortSignal) {
  while (!signal.aborted) {
    await sleep(queueEveryMs, undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) return;
    const queued = await fleet.runs({ states: ["queued"], limit: 1000 }).catch(() => []);
    const runs = queued.filter(({ id }) => !known.has(id));
    for (const { id } of runs) known.add(id);
    if (runs.length > 0) await events.send("runs", { runs });
  }
}

async function streamSessions(events: EventStream, { env }: ServeContext, signal: AbortSignal): Promise<void> {
  for await (const changed of changedSessions(env, signal)) await events.send("sessions", { changed });
}

async function runOf({ fleet }: ServeContext, params: Record<string, string>): Promise<RunRecord> {
  const run = await fleet.run(params["id"] ?? "");
  if (!run) throw new HttpError(404, "not_found", "There is no such run.");
  return run;
}

function chatChoice(session: { id: string; fork?: boolean | undefined } | undefined): Pick<RunRequest, "chat"> {
  return session ? { chat: { type: "resume", id: session.id, ...(session.fork && { fork: true }) } } : {};
}

function convertPrompt({ text, images }: v.InferOutput<typeof prompt>) {
  return { text, ...(images && images.length > 0 && { images }) };
}

function parseMessage(body: Record<string, unknown>): Message {
  if (body["type"] === "prompt") {
    const { output, success } = v.safeParse(
      v.strictObject({ type: v.string(), prompt, id: v.optional(v.string()) }),
      body,
    );
    if (!success) throw new HttpError(400, "invalid_request", "A prompt is { type, prompt: { text }, id? }.");
    return { type: "prompt", prompt: convertPrompt(output.prompt), ...(output.id !== undefined && { id: output.id }) };
  }
  const line = readControlLine(body);
  if (typeof line !== "object" || isOfHost(line))
    throw new HttpError(
      400,
      "invalid_request",
      typeof line === "string" ? `${line}.` : "This is not a message for a run.",
    );
  if (line.type === "mode" && line.mode === "force")
    throw new HttpError(403, "forbidden", "Only the caller who starts a run can set force: start it with force.");
  return line;
}

/** Returns whether only the process that hosts the run may send this message. */
function isOfHost(line: ControlLine): line is Exclude<ControlLine, Message> {
  return line.type === "hello" || line.type === "answer" || line.type === "run_call";
}
