// Print mode: one prompt, one run, exactly one result, whatever happens.
import { UserError } from "../protocol/error-codes.ts";
import type { AgentEvent } from "../protocol/event.ts";
import { callLine } from "./call-line.ts";
import { createDebug } from "./debug.ts";
import { flagList, flagText } from "./flags.ts";
import type { Invocation } from "./main.ts";
import type { OutputFormat } from "./outputs.ts";
import { createReporter, type Reporter } from "./reporter.ts";
import { randomUuid, setUp } from "./start.ts";
import { hasUnreadStdin, readPrompt } from "./stdin.ts";
import { writeStderr } from "./stdout.ts";

/** After a signal the run may still end its tools and say its result; then it is over either way. */
const signalGraceMs = 3500;

export async function runPrint(invocation: Invocation): Promise<number> {
  const { flags } = invocation.line;
  const format = (flagText(flags, "output-format") ?? "text") as OutputFormat;
  const partial = flags.has("stream-partial-output");
  if (partial && format !== "stream-json") {
    throw new UserError(
      "USAGE",
      `--stream-partial-output needs --output-format stream-json: ${invocation.name} -p --output-format stream-json --stream-partial-output "…"`,
    );
  }
  const prompt = await readPrompt(invocation);
  const setup = setUp(invocation, { gate: true });
  if (flags.has("allowed-tools") || flags.has("disallowed-tools")) {
    (await import("./choose-tools.ts")).chooseTools(flags, setup.mode); // wrong names are told before the run begins
  }
  const debug = createDebug(flags.has("debug"));
  debug.setup(setup);

  const sessionId = randomUuid();
  const abort = new AbortController();
  const reporter = createReporter({ format, sessionId, partial, compat: setup.compat }, abort);
  const stopWatching = watchForTheEnd(abort, invocation.env, reporter);
  if (setup.limits.maxTimeMs !== undefined) {
    const limit = flagText(flags, "max-time");
    const spent = new UserError("MAX_TIME", `The run reached its limit of ${limit}. Raise it with --max-time.`);
    setTimeout(() => abort.abort(spent), setup.limits.maxTimeMs).unref();
  }

  reporter.emit({
    type: "init",
    sessionId,
    cwd: setup.workspace,
    model: setup.model.displayName,
    permissionMode: setup.mode,
    apiKeySource: setup.model.apiKeySource,
  });
  try {
    const { createRun } = await import("./run.ts");
    const run = await createRun(setup, { sessionId, headless: true, warn });
    debug.say("the agent is ready");
    try {
      const images = flagList(flags, "image");
      for await (const event of run.turn({ text: prompt.text, images }, abort.signal)) {
        reporter.emit(event);
        debug.event(event);
        showProgress(event, format, setup.workspace);
        await reporter.ready();
        if (reporter.isClosed) break;
      }
    } finally {
      await run.end();
    }
  } catch (error) {
    reporter.fail(error);
  }
  stopWatching();
  if (await hasUnreadStdin(prompt.usedStdin)) {
    const shown = prompt.text.slice(0, 40);
    warn(`stdin holds data that was not read. To add it to the prompt: … | ${invocation.name} -p "${shown}" -`);
  }
  return reporter.finish();
}

function warn(message: string): void {
  writeStderr(`Warning: ${message}\n`);
}

/** On a terminal, text mode shows on stderr what the agent does; the answer alone goes to stdout. */
function showProgress(event: AgentEvent, format: OutputFormat, workspace: string): void {
  if (format !== "text" || event.type !== "tool_start" || !process.stderr.isTTY) return;
  writeStderr(`${callLine(event, workspace).slice(0, 160)}\n`);
}

/**
 * Signals and a vanished parent end the run through the one abort signal; what stalls is cut after a grace period. A bug
 * that throws where nobody waits ends it too, with its result.
 */
function watchForTheEnd(abort: AbortController, env: NodeJS.ProcessEnv, reporter: Reporter): () => void {
  let cut: NodeJS.Timeout | undefined;
  const endNow = (error: unknown) => {
    reporter.fail(error);
    void reporter.finish().then((code) => process.exit(code));
  };
  const end = (error: UserError) => {
    if (cut) return endNow(error); // asked twice: no more patience
    abort.abort(error);
    cut = setTimeout(() => endNow(error), signalGraceMs);
  };
  const interrupted = () => end(new UserError("INTERRUPTED", "The run was interrupted (SIGINT)."));
  const terminated = () => end(new UserError("TERMINATED", "The run was terminated (SIGTERM)."));
  process.on("SIGINT", interrupted);
  process.on("SIGTERM", terminated);
  process.on("SIGHUP", terminated);
  process.on("uncaughtException", endNow);

  let parentWatch: NodeJS.Timeout | undefined;
  if (env["COURSER_EXIT_WITH_PARENT"] === "1") {
    const parent = process.ppid;
    parentWatch = setInterval(() => {
      if (process.ppid !== parent && !cut) {
        end(new UserError("PARENT_GONE", "The program that started this run is gone."));
      }
    }, 500);
    parentWatch.unref();
  }
  return () => {
    clearTimeout(cut);
    clearInterval(parentWatch);
  };
}
