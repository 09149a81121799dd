// The tool `exec`: runs a command in bash if the policy allows it. Asks only through the `ask` callback.
import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { type Check, callback, milliseconds, object, oneOf, text } from "../../json/checks.ts";
import { decide, nobodyToAsk, type Situation } from "../../policy/decide.ts";
import type { Decision } from "../../policy/need.ts";
import { runProgram } from "../../process/run-program.ts";
import { checkOptions } from "../../protocol/check-options.ts";
import { unlessStopped } from "../../protocol/unless-stopped.ts";
import { toolEnvironment } from "../../redact/tool-environment.ts";
import { parseRules, type RuleTexts, ruleChecks } from "./permission.ts";
import type { AdapterTool } from "./router.ts";

/** The options of `createExecTool`. */
export type ExecOptions = RuleTexts & {
  /** The directory in which commands run and may write. Default: the current directory. */
  workspace?: string;
  /** "force" allows what no rule denies. Default: only what a rule allows. */
  mode?: "default" | "force";
  /** Called if no rule decides; true lets the command run. Without it, such commands are refused. */
  ask?(question: { command: string; cwd: string; reasons: readonly string[] }): Promise<boolean>;
  timeoutMs?: number;
  /** The user's home and configuration directory, whose settings no command may change. */
  home?: string;
  configDir?: string;
  env?: NodeJS.ProcessEnv;
};

const execChecks = {
  ...ruleChecks,
  workspace: text,
  mode: oneOf("default", "force"),
  ask: callback,
  timeoutMs: milliseconds,
  home: text,
  configDir: text,
  env: object,
} satisfies Record<keyof ExecOptions, Check>;

const usualTimeoutMs = 120_000;
const keepBytes = 100_000;

type ExecArgs = { command: string; cwd?: string };

/** Creates `exec`, a tool that runs commands in bash. */
export function createExecTool(options: ExecOptions = {}): AdapterTool {
  checkOptions("createExecTool", options, execChecks);
  const { mode = "default", timeoutMs = usualTimeoutMs, ask, env = process.env, home = homedir() } = options;
  const workspace = realpathSync(resolve(options.workspace ?? "."));
  const configDir = options.configDir ?? env["CURSOR_CONFIG_DIR"] ?? join(home, ".cursor");
  const rules = parseRules(options);
  const situation: Situation = {
    mode,
    interactive: ask !== undefined,
    workspace,
    roots: [],
    home,
    configDir,
    rules,
    sandbox: "off",
    searchPath: env["PATH"] ?? "",
  };
  return {
    name: "exec",
    description: `Run a command with bash in ${workspace}. It has no input and no terminal, and times out after ${Math.round(timeoutMs / 1000)} s.`,
    schema: {
      type: "object",
      properties: {
        command: { type: "string", minLength: 1 },
        cwd: { type: "string", minLength: 1, description: "Relative to the workspace" },
      },
      required: ["command"],
    },
    async run({ command, cwd }: ExecArgs, { signal }) {
      const folder = resolve(workspace, cwd ?? ".");
      const decision = await decide([{ kind: "Shell", target: command, cwd: folder }], situation);
      const refusal = await findRefusal(decision, () => ask?.({ command, cwd: folder, reasons: decision.reasons }));
      if (refusal !== undefined) return { content: `Not permitted: ${refusal}`, isError: true };
      const end = await unlessStopped(signal, () =>
        runProgram({
          command: ["bash", "-c", command],
          cwd: folder,
          env: toolEnvironment(env),
          timeoutMs,
          signal,
          keepBytes,
        }),
      );
      return { content: resultText(end, timeoutMs), isError: end.exitCode !== 0 };
    },
  };
}

/** Asks whether a call may run. Every answer but a clear yes refuses it. */
async function findRefusal(
  { verdict, reasons }: Decision,
  ask: () => Promise<boolean> | undefined,
): Promise<string | undefined> {
  if (verdict === "allow") return undefined;
  if (verdict === "ask" && (await ask()) === true) return undefined;
  return reasons.filter((reason) => reason !== nobodyToAsk).join(" ");
}

function resultText(end: Awaited<ReturnType<typeof runProgram>>, timeoutMs: number): string {
  if (end.failure) return `The command could not be started: ${end.failure.message}`;
  const output = [end.stdout.toString("utf8"), end.stderr].filter((text) => text !== "").join("\n");
  const notes = [
    ...(end.timedOut ? [`timed out after ${timeoutMs} ms and was killed`] : []),
    ...(end.cancelled ? ["cancelled"] : []),
    ...(end.exitCode !== 0 && end.exitCode !== null ? [`exit code ${end.exitCode}`] : []),
    ...(end.signal !== "" && !end.timedOut && !end.cancelled ? [`killed by ${end.signal}`] : []),
  ];
  return [output === "" ? "(no output)" : output, ...notes.map((note) => `[${note}]`)].join("\n");
}
