// Language servers of a run: always in a sandbox of their own where there is one, in which they can write nothing and reach nobody.
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
