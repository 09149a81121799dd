// Opens a run that a recording answers: all of it, or its model alone.
import { resolve } from "node:path";
import { createProvider } from "../model/resolve.ts";
import type { LiveRun, RunRequest } from "../protocol/run.ts";
import type { RunHost } from "../run/host.ts";
import { openRun } from "../run/live-run.ts";
import { fingerprintOf } from "./fingerprint.ts";
import { placesOf } from "./normalise.ts";
import { type Recording, readRecording } from "./recording.ts";
import { type OnMismatch, ReplayModel } from "./replay-model.ts";

/** `recordTo` is where a run with live tools is recorded again, to renew an outdated recording. */
type ReplayOptions = {
  request: RunRequest;
  host: RunHost;
  tools: "recorded" | "live";
  onMismatch: OnMismatch;
  recordTo?: string;
};

/** Opens a run whose model is the recording. Its tools run live, unless `tools` is `recorded`. */
export async function replayedRun(file: string, options: ReplayOptions): Promise<LiveRun> {
  const { request, host, tools, onMismatch, recordTo } = options;
  const recording = readRecording(resolve(file));
  if (tools === "recorded")
    return (await import("./replayed-run.ts")).openReplay(recording, {
      check: { request, host, onMismatch },
      ...(host.signal && { signal: host.signal }),
    });
  // Take the workspace from the `init` event, since a worktree's path is not known before.
  let { workspace } = request;
  const watch: RunHost["watch"] = (recorded) => {
    if (recorded.event.type === "init") workspace = recorded.event.cwd;
    host.watch?.(recorded);
  };
  const requestInWorkspace = () => ({ ...request, workspace });
  const seams = { ...host.seams, ...replaySeams(recording, requestInWorkspace, { host, onMismatch }) };
  const replaying = { ...host, watch, seams };
  if (recordTo === undefined) return openRun(request, replaying);
  return (await import("./recorded-run.ts")).recordedRun(recordTo, request, replaying);
}

/** The parts of a run that the recording replaces when tools run for real. */
function replaySeams(
  recording: Recording,
  requestInWorkspace: () => RunRequest,
  { host, onMismatch }: Pick<ReplayOptions, "host" | "onMismatch">,
): NonNullable<RunHost["seams"]> {
  const { displayName, contextTokens, price, effort } = recording.header.model;
  let model: ReplayModel | undefined;
  const open = (request: RunRequest) =>
    new ReplayModel(recording, {
      places: placesOf(request, host.env),
      redact: host.redact ?? unchanged,
      onMismatch,
      note: workspaceNote(recording, request.workspace),
    });
  return {
    openProvider: async (resolved, options) =>
      resolved.kind === "replay" ? (model ??= open(requestInWorkspace())) : createProvider(resolved, options),
    modelInfo: { displayName, contextTokens, ...(price && { price }), ...(effort && { effort }) } as NonNullable<
      RunHost["seams"]
    >["modelInfo"],
  };
}

function workspaceNote({ header: { workspace: recorded } }: Recording, workspace: string): string {
  const now = fingerprintOf(workspace);
  if (now.digest === recorded.digest && now.commit === recorded.commit) return ".";
  const commits =
    now.commit === recorded.commit ? "" : ` (commit ${recorded.commit ?? "none"}, now ${now.commit ?? "none"})`;
  return `. The workspace is not as it was when the run began${commits}.`;
}

function unchanged(text: string): string {
  return text;
}
