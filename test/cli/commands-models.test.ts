// models and about through the built CLI: the documented text, and JSON that is one document.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { models as catalog } from "../../src/model/catalog.ts";
import { createWorkspace, type Workspace } from "../support/run-cli.ts";

let workspace: Workspace;
beforeEach(() => {
  workspace = createWorkspace();
});
afterEach(() => workspace.remove());

type Listed = {
  id: string;
  name: string;
  vendor: string | null;
  aliases: string[];
  contextTokens: number | null;
  available: boolean;
  current: boolean;
  default: boolean;
};

async function listed(args: string[] = [], env: Record<string, string> = {}): Promise<Listed[]> {
  const { exit, stdout, stderr } = await workspace.run(["models", "--format", "json", ...args], { env });
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
  return JSON.parse(stdout) as Listed[];
}

const marked = (list: Listed[]) => ({
  current: list.filter((each) => each.current).map((each) => each.id),
  default: list.filter((each) => each.default).map((each) => each.id),
});

describe("models", () => {
  it("models prints a header, `id - Name` lines that mark the current and default model, and a tip", async () => {
    const { exit, stdout, stderr } = await workspace.run(["models"], { env: { ANTHROPIC_API_KEY: "k" } });
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    const [list = "", prices = ""] = stdout.split("\nContext and prices. ");
    const lines = list.trimEnd().split("\n");
    expect(lines.slice(0, 2)).toEqual(["Available models", ""]);
    expect(lines.slice(-2)).toEqual(["", expect.stringMatching(/^Tip: /)]);
    for (const line of lines.slice(2, -2)) expect(line).toMatch(/^\S+ - .+$/);
    expect(lines).toContain("claude-5.5-sonnet - Claude 5.5 Sonnet  (current, default)");
    for (const { id, name } of catalog) expect(list).toContain(`\n${id} - ${name}`);
    expect((await workspace.run(["--list-models"], { env: { ANTHROPIC_API_KEY: "k" } })).stdout).toBe(list);
    // In lines that no parser of the list takes for a model.
    expect(prices).toMatch(/as of \d{4}-\d\d-\d\d:\n/);
    expect(prices).not.toContain(" - ");
    for (const { id, price } of catalog)
      if (price)
        expect(prices).toMatch(new RegExp(`^ {2}${id} +[\\d.]+[kM] +\\$${price.input} / \\$${price.output}$`, "m"));
  });

  it("the models command lists only the offline model and auto as available if there is no API key", async () => {
    const list = await listed();
    expect(marked(list)).toEqual({ current: ["offline"], default: ["offline"] });
    expect(list.filter((each) => each.available).map((each) => each.id)).toEqual(["auto", "offline"]);
    expect(list.map((each) => each.id)).toEqual(["auto", ...catalog.map((row) => row.id), "offline"]);
  });

  it("with an API key, the models command lists its vendor's models as available", async () => {
    const list = await listed([], { OPENAI_API_KEY: "k" });
    for (const each of list.filter((one) => one.vendor !== null && one.id !== "offline"))
      expect(each.available, each.id).toBe(each.vendor === "openai");
    expect(marked(list)).toEqual({ current: ["gpt-5.5"], default: ["gpt-5.5"] });
    expect(list.find((each) => each.id === "claude-4.5-sonnet")).toEqual({
      id: "claude-4.5-sonnet",
      name: "Claude 4.5 Sonnet",
      vendor: "anthropic",
      aliases: expect.arrayContaining(["sonnet-4.5"]),
      contextTokens: 200_000,
      price: expect.objectContaining({ input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }),
      available: false,
      current: false,
      default: false,
    });
  });

  it.each([
    ["an alias", ["--model", "sonnet-4.5"], "claude-4.5-sonnet"],
    ["with an effort", ["--model", "gpt-5-high"], "gpt-5"],
    ["with a parameter", ["--model", "gpt-5[effort=low]"], "gpt-5"],
    ["with its vendor", ["--model", "anthropic/claude-sonnet-4-5"], "claude-4.5-sonnet"],
    ["one that is not in the list", ["--model", "openrouter/some/model"], "openrouter/some/model"],
    ["offline", ["--model", "offline"], "offline"],
  ])("the models command marks the current model: %s", async (_, args, id) => {
    const keys = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", OPENROUTER_API_KEY: "k" };
    expect(marked(await listed(args, keys))).toEqual({ current: [id], default: ["claude-5.5-sonnet"] });
    expect((await workspace.run(["models", ...args], { env: keys })).stdout).toMatch(
      new RegExp(`^${id} - .*current`, "m"),
    );
  });

  it("the models command marks a chosen model as current but not available if its key is missing", async () => {
    const list = await listed(["--model", "gpt-5"]);
    expect(marked(list)).toEqual({ current: ["gpt-5"], default: ["offline"] });
    expect(list.find((each) => each.current)!.available).toBe(false);
  });

  it("the models command does not list unknown models", async () => {
    expect(marked(await listed(["--model", "no-such-model"]))).toEqual({ current: [], default: ["offline"] });
  });

  it("the models command lists the models of the user's own endpoints", async () => {
    mkdirSync(workspace.config);
    const providers = {
      shed: { baseUrl: "http://127.0.0.1:9/v1", models: ["qwen", "glm"] },
      lab: { baseUrl: "https://lab.test/v1", keyEnv: "LAB_KEY", models: ["m1"] },
    };
    writeFileSync(join(workspace.config, "courser.json"), JSON.stringify({ providers }));
    const list = await listed();
    expect(list.find((each) => each.id === "shed/qwen")).toMatchObject({
      vendor: "shed",
      available: true,
      current: true,
      default: true,
    });
    expect(list.find((each) => each.id === "lab/m1")).toMatchObject({
      vendor: "lab",
      available: false,
      current: false,
    });
    expect((await listed([], { LAB_KEY: "k" })).find((each) => each.id === "lab/m1")).toMatchObject({
      available: true,
    });
    expect((await workspace.run(["models"])).stdout).toContain("\nshed/glm - ");
  });

  it("the models command reports a broken configuration", async () => {
    mkdirSync(workspace.config);
    writeFileSync(join(workspace.config, "cli-config.json"), "{");
    const { exit, stdout, stderr } = await workspace.run(["models", "--format", "json"]);
    expect({ exit, told: JSON.parse(stdout) }).toMatchObject({ exit: 1, told: { error_code: "CONFIG_INVALID" } });
    expect(stderr).toContain("[CONFIG_INVALID]");
  });
});

describe("about", () => {
  it("the about command tells version, model, system and configuration folder", async () => {
    const version = (await workspace.run(["--version"])).stdout.trim();
    const { exit, stdout, stderr } = await workspace.run(["about"], { env: { ANTHROPIC_API_KEY: "k" } });
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    for (const value of [version, "Claude 5.5 Sonnet", process.platform, workspace.config])
      expect(stdout).toContain(value);
  });

  it("the about command as JSON has the documented keys, with null for unknown values", async () => {
    const env = { TERM_PROGRAM: "vscode", SHELL: "/bin/zsh" };
    const { exit, stdout } = await workspace.run(["about", "--format", "json"], { env });
    expect(exit).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      cliVersion: expect.stringMatching(/^\d{4}\.\d\d\.\d\d-\w+$/),
      latestStatus: null,
      latestVersion: null,
      model: "Offline",
      subscriptionTier: null,
      osPlatform: process.platform,
      osArch: process.arch,
      userEmail: null,
      terminalProgram: "vscode",
      shell: "zsh",
      lastRequestId: null,
      nodeVersion: expect.stringMatching(/^v\d+/),
      configDir: workspace.config,
      package: "courser-agent",
    });
  });

  it("the about command names a model that has no key", async () => {
    expect(JSON.parse((await workspace.run(["about", "--format", "json", "--model", "gpt-5"])).stdout).model).toBe(
      "gpt-5",
    );
  });
});
