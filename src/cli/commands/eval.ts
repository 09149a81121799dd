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
import { UserError } from "../../protocol/error-codes.ts";
import { oneLine } from "../../text/one-line.ts";
import { visible } from "../../text/visible.ts";
import { cut } from "../../text/width.ts";
import { type FlagValues, flagText } from "../flags.ts";
import type { Invocation } from "../main.ts";
import { handleShutdown } from "../shutdown.ts";
import { withoutSecrets, writeProgress, writeStderr } from "../stdout.ts";
import { answer, answerJson, wantsJson } from "./answer.ts";
import { chosenModel } from "./chosen-model.ts";
import { fleetUrl } from "./runs/context.ts";

/** High, because little happens on this machine: workers decide how many attempts run at once. */
const fleetConcurrency = 16;

export async function evalTasks(invocation: Invocation): Promise<number> {
  const { flags, words } = invocation.line;
  if (words.length === 0)
    throw new UserError("USAGE", `eval needs a task or a directory of tasks: ${invocation.name} eval tasks --check`);
  const url = fleetUrl(invocation);
  const remote = url === undefined ? undefined : (await import("./eval-fleet.ts")).fleetAgent(invocation, url);
  const wishes = { ...wishesOf(invocation), ...(remote && { remote: remote.run }) };
  if (remote && wishes.model === "replay")
    throw new UserError(
      "USAGE",
      "--model replay needs the recordings of the tasks, which are on this machine: --fleet local",
    );
  const tasks = findTasks(words);
  if (wishes.confined) await requireSandbox(invocation);
  const abort = new AbortController();
  const watch = handleShutdown(abort, { env: invocation.env });
  const key = flagText(flags, "api-key");
  const options: EvaluateOptions = {
    env: { ...invocation.env, ...(key !== undefined && { CURSOR_API_KEY: key }) },
    redact: withoutSecrets,
    signal: abort.signal,
    concurrency: countOf(flags, "concurrency") ?? (remote ? fleetConcurrency : Math.min(4, availableParallelism())),
    progress: wantsJson(invocation) ? silent : showProgress(),
  };
  try {
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
  } finally {
    watch.stop();
    await remote?.close();
  }
}

function wishesOf(invocation: Invocation): EvaluationWishes {
  const { flags } = invocation.line;
  const given = (flagText(flags, "agent") ?? "cli") as EvaluationWishes["agent"];
  const agent = flags.has("oracle") ? "oracle" : given;
  if (flags.has("oracle") && flags.has("agent") && given !== "oracle")
    throw new UserError("USAGE", "--oracle and --agent say two things. Give one of them.");
  const model = agent === "cli" && !flags.has("check") ? modelOf(invocation) : "none";
  const attempts = countOf(flags, "attempts");
  if (model === "replay" && agent === "cli" && attempts !== undefined)
    throw new UserError("USAGE", "With --model replay each recording of a task is one attempt: leave --attempts out.");
  if (flags.has("save-recordings") && (agent !== "cli" || model === "replay"))
    throw new UserError("USAGE", "--save-recordings needs a model that answers: --model <model>");
  const passedOn = ["effort", "endpoint", "endpoint-type", "max-turns", "max-cost", "price"].flatMap((name) => {
    const value = flagText(flags, name);
    return value === undefined ? [] : [`--${name}`, value];
  });
  const output = flagText(flags, "output");
  return {
    agent,
    model,
    executable: [process.execPath, process.argv[1]!],
    args: passedOn,
    onMismatch: flagText(flags, "replay-on-mismatch") === "stop" ? "stop" : "continue",
    attempts: attempts ?? 1,
    confined: flagText(flags, "sandbox") !== "disabled",
    ...(output !== undefined && { output: resolve(output) }),
    record: flags.has("save-recordings"),
    keep: flags.has("keep"),
  };
}

/** Passes the configured model on by name, because the runs have a configuration of their own. Throws if there is no key. */
function modelOf(invocation: Invocation): string {
  const given = flagText(invocation.line.flags, "model");
  if (given === "replay" || given === "script") return given;
  const { named, model } = chosenModel(invocation);
  if (model instanceof UserError) throw model;
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

function countOf(flags: FlagValues, name: string): number | undefined {
  const given = flagText(flags, name);
  if (given === undefined) return undefined;
  if (!/^[1-9]\d{0,4}$/.test(given))
    throw new UserError("USAGE", `--${name} '${given}' must be a positive integer. Example: --${name} 3`);
  return Number(given);
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
