// What a run changed, as it was put into the fleet when the run ended.
import type { Fleet, RunRecord } from "./fleet.ts";

/** Undefined: there is none. Empty where nothing was changed. */
export async function patchOf(fleet: Fleet, { id, end }: RunRecord): Promise<Buffer | undefined> {
  const pieces = end?.patch === undefined ? undefined : await fleet.get(id, end.patch);
  if (!pieces) return undefined;
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}
