// Print mode: one prompt, one run, exactly one result, whatever happens.
import { UserError } from "../protocol/error-codes.ts";
import type { AgentEvent } from "../protocol/event.ts";
import { callLine } from "./call-line.ts";
import { createDebug } from "./debug.ts";
import { watchForTheEnd } from "./end-watch.ts";
import { flagList, flagText } from "./flags.ts";
import type { Invocation } from "./main.ts";
import type { McpPlan } from "./mcp-plan.ts";
import type { OutputFormat } from "./outputs.ts";
import { createReporter, type Reporter } from "./reporter.ts";
import { findMcp, initOf, openSession, type RunSession } from "./session.ts";
import { type Setup, setUp } from "./start.ts";
import { hasUnreadStdin, type PromptText, readPrompt } from "./stdin.ts";
import { writeStderr } from "./stdout.ts";

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
  const abort = new AbortController();
  const watch = watchForTheEnd(abort, invocation.env);
  try {
    await checkResumed(invocation);
    const prompt = await readPrompt(invocation, abort.signal);
    const setup = setUp(invocation, { gate: true });
    if (flags.has("allowed-tools") || flags.has("disallowed-tools")) {
      (await import("./choose-tools.ts")).chooseTools(flags, setup.mode); // wrong names are told before the run begins
    }
    const mcp = await findMcp(setup);
    const session = await openSession(setup);
    const reporter = createReporter({ format, session, partial, compat: setup.compat }, abort);
    watch.cut = (error) => {
      reporter.fail(error);
      void reporter.finish().then((code) => process.exit(code));
    };
    try {
      await runTurn(setup, prompt, { session, reporter, abort, format, mcp });
    } finally {
      session.close();
    }
    if (await hasUnreadStdin(prompt.usedStdin)) {
      const shown = prompt.text.slice(0, 40);
      warn(`stdin holds data that was not read. To add it to the prompt: … | ${invocation.name} -p "${shown}" -`);
    }
    return await reporter.finish();
  } finally {
    watch.stop();
  }
}

/** `--resume "some words"` took the prompt for an id: told so, before the prompt is missed. */
async function checkResumed({ line, name }: Invocation): Promise<void> {
  const asked = flagText(line.flags, "resume");
  if (asked !== undefined && /\s/.test(asked.trim()))
    throw (await import("../store/chats/finding.ts")).noChatId(asked, name);
}

type TurnPlace = {
  session: RunSession;
  reporter: Reporter;
  abort: AbortController;
  format: OutputFormat;
  mcp: McpPlan | undefined;
};

/** From `init` to the end; whatever goes wrong is reported as the run's result. */
async function runTurn(
  setup: Setup,
  prompt: PromptText,
  { session, reporter, abort, format, mcp }: TurnPlace,
): Promise<void> {
  const { flags } = setup.invocation.line;
  const debug = createDebug(flags.has("debug"));
  debug.setup(setup);
  if (setup.limits.maxTimeMs !== undefined) {
    const limit = flagText(flags, "max-time");
    const spent = new UserError("MAX_TIME", `The run reached its limit of ${limit}. Raise it with --max-time.`);
    // Node's timers reach 24 days.
    setTimeout(() => abort.abort(spent), Math.min(setup.limits.maxTimeMs, 2 ** 31 - 1)).unref();
  }
  reporter.emit(initOf(setup, session, mcp));
  try {
    const { createRun } = await import("./run.ts");
    const run = await createRun(setup, { session, headless: true, warn, ...(mcp && { mcp }) });
    debug.say("the agent is ready");
    try {
      const images = flagList(flags, "image");
      for await (const event of run.turn({ ...prompt, images }, abort.signal)) {
        reporter.emit(event);
        // What could not be kept is not shown, and nothing is done after it.
        if (reporter.hasEnded && event.type !== "done" && event.type !== "fail") break;
        debug.event(event);
        if (format !== "stream-json" && event.type === "notice") warn(event.message);
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
}

function warn(message: string): void {
  writeStderr(`Warning: ${message}\n`);
}

/** On a terminal, text mode shows on stderr what the agent does; the answer alone goes to stdout. */
function showProgress(event: AgentEvent, format: OutputFormat, workspace: string): void {
  if (format !== "text" || event.type !== "tool_start" || !process.stderr.isTTY) return;
  writeStderr(`${callLine(event, workspace).slice(0, 160)}\n`);
}
