// Checks the tasks themselves: the solution must pass, and an agent that does nothing must fail, unless nothing is to be done.
import type { AttemptResult } from "./attempt.ts";
import { type EvaluateOptions, evaluate } from "./evaluate.ts";
import { type EvaluationWishes, planAttempts } from "./plan.ts";
import type { Task } from "./task.ts";

export type TaskCheck = { task: string; sound: boolean; faults: string[]; oracle: AttemptResult; noop: AttemptResult };

export async function checkTasks(
  tasks: readonly Task[],
  wishes: Omit<EvaluationWishes, "agent" | "attempts">,
  options: EvaluateOptions,
): Promise<TaskCheck[]> {
  const plan = (agent: "oracle" | "noop") => planAttempts(tasks, { ...wishes, agent, attempts: 1 });
  const { results } = await evaluate(
    [...plan("oracle"), ...plan("noop")].map((attempt) => ({ ...attempt, label: attempt.agent.type })),
    options,
  );
  options.signal.throwIfAborted();
  return tasks.map((task, index) => {
    const [oracle, noop] = [results[index]!, results[index + tasks.length]!];
    const faults = faultsOf(task, oracle, noop);
    return { task: task.name, sound: faults.length === 0, faults, oracle, noop };
  });
}

function faultsOf({ noop: expected }: Task, oracle: AttemptResult, noop: AttemptResult): string[] {
  const faults: string[] = [];
  if (oracle.status !== "passed") faults.push(`its solution does not pass: ${oracle.why}`);
  if (noop.status === "error") faults.push(`it cannot be judged: ${noop.why}`);
  else if (noop.status === "passed" && expected === "fail")
    faults.push('it passes when nothing is done. If that is right: [metadata.courser] noop = "pass"');
  else if (noop.status === "failed" && expected === "pass")
    faults.push(`it says that nothing is to be done, and then fails: ${noop.why}`);
  return faults;
}

export function checkText(checks: readonly TaskCheck[]): string {
  const width = Math.max(...checks.map(({ task }) => task.length));
  const lines = checks.flatMap(({ task, sound, faults, oracle, noop }) => [
    `${sound ? "ok " : "BAD"}  ${task.padEnd(width)}  oracle ${oracle.status}, noop ${noop.status}`,
    ...faults.map((fault) => `     ${fault.replaceAll("\n", " ")}`),
  ]);
  const bad = checks.filter(({ sound }) => !sound).length;
  return `${lines.join("\n")}\n\n${checks.length} ${checks.length === 1 ? "task" : "tasks"}: ${bad === 0 ? "all sound" : `${bad} not sound`}.\n`;
}
