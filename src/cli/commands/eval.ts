// `eval TASKDIR…`: reads the flags, shows progress on a terminal and writes the report. Exit codes: docs/eval.md.
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Attempt, AttemptResult } from "../../eval/attempt.ts";
import { checkTasks, checkText } from "../../eval/check.ts";
import { type EvaluateOptions, type Evaluation, evaluate, type Progress } from "../../eval/evaluate.ts";
import { type EvaluationWishes, planAttempts } from "../../eval/plan.ts";
import { exitCodeOf, predictions, reportJunit, reportText, resultsJson } from "../../eval/report.ts";
import { sandboxProblem } from "../../eval/scripts.ts";
import { findTasks } from "../../eval/task.ts";
import { settlesWithin } from "../../process/clock.ts";
import { UserError, usageError } from "../../protocol/error-codes.ts";
import { toolForCli } from "../../serve/live-options.ts";
import { oneLine } from "../../text/one-line.ts";
import { visible } from "../../text/visible.ts";
import { cut } from "../../text/width.ts";
import { cliFlag } from "../background.ts";
import { type FlagValues, flagText } from "../flags.ts";
import { windUpMs } from "../fleet-watch.ts";
import type { Invocation } from "../main.ts";
import { handleShutdown } from "../shutdown.ts";
import { withoutSecrets, writeProgress, writeStderr } from "../stdout.ts";
import { answer, answerJson, wantsJson } from "./answer.ts";
import { chosenModel } from "./chosen-model.ts";
import { fleetUrl, withFleet } from "./runs/context.ts";

/** High, because little happens on this machine: workers decide how many attempts run at once. */
const fleetConcurrency = 16;

export async function evalTasks(invocation: Invocation): Promise<number> {
  const { flags, words } = invocation.line;
  if (words.length === 0)
    throw usageError(`eval needs a task or a directory of tasks: ${invocation.name} eval tasks --check`);
  const url = fleetUrl(invocation);
  const remote = url === undefined ? undefined : (await import("./eval-fleet.ts")).fleetAgent(invocation, url);
  const wishes = { ...wishesOf(invocation), ...(remote && { remote: remote.run }) };
  if (remote && wishes.model === "replay")
    throw usageError("--model replay needs the recordings of the tasks, which are on this machine: --fleet local");
  const tasks = findTasks(words);
  if (wishes.confined) await requireSandbox(invocation);
  const abort = new AbortController();
  const watch = handleShutdown(abort, { env: invocation.env, ...(remote && { graceMs: windUpMs }) });
  // The runs are cancelled first, which a fleet that cannot be reached does not hear.
  abort.signal.addEventListener("abort", () => setTimeout(() => void remote?.close(), windUpMs / 2));
  const key = flagText(flags, "api-key");
  const options: EvaluateOptions = {
    env: { ...invocation.env, ...(key !== undefined && { CURSOR_API_KEY: key }) },
    redact: withoutSecrets,
    signal: abort.signal,
    concurrency:
      positiveIntegerFlag(flags, "concurrency") ?? (remote ? fleetConcurrency : Math.min(4, availableParallelism())),
    progress: wantsJson(invocation) ? silent : showProgress(),
  };
  const work = async () => {
    if (flags.has("check")) {
      const checks = await checkTasks(tasks, wishes, options);
      const code = wantsJson(invocation) ? await answerJson(checks) : await answer(checkText(checks));
      return code || (checks.every(({ sound }) => sound) ? 0 : 5);
    }
    const attempts = planAttempts(tasks, wishes);
    const evaluation = await evaluate(attempts, options);
    const settings = { agent: wishes.agent, model: wishes.model, confined: wishes.confined };
    writeFiles(flags, evaluation, settings);
    const text = wantsJson(invocation) ? resultsJson(evaluation, settings) : reportText(evaluation);
    const code = (await answer(text)) || exitCodeOf(evaluation.summary);
    abort.signal.throwIfAborted();
    return code;
  };
  const workWithFleet = (_fleet: unknown, gone: AbortSignal) => {
    gone.addEventListener("abort", () => abort.abort(gone.reason));
    return work();
  };
  try {
    return await (remote ? withFleet(invocation, workWithFleet) : work());
  } finally {
    watch.stop();
    if (remote) await settlesWithin(remote.close(), windUpMs);
  }
}

function wishesOf(invocation: Invocation): EvaluationWishes {
  const { flags } = invocation.line;
  const agentName = (flagText(flags, "agent") ?? "cli") as EvaluationWishes["agent"];
  const agent = flags.has("oracle") ? "oracle" : agentName;
  if (flags.has("oracle") && flags.has("agent") && agentName !== "oracle")
    throw usageError("--oracle and --agent say two things. Give one of them.");
  const other = otherCli(invocation);
  if (other)
    return { ...other, agent, attempts: positiveIntegerFlag(flags, "attempts") ?? 1, ...evaluationOptions(flags) };
  const model = agent === "cli" && !flags.has("check") ? modelOf(invocation) : "none";
  const attempts = positiveIntegerFlag(flags, "attempts");
  if (model === "replay" && agent === "cli" && attempts !== undefined)
    throw usageError("With --model replay each recording of a task is one attempt: leave --attempts out.");
  if (flags.has("save-recordings") && (agent !== "cli" || model === "replay"))
    throw usageError("--save-recordings needs a model that answers: --model <model>");
  const passedOn = ["effort", "endpoint", "endpoint-type", "max-turns", "max-cost", "price"].flatMap((name) => {
    const value = flagText(flags, name);
    return value === undefined ? [] : [`--${name}`, value];
  });
  return {
    agent,
    model,
    executable: [process.execPath, process.argv[1]!],
    args: passedOn,
    onMismatch: flagText(flags, "replay-on-mismatch") === "stop" ? "stop" : "continue",
    attempts: attempts ?? 1,
    record: flags.has("save-recordings"),
    ...evaluationOptions(flags),
  };
}

function evaluationOptions(flags: FlagValues): Pick<EvaluationWishes, "confined" | "output" | "keep"> {
  const output = flagText(flags, "output");
  const confined = flagText(flags, "sandbox") !== "disabled";
  return { confined, ...(output !== undefined && { output: resolve(output) }), keep: flags.has("keep") };
}

type OtherCli = Pick<EvaluationWishes, "tool" | "model" | "executable" | "args" | "onMismatch" | "record">;

/** Returns the agent CLI named by `--cli`, which accepts `--model` and none of the other flags of our own agent. */
function otherCli({ line: { flags } }: Invocation): OtherCli | undefined {
  const cli = cliFlag(flags.get("cli"));
  if (cli === "courser") return undefined;
  const courserFlags = [
    "agent",
    "oracle",
    "save-recordings",
    "fleet",
    "effort",
    "api-key",
    "endpoint",
    "endpoint-type",
  ];
  const refusedFlag = [...courserFlags, "max-turns", "max-cost", "price", "replay-on-mismatch"].find((name) =>
    flags.has(name),
  );
  if (refusedFlag !== undefined)
    throw usageError(`--${refusedFlag} cannot be used with --cli ${cli}: it is for our own CLI.`);
  const model = flagText(flags, "model") ?? "default";
  if (/^(script|replay)(:|$)/.test(model))
    throw usageError(`--model ${model} answers our own CLI, not ${cli}. Name a model that ${cli} knows.`);
  return { tool: toolForCli(cli), model, executable: [], args: [], onMismatch: "stop", record: false };
}

/** Passes the configured model on by name, because each run has its own configuration. Throws if there is no key. */
function modelOf(invocation: Invocation): string {
  const modelName = flagText(invocation.line.flags, "model");
  if (modelName === "replay" || modelName === "script") return modelName;
  const { named, model } = chosenModel(invocation);
  // Workers use their own keys, so none is needed here.
  const isTheirs = fleetUrl(invocation) !== undefined && named !== undefined;
  if (model instanceof UserError && !(isTheirs && model.code === "NOT_AUTHENTICATED")) throw model;
  return named ?? "auto";
}

/** Throws if there is no sandbox: tasks' scripts and commands run unconfined only if the user says so. */
async function requireSandbox({ env }: Invocation): Promise<void> {
  const problem = await sandboxProblem(env, join(tmpdir(), "courser-eval"));
  if (problem === undefined) return;
  throw new UserError(
    "SANDBOX_UNAVAILABLE",
    `${problem} To run agents and the scripts of the tasks without it, with your rights: --sandbox disabled`,
  );
}

function positiveIntegerFlag(flags: FlagValues, name: string): number | undefined {
  const flagValue = flagText(flags, name);
  if (flagValue === undefined) return undefined;
  if (!/^[1-9]\d{0,4}$/.test(flagValue))
    throw usageError(`--${name} '${flagValue}' must be a positive integer. Example: --${name} 3`);
  return Number(flagValue);
}

function writeFiles(flags: FlagValues, evaluation: Evaluation, settings: { model: string }): void {
  const folder = flagText(flags, "output");
  const inFolder = (name: string) => (folder === undefined ? undefined : join(folder, name));
  const files: [string | undefined, () => string][] = [
    [flagText(flags, "junit"), () => reportJunit(evaluation)],
    [inFolder("junit.xml"), () => reportJunit(evaluation)],
    [flagText(flags, "preds"), () => predictions(evaluation, settings.model)],
    [inFolder("preds.jsonl"), () => predictions(evaluation, settings.model)],
    [inFolder("results.json"), () => resultsJson(evaluation, settings)],
  ];
  for (const [file, text] of files) {
    if (file === undefined) continue;
    mkdirSync(dirname(resolve(file)), { recursive: true });
    writeFileSync(file, text());
  }
}

const silent: Progress = { started() {}, ended() {} };

/** Shows one changing line on a terminal, otherwise a line for each finished attempt. */
function showProgress(): Progress {
  const isTerminal = process.stderr.isTTY === true;
  const running = new Set<Attempt>();
  const counts = { passed: 0, failed: 0, error: 0, skipped: 0 };
  const show = () => {
    if (!isTerminal) return;
    const names = [...running].map(({ task }) => task.name).join(", ");
    const { passed, failed, error } = counts;
    const text = `${passed} passed, ${failed + error} failed${names ? ` · running ${names}` : ""}`;
    writeProgress(`\r\u001b[K${running.size > 0 ? cut(visible(text), (process.stderr.columns ?? 80) - 1) : ""}`);
  };
  return {
    started(attempt) {
      running.add(attempt);
      show();
    },
    ended(attempt, result) {
      running.delete(attempt);
      counts[result.status]++;
      if (!isTerminal) writeStderr(endedLine(result));
      show();
    },
  };
}

function endedLine({ task, attempt, status, why, durationMs, folder }: AttemptResult): string {
  const reason = why === undefined || status === "passed" ? "" : `: ${oneLine(why, 200)}`;
  const left = folder === undefined ? "" : ` (${folder})`;
  return `${status} ${task} #${attempt} in ${(durationMs / 1000).toFixed(1)} s${reason}${left}\n`;
}
