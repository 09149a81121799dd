// The models and vendors known by name. Data; any other model is reached as `vendor/model`.
import { suffixesOf, withoutSuffixes } from "./families.ts";
import type { Price } from "./prices.ts";
import type { Effort } from "./provider.ts";

/** How a server is spoken to. */
export type WireKind = "anthropic" | "openai" | "google" | "openai-compatible";

export type VendorRow = {
  name: string;
  label: string;
  kind: WireKind;
  baseUrl: string;
  /** Variables that may hold the key; the first that is set counts. None: no key is needed. */
  keyVariables: readonly string[];
  /** How its keys begin, where that tells. */
  keyPrefix?: string;
  /** Variable that moves the server elsewhere. */
  baseUrlVariable?: string;
  /** The model to take when only this vendor's key is known … */
  defaultModel?: string;
  /** … or its line: the newest of the catalog is taken. `*` stands for the version. */
  defaultLine?: string;
  /** It runs on this machine. */
  local?: true;
  /** An OpenAI-compatible server that wants thinking back as `reasoning_content`; others refuse the field. */
  takesThinking?: true;
};

export const vendors: readonly VendorRow[] = [
  vendor("anthropic", "Anthropic", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY", {
    kind: "anthropic",
    keyPrefix: "sk-ant-",
    baseUrlVariable: "ANTHROPIC_BASE_URL",
    defaultLine: "claude-*-sonnet",
  }),
  vendor("openai", "OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY", {
    kind: "openai",
    keyPrefix: "sk-proj-",
    baseUrlVariable: "OPENAI_BASE_URL",
    defaultLine: "gpt-*",
  }),
  vendor(
    "google",
    "Google",
    "https://generativelanguage.googleapis.com/v1beta",
    "GOOGLE_GENERATIVE_AI_API_KEY GEMINI_API_KEY GOOGLE_API_KEY",
    { kind: "google", keyPrefix: "AIza", defaultLine: "gemini-*-pro" },
  ),
  vendor("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", {
    keyPrefix: "sk-or-",
    defaultLine: "claude-*-sonnet",
  }),
  vendor("xai", "xAI", "https://api.x.ai/v1", "XAI_API_KEY", { keyPrefix: "xai-", defaultLine: "grok-*" }),
  vendor("deepseek", "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY", {
    defaultModel: "deepseek-chat",
    takesThinking: true,
  }),
  vendor("mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY", {
    defaultModel: "devstral-medium-latest",
  }),
  vendor("groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY", {
    keyPrefix: "gsk_",
    defaultModel: "openai/gpt-oss-120b",
  }),
  vendor("cerebras", "Cerebras", "https://api.cerebras.ai/v1", "CEREBRAS_API_KEY", {
    keyPrefix: "csk-",
    defaultModel: "gpt-oss-120b",
  }),
  vendor("together", "Together", "https://api.together.xyz/v1", "TOGETHER_API_KEY TOGETHER_AI_API_KEY", {}),
  vendor("fireworks", "Fireworks", "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", { keyPrefix: "fw_" }),
  vendor("moonshot", "Moonshot", "https://api.moonshot.ai/v1", "MOONSHOT_API_KEY", { takesThinking: true }),
  vendor("alibaba", "Alibaba", "https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY", {}),
  vendor("zai", "Z.ai", "https://api.z.ai/api/paas/v4", "ZAI_API_KEY", { takesThinking: true }),
  vendor("huggingface", "Hugging Face", "https://router.huggingface.co/v1", "HF_TOKEN", { keyPrefix: "hf_" }),
  vendor("nvidia", "NVIDIA", "https://integrate.api.nvidia.com/v1", "NVIDIA_API_KEY", { keyPrefix: "nvapi-" }),
  vendor("ollama", "Ollama", "http://127.0.0.1:11434/v1", "", { local: true, baseUrlVariable: "OLLAMA_HOST" }),
  vendor("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1", "", { local: true }),
  vendor("llamacpp", "llama.cpp", "http://127.0.0.1:8080/v1", "", { local: true }),
  vendor("vllm", "vLLM", "http://127.0.0.1:8000/v1", "", { local: true }),
];

export type ModelRow = {
  /** What users type and `models` prints. */
  id: string;
  aliases: readonly string[];
  vendor: string;
  /** The vendor's own id. */
  model: string;
  name: string;
  contextTokens: number;
  /** Most tokens of one answer, thinking included. Absent: the vendor takes its own limit where none is named. */
  outputTokens?: number;
  price?: Price;
  /** It can think on demand: the suffix -thinking and an effort make sense. */
  thinks?: true;
};

const K = 1_000;
const M = 1_000_000;

/** When the prices and limits below were last compared with what the vendors publish. */
export const pricesAsOf = "2026-11-17";

/** Prices and limits as the vendors publish them; the price of the first tier where there are several. */
export const models: readonly ModelRow[] = [
  claude("4.5", "sonnet", "sonnet-4.5", 200 * K, [3, 15, 0.3, 3.75]),
  claude("4.6", "sonnet", "sonnet-4.6", M, [3, 15, 0.3, 3.75]),
  claude("5", "sonnet", "sonnet-5", M, [2, 10, 0.2, 2.5]),
  claude("5.5", "sonnet", "sonnet-5.5 sonnet", M, [2, 10, 0.1, 2.5]),
  claude("4", "sonnet", "sonnet-4", 200 * K, [3, 15, 0.3, 3.75], "claude-sonnet-4-0"),
  claude("4.5", "opus", "opus-4.5", 200 * K, [5, 25, 0.5, 6.25]),
  claude("4.6", "opus", "opus-4.6", M, [5, 25, 0.5, 6.25]),
  claude("4.7", "opus", "opus-4.7", M, [5, 25, 0.5, 6.25]),
  claude("4.8", "opus", "opus-4.8", M, [5, 25, 0.5, 6.25]),
  claude("5", "opus", "opus-5", M, [5, 25, 0.5, 6.25]),
  claude("5.5", "opus", "opus-5.5 opus", M, [4, 20, 0.2, 5]),
  claude("4.1", "opus", "opus-4.1", 200 * K, [15, 75, 1.5, 18.75]),
  claude("4.5", "haiku", "haiku-4.5 haiku", 200 * K, [1, 5, 0.1, 1.25]),

  gpt("gpt-5", "GPT-5", 400 * K, [1.25, 10, 0.125]),
  gpt("gpt-5-mini", "GPT-5 Mini", 400 * K, [0.25, 2, 0.025]),
  gpt("gpt-5-nano", "GPT-5 Nano", 400 * K, [0.05, 0.4, 0.005]),
  gpt("gpt-5-codex", "GPT-5 Codex", 400 * K, [1.25, 10, 0.125]),
  gpt("gpt-5.1", "GPT-5.1", 400 * K, [1.25, 10, 0.125]),
  gpt("gpt-5.1-codex", "GPT-5.1 Codex", 400 * K, [1.25, 10, 0.125]),
  gpt("gpt-5.2", "GPT-5.2", 400 * K, [1.75, 14, 0.175]),
  gpt("gpt-5.3-codex", "GPT-5.3 Codex", 400 * K, [1.75, 14, 0.175]),
  gpt("gpt-5.4", "GPT-5.4", 1_050 * K, [2.5, 15, 0.25]),
  gpt("gpt-5.5", "GPT-5.5", 1_050 * K, [5, 30, 0.5]),
  gpt("gpt-5.6-sol", "GPT-5.6 Sol", 1_050 * K, [2, 10, 0.2, 2.5]),
  gpt("gpt-6-astra", "GPT-6 Astra", 1_050 * K, [10, 50, 1, 12.5]),
  gpt("o3", "OpenAI o3", 200 * K, [2, 8, 0.5]),
  { ...gpt("gpt-4.1", "GPT-4.1", 1_047_576, [2, 8, 0.5]), thinks: undefined },

  gemini("gemini-2.5-pro", "gemini-2.5-pro", "Gemini 2.5 Pro", [1.25, 10, 0.125]),
  gemini("gemini-2.5-flash", "gemini-2.5-flash", "Gemini 2.5 Flash", [0.3, 2.5, 0.03]),
  gemini("gemini-3-flash", "gemini-3-flash-preview", "Gemini 3 Flash", [0.5, 3, 0.05]),
  gemini("gemini-3.1-pro", "gemini-3.1-pro-preview", "Gemini 3.1 Pro", [2, 12, 0.2]),
  gemini("gemini-3.5-flash", "gemini-3.5-flash", "Gemini 3.5 Flash", [1.5, 9, 0.15]),
  gemini("gemini-3.8-flash", "gemini-3.8-flash", "Gemini 3.8 Flash", [0.75, 3.75, 0.075]),

  row("grok-4", "grok", "xai", "grok-4", "Grok 4", 256 * K, [3, 15, 0.75]),
  row(
    "grok-code-fast-1",
    "grok-code-fast grok-code",
    "xai",
    "grok-code-fast-1",
    "Grok Code Fast",
    256 * K,
    [0.2, 1.5, 0.02],
  ),
  row(
    "deepseek-chat",
    "deepseek deepseek-v3 deepseek-v3.1 deepseek-v3.2",
    "deepseek",
    "deepseek-chat",
    "DeepSeek Chat",
    128 * K,
    [0.28, 0.42, 0.028],
  ),
  row(
    "deepseek-reasoner",
    "deepseek-r1",
    "deepseek",
    "deepseek-reasoner",
    "DeepSeek Reasoner",
    128 * K,
    [0.28, 0.42, 0.028],
  ),
  row("devstral-medium", "devstral", "mistral", "devstral-medium-latest", "Devstral Medium", 128 * K),
];

/** `auto` is not a model: it takes whatever there is a key for. */
export const autoModel = { id: "auto", name: "Auto" };
export const offlineModel = { id: "offline", name: "Offline" };

export type KnownModel = { row: ModelRow; effort?: Effort; name: string };

/** By id, alias or the vendor's id, in any case; `-thinking`, `-low`, `-medium`, `-high` and the like behind it set the effort. */
export function findModel(text: string): KnownModel | undefined {
  const wanted = text.toLowerCase();
  const exact = rowNamed(wanted);
  if (exact) return { row: exact, name: exact.name };
  for (let end = wanted.lastIndexOf("-"); end > 0; end = wanted.lastIndexOf("-", end - 1)) {
    const row = rowNamed(wanted.slice(0, end));
    if (!row) continue;
    const { base, effort } = withoutSuffixes(wanted, row.thinks ? suffixesOf(row.vendor) : []);
    if (base.length !== end) return undefined;
    return { row, name: `${row.name}${suffixName(wanted.slice(end), effort)}`, ...(effort && { effort }) };
  }
  return undefined;
}

function rowNamed(name: string): ModelRow | undefined {
  return models.find((row) => row.id === name || row.model === name || row.aliases.includes(name));
}

function suffixName(suffix: string, effort: Effort | undefined): string {
  const isLevel = effort && suffix !== "-thinking" && suffix !== "-thinking-fast";
  const level = isLevel ? ` ${effort[0]!.toUpperCase()}${effort.slice(1)}` : "";
  return suffix.includes("-thinking") ? `${level} (Thinking)` : level;
}

/** What --model would say to get the vendor's default; undefined: it has none. */
export function defaultModelOf(vendor: VendorRow): string | undefined {
  if (vendor.defaultModel) return `${vendor.name}/${vendor.defaultModel}`;
  const newest = vendor.defaultLine === undefined ? undefined : newestOf(vendor.defaultLine);
  if (!newest || newest.vendor === vendor.name) return newest?.id;
  // Who passes on the models of others writes the version with a dot.
  return `${vendor.name}/${newest.vendor}/${newest.model.replace(/-(\d+)-(\d+)$/, "-$1.$2")}`;
}

/** Of a line such as `claude-*-sonnet`: the model with the highest version. */
function newestOf(line: string): ModelRow | undefined {
  const [before = "", after = ""] = line.split("*");
  const versionOf = ({ id }: ModelRow) => {
    const version = id.slice(before.length, id.length - after.length);
    const fits = id.startsWith(before) && id.endsWith(after) && /^\d+(?:\.\d+)?$/.test(version);
    return fits ? version.split(".").map(Number) : undefined;
  };
  const older = ([major = 0, minor = 0]: number[], [otherMajor = 0, otherMinor = 0]: number[]) =>
    major - otherMajor || minor - otherMinor;
  const versions = models.flatMap((row) => {
    const version = versionOf(row);
    return version ? [{ row, version }] : [];
  });
  return versions.sort((one, other) => older(other.version, one.version))[0]?.row;
}

export function findVendor(name: string): VendorRow | undefined {
  return vendors.find((row) => row.name === name.toLowerCase());
}

export type ModelLine = { id: string; name: string };

/** The lines of `models` and --list-models. `current` and `default` are ids of the list. */
export function listModels(choice: { current?: string; default?: string; extra?: readonly ModelLine[] }): string[] {
  const all: ModelLine[] = [autoModel, ...models, ...(choice.extra ?? []), offlineModel];
  const lines = all.map(({ id, name }) => {
    const marks = [id === choice.current && "current", id === choice.default && "default"].filter(Boolean);
    return `${id} - ${name}${marks.length > 0 ? `  (${marks.join(", ")})` : ""}`;
  });
  return [
    "Available models",
    "",
    ...lines,
    "",
    "Tip: choose one with --model <id>, or any other as --model <vendor>/<model>.",
  ];
}

function vendor(name: string, label: string, baseUrl: string, keys: string, more: Partial<VendorRow>): VendorRow {
  return { name, label, kind: "openai-compatible", baseUrl, keyVariables: keys.split(" ").filter(Boolean), ...more };
}

type Prices = [input: number, output: number, cacheRead?: number, cacheWrite?: number];

function row(
  id: string,
  aliases: string,
  vendor: string,
  model: string,
  name: string,
  contextTokens: number,
  prices?: Prices,
): ModelRow {
  const [input, output, cacheRead, cacheWrite] = prices ?? [];
  const price = prices && {
    input: input!,
    output: output!,
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
  };
  return {
    id,
    aliases: aliases.split(" ").filter(Boolean),
    vendor,
    model,
    name,
    contextTokens,
    ...(price && { price }),
  };
}

/** `model`: where the vendor's id does not follow from version and family. */
function claude(
  version: string,
  family: string,
  aliases: string,
  tokens: number,
  prices: Prices,
  model?: string,
): ModelRow {
  const id = `claude-${version}-${family}`;
  const name = `Claude ${version} ${family[0]!.toUpperCase()}${family.slice(1)}`;
  const vendorId = model ?? `claude-${family}-${version.replace(".", "-")}`;
  const outputTokens = claudeOutput(Number(version), family);
  return { ...row(id, aliases, "anthropic", vendorId, name, tokens, prices), outputTokens, thinks: true };
}

/** The Messages API must be told a limit, and refuses one that is too high. */
function claudeOutput(version: number, family: string): number {
  if (version >= 4.6) return 128 * K;
  return version >= 4.5 || family === "sonnet" ? 64 * K : 32 * K;
}

function gpt(id: string, name: string, contextTokens: number, prices: Prices): ModelRow {
  return { ...row(id, "", "openai", id, name, contextTokens, prices), thinks: true };
}

function gemini(id: string, model: string, name: string, prices: Prices): ModelRow {
  return { ...row(id, "", "google", model, name, 1_048_576, prices), thinks: true };
}
