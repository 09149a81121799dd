// `eval --fleet`: runs the agents on workers. The workspace of an attempt is sent whole, the patch is applied to it here, and
// the result is verified here.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RemoteAgent, RemoteWork } from "../../eval/agents.ts";
import { UserError, usageError } from "../../protocol/error-codes.ts";
import { RunError } from "../../sdk/outcome.ts";
import { type FleetClient, fleet } from "../../serve/client/index.ts";
import { git } from "../../worktrees/git.ts";
import type { Invocation } from "../main.ts";
import { placementFlags } from "../placement.ts";
import { limitsOf, modelFlags, proofFlags } from "../run-request.ts";

export type FleetAgent = { run: RemoteAgent; close(): Promise<void> };

export function fleetAgent(invocation: Invocation, url: string): FleetAgent {
  const team = fleet(url, { env: invocation.env });
  const { flags } = invocation.line;
  for (const name of ["api-key", "save-recordings"])
    if (flags.has(name))
      throw usageError(`--${name} cannot be used with --fleet: runs are carried out by workers, with their own keys.`);
  return { run: (work) => carryOut(team, invocation, work), close: () => team.close() };
}

const elsewhere = "A task that is verified by them is to be run without --fleet.";

async function carryOut(team: FleetClient, invocation: Invocation, work: RemoteWork): ReturnType<RemoteAgent> {
  const { flags } = invocation.line;
  const { effort, endpoint, endpointType } = modelFlags(flags);
  const { price } = proofFlags(flags);
  const { placement = {}, onWorkerLoss } = placementFlags(invocation);
  const { mcpServers, confined } = work;
  const hasServers = Object.keys(mcpServers).length > 0;
  const run = team.run({
    prompt: work.prompt,
    workspace: work.workspace,
    source: { type: "upload", isWhole: true },
    model: work.model,
    effort,
    endpoint,
    endpointType,
    mode: confined ? (work.mode ?? "default") : "force",
    trust: true,
    sandbox: confined ? "enabled" : "disabled",
    permissions: { allow: ["Write(**)"] },
    price,
    limits: { ...limitsOf(flags), maxTimeMs: work.timeoutMs },
    ...(hasServers && { mcpConfigs: [JSON.stringify({ mcpServers })], approvedServers: "all" as const }),
    ...placement,
    onWorkerLoss,
    signal: work.signal,
    onQuestion: () => ({ type: "no", reason: "Nobody is there to answer." }),
  });
  let left: string | undefined;
  for await (const event of run.events)
    if (event.type === "notice" && event.kind === "repository") left = `${event.message} ${elsewhere}`;
  const result = await run.result;
  try {
    if (result.outcome !== "cancelled") await apply(await run.patch(), work.workspace, invocation.env);
    return { result, ...(left !== undefined && { left }) };
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const { outcome: _outcome, ...details } = result;
    return { result: { ...details, outcome: "error", error: new RunError("error", error.code, error.message) } };
  }
}

/** Applies the patch. The workspace need not be a repository, and one around it must not be used instead. */
async function apply(patch: string | undefined, workspace: string, env: NodeJS.ProcessEnv): Promise<void> {
  if (patch === undefined || patch === "") return;
  const folder = mkdtempSync(join(tmpdir(), "courser-patch-"));
  try {
    const file = join(folder, "patch");
    writeFileSync(file, patch);
    const variables = { GIT_CEILING_DIRECTORIES: join(workspace, "..") };
    await git(["apply", "--whitespace=nowarn", file], { cwd: workspace, env, variables });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
