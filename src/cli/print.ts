// Print mode: one prompt, one run and exactly one result, whatever happens. For a host on stdin, several prompts, each with its result.
import { exitCodeOf, usageError } from "../protocol/error-codes.ts";
import type { LiveRun, Prompt, RunRequest } from "../protocol/run.ts";
import { restrict } from "../protocol/run-request.ts";
import { redactedStart } from "../redact/shorten.ts";
import { DeliveredEndings } from "../run/delivered-endings.ts";
import type { RunHost } from "../run/host.ts";
import { callLine } from "./call-line.ts";
import { createDebug } from "./debug.ts";
import { checkOutput, explainFailure, failedBeforeRun } from "./failure.ts";
import { type FlagValues, flagList, flagText } from "./flags.ts";
import type { Invocation } from "./main.ts";
import { openRunByFlags } from "./open-run.ts";
import { answerText, type OutputFormat, reshapeFor } from "./outputs.ts";
import { createReporter, type Reporter } from "./reporter.ts";
import { createRetryLines } from "./retry-lines.ts";
import { durationFlag, limitsOf, runHost, runRequest } from "./run-request.ts";
import { handleShutdown } from "./shutdown.ts";
import { pipedBeside, readPrompt } from "./stdin.ts";
import { withoutSecrets, writeStderr } from "./stdout.ts";

/** Runs print mode. `openBy` replaces the function that opens the run. */
export async function runPrint(invocation: Invocation, openBy = openRunByFlags): Promise<number> {
  const { flags } = invocation.line;
  const format = (flagText(flags, "output-format") ?? "text") as OutputFormat;
  const partial = flags.has("stream-partial-output");
  if (partial && format !== "stream-json") {
    throw usageError(
      `--stream-partial-output needs --output-format stream-json: ${invocation.name} -p --output-format stream-json --stream-partial-output "…"`,
    );
  }
  const abort = new AbortController();
  const limits = limitsOf(flags);
  const watch = handleShutdown(abort, { ...invocation, ...limits });
  watch.cut = async (error) => process.exit(await failedBeforeRun(error, format, invocation.name));
  watch.cutNow = (error) => {
    // the result is written; only its reader may still have to catch up
    void failedBeforeRun(error, format, invocation.name);
    return exitCodeOf(error.code);
  };
  const print: PrintRun = {
    abort,
    async open({ handed, ...lent }) {
      const flagged = withoutTimeLimit(runRequest(invocation, "print"));
      // The host that hands over the request starts the run, so it may also grant permissions.
      const request = handed ? restrict(flagged, handed, "more") : flagged;
      const debug = createDebug(flags.has("debug"));
      const beats = await heartbeats(flags);
      const run = await openBy(flags, request, {
        ...runHost(invocation),
        ...(beats && { waiting: beats.waiting }),
        ...lent,
        signal: abort.signal,
        ...(limits.maxTimeMs && { timeLeft: () => limits.maxTimeMs! - process.uptime() * 1000 }),
        ...(await answerFile(invocation)),
        ...(flags.has("debug") && { debug: debug.say }),
      });
      const { compat } = request;
      let { workspace } = request;
      const reshape = await reshapeFor(compat);
      const reporter = createReporter({ format, sessionId: run.chatId, partial, compat, reshape }, abort);
      watch.cut = async (error) => {
        reporter.fail(error, run.spent?.());
        process.exit(checkOutput(await reporter.finish()));
      };
      watch.cutNow = (error) => {
        reporter.fail(error, run.spent?.());
        return reporter.finishNow();
      };
      watch.taken = reporter.taken;
      const deliveredEndings = new DeliveredEndings();
      const isVerbose = format === "text" && process.stderr.isTTY === true;
      const heartbeat = beats?.start({
        beat: (line, text) => (format === "stream-json" ? reporter.line(line) : writeStderr(`${text}\n`)),
        stop: (error) => abort.abort(error),
      });
      const retries = isVerbose ? createRetryLines((text) => writeStderr(`${text}\n`)) : undefined;
      const follow = async () => {
        for await (const recorded of run.events()) {
          const { event, agent } = recorded;
          heartbeat?.moved();
          if (event.type === "init") workspace = event.cwd; // a run in a worktree reports the worktree's path
          reporter.emit(recorded);
          if (agent === undefined) debug.event(event);
          if (agent === undefined) retries?.event(event);
          if (isVerbose && agent === undefined && event.type === "tool_start")
            writeStderr(`${redactedStart(callLine(event, workspace), 160, withoutSecrets)}\n`);
          await reporter.ready();
          if (event.type === "done" || event.type === "fail") deliveredEndings.add(event);
        }
      };
      const followed = follow().finally(() => heartbeat?.end());
      return { run, reporter, shown: deliveredEndings, close: () => closeRun(run, reporter, followed) };
    },
  };
  try {
    await checkResumed(invocation);
    if (flagText(flags, "input-format") === "stream-json")
      return await (await import("./hosted-print.ts")).runHosted(invocation, print);
    if (flags.has("request-on-stdin")) throw usageError("--request-on-stdin needs --input-format stream-json, or -b.");
    const { usedStdin, ...prompt } = await readPrompt(invocation, abort.signal);
    const opened = await print.open({});
    const { resolve } = await import("node:path");
    const images = flagList(flags, "image").map((path) => resolve(path));
    return await answerOnce(opened, async () => {
      if (usedStdin) return { ...prompt, images };
      // If the preparation of the run fails, its first turn reports that.
      const ready = () => opened.run.names();
      const piped = pipedBeside(invocation, { ready, signal: abort.signal, isQuiet: format !== "text" });
      // A run that is stopped while stdin is read still gets its prompt, so that the chat records how its turn ended.
      const data = await piped.catch((error: unknown) => {
        if (!abort.signal.aborted) throw error;
        return undefined;
      });
      return { ...prompt, images, ...(data !== undefined && { data }) };
    });
  } finally {
    watch.stop();
  }
}

/** Creates the heartbeats of `--heartbeat` and `--max-silence`. Returns undefined if neither is given; then nothing is loaded. */
async function heartbeats(flags: FlagValues) {
  const everyMs = durationFlag(flags, "heartbeat");
  const maxSilenceMs = durationFlag(flags, "max-silence");
  if (everyMs === undefined && maxSilenceMs === undefined) return undefined;
  const { createHeartbeat } = await import("./heartbeat.ts");
  return createHeartbeat({ everyMs, maxSilenceMs });
}

/** Removes the time limit, which is enforced here, from the start of the program to its end. */
function withoutTimeLimit({ limits: { maxTimeMs, ...limits } = {}, ...request }: RunRequest): RunRequest {
  return { ...request, limits };
}

/** The interface that both kinds of print mode implement. */
export interface PrintRun {
  abort: AbortController;
  /** Opens the run. `handed` is a request that the host sent on stdin. */
  open(
    host: Pick<RunHost, "human" | "attended" | "ready" | "heldCall"> & { handed?: RunRequest },
  ): Promise<OpenedPrint>;
}

export type OpenedPrint = {
  run: LiveRun;
  reporter: Reporter;
  shown: DeliveredEndings;
  /** Ends the run and waits until all output is written. */
  close(): Promise<void>;
};

async function answerOnce({ run, reporter, close }: OpenedPrint, prompt: () => Promise<Prompt>): Promise<number> {
  try {
    await run.send(await prompt()).ending;
  } catch (error) {
    reporter.fail(error, run.spent?.());
  }
  await close();
  return reporter.finish();
}

/** Closes the run. A failure after the result, such as in cleanup, is only a warning: a run has exactly one result. */
async function closeRun(run: LiveRun, reporter: Reporter, followed: Promise<void>): Promise<void> {
  for (const step of [() => run.close(), () => followed])
    await step().catch((error: unknown) => {
      if (reporter.hasEnded) writeStderr(`Warning: ${explainFailure(error).message}\n`);
      else reporter.fail(error, run.spent?.());
    });
}

/** Writes the last answer to the file before the run counts as done. */
async function answerFile({ line: { flags } }: Invocation): Promise<Pick<RunHost, "deliver">> {
  const file = flagText(flags, "output-last-message");
  if (file === undefined) return {};
  const write = (await import("./whole-file.ts")).openAnswerFile(file);
  return { deliver: (answer) => write(answerText(answer)) };
}

/** Refuses `--resume "some words"`, which took the prompt for an id, and `--resume ""`, before the prompt is reported missing. */
async function checkResumed({ line, name }: Invocation): Promise<void> {
  const asked = flagText(line.flags, "resume");
  if (asked !== undefined && /^\s*$|\s/.test(asked.trim()))
    throw (await import("../store/chats/find-chat.ts")).noChatId(asked, name);
}
