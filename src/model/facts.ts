// What is known of a model, however it is named: its limits, and what it costs.
import { findModel, findVendor, type KnownModel, type ModelRow } from "./catalog.ts";
import type { Price } from "./prices.ts";
import type { Effort } from "./provider.ts";
import type { ResolvedModel } from "./resolve.ts";

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
  const last = named.slice(named.lastIndexOf("/") + 1);
  return findModel(last) ?? findModel(last.replaceAll(".", "-"));
}

export function factsOf(
  row: ModelRow | undefined,
  local: boolean,
): Pick<ResolvedModel, "contextTokens" | "outputTokens" | "price"> {
  return {
    contextTokens: row?.contextTokens ?? (local ? localContext : hostedContext),
    ...(row?.outputTokens && { outputTokens: row.outputTokens }),
    ...(row?.price && { price: row.price }),
  };
}

const free = { input: 0, output: 0 };

/** What runs on this machine costs nothing, but for a server that stands in for a vendor: it passes on what is paid for. */
export function priceOf({ price, local, kind, vendor }: ResolvedModel): Price | undefined {
  const isBuiltIn = kind === "offline" || kind === "script" || kind === "replay";
  const row = findVendor(vendor);
  const isFree = isBuiltIn || (local && (row === undefined || row.local === true));
  return price ?? (isFree ? free : undefined);
}
