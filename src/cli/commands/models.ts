// `models`: lists the known models and those of the user's endpoints, and marks the one that a run would use.
import {
  autoModel,
  findModel,
  listModels,
  type ModelLine,
  offlineModel,
  models as rows,
  type WireKind,
} from "../../model/catalog.ts";
import { modelLimits, pricesAsOf } from "../../model/limits.ts";
import type { Price } from "../../model/prices.ts";
import { endpointModels, type ModelChoice, type ResolvedModel, resolveModel } from "../../model/resolve.ts";
import { UserError, usageError } from "../../protocol/error-codes.ts";
import { tokenRunner } from "../../run/models.ts";
import { programName } from "../../text/program-name.ts";
import { flagText } from "../flags.ts";
import type { Invocation } from "../main.ts";
import { tableLines } from "../table.ts";
import { answer, answerJson, wantsJson } from "./answer.ts";
import { chosenModel, tryModel } from "./chosen-model.ts";

export async function models(invocation: Invocation): Promise<number> {
  const { flags, words } = invocation.line;
  if (words[0] === "refresh") return (await import("./refresh-prices.ts")).refreshPrices(invocation, words[1]);
  if (words.length > 0)
    throw usageError(
      `'models' is a command and takes no arguments but refresh. To send it as a prompt: ${invocation.name} -p -- "models ${words.join(" ")}"`,
    );
  const { model, named, choice } = chosenModel(invocation);
  if (choice.endpointFlag !== undefined) return modelsOfServer(invocation, choice);
  const extra = endpointModels(choice.endpoints);
  const current = listedId(model, named, extra);
  // Find the model that would be used if the user named none.
  const byDefault = tryModel({ ...withoutModel(choice), configModel: undefined });
  const chosen = { current, default: listedId(byDefault, undefined, extra) };
  if (current !== undefined && !isListed(current, extra))
    extra.push({ id: current, name: model instanceof UserError ? current : model.displayName });

  const asJson = flagText(flags, "format") === "json" || flagText(flags, "output-format") === "json";
  if (asJson) return answerJson(details(choice, extra, chosen));
  // Print the plain list for programs, and a table on a terminal.
  const { isatty } = await import("node:tty");
  const asOf = `Prices are in dollars for a million tokens, input / output, as of ${pricesAsOf(choice)}`;
  if (isatty(1)) return answer(formatTable(details(choice, extra, chosen), asOf));
  const list = `${listModels({ ...chosen, extra }).join("\n")}\n`;
  return answer(flags.has("list-models") ? list : `${list}\n${priceList(details(choice, extra, chosen), asOf)}`);
}

async function modelsOfServer(invocation: Invocation, choice: ModelChoice): Promise<number> {
  const url = choice.endpointFlag!;
  const { kind, baseUrl = url, key, tokenCommand } = resolveModel({ ...choice, flag: choice.flag ?? "any" });
  const { modelsAt } = await import("../../model/list-server.ts");
  const runCommand = tokenRunner(invocation.env);
  const ids = await modelsAt({ kind: kind as WireKind, baseUrl, key, tokenCommand, runCommand, env: choice.env });
  if (wantsJson(invocation)) return answerJson(ids.map((id) => ({ id, endpoint: baseUrl })));
  const tip = `Tip: ${invocation.name} --endpoint ${url} --model ${ids[0] ?? "<id>"}`;
  return answer(["Available models", "", ...ids.map((id) => `${id} - ${id}`), "", tip, ""].join("\n"));
}

/** Formats prices below the list. Programs parse the list, so these lines must not look like its entries. */
function priceList(rows: readonly ModelDetails[], asOf: string): string {
  const completeRows = rows.filter(({ price, contextTokens }) => price !== null && contextTokens !== null);
  const width = Math.max(...completeRows.map(({ id }) => id.length));
  const lines = completeRows.map(
    ({ id, contextTokens, price }) =>
      `  ${id.padEnd(width)}  ${contextCell(contextTokens).padStart(5)}  ${priceCell(price)}`,
  );
  return `Context and prices. ${asOf}:\n\n${lines.join("\n")}\n`;
}

function contextCell(contextTokens: number | null): string {
  return contextTokens === null ? "" : formatTokens(contextTokens);
}

function priceCell(price: Price | null): string {
  return price ? `$${price.input} / $${price.output}` : "";
}

/** Formats a table of models: name, vendor, context window, price, and whether there is a key. */
function formatTable(rows: readonly ModelDetails[], asOf: string): string {
  const cells = rows.map((row) => [
    `${row.current ? "›" : " "} ${row.id}`,
    row.aliases
      .filter((alias) => !alias.startsWith(row.id))
      .slice(0, 2)
      .join(", "),
    row.vendor ?? "",
    contextCell(row.contextTokens),
    priceCell(row.price),
    row.available ? "✓" : "",
  ]);
  const lines = tableLines([["  MODEL", "ALSO", "VENDOR", "CONTEXT", "PER MILLION", "KEY"], ...cells]);
  return `${lines.join("\n")}\n\n${asOf}. Your own: --price.\nChoose one with --model <id>, or any other as --model <vendor>/<model>. Keys: ${programName()} status\n`;
}

function formatTokens(count: number): string {
  return count >= 1_000_000 ? `${Math.round(count / 100_000) / 10}M` : `${Math.round(count / 1000)}k`;
}

function withoutModel(choice: ModelChoice): ModelChoice {
  return {
    ...choice,
    flag: undefined,
    effortFlag: undefined,
    endpointFlag: undefined,
    env: { ...choice.env, COURSER_MODEL: undefined },
  };
}

/** The id under which the list shows a model. Undefined if none was named and none is available. */
function listedId(
  model: ResolvedModel | UserError,
  named: string | undefined,
  extra: readonly ModelLine[],
): string | undefined {
  if (model instanceof UserError) {
    const id = named && (findModel(named.replace(/\[.*\]$/, ""))?.row.id ?? named);
    return model.code === "NOT_AUTHENTICATED" || (id && isListed(id, extra)) ? id : undefined;
  }
  const existing = rows.find((row) => row.vendor === model.vendor && row.model === model.modelId);
  if (existing) return existing.id;
  return model.kind === "offline" ? offlineModel.id : model.id;
}

function isListed(id: string, extra: readonly ModelLine[]): boolean {
  return [autoModel, ...rows, ...extra, offlineModel].some((line) => line.id === id);
}

type ModelDetails = {
  id: string;
  name: string;
  vendor: string | null;
  aliases: readonly string[];
  contextTokens: number | null;
  /** The price in US dollars per million tokens; null if unknown. */
  price: Price | null;
  /** Whether the model can be used: a key for it exists, or none is needed. */
  available: boolean;
  current: boolean;
  default: boolean;
};

function details(
  choice: ModelChoice,
  extra: readonly ModelLine[],
  chosen: { current?: string; default?: string },
): ModelDetails[] {
  return [autoModel, ...rows, ...extra, offlineModel].map(({ id, name }) => {
    const row = rows.find((each) => each.id === id);
    const asked = id === chosen.current ? choice : { ...withoutModel(choice), flag: id };
    const model = tryModel(asked);
    const resolved = model instanceof UserError ? undefined : model;
    const limits = row && modelLimits(choice, { server: { name: row.vendor }, model: row.model, row, local: false });
    return {
      id,
      name,
      vendor: id === autoModel.id ? null : (row?.vendor ?? resolved?.vendor ?? vendorIn(id)),
      aliases: row?.aliases ?? [],
      contextTokens: id === autoModel.id ? null : (resolved?.contextTokens ?? limits?.contextTokens ?? null),
      price: resolved?.price ?? limits?.price ?? null,
      available: resolved !== undefined,
      current: id === chosen.current,
      default: id === chosen.default,
    };
  });
}

function vendorIn(id: string): string | null {
  return id.includes("/") ? id.slice(0, id.indexOf("/")) : null;
}
