import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CursorAgentModelAdapter } from "../../src/adapter/adapter.ts";
import { type AdapterConfig, checkConfig, loadConfig } from "../../src/adapter/config.ts";
import { runTurn } from "../../src/adapter/run-turn.ts";
import { createExecTool } from "../../src/adapter/tools/exec.ts";
import { createToolRouter } from "../../src/adapter/tools/router.ts";
import { createWebFetchTool, createWebSearchTool } from "../../src/adapter/tools/web.ts";
import { adapterOf, hello, model, scratchFolder, tell } from "./support.ts";

const folder = scratchFolder();
const cli = { provider: "cursor-agent-cli", command: "agent" };
const wrong = (config: unknown) => {
  try {
    checkConfig(config, "openclaw.json");
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("nothing was wrong");
};
const wrongModel = (more: object) => wrong({ models: { a: { ...cli, ...more } } });

test("the adapter loads the turn contract's example configuration with its fallback", () => {
  const auto = {
    provider: "cursor-agent-cli",
    command: "agent",
    args: ["-p", "--output-format", "stream-json", "--stream-partial-output"],
    promptAsArg: true,
    timeoutMs: 600_000,
    authProfiles: ["default"],
    fallbackModels: ["fallback-default"],
    enabled: true,
  };
  const { models, defaultModel, warnings } = checkConfig({
    models: { "cursor-auto": auto, "fallback-default": { ...cli, args: ["auto"] } },
    channels: { slack: {} },
  });
  expect(defaultModel).toBe("cursor-auto");
  expect(warnings).toEqual([]);
  expect(models.get("cursor-auto")).toMatchObject({ ...auto, headlessFlags: ["--approve-mcps", "--force"] });
  expect(models.get("fallback-default")).toMatchObject({ promptAsArg: false, enabled: true, timeoutMs: 600_000 });
});

test("the adapter skips a fallback model that does not exist, with a warning", () => {
  const { models, warnings } = checkConfig({ models: { a: { ...cli, fallbackModels: ["fallback-default", "A"] } } });
  expect(models.get("a")!.fallbackModels).toEqual(["fallback-default", "A"]);
  expect(warnings).toEqual([
    'models["a"].fallbackModels names "fallback-default", which is not in "models" (there are a); skipped.',
    'models["a"].fallbackModels names "A", which is not in "models"; did you mean "a"?; skipped.',
  ]);
});

describe("configuration mistakes are reported with their place and how to fix them", () => {
  test.each([
    [{ command: 1 }, 'openclaw.json: models["a"].command must be a string, not 1.'],
    [{ command: " " }, "must be a string"],
    [{ args: "auto" }, 'models["a"].args must be a list of strings, not "auto".'],
    [{ args: ["x", 1] }, "must be a list of strings"],
    [{ promptAsArg: "yes" }, "must be true or false"],
    [{ timeoutMs: 0 }, "must be a positive number of milliseconds"],
    [{ timeoutMs: "10s" }, "must be a positive number of milliseconds"],
    [{ stopMs: { cancl: 5 } }, '"cancl" is not valid'],
    [{ stopMs: 5 }, "must be an object such as"],
    [{ framing: "xml" }, 'must be "auto", "ndjson" or "sentinel"'],
    [{ promptAsArgs: true }, 'models["a"].promptAsArgs is unknown; did you mean "promptAsArg"?'],
    [{ authProfiles: ["work"] }, 'names "work", which is not in "profiles"'],
    [{ authProfiles: [] }, "must name at least one"],
  ])("the adapter reports a mistake in a model's configuration with its place: %j", (more, message) =>
    expect(wrongModel(more)).toContain(message),
  );

  test.each([
    [undefined, "must be an object"],
    [[], "must be an object"],
    [{}, '"models" must be an object such as'],
    [{ models: {} }, '"models" must be an object such as'],
    [{ models: { a: 1 } }, 'models["a"] must be an object'],
    [{ models: { a: { command: "agent" } } }, 'needs "provider": "cursor-agent-cli"'],
    [{ models: { a: { provider: "cursor-agent-cli" } } }, 'needs "command"'],
    [{ models: { a: { ...cli, enabled: false } } }, "no enabled model with"],
    [{ models: { a: cli }, defaultModel: "b" }, '"defaultModel" must be the name of a configured model'],
    [{ models: { a: cli }, profiles: [] }, '"profiles" must be an object'],
    [{ models: { a: cli }, profiles: { p: { env: { KEY: 1 } } } }, 'profiles["p"].env.KEY must be a string'],
  ])("the adapter reports a mistake in the configuration file with its place: %j", (config, message) =>
    expect(wrong(config)).toContain(message),
  );

  test("the adapter does not print an API key that is inside a faulty configuration", () => {
    expect(wrong({ models: { a: cli }, profiles: { p: { env: { KEY: ["s3cret-value"] } } } })).not.toContain("s3cret");
  });
});

test("the adapter skips and reports settings that belong to other programs", () => {
  const { models, warnings } = checkConfig({ models: { a: { ...cli, colour: "red" }, o: { provider: "ollama" } } });
  expect([...models.keys()]).toEqual(["a"]);
  expect(warnings).toEqual([
    'models["a"].colour is unknown and has no effect.',
    'models["o"] has the provider "ollama", which is not supported here; skipped.',
  ]);
});

test("the adapter reads a configuration file, and names a missing or broken one in its error", async () => {
  const file = join(folder, "openclaw.json");
  writeFileSync(file, `\ufeff${JSON.stringify({ models: { a: model("answer") } })}`);
  expect((await tell(new CursorAgentModelAdapter(loadConfig(file)))).text).toBe("Hello world");
  expect(() => loadConfig(join(folder, "none.json"))).toThrow(/none\.json cannot be read: it does not exist/);
  writeFileSync(file, "{");
  expect(() => loadConfig(file)).toThrow(/openclaw\.json is not JSON/);
  writeFileSync(file, "{}");
  expect(() => loadConfig(file)).toThrow(`${file}: "models" must be`);
});

test("the adapter opens a session only for a known, enabled model, and leaves out fallbacks that are not enabled", async () => {
  const models: AdapterConfig["models"] = { a: model("answer"), b: model("answer", { enabled: false }) };
  const adapter = adapterOf(models);
  expect((await adapter.createSession()).model).toBe("a");
  await expect(adapter.createSession({ model: "b" })).rejects.toThrow('"b" is not enabled. Available: a.');
  await expect(adapter.createSession({ model: "x" })).rejects.toThrow('"x" is not configured');
  expect((await adapter.createSession({ cwd: folder })).cwd).toBe(folder);
});

test.each([undefined, [], [{}], [{ role: "user" }], [{ role: "user", content: 1 }]])(
  "the adapter refuses invalid messages of a turn: %j",
  async (messages) => {
    const adapter = adapterOf({ a: model("answer") });
    const session = await adapter.createSession();
    expect(() => adapter.sendTurn(session, { messages: messages as never })).toThrow(
      /^sendTurn(: messages must be| needs messages)/,
    );
  },
);

test("the adapter refuses misspelt options with a suggestion", async () => {
  const config = { models: { a: model("answer") } };
  const adapter = new CursorAgentModelAdapter(config);
  const session = await adapter.createSession();
  const calls: [() => unknown, string][] = [
    [
      () => new CursorAgentModelAdapter(config, { cwdd: "/" } as never),
      "CursorAgentModelAdapter: unknown option 'cwdd'. Did you mean cwd?",
    ],
    [
      () => new CursorAgentModelAdapter(config, { log: "yes" } as never),
      "CursorAgentModelAdapter: log must be a function.",
    ],
    [
      () => adapter.sendTurn(session, { messages: hello, singal: 1 } as never),
      "sendTurn: unknown option 'singal'. Did you mean signal?",
    ],
    [
      () => runTurn(adapter, session, { messages: hello, maxStep: 1 } as never),
      "runTurn: unknown option 'maxStep'. Did you mean maxSteps?",
    ],
    [
      () => runTurn(adapter, session, { messages: hello, tools: [] } as never),
      "runTurn: tools must be a router: createToolRouter([…]).",
    ],
    [() => createExecTool({ allows: [] } as never), "createExecTool: unknown option 'allows'. Did you mean allow?"],
    [
      () => createWebFetchTool({ timeout: 1 } as never),
      "createWebFetchTool: unknown option 'timeout'. The options are allow, deny, ask, maxCharacters, limits, env.",
    ],
    [
      () => createWebSearchTool({ counts: 1 } as never),
      "createWebSearchTool: unknown option 'counts'. Did you mean count?",
    ],
    [() => createToolRouter([{ name: "x", schema: {} }] as never), 'createToolRouter: tool 1 needs "run".'],
  ];
  for (const [call, message] of calls) {
    expect(call).toThrow(message);
    expect(call).toThrow(expect.objectContaining({ name: "UserError", code: "USAGE" }));
  }
  await expect(adapter.createSession({ modle: "a" } as never)).rejects.toThrow("Did you mean model?");
  expect(new CursorAgentModelAdapter({ ...config, profile: {} } as never).warnings).toEqual([
    '"profile" has no effect; did you mean "profiles"?',
  ]);
});
