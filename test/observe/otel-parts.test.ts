// The variables of OpenTelemetry as they are read, and the shapes that a collector is sent.
import { describe, expect, it } from "vitest";
import { type OtelSettings, readOtelSettings } from "../../src/observe/otel/settings.ts";
import { keyValues, metricsBody, nanoseconds, type Span, tracesBody } from "../../src/observe/otel/wire.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318" };
const read = (env: Record<string, string> = {}): OtelSettings => readOtelSettings({ ...endpoint, ...env })!;

describe("OpenTelemetry settings", () => {
  it("without an OpenTelemetry endpoint, or switched off, nothing is sent", () => {
    expect(readOtelSettings({})).toBeUndefined();
    expect(readOtelSettings({ ...endpoint, OTEL_SDK_DISABLED: "TRUE" })).toBeUndefined();
    expect(read({ OTEL_SDK_DISABLED: "false" }).traces).toBeDefined();
    expect(
      readOtelSettings({ ...endpoint, OTEL_TRACES_EXPORTER: "none", OTEL_METRICS_EXPORTER: "none" }),
    ).toBeUndefined();
  });

  it("with an OpenTelemetry endpoint, traces and metrics are sent there in the usual way", () => {
    const target = { headers: {}, timeoutMs: 10_000, compress: false };
    expect(read()).toEqual({
      traces: { url: "http://c:4318/v1/traces", ...target },
      metrics: { url: "http://c:4318/v1/metrics", ...target },
      resource: { "service.name": "courser" },
      captureContent: false,
      isDelta: false,
      scheduleMs: 5000,
      ratio: 1,
      isParentBased: true,
      warnings: [],
    });
  });

  it("OpenTelemetry settings of one signal override the common ones", () => {
    const settings = read({
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://c:4318/base//",
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://t/x",
      OTEL_EXPORTER_OTLP_HEADERS: "a=1, b = two%20words ,c=%zz,none",
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: "a=2",
      OTEL_EXPORTER_OTLP_TIMEOUT: "500",
      OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: "-1",
      OTEL_EXPORTER_OTLP_METRICS_COMPRESSION: "gzip",
    });
    expect(settings.traces).toEqual({
      url: "https://t/x",
      headers: { a: "1", b: "two words", c: "%zz" },
      timeoutMs: 10_000,
      compress: false,
    });
    expect(settings.metrics).toEqual({
      url: "http://c:4318/base/v1/metrics",
      headers: { a: "2", b: "two words", c: "%zz" },
      timeoutMs: 500,
      compress: true,
    });
  });

  it.each<[Record<string, string>, Partial<OtelSettings>]>([
    [
      { OTEL_SERVICE_NAME: "x", OTEL_RESOURCE_ATTRIBUTES: "service.name=y,team=z" },
      { resource: { "service.name": "x", team: "z" } },
    ],
    [{ OTEL_RESOURCE_ATTRIBUTES: "service.name=y" }, { resource: { "service.name": "y" } }],
    [{ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "true" }, { captureContent: true }],
    [{ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "1" }, { captureContent: true }],
    [{ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "span_only" }, { captureContent: true }],
    [{ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "SPAN_AND_EVENT" }, { captureContent: true }],
    [{ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: "event_only" }, { captureContent: false }],
    [{ OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "Delta" }, { isDelta: true }],
    [{ OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: "cumulative" }, { isDelta: false }],
    [{ OTEL_BSP_SCHEDULE_DELAY: "100" }, { scheduleMs: 100 }],
    [{ OTEL_BSP_SCHEDULE_DELAY: "1" }, { scheduleMs: 1 }],
    [{ OTEL_BSP_SCHEDULE_DELAY: "0" }, { scheduleMs: 5000 }],
    [{ OTEL_TRACES_SAMPLER: "always_on" }, { ratio: 1, isParentBased: false }],
    [{ OTEL_TRACES_SAMPLER: "always_off" }, { ratio: 0, isParentBased: false }],
    [{ OTEL_TRACES_SAMPLER: "parentbased_always_off" }, { ratio: 0, isParentBased: true }],
    [
      { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.25" },
      { ratio: 0.25, isParentBased: false },
    ],
    [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "0" }, { ratio: 0 }],
    [
      { OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "1" },
      { ratio: 1, warnings: [] },
    ],
    [{ OTEL_TRACES_SAMPLER: "traceidratio" }, { ratio: 1, warnings: [] }],
  ])("the OpenTelemetry settings %j are read", (env, expected) => {
    expect(read(env)).toMatchObject(expected);
  });

  it.each<[Record<string, string>, string]>([
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc is not supported: set it to http/json"],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" }, "http/json is sent instead"],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "c:4318" }, "is not an http(s) URL. No traces are sent."],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://" }, "is not an http(s) URL. No metrics are sent."],
    [
      { OTEL_EXPORTER_OTLP_COMPRESSION: "zstd" },
      "OTEL_EXPORTER_OTLP_COMPRESSION=zstd is not supported: nothing is compressed.",
    ],
    [{ OTEL_TRACES_EXPORTER: "zipkin,otlp" }, "OTEL_TRACES_EXPORTER=zipkin,otlp: zipkin is not supported"],
    [{ OTEL_METRICS_EXPORTER: "prometheus" }, "OTEL_METRICS_EXPORTER=prometheus: prometheus is not supported"],
    [
      { OTEL_TRACES_SAMPLER: "jaeger_remote" },
      "OTEL_TRACES_SAMPLER=jaeger_remote is not supported: every trace is sent.",
    ],
    [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" }, "every trace is sent"],
    [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "-1" }, "every trace is sent"],
  ])("the OpenTelemetry settings %j give a warning", (env, warning) => {
    expect(read(env).warnings.join("\n")).toContain(warning);
  });

  it("when one kind of telemetry cannot be sent, the others are still sent", () => {
    expect(read({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" })).not.toHaveProperty("traces");
    expect(read({ OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf" }).traces).toBeDefined();
    expect(read({ OTEL_METRICS_EXPORTER: "prometheus" })).not.toHaveProperty("metrics");
    expect(read({ OTEL_TRACES_EXPORTER: "zipkin, otlp" }).traces).toBeDefined();
    expect(read({ OTEL_EXPORTER_OTLP_COMPRESSION: "zstd" }).traces!.compress).toBe(false);
  });

  const [trace, span] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
  it.each<[string, object | undefined]>([
    [`00-${trace}-${span}-01`, { traceId: trace, spanId: span, isSampled: true }],
    [` 00-${trace}-${span}-00 `, { traceId: trace, spanId: span, isSampled: false }],
    [`00-${trace}-${span}-03`, { traceId: trace, spanId: span, isSampled: true }],
    [`01-${trace}-${span}-01-later`, { traceId: trace, spanId: span, isSampled: true }],
    [`00-${trace}-${span}-01-later`, undefined],
    [`ff-${trace}-${span}-01`, undefined],
    [`00-${"0".repeat(32)}-${span}-01`, undefined],
    [`00-${trace}-${"0".repeat(16)}-01`, undefined],
    [`00-${trace}-${span}`, undefined],
    ["", undefined],
  ])("a run joins or ignores the trace parent %s", (given, parent) => {
    expect(read({ TRACEPARENT: given }).parent).toEqual(parent);
    const withState = parent && { ...parent, traceState: "a=b" };
    expect(read({ TRACEPARENT: given, TRACESTATE: "a=b" }).parent).toEqual(withState);
  });
});

describe("OpenTelemetry data", () => {
  it("OpenTelemetry attributes may have values of every type, and undefined ones are omitted", () => {
    expect(keyValues({ s: "x", b: false, i: 3, d: 1.5, l: ["a", "b"], u: undefined, z: 0 })).toEqual([
      { key: "s", value: { stringValue: "x" } },
      { key: "b", value: { boolValue: false } },
      { key: "i", value: { intValue: "3" } },
      { key: "d", value: { doubleValue: 1.5 } },
      { key: "l", value: { arrayValue: { values: [{ stringValue: "a" }, { stringValue: "b" }] } } },
      { key: "z", value: { intValue: "0" } },
    ]);
    expect(nanoseconds(1_763_449_200_000.4)).toBe("1763449200000000000");
  });

  it("an OpenTelemetry span has its start, end and status", () => {
    const span: Span = { traceId: "t", spanId: "s", name: "n", kind: 1, startMs: 2, endMs: 5, attributes: { a: 1 } };
    const scope = { name: "courser", version: "1" };
    const bodies = [span, { ...span, parentSpanId: "p", endMs: 1, failure: "why" }];
    const { resourceSpans } = tracesBody(bodies, { team: "x" }, scope) as any;
    expect(resourceSpans).toHaveLength(1);
    expect(resourceSpans[0].resource.attributes).toEqual([{ key: "team", value: { stringValue: "x" } }]);
    expect(resourceSpans[0].scopeSpans[0].scope).toEqual(scope);
    const plain = {
      traceId: "t",
      spanId: "s",
      name: "n",
      kind: 1,
      attributes: [{ key: "a", value: { intValue: "1" } }],
    };
    expect(resourceSpans[0].scopeSpans[0].spans).toEqual([
      { ...plain, startTimeUnixNano: "2000000", endTimeUnixNano: "5000000", status: {} },
      {
        ...plain,
        parentSpanId: "p",
        startTimeUnixNano: "2000000",
        endTimeUnixNano: "2000000",
        status: { code: 2, message: "why" },
      },
    ]);
    const { resourceMetrics } = metricsBody([{ name: "m" }], { team: "x" }, scope) as any;
    expect(resourceMetrics[0].scopeMetrics[0]).toMatchObject({ scope, metrics: [{ name: "m" }] });
  });
});
