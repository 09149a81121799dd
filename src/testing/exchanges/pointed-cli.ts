// Points each agent CLI, in its user's own home, at another server than its vendor's.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse as parseToml } from "smol-toml";
import { fieldsOf, isObject, type JsonObject } from "../../json/object.ts";
import { vendors } from "../../model/catalog.ts";
import { usageError } from "../../protocol/error-codes.ts";
import type { BuiltInTool } from "../../sdk/unified.ts";
import { parseJsonc } from "../../store/jsonc.ts";
import { tryOr } from "../../text/try-or.ts";

export type PointedRequest = {
  env: NodeJS.ProcessEnv;
  home: string;
  cwd: string;
  /** The arguments that follow the program. */
  args: readonly string[];
  /** Returns the address of a server that replaces the vendor at this one. */
  standIn(vendor: string): string;
  /** Whether this is a replay, which needs no key. */
  isReplay: boolean;
};

/** Variables, arguments to put first, and folders to remove when the program has ended. */
export type PointedCli = { env: Record<string, string>; words?: readonly string[]; folders?: readonly string[] };

/** A value for key variables where no real key is needed. */
export const placeholderKey = "replayed-without-a-key";

export const pointedClis: Record<Exclude<BuiltInTool, "cursor">, (request: PointedRequest) => PointedCli> = {
  claude({ env, home, standIn, isReplay }) {
    const folder = env["CLAUDE_CONFIG_DIR"] ?? join(home, ".claude");
    const settings = readJson(join(folder, "settings.json"));
    const inSettings = isObject(settings.env) ? settings.env.ANTHROPIC_BASE_URL : undefined;
    const url = standIn(textOr(inSettings, env["ANTHROPIC_BASE_URL"] ?? "https://api.anthropic.com"));
    const hasLogin =
      ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"].some((name) => env[name]) ||
      existsSync(join(folder, ".credentials.json"));
    return {
      env: {
        ANTHROPIC_BASE_URL: url,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
        ...(isReplay && !hasLogin && { ANTHROPIC_API_KEY: placeholderKey }),
      },
      // Variables in its settings override those of its environment.
      ...(inSettings !== undefined && {
        words: ["--settings", JSON.stringify({ env: { ANTHROPIC_BASE_URL: url } })],
      }),
    };
  },

  codex({ env, home, standIn, isReplay }) {
    const folder = env["CODEX_HOME"] ?? join(home, ".codex");
    const config = readToml(join(folder, "config.toml"));
    const name = textOr(config.model_provider, "openai");
    const providerConfig = isObject(config.model_providers) ? config.model_providers[name] : undefined;
    const login = readJson(join(folder, "auth.json"));
    const usual = isObject(login.tokens) ? "https://chatgpt.com/backend-api/codex" : "https://api.openai.com/v1";
    const named = isObject(providerConfig)
      ? providerConfig.base_url
      : (config.openai_base_url ?? env["OPENAI_BASE_URL"]);
    const url = standIn(textOr(named, usual));
    const setting = isObject(providerConfig) ? `model_providers.${name}.base_url` : "openai_base_url";
    const key = isObject(providerConfig) ? textOr(providerConfig.env_key, "CODEX_API_KEY") : "CODEX_API_KEY";
    const needsKey = isReplay && env[key] === undefined && Object.keys(login).length === 0;
    return {
      env: needsKey ? { [key]: placeholderKey } : {},
      words: [
        ...["-c", `${setting}=${JSON.stringify(url)}`],
        ...["-c", "features.enable_request_compression=false"],
        ...["-c", "check_for_update_on_startup=false"],
      ],
    };
  },

  gemini({ env, home, standIn, isReplay }) {
    const hasLogin =
      ["GEMINI_API_KEY", "GOOGLE_API_KEY"].some((name) => env[name]) ||
      existsSync(join(home, ".gemini/oauth_creds.json"));
    return {
      env: {
        GOOGLE_GEMINI_BASE_URL: standIn(env["GOOGLE_GEMINI_BASE_URL"] ?? "https://generativelanguage.googleapis.com"),
        CODE_ASSIST_ENDPOINT: standIn(env["CODE_ASSIST_ENDPOINT"] ?? "https://cloudcode-pa.googleapis.com"),
        ...(isReplay && !hasLogin && { GEMINI_API_KEY: placeholderKey }),
      },
    };
  },

  opencode({ env, home, cwd, args, standIn, isReplay }) {
    const folder = join(env["XDG_CONFIG_HOME"] ?? join(home, ".config"), "opencode");
    const names = ["config.json", "opencode.json", "opencode.jsonc"];
    const files = [folder, cwd].flatMap((place) => names.map((name) => readJson(join(place, name))));
    const baseConfig = parsedObject(env["OPENCODE_CONFIG_CONTENT"] ?? "{}");
    const configs = [...files, readJson(env["OPENCODE_CONFIG"] ?? ""), baseConfig];
    const model = flagValue(args, ["--model", "-m"]) ?? textOr(configs.findLast((each) => each.model)?.model, "");
    const id = providerOf("opencode", model);
    const baseUrls = configs.map((config) => fieldAt(config, "provider", id, "options", "baseURL"));
    const options = {
      baseURL: standIn(textOr(baseUrls.findLast(Boolean), "") || knownVendor("opencode", id)),
      ...(isReplay && { apiKey: placeholderKey }),
    };
    const providers = fieldsOf(baseConfig.provider);
    const providerConfig = isObject(providers[id]) ? providers[id] : {};
    const before = fieldsOf(providerConfig.options);
    const provider = { ...providers, [id]: { ...providerConfig, options: { ...before, ...options } } };
    return {
      env: {
        OPENCODE_CONFIG_CONTENT: JSON.stringify({ ...baseConfig, provider }),
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_MODELS_FETCH: "1",
      },
    };
  },

  pi({ env, home, args, standIn, isReplay }) {
    const folder = env["PI_CODING_AGENT_DIR"] ?? join(home, ".pi/agent");
    const models = readJson(join(folder, "models.json"));
    const settings = readJson(join(folder, "settings.json"));
    const named = flagValue(args, ["--provider"]) ?? textOr(settings.defaultProvider, "");
    const model = flagValue(args, ["--model"]) ?? "";
    const id = model.includes("/") ? providerOf("pi", model) : named || providerOf("pi", model);
    const baseUrl = textOr(fieldAt(models, "providers", id, "baseUrl"), "") || knownVendor("pi", id);
    const providers = fieldsOf(models.providers);
    const providerConfig = isObject(providers[id]) ? providers[id] : {};
    const provider = { ...providerConfig, baseUrl: standIn(baseUrl), ...(isReplay && { apiKey: placeholderKey }) };
    // pi reads only one folder: make a copy in which this file differs. Its sessions stay where they are.
    const copy = mkdtempSync(join(tmpdir(), "courser-pi-"));
    mkdirSync(join(folder, "sessions"), { recursive: true });
    for (const name of readdirSync(folder))
      if (name !== "models.json") symlinkSync(join(folder, name), join(copy, name));
    writeFileSync(
      join(copy, "models.json"),
      JSON.stringify({ ...models, providers: { ...providers, [id]: provider } }),
      { mode: 0o600 },
    );
    return { env: { PI_CODING_AGENT_DIR: copy, PI_SKIP_VERSION_CHECK: "1" }, folders: [copy] };
  },
};

/** Omits the version from the path for programs that add it themselves. */
function knownVendor(program: string, id: string): string {
  const existing = vendors.find(({ name }) => name === id)?.baseUrl;
  if (existing === undefined || existing.includes("{"))
    throw usageError(
      `The address of ${program}'s provider ${id} is not known here. Name it in its configuration, then record again.`,
    );
  return program === "pi" && id === "anthropic" ? existing.replace(/\/v1$/, "") : existing;
}

function providerOf(program: string, model: string): string {
  const [, id] = /^([^/]+)\//.exec(model) ?? [];
  if (id === undefined)
    throw usageError(
      `${program} has many providers: name the one to record with the model, as in ${program} --model anthropic/claude-sonnet-4-5.`,
    );
  return id;
}

function flagValue(args: readonly string[], flags: readonly string[]): string | undefined {
  for (const [index, word] of args.entries()) {
    if (flags.includes(word)) return args[index + 1];
    const flag = flags.find((each) => word.startsWith(`${each}=`));
    if (flag) return word.slice(flag.length + 1);
  }
  return undefined;
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" && value !== "" ? value : otherwise;
}

function fieldAt(value: unknown, ...names: string[]): unknown {
  return names.reduce((inside, name) => (isObject(inside) ? inside[name] : undefined), value);
}

/** Ignores a missing or invalid file: the CLI itself reports it. */
function readJson(path: string): JsonObject {
  return existsSync(path) ? parsedObject(readFileSync(path, "utf8")) : {};
}

function parsedObject(text: string): JsonObject {
  return fieldsOf(tryOr(() => parseJsonc(text), undefined));
}

function readToml(path: string): JsonObject {
  return tryOr(() => (existsSync(path) ? (parseToml(readFileSync(path, "utf8")) as JsonObject) : {}), {});
}
