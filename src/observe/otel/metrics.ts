// Metrics of a run for OpenTelemetry: tokens and durations as histograms; calls, refusals and retries as counters.
import { type Attributes, keyValues, nanoseconds } from "./wire.ts";

const tokenBounds = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];
const secondBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

type Instrument = { description: string; unit: string; bounds?: readonly number[] };

const instruments = {
  "gen_ai.client.token.usage": { description: "Tokens used by a model request", unit: "{token}", bounds: tokenBounds },
  "gen_ai.client.operation.duration": {
    description: "Duration of a model request or of a turn",
    unit: "s",
    bounds: secondBounds,
  },
  "gen_ai.client.operation.time_to_first_chunk": {
    description: "Time from a model request to the first piece of its reply",
    unit: "s",
    bounds: secondBounds,
  },
  "courser.tool.calls": { description: "Tool calls, by outcome", unit: "{call}" },
  "courser.denials": { description: "Tool calls that were refused", unit: "{call}" },
  "courser.model.retries": { description: "Model requests that were sent again", unit: "{retry}" },
} satisfies Record<string, Instrument>;

export type MetricName = keyof typeof instruments;

type Point = { attributes: Attributes; count: number; sum: number; buckets: number[]; min: number; max: number };

export class Metrics {
  readonly #isDelta: boolean;
  readonly #points = new Map<MetricName, Map<string, Point>>();
  #since = Date.now();

  constructor({ isDelta }: { isDelta: boolean }) {
    this.#isDelta = isDelta;
  }

  add(name: MetricName, value: number, attributes: Attributes): void {
    const { bounds = [] }: Instrument = instruments[name];
    const points = this.#points.get(name) ?? new Map<string, Point>();
    this.#points.set(name, points);
    const key = JSON.stringify(attributes);
    const point = points.get(key) ?? {
      attributes,
      count: 0,
      sum: 0,
      buckets: bounds.concat(0).map(() => 0),
      min: value,
      max: value,
    };
    points.set(key, point);
    point.count++;
    point.sum += value;
    point.min = Math.min(point.min, value);
    point.max = Math.max(point.max, value);
    const bucket = bounds.findIndex((bound) => value <= bound);
    point.buckets[bucket < 0 ? bounds.length : bucket]!++;
  }

  /** Returns the metrics to export. With delta temporality, these are only the changes since the last export. */
  take(): object[] {
    const times = { startTimeUnixNano: nanoseconds(this.#since), timeUnixNano: nanoseconds(Date.now()) };
    const aggregationTemporality = this.#isDelta ? 1 : 2;
    const metrics = [...this.#points].map(([name, points]) => {
      const { bounds, ...instrument }: Instrument = instruments[name];
      const dataPoints = [...points.values()].map((point) => ({
        ...times,
        attributes: keyValues(point.attributes),
        ...(bounds ? histogramPoint(point, bounds) : { asInt: String(point.sum) }),
      }));
      return bounds
        ? { name, ...instrument, histogram: { aggregationTemporality, dataPoints } }
        : { name, ...instrument, sum: { aggregationTemporality, isMonotonic: true, dataPoints } };
    });
    if (this.#isDelta) {
      this.#points.clear();
      this.#since = Date.now();
    }
    return metrics;
  }
}

function histogramPoint({ count, sum, buckets, min, max }: Point, explicitBounds: readonly number[]): object {
  return { count: String(count), sum, min, max, bucketCounts: buckets.map(String), explicitBounds };
}
