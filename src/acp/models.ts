// The models that a session offers: the current one, and those for which there is a key.
import { models as known, offlineModel } from "../model/catalog.ts";
import { endpointModels, type ResolvedModel } from "../model/resolve.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { Setup } from "../run/setup.ts";

type OfferedModel = { id: string; name: string };

/** Returns the id under which lists show a model. */
export function listedId(model: ResolvedModel): string {
  const row = known.find(({ vendor, model: id }) => vendor === model.vendor && id === model.modelId);
  return row?.id ?? (model.kind === "offline" ? offlineModel.id : model.id);
}

export function offeredModels({ model, settings, request, host: { env } }: Setup): OfferedModel[] {
  const current = { id: listedId(model), name: model.displayName };
  // A server given with --endpoint or CURSOR_API_ENDPOINT accepts any name, and its models are not known.
  const hasOwnServer = (request.endpoint ?? env["CURSOR_API_ENDPOINT"]) !== undefined;
  const candidates = hasOwnServer ? [] : [...known, ...endpointModels(settings.courser.providers), offlineModel];
  const others = candidates.filter(({ id }) => id !== current.id && canBeAsked(model, id));
  return [current, ...others.map(({ id, name }) => ({ id, name }))];
}

function canBeAsked(model: ResolvedModel, id: string): boolean {
  try {
    model.other(id);
    return true;
  } catch (error) {
    if (error instanceof UserError) return false;
    throw error;
  }
}
