// Runs the CLI as a program would, and returns what happened in a form for tests.
import { isObject, tryParse } from "../../json/object.ts";
import { runProgram } from "../../process/run-program.ts";
import { UserError } from "../../protocol/error-codes.ts";
import type { AgentEvent } from "../../protocol/event.ts";
import { isEnding } from "../../protocol/run.ts";
import { createDecoder } from "../../protocol/stream-json.ts";
import { drivers } from "../../sdk/drivers/index.ts";
import { findCli, ownCli } from "../../sdk/find-cli.ts";
import type { RunDenial } from "../../sdk/outcome.ts";
import { createNamer, type RunEvent, type ToolEndEvent } from "../../sdk/run-event.ts";
import { unifiedToolName } from "../../sdk/tool-names.ts";
import { type ChangedFile, changesBetween, fingerprints } from "./changes.ts";
import type { TestModel } from "./models.ts";

/** The options of `runCli`. */
export type CliOptions = {
  cwd?: string;
  /** All environment variables of the run; by default those of this process. */
  env?: Record<string, string | undefined>;
  /** The model, by a name for `--model` or as a model of this kit. */
  model?: string | Pick<TestModel, "args">;
  /** Written to its stdin, which is then closed. Without it stdin is empty. */
  stdin?: string;
  /** After this time the run is killed and `timedOut` is set. Default: a minute. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Another CLI with the same protocol: a path, a name in PATH, or a program with its first arguments. Default: this package's. */
  executable?: string | readonly string[];
};

/**
 * A tool call. `name` is from the SDK's unified list, `cliName` the CLI's own if it differs. `outcome` is `success`, `error`,
 * `rejected`, …, or undefined if it did not end.
 */
export type ToolUse = Pick<ToolEndEvent, "name" | "cliName" | "args" | "callId"> & {
  outcome: string | undefined;
  value: unknown;
};

/** `text` is the question. `answer` is undefined if there was none. */
export type RunQuestion = { kind: string; text: string; query: unknown; answer: unknown };

/** What a run of the CLI did. */
export interface CliRun {
  readonly args: readonly string[];
  readonly cwd: string;
  /** The exit code; null if a signal ended the process. */
  readonly exitCode: number | null;
  readonly signal: string;
  readonly timedOut: boolean;
  readonly durationMs: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The events of `--output-format stream-json` and `json`; otherwise empty. */
  readonly events: readonly RunEvent[];
  /** The result that the CLI reported, if it did. */
  readonly result: Extract<AgentEvent, { type: "done" | "fail" }> | undefined;
  /** The final answer, or the reason why there is none. */
  readonly text: string;
  readonly sessionId: string | undefined;
  readonly toolCalls: readonly ToolUse[];
  readonly changedFiles: readonly ChangedFile[];
  readonly denials: readonly RunDenial[];
  readonly questions: readonly RunQuestion[];
}

/** Resolves even if the run fails; rejects if the program cannot be started. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliRun> {
  const { cwd = process.cwd(), env = process.env, model, timeoutMs = 60_000, signal, stdin } = options;
  const executable = options.executable ?? ownCli();
  const cli = executable && (await findCli(drivers.cursor, { executable, env }, { withinMs: timeoutMs, signal }));
  if (!cli) throw new UserError("CLI_NOT_FOUND", `There is no ${[executable].flat().join(" ") || "built CLI"} to run.`);
  const named = typeof model === "string" ? ["--model", model] : (model?.args ?? []);
  const given = [...named, ...args];
  const before = fingerprints(cwd);
  const end = await runProgram({
    command: [...cli.words, ...given],
    cwd,
    env,
    timeoutMs,
    keepBytes: maxBytes,
    ...(stdin !== undefined && { input: stdin }),
    ...(signal && { signal }),
  });
  if (end.failure) throw new UserError("CLI_NOT_FOUND", `${cli.path} cannot be started: ${end.failure.message}`);
  const stdout = end.stdout.toString("utf8");
  const events = eventsIn(stdout, cli.isOurs);
  const result = events.findLast(isEnding) as CliRun["result"];
  return {
    args: given,
    cwd,
    exitCode: end.exitCode,
    signal: end.signal,
    timedOut: end.timedOut,
    durationMs: end.durationMs,
    stdout,
    stderr: end.stderr,
    events,
    result,
    text: result?.type === "done" ? result.text : (result?.message ?? (events.length > 0 ? "" : stdout.trimEnd())),
    sessionId: /"session_id":"([^"]+)"/.exec(stdout)?.[1],
    toolCalls: toolCallsIn(events),
    changedFiles: changesBetween(before, fingerprints(cwd)),
    denials: (result?.denials ?? []).map((denial) => ({ ...denial, name: unifiedToolName("cursor", denial.tool) })),
    questions: questionsIn(events),
  };
}

const maxBytes = 256 * 1024 * 1024;

/** Returns the events in the output. Lines that are not JSON are skipped. */
function eventsIn(stdout: string, isOurs: boolean): RunEvent[] {
  const decode = createDecoder();
  const name = createNamer({ tool: "cursor", isOurs });
  return stdout
    .split("\n")
    .map((line) => tryParse(line))
    .filter(isObject)
    .flatMap((line) => decode(line).map(name));
}

export function toolCallsIn(events: readonly RunEvent[]): ToolUse[] {
  const calls = new Map<string, ToolUse>();
  for (const event of events) {
    if (event.type !== "tool_start" && event.type !== "tool_end") continue;
    const { callId, name, cliName, args } = event;
    const outcome = event.type === "tool_end" ? event.outcome : undefined;
    calls.set(callId, {
      name,
      ...(cliName !== undefined && { cliName }),
      args,
      callId,
      outcome: outcome?.kind,
      value: outcome?.value,
    });
  }
  return [...calls.values()];
}

export function questionsIn(events: readonly RunEvent[]): RunQuestion[] {
  return events.flatMap((event) => {
    if (event.type !== "ask") return [];
    const answered = events.find((each) => each.type === "answer" && each.id === event.id);
    const answer = answered?.type === "answer" ? answered.response : undefined;
    const kind = event.kind.replace(/InteractionQuery$/, "");
    return [{ kind, text: questionText(event.query), query: event.query, answer }];
  });
}

/** Returns the prompts of a question, or the whole query for anything else. */
function questionText(query: unknown): string {
  const args = isObject(query) && isObject(query.args) ? query.args : undefined;
  const prompts = Array.isArray(args?.questions) ? args.questions.filter(isObject).map(({ prompt }) => prompt) : [];
  return prompts.length > 0 ? prompts.join("\n") : JSON.stringify(args ?? query);
}
