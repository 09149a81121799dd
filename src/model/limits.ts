// Looks up what is known of a model under any of its names: its limits and prices.
import { findModel, findVendor, type KnownModel, type ModelRow } from "./catalog.ts";
import type { ServerRow } from "./endpoint.ts";
import { modelOfFamily } from "./families.ts";
import { type ListedPrice, listedPrice, type PriceTable } from "./price-list.ts";
import { priceTable } from "./price-table.ts";
import type { Price } from "./prices.ts";
import type { Effort } from "./provider.ts";
import type { ModelChoice, ResolvedModel } from "./resolve.ts";

export const hostedContext = 128_000;
const localContext = 32_000;

/** What is known about a model. `model` is the vendor's own id, if the user gave another name. */
export type KnownModelInfo = { effort?: Effort | undefined; row?: ModelRow; name?: string; model?: string };

/**
 * Looks up a model named at a server. Its own vendor accepts the catalog's
 * aliases and suffixes; a server that resells models gets the name unchanged.
 */
export function knownAs(vendor: string, named: string, effort: Effort | undefined): KnownModelInfo {
  const catalogModel = findModel(named) ?? findResoldModel(named);
  if (!catalogModel) return {};
  if (catalogModel.row.vendor !== vendor) return { row: catalogModel.row };
  return {
    row: catalogModel.row,
    model: catalogModel.row.model,
    name: catalogModel.name,
    effort: effort ?? catalogModel.effort,
  };
}

/** Handles names such as `anthropic/claude-sonnet-4.5` at a server with models of many vendors. */
function findResoldModel(named: string): KnownModel | undefined {
  const last = lastName(named);
  return findModel(last) ?? findModel(last.replaceAll(".", "-"));
}

type ModelLimits = Pick<ResolvedModel, "contextTokens" | "outputTokens" | "price">;
type ModelAt = { server: Pick<ServerRow, "name" | "local">; model: string; row?: ModelRow | undefined; local: boolean };

/** Returns the limits and price of a model at a server: from the server's own price list, otherwise from its maker's. */
export function modelLimits({ prices }: Pick<ModelChoice, "prices">, at: ModelAt): ModelLimits {
  const { server, row, local } = at;
  const listed = listedAt(prices ?? priceTable, at);
  // Open-weights models that are served on this machine cost nothing.
  const isOwn = server.local === true || (local && !closed.has(row?.vendor ?? ""));
  const price = listed?.price ?? (isOwn ? undefined : row?.price);
  const contextTokens = listed?.contextTokens ?? row?.contextTokens ?? (local ? localContext : hostedContext);
  const outputTokens = row?.outputTokens;
  return { contextTokens, ...(outputTokens && { outputTokens }), ...(price && { price }) };
}

/** Vendors whose models are not available for local servers. */
const closed: ReadonlySet<string> = new Set(["anthropic", "openai", "google"]);

function listedAt(table: PriceTable, { server, model, row, local }: ModelAt): ListedPrice | undefined {
  if (server.local) return undefined;
  const today = new Date().toISOString().slice(0, 10);
  const serverPrice = listedPrice(table, listOf[server.name] ?? server.name, model, today);
  if (serverPrice) return serverPrice;
  const maker = row?.vendor ?? modelOfFamily(lastName(model))?.vendor;
  if (maker === undefined || (local && !closed.has(maker))) return undefined;
  return listedPrice(table, maker, row?.model ?? lastName(model), today);
}

/** Cloud vendors, with the vendor whose price list applies to them. */
const listOf: Readonly<Record<string, string>> = { azure: "openai", vertex: "google" };

function lastName(named: string): string {
  return named.slice(named.lastIndexOf("/") + 1);
}

/** Returns the date of the price data, as YYYY-MM-DD. */
export function pricesAsOf({ prices }: Pick<ModelChoice, "prices">): string {
  return (prices ?? priceTable).asOf;
}

const free = { input: 0, output: 0 };

/** Returns the price of a model. Models on this machine are free, unless the local server forwards to a paid vendor. */
export function priceOf({ price, local, kind, vendor }: ResolvedModel): Price | undefined {
  const isBuiltIn = kind === "offline" || kind === "script" || kind === "replay";
  const row = findVendor(vendor);
  const isFree = isBuiltIn || (local && (row === undefined || row.local === true));
  return price ?? (isFree ? free : undefined);
}

/** The user's settings for one model. */
export type ModelSettings = {
  contextTokens?: number;
  outputTokens?: number;
  price?: Price;
  effort?: Effort;
  headers?: Readonly<Record<string, string>>;
};

/** Applies the settings for a model, found by any of its names. */
export function withSettings({ models, headerFlags }: ModelChoice, model: ResolvedModel): ResolvedModel {
  const { vendor, modelId, id } = model;
  const isIt = (name: string) => {
    if (name === id || name === modelId || name === `${vendor}/${modelId}`) return true;
    const row = findModel(name)?.row;
    return row?.vendor === vendor && row.model === modelId;
  };
  const entry = Object.entries(models ?? {}).find(([name]) => isIt(name))?.[1];
  if (!entry) return model;
  const { effort, headers, ...limits } = entry;
  const chosen = model.effort ?? effort;
  // Headers from the command line take precedence.
  const merged = { ...model.headers, ...headers, ...((headerFlags?.length ?? 0) > 0 && model.headers) };
  return { ...model, ...limits, ...(chosen && { effort: chosen }), headers: merged };
}
