// LiveSession: a run in another process, and what it is given to begin with.
import type { Human, LiveRun } from "../../protocol/run.ts";
import type { RunLoss } from "../drivers/driver.ts";
import type { RunError, RunFacts } from "../outcome.ts";
import type { StartOptions } from "../start-options.ts";
import type { UnifiedTool } from "../unified.ts";

export interface LiveSession extends LiveRun {
  readonly tool: UnifiedTool;
  /** What could not be carried over to this CLI: options, and things that cannot be done to it. */
  readonly losses: readonly RunLoss[];
  /** Never rejects. Resolves when the process, and all that it started, is gone. */
  readonly ended: Promise<LiveEnd>;
}

/** How the process ended: where there is one for each turn, the last of them. `error`: it was not closed, it failed. */
export type LiveEnd = Pick<RunFacts, "exitCode" | "signal" | "stderr" | "stages"> & { error?: RunError };

export type LiveOptions = Pick<
  StartOptions,
  | "tool"
  | "cwd"
  | "model"
  | "permissionMode"
  | "trust"
  | "resume"
  | "fork"
  | "systemPrompt"
  | "appendSystemPrompt"
  | "allowedTools"
  | "disallowedTools"
  | "addDirs"
  | "idleMs"
  | "signal"
  | "executable"
  | "extraArgs"
  | "env"
  | "onNoise"
  | "graceMs"
  | "hooks"
  | "tools"
  | "onStart"
  | "onStdout"
  | "onStderr"
> & {
  /** Answers what no rule does; trust is asked for before anything begins. Absent: nobody can, and asking means refusing. */
  human?: Human | undefined;
  /** False: without the events of subagents. */
  subagents?: boolean | undefined;
  /** False: without the output of commands as it comes. */
  toolOutput?: boolean | undefined;
};

/** An hour: while a long reply is made or a command runs, CLIs say nothing for many minutes. */
export const defaultIdleMs = 3_600_000;
export const defaultGraceMs = 2000;
