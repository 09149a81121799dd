// Decides where a client's run works: in a trusted folder of this machine or, with a fleet, in a workspace that a worker creates
// from the files that are sent or named.
import { basename, isAbsolute } from "node:path";
import { UserError, usageError } from "../protocol/error-codes.ts";
import type { ServeContext } from "./context.ts";
import type { NewRun, Placement, RunSpec } from "./fleet.ts";
import { placementOf } from "./run-fields.ts";
import { fileSender, readSource, type SourceChoice } from "./send-files.ts";
import { requestForFleet } from "./sent-request.ts";
import { trustedWorkspace } from "./workspaces.ts";

export type GivenPlace = { [Field in keyof Placement]?: Placement[Field] | undefined } & {
  workspace?: string | undefined;
  /** The source of the files, in the format of the `--source` flag. */
  source?: string | undefined;
  onWorkerLoss?: RunSpec["onWorkerLoss"] | undefined;
};

/** Returns the run as it is to be queued, with its `request.workspace` set. Throws a UserError. */
export async function placeRun(
  { fleet, fleetUrl, configDir, env }: ServeContext,
  run: NewRun,
  given: GivenPlace,
  signal: AbortSignal,
): Promise<NewRun> {
  const { workspace, source, onWorkerLoss, pool, labels, priority } = given;
  const placed = placementOf({ pool, labels, priority });
  if (fleetUrl === undefined && (placed.placement || source !== undefined))
    throw usageError("Sources, pools, labels and priorities are for a service over a fleet: serve --fleet nats://…");
  const choice: SourceChoice = fleetUrl === undefined ? { type: "none" } : readSource(source ?? "upload", '"source"');
  const isHere = fleetUrl === undefined || choice.type === "upload" || choice.type === "repository";
  const folder = isHere ? trustedWorkspace(configDir, workspace ?? "") : placeOnWorker(workspace, choice);
  const { request: wanted, cli } = run.spec;
  const asked = { ...wanted, workspace: folder };
  const request = fleetUrl === undefined ? asked : requestForFleet(asked, choice, { configDir, env }, cli);
  const spec: RunSpec = { ...run.spec, request, ...placed, ...(onWorkerLoss && { onWorkerLoss }) };
  return fileSender(fleet, { env, signal })({ ...run, spec }, choice);
}

/** Returns a name for display if the worker chooses the folder itself. */
function placeOnWorker(workspace: string | undefined, choice: SourceChoice): string {
  if (workspace !== undefined && isAbsolute(workspace)) return workspace;
  if (workspace !== undefined || choice.type === "none")
    throw new UserError("CWD_MISSING", "The workspace must be the absolute path of a directory on the worker's disk.");
  const from = choice.type === "git" ? choice.from : choice.type === "folder" ? choice.path : "";
  return `/${basename(from).replace(/\.git$/, "") || "workspace"}`;
}
