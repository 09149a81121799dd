// Figures of a run as a collector is told them: buckets at their bounds, sums, and what came since the last time.
import { expect, it } from "vitest";
import { Metrics } from "../../src/observe/otel/metrics.ts";

const tokenBounds = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];
const secondBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

it.each([
  ["gen_ai.client.token.usage", tokenBounds],
  ["gen_ai.client.operation.duration", secondBounds],
  ["gen_ai.client.operation.time_to_first_chunk", secondBounds],
] as const)(
  "in the histogram %s, a value equal to a bound belongs to its bucket, and one beyond the last bound to an extra one",
  (name, bounds) => {
    const metrics = new Metrics({ isDelta: false });
    for (const bound of bounds) metrics.add(name, bound, { a: 1 });
    metrics.add(name, bounds.at(-1)! + 1, { a: 1 });
    metrics.add(name, 0, { a: 1 });
    const [{ histogram }] = metrics.take() as any;
    const [point] = histogram.dataPoints;
    expect(point.explicitBounds).toEqual(bounds);
    expect(point.bucketCounts).toEqual(["2", ...Array(bounds.length).fill("1")]);
    expect(point).toMatchObject({ count: String(bounds.length + 2), min: 0, max: bounds.at(-1)! + 1 });
    expect(point.sum).toBeCloseTo(bounds.reduce((sum, bound) => sum + bound, 0) + bounds.at(-1)! + 1, 6);
    expect(histogram.aggregationTemporality).toBe(2);
  },
);

it("OpenTelemetry counters add up by attributes, and delta counters restart after each report", () => {
  const whole = new Metrics({ isDelta: false });
  const delta = new Metrics({ isDelta: true });
  const counts = (metrics: Metrics) =>
    (metrics.take() as any[]).map(({ name, unit, sum }) => [
      name,
      unit,
      sum.isMonotonic,
      sum.aggregationTemporality,
      sum.dataPoints.map(({ asInt }: { asInt: string }) => asInt),
    ]);
  for (const metrics of [whole, delta]) {
    metrics.add("courser.tool.calls", 1, { tool: "read" });
    metrics.add("courser.tool.calls", 1, { tool: "read" });
    metrics.add("courser.tool.calls", 1, { tool: "shell" });
    metrics.add("courser.denials", 1, {});
  }
  expect(counts(whole)).toEqual([
    ["courser.tool.calls", "{call}", true, 2, ["2", "1"]],
    ["courser.denials", "{call}", true, 2, ["1"]],
  ]);
  expect(counts(whole)).toHaveLength(2);
  expect(counts(delta)[0]).toEqual(["courser.tool.calls", "{call}", true, 1, ["2", "1"]]);
  expect(counts(delta)).toEqual([]);
});

it.each([
  ["gen_ai.client.token.usage", "{token}"],
  ["gen_ai.client.operation.duration", "s"],
  ["gen_ai.client.operation.time_to_first_chunk", "s"],
  ["courser.tool.calls", "{call}"],
  ["courser.denials", "{call}"],
  ["courser.model.retries", "{retry}"],
] as const)("the metric %s is described, with the unit %s", (name, unit) => {
  const metrics = new Metrics({ isDelta: false });
  metrics.add(name, 1, {});
  expect(metrics.take()).toEqual([
    expect.objectContaining({ name, unit, description: expect.stringMatching(/\w+ \w+/) }),
  ]);
});
