// The variables of OpenTelemetry that we understand, read once. docs/observability.md lists them.

export type OtelSettings = {
  traces?: Target;
  metrics?: Target;
  resource: Record<string, string>;
  /** What messages, calls and results say is told as well. */
  captureContent: boolean;
  isDelta: boolean;
  timeoutMs: number;
  scheduleMs: number;
  parent?: Parent;
  /** Which share of traces that nobody decided about is told: 0 to 1. */
  ratio: number;
  /** A parent decides, where there is one. */
  isParentBased: boolean;
  warnings: string[];
};

export type Target = { url: string; headers: Record<string, string> };
export type Parent = { traceId: string; spanId: string; isSampled: boolean };

type Variables = Readonly<Record<string, string | undefined>>;
type Signal = "traces" | "metrics";

/** The names as users write them: for each signal, then for both. */
const names = {
  traces: {
    exporter: "OTEL_TRACES_EXPORTER",
    endpoint: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    protocol: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
    headers: "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
  },
  metrics: {
    exporter: "OTEL_METRICS_EXPORTER",
    endpoint: "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
    protocol: "OTEL_EXPORTER_OTLP_METRICS_PROTOCOL",
    headers: "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
  },
  both: {
    endpoint: "OTEL_EXPORTER_OTLP_ENDPOINT",
    protocol: "OTEL_EXPORTER_OTLP_PROTOCOL",
    headers: "OTEL_EXPORTER_OTLP_HEADERS",
  },
} as const;

/** Undefined where nothing is to be sent and nothing is wrong. */
export function readOtelSettings(env: Variables): OtelSettings | undefined {
  if (isTrue(env["OTEL_SDK_DISABLED"])) return undefined;
  const warnings: string[] = [];
  const traces = targetOf(env, "traces", warnings);
  const metrics = targetOf(env, "metrics", warnings);
  if (!traces && !metrics && warnings.length === 0) return undefined;
  const parent = parentOf(env["TRACEPARENT"]);
  const sampler = env["OTEL_TRACES_SAMPLER"] || "parentbased_always_on";
  return {
    ...(traces && { traces }),
    ...(metrics && { metrics }),
    resource: {
      "service.name": "courser",
      ...pairs(env["OTEL_RESOURCE_ATTRIBUTES"]),
      ...(env["OTEL_SERVICE_NAME"] && { "service.name": env["OTEL_SERVICE_NAME"] }),
    },
    captureContent: isTrue(env["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"]),
    isDelta: /^delta$/i.test(env["OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"] ?? ""),
    timeoutMs: positive(env["OTEL_EXPORTER_OTLP_TIMEOUT"]) ?? 10_000,
    scheduleMs: positive(env["OTEL_BSP_SCHEDULE_DELAY"]) ?? 5_000,
    ...(parent && { parent }),
    ratio: ratioOf(sampler, env["OTEL_TRACES_SAMPLER_ARG"], warnings),
    isParentBased: sampler.startsWith("parentbased_"),
    warnings,
  };
}

function targetOf(env: Variables, signal: Signal, warnings: string[]): Target | undefined {
  const one = (what: keyof (typeof names)["traces"]) => env[names[signal][what]] || undefined;
  const both = (what: keyof (typeof names)["both"]) => env[names.both[what]] || undefined;
  const exporter = one("exporter") ?? "otlp";
  const [own, base] = [one("endpoint"), both("endpoint")];
  if (exporter === "none" || (own === undefined && base === undefined)) return undefined;
  if (exporter !== "otlp") {
    warnings.push(`${names[signal].exporter}=${exporter} is not there: it takes otlp or none. Nothing is sent.`);
    return undefined;
  }
  const protocol = one("protocol") ?? both("protocol") ?? "http/json";
  if (protocol === "grpc") {
    warnings.push(
      `${names.both.protocol}=grpc is not spoken here: set it to http/json, and the endpoint to the collector's HTTP port (4318). No ${signal} are sent.`,
    );
    return undefined;
  }
  if (protocol !== "http/json")
    warnings.push(`${names.both.protocol}=${protocol} is not spoken here: http/json is sent instead.`);
  const url = own ?? `${base!.replace(/\/+$/, "")}/v1/${signal}`;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    warnings.push(`The OpenTelemetry endpoint, ${url}, is not an http(s) URL. No ${signal} are sent.`);
    return undefined;
  }
  return { url, headers: { ...pairs(both("headers")), ...pairs(one("headers")) } };
}

/** `name=value,name=value`, percent-encoded. */
function pairs(text = ""): Record<string, string> {
  return Object.fromEntries(
    text
      .split(",")
      .map((pair) => /^\s*([^=]+?)\s*=\s*(.*?)\s*$/.exec(pair))
      .filter((match) => match !== null)
      .map(([, name, value]) => [name!, decoded(value!)]),
  );
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function parentOf(given: string | undefined): Parent | undefined {
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})/.exec(given ?? "");
  if (!match || /^0+$/.test(match[1]!) || /^0+$/.test(match[2]!)) return undefined;
  return { traceId: match[1]!, spanId: match[2]!, isSampled: (Number.parseInt(match[3]!, 16) & 1) === 1 };
}

function ratioOf(sampler: string, argument: string | undefined, warnings: string[]): number {
  const kind = sampler.replace(/^parentbased_/, "");
  if (kind === "always_on") return 1;
  if (kind === "always_off") return 0;
  const share = Number(argument ?? 1);
  if (kind === "traceidratio" && share >= 0 && share <= 1) return share;
  warnings.push(`OTEL_TRACES_SAMPLER=${sampler} is not understood: every trace is sent.`);
  return 1;
}

function isTrue(value: string | undefined): boolean {
  return /^(?:true|1)$/i.test(value ?? "");
}

function positive(value: string | undefined): number | undefined {
  const number = Number(value);
  return number > 0 ? number : undefined;
}
