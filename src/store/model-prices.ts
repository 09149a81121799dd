// Prices of models that `models refresh` read: one file, which wins over those that we came with.
import { join } from "node:path";
import { isObject } from "../json/object.ts";
import { readJson, saveJson } from "./json-file.ts";

export type SavedPrices = { asOf: string; vendors: Record<string, string> };

export function pricesFile(configDir: string): string {
  return join(configDir, "model-prices.json");
}

/** Undefined where there are none, or none that can be used. */
export function readPrices(configDir: string): SavedPrices | undefined {
  const content = readJson(pricesFile(configDir));
  if (content?.["version"] !== 1 || typeof content["asOf"] !== "string" || !isObject(content["vendors"]))
    return undefined;
  return content as SavedPrices;
}

export function savePrices(configDir: string, prices: SavedPrices, source: string): void {
  saveJson(pricesFile(configDir), () => ({ version: 1, source, ...prices }));
}
