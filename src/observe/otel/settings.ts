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
type Signal = "TRACES" | "METRICS";

/** Undefined where nothing is to be sent and nothing is wrong. */
export function readOtelSettings(env: Variables): OtelSettings | undefined {
  if (isTrue(env["OTEL_SDK_DISABLED"])) return undefined;
  const warnings: string[] = [];
  const traces = targetOf(env, "TRACES", warnings);
  const metrics = targetOf(env, "METRICS", warnings);
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
  const one = (name: string) => env[`OTEL_EXPORTER_OTLP_${signal}_${name}`] || undefined;
  const all = (name: string) => env[`OTEL_EXPORTER_OTLP_${name}`] || undefined;
  const exporter = env[`OTEL_${signal}_EXPORTER`] || "otlp";
  const own = one("ENDPOINT");
  const base = all("ENDPOINT");
  if (exporter === "none" || (own === undefined && base === undefined)) return undefined;
  if (exporter !== "otlp") {
    warnings.push(`OTEL_${signal}_EXPORTER=${exporter} is not there: it takes otlp or none. Nothing is sent.`);
    return undefined;
  }
  const protocol = one("PROTOCOL") ?? all("PROTOCOL") ?? "http/json";
  if (protocol === "grpc") {
    warnings.push(
      `OTEL_EXPORTER_OTLP_PROTOCOL=grpc is not spoken here: set it to http/json, and the endpoint to the collector's HTTP port (4318). No ${signal.toLowerCase()} are sent.`,
    );
    return undefined;
  }
  if (protocol !== "http/json")
    warnings.push(`OTEL_EXPORTER_OTLP_PROTOCOL=${protocol} is not spoken here: http/json is sent instead.`);
  const url = own ?? `${base!.replace(/\/+$/, "")}/v1/${signal.toLowerCase()}`;
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    warnings.push(`The endpoint of OpenTelemetry, ${url}, is no http address. No ${signal.toLowerCase()} are sent.`);
    return undefined;
  }
  return { url, headers: { ...pairs(all("HEADERS")), ...pairs(one("HEADERS")) } };
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
