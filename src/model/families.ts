// Finds the vendor of a model that is not in the catalog by the prefix of
// its id. Also recognises the models that only Cursor's own service has.
import type { Effort } from "./provider.ts";

/** Suffixes of ids. `thinking`: some effort, unless a level is named too. `plain`: no effect on effort. */
const suffixes: ReadonlyMap<string, Effort | "thinking" | "plain"> = new Map([
  ["none", "none"],
  ["minimal", "minimal"],
  ["low", "low"],
  ["medium", "medium"],
  ["high", "high"],
  ["xhigh", "xhigh"],
  ["max", "max"],
  ["thinking", "thinking"],
  // Variants of Cursor's service: a faster queue and a longer context.
  ["fast", "plain"],
  ["1m", "plain"],
]);

const levels = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** `suffixes` are those that are not part of a model's name. `model` returns the vendor's spelling, if different. */
type Family = {
  begins: RegExp;
  vendor: string;
  suffixes: readonly string[];
  model?(id: string): string;
};

const families: readonly Family[] = [
  {
    begins: /^(?:claude|sonnet|opus|haiku)-/,
    vendor: "anthropic",
    suffixes: [...levels, "thinking", "fast", "1m"],
    model: claudeId,
  },
  { begins: /^(?:gpt|chatgpt|codex)-|^o\d/, vendor: "openai", suffixes: [...levels, "thinking", "fast"] },
  { begins: /^gemini-/, vendor: "google", suffixes: [...levels, "thinking"] },
  // "fast" is part of a model's name here (grok-4-fast), not a suffix.
  { begins: /^grok-/, vendor: "xai", suffixes: [...levels, "thinking"] },
  // These are names of models, not suffixes: kimi-k2-thinking, qwen3-…-thinking and qwen3-max.
  { begins: /^kimi-/, vendor: "moonshot", suffixes: levels },
  { begins: /^qwen/, vendor: "alibaba", suffixes: levels.filter((level) => level !== "max") },
  { begins: /^deepseek-/, vendor: "deepseek", suffixes: [...levels, "thinking"] },
  { begins: /^glm-/, vendor: "zai", suffixes: [...levels, "thinking"] },
  { begins: /^(?:mistral|ministral|magistral|codestral|devstral)-/, vendor: "mistral", suffixes: levels },
];

export type FamilyModel = { vendor: string; model: string; effort?: Effort };

/** Finds the family of a model by the prefix of its id, and its effort by the suffix. Returns undefined if no prefix is known. */
export function modelOfFamily(id: string): FamilyModel | undefined {
  const name = id.toLowerCase();
  const family = families.find(({ begins }) => begins.test(name));
  if (!family) return undefined;
  const { base, effort } = withoutSuffixes(name, family.suffixes);
  const model = family.model?.(base) ?? base;
  return { vendor: family.vendor, model, ...(effort && { effort }) };
}

/** Removes the suffixes from an id. A level wins over plain thinking, the last level over the others. */
export function withoutSuffixes(name: string, taken: readonly string[]): { base: string; effort?: Effort } {
  let base = name;
  let effort: Effort | undefined;
  let thinks = false;
  for (;;) {
    const at = base.lastIndexOf("-");
    const suffix = base.slice(at + 1);
    // gpt-5.1-codex-max is the name of a model: "max" is not an effort.
    const isPart = at <= 0 || base.endsWith("-codex-max");
    const meaning = !isPart && taken.includes(suffix) ? suffixes.get(suffix) : undefined;
    if (meaning === undefined) break;
    if (meaning === "thinking") thinks = true;
    else if (meaning !== "plain") effort ??= meaning;
    base = base.slice(0, at);
  }
  effort ??= thinks ? "medium" : undefined;
  return { base, ...(effort && { effort }) };
}

/** Returns the suffixes for models of this vendor. */
export function suffixesOf(vendor: string): readonly string[] {
  return families.find((family) => family.vendor === vendor)?.suffixes ?? levels;
}

/** Converts `4.9-opus`, `opus-4.9` and `claude-4.9-opus` to claude-opus-4-9; up to version 3 the number comes first. */
function claudeId(id: string): string {
  const bare = id.replace(/^claude-/, "");
  const [, version, family] = /^(\d+(?:[.-]\d{1,2})?)-([a-z]+)$/.exec(bare) ?? [];
  const [, otherFamily, otherVersion] = /^([a-z]+)-(\d+(?:[.-]\d{1,2})?)$/.exec(bare) ?? [];
  const name = family ?? otherFamily;
  const number = (version ?? otherVersion)?.replace(".", "-");
  if (!name || !number) return `claude-${bare}`;
  return Number.parseInt(number, 10) < 4 ? `claude-${number}-${name}-latest` : `claude-${name}-${number}`;
}

/** Returns whether only Cursor's own service has this model; the default model then answers instead. */
export function isHouseModel(id: string): boolean {
  return /^(?:composer(?:-.*)?|cheetah|cursor-small|cursor-fast|code-supernova.*)$/i.test(id);
}
