// openLive: opens a session with an agent CLI that can be steered and can ask questions while it works. If the CLI supports
// it, one process serves the whole session; else each turn has its own process, and what is not possible is a listed loss.
import { settlesWithin } from "../../process/clock.ts";
import { cancelled } from "../../protocol/cancelled.ts";
import { controlVersion } from "../../protocol/control-lines.ts";
import { UserError } from "../../protocol/error-codes.ts";
import { userError } from "../../protocol/prompts.ts";
import type { RunRequest } from "../../protocol/run.ts";
import { RunningCli } from "../child.ts";
import { hostedFlags, hostedFrames, ownRequest } from "../drivers/cursor.ts";
import type { AgentDriver, RunLoss } from "../drivers/driver.ts";
import { drivers } from "../drivers/index.ts";
import type { FoundCli } from "../find-cli.ts";
import { checkOptions, liveChecks } from "../option-checks.ts";
import {
  checkedDriver,
  cliOf,
  connectionOf,
  defaultGraceMs,
  defaultIdleMs,
  driverRequest,
  guardCallback,
} from "../start-options.ts";
import { HostedSession } from "./hosted-session.ts";
import { abilitiesOf, Questions } from "./questions.ts";
import type { LiveOptions, LiveSession } from "./session.ts";
import { TurnwiseSession } from "./turnwise-session.ts";

/** How many milliseconds a CLI may take to answer `hello`; after that, it is assumed not to support it. */
const helloMs = 5000;

/** How many milliseconds a CLI may print nothing: one that waits for the end of its input would wait forever. */
const silenceMs = 60_000;

/** Opens a live session with an agent CLI. Throws a UserError if the session cannot start. */
export async function openLive(options: LiveOptions = {}): Promise<LiveSession> {
  checkOptions("openLive", options, liveChecks);
  const driver = checkedDriver("openLive", { ...options, prompt: "" });
  if (options.signal?.aborted) throw cancelled(options.signal);
  const cli = await cliOf(driver, options, options.signal);
  if (!driver.capabilities(cli).live) return new TurnwiseSession({ driver, cli, options, losses: [] });
  return (await openHosted(options, driver, cli)) ?? new TurnwiseSession({ driver, cli, options, losses: [tooOld] });
}

const tooOld: RunLoss = {
  option: "live",
  reason: "This version of the CLI does not answer hello: each turn runs in its own process.",
};

/** Options for a run of Courser's own CLI when the caller already has the whole request. */
export type OwnOptions = Pick<LiveOptions, "human" | "attended" | "holdCalls" | "signal"> & {
  executable: readonly string[];
};

/** Opens a run of Courser's own CLI from a complete request. Throws a UserError if the session cannot start. */
export async function openOwn(request: RunRequest, ownOptions: OwnOptions): Promise<LiveSession> {
  const options: LiveOptions = { ...ownOptions, tool: "cursor", cwd: request.workspace };
  const cli = await cliOf(drivers.cursor, options, options.signal);
  const session = await openHosted(options, drivers.cursor, cli, request);
  if (session) return session;
  throw new UserError("NOT_SUPPORTED", `${ownOptions.executable.join(" ")} is too old to be handed a run: update it.`);
}

/**
 * Opens a session in one process. `handed` is a run request that replaces the one from the options. Returns undefined
 * if the CLI does not support this.
 */
async function openHosted(
  options: LiveOptions,
  driver: AgentDriver,
  cli: FoundCli,
  handed?: RunRequest,
): Promise<LiveSession | undefined> {
  const { signal, human, graceMs = defaultGraceMs, idleMs = defaultIdleMs } = options;
  const questions = new Questions(human);
  const request = driverRequest({ ...options, prompt: "" }, undefined, false);
  const connection = await connectionOf(options, driver, signal ?? new AbortController().signal);
  if (connection) {
    const { ask, ...rest } = connection.connection;
    // Do not use a program for questions if a user can be asked.
    request.connection = ask && !human ? { ...rest, ask } : rest;
  }
  const [command, ...first] = cli.words;
  const args = [...first, ...hostedFlags, ...(options.extraArgs ?? [])];
  let session: HostedSession | undefined;
  /** An error thrown by a callback ends the session and becomes its reason. */
  const fail = (message: string, cause: unknown) =>
    void session?.end(Object.assign(new UserError("CALLBACK_FAILED", message), { cause }));
  const child = new RunningCli({
    command: command!,
    program: driver.programs[0]!,
    args,
    cwd: request.cwd,
    env: { ...options.env },
    turn: {
      type: "hello",
      version: controlVersion,
      can: abilitiesOf(human, options),
      request: handed ?? ownRequest(request),
    },
    ...(Number.isFinite(idleMs) && { idleMs }),
    isWaiting: () => session?.isIdle === true || questions.isAsking || connection?.isBusy === true,
    graceMs,
    parser: { onNoise: options.onNoise ?? "fail", types: hostedFrames },
    onStdout: guardCallback("onStdout", options.onStdout, fail),
    onStderr: guardCallback("onStderr", options.onStderr, fail),
  });
  session = new HostedSession({ driver, child, questions, losses: [], graceMs, signal });
  void session.ended.then(() => connection?.close());
  if (child.pid !== 0)
    guardCallback("onStart", options.onStart, fail)({ pid: child.pid, command: [command!, ...args] });
  const speaksMs = Math.min(idleMs, silenceMs);
  if (!(await settlesWithin(Promise.race([session.helloReceived.promise, session.ended]), speaksMs))) {
    child.stop();
    await session.ended;
    throw new UserError(
      "CLI_TIMEOUT",
      `${driver.programs[0]} (${cli.words.join(" ")}) printed nothing for ${speaksMs} ms after its start, and was killed.`,
    );
  }
  return awaitHello(session);
}

async function awaitHello(session: HostedSession): Promise<LiveSession | undefined> {
  await Promise.race([session.begun.promise, session.ended]);
  await Promise.race([session.greeted.promise, settlesWithin(session.ended, helloMs)]);
  if (session.endReason) {
    await session.ended;
    throw session.endReason;
  }
  if (session.chatId !== "") return session;
  await session.close();
  const { error } = await session.ended;
  if (!error || isStranger(error)) return undefined;
  throw userError(error.code, error.message);
}

/** Recognizes the errors of a CLI that takes `hello` for a prompt or does not know the flag. */
function isStranger({ code, message }: { code: string; message: string }): boolean {
  if (code === "FRAME_SCHEMA" || code === "FRAME_MALFORMED") return true;
  return code === "USAGE" && /input-format|request-on-stdin/.test(message);
}
