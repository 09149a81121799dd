// Print mode: one prompt, one run, exactly one result, whatever happens.
import { type ErrorCode, errorCodes, exitCodeOf, UserError } from "../protocol/error-codes.ts";
import type { AgentEvent } from "../protocol/event.ts";
import { errorLine, resultText } from "./failure.ts";
import { flagList, flagText } from "./flags.ts";
import type { Invocation } from "./main.ts";
import { type OutputFormat, outputs } from "./outputs.ts";
import { randomUuid, setUp } from "./start.ts";
import { readPrompt, watchUnreadStdin } from "./stdin.ts";
import { openStdout, writeStderr } from "./stdout.ts";

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
  const sessionId = randomUuid();
  const output = outputs[format]({ sessionId, partial, compat: setup.compat });

  let closed = false;
  let ending: Extract<AgentEvent, { type: "done" | "fail" }> | undefined;
  const abort = new AbortController();
  const stdout = openStdout(
    () => {
      closed = true;
      abort.abort(new UserError("INTERRUPTED", "The reader of the output went away."));
    },
    (error) => {
      const code = error.code === "ENOSPC" ? "STORE_FULL" : "INTERNAL";
      writeStderr(errorLine(`The output cannot be written: ${error.message}`, code));
      abort.abort(new UserError(code, `The output cannot be written: ${error.message}`));
    },
  );
  const emit = (event: AgentEvent): void => {
    if (ending) return;
    if (event.type === "done" || event.type === "fail") ending = event;
    const shown = event.type === "fail" ? { ...event, message: resultText(event.message) } : event;
    const text = output.encode(shown);
    if (text) stdout.write(text);
  };

  const startedAt = Date.now();
  const stop = watchSignals(abort, invocation.env, (error) => {
    emit({
      type: "fail",
      message: error.message,
      code: error.code,
      durationMs: Date.now() - startedAt,
      apiDurationMs: 0,
    });
    void finish().then((code) => process.exit(code));
  });
  if (setup.limits.maxTimeMs !== undefined) {
    const spent = new UserError(
      "MAX_TIME",
      `The run reached its limit of ${flagText(flags, "max-time")}. Raise it with --max-time.`,
    );
    setTimeout(() => abort.abort(spent), setup.limits.maxTimeMs).unref();
  }

  emit({
    type: "init",
    sessionId,
    cwd: setup.workspace,
    model: setup.model.displayName,
    permissionMode: setup.mode,
    apiKeySource: setup.model.apiKeySource,
  });
  const unread = watchUnreadStdin(prompt.usedStdin);
  const { createRun } = await import("./run.ts");
  try {
    const run = await createRun(setup, { sessionId, headless: true, warn });
    try {
      for await (const event of run.turn({ text: prompt.text, images: flagList(flags, "image") }, abort.signal)) {
        emit(event);
        showProgress(event, format);
        await stdout.ready();
        if (closed) break;
      }
    } finally {
      await run.end();
    }
  } catch (error) {
    const code = error instanceof UserError ? error.code : "INTERNAL";
    const message =
      error instanceof UserError
        ? error.message
        : `Unexpected failure, please report it: ${(error as Error).stack ?? error}`;
    emit({ type: "fail", message, code, durationMs: Date.now() - startedAt, apiDurationMs: 0 });
  }
  stop();
  if (await unread())
    warn(
      `stdin holds data that was not read. To add it to the prompt: … | ${invocation.name} -p "${prompt.text.slice(0, 40)}" -`,
    );
  return finish();

  async function finish(): Promise<number> {
    await stdout.flush(abort.signal.aborted ? signalGraceMs : undefined);
    if (closed) return 141; // as if SIGPIPE had ended it, which is what readers like `head` expect
    if (!ending) return 1;
    for (const denial of ending.denials ?? []) writeStderr(`Rejected: ${denial.tool}: ${denial.reason}\n`);
    if (ending.type === "done") return 0;
    const code = codeOf(ending.code);
    writeStderr(errorLine(ending.message, code));
    return exitCodeOf(code);
  }

  function warn(message: string): void {
    writeStderr(`Warning: ${message}\n`);
  }
}

function codeOf(code: string | undefined): ErrorCode {
  return code !== undefined && Object.hasOwn(errorCodes, code) ? (code as ErrorCode) : "INTERNAL";
}

/** On a terminal, text mode shows on stderr what the agent does; the answer alone goes to stdout. */
function showProgress(event: AgentEvent, format: OutputFormat): void {
  if (format !== "text" || event.type !== "tool_start" || !process.stderr.isTTY) return;
  const { command, path, pattern, globPattern } = event.args as Record<string, unknown>;
  writeStderr(`· ${event.tool} ${String(command ?? pattern ?? globPattern ?? path ?? "").slice(0, 120)}\n`);
}

/** Signals and a vanished parent end the run through the one abort signal; what stalls is cut after a grace period. */
function watchSignals(
  abort: AbortController,
  env: NodeJS.ProcessEnv,
  onStalled: (error: UserError) => void,
): () => void {
  let cut: NodeJS.Timeout | undefined;
  const end = (error: UserError) => {
    if (cut) return onStalled(error); // asked twice: no more patience
    abort.abort(error);
    cut = setTimeout(() => onStalled(error), signalGraceMs);
  };
  const interrupted = () => end(new UserError("INTERRUPTED", "The run was interrupted (SIGINT)."));
  const terminated = () => end(new UserError("TERMINATED", "The run was terminated (SIGTERM)."));
  process.on("SIGINT", interrupted);
  process.on("SIGTERM", terminated);
  process.on("SIGHUP", terminated);

  let parentWatch: NodeJS.Timeout | undefined;
  if (env["COURSER_EXIT_WITH_PARENT"] === "1") {
    const parent = process.ppid;
    parentWatch = setInterval(() => {
      if (process.ppid !== parent && !cut)
        end(new UserError("PARENT_GONE", "The program that started this run is gone."));
    }, 500);
    parentWatch.unref();
  }
  return () => {
    clearTimeout(cut);
    clearInterval(parentWatch);
  };
}
