import { describe, expect, it } from "vitest";
import { defaultModelOf, findModel, findVendor } from "../../src/model/catalog.ts";
import { type ModelChoice, resolveModel } from "../../src/model/resolve.ts";
import { UserError } from "../../src/protocol/error-codes.ts";

const anthropic = { ANTHROPIC_API_KEY: "sk-ant-1" };
const everyKey = {
  ...anthropic,
  OPENAI_API_KEY: "sk-1",
  GEMINI_API_KEY: "AIza1",
  OPENROUTER_API_KEY: "sk-or-1",
  XAI_API_KEY: "xai-1",
  DEEPSEEK_API_KEY: "ds-1",
  MOONSHOT_API_KEY: "ms-1",
  DASHSCOPE_API_KEY: "qw-1",
  ZAI_API_KEY: "za-1",
};

/** test/model/catalog.test.ts proves that it is the newest of its line. */
const newest = findModel(defaultModelOf(findVendor("anthropic")!)!)!.row;

function choose(flag: string | undefined, more: Partial<ModelChoice> = {}) {
  return resolveModel({ env: everyKey, ...(flag !== undefined && { flag }), ...more });
}

function refusal(choice: ModelChoice): UserError {
  try {
    const found = resolveModel(choice);
    throw new Error(`resolved to ${found.vendor} ${found.modelId}`);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

describe("model names", () => {
  it.each([
    ["gpt-5", "openai", "gpt-5", "GPT-5"],
    ["sonnet-4", "anthropic", "claude-sonnet-4-0", "Claude 4 Sonnet"],
    ["sonnet-4-thinking", "anthropic", "claude-sonnet-4-0", "Claude 4 Sonnet (Thinking)"],
    ["sonnet-4.5", "anthropic", "claude-sonnet-4-5", "Claude 4.5 Sonnet"],
    ["claude-4.5-sonnet", "anthropic", "claude-sonnet-4-5", "Claude 4.5 Sonnet"],
    ["Claude-4.5-Sonnet", "anthropic", "claude-sonnet-4-5", "Claude 4.5 Sonnet"],
    ["claude-sonnet-4-5", "anthropic", "claude-sonnet-4-5", "Claude 4.5 Sonnet"],
    ["sonnet-4.6", "anthropic", "claude-sonnet-4-6", "Claude 4.6 Sonnet"],
    ["opus-4.6", "anthropic", "claude-opus-4-6", "Claude 4.6 Opus"],
    ["gemini-3.1-pro", "google", "gemini-3.1-pro-preview", "Gemini 3.1 Pro"],
    ["anthropic/sonnet-4.5", "anthropic", "claude-sonnet-4-5", "Claude 4.5 Sonnet"],
    ["anthropic/claude-next", "anthropic", "claude-next", "claude-next"],
    ["openrouter/qwen/qwen3-coder", "openrouter", "qwen/qwen3-coder", "qwen/qwen3-coder"],
    ["ollama/llama3.2:3b", "ollama", "llama3.2:3b", "llama3.2:3b"],
    ["gpt-5-high", "openai", "gpt-5", "GPT-5 High"],
    ["offline", "offline", "offline", "Offline"],
    ["script:a/b.jsonl", "script", "a/b.jsonl", "Script"],
  ])("the model name %s finds its vendor and model", (name, vendor, modelId, displayName) => {
    expect(choose(name)).toMatchObject({ vendor, modelId, displayName });
  });

  it("the effort level may stand in brackets, after a dash, or in the flag, which wins", () => {
    expect(choose("gpt-5[effort=high]").effort).toBe("high");
    expect(choose("gpt-5-low").effort).toBe("low");
    expect(choose("sonnet-4-thinking").effort).toBe("medium");
    expect(choose("gpt-5[effort=high]", { effortFlag: "low" }).effort).toBe("low");
    expect(choose("gpt-5").effort).toBeUndefined();
    expect(refusal({ flag: "gpt-5[effort=huge]", env: everyKey })).toMatchObject({ code: "USAGE" });
    expect(refusal({ flag: "gpt-5[speed=1]", env: everyKey })).toMatchObject({ code: "USAGE" });
  });

  it("an unknown model name is refused with the list and the nearest name", () => {
    const error = refusal({ flag: "claude-4.5-sonet", env: everyKey });
    expect(error.code).toBe("MODEL_UNKNOWN");
    expect(error.message).toMatch(
      /^Cannot use this model: claude-4\.5-sonet\. Available models: claude-4\.5-sonnet, \S+, \S+, … \('courser models' lists all\)\./,
    );
    expect(refusal({ flag: "constructor/model", env: everyKey, endpoints: {} }).code).toBe("MODEL_UNKNOWN");
    expect(refusal({ flag: "nobody/model", env: everyKey }).message).toContain("Unknown vendor 'nobody'");
  });

  it("models have their limits and prices", () => {
    expect(choose("sonnet-4.5")).toMatchObject({
      contextTokens: 200_000,
      price: { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 },
    });
    expect(choose("anthropic/claude-next")).toMatchObject({ contextTokens: 128_000 });
    expect(choose("anthropic/claude-next").price).toBeUndefined();
  });
});

describe("unknown model ids", () => {
  it.each([
    ["claude-6-opus", "anthropic", "claude-opus-6", "medium"],
    ["claude-6.1-sonnet-high-thinking", "anthropic", "claude-sonnet-6-1", "high"],
    ["opus-7", "anthropic", "claude-opus-7", "medium"],
    ["sonnet-6.2-thinking", "anthropic", "claude-sonnet-6-2", "medium"],
    ["haiku-5.1-low", "anthropic", "claude-haiku-5-1", "low"],
    ["claude-haiku-9-1", "anthropic", "claude-haiku-9-1", "medium"],
    ["claude-3.7-sonnet", "anthropic", "claude-3-7-sonnet-latest"],
    ["claude-4-sonnet-1m", "anthropic", "claude-sonnet-4-0"],
    ["gpt-5.9-codex-xhigh-fast", "openai", "gpt-5.9-codex", "xhigh"],
    ["gpt-5.1-codex-max-medium", "openai", "gpt-5.1-codex-max", "medium"],
    ["gpt-5.3-codex-low-fast", "openai", "gpt-5.3-codex", "low"],
    ["gpt-4o", "openai", "gpt-4o"],
    ["o4-mini", "openai", "o4-mini"],
    ["o9-pro-high", "openai", "o9-pro", "high"],
    ["gemini-9-pro", "google", "gemini-9-pro"],
    ["grok-4-fast", "xai", "grok-4-fast"],
    ["grok-9-low", "xai", "grok-9", "low"],
    ["kimi-k2.5", "moonshot", "kimi-k2.5"],
    ["kimi-k2-thinking", "moonshot", "kimi-k2-thinking"],
    ["deepseek-v9", "deepseek", "deepseek-v9"],
    ["deepseek-r1", "deepseek", "deepseek-v4-flash"],
    ["qwen3-coder-plus", "alibaba", "qwen3-coder-plus"],
    ["qwen-max", "alibaba", "qwen-max"],
    ["glm-9", "zai", "glm-9"],
  ])("model names like %s go to the vendor their prefix names", (name, vendor, modelId, effort?: string) => {
    expect(choose(name)).toMatchObject({ vendor, modelId });
    expect(choose(name).effort).toBe(effort);
    expect(choose(name).notice).toBeUndefined();
  });

  it("an unknown model id needs its vendor's API key, or an endpoint of the user", () => {
    expect(refusal({ flag: "grok-9", env: anthropic })).toMatchObject({ code: "NOT_AUTHENTICATED" });
    const endpoints = { box: { baseUrl: "http://127.0.0.1:1/v1", models: ["qwen3-coder"] } };
    expect(choose("qwen3-coder", { endpoints }).vendor).toBe("box");
  });

  it.each(["composer-1", "composer-2.5-fast", "cheetah", "Cheetah"])(
    "%s means the default model, and a notice says so",
    (name) => {
      for (const choice of [choose(name), choose(undefined, { configModel: name })]) {
        expect(choice).toMatchObject({ modelId: newest.model });
        expect(choice.notice).toContain(`The default model answers: ${newest.name}.`);
      }
      expect(resolveModel({ flag: name, env: {} })).toMatchObject({ kind: "offline" });
      const env = { ...everyKey, COURSER_MODEL: "gpt-5" };
      for (const flag of [name, "auto"])
        for (const given of [{ env }, { env: everyKey, configModel: "gpt-5" }])
          expect(resolveModel({ flag, ...given })).toMatchObject({ modelId: "gpt-5" });
    },
  );

  it("auto means the default model without a notice", () => {
    expect(choose("auto")).toMatchObject({ modelId: newest.model });
    expect(choose("auto").notice).toBeUndefined();
  });
});

describe("efforts", () => {
  it.each([
    ["gpt-5-xhigh", "GPT-5", "minimal, low, medium, high"],
    ["gpt-5.5[effort=max]", "GPT-5.5", "none, low, medium, high, xhigh"],
    ["gpt-6-astra-none", "GPT-6 Astra", "low, medium, high, xhigh, max"],
    ["grok-4.6-max", "Grok 4.6", "low, medium, high, xhigh"],
    ["opus-4.6-xhigh", "Claude 4.6 Opus", "none, low, medium, high, max"],
    ["opus-5.5-none", "Claude 5.5 Opus", "low, medium, high, xhigh, max"],
    ["gemini-3.1-pro-minimal", "Gemini 3.1 Pro", "low, medium, high"],
  ])("%s is rejected with the available effort levels", (flag, name, has) => {
    const { code, message } = refusal({ flag, env: everyKey });
    expect([code, message]).toEqual(["USAGE", expect.stringContaining(name)]);
    expect(message).toContain(`It has ${has}.`);
  });

  it.each([
    ["sonnet-4", undefined],
    ["sonnet-4-thinking", "medium"],
    ["sonnet-4.5", undefined],
    ["sonnet-4-none", "none"],
    ["sonnet-5.5", "medium"],
    ["opus-5.5-max", "max"],
    ["haiku-none", "none"],
    ["gpt-5.5", undefined],
    ["gpt-6-sol-max", "max"],
    ["gpt-5-minimal", "minimal"],
    ["openrouter/some/model", undefined],
  ])("the model name %s means the effort %s", (flag, effort) => {
    expect(choose(flag).effort).toBe(effort);
    for (const effortFlag of ["high", "low"]) expect(choose(flag, { effortFlag }).effort).toBe(effortFlag);
  });

  it("the effort level of an unknown model is sent as it is", () => {
    expect(choose("openrouter/some/model", { effortFlag: "xhigh" }).effort).toBe("xhigh");
    for (const asked of [{ flag: "gpt-4.1", effortFlag: "high" }, { flag: "gpt-4.1-high" }])
      expect(refusal({ ...asked, env: everyKey }).message).toContain("does not think on demand");
  });
});

describe("choosing a model without a name", () => {
  it.each<[string, Partial<ModelChoice>, string, string]>([
    ["an Anthropic key", { env: anthropic }, "anthropic", newest.model],
    ["all keys", { env: everyKey }, "anthropic", newest.model],
    ["an OpenAI key", { env: { OPENAI_API_KEY: "k" } }, "openai", "gpt-5.5"],
    ["a Gemini key", { env: { GEMINI_API_KEY: "k" } }, "google", "gemini-3.1-pro-preview"],
    ["an OpenRouter key", { env: { OPENROUTER_API_KEY: "k" } }, "openrouter", "anthropic/claude-sonnet-5.5"],
    ["a saved key", { env: {}, keys: { openai: "k" } }, "openai", "gpt-5.5"],
    ["CURSOR_API_KEY", { env: { CURSOR_API_KEY: "secret" } }, "anthropic", newest.model],
    ["a key that tells its vendor", { env: {}, apiKeyFlag: "sk-or-v1-x" }, "openrouter", "anthropic/claude-sonnet-5.5"],
    ["nothing", { env: {} }, "offline", "offline"],
    ["a key of Cursor's own", { env: { CURSOR_API_KEY: "key_0123" } }, "offline", "offline"],
    ["a blank key", { env: { ANTHROPIC_API_KEY: "  " } }, "offline", "offline"],
    [
      "only an endpoint",
      { env: {}, endpoints: { box: { baseUrl: "http://10.0.0.2:8000/v1", models: ["qwen"] } } },
      "box",
      "qwen",
    ],
  ])("if no model is named, the run chooses one by keys and settings: %s", (_, choice, vendor, modelId) => {
    expect(resolveModel({ env: {}, ...choice })).toMatchObject({ vendor, modelId });
    expect(resolveModel({ env: {}, ...choice, flag: "auto" })).toMatchObject({ vendor, modelId });
  });

  it("the --model flag overrides COURSER_MODEL, and that overrides the configuration", () => {
    const env = { ...everyKey, COURSER_MODEL: "gpt-5" };
    expect(resolveModel({ env, flag: "sonnet-4", configModel: "opus-4.6" }).modelId).toBe("claude-sonnet-4-0");
    expect(resolveModel({ env, configModel: "opus-4.6" }).modelId).toBe("gpt-5");
    expect(resolveModel({ env: everyKey, configModel: "opus-4.6" }).modelId).toBe("claude-opus-4-6");
    expect(resolveModel({ env: everyKey, configModel: "auto" }).modelId).toBe(newest.model);
  });
});

describe("keys", () => {
  it("every model key has a named source", () => {
    expect(choose("sonnet-4.5")).toMatchObject({ key: "sk-ant-1", apiKeySource: "env" });
    expect(choose("sonnet-4.5", { apiKeyFlag: "k" })).toMatchObject({ key: "k", keys: ["k"], apiKeySource: "flag" });
    expect(choose("sonnet-4.5", { env: {}, keys: { anthropic: "saved" } })).toMatchObject({
      key: "saved",
      apiKeySource: "login",
    });
    expect(choose("sonnet-4.5", { env: { CURSOR_API_KEY: "c" } })).toMatchObject({ key: "c", apiKeySource: "env" });
    expect(choose("offline")).toMatchObject({ apiKeySource: "env", keys: [] });
    expect(choose("offline", { env: {} })).toMatchObject({ apiKeySource: "none", keys: [] });
    expect(choose("ollama/x", { env: {} })).toMatchObject({ apiKeySource: "none", local: true });
  });

  it("a run tries all API keys of a vendor, best first", () => {
    const keys = choose("sonnet-4.5", {
      env: { ...anthropic, CURSOR_API_KEY: "c" },
      keys: { anthropic: "saved" },
    }).keys;
    expect(keys).toEqual(["sk-ant-1", "c", "saved"]);
  });

  it.each(["sonnet-4.5", "gpt-5", "openrouter/x/y", "google/gemini-9"])(
    "the error about a missing API key says which one to set: %s",
    (flag) => {
      const error = refusal({ flag, env: {} });
      expect(error.code).toBe("NOT_AUTHENTICATED");
      expect(error.message).toMatch(/^Not authenticated/);
      expect(error.message).toMatch(/export \w+_API_KEY=<key>, or courser login \w+, or pass it with --api-key <key>/);
    },
  );

  it("a configured model without an API key never becomes the offline model", () => {
    expect(refusal({ configModel: "sonnet-4.5", env: {} }).code).toBe("NOT_AUTHENTICATED");
    expect(refusal({ env: { COURSER_MODEL: "gpt-5" } }).code).toBe("NOT_AUTHENTICATED");
  });

  it("API keys of a vendor are not sent to another vendor's server", () => {
    const endpoints = { anthropic: { baseUrl: "http://10.0.0.1/v1" } };
    expect(resolveModel({ flag: "sonnet-4.5", env: anthropic, endpoints })).toMatchObject({
      keys: [],
      baseUrl: "http://10.0.0.1/v1",
    });
    expect(resolveModel({ flag: "sonnet-4.5", env: {}, keys: { anthropic: "saved" }, endpoints }).keys).toEqual([]);
    expect(
      resolveModel({
        flag: "box/m",
        env: {},
        keys: { box: "saved" },
        endpoints: { box: { baseUrl: "http://10.0.0.1/v1" } },
      }).keys,
    ).toEqual(["saved"]);
    const named = { anthropic: { baseUrl: "http://10.0.0.1/v1", keyEnv: "ANTHROPIC_API_KEY" } };
    expect(resolveModel({ flag: "sonnet-4.5", env: anthropic, endpoints: named }).key).toBe("sk-ant-1");
    expect(resolveModel({ flag: "m", endpointFlag: "http://10.0.0.1/v1", env: everyKey }).keys).toEqual([]);
  });
});

describe("endpoints", () => {
  const endpoints = {
    box: { baseUrl: "http://10.0.0.2:8000/v1/", headers: { "x-team": "a" }, models: ["qwen", "glm"] },
    claude: { type: "anthropic", baseUrl: "https://gateway.example/anthropic/v1", keyEnv: "GATEWAY_KEY" },
    wrong: { type: "soap", baseUrl: "http://10.0.0.2/v1" },
    empty: {},
  };
  const env = { GATEWAY_KEY: "g" };

  it("a model endpoint is found by its name, or by a model it lists", () => {
    expect(resolveModel({ flag: "box/anything/else", env, endpoints })).toMatchObject({
      kind: "openai-compatible",
      vendor: "box",
      modelId: "anything/else",
      baseUrl: "http://10.0.0.2:8000/v1",
      headers: { "x-team": "a" },
    });
    expect(resolveModel({ flag: "glm", env, endpoints })).toMatchObject({ vendor: "box", modelId: "glm" });
    expect(resolveModel({ flag: "claude/sonnet", env, endpoints })).toMatchObject({
      kind: "anthropic",
      key: "g",
      modelId: "sonnet",
    });
  });

  it("faulty endpoints and empty variables are reported", () => {
    expect(refusal({ flag: "wrong/m", env, endpoints })).toMatchObject({ code: "CONFIG_INVALID" });
    expect(refusal({ flag: "empty/m", env, endpoints }).message).toContain("no baseUrl");
    expect(refusal({ flag: "claude/m", env: {}, endpoints }).message).toContain("GATEWAY_KEY");
  });

  it("--endpoint is an OpenAI-compatible server that gets the model's name unchanged", () => {
    expect(
      resolveModel({
        flag: "qwen/qwen3",
        endpointFlag: "http://127.0.0.1:8000/v1/",
        headerFlags: ["X-A: b: c"],
        apiKeyFlag: "k",
        env: {},
      }),
    ).toMatchObject({
      kind: "openai-compatible",
      baseUrl: "http://127.0.0.1:8000/v1",
      modelId: "qwen/qwen3",
      headers: { "x-a": "b: c" },
      key: "k",
      local: true,
    });
    expect(refusal({ endpointFlag: "http://127.0.0.1/v1", configModel: "sonnet-4.5", env: everyKey })).toMatchObject({
      code: "USAGE",
    });
    expect(refusal({ endpointFlag: "not a url", flag: "m", env: {} })).toMatchObject({ code: "USAGE" });
    const header = refusal({ flag: "gpt-5", headerFlags: ["Authorization Bearer secret"], env: everyKey });
    expect(header.code).toBe("USAGE");
    expect(header.message).not.toContain("secret");
    expect(refusal({ flag: "gpt-5", headerFlags: ["a: b\r\nc: d"], env: everyKey })).toMatchObject({ code: "USAGE" });
  });

  it("the usual environment variables change the base URLs of vendors", () => {
    expect(choose("ollama/x", { env: { OLLAMA_HOST: "0.0.0.0" } }).baseUrl).toBe("http://127.0.0.1:11434/v1");
    expect(choose("ollama/x", { env: { OLLAMA_HOST: "box:1234" } }).baseUrl).toBe("http://box:1234/v1");
    expect(choose("sonnet-4.5", { env: { ...anthropic, ANTHROPIC_BASE_URL: "https://gateway.example" } }).baseUrl).toBe(
      "https://gateway.example/v1",
    );
    expect(
      choose("gpt-5", { env: { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "https://gateway.example/openai/v1/" } }).baseUrl,
    ).toBe("https://gateway.example/openai/v1");
  });
});

it("fallback models are resolved the same way, with their own keys", () => {
  const found = choose("sonnet-4.5", { apiKeyFlag: "flag-key", effortFlag: "high" }).other("gpt-5");
  expect(found).toMatchObject({ vendor: "openai", key: "sk-1" });
  expect(found.effort).toBeUndefined();
  const endpoint = resolveModel({ flag: "m1", endpointFlag: "http://127.0.0.1:1/v1", apiKeyFlag: "k", env: {} }).other(
    "m2",
  );
  expect(endpoint).toMatchObject({ baseUrl: "http://127.0.0.1:1/v1", modelId: "m2", key: "k" });
});
