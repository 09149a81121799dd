// Reads the patch with a run's changes, which was stored in the fleet when the run ended.
import type { Fleet, RunRecord } from "./fleet.ts";

/** Reads the patch of a run that has ended: undefined if there is none, an empty buffer if nothing was changed. */
export async function patchOf(fleet: Fleet, { id, end }: RunRecord): Promise<Buffer | undefined> {
  const pieces = end?.patch === undefined ? undefined : await fleet.get(id, end.patch);
  if (!pieces) return undefined;
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all);
}
