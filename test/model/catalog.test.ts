import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defaultModelOf, findModel, findVendor, listModels, models, vendors } from "../../src/model/catalog.ts";
import { costOf } from "../../src/model/prices.ts";
import { repository } from "../support/run-cli.ts";

describe("the model catalog", () => {
  it("no two models in the catalog have the same name", () => {
    const names = models.flatMap((row) => [row.id, ...row.aliases]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    const vendorNames = vendors.map((row) => row.name);
    expect(new Set(vendorNames).size).toBe(vendorNames.length);
  });

  it("every model in the catalog names an existing vendor", () => {
    for (const row of models) {
      expect(
        vendors.some((vendor) => vendor.name === row.vendor),
        row.id,
      ).toBe(true);
    }
    for (const row of vendors) expect(URL.canParse(row.baseUrl.replace(/\{.*?\}/g, "x")), row.name).toBe(true);
  });

  it("docs/models.md has a row for each vendor: key, base URL, wire, caching, thinking", () => {
    const wires: Record<string, string> = { anthropic: "Messages", openai: "Responses", google: "Gemini" };
    const clouds: Record<string, string> = { bedrock: "Converse", vertex: "Gemini, Messages", azure: "Responses" };
    const page = readFileSync(join(repository, "docs/models.md"), "utf8");
    for (const { name, baseUrl, kind, keyVariables } of vendors) {
      const row = page.split("\n").find((line) => line.startsWith(`| \`${name}\` |`) && line.includes(baseUrl));
      const [, key = "", url, wire, caching = "", thinking = ""] = row?.split(/ ?\| ?/).slice(1) ?? [];
      expect({ name, url, wire }).toEqual({
        name,
        url: `\`${baseUrl}\``,
        wire: { ...wires, ...clouds }[kind] ?? "chat completions",
      });
      expect(key).toContain(keyVariables[0] ?? "none");
      expect([caching, thinking].every((cell) => cell.length > 3)).toBe(true);
    }
  });

  it("the default model, or a bare family name, means the newest model of its line", () => {
    const newest = (line: RegExp) => {
      const versions = models.flatMap(({ id }) => line.exec(id)?.[1] ?? []).map(Number);
      return String(Math.max(...versions));
    };
    const sonnet = newest(/^claude-([\d.]+)-sonnet$/);
    const defaults = Object.fromEntries(vendors.map((vendor) => [vendor.name, defaultModelOf(vendor)]));
    expect(defaults).toMatchObject({
      anthropic: `claude-${sonnet}-sonnet`,
      openai: `gpt-${newest(/^gpt-([\d.]+)$/)}`,
      google: `gemini-${newest(/^gemini-([\d.]+)-pro$/)}-pro`,
      openrouter: `openrouter/anthropic/claude-sonnet-${sonnet}`,
      xai: `grok-${newest(/^grok-([\d.]+)$/)}`,
    });
    for (const family of ["sonnet", "opus", "haiku"])
      expect(findModel(family)?.row.id).toBe(`claude-${newest(new RegExp(`^claude-([\\d.]+)-${family}$`))}-${family}`);
    for (const id of Object.values(defaults)) if (id && !id.includes("/")) expect(findModel(id)?.row.id).toBe(id);
    expect(defaultModelOf(findVendor("ollama")!)).toBeUndefined();
  });

  it("a suffix of a model's name sets the effort level", () => {
    expect(findModel("gpt-5-thinking-high")).toMatchObject({ effort: "high", name: "GPT-5 High (Thinking)" });
    expect(findModel("claude-4.6-opus-max-thinking-fast")).toMatchObject({
      effort: "max",
      row: { id: "claude-4.6-opus" },
    });
    expect(findModel("gpt-5-fast")).toMatchObject({ name: "GPT-5" });
    expect(findModel("gpt-5.1-codex-max")).toBeUndefined();
    expect(findModel("claude-4.5-haiku-thinking")).toMatchObject({ effort: "medium" });
  });

  it("the models command lists models in the form that clients parse", () => {
    const lines = listModels({
      current: "gpt-5",
      default: "claude-4.5-sonnet",
      extra: [{ id: "box/qwen", name: "qwen (box)" }],
    });
    expect(lines.slice(0, 3)).toEqual(["Available models", "", "auto - Auto"]);
    expect(lines).toContain("gpt-5 - GPT-5  (current)");
    expect(lines).toContain("claude-4.5-sonnet - Claude 4.5 Sonnet  (default)");
    expect(lines).toContain("box/qwen - qwen (box)");
    expect(lines.at(-2)).toBe("");
    expect(lines.at(-1)).toMatch(/^Tip: /);
    expect(listModels({ current: "gpt-5", default: "gpt-5" })).toContain("gpt-5 - GPT-5  (current, default)");
    for (const line of lines.slice(2, -2)) expect(line).toMatch(/^\S+ - \S.*$/);
  });
});

it("the cost of a request is the sum of its parts", () => {
  const usage = {
    inputTokens: 1_000_000,
    outputTokens: 100_000,
    cacheReadTokens: 2_000_000,
    cacheWriteTokens: 400_000,
  };
  expect(costOf(usage, { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 })).toBeCloseTo(
    3 + 1.5 + 0.6 + 1.5,
    10,
  );
  expect(costOf(usage, { input: 1, output: 10 })).toBeCloseTo(1 + 1 + 2 + 0.4, 10);
});
