// The studio's routes for data on disk: sessions of all agents, files of trusted workspaces, and installed CLIs.
import * as v from "valibot";
import { type ExportFormat, exporters, exportFormats } from "../../export/index.ts";
import { runProgram } from "../../process/run-program.ts";
import { findChat } from "../../store/chats/find-chat.ts";
import { isChatId } from "../../store/chats/layout.ts";
import { readChat } from "../../store/chats/read-chat.ts";
import { homeDir } from "../../store/config-dir.ts";
import { isWide, trust, trustedFolders } from "../../store/trust.ts";
import { programName } from "../../text/program-name.ts";
import { installedClis } from "../clis.ts";
import type { ServeContext } from "../context.ts";
import type { FileChange } from "../file-changes.ts";
import { cliNames } from "../fleet.ts";
import { HttpError, type Route, route } from "../http/route.ts";
import { ownProgram } from "../own-program.ts";
import { listedSession, ownerOf, sessionList, sessionStates, sessionTools } from "../session-list.ts";
import { sessionPictures } from "../session-pictures.ts";
import { figuresByDay, summarizeSession } from "../session-summary.ts";
import { eventsPage, lastEvents, type OpenedSession, openSession, sessionChanges, sessionUsage } from "../sessions.ts";
import { listFolder, readWorkspaceFile, trustedWorkspace } from "../workspaces.ts";
import { anything, failures, itemsOf, successReplies } from "./rest-shapes.ts";

const maxEvents = 10_000;
const sessionId = v.pipe(v.string(), v.regex(/^[\w-]{4,}$/, "is not an id."));
const number = (otherwise: string) =>
  v.optional(v.pipe(v.string(), v.regex(/^\d{1,9}$/, "must be a number.")), otherwise);

export const studioSessionRoutes: readonly Route[] = [
  route({
    method: "get",
    path: "/api/agents",
    summary: "The installed agent CLIs, with their versions and capabilities",
    replies: successReplies("CLIs", itemsOf(anything)),
    handle: async ({ context }) => ({ body: { items: await installedClis(context) } }),
  }),
  route({
    method: "get",
    path: "/api/sessions",
    summary:
      "Sessions of all agents on this machine, newest first; with `search`, those with these words; `since` in seconds",
    query: v.object({
      agent: v.optional(v.picklist(cliNames)),
      state: v.optional(v.picklist(sessionStates)),
      project: v.optional(v.pipe(v.string(), v.maxLength(4096))),
      since: number("0"),
      search: v.optional(v.pipe(v.string(), v.maxLength(500))),
      limit: number("100"),
    }),
    replies: successReplies(
      "Sessions, and the projects to filter by",
      v.object({ items: v.array(listedSession), projects: v.array(v.string()) }),
      400,
    ),
    async handle({ context, query: { agent, state, project, since, search, limit } }) {
      const found = await sessionList(context, {
        limit: Math.min(5000, Number(limit)),
        since: Number(since) * 1000,
        ...(agent && { agent }),
        ...(state && { state }),
        ...(project && { project }),
        ...(search?.trim() && { search }),
      });
      return { body: found };
    },
  }),
  route({
    method: "post",
    path: "/api/sessions/summaries",
    summary: "What sessions came to: cost, time, changes, last words. By POST, since there may be many",
    body: v.strictObject({
      sessions: v.pipe(
        v.array(v.strictObject({ tool: v.picklist(sessionTools), id: sessionId, updatedAt: v.number() })),
        v.maxLength(100, "may be 100."),
      ),
    }),
    replies: successReplies("One for each, in their order; null: unreadable", itemsOf(v.nullable(anything)), 400),
    async handle({ context, body }) {
      const items = [];
      for (const session of body.sessions) items.push((await summarizeSession(context, session)) ?? null);
      return { body: { items } };
    },
  }),
  route({
    method: "get",
    path: "/api/days",
    summary: "Sessions, cost and time of the last days, the oldest first",
    query: v.object({ count: v.optional(v.pipe(v.string(), v.regex(/^[1-9]\d?$/, "must be 1 to 99.")), "14") }),
    replies: successReplies("Days", itemsOf(anything), 400),
    handle: async ({ context, query }) => ({
      body: { items: await figuresByDay(context, Number(query.count)) },
    }),
  }),
  route({
    method: "get",
    path: "/api/sessions/:tool/:id",
    summary:
      "A session: its metadata, and its turns in figures; with `pictures`, also those of prompts, by turn, and of results, by call",
    query: v.object({ pictures: v.optional(v.picklist(["1"])) }),
    replies: successReplies("The session", anything, 400, 404),
    async handle({ context, params, query }) {
      const session = await openRequestedSession(context, params);
      const { turns, path: _path, ...details } = session;
      const total = turns.reduce((sum, { events }) => sum + events.length, 0);
      const owner = await ownerOf(context, session);
      const pictures = query.pictures && (await sessionPictures(context.env, session.tool, session.id));
      return { body: { ...details, ...owner, turns: sessionUsage(session), total, ...(pictures && { pictures }) } };
    },
  }),
  route({
    method: "get",
    path: "/api/sessions/:tool/:id/events",
    summary:
      "What happened in a session, a page at a time, from an event or a turn on; with `last`, the turns at its end that have so many events",
    query: v.object({
      from: number("0"),
      turn: number("0"),
      limit: number("500"),
      last: v.optional(v.pipe(v.string(), v.regex(/^[1-9]\d{0,5}$/, "must be a number."))),
    }),
    replies: {
      200: {
        description: "Events",
        schema: v.object({
          items: v.array(v.object({ index: v.number(), turn: v.number(), event: anything })),
          total: v.optional(v.number()),
          next: v.optional(v.number()),
          hasEarlier: v.optional(v.boolean()),
        }),
      },
      ...failures(400, 404),
    },
    async handle({ context, params, query }) {
      const { from, turn, limit, last } = query;
      if (last) {
        const { tool, id } = knownSession(params);
        return { body: await lastEvents(context.env, tool, id, Math.min(maxEvents, Number(last))) };
      }
      const wanted = { from: Number(from), turn: Number(turn), limit: Math.min(maxEvents, Number(limit)) };
      const page = eventsPage(await openRequestedSession(context, params), wanted);
      return { body: page };
    },
  }),
  route({
    method: "get",
    path: "/api/sessions/:tool/:id/changes",
    summary:
      "What a session changed, by file; with `turn`, what that turn did; with `commands`, also what commands did, as snapshots show it; with `now` beside it, also what has changed on the disk since",
    query: v.object({
      turn: v.optional(v.pipe(v.string(), v.regex(/^\d{1,9}$/, "must be a number."))),
      commands: v.optional(v.picklist(["1"])),
      now: v.optional(v.picklist(["1"])),
    }),
    replies: successReplies(
      "Files; `more`: how many others there are; `since`: how many differ since the session was over",
      v.object({ items: v.array(anything), more: v.optional(v.number()), since: v.optional(v.number()) }),
      400,
      404,
    ),
    async handle({ context, params, query }) {
      const session = await openRequestedSession(context, params);
      const turn = query.turn === undefined ? undefined : Number(query.turn);
      const whole =
        query.commands && turn === undefined ? await commandChanges(context, session, query.now) : undefined;
      if (whole) return { body: whole };
      return { body: { items: sessionChanges(session, turn) } };
    },
  }),
  route({
    method: "get",
    path: "/api/sessions/:tool/:id/export",
    summary: "A chat as a file: markdown, json, stream-json, html or atif",
    query: v.object({ format: v.optional(v.picklist(exportFormats), "markdown") }),
    replies: { 200: { description: "The file, to be saved", type: "application/octet-stream" }, ...failures(400, 404) },
    async handle({ context, params, query }) {
      const id = ownChat(params);
      const record = readChat(findChat(context.configDir, id, ""), { events: true });
      const exporter = await exporters[query.format as ExportFormat]();
      const ending = { markdown: "md", json: "json", "stream-json": "jsonl", html: "html", atif: "atif.json" }[
        query.format as ExportFormat
      ];
      const text = [...exporter(record)].join("");
      return { file: { name: `${id}.${ending}`, type: "application/octet-stream", text } };
    },
  }),
  ownCommand({
    method: "patch",
    path: "/api/sessions/:tool/:id",
    summary: "Rename a chat of ours",
    body: v.strictObject({ title: v.pipe(v.string(), v.trim(), v.nonEmpty("must not be empty."), v.maxLength(200)) }),
    words: (id, { title }) => ["rename", id, "--", title],
  }),
  ownCommand({
    method: "delete",
    path: "/api/sessions/:tool/:id",
    summary: "Delete a chat of ours, with its transcript and snapshots",
    body: v.strictObject({}),
    words: (id) => ["delete", id, "--yes"],
  }),
  ownCommand({
    method: "post",
    path: "/api/sessions/:tool/:id/fork",
    summary: "Copy a chat of ours; with `turn`, without what came after it",
    body: v.strictObject({ turn: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))) }),
    words: (id, { turn }) => ["fork", id, ...(turn === undefined ? [] : ["--at", String(turn)])],
  }),
  ownCommand({
    method: "post",
    path: "/api/sessions/:tool/:id/rewind",
    summary: "Rewind a chat of ours, and the files it changed, to before a turn; with `file`, that file alone",
    body: v.strictObject({
      turn: v.pipe(v.number(), v.integer(), v.minValue(1)),
      conversationOnly: v.optional(v.boolean()),
      file: v.optional(v.pipe(v.string(), v.nonEmpty("must not be empty."), v.maxLength(4096))),
    }),
    words: (id, { turn, conversationOnly, file }) => [
      ...["rewind", id, "--to", String(turn), "--yes"],
      ...(conversationOnly ? ["--conversation-only"] : []),
      ...(file === undefined ? [] : [`--file=${file}`]),
    ],
  }),
  ownCommand({
    method: "post",
    path: "/api/sessions/:tool/:id/rewind/undo",
    summary: "Restore the files that the last rewind of a chat of ours changed",
    body: v.strictObject({}),
    words: (id) => ["rewind", id, "--undo", "--yes"],
  }),
  route({
    method: "get",
    path: "/api/workspaces",
    summary: "Directories in which runs may be started: the trusted ones. `startedIn`: where the service was started",
    replies: successReplies(
      "Real paths",
      v.object({ items: v.array(v.string()), isFleet: v.boolean(), startedIn: v.string() }),
    ),
    async handle({ context: { configDir, fleetUrl, startedIn, env } }) {
      const items = trustedFolders(configDir);
      // Do not offer the home folder as a workspace unless it is the only one.
      const isOffered = items.length === 0 || items.includes(startedIn) || !isWide(startedIn, homeDir(env));
      return { body: { items, isFleet: fleetUrl !== undefined, startedIn: isOffered ? startedIn : items[0]! } };
    },
  }),
  route({
    method: "post",
    path: "/api/workspaces/trust",
    summary: "Trust the directory in which the service was started, and no other",
    body: v.strictObject({ workspace: v.string() }),
    replies: successReplies("It is trusted", anything, 400, 403),
    async handle({ context: { configDir, startedIn, env }, body: { workspace } }) {
      if (workspace !== startedIn || isWide(startedIn, homeDir(env)))
        throw new HttpError(
          403,
          "forbidden",
          `Only the directory in which the service was started can be trusted here. In a terminal: cd there, and ${programName()} trust add`,
        );
      trust(configDir, startedIn);
      return { body: { workspace } };
    },
  }),
  route({
    method: "post",
    path: "/api/files/list",
    summary: "A directory in a trusted workspace. By POST, so that no path appears in a URL",
    body: v.strictObject({ workspace: v.string(), path: v.optional(v.string(), ".") }),
    replies: successReplies("Entries", itemsOf(anything), 400, 403),
    async handle({ context, body }) {
      return {
        body: { items: listFolder(trustedWorkspace(context.configDir, body.workspace), body.path) },
      };
    },
  }),
  route({
    method: "post",
    path: "/api/files/read",
    summary: "A file in a trusted workspace",
    body: v.strictObject({ workspace: v.string(), path: v.string() }),
    replies: successReplies(
      "The file",
      v.object({ text: v.string(), bytes: v.number(), isCut: v.boolean() }),
      400,
      403,
    ),
    async handle({ context, body }) {
      return { body: readWorkspaceFile(trustedWorkspace(context.configDir, body.workspace), body.path) };
    },
  }),
];

/** Reads the snapshots with a command of this program. Returns undefined if there are none or they cannot be read. */
async function commandChanges(context: ServeContext, { tool, id, workspace }: OpenedSession, now: "1" | undefined) {
  if (tool !== "cursor" || workspace === undefined) return undefined;
  const command = [...context.program, "sessions", "changes", id, "--format", "json", ...(now ? ["--now"] : [])];
  const limits = { timeoutMs: 20_000, keepBytes: 64 * 1024 * 1024 };
  const end = await runProgram({ command, cwd: "/", env: context.env, ...limits });
  if (end.exitCode !== 0 || end.isCut) return undefined;
  return JSON.parse(end.stdout.toString("utf8")) as { items: FileChange[]; more: number; since: number };
}

/** Creates a route that runs a command of this program, so that the same rules apply as on the command line. */
// biome-ignore lint/suspicious/noExplicitAny: routes of different shapes stand in one table
function ownCommand<Body extends v.GenericSchema<any, any>>({
  words,
  ...rest
}: Pick<Route, "method" | "path" | "summary"> & {
  body: Body;
  words(id: string, body: v.InferOutput<Body>): string[];
}): Route {
  return route({
    ...rest,
    replies: successReplies("Done, with the response", v.object({ text: v.string() }), 400, 404, 409),
    async handle({ context, params, body }) {
      const id = ownChat(params);
      const { workspace } = readChat(findChat(context.configDir, id, "")).metadata;
      const text = await ownProgram(context, ["sessions", ...words(id, body as v.InferOutput<Body>)], workspace);
      return { body: { text } };
    },
  });
}

/** Returns the chat's id. Throws for sessions of other CLIs, which can be read and resumed here but not changed. */
function ownChat({ tool, id = "" }: Record<string, string>): string {
  if (!isChatId(id)) throw new HttpError(404, "not_found", "There is no such session.");
  if (tool === "cursor") return id;
  throw new HttpError(
    409,
    "not_ours",
    `A session of ${tool} can be read and resumed here, but only ${tool} can change it.`,
  );
}

async function openRequestedSession(context: ServeContext, params: Record<string, string>): Promise<OpenedSession> {
  const { tool, id } = knownSession(params);
  return openSession(context.env, tool, id);
}

function knownSession({ tool, id = "" }: Record<string, string>) {
  const existing = sessionTools.find((each) => each === tool);
  if (!existing || !/^[\w-]{4,}$/.test(id)) throw new HttpError(404, "not_found", "There is no such session.");
  return { tool: existing, id };
}
