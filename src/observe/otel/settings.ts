// Reads the supported OpenTelemetry environment variables. docs/observability.md lists them.
import { decodeUri } from "../../text/decode-uri.ts";

export type OtelSettings = {
  traces?: Target;
  metrics?: Target;
  resource: Record<string, string>;
  /** Whether to export the content of messages, calls and results as well. */
  captureContent: boolean;
  isDelta: boolean;
  scheduleMs: number;
  parent?: Parent;
  /** The share of traces without a parent's decision that is sent: 0 to 1. */
  ratio: number;
  /** The parent's sampling decision applies, if there is a parent. */
  isParentBased: boolean;
  warnings: string[];
};

export type Target = { url: string; headers: Record<string, string>; timeoutMs: number; compress: boolean };
export type Parent = { traceId: string; spanId: string; isSampled: boolean; traceState?: string };

type Variables = Readonly<Record<string, string | undefined>>;
type Signal = "traces" | "metrics";

/** The names as users write them: for both signals, and the prefixes of those for one signal. */
const names = {
  endpoint: "OTEL_EXPORTER_OTLP_ENDPOINT",
  protocol: "OTEL_EXPORTER_OTLP_PROTOCOL",
  headers: "OTEL_EXPORTER_OTLP_HEADERS",
  timeout: "OTEL_EXPORTER_OTLP_TIMEOUT",
  compression: "OTEL_EXPORTER_OTLP_COMPRESSION",
} as const;
const exporterNames = { traces: "OTEL_TRACES_EXPORTER", metrics: "OTEL_METRICS_EXPORTER" } as const;
/** Prefixes of the variables for each signal, as in OTEL_EXPORTER_OTLP_TRACES_HEADERS. */
const prefixes = { traces: "OTEL_EXPORTER_OTLP_TRACES_", metrics: "OTEL_EXPORTER_OTLP_METRICS_" } as const;
type Variable = keyof typeof names;

/** Reads the OTEL_* variables. Returns undefined if nothing is to be sent and there are no warnings. */
export function readOtelSettings(env: Variables): OtelSettings | undefined {
  if (/^true$/i.test(env["OTEL_SDK_DISABLED"] ?? "")) return undefined;
  const warnings: string[] = [];
  const traces = exportTarget(env, "traces", warnings);
  const metrics = exportTarget(env, "metrics", warnings);
  if (!traces && !metrics && warnings.length === 0) return undefined;
  const parent = parentOf(env["TRACEPARENT"], env["TRACESTATE"]);
  const sampler = env["OTEL_TRACES_SAMPLER"] || "parentbased_always_on";
  return {
    ...(traces && { traces }),
    ...(metrics && { metrics }),
    resource: {
      "service.name": "courser",
      ...parsePairs(env["OTEL_RESOURCE_ATTRIBUTES"]),
      ...(env["OTEL_SERVICE_NAME"] && { "service.name": env["OTEL_SERVICE_NAME"] }),
    },
    // This variable also selects where content goes: to spans, events (not supported here), or both.
    captureContent: /^(?:true|1|span_only|span_and_event)$/i.test(
      env["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] ?? "",
    ),
    isDelta: /^delta$/i.test(env["OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"] ?? ""),
    scheduleMs: positiveNumber(env["OTEL_BSP_SCHEDULE_DELAY"]) ?? 5_000,
    ...(parent && { parent }),
    ratio: ratioOf(sampler, env["OTEL_TRACES_SAMPLER_ARG"], warnings),
    isParentBased: sampler.startsWith("parentbased_"),
    warnings,
  };
}

function exportTarget(env: Variables, signal: Signal, warnings: string[]): Target | undefined {
  const ofSignal = (what: Variable) => env[`${prefixes[signal]}${what.toUpperCase()}`] || undefined;
  const ofBoth = (what: Variable) => env[names[what]] || undefined;
  const either = (what: Variable) => ofSignal(what) ?? ofBoth(what);
  if (either("endpoint") === undefined || !isExported(env, signal, warnings)) return undefined;
  const protocol = either("protocol") ?? "http/json";
  if (protocol === "grpc") {
    warnings.push(
      `${names.protocol}=grpc is not supported: set it to http/json, and the endpoint to the collector's HTTP port (4318). No ${signal} are sent.`,
    );
    return undefined;
  }
  if (protocol !== "http/json")
    warnings.push(`${names.protocol}=${protocol} is not supported: http/json is sent instead.`);
  const url = ofSignal("endpoint") ?? `${ofBoth("endpoint")!.replace(/\/+$/, "")}/v1/${signal}`;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    warnings.push(`The OpenTelemetry endpoint, ${url}, is not an http(s) URL. No ${signal} are sent.`);
    return undefined;
  }
  const compression = either("compression") ?? "none";
  if (compression !== "gzip" && compression !== "none")
    warnings.push(`${names.compression}=${compression} is not supported: nothing is compressed.`);
  return {
    url,
    headers: { ...parsePairs(ofBoth("headers")), ...parsePairs(ofSignal("headers")) },
    timeoutMs: positiveNumber(either("timeout")) ?? 10_000,
    compress: compression === "gzip",
  };
}

/** Returns whether a signal is exported. The variable is a list, of which only `otlp` is supported. */
function isExported(env: Variables, signal: Signal, warnings: string[]): boolean {
  const name = exporterNames[signal];
  const exporters = (env[name] || "otlp").split(",").map((each) => each.trim());
  const unknown = exporters.filter((each) => each !== "otlp" && each !== "none");
  if (unknown.length > 0)
    warnings.push(`${name}=${env[name]}: ${unknown.join(", ")} is not supported, only otlp and none are.`);
  return exporters.includes("otlp");
}

/** Parses `name=value,name=value`, percent-encoded. */
function parsePairs(text = ""): Record<string, string> {
  return Object.fromEntries(
    text
      .split(",")
      .map((pair) => /^\s*([^=]+?)\s*=\s*(.*?)\s*$/.exec(pair))
      .filter((match) => match !== null)
      .map(([, name, value]) => [name!, decodeUri(value!)]),
  );
}

/** Parses W3C Trace Context. Later versions may have more fields; version `ff` is invalid. */
function parentOf(traceParent: string | undefined, traceState: string | undefined): Parent | undefined {
  const [, version, traceId, spanId, flags, more] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(traceParent?.trim() ?? "") ?? [];
  if (version === undefined || version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId!) || /^0+$/.test(spanId!)) return undefined;
  const isSampled = (Number.parseInt(flags!, 16) & 1) === 1;
  return { traceId: traceId!, spanId: spanId!, isSampled, ...(traceState && { traceState }) };
}

function ratioOf(sampler: string, argument: string | undefined, warnings: string[]): number {
  const kind = sampler.replace(/^parentbased_/, "");
  if (kind === "always_on") return 1;
  if (kind === "always_off") return 0;
  const share = Number(argument ?? 1);
  if (kind === "traceidratio" && share >= 0 && share <= 1) return share;
  warnings.push(`OTEL_TRACES_SAMPLER=${sampler} is not supported: every trace is sent.`);
  return 1;
}

function positiveNumber(value: string | undefined): number | undefined {
  const number = Number(value);
  return number > 0 ? number : undefined;
}
