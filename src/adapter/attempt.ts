// Runs one attempt at a turn: one candidate, one CLI process, its frames read until it ends.

import { FrameError } from "../json/frame-error.ts";
import { codeNamedIn, UserError } from "../protocol/error-codes.ts";
import { type FrameType, frameTypes } from "../protocol/frame-shapes.ts";
import type { Frame, FrameParserOptions } from "../protocol/frames.ts";
import { type KnownTool, type Turn, toolTable } from "../protocol/turn-contract.ts";
import { type CliEnd, RunningCli } from "../sdk/child.ts";
import { programName } from "../text/program-name.ts";
import { type CliInput, cliInput } from "./cli-input.ts";
import type { Model } from "./config.ts";
import { codeOfWords, type FailureKind, failureKind, isTooLong, refusedFlag } from "./failure.ts";
import { FrameReader, type ReadFrame } from "./frame-reader.ts";
import type { ModelProfile } from "./rotation.ts";

/** The record of one attempt; complete once the turn is over. */
export type Attempt = {
  model: string;
  profile: string;
  /** How the turn was passed to the CLI. */
  via: RunningCli["via"];
  pid: number;
  outcome: "running" | "ok" | "failed";
  error?: { code: string; message: string };
  kind?: FailureKind;
  /** Why no other candidate was tried after this one, although others were configured. */
  kept?: string;
  exitCode: number | null;
  signal: string;
  /** The stages used to stop the process, in order. */
  stages: readonly string[];
  durationMs: number;
  /** The number of frames up to the end of the turn. */
  frames: number;
  /** The number of frames of unknown type, or after the end. */
  ignored: number;
  warnings: readonly string[];
  /** All text of this attempt, with nothing repeated. */
  text: string;
  toolCalls: { name: string; args: Record<string, unknown> }[];
  /** Tools of the CLI itself that it started to use. */
  ownTools: string[];
};

export type AttemptContext = {
  cwd: string;
  tools: readonly KnownTool[];
  signal: AbortSignal;
  platform?: NodeJS.Platform;
  parser?: FrameParserOptions;
  /** Called when a CLI has been started, with the promise of its end. */
  onStart?(ended: Promise<unknown>): void;
  /** Called with every frame, forwarded or not. */
  onFrame?(frame: Frame): void;
  /** Removes secrets from text that users will see. */
  redact(text: string): string;
};

export function newAttempt({ model, profile }: ModelProfile): Attempt {
  return {
    model: model.name,
    profile,
    via: "none",
    pid: 0,
    outcome: "running",
    exitCode: null,
    signal: "",
    stages: [],
    durationMs: 0,
    frames: 0,
    ignored: 0,
    warnings: [],
    text: "",
    toolCalls: [],
    ownTools: [],
  };
}

/** Types of lines that are valid in the contract and have no effect. */
const ignored = new Set(["system", "user", "thinking", "interaction_query"]);
const contractFrames = new Map<string, FrameType>(
  [...frameTypes].map(([type, known]) => [type, ignored.has(type) ? { ...known, isIgnored: true } : known]),
);

/** Yields frames up to the one that ends the turn well. The outcome is in `attempt`; an `error` is not among the events. */
export async function* runAttempt(
  attempt: Attempt,
  { model, env }: ModelProfile,
  turn: Turn,
  context: AttemptContext,
): AsyncGenerator<ReadFrame> {
  const input = inputOrFault(model, turn, context);
  if (input instanceof UserError) {
    fail(attempt, input, context);
    return;
  }
  const start = (promptVia = input.promptVia) =>
    new RunningCli({
      ...input,
      promptVia,
      cwd: context.cwd,
      env,
      timeoutMs: model.timeoutMs,
      idleMs: model.idleMs,
      stageMs: model.stopMs,
      resultGraceMs: model.stopMs.result,
      signal: context.signal,
      parser: { ...context.parser, framing: model.framing, tools: context.tools, types: contractFrames },
    });
  let end = yield* follow(attempt, start(), context);
  // If the CLI was never started, or its shell failed at once, nothing was done yet: try again with the prompt on
  // stdin.
  const isUntouched = attempt.via === "argument" && attempt.frames === 0;
  if (end.error && isUntouched && isTooLong(`${end.error.message} ${end.stderr}`))
    end = yield* follow(attempt, start("stdin"), context);
  concludeAttempt(attempt, end, { model, context });
  if (attempt.outcome === "ok" && end.finish === "exit") yield doneFrame(end.finish);
}

async function* follow(attempt: Attempt, cli: RunningCli, context: AttemptContext): AsyncGenerator<ReadFrame, CliEnd> {
  attempt.via = cli.via;
  attempt.pid = cli.pid;
  context.onStart?.(cli.ended);
  const reader = new FrameReader(toolTable(context.tools));
  let fault: FrameError | undefined;
  try {
    for await (const frame of cli.frames) {
      attempt.frames++;
      context.onFrame?.(frame);
      const reading = reader.read(frame);
      if (reading.fault) {
        fault = new FrameError(reading.fault.code, reading.fault.message);
        break;
      }
      recordFrame(attempt, reading);
      if (!attempt.error && (reading.events.length > 0 || reading.newText !== "")) yield reading;
    }
  } finally {
    // Stop the CLI if the reader stops early. After a complete turn, let it exit by itself.
    if (attempt.outcome !== "ok") {
      cli.stop();
      await cli.ended;
    }
  }
  const end = await cli.ended;
  return fault ? { ...end, outcome: "fail_closed", error: fault } : end;
}

function recordFrame(attempt: Attempt, { events, newText, ownTool }: ReadFrame): void {
  attempt.text += newText;
  if (ownTool !== undefined && !attempt.ownTools.includes(ownTool)) attempt.ownTools.push(ownTool);
  for (const event of events) {
    if (event.type === "tool_call") attempt.toolCalls.push(event.data);
    if (event.type === "error") attempt.error = event.data;
    if (event.type === "done") attempt.outcome = "ok";
  }
}

function concludeAttempt(
  attempt: Attempt,
  end: CliEnd,
  { model, context }: { model: Model; context: AttemptContext },
): void {
  attempt.exitCode = end.exitCode;
  attempt.signal = end.signal;
  // A CLI can receive a cancel message only while its stdin is open.
  attempt.stages = end.wasToldToCancel ? end.stages : end.stages.filter((stage) => stage !== "cancel");
  attempt.durationMs = end.durationMs;
  attempt.ignored = end.ignored;
  attempt.warnings = end.warnings.map((text) => context.redact(text));
  // A reported success counts, however the CLI exits afterwards.
  if (attempt.outcome === "ok") return;
  // A cancelled CLI reports that as its own error, but the reason for the cancellation counts.
  const reportedError = end.stop === undefined || end.stop === "faulty" ? attempt.error : undefined;
  const error = reportedError ?? (end.error && explainCliFailure(end, end.error, model));
  attempt.outcome = "ok";
  if (error) fail(attempt, error, context);
}

function fail(attempt: Attempt, error: { code: string; message: string }, { redact }: AttemptContext): void {
  attempt.outcome = "failed";
  attempt.error = { code: error.code, message: redact(error.message) };
  attempt.kind = failureKind(error.code, error.message);
}

function inputOrFault(model: Model, turn: Turn, { platform }: AttemptContext): CliInput | UserError {
  try {
    return cliInput(model, turn, platform);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

/** Explains a failure by what the CLI printed to stderr, and gives advice on what to do. */
function explainCliFailure(
  end: CliEnd,
  error: { code: string; message: string },
  model: Model,
): { code: string; message: string } {
  const { code, message } = error;
  const { stderr } = end;
  if (code !== "CLI_EXIT" && code !== "NO_OUTPUT" && code !== "CLI_TIMEOUT") return { code, message };
  const flag = model.promptAsArg && code !== "CLI_TIMEOUT" ? refusedFlag(stderr, model.headlessFlags) : undefined;
  if (flag !== undefined) {
    const remedy = `which is added for runs without a terminal. Set "headlessFlags" of models["${model.name}"] to what it takes ([] for none)`;
    return { code, message: `${model.command} does not take ${flag}, ${remedy}, or use a wrapper. ${message}` };
  }
  const named = codeNamedIn(stderr);
  if (named !== undefined) return { code: named, message };
  const meant = codeOfWords(stderr);
  if (meant === "MODEL_AUTH_ERROR" || meant === "MODEL_RATE_LIMIT") return { code: meant, message };
  if (stderr.trim() !== "") return { code, message };
  const command = [model.command, ...model.args].join(" ");
  return {
    code,
    message: `${message} It said nothing on stderr. To find out why: ${programName()} adapter doctor -- ${command}`,
  };
}

function doneFrame(finishReason: string): ReadFrame {
  return { events: [{ type: "done", data: { finishReason } }], newText: "" };
}
