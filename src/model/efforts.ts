// The effort levels that each model supports, as documented by its vendor.
import { usageError } from "../protocol/error-codes.ts";
import { reasoningEfforts } from "../protocol/run.ts";
import type { WireKind } from "./catalog.ts";
import type { Effort } from "./provider.ts";

/** The effort levels of models, by their id. The first matching row is used. */
const levels: Partial<Record<WireKind, readonly [model: RegExp, efforts: string][]>> = {
  // https://platform.claude.com/docs/en/build-with-claude/effort
  anthropic: [
    [/claude-(?:\d|instant|v\d)/, "none low medium high"],
    [/(?:fable|mythos)-|opus-(?:5-[5-9]|[6-9])/, "low medium high xhigh max"],
    [/-4-6(?!\d)/, "none low medium high max"],
    [/-(?:4(?:-[0-5])?(?:$|-\d{8}|@)|4-\d{8})/, "none low medium high"],
    [/claude|sonnet|opus|haiku/, "none low medium high xhigh max"],
  ],
  // https://developers.openai.com/api/docs/guides/reasoning
  openai: [
    [/^gpt-[0-4]|^chatgpt|^codex-mini/, ""],
    [/^o\d/, "low medium high"],
    [/^gpt-5(?:-\d{4}.*)?$|^gpt-5-(?:mini|nano)/, "minimal low medium high"],
    [/^gpt-5-pro/, "high"],
    [/^gpt-5(?:\.1)?-codex(?!-max)/, "low medium high"],
    [/^gpt-5\.1(?!-codex)/, "none low medium high"],
    [/^gpt-5\.\d-(?:codex|pro)/, "low medium high xhigh"],
    [/^gpt-5\.[2-5]/, "none low medium high xhigh"],
    [/^gpt-5\.[6-9]|^gpt-6-(?:sol|luna)/, "none low medium high xhigh max"],
    [/^gpt-[6-9]/, "low medium high xhigh max"],
  ],
  // https://ai.google.dev/gemini-api/docs/thinking
  google: [
    [/gemini-2\.5-pro/, "low medium high"],
    [/gemini-2\.5/, "none low medium high"],
    [/gemini-3-pro/, "low high"],
    [/gemini-[3-9][\d.]*-pro/, "low medium high"],
    [/gemini-[3-9]/, "minimal low medium high"],
  ],
  "openai-compatible": [
    // https://docs.x.ai/developers/model-capabilities/text/reasoning
    [/^grok-4\.6/, "low medium high xhigh"],
    [/^grok-4\.5/, "low medium high"],
    [/^grok-4\.3/, "none low medium high"],
    [/^grok-(?:code|2|3(?!-mini)|4(?:-|$))/, ""],
    // https://api-docs.deepseek.com/guides/thinking_mode
    [/^deepseek-v4/, "none low medium high xhigh max"],
    // https://platform.kimi.ai/docs/api/models-overview
    [/^kimi-k3/, "low high max"],
    [/^kimi-k2(?:\.7|-thinking)/, ""],
    // https://docs.mistral.ai/capabilities/reasoning
    [/^(?:devstral|codestral|ministral|pixtral|mistral-large)/, ""],
    [/^(?:magistral|mistral-(?:small|medium))/, "none high"],
  ],
};

/** Returns the effort levels that a model supports; undefined for an unknown model, for which any level is passed on. */
export function effortsOf(kind: string, model: string): readonly Effort[] | undefined {
  const rows = levels[makerApi(kind, model)];
  const row = rows?.find(([names]) => names.test(model.toLowerCase()));
  return row && reasoningEfforts.filter((effort) => row[1].split(" ").includes(effort));
}

/** Returns the API of the vendor that made the model, which cloud vendors resell. */
function makerApi(kind: string, model: string): WireKind {
  if (kind === "azure") return "openai";
  if (kind !== "bedrock" && kind !== "vertex") return kind as WireKind;
  return /claude/.test(model) ? "anthropic" : kind === "vertex" ? "google" : kind;
}

type Thinking = { kind: string; modelId: string; displayName: string; effort?: Effort | undefined };

/** Throws if the model does not support this effort level. */
export function checkEffort({ kind, modelId, displayName, effort }: Thinking): void {
  const known = effort && effortsOf(kind, modelId);
  if (!known || known.includes(effort)) return;
  const has = known.length === 0 ? "It does not think on demand." : `It has ${known.join(", ")}.`;
  throw usageError(`${displayName} has no effort '${effort}'. ${has}`);
}

/** Claude models from 4.6 on decide themselves how long to think; their vendor's CLI defaults to medium. */
export function defaultEffort({ kind, modelId }: Pick<Thinking, "kind" | "modelId">): Effort | undefined {
  return makerApi(kind, modelId) === "anthropic" && /claude/.test(modelId) && judgesForItself(modelId)
    ? "medium"
    : undefined;
}

/** Returns whether a model decides itself how much to think. Claude models up to 4.5 need a thinking budget instead. */
export function judgesForItself(model: string): boolean {
  const [, major, minor] = /claude-(?:[a-z]+-)?(\d+)(?:[-.](\d{1,2}))?(?!\d)/.exec(model) ?? [];
  if (!major) return true;
  return Number(major) > 4 || (Number(major) === 4 && Number(minor ?? 0) >= 6);
}
