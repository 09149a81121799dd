// The agents that work on a task: an agent CLI with a model, the task's own solution, or none. One row each; another way to run
// an agent, for example on another machine, is one more.
import { appendFileSync, copyFileSync, existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunResult } from "../sdk/outcome.ts";
import { start } from "../sdk/run.ts";
import type { UnifiedTool } from "../sdk/unified.ts";
import { configDir } from "../store/config-dir.ts";
import { type AttemptFolders, bringScripts, withOwnPaths } from "./folders.ts";
import { type ScriptRunner, scriptVariables } from "./scripts.ts";
import type { Task } from "./task.ts";
import { reasonIn } from "./verify.ts";

/** What is reported about the work of an agent, whichever CLI it is. */
export type AgentReport = {
  /** Why the agent could not be started, in which case the attempt says nothing about it. */
  fault?: string;
  /** Why the agent failed after it started. */
  failure?: string;
  model?: string;
  sessionId?: string;
  steps: number;
  inputTokens: number;
  outputTokens: number;
  costUsd?: number;
  denials: readonly { tool: string; reason: string }[];
  /** Differences between a replayed run and its recording. */
  differences: readonly string[];
  /** The name of work on another machine that could not be brought back. */
  left?: string;
};

export type AgentChoice =
  | { type: "cli"; model: string; args: readonly string[]; executable: readonly string[] }
  | { type: "other"; tool: UnifiedTool; model?: string | undefined }
  | { type: "remote"; model: string; run: RemoteAgent }
  | { type: "oracle" }
  | { type: "noop" };

/** Works on a copy of the workspace on another machine, and brings the changes back into the workspace. Never rejects. */
export type RemoteAgent = (work: RemoteWork) => Promise<RemoteEnd>;

/** The result of a run on another machine. `left` is work that could not be brought back. */
export type RemoteEnd = { result: RunResult<unknown>; left?: string };

export type RemoteWork = {
  prompt: string;
  workspace: string;
  model: string;
  confined: boolean;
  signal: AbortSignal;
} & Pick<Task, "mode" | "mcpServers"> & { timeoutMs: number };

export type Work = {
  task: Task;
  folders: AttemptFolders;
  scripts: ScriptRunner;
  env: NodeJS.ProcessEnv;
  confined: boolean;
  signal: AbortSignal;
  /** The file to which the run is recorded. */
  record?: string;
};

/** The report for an agent that has done nothing. */
export const noWork: AgentReport = { steps: 0, inputTokens: 0, outputTokens: 0, denials: [], differences: [] };

export function runAgent(agent: AgentChoice, work: Work): Promise<AgentReport> {
  if (agent.type === "cli") return runCli(agent, work);
  if (agent.type === "other") return runOther(agent, work);
  if (agent.type === "remote") return runRemote(agent, work);
  return agent.type === "oracle" ? runSolution(work) : Promise.resolve(noWork);
}

async function runSolution({ task, folders, scripts, signal }: Work): Promise<AgentReport> {
  if (!existsSync(join(task.folder, "solution", "solve.sh")))
    return { ...noWork, fault: "it has no solution/solve.sh" };
  const solution = bringScripts(task, folders, "solution");
  const { exitCode, timedOut, output } = await scripts.run(join(solution, "solve.sh"), task.solution, signal);
  if (timedOut) return { ...noWork, failure: `solution/solve.sh took longer than ${task.solution.timeoutMs / 1000} s` };
  if (exitCode === 0) return { ...noWork, steps: 1 };
  return { ...noWork, failure: `solution/solve.sh ended with exit code ${exitCode}: ${reasonIn(output)}` };
}

async function runCli({ model, args, executable }: AgentChoice & { type: "cli" }, work: Work): Promise<AgentReport> {
  const { task, folders, env, confined, signal, record } = work;
  writeConfig(work, model);
  const answers = broughtModel(model, folders);
  const differences: string[] = [];
  const run = start({
    prompt: withOwnPaths(task.instruction, task, folders),
    cwd: folders.work,
    executable,
    model: answers,
    ...(task.mode && { mode: task.mode }),
    trust: true,
    partial: false,
    sandbox: confined,
    // In the sandbox nothing needs to be asked; outside it, calls would be refused without force.
    permissionMode: confined ? "default" : "force",
    timeoutMs: task.agent.timeoutMs,
    idleMs: task.agent.timeoutMs,
    ...(Object.keys(task.mcpServers).length > 0 && { mcpServers: task.mcpServers }),
    extraArgs: [...args, ...(record === undefined ? [] : ["--record", record])],
    env: {
      ...withoutFolderVariables(env),
      ...scriptVariables(task.agent.env, env),
      HOME: folders.home,
      CURSOR_CONFIG_DIR: folders.config,
    },
    signal,
    // Write the log as Harbor does, for verifiers that examine what the agent did.
    onStdout: (chunk) => appendFileSync(join(folders.logs, "agent", "cursor-cli.txt"), chunk),
  });
  for await (const event of run.events)
    if (event.type === "notice" && event.kind === "replay") differences.push(event.message);
  return reportOf(await run.result, folders, differences);
}

/** Runs another agent CLI, with the user's own login and settings. Restrictions it does not support are refused. */
async function runOther({ tool, model }: AgentChoice & { type: "other" }, work: Work): Promise<AgentReport> {
  const { task, folders, env, confined, signal } = work;
  const run = start({
    prompt: withOwnPaths(task.instruction, task, folders),
    tool,
    cwd: folders.work,
    ...(model !== undefined && { model }),
    ...(task.mode && { mode: task.mode }),
    trust: true,
    partial: false,
    ...(confined && { sandbox: true }),
    permissionMode: "force",
    timeoutMs: task.agent.timeoutMs,
    idleMs: task.agent.timeoutMs,
    ...(Object.keys(task.mcpServers).length > 0 && { mcpServers: task.mcpServers }),
    env: { ...env, ...scriptVariables(task.agent.env, env), COURSER_EXIT_WITH_PARENT: undefined },
    signal,
    onStdout: (chunk) => appendFileSync(join(folders.logs, "agent", `${tool}.txt`), chunk),
  });
  return reportOf(await run.result, folders, []);
}

async function runRemote({ model, run }: AgentChoice & { type: "remote" }, work: Work): Promise<AgentReport> {
  const { task, folders, confined, signal } = work;
  if (Object.keys(task.agent.env).length > 0)
    return { ...noWork, fault: "its agent needs variables of the environment, which do not travel" };
  const { mode, mcpServers, agent } = task;
  const { result, left } = await run({
    // Keep container paths, since the worker chooses the path of the workspace.
    prompt: withOwnPaths(task.instruction, task, { ...folders, work: "." }),
    workspace: folders.work,
    model: broughtModel(model, folders),
    ...{ mode, mcpServers, timeoutMs: agent.timeoutMs, confined, signal },
  });
  return { ...reportOf(result, folders, []), ...(left !== undefined && { left }) };
}

function reportOf(end: RunResult<unknown>, folders: AttemptFolders, differences: readonly string[]): AgentReport {
  writeFileSync(join(folders.logs, "agent", "answer.txt"), end.text);
  const failure = end.outcome === "success" ? undefined : `${end.error.message} [${end.error.code}]`;
  const usage = end.usage as (typeof end.usage & { totalCost?: number }) | undefined;
  const costUsd = usage?.totalCost ?? end.costUsd;
  return {
    // A run that timed out did start, so it is a failure and not a fault.
    ...(failure !== undefined && (end.turns === 0 && end.outcome === "error" ? { fault: failure } : { failure })),
    ...(end.model !== undefined && { model: end.model }),
    ...(end.sessionId !== undefined && { sessionId: end.sessionId }),
    steps: end.turns,
    inputTokens: usage ? usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens : 0,
    outputTokens: usage?.outputTokens ?? 0,
    ...(costUsd !== undefined && { costUsd }),
    denials: end.denials.map(({ tool, reason }) => ({ tool, reason })),
    differences,
  };
}

/** Writes the run's configuration. Of the user's own it gets only keys and model data. */
function writeConfig({ task, folders, env }: Work, model: string): void {
  const permissions = {
    allow: ["Write(**)"],
    // An agent that can read the task has read its tests. `?` replaces characters that are special in patterns.
    deny: [`Read(${task.folder.replace(/[*?{}[\]!,]/g, "?")}/**)`],
  };
  writeFileSync(join(folders.config, "cli-config.json"), JSON.stringify({ version: 1, permissions }));
  if (/^(script|replay):/.test(model)) return;
  for (const name of ["auth.json", "courser.json"]) {
    const file = join(configDir(env), name);
    if (existsSync(file)) symlinkSync(file, join(folders.config, name));
  }
}

/** Copies a script next to the attempt: a recording names its model, and this path is the same everywhere. */
function broughtModel(model: string, { base }: AttemptFolders): string {
  const file = /^script:(.*)$/s.exec(model)?.[1];
  if (file === undefined) return model;
  copyFileSync(file, join(base, "script.json"));
  return `script:${join(base, "script.json")}`;
}

/** Removes variables that would lead a run to folders other than its own. */
function withoutFolderVariables(env: NodeJS.ProcessEnv): Record<string, string | undefined> {
  return { ...env, XDG_CONFIG_HOME: undefined, COURSER_EXIT_WITH_PARENT: undefined, CURSOR_AGENT: undefined };
}
