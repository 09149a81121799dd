// A case of the group `model` that speaks of profiles or fallback models, through the adapter: our CLI is the model, once
// with turn JSON and, where the model calls no tools, once with the prompt as an argument.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CursorAgentModelAdapter } from "../../src/adapter/adapter.ts";
import type { AdapterModel } from "../../src/adapter/config.ts";
import { runTurn, type TurnResult } from "../../src/adapter/run-turn.ts";
import { createToolRouter } from "../../src/adapter/tools/router.ts";
import { modelServer, type RecordedRequest } from "../../src/testing/kit/model-server.ts";
import { keyOfProfile, providerAnswersFromCase } from "../model/model-driver.ts";
import type { Case, CaseResult } from "../support/case.ts";
import { cli, createWorkspace } from "../support/run-cli.ts";
import { type Fault, faultsWithWays, listOf, shownFaults } from "../support/ways.ts";

type Seen = {
  given: Case;
  result: TurnResult;
  /** A second turn of the same adapter: what rests is left alone in it. */
  again: TurnResult;
  requests: readonly RecordedRequest[];
  executed: unknown[];
};

export async function runModelCaseByAdapter(given: Case): Promise<CaseResult> {
  const callsTools = JSON.stringify(given.input["provider"]).includes("tool_call");
  const faults: Fault[] = [];
  let verdict = "";
  for (const style of callsTools ? (["turn"] as const) : (["turn", "argument"] as const)) {
    const seen = await play(given, style);
    verdict = seen.result.error ? `error ${seen.result.error.code}` : "success";
    const found = faultsWithWays(given.expect, {
      faults: (expect) => faultsOf(expect, seen),
      isSo: () => false,
    });
    faults.push(...found.map(({ key, text }) => ({ key, text: `${style}: ${text}` })));
  }
  const pass = faults.length === 0;
  const { result = "", error_code = "" } = given.expect;
  return {
    pass,
    safe: !faults.some(({ key }) => /executed|text|marked|cooldown/.test(key)),
    exact: pass,
    verdict,
    expected: `${result} ${error_code}`.trim(),
    detail: shownFaults(faults),
  };
}

async function play(given: Case, style: "turn" | "argument"): Promise<Seen> {
  const { config } = given;
  const server = await modelServer(providerAnswersFromCase(given));
  const workspace = createWorkspace({ "README.md": "hello\n" });
  const executed: unknown[] = [];
  try {
    mkdirSync(workspace.config, { recursive: true });
    const fake = { type: "openai-compatible", baseUrl: `${server.url}/v1`, keyEnv: "FAKE_KEY" };
    // Whoever is asked next is the adapter's business here.
    writeFileSync(join(workspace.config, "courser.json"), JSON.stringify({ providers: { fake }, retries: 0 }));
    const names: string[] = config["authProfiles"] ?? ["only"];
    const fallbacks: string[] = config["fallbackModels"] ?? [];
    const first = firstModel(given, fallbacks);
    const entry = (model: string): AdapterModel => ({
      provider: "cursor-agent-cli",
      command: cli,
      args:
        style === "turn"
          ? ["auto", "--stream-json", "--model", `fake/${model}`]
          : ["-p", "--output-format", "stream-json", "--model", `fake/${model}`],
      promptAsArg: style === "argument",
      authProfiles: names,
      timeoutMs: config["timeout_ms"] ?? 30_000,
      fallbackModels: model === first ? fallbacks : [],
    });
    const env = (name: string) => ({
      HOME: workspace.home,
      CURSOR_CONFIG_DIR: workspace.config,
      FAKE_KEY: keyOfProfile(name),
    });
    const adapter = new CursorAgentModelAdapter(
      {
        models: Object.fromEntries([first, ...fallbacks].map((model) => [model, entry(model)])),
        profiles: Object.fromEntries(names.map((name) => [name, { env: env(name) }])),
      },
      { cwd: workspace.path },
    );
    const shell = {
      name: "shell",
      schema: { type: "object" },
      run: async (args: unknown) => `done ${executed.push(args)}`,
    };
    const tools = createToolRouter(["shell", "read"].map((name) => ({ ...shell, name })));
    const session = await adapter.createSession();
    const ask = () => runTurn(adapter, session, { messages: [{ role: "user", content: "go" }], tools }).result();
    const result = await ask();
    const requests = server.requests.filter(({ method }) => method === "POST");
    const run = [...executed];
    const isAskedAgain = Object.keys(given.expect).some((key) => /_marked$|cooldown|cooled/.test(key));
    const again = isAskedAgain ? await ask() : result;
    return { given, result, again, requests, executed: run };
  } finally {
    await server.stop();
    workspace.remove();
  }
}

/** What only the CLI alone can show is checked there. */
const checks: Record<string, (seen: Seen, wanted: any) => string | undefined> = {
  result: ({ result }, wanted) => same("result", result.error ? "error" : "success", wanted),
  error_code: ({ result }, wanted) => same("code", result.error?.code, wanted),
  text: ({ result }, wanted) => same("text", result.text, wanted),
  profile: ({ result }, wanted) => same("profile", result.attempts.at(-1)?.profile, wanted),
  model: ({ requests }, wanted) => same("model", requests.at(-1)?.model, wanted),
  stream_notes_model_change: ({ result }, wanted) =>
    same("models in the attempts", new Set(result.attempts.map(({ model }) => model)).size > 1, wanted),
  executed: ({ executed }, wanted) => same("executed", JSON.stringify(executed), JSON.stringify(wanted)),
  executed_max: ({ executed }, wanted) => (executed.length <= wanted ? undefined : `${executed.length} were run`),
  cooldown: (seen, wanted) =>
    listOf(wanted)
      .map((name) => askedAgain(String(name), seen))
      .find(Boolean),
};

function faultsOf(expect: Record<string, unknown>, seen: Seen): Fault[] {
  return Object.entries(expect).flatMap(([key, wanted]) => {
    const [, marked] = /^(.+)_marked$/.exec(key) ?? [];
    const isProfile = marked !== undefined && (seen.given.config["authProfiles"] ?? []).includes(marked);
    const text = isProfile ? askedAgain(marked, seen) : checks[key]?.(seen, wanted);
    return text === undefined ? [] : [{ key, text }];
  });
}

function askedAgain(profile: string, { result, again }: Seen): string | undefined {
  const uses = result.attempts.filter((attempt) => attempt.profile === profile).length;
  if (uses !== 1) return `${profile} was asked ${uses} times`;
  return again.attempts[0]?.profile === profile ? `${profile} was asked first in the next turn` : undefined;
}

function firstModel({ input }: Case, fallbacks: readonly string[]): string {
  const named = (input["provider"] as { model?: string }[]).flatMap(({ model }) => model ?? []);
  return named.find((name) => !fallbacks.includes(name)) ?? "m1";
}

function same(what: string, actual: unknown, wanted: unknown): string | undefined {
  return actual === wanted ? undefined : `${what}: ${String(actual)} instead of ${String(wanted)}`;
}
