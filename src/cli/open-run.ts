// Opens the run that the flags ask for: a plain one, one that is recorded, or one that replays a recording.
import { usageError } from "../protocol/error-codes.ts";
import type { LiveRun, RunRequest } from "../protocol/run.ts";
import type { RunHost } from "../run/host.ts";
import { openRun } from "../run/live-run.ts";
import { type FlagValues, flagText } from "./flags.ts";

export function openRunByFlags(flags: FlagValues, request: RunRequest, host: RunHost): Promise<LiveRun> {
  const file = recordingOf(request, host);
  const lost = file === undefined && replayFlags.find((name) => flags.has(name));
  if (lost) throw usageError(`--${lost} needs a recording to replay: --model replay:FILE`);
  const isPlain = file === undefined && !flags.has("record");
  return isPlain ? openRun(request, host) : openRecordedOrReplayed(flags, request, host, file);
}

const replayFlags = ["replay-tools", "replay-on-mismatch"];

/** Returns the path of the recording in `--model replay:FILE`. */
function recordingOf({ model }: RunRequest, { env }: RunHost): string | undefined {
  return /^replay:(.+)$/s.exec(model ?? env["COURSER_MODEL"] ?? "")?.[1];
}

async function openRecordedOrReplayed(
  flags: FlagValues,
  request: RunRequest,
  host: RunHost,
  file: string | undefined,
): Promise<LiveRun> {
  const target = flagText(flags, "record");
  if (file !== undefined) {
    const tools = flagText(flags, "replay-tools") === "live" ? "live" : "recorded";
    if (target !== undefined && tools === "recorded")
      throw usageError(
        "--record has nothing new to record while tools are replayed: copy the file, or let them run with --replay-tools live.",
      );
    const onMismatch = flagText(flags, "replay-on-mismatch") === "continue" ? "continue" : "stop";
    return (await import("../testing/replay.ts")).replayedRun(file, {
      request,
      host,
      tools,
      onMismatch,
      ...(target !== undefined && { recordTo: target }),
    });
  }
  return (await import("../testing/recorded-run.ts")).recordedRun(target!, request, host);
}
