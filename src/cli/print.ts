// Print mode: a prompt, a run, exactly one result, whatever happens; or several, each with its result.
import { UserError } from "../protocol/error-codes.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { AnswerSchema } from "../run/answer-schema.ts";
import { callLine } from "./call-line.ts";
import { createDebug, type Debug } from "./debug.ts";
import { flagList, flagText } from "./flags.ts";
import type { Invocation } from "./main.ts";
import type { McpPlan } from "../run/mcp-plan.ts";
import type { OutputFormat } from "./outputs.ts";
import { createReporter, type Reporter } from "./reporter.ts";
import { findMcp, initOf, openSession, type RunSession } from "../run/session.ts";
import { watchForTheEnd } from "./shutdown.ts";
import { type Setup, setUp } from "../run/setup.ts";
import { hasUnreadStdin, noPrompt, type PromptText, readPrompt } from "./stdin.ts";
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
    const source = await openPrompts(invocation, abort.signal);
    const setup = setUp(invocation, { gate: true });
    const mcp = await findMcp(setup);
    if (flags.has("allowed-tools") || flags.has("disallowed-tools")) {
      const hasServers = mcp !== undefined || flags.has("browser");
      // Wrong names are told before the run begins.
      (await import("../run/choose-tools.ts")).chooseTools(flags, { ...setup, hasServers });
    }
    const schema = flagText(flags, "json-schema");
    const answer = schema === undefined ? undefined : (await import("../run/answer-schema.ts")).readAnswerSchema(schema);
    const file = flagText(flags, "output-last-message");
    const onAnswer = file === undefined ? undefined : (await import("./answer-file.ts")).openAnswerFile(file);
    const session = await openSession(setup);
    const reporter = createReporter({ format, session, partial, compat: setup.compat, onAnswer }, abort);
    watch.cut = (error) => {
      reporter.fail(error);
      void reporter.finish().then((code) => process.exit(code));
    };
    try {
      await runTurns(setup, source, { session, reporter, abort, format, answer, mcp });
    } finally {
      session.close();
    }
    if (await hasUnreadStdin(source.usedStdin)) {
      const shown = source.text.slice(0, 40);
      warn(`stdin holds data that was not read. To add it to the prompt: … | ${invocation.name} -p "${shown}" -`);
    }
    return await reporter.finish();
  } finally {
    watch.stop();
  }
}

/** `turn`: what calls off the turn that runs. */
type PromptSource = {
  prompts: Iterable<PromptText> | AsyncIterable<PromptText | UserError>;
  text: string;
  usedStdin: boolean;
  turn?: AbortController;
};

/** One prompt, which is read at once; or lines of stdin, as they come. */
async function openPrompts(invocation: Invocation, signal: AbortSignal): Promise<PromptSource> {
  const { line, name } = invocation;
  if (flagText(line.flags, "input-format") !== "stream-json") {
    const prompt = await readPrompt(invocation, signal);
    return { ...prompt, prompts: [prompt] };
  }
  if (line.words.length > 0) {
    throw new UserError(
      "USAGE",
      "--input-format stream-json takes its prompts from stdin, a line of JSON each: leave out the words.",
    );
  }
  const { readInputLines } = await import("./input-lines.ts");
  const onCancel = () => source.turn?.abort(new UserError("INTERRUPTED", "The turn was cancelled."));
  const prompts = readInputLines({ signal, onCancel, noPrompt: noPrompt(name) });
  const source: PromptSource = { prompts, text: "", usedStdin: true };
  return source;
}

/** `--resume "some words"` took the prompt for an id: told so, before the prompt is missed. */
async function checkResumed({ line, name }: Invocation): Promise<void> {
  const asked = flagText(line.flags, "resume");
  if (asked !== undefined && /\s/.test(asked.trim()))
    throw (await import("../store/chats/find-chat.ts")).noChatId(asked, name);
}

type TurnPlace = {
  session: RunSession;
  reporter: Reporter;
  abort: AbortController;
  format: OutputFormat;
  answer: AnswerSchema | undefined;
  mcp: McpPlan | undefined;
};

/** From `init` to the end; whatever goes wrong is reported as the result of its turn. */
async function runTurns(setup: Setup, source: PromptSource, place: TurnPlace): Promise<void> {
  const { session, reporter, abort, answer, mcp } = place;
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
    const { createRun } = await import("../run/assemble.ts");
    const run = await createRun(setup, { session, headless: true, warn, answer, mcp });
    debug.say("the agent is ready");
    try {
      abort.signal.addEventListener("abort", () => source.turn?.abort(abort.signal.reason), { once: true });
      let images = flagList(flags, "image");
      for await (const prompt of source.prompts) {
        if (prompt instanceof UserError) {
          endOfInput(prompt, place);
          break;
        }
        if (reporter.hasEnded) reporter.next();
        const turn = new AbortController();
        source.turn = turn;
        if (abort.signal.aborted) turn.abort(abort.signal.reason);
        await showTurn(run.turn({ ...prompt, images }, turn.signal), setup, { ...place, debug });
        source.turn = undefined;
        images = [];
        // What could not be kept is not shown, and nothing is done after it.
        if (abort.signal.aborted || reporter.isClosed) break;
      }
    } finally {
      await run.end();
    }
  } catch (error) {
    reporter.fail(error);
  }
}

async function showTurn(
  events: AsyncIterable<AgentEvent>,
  setup: Setup,
  { reporter, format, debug }: TurnPlace & { debug: Debug },
): Promise<void> {
  for await (const event of events) {
    reporter.emit(event);
    if (reporter.hasEnded && event.type !== "done" && event.type !== "fail") break;
    debug.event(event);
    if (format !== "stream-json" && event.type === "notice") warn(event.message);
    showProgress(event, format, setup.workspace);
    await reporter.ready();
    if (reporter.isClosed) break;
  }
}

/** A line that is no prompt has a result of its own; a signal between two turns has none. */
function endOfInput(error: UserError, { reporter, abort }: TurnPlace): void {
  if (abort.signal.aborted && reporter.hasEnded) {
    reporter.stop(error);
    return;
  }
  if (reporter.hasEnded) reporter.next();
  reporter.fail(error);
}

function warn(message: string): void {
  writeStderr(`Warning: ${message}\n`);
}

/** On a terminal, text mode shows on stderr what the agent does; the answer alone goes to stdout. */
function showProgress(event: AgentEvent, format: OutputFormat, workspace: string): void {
  if (format !== "text" || event.type !== "tool_start" || !process.stderr.isTTY) return;
  writeStderr(`${callLine(event, workspace).slice(0, 160)}\n`);
}
