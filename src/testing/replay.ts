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
type ReplayWish = {
  request: RunRequest;
  host: RunHost;
  tools: "recorded" | "live";
  onMismatch: OnMismatch;
  recordTo?: string;
};

export async function replayedRun(file: string, wish: ReplayWish): Promise<LiveRun> {
  const { request, host, tools, onMismatch, recordTo } = wish;
  const recording = readRecording(resolve(file));
  if (tools === "recorded")
    return (await import("./replayed-run.ts")).openReplay(recording, {
      check: { request, host, onMismatch },
      ...(host.signal && { signal: host.signal }),
    });
  // The path of a worktree is known only from the run's `init`.
  let { workspace } = request;
  const watch: RunHost["watch"] = (recorded) => {
    if (recorded.event.type === "init") workspace = recorded.event.cwd;
    host.watch?.(recorded);
  };
  const placed = () => ({ ...request, workspace });
  const seams = { ...host.seams, ...replaySeams(recording, placed, { host, onMismatch }) };
  if (recordTo === undefined) return openRun(request, { ...host, watch, seams });
  return (await import("./recorded-run.ts")).recordedRun(recordTo, request, { ...host, seams });
}

/** The parts of a run that the recording replaces when tools run for real. */
function replaySeams(
  recording: Recording,
  placed: () => RunRequest,
  { host, onMismatch }: Pick<ReplayWish, "host" | "onMismatch">,
): NonNullable<RunHost["seams"]> {
  const { displayName, contextTokens, price, effort } = recording.header.model;
  let model: ReplayModel | undefined;
  const open = (request: RunRequest) =>
    new ReplayModel(recording, {
      places: placesOf(request, host.env),
      redact: host.redact ?? same,
      onMismatch,
      note: workspaceNote(recording, request.workspace),
    });
  return {
    openProvider: async (resolved, options) =>
      resolved.kind === "replay" ? (model ??= open(placed())) : createProvider(resolved, options),
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

function same(text: string): string {
  return text;
}
