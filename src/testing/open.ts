// Runs that are proven: recorded while they work, or answered by a recording.
import { resolve } from "node:path";
import { createProvider } from "../model/resolve.ts";
import type { LiveRun, RunRequest } from "../protocol/run.ts";
import type { RunHost } from "../run/host.ts";
import { openRun } from "../run/live-run.ts";
import { placesOf } from "./normalise.ts";
import { fingerprintOf, Recorder } from "./record.ts";
import { type Recording, readRecording } from "./recording.ts";
import { type OnMismatch, ReplayModel } from "./replay-model.ts";
import { openReplay } from "./replayed-run.ts";

/** A run like any other, and its recording in a file. */
export async function recordedRun(file: string, request: RunRequest, host: RunHost): Promise<LiveRun> {
  const { env, version, redact = same } = host;
  const recorder = new Recorder({ file: resolve(file), request, env, version, redact });
  const open = host.seams?.openProvider ?? createProvider;
  const run = await openRun(request, {
    ...host,
    watch: (recorded) => recorder.watch(recorded),
    seams: {
      ...host.seams,
      openProvider: async (model, options) => recorder.wrap(await open(model, options), model),
    },
  });
  return withEnd(run, () => recorder.end());
}

type ReplayWish = { request: RunRequest; host: RunHost; tools: "recorded" | "live"; onMismatch: OnMismatch };

export async function replayedRun(file: string, { request, host, tools, onMismatch }: ReplayWish): Promise<LiveRun> {
  const recording = readRecording(resolve(file));
  if (tools === "recorded")
    return openReplay(recording, {
      check: { request, host, onMismatch },
      ...(host.signal && { signal: host.signal }),
    });
  return openRun(request, {
    ...host,
    seams: { ...host.seams, ...replaySeams(recording, { request, host, onMismatch }) },
  });
}

/** What a recording takes the place of where tools run for real. */
function replaySeams(
  recording: Recording,
  { request, host, onMismatch }: Omit<ReplayWish, "tools">,
): NonNullable<RunHost["seams"]> {
  const { displayName, contextTokens, price, effort } = recording.header.model;
  const model = new ReplayModel(recording, {
    places: placesOf(request, host.env),
    redact: host.redact ?? same,
    onMismatch,
    note: workspaceNote(recording, request.workspace),
  });
  return {
    openProvider: async (resolved, options) => (resolved.kind === "replay" ? model : createProvider(resolved, options)),
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

function withEnd(run: LiveRun, end: () => void): LiveRun {
  return new Proxy(run, {
    get(target, name) {
      if (name === "close") return () => target.close().finally(end);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

function same(text: string): string {
  return text;
}
