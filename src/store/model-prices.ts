// Stores the model prices read by `models refresh` in one file, which takes precedence over the built-in prices.
import { join } from "node:path";
import { isObject } from "../json/object.ts";
import { readJson, saveJson } from "./json-file.ts";

export type SavedPrices = { asOf: string; vendors: Record<string, string> };

export function pricesFile(configDir: string): string {
  return join(configDir, "model-prices.json");
}

/** Reads the saved prices of models. Returns undefined if there are none, or the file is not usable. */
export function readPrices(configDir: string): SavedPrices | undefined {
  const content = readJson(pricesFile(configDir));
  if (content?.["version"] !== 1 || typeof content["asOf"] !== "string" || !isObject(content["vendors"]))
    return undefined;
  return content as SavedPrices;
}

export function savePrices(configDir: string, prices: SavedPrices, source: string): void {
  saveJson(pricesFile(configDir), () => ({ version: 1, source, ...prices }));
}
