// Opens the run that the flags ask for: a new one, one that is recorded, or one that a recording answers.
import { UserError } from "../protocol/error-codes.ts";
import type { LiveRun, RunRequest } from "../protocol/run.ts";
import type { RunHost } from "../run/host.ts";
import { openRun } from "../run/live-run.ts";
import { type FlagValues, flagText } from "./flags.ts";

export function openRunByFlags(flags: FlagValues, request: RunRequest, host: RunHost): Promise<LiveRun> {
  const file = recordingOf(request, host);
  const isPlain = file === undefined && !flags.has("record");
  return isPlain ? openRun(request, host) : openProven(flags, request, host, file);
}

/** The file that `--model replay:FILE` names. */
function recordingOf({ model }: RunRequest, { env }: RunHost): string | undefined {
  return /^replay:(.+)$/s.exec(model ?? env["COURSER_MODEL"] ?? "")?.[1];
}

async function openProven(
  flags: FlagValues,
  request: RunRequest,
  host: RunHost,
  file: string | undefined,
): Promise<LiveRun> {
  const target = flagText(flags, "record");
  if (file !== undefined) {
    if (target !== undefined)
      throw new UserError(
        "USAGE",
        "--record and --model replay:FILE are mutually exclusive: a copy of the file says the same.",
      );
    const tools = flagText(flags, "replay-tools") === "live" ? "live" : "recorded";
    const onMismatch = flagText(flags, "replay-on-mismatch") === "continue" ? "continue" : "stop";
    return (await import("../testing/replay.ts")).replayedRun(file, { request, host, tools, onMismatch });
  }
  return (await import("../testing/recorded-run.ts")).recordedRun(target!, request, host);
}
