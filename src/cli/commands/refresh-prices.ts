// `models refresh`: downloads newer prices and context windows, from their source or from a copy of it.
import { tryParse } from "../../json/object.ts";
import type { PriceTable } from "../../model/price-list.ts";
import { reducePrices } from "../../model/reduce-prices.ts";
import { createFetch } from "../../net/fetch.ts";
import { UserError, usageError } from "../../protocol/error-codes.ts";
import { configDir } from "../../store/config-dir.ts";
import { pricesFile, savePrices } from "../../store/model-prices.ts";
import type { Invocation } from "../main.ts";
import { answer } from "./answer.ts";

/** The newest data of the package that the built-in prices come from. */
const keptAt = "https://raw.githubusercontent.com/pydantic/genai-prices/main/prices/new_data/v2/data.json";
const longestMs = 30_000;

export async function refreshPrices({ env }: Invocation, url = keptAt): Promise<number> {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw usageError(`'${url}' is not an http or https address. Without one, ${keptAt} is read.`);
  const table = await read(url, env);
  const config = configDir(env);
  savePrices(config, table, url);
  const count = Object.values(table.vendors).reduce((sum, rows) => sum + rows.split(";").length, 0);
  return answer(
    `Prices and context windows of ${count} models, as of ${table.asOf}, are in ${pricesFile(config)}. Remove that file to return to the built-in ones.\n`,
  );
}

async function read(url: string, env: Invocation["env"]): Promise<PriceTable> {
  const ask = createFetch({ env: { ...env }, responseMs: longestMs, idleMs: longestMs });
  try {
    const response = await ask(url, {});
    if (!response.ok) throw new Error(`HTTP ${response.status}`);
    const changed = Date.parse(response.headers.get("last-modified") ?? "");
    const day = new Date(Number.isNaN(changed) ? Date.now() : changed).toISOString().slice(0, 10);
    return reducePrices(tryParse(await response.text()), day);
  } catch (error) {
    throw new UserError(
      "MODEL_UNREACHABLE",
      `${url} gave no prices: ${(error as Error).message}. Those that are there stay. Name another address: models refresh <url>`,
    );
  }
}
