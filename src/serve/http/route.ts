// Defines routes as data: the shape of a request, its replies and its handler. Hono, the checks and
// the OpenAPI document read the same table.

import type { ServerResponse } from "node:http";
import { Hono } from "hono";
import * as v from "valibot";
import { isObject, type JsonObject } from "../../json/object.ts";
import { type ErrorCode, UserError } from "../../protocol/error-codes.ts";
import { parseJsonOnce } from "../../store/json-file.ts";
import { shownValue } from "../../text/one-line.ts";
import type { ServeContext } from "../context.ts";
import { EventStream } from "./event-stream.ts";

// biome-ignore lint/suspicious/noExplicitAny: routes of different shapes stand in one table
export type Schema = v.GenericSchema<any, any>;
export type Method = "get" | "post" | "patch" | "delete";

/** `schema` describes the JSON that is sent. `type` is set if the reply is not JSON. */
export type Reply = { description: string; schema?: Schema; type?: string };

export type Call<Query, Body> = {
  context: ServeContext;
  params: Record<string, string>;
  query: Query;
  body: Body;
  lastEventId: string | undefined;
  /** Aborted when the client has disconnected. */
  signal: AbortSignal;
};

/** `status` is 200 by default. `name` is the file name for a download. */
export type HttpAnswer =
  | { status?: number; body?: unknown }
  | { stream(events: EventStream): Promise<void> }
  | { file: { name?: string; type: string; text: string } };

export type Route = {
  method: Method;
  /** The path of the route, with `:name` for variable parts. */
  path: string;
  summary: string;
  // biome-ignore lint/suspicious/noExplicitAny: routes of different shapes stand in one table
  query?: v.ObjectSchema<any, any>;
  body?: Schema;
  /** Checks the body before its schema does, for requests that have an error of their own. */
  refuse?(body: JsonObject, context: ServeContext): void;
  replies: Readonly<Record<number, Reply>>;
  // biome-ignore lint/suspicious/noExplicitAny: routes of different shapes stand in one table
  handle(call: Call<any, any>): Promise<HttpAnswer>;
};

type Shaped<Query, Body> = Omit<Route, "query" | "body" | "handle"> & {
  query?: Query;
  body?: Body;
  handle(
    call: Call<
      Query extends Schema ? v.InferOutput<Query> : Record<string, never>,
      Body extends Schema ? v.InferOutput<Body> : undefined
    >,
  ): Promise<HttpAnswer>;
};

export function route<
  // biome-ignore lint/suspicious/noExplicitAny: routes of different shapes stand in one table
  Query extends v.ObjectSchema<any, any> | undefined = undefined,
  Body extends Schema | undefined = undefined,
>(shaped: Shaped<Query, Body>): Route {
  return shaped as unknown as Route;
}

/** A request's connection, and its body as text. */
export type Exchange = { outgoing: ServerResponse; body: string; signal: AbortSignal; isSent: boolean };

export type App = Hono<{ Bindings: Exchange }>;

export function createApp(routes: readonly Route[], context: ServeContext): App {
  const app: App = new Hono();
  for (const each of routes) {
    app.on(each.method.toUpperCase(), each.path, async (c) => {
      const query = each.query ? parsed(each.query, c.req.query(), "the query") : {};
      const parsedBody = each.body ? jsonIn(c.env.body) : undefined;
      if (isObject(parsedBody)) each.refuse?.(parsedBody, context);
      const body = each.body ? parsed(each.body, parsedBody, "the body") : undefined;
      const answer = await each.handle({
        context,
        params: c.req.param() as Record<string, string>,
        query,
        body,
        lastEventId: c.req.header("last-event-id"),
        signal: c.env.signal,
      });
      if ("stream" in answer) {
        c.env.isSent = true;
        const events = new EventStream(c.env.outgoing, c.env.signal);
        try {
          await answer.stream(events);
        } finally {
          events.close();
        }
        return c.body(null);
      }
      if ("file" in answer) {
        const { name, type, text } = answer.file;
        c.header("Content-Type", type);
        if (name !== undefined) c.header("Content-Disposition", `attachment; filename="${name}"`);
        return c.body(text);
      }
      const { body: sent, status = 200 } = answer;
      return sent === undefined ? c.body(null, status as 204) : c.json(sent, status as 200);
    });
  }
  app.notFound((c) => {
    const others = routes.filter(({ path }) => matches(path, c.req.path)).map(({ method }) => method.toUpperCase());
    if (others.length === 0) return c.json(errorBody("not_found", "There is nothing at this path."), 404);
    c.header("Allow", others.join(", "));
    return c.json(errorBody("method_not_allowed", `This path takes ${others.join(", ")}.`), 405);
  });
  app.onError((error, c) => {
    const { status, code, message } = errorReply(error);
    return c.json(errorBody(code, message), status as 400);
  });
  return app;
}

export class HttpError extends UserError {
  readonly status: number;
  readonly problem: string;

  constructor(status: number, name: string, message: string) {
    super("USAGE", message);
    this.status = status;
    this.problem = name;
  }
}

export function errorBody(code: string, message: string): { error: { code: string; message: string } } {
  return { error: { code, message } };
}

/** The HTTP status and code for each kind of user error; all others are answered with 400. */
const statuses: Readonly<Partial<Record<ErrorCode, [status: number, code: string]>>> = {
  RUN_NOT_FOUND: [404, "not_found"],
  SESSION_NOT_FOUND: [404, "not_found"],
  AGENT_BUSY: [409, "agent_busy"],
  AGENT_ARCHIVED: [409, "agent_archived"],
  RUN_OVER: [409, "run_over"],
  QUESTION_CLOSED: [409, "question_closed"],
  UNTRUSTED: [403, "untrusted_workspace"],
  STORE_LOCKED: [503, "busy"],
  STORE_FULL: [507, "disk_full"],
  NOT_SUPPORTED: [501, "not_supported"],
};

export function errorReply(error: unknown): { status: number; code: string; message: string } {
  if (error instanceof HttpError) return { status: error.status, code: error.problem, message: error.message };
  if (!(error instanceof UserError)) {
    const message = error instanceof Error ? error.message : String(error);
    return { status: 500, code: "internal", message: `Unexpected failure, please report it: ${message}` };
  }
  const [status, code] = statuses[error.code] ?? [400, error.code.toLowerCase()];
  return { status, code, message: error.message };
}

function parsed(schema: Schema, value: unknown, what: string): unknown {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const path = issue.path?.map(({ key }) => String(key)).join(".");
  if (issue.type === "strict_object" && path && issue.expected === "never")
    throw new HttpError(400, "invalid_request", `${what} has an unknown field "${path}".`);
  const where = path ? `${what}: ${path}` : what;
  if (issue.received === "undefined") throw new HttpError(400, "invalid_request", `${where} is missing.`);
  // The library's own messages have no full stop and name the received value.
  const was = issue.message.endsWith(".") ? ` It was ${shownValue(issue.input)}.` : ".";
  throw new HttpError(400, "invalid_request", `${where}: ${issue.message}${was}`);
}

function jsonIn(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return parseJsonOnce(text);
  } catch (error) {
    throw new HttpError(400, "invalid_json", `The body is not JSON: ${(error as Error).message}`);
  }
}

function matches(pattern: string, path: string): boolean {
  return new RegExp(`^${pattern.replace(/:[a-zA-Z]+/g, "[^/]+")}$`).test(path);
}
