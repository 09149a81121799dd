// Generates the OpenAPI document from the table of routes, so that it matches what is checked and sent.
import { toJsonSchema } from "@valibot/to-json-schema";
import type { Route, Schema } from "./route.ts";

export function openApi(routes: readonly Route[], version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.path.replace(/:([a-zA-Z]+)/g, "{$1}");
    paths[path] = { ...paths[path], [route.method]: operation(route) };
  }
  return {
    openapi: "3.1.0",
    info: { title: "Courser", version, description: "Runs and sessions of agent CLIs on this machine." },
    security: [{ token: [] }, { basic: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "The token in serve.json." },
        basic: { type: "http", scheme: "basic", description: "The token is sent as the user name." },
      },
    },
  };
}

function operation({ method, path, summary, query, body, replies }: Route): object {
  const names = [...path.matchAll(/:([a-zA-Z]+)/g)].map((match) => match[1]!);
  const fields = Object.entries((query?.entries ?? {}) as Record<string, Schema>);
  const common = { 401: "A token is needed", 403: "Wrong host, origin or site" };
  const shared = Object.entries(common).filter(([code]) => !(Number(code) in replies));
  return {
    operationId: `${method}${path.replace(/[^a-zA-Z]+(.)?/g, (_all, next: string | undefined) => next?.toUpperCase() ?? "")}`,
    summary,
    parameters: [
      ...names.map((name) => ({ name, in: "path", required: true, schema: { type: "string" } })),
      ...fields.map(([name, schema]) => ({ name, in: "query", required: false, schema: jsonSchema(schema) })),
    ],
    ...(body && { requestBody: { required: true, content: { "application/json": { schema: jsonSchema(body) } } } }),
    responses: {
      ...Object.fromEntries(shared.map(([code, description]) => [code, { description }])),
      ...Object.fromEntries(
        Object.entries(replies).map(([code, { description, schema, type }]) => [
          code,
          {
            description,
            content: { [type ?? "application/json"]: { schema: schema ? jsonSchema(schema) : { type: "string" } } },
          },
        ]),
      ),
    },
  };
}

function jsonSchema(schema: Schema): object {
  const { $schema: _dialect, ...rest } = toJsonSchema(schema, { errorMode: "ignore" });
  return rest;
}
