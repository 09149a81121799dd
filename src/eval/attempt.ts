// Makes one attempt at a task: copies it, sets up, lets the agent work, takes the diff and verifies. Plain data in and out.
import { copyFileSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { explainError } from "../protocol/error-codes.ts";
import { type AgentChoice, type AgentReport, noWork, runAgent } from "./agents.ts";
import { type AttemptFolders, checkFolders, makeFolders, removeFolders, renewFolders } from "./folders.ts";
import { keepOutput, recordingIn } from "./keep-output.ts";
import { takeSnapshot } from "./patch.ts";
import { createScriptRunner, type ScriptOptions } from "./scripts.ts";
import type { Task } from "./task.ts";
import { reasonIn, type Verdict, verify } from "./verify.ts";

export type Attempt = {
  task: Task;
  agent: AgentChoice;
  /** Distinguishes attempts at the same task: a number, or the name of a recording. */
  label: string;
  confined: boolean;
  /** Why the attempt is skipped, if it is. */
  skip?: string;
  /** The folder for stream, answer, patch, verifier output and recording. */
  output?: string;
  /** Where the recording is stored if the attempt passes. */
  recordTo?: string;
  /** Whether to keep the attempt's folders. */
  keep?: boolean;
};

/** How an attempt ended. With `error`, the task or this machine is at fault, not the agent. */
export type Status = "passed" | "failed" | "error" | "skipped";

export type AttemptResult = {
  task: string;
  attempt: string;
  status: Status;
  reward?: number;
  /** The reason for the status. Undefined if the attempt passed without anything odd. */
  why?: string;
  durationMs: number;
  agent: AgentReport;
  patch: string;
  /** The folder of the attempt, if it was kept. */
  folder?: string;
};

/** The result of an attempt that was interrupted or not started. */
export function unfinishedResult({ task, label }: Attempt): AttemptResult {
  const why = "interrupted before it was finished";
  return { task: task.name, attempt: label, status: "skipped", why, durationMs: 0, agent: noWork, patch: "" };
}

/** Runs an attempt. Rejects only if it is cancelled. */
export async function runAttempt(
  attempt: Attempt,
  { env, signal, redact }: Pick<ScriptOptions, "env" | "redact"> & { signal: AbortSignal },
): Promise<AttemptResult> {
  const { task, label, skip } = attempt;
  const startedAt = performance.now();
  const named = { task: task.name, attempt: label, agent: noWork, patch: "" };
  if (skip !== undefined) return { ...named, status: "skipped", why: skip, durationMs: 0 };
  let folders: AttemptFolders | undefined;
  try {
    folders = makeFolders(task);
    const outcome = await carryOut(attempt, { folders, env, signal, ...(redact && { redact }) });
    signal.throwIfAborted();
    const durationMs = Math.round(performance.now() - startedAt);
    const result = { ...named, ...outcome, durationMs, ...(attempt.keep && { folder: folders.base }) };
    await keepOutput(attempt, folders, result);
    return result;
  } catch (error) {
    signal.throwIfAborted();
    const durationMs = Math.round(performance.now() - startedAt);
    return { ...named, status: "error", why: explainError(error).message, durationMs };
  } finally {
    if (folders && !attempt.keep) removeFolders(folders);
  }
}

type Place = Pick<ScriptOptions, "env" | "redact"> & { folders: AttemptFolders; signal: AbortSignal };
type Made = Pick<AttemptResult, "status" | "reward" | "why" | "agent" | "patch">;

async function carryOut({ task, agent, confined, ...wishes }: Attempt, place: Place): Promise<Made> {
  const { folders, env, signal } = place;
  const scripts = createScriptRunner(folders, { ...place, confined });
  const record = agent.type === "cli" && (wishes.output ?? wishes.recordTo) ? recordingIn(folders) : undefined;
  try {
    const setup = join(task.folder, "setup.sh");
    if (existsSync(setup)) {
      const { exitCode, timedOut, output } = await scripts.run(broughtSetup(setup, folders), task.setup, signal);
      const why = timedOut ? "took too long" : `ended with exit code ${exitCode}: ${reasonIn(output)}`;
      if (exitCode !== 0) return { status: "error", why: `setup.sh ${why}`, agent: noWork, patch: "" };
      renewFolders(folders);
    }
    const snapshot = await takeSnapshot(folders, env);
    const report = await runAgent(agent, {
      ...{ task, folders, scripts, env, confined, signal },
      ...(record !== undefined && { record }),
    });
    checkFolders(folders);
    const patch = await snapshot.patch();
    if (report.fault !== undefined) return { status: "error", why: report.fault, agent: report, patch };
    const verdict = await verify(task, { folders, scripts, signal });
    const output = join(folders.logs, "verifier", "output.txt");
    rmSync(output, { recursive: true, force: true });
    writeFileSync(output, verdict.output, { flag: "wx" });
    return { ...judgeAttempt(report, verdict), agent: report, patch };
  } finally {
    await scripts.end();
  }
}

/** Decides by the reward whether an attempt passed, as Harbor does, even if the agent ran out of time with its work done. */
function judgeAttempt(
  { failure, differences, left }: AgentReport,
  { reward, fault, output }: Verdict,
): Pick<Made, "status" | "reward" | "why"> {
  if (reward === undefined) return { status: "error", why: fault ?? "the verifier said nothing" };
  const notes = [...(failure === undefined ? [] : [failure]), ...differences.slice(0, 1)];
  if (reward >= 1) return { status: "passed", reward, ...(notes.length > 0 && { why: notes.join(" ") }) };
  const reason = reasonIn(output) || `the reward is ${reward}`;
  return { status: "failed", reward, why: [reason, ...notes, ...(left === undefined ? [] : [left])].join(" · ") };
}

/** Copies the script into the attempt's folders, where the sandbox can read it. */
function broughtSetup(file: string, folders: AttemptFolders): string {
  const target = join(folders.home, "setup.sh");
  copyFileSync(file, target);
  return target;
}
