// Plans the attempts of an evaluation: several for each task, or one for each of its recordings.
import { join, resolve } from "node:path";
import type { UnifiedTool } from "../sdk/unified.ts";
import type { AgentChoice, RemoteAgent } from "./agents.ts";
import type { Attempt } from "./attempt.ts";
import type { Task } from "./task.ts";

export type EvaluationWishes = {
  agent: "oracle" | "noop" | "cli";
  /** `replay` uses each task's recordings with live tools, `script` its script.json; all else is a `--model`. */
  model: string;
  /** The agent CLI to run, if it is not ours. */
  tool?: UnifiedTool;
  /** The command that starts the agent CLI. */
  executable: readonly string[];
  /** Additional flags for the agent CLI. */
  args: readonly string[];
  onMismatch: "stop" | "continue";
  attempts: number;
  confined: boolean;
  output?: string;
  /** Whether to save a recording of every passing attempt in its task. */
  record: boolean;
  keep: boolean;
  /** Runs agents on another machine, if requested. */
  remote?: RemoteAgent;
};

export function planAttempts(tasks: readonly Task[], wishes: EvaluationWishes): Attempt[] {
  return tasks.flatMap((task) =>
    choicesFor(task, wishes).map(({ label, agent, skip }) => ({
      task,
      agent,
      label,
      confined: wishes.confined,
      ...(skip !== undefined && { skip }),
      ...(wishes.output !== undefined && { output: wishes.output }),
      ...(wishes.record && { recordTo: join(task.folder, "recordings", `${fileName(wishes.model)}.jsonl`) }),
      ...(wishes.keep && { keep: true }),
    })),
  );
}

type Choice = Pick<Attempt, "label" | "agent" | "skip">;

function choicesFor(task: Task, wishes: EvaluationWishes): Choice[] {
  const { agent, tool, model, executable, args, onMismatch, attempts, remote } = wishes;
  const numbers = Array.from({ length: attempts }, (_, index) => `${index + 1}`);
  if (agent !== "cli") return numbers.map((label) => ({ label, agent: { type: agent } }));
  if (tool !== undefined) {
    const other = { type: "other", tool, ...(model !== "default" && { model }) } as const;
    return numbers.map((label) => ({ label, agent: other }));
  }
  const cli = (given: string, more: readonly string[] = []): AgentChoice =>
    remote
      ? { type: "remote", model: given, run: remote }
      : { type: "cli", model: given, executable, args: [...args, ...more] };
  if (model === "script") {
    const skip = task.script === undefined ? { skip: "it has no script.json" } : {};
    return numbers.map((label) => ({ label, agent: cli(`script:${task.script}`), ...skip }));
  }
  const live = ["--replay-tools", "live", "--replay-on-mismatch", onMismatch];
  const replayed = (file: string) => cli(`replay:${resolve(file)}`, live);
  if (model !== "replay") {
    const [, file] = /^replay:(.*)$/s.exec(model) ?? [];
    return numbers.map((label) => ({ label, agent: file === undefined ? cli(model) : replayed(file) }));
  }
  const recordings = Object.entries(task.recordings);
  if (recordings.length === 0) return [{ label: "1", agent: replayed(""), skip: "it has no recordings" }];
  return recordings.map(([label, file]) => ({ label, agent: replayed(file) }));
}

/** Makes a model name such as `openai/gpt-5` fit for a file name. */
function fileName(model: string): string {
  return model.replace(/[^\w.-]+/g, "-");
}
