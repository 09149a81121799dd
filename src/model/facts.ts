// What is known of a model, however it is named: its limits, and what it costs.
import { findModel, findVendor, type KnownModel, type ModelRow } from "./catalog.ts";
import type { ServerRow } from "./endpoint.ts";
import { modelOfFamily } from "./families.ts";
import { type ListedFacts, listedFacts, type PriceTable } from "./price-list.ts";
import { priceTable } from "./price-table.ts";
import type { Price } from "./prices.ts";
import type { Effort } from "./provider.ts";
import type { ModelChoice, ResolvedModel } from "./resolve.ts";

export const hostedContext = 128_000;
const localContext = 32_000;

/** `model`: the vendor's own id, where another was given. */
export type KnownFacts = { effort?: Effort | undefined; row?: ModelRow; name?: string; model?: string };

/**
 * What the catalog says of a model that is named at a server. Its vendor takes our aliases and suffixes; whoever passes on
 * the models of others gets the name as it stands.
 */
export function knownAs(vendor: string, named: string, effort: Effort | undefined): KnownFacts {
  const known = findModel(named) ?? passedOn(named);
  if (!known) return {};
  if (known.row.vendor !== vendor) return { row: known.row };
  return { row: known.row, model: known.row.model, name: known.name, effort: effort ?? known.effort };
}

/** `anthropic/claude-sonnet-4.5` at a server that has the models of many. */
function passedOn(named: string): KnownModel | undefined {
  const last = lastName(named);
  return findModel(last) ?? findModel(last.replaceAll(".", "-"));
}

type Facts = Pick<ResolvedModel, "contextTokens" | "outputTokens" | "price">;
type ModelAt = { server: Pick<ServerRow, "name" | "local">; model: string; row?: ModelRow | undefined; local: boolean };

/** Of a model at a server: as the vendor's own list has it, else that of whoever made the model. */
export function factsOf({ prices }: Pick<ModelChoice, "prices">, at: ModelAt): Facts {
  const { server, row, local } = at;
  const listed = listedAt(prices ?? priceTable, at);
  // Whoever serves a model of open weights on this machine is paid nothing for it.
  const isOwn = server.local === true || (local && !closed.has(row?.vendor ?? ""));
  const price = listed?.price ?? (isOwn ? undefined : row?.price);
  const contextTokens = listed?.contextTokens ?? row?.contextTokens ?? (local ? localContext : hostedContext);
  const outputTokens = row?.outputTokens;
  return { contextTokens, ...(outputTokens && { outputTokens }), ...(price && { price }) };
}

/** Whose models nobody else can run. */
const closed: ReadonlySet<string> = new Set(["anthropic", "openai", "google"]);

function listedAt(table: PriceTable, { server, model, row, local }: ModelAt): ListedFacts | undefined {
  if (server.local) return undefined;
  const today = new Date().toISOString().slice(0, 10);
  const own = listedFacts(table, listOf[server.name] ?? server.name, model, today);
  if (own) return own;
  const maker = row?.vendor ?? modelOfFamily(lastName(model))?.vendor;
  if (maker === undefined || (local && !closed.has(maker))) return undefined;
  return listedFacts(table, maker, row?.model ?? lastName(model), today);
}

/** Clouds that sell at the prices of another list. */
const listOf: Readonly<Record<string, string>> = { azure: "openai", vertex: "google" };

function lastName(named: string): string {
  return named.slice(named.lastIndexOf("/") + 1);
}

/** The date of the price data, as YYYY-MM-DD. */
export function pricesAsOf({ prices }: Pick<ModelChoice, "prices">): string {
  return (prices ?? priceTable).asOf;
}

const free = { input: 0, output: 0 };

/** What runs on this machine costs nothing, but for a server that stands in for a vendor: it passes on what is paid for. */
export function priceOf({ price, local, kind, vendor }: ResolvedModel): Price | undefined {
  const isBuiltIn = kind === "offline" || kind === "script" || kind === "replay";
  const row = findVendor(vendor);
  const isFree = isBuiltIn || (local && (row === undefined || row.local === true));
  return price ?? (isFree ? free : undefined);
}

/** What the user's own settings say of a model. */
export type ModelSettings = {
  contextTokens?: number;
  outputTokens?: number;
  price?: Price;
  effort?: Effort;
  headers?: Readonly<Record<string, string>>;
};

/** With the settings for it, by any of its names. */
export function withSettings({ models, headerFlags }: ModelChoice, model: ResolvedModel): ResolvedModel {
  const { vendor, modelId, id } = model;
  const isIt = (name: string) => {
    if (name === id || name === modelId || name === `${vendor}/${modelId}`) return true;
    const row = findModel(name)?.row;
    return row?.vendor === vendor && row.model === modelId;
  };
  const entry = Object.entries(models ?? {}).find(([name]) => isIt(name))?.[1];
  if (!entry) return model;
  const { effort, headers, ...facts } = entry;
  const chosen = model.effort ?? effort;
  // A header of the command line wins.
  const merged = { ...model.headers, ...headers, ...((headerFlags?.length ?? 0) > 0 && model.headers) };
  return { ...model, ...facts, ...(chosen && { effort: chosen }), headers: merged };
}
