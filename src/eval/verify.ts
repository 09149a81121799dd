// Runs tests/test.sh after an attempt and reads the reward from /logs/verifier/reward.txt or reward.json, else from its exit code.
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isObject, tryParse } from "../json/object.ts";
import { oneLine } from "../text/one-line.ts";
import { type AttemptFolders, bringScripts, checkFolders, readIfThere } from "./folders.ts";
import type { ScriptRunner } from "./scripts.ts";
import type { Task } from "./task.ts";

/** The verdict on an attempt. If `reward` is undefined, the verifier gave none, and `fault` says why. */
export type Verdict = { reward?: number; fault?: string; output: string };

export async function verify(
  task: Task,
  { folders, scripts, signal }: { folders: AttemptFolders; scripts: ScriptRunner; signal: AbortSignal },
): Promise<Verdict> {
  const tests = bringScripts(task, folders, "tests");
  const verifierLogs = join(folders.logs, "verifier");
  // Start with an empty folder: an unconfined agent could have written its own reward.
  rmSync(verifierLogs, { recursive: true, force: true });
  mkdirSync(verifierLogs, { recursive: true });
  const { exitCode, timedOut, output } = await scripts.run(join(tests, "test.sh"), task.verifier, signal);
  checkFolders(folders);
  if (timedOut) return { fault: `tests/test.sh took longer than ${task.verifier.timeoutMs / 1000} s`, output };
  const written = readReward(verifierLogs);
  if (written) return { ...written, output };
  // A verifier that could not be run gives no verdict.
  if (exitCode === null || exitCode === 126 || exitCode === 127)
    return { fault: `tests/test.sh could not be run: ${reasonIn(output) || `exit code ${exitCode}`}`, output };
  return { reward: exitCode === 0 ? 1 : 0, output };
}

function readReward(folder: string): Pick<Verdict, "reward" | "fault"> | undefined {
  const json = readIfThere(join(folder, "reward.json"));
  if (json !== undefined) {
    const rewards = tryParse(json);
    const numbers = isObject(rewards) ? Object.values(rewards).filter((each) => typeof each === "number") : [];
    if (!isObject(rewards) || numbers.length === 0) return { fault: "reward.json is not an object of numbers" };
    const mainReward = rewards["reward"];
    return {
      reward:
        typeof mainReward === "number" ? mainReward : numbers.reduce((sum, each) => sum + each, 0) / numbers.length,
    };
  }
  const text = readIfThere(join(folder, "reward.txt"))?.trim();
  if (text === undefined) return undefined;
  const reward = text === "" ? Number.NaN : Number(text);
  return Number.isFinite(reward)
    ? { reward }
    : { fault: `reward.txt contains '${oneLine(text, 40)}', which is not a number` };
}

/** Returns the line that gives the reason: the first error, else the last line. */
export function reasonIn(output: string): string {
  const lines = output.split("\n").map((line) => line.trim());
  const error = lines.find((line) => /^(\w*(Error|Exception)\b.*:|(error|fatal):|not ok\b|FAIL)/.test(line));
  return error ?? lines.findLast((line) => line !== "") ?? "";
}
