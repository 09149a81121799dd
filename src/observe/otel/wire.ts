// OTLP as JSON: the request bodies for a collector's /v1/traces and /v1/metrics.

export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Record<string, AttributeValue | undefined>;

export type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  name: string;
  kind: 1 | 3; // 1 means internal, 3 means client
  startMs: number;
  endMs: number;
  attributes: Attributes;
  /** Why the operation failed. If absent, the status stays unset. */
  failure?: string;
};

export type Scope = { name: string; version: string };

/** The version of the semantic conventions that names and attributes follow. */
const schemaUrl = "https://opentelemetry.io/schemas/1.41.0";

export function tracesBody(spans: readonly Span[], resource: Attributes, scope: Scope): object {
  return {
    resourceSpans: [
      { resource: { attributes: keyValues(resource) }, scopeSpans: [{ scope, spans: spans.map(spanBody), schemaUrl }] },
    ],
  };
}

function spanBody({ startMs, endMs, attributes, failure, parentSpanId, ...span }: Span): object {
  return {
    ...span,
    ...(parentSpanId !== undefined && { parentSpanId }),
    startTimeUnixNano: nanoseconds(startMs),
    endTimeUnixNano: nanoseconds(Math.max(startMs, endMs)),
    attributes: keyValues(attributes),
    status: failure === undefined ? {} : { code: 2, message: failure },
  };
}

export function metricsBody(metrics: readonly object[], resource: Attributes, scope: Scope): object {
  return {
    resourceMetrics: [{ resource: { attributes: keyValues(resource) }, scopeMetrics: [{ scope, metrics, schemaUrl }] }],
  };
}

/** Converts a time to nanoseconds, as a string: OTLP writes 64-bit numbers as strings in JSON. */
export function nanoseconds(ms: number): string {
  return `${BigInt(Math.round(ms)) * 1_000_000n}`;
}

export function keyValues(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: anyValue(value) }],
  );
}

function anyValue(value: AttributeValue): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  return { arrayValue: { values: value.map((each) => ({ stringValue: each })) } };
}
