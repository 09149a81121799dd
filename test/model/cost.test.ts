// What a run costs: known however its model is named, limited, and said where it is not known.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { priceTableSource } from "../../scripts/price-table.ts";
import { findModel, models, vendors } from "../../src/model/catalog.ts";
import { priceOf } from "../../src/model/limits.ts";
import { listedPrice } from "../../src/model/price-list.ts";
import { priceTable } from "../../src/model/price-table.ts";
import { costOf } from "../../src/model/prices.ts";
import { resolveModel } from "../../src/model/resolve.ts";
import { type ModelServer, modelServer } from "../../src/testing/kit/model-server.ts";
import { createWorkspace, repository, type Workspace } from "../support/run-cli.ts";

describe("looking up the catalog row", () => {
  const baseUrl = "http://127.0.0.1:1/v1";
  const endpoints = {
    openai: { type: "openai", baseUrl },
    anthropic: { baseUrl },
    box: { baseUrl, models: ["gpt-5"] },
  };
  it.each([
    ["gpt-5.5", "gpt-5.5", "gpt-5.5"],
    ["openai/gpt-5.5", "gpt-5.5", "gpt-5.5"],
    ["openai/gpt-5.5-high", "gpt-5.5", "gpt-5.5"],
    ["anthropic/sonnet-4.5", "claude-sonnet-4-5", "sonnet-4.5"],
    ["anthropic/opus", "claude-opus-5-5", "opus"],
    ["box/gpt-5.5", "gpt-5.5", "gpt-5.5"],
    ["box/openai/gpt-5.5", "openai/gpt-5.5", "gpt-5.5"],
    ["gpt-5", "gpt-5", "gpt-5"],
    ["openrouter/anthropic/claude-sonnet-4.5", "anthropic/claude-sonnet-4.5", "sonnet-4.5"],
  ])("the catalog row is found for the model name %s", (flag, modelId, row) => {
    const { price, contextTokens } = resolveModel({
      flag: findModel(row)!.row.id,
      env: { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" },
    });
    const found = resolveModel({ flag, env: { OPENROUTER_API_KEY: "k" }, endpoints });
    expect(found).toMatchObject({ modelId, contextTokens, price });
    expect(priceOf(found)).toEqual(price);
  });

  it("a model on a local server costs nothing, unless the server stands in for a vendor", () => {
    const price = (flag: string) => priceOf(resolveModel({ flag, env: {}, endpoints }));
    expect(price("box/qwen3")).toEqual({ input: 0, output: 0 });
    expect(price("ollama/qwen3")).toEqual({ input: 0, output: 0 });
    expect(price("openai/never-heard-of")).toBeUndefined();
  });
});

describe("the price table", () => {
  const env = Object.fromEntries(vendors.flatMap(({ keyVariables }) => keyVariables.map((name) => [name, "k"])));
  const resolved = (flag: string, more: object = {}) => resolveModel({ flag, env, ...more });

  it("the price table equals its data package", () => {
    const squeezed = (text: string) => text.replace(/\s+/g, " ");
    expect(squeezed(readFileSync(join(repository, "src/model/price-table.ts"), "utf8"))).toBe(
      squeezed(priceTableSource()),
    );
  });

  it("every model of the catalog has a price and a context window", () => {
    for (const { id } of models) {
      const { price, contextTokens } = resolved(id);
      expect(price?.output, id).toBeGreaterThan(price!.input);
      expect(contextTokens, id).toBeGreaterThanOrEqual(200_000);
    }
  });

  it.each([
    ["gpt-5.6-sol", 4, 20],
    ["haiku", 0.1, 0.5],
    ["anthropic/claude-sonnet-4-5-20250929", 3, 15],
    ["anthropic/claude-3-5-haiku-20241022", 0.8, 4],
    ["openai/gpt-4o", 2.5, 10],
    ["openrouter/openai/gpt-6-luna", 0.1, 0.5],
    ["openrouter/x-ai/grok-4.6", 2, 6],
    ["moonshot/kimi-k3", 3, 15],
    ["deepseek", 1.32, 3.96],
  ])("the price table knows the price of %s", (flag, input, output) => {
    expect(resolved(flag).price).toMatchObject({ input, output });
  });

  it("a request beyond the price tier is charged completely at the higher price", () => {
    const { price } = resolved("gpt-5.5");
    const usage = { inputTokens: 100_000, outputTokens: 1_000, cacheReadTokens: 171_999, cacheWriteTokens: 0 };
    expect(costOf(usage, price!)).toBeCloseTo(0.5 + 0.03 + 0.0859995, 10);
    expect(costOf({ ...usage, inputTokens: 100_001 }, price!)).toBeCloseTo(1.00001 + 0.045 + 0.171999, 10);
  });

  it("a price change applies from its announced day on", () => {
    const [early, late] = ["2026-12-31", "2027-01-01"].map((day) =>
      listedPrice(priceTable, "google", "gemini-3.8-flash", day),
    );
    expect([early!.price, late!.price]).toMatchObject([{ input: 0.75 }, { input: 1.5, output: 7.5 }]);
  });

  it("settings override the price of a model under each of its names", () => {
    const own = { contextTokens: 5, outputTokens: 6, price: { input: 1, output: 2 }, effort: "low" as const };
    for (const name of ["gpt-5.5", "openai/gpt-5.5"])
      expect(resolved("gpt-5.5", { models: { [name]: { ...own, headers: { a: "b" } } } })).toMatchObject({
        ...own,
        headers: { a: "b" },
      });
    expect(resolved("gpt-5.5-high", { models: { "gpt-5.5": own } }).effort).toBe("high");
    expect(resolved("gpt-5", { models: { "gpt-5.5": own } }).contextTokens).toBe(400_000);
  });
});

describe("cost limits of a run", () => {
  let server: ModelServer;
  let place: Workspace;
  beforeEach(async () => {
    const call = { name: "Shell", args: { command: "true" } };
    server = await modelServer(() => ({ toolCalls: [call], usage: { input: 900_000, output: 10 } }));
    place = createWorkspace();
    place.file(join(place.config, "courser.json"), JSON.stringify(server.settings));
  });
  afterEach(async () => {
    await server.stop();
    place.remove();
  });
  const run = (...args: string[]) =>
    place.run(["-p", "--force", "--output-format", "stream-json", ...args, "go"], { env: server.env });

  it("a run ends at --max-cost, however its model is named", async () => {
    const { exit, lines } = await run("--model", "openai/gpt-5.5", "--max-cost", "1");
    expect([exit, lines().at(-1)]).toMatchObject([1, { error_code: "MAX_COST" }]);
    expect(server.requests).toHaveLength(1);
  });

  it("a run with --max-cost does not start if its model's price, or its fallback's, is unknown", async () => {
    for (const args of [
      ["--model", "openai/new"],
      ["--model", "openai/gpt-5.5", "--fallback-model", "openai/new"],
    ]) {
      const { exit, stderr } = await run("--max-cost", "1", ...args);
      expect([exit, stderr]).toEqual([2, expect.stringContaining("the price of new is not known")]);
    }
    expect(server.requests).toHaveLength(0);
    const { lines } = await run("--max-cost", "1", "--model", "openai/new", "--price", "3,15");
    expect(lines().at(-1)).toMatchObject({ error_code: "MAX_COST" });
  });

  it("a run uses prices from models refresh", async () => {
    const list = [
      { id: "openai", models: [{ id: "new", context_window: 77, prices: { input_mtok: 1, output_mtok: 2 } }] },
    ];
    const answers = [JSON.stringify(list), "no"];
    const data = createServer((_, response) => {
      response.setHeader("last-modified", "Sun, 01 Nov 2026 10:00:00 GMT");
      response.end(answers.shift());
    }).listen(0, "127.0.0.1");
    await once(data, "listening");
    const address = `http://127.0.0.1:${(data.address() as AddressInfo).port}/data.json`;
    const read = await place.run(["models", "refresh", address]);
    expect([read.exit, read.stdout]).toEqual([0, expect.stringContaining("of 1 models, as of 2026-11-01")]);
    const failed = await place.run(["models", "refresh", address]);
    expect([failed.exit, failed.stderr]).toEqual([1, expect.stringContaining(`${address} gave no prices`)]);
    data.close();
    const { lines } = await run("--model", "openai/new", "--max-cost", "1");
    expect(lines().at(-1)).toMatchObject({ usage: { totalCost: 1.80004 }, error_code: "MAX_COST" });
    expect((await place.run(["models"])).stdout).toContain("as of 2026-11-01");
  });

  it("a run says once that its cost is unknown", async () => {
    const { lines, notices } = await run("--model", "openai/new", "--max-turns", "3");
    expect(lines().at(-1)!["usage"]).toMatchObject({ totalCost: null });
    expect(notices().split("The price of new is not known")).toHaveLength(2);
    expect((await run("--model", "openai/gpt-5.5", "--max-turns", "1")).notices()).not.toContain("price");
  });
});
