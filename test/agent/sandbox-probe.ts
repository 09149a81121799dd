// Runs the calls of one sandbox case in a Node of its own, so that the agent's number, secrets and descriptors are real ones.
// argv: the file of the job, and the file that gets what was seen.
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { BackgroundShells } from "../../src/agent/background.ts";
import { createProcessRunner } from "../../src/agent/process.ts";
import { builtInTools, findTool } from "../../src/agent/tools/index.ts";
import { TodoList } from "../../src/agent/tools/todos.ts";
import { type ToolContext, ToolFailure } from "../../src/agent/tools/tool.ts";
import { decide } from "../../src/policy/decide.ts";
import { createConfinement } from "../../src/run/sandbox.ts";
import { builtInRules, loadSettings } from "../../src/store/settings.ts";

export type SandboxJob = {
  workspace: string;
  home: string;
  configDir: string;
  mode: "default" | "force";
  calls: Record<string, unknown>[];
};

export type CallSeen = { verdict: string; outcome: string; exit: number | null; output: string };
export type SandboxSeen = { calls: CallSeen[]; warnings: string[] };

const [, , jobFile, seenFile] = process.argv;
const job = JSON.parse(
  readFileSync(jobFile!, "utf8")
    .replaceAll("{AGENT_PID}", String(process.pid))
    .replaceAll("{PPID}", String(process.ppid)),
) as SandboxJob;
const { workspace, home, configDir, mode } = job;
const warnings: string[] = [];
const processes = createProcessRunner();
const settings = loadSettings({ configDir, workspace, trusted: true });
const rules = [...settings.rules, ...builtInRules(configDir)];
const place = { workspace, roots: [], home, configDir };
const confinement = await createConfinement(
  { request: {}, host: { env: process.env }, ...place, rules, settings },
  { canAsk: false, processes, warn: (message) => warnings.push(message) },
);
const context: ToolContext = {
  callId: "1",
  sessionId: "case",
  ...place,
  signal: new AbortController().signal,
  print: () => {},
  processes,
  background: new BackgroundShells(processes, tmpdir()),
  todos: new TodoList(),
  resultLimit: 40_000,
  ...(confinement.sandbox && { sandbox: confinement.sandbox }),
};
const calls: CallSeen[] = [];
for (const call of job.calls) calls.push(await run(call));
await confinement.sandbox?.end();
writeFileSync(seenFile!, JSON.stringify({ calls, warnings } satisfies SandboxSeen));

/** A command is not judged here but laid into the sandbox, whatever it is: that must hold by itself. */
async function run({ tool: name, ...input }: Record<string, unknown>): Promise<CallSeen> {
  const tool = findTool(builtInTools, String(name));
  if (!tool) throw new Error(`there is no tool ${name}`);
  const args = tool.parse(input);
  const isShell = tool.wire === "shell";
  const decision = isShell
    ? await confinement.check({ verdict: "allow", reasons: [], confined: true })
    : await decide(tool.needs(args, context), {
        ...place,
        mode,
        interactive: false,
        rules,
        sandbox: confinement.reach("sandbox"),
      });
  if (decision.verdict !== "allow") {
    warnings.push(...decision.reasons);
    return { verdict: decision.verdict, outcome: "rejected", exit: null, output: decision.reasons.join(" ") };
  }
  const { approved, mayRead } = decision;
  try {
    const { outcome, text } = await tool.run(args, { ...context, approved, mayRead, confined: isShell });
    const { exitCode = null } = outcome.value as { exitCode?: number };
    return { verdict: "allow", outcome: outcome.kind, exit: exitCode, output: text };
  } catch (error) {
    if (!(error instanceof ToolFailure)) throw error;
    return { verdict: "allow", outcome: error.kind, exit: null, output: error.message };
  }
}
