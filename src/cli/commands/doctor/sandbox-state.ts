// Checks whether commands can run in the sandbox here. Imports no other check, so that workers, which call it at start, stay small.
import { createProcessRunner } from "../../../agent/process.ts";
import { createSandbox, planSandbox } from "../../../agent/sandbox/index.ts";
import { loadSandboxSettings } from "../../../store/sandbox-settings.ts";
import type { DoctorContext } from "./context.ts";

/** Returns the configured mode, and the reason if it cannot work here. */
export async function sandboxState({ settings, configDir, workspace, home, invocation: { env } }: DoctorContext) {
  const cliConfig = settings instanceof Error ? {} : settings.raw;
  const configured = loadSandboxSettings({ configDir, workspace, cliConfig });
  const { mode, warnings } = configured;
  if (mode === "disabled") return { mode, warnings };
  const place = { workspace, roots: [], home, configDir, rules: [], totalMemoryMb: 1024 };
  const sandbox = createSandbox({
    plan: planSandbox(configured, place),
    processes: createProcessRunner({ env }),
    env,
  });
  return { mode, warnings, fault: await sandbox.problem() };
}
