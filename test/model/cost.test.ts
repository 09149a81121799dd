// What a run costs: known however its model is named, limited, and said where it is not known.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findModel } from "../../src/model/catalog.ts";
import { priceOf } from "../../src/model/facts.ts";
import { resolveModel } from "../../src/model/resolve.ts";
import { type ModelServer, modelServer } from "../../src/testing/kit/model-server.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

describe("the row of the catalog", () => {
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
  ])("%s", (flag, modelId, row) => {
    const { price, contextTokens } = resolveModel({
      flag: findModel(row)!.row.id,
      env: { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" },
    });
    const found = resolveModel({ flag, env: { OPENROUTER_API_KEY: "k" }, endpoints });
    expect(found).toMatchObject({ modelId, contextTokens, price });
    expect(priceOf(found)).toEqual(price);
  });

  it("a server on this machine is free, unless it stands in for a vendor", () => {
    const price = (flag: string) => priceOf(resolveModel({ flag, env: {}, endpoints }));
    expect(price("box/qwen3")).toEqual({ input: 0, output: 0 });
    expect(price("ollama/qwen3")).toEqual({ input: 0, output: 0 });
    expect(price("openai/never-heard-of")).toBeUndefined();
  });
});

describe("a run", () => {
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

  it("ends at --max-cost, however its model is named", async () => {
    const { exit, lines } = await run("--model", "openai/gpt-5.5", "--max-cost", "1");
    expect([exit, lines().at(-1)]).toMatchObject([1, { error_code: "MAX_COST" }]);
    expect(server.requests).toHaveLength(1);
  });

  it("does not begin where its cost cannot be limited: its own, or that of a fallback", async () => {
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

  it("says once that its cost is not known", async () => {
    const { lines, notices } = await run("--model", "openai/new", "--max-turns", "3");
    expect(lines().at(-1)!["usage"]).toMatchObject({ totalCost: null });
    expect(notices().split("The price of new is not known")).toHaveLength(2);
    expect((await run("--model", "openai/gpt-5.5", "--max-turns", "1")).notices()).not.toContain("price");
  });
});
