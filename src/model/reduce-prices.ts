// Builds the table of prices and context windows from the data of @pydantic/genai-prices.
import { isObject } from "../json/object.ts";
import { type PriceTable, plainName } from "./price-list.ts";

/** The names that the catalog's vendors have in the price data. */
export const providers: ReadonlyMap<string, string> = new Map([
  ["anthropic", "anthropic"],
  ["openai", "openai"],
  ["google", "google"],
  ["xai", "x-ai"],
  ["deepseek", "deepseek"],
  ["mistral", "mistral"],
  ["groq", "groq"],
  ["cerebras", "cerebras"],
  ["together", "together"],
  ["fireworks", "fireworks"],
  ["moonshot", "moonshotai"],
  ["zai", "zai"],
  ["bedrock", "aws"],
]);

/** Matches models that do not answer in text, or are no longer available. */
const otherKinds =
  /embed|tts|image|audio|whisper|realtime|transcri|voice|voxtral|ocr|moderation|sonic|-live|omni|guard|^(ada|babbage|curie|davinci|text-)/i;

type ListedModel = { id: string; match?: unknown; context_window?: number; deprecated?: boolean; prices: unknown };

/** Converts price data to our table. Throws an Error if the data is invalid. */
export function reducePrices(data: unknown, asOf: string): PriceTable {
  if (!Array.isArray(data)) throw new Error("it is not a list of providers");
  const vendors: Record<string, string> = {};
  for (const [vendor, id] of providers) {
    const provider = data.find((each) => isObject(each) && each["id"] === id);
    const models = isObject(provider) && Array.isArray(provider["models"]) ? (provider["models"] as ListedModel[]) : [];
    const rows = models.filter(isChat).flatMap((model) => rowOf(model, asOf) ?? []);
    if (rows.length > 0) vendors[vendor] = rows.join(";");
  }
  if (Object.keys(vendors).length === 0) throw new Error("it has no prices of any vendor that is known here");
  return { asOf, vendors };
}

function isChat(model: ListedModel): boolean {
  return isObject(model) && typeof model.id === "string" && !model.deprecated && !otherKinds.test(model.id);
}

/** `names|context|input output cacheRead cacheWrite`, then prices above a number of tokens (`>`) or from a later day on (`@`). */
function rowOf({ id, match, context_window: context, prices }: ListedModel, asOf: string): string | undefined {
  const [now, later] = pricesAt(prices, asOf);
  const base = now && formatAmounts(now, (price) => price);
  if (!base) return undefined;
  const above = tierOf(now);
  const next = later && formatAmounts(later.prices, (price) => price);
  const names = [...new Set([id, ...otherNames(match)].map(plainName))].filter((name) => !/[|;, ]/.test(name));
  return [
    names.join(","),
    context ?? "",
    base,
    ...(above === undefined ? [] : [`>${above} ${formatAmounts(now, (_, tier) => tier)}`]),
    ...(next ? [`@${later.day} ${next}`] : []),
  ].join("|");
}

function otherNames(match: unknown): string[] {
  if (!isObject(match)) return [];
  if (typeof match["equals"] === "string") return [match["equals"]];
  return Array.isArray(match["or"]) ? match["or"].flatMap(otherNames) : [];
}

type Amounts = Record<string, unknown>;

/** Returns the prices of the day, and the next announced ones. Of prices that vary by hour, the highest counts. */
function pricesAt(prices: unknown, day: string): [Amounts | undefined, { day: string; prices: Amounts }?] {
  if (!Array.isArray(prices)) return [isObject(prices) ? prices : undefined];
  let now: Amounts | undefined;
  let later: { day: string; prices: Amounts } | undefined;
  for (const { constraint, prices: each } of prices) {
    const start = constraint?.start_date;
    if (typeof start === "string" && start > day) later ??= { day: start, prices: each };
    else if (constraint?.start_time === undefined || first(each) > first(now ?? {})) now = each;
  }
  return [now, later];
}

const first = (prices: Amounts) => Number(baseOf(prices["input_mtok"]) ?? 0);

type Tiered = { base: number; tiers: { start: number; price: number }[] };

function baseOf(price: unknown): number | undefined {
  return isObject(price) ? (price as Tiered).base : (price as number | undefined);
}

function tierOf(prices: Amounts): number | undefined {
  const { input_mtok: input } = prices;
  return isObject(input) ? (input as Tiered).tiers[0]?.start : undefined;
}

/** Returns undefined if the model is not priced by tokens. */
function formatAmounts(prices: Amounts, pick: (base: number, tier: number) => number): string | undefined {
  const each = ["input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok"].map((name) => {
    const base = baseOf(prices[name]);
    if (typeof base !== "number") return undefined;
    const tier = isObject(prices[name]) ? (prices[name] as Tiered).tiers[0]?.price : undefined;
    return pick(base, tier ?? base);
  });
  if (each[0] === undefined || each[1] === undefined) return undefined;
  return each
    .map((amount) => amount ?? "")
    .join(" ")
    .trimEnd();
}
