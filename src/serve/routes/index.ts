// The table of all routes of the service.

import { fleetMetrics, fleetStatus } from "../fleet-status.ts";
import { type Route, route } from "../http/route.ts";
import { metricsType } from "../worker/stats.ts";
import { restRoutes } from "./rest.ts";
import { anything, successReplies } from "./rest-shapes.ts";
import { studioRunRoutes } from "./studio-runs.ts";
import { studioSessionRoutes } from "./studio-sessions.ts";
import { studioSettingRoutes } from "./studio-settings.ts";

const described: readonly Route[] = [...restRoutes, ...studioRunRoutes, ...studioSessionRoutes, ...studioSettingRoutes];

export const routes: readonly Route[] = [
  ...described,
  route({
    method: "get",
    path: "/metrics",
    summary: "The queue, the workers and the streams of the fleet, for Prometheus",
    replies: { 200: { description: "Metrics", type: metricsType } },
    handle: async ({ context: { fleet } }) => ({
      file: { type: metricsType, text: fleetMetrics(await fleetStatus(fleet)) },
    }),
  }),
  route({
    method: "get",
    path: "/openapi.json",
    summary: "This document",
    replies: successReplies("OpenAPI 3.1", anything),
    async handle({ context: { version } }) {
      const { openApi } = await import("../http/open-api.ts");
      return { body: openApi(routes, version) };
    },
  }),
];
