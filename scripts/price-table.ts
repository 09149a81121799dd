// Writes src/model/price-table.ts from the data of @pydantic/genai-prices, which people keep who compare it with the vendors' lists.
//
//   npm run long -- prices
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { findProvider } from "@pydantic/genai-prices";
import { providers, reducePrices } from "../src/model/reduce-prices.ts";

const root = process.cwd();
const name = "@pydantic/genai-prices";

/** The day on which the version was published: npm view @pydantic/genai-prices time. The data does not name one. */
const days: Record<string, string> = { "0.1.8": "2026-09-23" };

export function priceTableSource(): string {
  const { version } = JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8"));
  const day = days[version];
  if (!day) throw new Error(`Add the day of ${name} ${version} to scripts/price-table.ts.`);
  const data = [...providers.values()].flatMap((providerId) => findProvider({ providerId }) ?? []);
  const { asOf, vendors } = reducePrices(JSON.parse(JSON.stringify(data)), day);
  const lines = Object.entries(vendors).map(([vendor, rows]) => `    ${vendor}: ${JSON.stringify(rows)},`);
  return `// Written by \`npm run long -- prices\` from ${name} ${version}. Not edited by hand.
import type { PriceTable } from "./price-list.ts";

export const priceTable: PriceTable = {
  asOf: "${asOf}",
  vendors: {
${lines.map((line) => line.replace(/^( *\w+: )(.{100,})$/, (_, key: string, value: string) => `${key.trimEnd()}\n      ${value}`)).join("\n")}
  },
};
`;
}

export function main(): void {
  writeFileSync(join(root, "src/model/price-table.ts"), priceTableSource());
}
