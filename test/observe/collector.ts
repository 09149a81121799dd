// A collector of OpenTelemetry on loopback that takes nothing but what OTLP's JSON allows.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";

export type ReceivedSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  name: string;
  kind: number;
  attributes: Record<string, unknown>;
  status: { code?: number; message?: string };
};

export type Collector = {
  url: string;
  spans: ReceivedSpan[];
  /** Data points by the name of their metric. */
  metrics: Record<string, { attributes: Record<string, unknown>; [field: string]: any }[]>;
  resources: Record<string, unknown>[];
  headers: Record<string, unknown>[];
  /** What was not as it should be. */
  faults: string[];
  text: string;
  stop(): Promise<void>;
};

type Answer = { status?: number; headers?: Record<string, string>; body?: string };

/** `status`: what it answers to everything. `first`: what it answers to the first requests, which it does not take. */
export async function collector({
  status = 200,
  silent = false,
  body = "{}",
  first = [] as Answer[],
} = {}): Promise<Collector> {
  const taken: Omit<Collector, "url" | "stop"> = {
    spans: [],
    metrics: {},
    resources: [],
    headers: [],
    faults: [],
    text: "",
  };
  const server = createServer((message, response) => {
    const pieces: Buffer[] = [];
    message.on("data", (piece: Buffer) => pieces.push(piece));
    message.on("end", () => {
      const sent = Buffer.concat(pieces);
      const text = (message.headers["content-encoding"] === "gzip" ? gunzipSync(sent) : sent).toString("utf8");
      taken.headers.push(message.headers);
      const refusal = first.shift();
      if (refusal) {
        response.writeHead(refusal.status ?? 503, refusal.headers).end(refusal.body);
        return;
      }
      taken.text += text;
      if (message.method !== "POST" || message.headers["content-type"] !== "application/json")
        taken.faults.push(`${message.method} ${message.headers["content-type"]}`);
      if (message.url === "/v1/traces") takeTraces(JSON.parse(text), taken);
      else if (message.url === "/v1/metrics") takeMetrics(JSON.parse(text), taken);
      else taken.faults.push(`nothing is taken at ${message.url}`);
      if (!silent) response.writeHead(status, { "content-type": "application/json" }).end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return Object.assign(taken, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop });
}

type Taken = Omit<Collector, "url" | "stop">;

function takeTraces(body: any, taken: Taken): void {
  only(body, ["resourceSpans"], taken);
  for (const { resource, scopeSpans, ...rest } of body.resourceSpans) {
    only(rest, ["schemaUrl"], taken);
    taken.resources.push(attributesOf(resource.attributes, taken));
    for (const { scope, spans, ...more } of scopeSpans) {
      only(more, ["schemaUrl"], taken);
      only(scope, ["name", "version"], taken);
      for (const span of spans) takeSpan(span, taken);
    }
  }
}

const spanFields = [
  "traceId",
  "spanId",
  "parentSpanId",
  "traceState",
  "name",
  "kind",
  "startTimeUnixNano",
  "endTimeUnixNano",
  "attributes",
  "status",
];

function takeSpan(span: any, taken: Taken): void {
  only(span, spanFields, taken);
  const {
    traceId,
    spanId,
    parentSpanId,
    traceState,
    name,
    kind,
    startTimeUnixNano: start,
    endTimeUnixNano: end,
    status,
  } = span;
  check(/^[0-9a-f]{32}$/.test(traceId) && !/^0+$/.test(traceId), `traceId ${traceId}`, taken);
  for (const id of [spanId, ...(parentSpanId === undefined ? [] : [parentSpanId])])
    check(/^[0-9a-f]{16}$/.test(id) && !/^0+$/.test(id), `spanId ${id}`, taken);
  check(typeof name === "string" && name !== "", `name ${name}`, taken);
  check([1, 2, 3, 4, 5].includes(kind), `kind ${kind}`, taken);
  for (const time of [start, end]) check(typeof time === "string" && /^\d{19}$/.test(time), `time ${time}`, taken);
  check(BigInt(end) >= BigInt(start), `${name} ends before it begins`, taken);
  only(status, ["code", "message"], taken);
  check([undefined, 0, 1, 2].includes(status.code), `status ${status.code}`, taken);
  taken.spans.push({
    traceId,
    spanId,
    parentSpanId,
    traceState,
    name,
    kind,
    status,
    attributes: attributesOf(span.attributes, taken),
  });
}

function takeMetrics(body: any, taken: Taken): void {
  only(body, ["resourceMetrics"], taken);
  for (const { resource, scopeMetrics } of body.resourceMetrics) {
    taken.resources.push(attributesOf(resource.attributes, taken));
    for (const { metrics } of scopeMetrics)
      for (const metric of metrics) {
        only(metric, ["name", "description", "unit", "histogram", "sum"], taken);
        const data = metric.histogram ?? metric.sum;
        check(data.aggregationTemporality === 1 || data.aggregationTemporality === 2, "aggregationTemporality", taken);
        check(!metric.sum || data.isMonotonic === true, "isMonotonic", taken);
        for (const point of data.dataPoints) takePoint(metric, point, data.aggregationTemporality, taken);
      }
  }
}

function takePoint(metric: any, point: any, temporality: number, taken: Taken): void {
  for (const time of [point.startTimeUnixNano, point.timeUnixNano])
    check(typeof time === "string" && /^\d{19}$/.test(time), `time ${time}`, taken);
  if (metric.histogram) {
    const { count, bucketCounts, explicitBounds } = point;
    check(bucketCounts.length === explicitBounds.length + 1, "one bucket more than bounds", taken);
    check(
      bucketCounts.every((each: unknown) => typeof each === "string"),
      "counts are text",
      taken,
    );
    const whole = bucketCounts.reduce((sum: number, each: string) => sum + Number(each), 0);
    check(typeof count === "string" && whole === Number(count), `buckets hold ${whole} of ${count}`, taken);
  } else check(typeof point.asInt === "string", "asInt is text", taken);
  const attributes = attributesOf(point.attributes, taken);
  (taken.metrics[metric.name] ??= []).push({ ...point, attributes, temporality });
}

function attributesOf(list: any, taken: Taken): Record<string, unknown> {
  check(Array.isArray(list), "attributes are a list", taken);
  return Object.fromEntries(
    list.map(({ key, value }: any) => {
      const [[kind, inner]] = Object.entries(value) as [[string, any]];
      check(Object.keys(value).length === 1, `${key} has one value`, taken);
      if (kind === "intValue") check(typeof inner === "string" && /^-?\d+$/.test(inner), `${key}: int is text`, taken);
      const known = ["stringValue", "intValue", "doubleValue", "boolValue", "arrayValue"];
      check(known.includes(kind), `${key}: ${kind}`, taken);
      const read =
        kind === "intValue"
          ? Number(inner)
          : kind === "arrayValue"
            ? inner.values.map((each: any) => each.stringValue)
            : inner;
      return [key, read];
    }),
  );
}

function only(value: object, names: readonly string[], taken: Taken): void {
  for (const name of Object.keys(value)) check(names.includes(name), `unknown field ${name}`, taken);
}

function check(isGood: boolean, what: string, taken: Taken): void {
  if (!isGood) taken.faults.push(what);
}
