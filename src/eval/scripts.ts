// Runs the scripts of a task (setup, solution, tests) in the sandbox, where they can write only the folders of their attempt.
import { totalmem } from "node:os";
import { createProcessRunner, toolEnvironment } from "../agent/process.ts";
import { createSandbox, planSandbox, type Sandbox } from "../agent/sandbox/index.ts";
import type { AttemptFolders } from "./folders.ts";
import type { Phase } from "./task.ts";

export type ScriptEnd = {
  exitCode: number | null;
  timedOut: boolean;
  /** The combined output of stdout and stderr, limited in size. */
  output: string;
};

export interface ScriptRunner {
  run(file: string, phase: Phase, signal: AbortSignal): Promise<ScriptEnd>;
  end(): Promise<void>;
}

export type ScriptOptions = {
  env: NodeJS.ProcessEnv;
  confined: boolean;
  /** Removes the user's secrets from script output, because a verifier may be given some. */
  redact?(text: string): string;
};

const keepBytes = 256 * 1024;

export function createScriptRunner(folders: AttemptFolders, { env, confined, redact }: ScriptOptions): ScriptRunner {
  const processes = createProcessRunner({ env });
  const fixedVariables = { HOME: folders.home, ...identity };
  const sandboxes = new Map<string, Sandbox>();
  return {
    async run(file, phase, signal) {
      const phaseVariables = scriptVariables(phase.env, env);
      const names = Object.keys(phaseVariables);
      const sandbox = confined ? (sandboxes.get(`${names}`) ?? openSandbox(folders, { env, names })) : undefined;
      if (sandbox) sandboxes.set(`${names}`, sandbox);
      const problem = await sandbox?.problem();
      if (problem) return { exitCode: null, timedOut: false, output: problem };
      const end = await processes.run({
        command: ["bash", file],
        cwd: folders.work,
        env: { ...toolEnvironment(env), ...fixedVariables, ...phaseVariables },
        ...(sandbox && { sandbox }),
        timeoutMs: phase.timeoutMs,
        signal,
        keepBytes,
      });
      return { exitCode: end.exitCode, timedOut: end.timedOut, output: redact?.(end.interleaved) ?? end.interleaved };
    },
    async end() {
      await processes.endAll();
      await Promise.all([...sandboxes.values()].map((sandbox) => sandbox.end()));
    },
  };
}

/** The identity for git commits, since the home folder of an attempt has no git configuration. */
export const identity = {
  GIT_AUTHOR_NAME: "Eval",
  GIT_AUTHOR_EMAIL: "eval@example.com",
  GIT_COMMITTER_NAME: "Eval",
  GIT_COMMITTER_EMAIL: "eval@example.com",
};

/** Returns why scripts cannot be sandboxed here, or undefined if they can. */
export async function sandboxProblem(env: NodeJS.ProcessEnv, folder: string): Promise<string | undefined> {
  const folders = { base: folder, home: folder, config: folder };
  const sandbox = openSandbox(folders, { env, names: [] });
  try {
    return await sandbox.problem();
  } finally {
    await sandbox.end();
  }
}

function openSandbox(
  { base, home, config }: Pick<AttemptFolders, "base" | "home" | "config">,
  { env, names }: { env: NodeJS.ProcessEnv; names: string[] },
): Sandbox {
  const plan = planSandbox(
    {
      mode: "enabled",
      type: "workspace_readwrite",
      readwritePaths: [],
      readonlyPaths: [],
      readBoundary: "system",
      readPaths: [],
      tmpWrite: true,
      sharedBuildCache: false,
      network: { default: "deny", allow: [], deny: [] },
      environment: names,
      limits: {},
      warnings: [],
    },
    // Allow the whole attempt: setup creates repositories in the workspace, which a workspace's own commands may not.
    {
      workspace: base,
      roots: [],
      home,
      configDir: config,
      rules: [],
      totalMemoryMb: Math.floor(totalmem() / 1_048_576),
    },
  );
  return createSandbox({ plan, processes: createProcessRunner({ env }), env });
}

/** Expands `${NAME}` and `${NAME:-default}` from this process's environment. */
export function scriptVariables(
  env: Readonly<Record<string, string>>,
  ours: NodeJS.ProcessEnv,
): Record<string, string> {
  const value = (text: string) =>
    text.replace(/\$\{(\w+)(?::-([^}]*))?\}/g, (_, name: string, otherwise = "") => ours[name] ?? otherwise);
  return Object.fromEntries(Object.entries(env).map(([name, text]) => [name, value(text)]));
}
