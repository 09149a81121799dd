// The list of models: known ones, those of the user's endpoints, and which of them a run would take.
import { autoModel, findModel, listModels, type ModelLine, offlineModel, models as rows } from "../../model/catalog.ts";
import { endpointModels, type ModelChoice, type ResolvedModel } from "../../model/resolve.ts";
import { UserError } from "../../protocol/error-codes.ts";
import { flagText } from "../flags.ts";
import type { Invocation } from "../main.ts";
import { answer, answerJson } from "./answer.ts";
import { chosenModel, tryModel } from "./chosen-model.ts";

export async function models(invocation: Invocation): Promise<number> {
  const { flags } = invocation.line;
  const { model, named, choice } = chosenModel(invocation);
  const extra = endpointModels(choice.endpoints);
  const current = listedId(model, named, extra);
  // What would answer if nothing were named.
  const byDefault = tryModel({ ...bare(choice), configModel: undefined });
  const chosen = { current, default: listedId(byDefault, undefined, extra) };
  if (current !== undefined && !isListed(current, extra)) extra.push({ id: current, name: nameOf(model, current) });

  const asJson = flagText(flags, "format") === "json" || flagText(flags, "output-format") === "json";
  return asJson
    ? answerJson(details(choice, extra, chosen))
    : answer(`${listModels({ ...chosen, extra }).join("\n")}\n`);
}

/** The same choice without what names a model or its server. */
function bare(choice: ModelChoice): ModelChoice {
  return {
    ...choice,
    flag: undefined,
    effortFlag: undefined,
    endpointFlag: undefined,
    env: { ...choice.env, COURSER_MODEL: undefined },
  };
}

/** The id by which the list shows a model; undefined where nothing was named and nothing can be taken. */
function listedId(
  model: ResolvedModel | UserError,
  named: string | undefined,
  extra: readonly ModelLine[],
): string | undefined {
  if (model instanceof UserError) {
    const id = named && (findModel(named.replace(/\[.*\]$/, ""))?.row.id ?? named);
    return model.code === "NOT_AUTHENTICATED" || (id && isListed(id, extra)) ? id : undefined;
  }
  const known = rows.find((row) => row.vendor === model.vendor && row.model === model.modelId);
  if (known) return known.id;
  return model.kind === "offline" ? offlineModel.id : model.id;
}

function isListed(id: string, extra: readonly ModelLine[]): boolean {
  return [autoModel, ...rows, ...extra, offlineModel].some((line) => line.id === id);
}

function nameOf(model: ResolvedModel | UserError, id: string): string {
  return model instanceof UserError ? id : model.displayName;
}

function details(
  choice: ModelChoice,
  extra: readonly ModelLine[],
  chosen: { current?: string; default?: string },
): object[] {
  return [autoModel, ...rows, ...extra, offlineModel].map(({ id, name }) => {
    const row = rows.find((each) => each.id === id);
    const asked = id === chosen.current ? choice : { ...bare(choice), flag: id };
    const model = tryModel(asked);
    const resolved = model instanceof UserError ? undefined : model;
    return {
      id,
      name,
      vendor: id === autoModel.id ? null : (row?.vendor ?? resolved?.vendor ?? vendorIn(id)),
      aliases: row?.aliases ?? [],
      contextTokens: id === autoModel.id ? null : (row?.contextTokens ?? resolved?.contextTokens ?? null),
      available: resolved !== undefined,
      current: id === chosen.current,
      default: id === chosen.default,
    };
  });
}

function vendorIn(id: string): string | null {
  return id.includes("/") ? id.slice(0, id.indexOf("/")) : null;
}
