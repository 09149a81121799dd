// Everything that the service answers, in one table.

import * as v from "valibot";
import { type Route, route } from "../http/route.ts";
import { restRoutes } from "./rest.ts";
import { studioRunRoutes } from "./studio-runs.ts";
import { studioSessionRoutes } from "./studio-sessions.ts";

const described: readonly Route[] = [...restRoutes, ...studioRunRoutes, ...studioSessionRoutes];

export const routes: readonly Route[] = [
  ...described,
  route({
    method: "get",
    path: "/openapi.json",
    summary: "This document",
    replies: { 200: { description: "OpenAPI 3.1", schema: v.record(v.string(), v.unknown()) } },
    async handle({ context: { version } }) {
      const { openApi } = await import("../http/open-api.ts");
      return { status: 200, body: openApi(routes, version) };
    },
  }),
];
