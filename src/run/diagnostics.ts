// Opens the language servers of a run, in their own sandbox where there is one, without write or network access.
import { createDiagnostics, type Diagnostics } from "../agent/diagnostics/index.ts";
import type { ProcessRunner } from "../agent/process.ts";
import { openServerSandbox } from "./sandbox.ts";
import type { Setup } from "./setup.ts";

export type DiagnosticsParts = { processes: ProcessRunner; warn(message: string): void };

export async function openDiagnostics(setup: Setup, { processes, warn }: DiagnosticsParts): Promise<Diagnostics> {
  const { workspace, host } = setup;
  const sandbox = await openServerSandbox(setup, processes);
  return createDiagnostics({ workspace, env: host.env, processes, sandbox, warn });
}
