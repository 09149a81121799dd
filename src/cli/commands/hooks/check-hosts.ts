// Checks the hosts in use here: the version of each, and which parts of a hook's answer it honours.
import { createProcessRunner, type ProcessRunner } from "../../../agent/process.ts";
import type { HostName } from "../../../bridge/event.ts";
import { askTreatment } from "../../../bridge/hosts/cursor-ask.ts";
import { installHosts } from "../../../bridge/install/hosts.ts";
import { findProgram } from "../../../process/find-program.ts";
import { readJson } from "../../../store/json-file.ts";
import type { FoundFile } from "./all-hooks.ts";
import { configFileOf, type HooksContext } from "./context.ts";
import type { HookFinding } from "./doctor.ts";

export async function hostFindings(files: readonly FoundFile[], context: HooksContext): Promise<HookFinding[]> {
  const found: HookFinding[] = [...disabledByClaude(files, context)];
  const processes = createProcessRunner({ env: context.env });
  try {
    for (const host of installHosts) {
      const hooks = files.filter((file) => file.host === host.name).flatMap((file) => file.hooks);
      const program = host.programs.map((name) => findProgram(name, context.env)).find(Boolean);
      if (hooks.length === 0 || program === undefined) continue;
      found.push(...(await rows[host.name]((...args) => commandOutput(processes, [program, ...args], context))));
    }
  } finally {
    await processes.endAll();
  }
  return found;
}

/** Returns a program's output, or an empty string if it cannot be run. */
async function commandOutput(
  processes: ProcessRunner,
  command: readonly string[],
  context: HooksContext,
): Promise<string> {
  try {
    return (await processes.run({ command, cwd: context.workspace, timeoutMs: 10_000, keepBytes: 64 * 1024 })).stdout;
  } catch {
    return "";
  }
}

type Ask = (...args: string[]) => Promise<string>;

const rows: Record<HostName, (ask: Ask) => Promise<HookFinding[]>> = {
  async cursor(ask) {
    const version = /\d+(?:\.\d+)+\S*/.exec(await ask("--version"))?.[0];
    const treated = askTreatment(version);
    if (treated === "asks") return [];
    const what = { deny: "refuses", allow: "allows", unknown: "was never seen to ask about" }[treated];
    const message = `The cursor-agent in PATH (${version ?? "of unknown version"}) ${what} what a hook wants you to be asked about.`;
    const advice = "The bridge refuses there instead, and says so on stderr. Courser really asks.";
    return [{ kind: "note", message, advice }];
  },
  claude: async () => [],
  gemini: async () => [],
  async codex(ask) {
    const isOn = /^(?:codex_)?hooks\s.*\b(true|false)\s*$/m.exec(await ask("features", "list"))?.[1];
    if (isOn !== "true") {
      const message =
        isOn === undefined ? "The codex in PATH has no hooks." : "The codex in PATH has hooks switched off.";
      const advice = isOn === undefined ? "Update it." : "Type: codex features enable hooks";
      return [{ kind: "problem", message, advice }];
    }
    const message =
      "Codex silently skips hooks until you trust them, and again after each change. It cannot ask: the bridge refuses there instead.";
    return [{ kind: "note", message, advice: "Start codex in this directory and type /hooks." }];
  },
};

function disabledByClaude(files: readonly FoundFile[], context: HooksContext): HookFinding[] {
  const claude = installHosts.find((host) => host.name === "claude")!;
  return (["project", "user"] as const).flatMap((scope): HookFinding[] => {
    const file = configFileOf(claude, context, scope);
    if (files.some((each) => each.file === file && each.problem !== undefined)) return [];
    if (readJson(file)?.["disableAllHooks"] !== true) return [];
    return [
      {
        kind: "problem",
        file,
        message: '"disableAllHooks" is true: Claude Code runs no hooks at all.',
        advice: "Delete it, or set it to false.",
      },
    ];
  });
}
