// `batch`: executes a file of runs, one per line, several at once; writes a result line for each, and a summary. It can be
// stopped and started again at any time: finished runs are not repeated.
import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { UserError, usageError } from "../../../protocol/error-codes.ts";
import type { RunRequest } from "../../../protocol/run.ts";
import { restrict } from "../../../protocol/run-request.ts";
import { shellLine } from "../../../sdk/shell-line.ts";
import type { NewRun } from "../../../serve/fleet.ts";
import { newSpec } from "../../../serve/new-run.ts";
import { type FileSender, fileSender, type SourceChoice } from "../../../serve/send-files.ts";
import { firstLines } from "../../../text/first-of.ts";
import { systemErrorText } from "../../../text/system-error.ts";
import { counted, dollars, duration } from "../../../view/numbers.ts";
import { cliFlag, isOnThisMachine, trustedRequest } from "../../background.ts";
import { flagText } from "../../flags.ts";
import { endSoon } from "../../fleet-watch.ts";
import type { Invocation } from "../../main.ts";
import { placementFlags, sourceChoice, withImages } from "../../placement.ts";
import { limitsOf, runHost, runRequest } from "../../run-request.ts";
import { openStdout, withoutSecrets, writeStderr } from "../../stdout.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { refuseAgents } from "../refuse-agents.ts";
import { launchOf, withFleet } from "../runs/context.ts";
import { type BatchContext, type BatchItem, type BatchRun, readItems, readLine } from "./lines.ts";
import { createProgress, firstLine } from "./progress.ts";
import { openResults, streamResults } from "./results.ts";
import { Batch, type BatchEnd } from "./run-batch.ts";

const usualConcurrency = 4;
/** How many runs of a batch are queued at once on a fleet. Its workers decide how many of them execute. */
const fleetConcurrency = 100;
const maxBytes = 512 * 1024 * 1024;

export async function batch(invocation: Invocation): Promise<number> {
  refuseAgents(invocation, "what runs beside them");
  const { line } = invocation;
  const [file, ...more] = line.words;
  if (file === undefined || more.length > 0)
    throw usageError(`'batch' takes one file, or - for stdin. Type: ${invocation.name} batch tasks.jsonl`);
  const output = flagText(line.flags, "output");
  if (wantsJson(invocation) && output === undefined)
    throw usageError("--format json is for the summary: the results need a file of their own, --output FILE.");
  const plan = readPlan(invocation, file);
  const bytes = readInput(file);
  const items = readItems(bytes, plan.context, plan.check);
  return withFleet(invocation, async (fleet, gone) => {
    const stdout = output === undefined ? openStdout(() => leave.abort()) : undefined;
    const results = output === undefined ? streamResults((text) => stdout!.write(text)) : openResults(resolve(output));
    const isElsewhere = plan.launch.fleetUrl !== undefined;
    const { stop, leave, release } = watchSignals(() => work, { gone, isElsewhere });
    const { isatty } = await import("node:tty");
    const onSent = (text: string) => work.printLine(text);
    const sender = fileSender(fleet, { env: invocation.env, signal: leave.signal, onSent });
    const work = new Batch(
      {
        fleet,
        launch: plan.launch,
        items,
        results,
        concurrency: plan.concurrency,
        ...(plan.maxCost !== undefined && { maxCost: plan.maxCost }),
        retryFailed: line.flags.has("retry-failed"),
        prepare: (item, names) => prepare(item, names),
        stop: stop.signal,
        leave: leave.signal,
      },
      (counts) => createProgress(counts, { isTerminal: isatty(2) }),
    );
    const prepare = (item: BatchItem, names: { id: string; agent: string }) =>
      plan.prepare(readLine(bytes.toString("utf8", item.start, item.end), plan.context), names, sender);
    let end: BatchEnd | undefined;
    try {
      end = await work.work();
    } finally {
      results.close(end !== undefined && end.notStarted + end.left.length === 0);
      release();
      await stdout?.flush();
    }
    const exitCode = await showProgress(end, invocation, { output, isStopped: stop.signal.aborted });
    gone.throwIfAborted();
    return exitCode;
  });
}

type Plan = {
  context: BatchContext;
  launch: ReturnType<typeof launchOf>;
  concurrency: number;
  maxCost?: number;
  check(run: BatchRun): void;
  prepare(run: BatchRun, names: { id: string; agent: string }, sender: FileSender): Promise<NewRun>;
};

/** Combines the command line, which applies to every run, with what each line adds. */
function readPlan(invocation: Invocation, file: string): Plan {
  const { flags } = invocation.line;
  const { maxCost, ...limits } = limitsOf(flags);
  const { chat: _chat, limits: _limits, ...base } = runRequest(invocation, "print");
  const usual = { ...base, ...(Object.keys(limits).length > 0 && { limits }) };
  const launch = launchOf(invocation);
  const placed = placementFlags(invocation);
  const source = sourceChoice(invocation);
  const concurrency = concurrencyOf(flagText(flags, "concurrency"), launch.fleetUrl !== undefined);
  const folder = file === "-" ? process.cwd() : dirname(resolve(file));
  const isChecked = new Set<string>();
  const requestForRun = (run: BatchRun): { request: RunRequest; choice: SourceChoice } => {
    const choice = run.source ?? source;
    const request = restrict(usual, run.request, "more");
    newSpec({ cli: run.cli, request, prompt: run.prompt });
    const key = `${choice.type} ${request.workspace} ${request.force} ${request.trust}`;
    if (!isChecked.has(key) && isOnThisMachine(choice, launch)) refuseMissing(request.workspace);
    isChecked.add(key);
    return { request: trustedRequest(request, choice, launch, run.cli), choice };
  };
  return {
    context: { folder, workspace: base.workspace, cli: cliFlag(flags.get("cli")) },
    launch: { ...launch, most: Math.max(launch.most, concurrency) },
    concurrency,
    ...(maxCost !== undefined && { maxCost }),
    check(run) {
      requestForRun(run);
      if (launch.fleetUrl === undefined && (run.placement?.pool !== undefined || run.placement?.labels))
        throw usageError("Pools and labels are for workers of a fleet: --fleet nats://…");
    },
    async prepare(run, names, sender) {
      const { request: wanted, choice } = requestForRun(run);
      const request = await inOwnWorktree(wanted, invocation);
      const placement = { ...placed.placement, ...run.placement };
      const spec = newSpec({
        cli: run.cli,
        request,
        prompt: launch.fleetUrl === undefined ? run.prompt : withImages(run.prompt),
        ...placed,
        ...(Object.keys(placement).length > 0 && { placement }),
        ...(run.onWorkerLoss && { onWorkerLoss: run.onWorkerLoss }),
      });
      return sender({ ...names, ...(run.name !== undefined && { name: run.name }), spec }, choice);
    },
  };
}

async function inOwnWorktree(request: RunRequest, invocation: Invocation): Promise<RunRequest> {
  if (!request.worktree) return request;
  const { inWorktree } = await import("../../../run/worktree.ts");
  return (await inWorktree(request, runHost(invocation))).request;
}

function refuseMissing(workspace: string): void {
  if (!statSync(workspace, { throwIfNoEntry: false })?.isDirectory())
    throw usageError(`Its workspace ${workspace} is not a directory.`);
}

function concurrencyOf(text: string | undefined, isRemote: boolean): number {
  if (text === undefined) return isRemote ? fleetConcurrency : usualConcurrency;
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw usageError(`--concurrency '${text}' is not a number from 1 to 9999. Example: --concurrency 4`);
}

function readInput(file: string): Buffer {
  try {
    if (file !== "-" && statSync(file).size > maxBytes) throw new Error("it is larger than 512 MiB");
    return readFileSync(file === "-" ? 0 : file);
  } catch (error) {
    throw new UserError("FILE_UNREADABLE", `${file} cannot be read: ${systemErrorText(error)}.`);
  }
}

type SignalOptions = {
  /** Aborted when the fleet could not be reached for too long. */
  gone: AbortSignal;
  /** Whether workers of a fleet execute the runs, instead of this machine. */
  isElsewhere: boolean;
};

/**
 * Handles signals. The first Ctrl+C lets local runs finish; a second one, or another signal, ends the command at once.
 * Runs on workers continue without this command.
 */
function watchSignals(work: () => Batch, { gone, isElsewhere }: SignalOptions) {
  const stop = new AbortController();
  const leave = new AbortController();
  const leaveNow = () => {
    stop.abort();
    leave.abort();
  };
  const terminate = () => {
    endSoon("TERMINATED");
    leaveNow();
  };
  const interrupt = () => {
    const { inFlight } = work();
    if (stop.signal.aborted || isElsewhere || inFlight === 0) {
      endSoon("INTERRUPTED");
      return leaveNow();
    }
    stop.abort();
    work().printLine(`Stopping. Waiting for ${counted(inFlight, "run")}; Ctrl+C again stops waiting; they continue.`);
  };
  gone.addEventListener("abort", leaveNow);
  const listeners = [["SIGINT", interrupt] as const, ["SIGTERM", terminate] as const, ["SIGHUP", terminate] as const];
  for (const [name, listener] of listeners) process.on(name, listener);
  return {
    stop,
    leave,
    release() {
      for (const [name, listener] of listeners) process.off(name, listener);
    },
  };
}

/** Prints the summary and returns the exit code: 0 only if every run passed. */
async function showProgress(
  end: BatchEnd,
  invocation: Invocation,
  { output, isStopped }: { output: string | undefined; isStopped: boolean },
): Promise<number> {
  const isWhole = end.passed === end.total;
  const exitCode = isWhole ? 0 : isStopped ? 130 : 1;
  const { left, ...rest } = end;
  if (wantsJson(invocation)) await answerJson({ ...rest, stillRunning: left, output: resolve(output!) });
  else {
    const text = withoutSecrets(summary(end, invocation, output));
    if (output === undefined) writeStderr(text);
    else await answer(text);
  }
  return exitCode;
}

const shownFailures = 10;

function summary(end: BatchEnd, { name }: Invocation, output: string | undefined): string {
  const { total, passed, failed, notStarted, left, costUsd, unpriced, durationMs, failures } = end;
  const parts = [
    `${passed} passed`,
    `${failed} failed`,
    ...(left.length > 0 ? [`${left.length} still running`] : []),
    ...(notStarted > 0 ? [`${notStarted} not started`] : []),
  ];
  const cost =
    costUsd > 0 ? `${dollars(costUsd)}${unpriced > 0 ? ` and ${counted(unpriced, "run")} of unknown cost` : ""}, ` : "";
  const again = `${name} ${shellLine(process.argv.slice(2).filter((word) => word !== "--retry-failed"))}`;
  const lines = [
    `${counted(total, "run")}: ${parts.join(", ")}. ${cost}${duration(durationMs)}.`,
    ...firstLines(
      failures.map(
        ({ id, line, outcome, code, text }) =>
          `✗ ${id} (line ${line}) ${outcome}: ${firstLine(text)}${code === undefined ? "" : ` [${code}]`}`,
      ),
      shownFailures,
    ),
    ...(end.isOverBudget ? ["--max-cost was reached: no more runs were begun."] : []),
    ...(left.length > 0
      ? [
          `They continue in the background. To stop them: ${name} runs stop ${left.length > 8 ? "<run...>" : left.join(" ")}`,
        ]
      : []),
    ...(notStarted + left.length > 0 && output !== undefined ? [`To go on: ${again}`] : []),
    ...(notStarted + left.length === 0 && failed > 0 && output !== undefined
      ? [`To rerun the failed ones: ${again} --retry-failed`]
      : []),
  ];
  return `${lines.join("\n")}\n`;
}
