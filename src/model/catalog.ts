// The table of known models and vendors. Any other model is named as `vendor/model`.
import { suffixesOf, withoutSuffixes } from "./families.ts";
import type { Price } from "./prices.ts";
import type { Effort } from "./provider.ts";

/** The API that a server speaks. */
export type WireKind = "anthropic" | "openai" | "google" | "openai-compatible" | "azure" | "bedrock" | "vertex";

export type VendorRow = {
  name: string;
  label: string;
  kind: WireKind;
  /** `{NAME}` or `{NAME:default}` is replaced by an environment variable. */
  baseUrl: string;
  /** Variables that may contain the key; the first that is set is used. If empty, no key is needed. */
  keyVariables: readonly string[];
  /** The prefix of the vendor's keys, if they have one. */
  keyPrefix?: string;
  /** The environment variable that overrides the server's address. */
  baseUrlVariable?: string;
  /** The model to use if the user has a key of this vendor only. */
  defaultModel?: string;
  /** In place of `defaultModel`, a pattern for ids: the newest matching model is used. `*` stands for the version. */
  defaultLine?: string;
  /** Whether the server runs on this machine. */
  local?: true;
  /** Whether an OpenAI-compatible server expects thinking back as `reasoning_content`. Others refuse the field. */
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
    defaultModel: "deepseek-v4-pro",
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
  // A bearer key, or the id of a key with which requests are signed.
  vendor(
    "bedrock",
    "Amazon Bedrock",
    "https://bedrock-runtime.{AWS_REGION:us-east-1}.amazonaws.com",
    "AWS_BEARER_TOKEN_BEDROCK AWS_ACCESS_KEY_ID",
    { kind: "bedrock" },
  ),
  vendor(
    "vertex",
    "Google Vertex AI",
    "https://aiplatform.googleapis.com/v1/projects/{GOOGLE_VERTEX_PROJECT}/locations/{GOOGLE_VERTEX_LOCATION:global}/publishers/google",
    "GOOGLE_VERTEX_API_KEY",
    { kind: "vertex" },
  ),
  vendor(
    "azure",
    "Azure OpenAI",
    "https://{AZURE_RESOURCE_NAME}.openai.azure.com/openai/v1",
    "AZURE_API_KEY AZURE_OPENAI_API_KEY",
    { kind: "azure" },
  ),
  vendor("ollama", "Ollama", "http://127.0.0.1:11434/v1", "", { local: true, baseUrlVariable: "OLLAMA_HOST" }),
  vendor("lmstudio", "LM Studio", "http://127.0.0.1:1234/v1", "", { local: true }),
  vendor("llamacpp", "llama.cpp", "http://127.0.0.1:8080/v1", "", { local: true }),
  vendor("vllm", "vLLM", "http://127.0.0.1:8000/v1", "", { local: true }),
];

export type ModelRow = {
  /** The id that users type and that `models` prints. */
  id: string;
  aliases: readonly string[];
  vendor: string;
  /** The vendor's own id of the model. */
  model: string;
  name: string;
  /** The most tokens of one answer, thinking included. If absent, the vendor applies its own limit. */
  outputTokens?: number;
  /** The size of the context window. Like `price`, it is only set if the price table lacks the model. */
  contextTokens?: number;
  price?: Price;
};

const K = 1_000;
const M = 1_000_000;

/** The built-in models: their names, and what the price table does not contain. */
export const models: readonly ModelRow[] = [
  claude("4.5", "sonnet", "sonnet-4.5"),
  claude("4.6", "sonnet", "sonnet-4.6"),
  claude("5", "sonnet", "sonnet-5"),
  {
    ...claude("5.5", "sonnet", "sonnet-5.5 sonnet"),
    contextTokens: M,
    price: { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 },
  },
  claude("4", "sonnet", "sonnet-4", "claude-sonnet-4-0"),
  claude("4.5", "opus", "opus-4.5"),
  claude("4.6", "opus", "opus-4.6"),
  claude("4.7", "opus", "opus-4.7"),
  claude("4.8", "opus", "opus-4.8"),
  claude("5", "opus", "opus-5"),
  claude("5.5", "opus", "opus-5.5 opus"),
  claude("4.1", "opus", "opus-4.1"),
  claude("4.5", "haiku", "haiku-4.5"),
  {
    ...claude("5.5", "haiku", "haiku-5.5 haiku"),
    contextTokens: M,
    price: {
      ...{ input: 0.1, output: 0.5, cacheRead: 0.01, cacheWrite: 0.125 },
      above: { tokens: 100 * K, input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625 },
    },
  },

  gptModel("gpt-5", "GPT-5"),
  gptModel("gpt-5-mini", "GPT-5 Mini"),
  gptModel("gpt-5-nano", "GPT-5 Nano"),
  gptModel("gpt-5-codex", "GPT-5 Codex"),
  gptModel("gpt-5.1", "GPT-5.1"),
  gptModel("gpt-5.1-codex", "GPT-5.1 Codex"),
  gptModel("gpt-5.2", "GPT-5.2"),
  gptModel("gpt-5.3-codex", "GPT-5.3 Codex"),
  gptModel("gpt-5.4", "GPT-5.4"),
  gptModel("gpt-5.5", "GPT-5.5"),
  gptModel("gpt-5.6-sol", "GPT-5.6 Sol"),
  gptModel("gpt-6-astra", "GPT-6 Astra"),
  gptModel("gpt-6-sol", "GPT-6 Sol"),
  gptModel("gpt-6-luna", "GPT-6 Luna"),
  gptModel("o3", "OpenAI o3"),
  gptModel("gpt-4.1", "GPT-4.1"),

  gemini("gemini-2.5-pro", "gemini-2.5-pro", "Gemini 2.5 Pro"),
  gemini("gemini-2.5-flash", "gemini-2.5-flash", "Gemini 2.5 Flash"),
  gemini("gemini-3-flash", "gemini-3-flash-preview", "Gemini 3 Flash"),
  gemini("gemini-3.1-pro", "gemini-3.1-pro-preview", "Gemini 3.1 Pro"),
  gemini("gemini-3.5-flash", "gemini-3.5-flash", "Gemini 3.5 Flash"),
  gemini("gemini-3.8-flash", "gemini-3.8-flash", "Gemini 3.8 Flash"),

  row("grok-4.6", "grok", "xai", "grok-4.6", "Grok 4.6"),
  row("grok-4.5", "", "xai", "grok-4.5", "Grok 4.5"),
  row("grok-code-fast-1", "grok-code-fast grok-code", "xai", "grok-code-fast-1", "Grok Code Fast"),
  row("deepseek-v4-pro", "deepseek deepseek-v4", "deepseek", "deepseek-v4-pro", "DeepSeek V4 Pro"),
  // The vendor serves its older model names with this model.
  row(
    "deepseek-v4-flash",
    "deepseek-chat deepseek-reasoner deepseek-r1 deepseek-v3 deepseek-v3.1 deepseek-v3.2",
    "deepseek",
    "deepseek-v4-flash",
    "DeepSeek V4 Flash",
  ),
  {
    ...row("devstral-medium", "devstral", "mistral", "devstral-medium-latest", "Devstral Medium"),
    contextTokens: 262_144,
    price: { input: 0.4, output: 2, cacheRead: 0.04 },
  },
];

/** `auto` is not a model: it selects one for which there is a key. */
export const autoModel = { id: "auto", name: "Auto" };
export const offlineModel = { id: "offline", name: "Offline" };

export type KnownModel = { row: ModelRow; effort?: Effort; name: string };

/**
 * Finds a model by id, alias or the vendor's id, in any case; a suffix such as `-thinking`, `-low`, `-medium` or `-high` sets the effort.
 */
export function findModel(text: string): KnownModel | undefined {
  const wanted = text.toLowerCase();
  const exact = rowNamed(wanted);
  if (exact) return { row: exact, name: exact.name };
  for (let end = wanted.lastIndexOf("-"); end > 0; end = wanted.lastIndexOf("-", end - 1)) {
    const row = rowNamed(wanted.slice(0, end));
    if (!row) continue;
    const { base, effort } = withoutSuffixes(wanted, suffixesOf(row.vendor));
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

/** Returns the --model value for the vendor's default; undefined if it has none. */
export function defaultModelOf(vendor: VendorRow): string | undefined {
  if (vendor.defaultModel) return `${vendor.name}/${vendor.defaultModel}`;
  const newest = vendor.defaultLine === undefined ? undefined : newestOf(vendor.defaultLine);
  if (!newest || newest.vendor === vendor.name) return newest?.id;
  // Vendors that resell Claude models write the version with a dot.
  return `${vendor.name}/${newest.vendor}/${newest.model.replace(/-(\d+)-(\d+)$/, "-$1.$2")}`;
}

/** Returns the model with the highest version in a line such as `claude-*-sonnet`. */
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

/** Returns the lines of `models` and --list-models. `current` and `default` are ids of the list. */
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

function row(id: string, aliases: string, vendor: string, model: string, name: string): ModelRow {
  return { id, aliases: aliases.split(" ").filter(Boolean), vendor, model, name };
}

/** `model` is needed if the vendor's id does not follow from version and family. */
function claude(version: string, family: string, aliases: string, model?: string): ModelRow {
  const id = `claude-${version}-${family}`;
  const name = `Claude ${version} ${family[0]!.toUpperCase()}${family.slice(1)}`;
  const vendorId = model ?? `claude-${family}-${version.replace(".", "-")}`;
  const outputTokens = claudeOutput(Number(version), family);
  return { ...row(id, aliases, "anthropic", vendorId, name), outputTokens };
}

/** Returns the most tokens that an answer may have. The Messages API requires this limit, and refuses one that is too high. */
function claudeOutput(version: number, family: string): number {
  if (version >= 4.6) return 128 * K;
  return version >= 4.5 || family === "sonnet" ? 64 * K : 32 * K;
}

function gptModel(id: string, name: string): ModelRow {
  return row(id, "", "openai", id, name);
}

function gemini(id: string, model: string, name: string): ModelRow {
  return { ...row(id, "", "google", model, name), contextTokens: 1_048_576 };
}
