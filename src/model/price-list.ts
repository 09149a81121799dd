// Finds a model's price and context window in a compact table, which `reduce-prices.ts` creates.
import type { Price } from "./prices.ts";

/** Prices of models: one string of rows per vendor. `asOf` is the date of the data. */
export type PriceTable = { asOf: string; vendors: Readonly<Record<string, string>> };

export type ListedPrice = { contextTokens?: number; price: Price };

/** Finds a model by any of its names: versions with a dot or a dash, with or without a date, of any region. */
export function listedPrice(table: PriceTable, vendor: string, model: string, today: string): ListedPrice | undefined {
  const rows = Object.hasOwn(table.vendors, vendor) ? table.vendors[vendor]!.split(";") : [];
  for (const name of namesToTry(vendor, model)) {
    const row = rows.find((each) => each.slice(0, each.indexOf("|")).split(",").includes(name));
    if (row === undefined) continue;
    const [, context = "", ...prices] = row.split("|");
    return { ...(context && { contextTokens: Number(context) }), price: priceIn(prices, today) };
  }
  return undefined;
}

function namesToTry(vendor: string, model: string): string[] {
  const plain = plainName(model);
  if (vendor !== "bedrock") return [plain, plainName(model.slice(model.lastIndexOf("/") + 1))];
  const bare = plain.replace(/^(?:global|us-gov|us|eu|apac|au|jp|regional)-/, "");
  return plain.startsWith("global-") ? [plain, `regional-${bare}`, bare] : [`regional-${bare}`, bare];
}

export function plainName(name: string): string {
  return name
    .toLowerCase()
    .replace(/@.*$/, "")
    .replace(/-v\d+(?::\d+)?$/, "")
    .replace(/-(?:latest|\d{8}|\d{4}-\d\d-\d\d)$/, "")
    .replaceAll(".", "-");
}

function priceIn(prices: readonly string[], today: string): Price {
  let price: Price | undefined;
  for (const text of prices) {
    const [, mark, value, rest] = /^(?:([>@])(\S+) )?(.*)$/.exec(text)!;
    const [input, output, cacheRead, cacheWrite] = rest!.split(" ");
    const read: Price = {
      input: Number(input),
      output: Number(output),
      ...(cacheRead && { cacheRead: Number(cacheRead) }),
      ...(cacheWrite && { cacheWrite: Number(cacheWrite) }),
    };
    if (mark === ">") price = { ...price!, above: { tokens: Number(value), ...read } };
    else if (mark !== "@" || value! <= today) price = read;
  }
  return price!;
}
