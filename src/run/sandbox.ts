// Decides which commands run in the sandbox, from settings, flags and what this machine supports.
import { totalmem } from "node:os";
import type { ProcessRunner } from "../agent/process.ts";
import type { Sandbox } from "../agent/sandbox/index.ts";
import { nobodyToAsk, runsInSandbox, type Situation } from "../policy/decide.ts";
import type { Decision } from "../policy/need.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { PermissionMode } from "../protocol/run.ts";
import type { SandboxMode } from "../store/sandbox-settings.ts";
import { usesSandbox } from "../store/trust.ts";
import { firstOf } from "../text/first-of.ts";
import { oneLine } from "../text/one-line.ts";
import type { Setup } from "./setup.ts";

export type Confinement = {
  /** Returns which commands run in the sandbox, given how commands without a rule are handled. */
  reach(unlisted: Unlisted): Situation["sandbox"];
  /** The sandbox; absent if commands are not confined. */
  sandbox?: Sandbox;
  /** A sandbox with public network access, for commands that rules allow after the chat has changed files that they may run. */
  openSandbox?: Sandbox;
  /** Turns a call that may run only in the sandbox into a question when there is no sandbox. */
  check(decision: Decision): Promise<Decision>;
  /** Removes everything that was created for the sandbox. */
  end(): Promise<void>;
};

/** What happens to commands that no rule covers. */
export type Unlisted = "sandbox" | "ask";

/** `canAsk` means that a user can permit what the sandbox cannot confine. */
type ConfinementParts = {
  canAsk: boolean;
  processes: ProcessRunner;
  warn(message: string): void;
};

export const unconfined: Confinement = { reach: () => "off", check: async (decision) => decision, end: async () => {} };

/** The part of a setup that confinement needs; `permissions check` provides no more. */
export type ConfinementSetup = Pick<
  Setup,
  "configDir" | "workspace" | "standsFor" | "roots" | "home" | "rules" | "settings" | "borrowed"
> & {
  request: Pick<Setup["request"], "sandbox">;
  host: Pick<Setup["host"], "env">;
};

export async function createConfinement(setup: ConfinementSetup, parts: ConfinementParts): Promise<Confinement> {
  const { request, host, configDir, workspace, standsFor, roots, home, rules, settings, borrowed = [] } = setup;
  const stands = standsFor === undefined ? {} : { standsFor };
  const asked: SandboxMode | undefined = request.sandbox;
  if (asked === "disabled") return unconfined;
  const { loadSandboxSettings } = await import("../store/sandbox-settings.ts");
  const sandboxSettings = loadSandboxSettings({ configDir, workspace, ...stands, cliConfig: settings.raw });
  const mode = asked ?? sandboxSettings.mode;
  if (mode === "disabled") return unconfined;
  for (const warning of sandboxSettings.warnings) parts.warn(warning);

  const { createSandbox, planSandbox, withNetwork } = await import("../agent/sandbox/index.ts");
  const readPaths = [...sandboxSettings.readPaths, ...borrowed];
  const plan = planSandbox(
    { ...sandboxSettings, readPaths },
    { workspace, ...stands, roots, home, configDir, rules, totalMemoryMb: totalMemoryMb() },
  );
  const create = (part: typeof plan) => createSandbox({ plan: part, processes: parts.processes, env: host.env });
  const openSandbox = create(withNetwork(plan, sandboxSettings.network.deny));
  const closed = create(plan);
  const sandbox: Sandbox = {
    ...closed,
    expect(path) {
      closed.expect(path);
      openSandbox.expect(path);
    },
  };
  if (asked === "enabled") {
    const problem = await sandbox.problem();
    if (problem) throw new UserError("SANDBOX_UNAVAILABLE", `${problem} To run without it: --sandbox disabled`);
  }
  let hasWarned = false;
  return {
    reach: (unlisted) => reachOf(mode, unlisted),
    sandbox,
    openSandbox,
    async check(decision) {
      if (!decision.withNetwork) return askWithoutSandbox(sandbox, decision, parts.canAsk);
      const problem = await openSandbox.problem();
      if (problem === undefined) return decision;
      if (!hasWarned)
        parts.warn(
          `${problem} Commands that rules allow run unconfined, although this chat has changed the workspace.`,
        );
      hasWarned = true;
      const { confined: _confined, withNetwork: _open, ...allowed } = decision;
      return allowed;
    },
    async end() {
      await Promise.all([sandbox.end(), openSandbox.end()]);
    },
  };
}

/** Opens a sandbox without network where only temporary files are writable, whatever the settings for commands are. */
export async function openServerSandbox(setup: ConfinementSetup, processes: ProcessRunner): Promise<Sandbox> {
  const { loadSandboxSettings } = await import("../store/sandbox-settings.ts");
  const settings = loadSandboxSettings({ ...setup, cliConfig: setup.settings.raw });
  const { createSandbox, planSandbox } = await import("../agent/sandbox/index.ts");
  const closed = { default: "deny" as const, allow: [], deny: [] };
  const plan = planSandbox(
    { ...settings, type: "workspace_readonly", tmpWrite: true, network: closed },
    { ...setup, totalMemoryMb: totalMemoryMb() },
  );
  return createSandbox({ plan, processes, env: setup.host.env });
}

function totalMemoryMb(): number {
  return Math.floor(totalmem() / 1_048_576);
}

const maxRules = 8;

/** Describes to the model what commands may do. Does not create a sandbox. */
export async function commandWords(
  { request, configDir, workspace, standsFor, settings, rules }: ConfinementSetup,
  unlisted: Unlisted,
): Promise<(mode: PermissionMode) => string | undefined> {
  if (request.sandbox === "disabled") return () => undefined;
  const { loadSandboxSettings } = await import("../store/sandbox-settings.ts");
  const stands = standsFor === undefined ? {} : { standsFor };
  const sandboxSettings = loadSandboxSettings({ configDir, workspace, ...stands, cliConfig: settings.raw });
  const reach = reachOf(request.sandbox ?? sandboxSettings.mode, unlisted);
  if (reach === "off") return () => undefined;
  const { sandboxLimits } = await import("../agent/sandbox/words.ts");
  const { networkPlan } = await import("../agent/sandbox/plan.ts");
  const { type, tmpWrite: temporary } = sandboxSettings;
  const writable = type === "workspace_readwrite" ? [workspace] : [];
  const limits = sandboxLimits({ writable, temporary, network: networkPlan(sandboxSettings.network) });
  const allowed = rules.filter((rule) => rule.kind === "Shell" && rule.verdict === "allow").map(({ text }) => text);
  const named = allowed.map((text) => oneLine(text, 40));
  const outside =
    allowed.length > 0 ? `Rules allow others: ${firstOf(named, maxRules)}.` : "No rule allows any outside it.";
  const inSandbox = `run in a sandbox: ${limits}.`;
  return (mode) => {
    if (mode === "default") return reach === "all" ? `all ${inSandbox}` : `they ${inSandbox} ${outside}`;
    return mode === "force" && reach === "all" ? `all ${inSandbox}` : undefined;
  };
}

/**
 * Returns what happens to commands that no rule covers. A user who is present is asked, unless they chose to run this
 * project's commands in the sandbox.
 */
export function unlistedCommands({ request, host, configDir, workspace, standsFor = workspace }: Setup): Unlisted {
  if (request.unlistedCommands) return request.unlistedCommands;
  return host.attended?.() && !usesSandbox(configDir, standsFor) ? "ask" : "sandbox";
}

/** By default, print mode uses the sandbox, since no user can be asked about a command there. */
function reachOf(mode: SandboxMode, unlisted: Unlisted): Situation["sandbox"] {
  if (mode === "enabled") return "all";
  return mode === "auto" && unlisted === "sandbox" ? "unlisted" : "off";
}

async function askWithoutSandbox(sandbox: Sandbox, decision: Decision, canAsk: boolean): Promise<Decision> {
  if (decision.verdict !== "allow" || !decision.confined) return decision;
  const problem = await sandbox.problem();
  if (!problem) return decision;
  const { confined: _, ...rest } = decision;
  const why = decision.reasons.filter((reason) => reason !== runsInSandbox);
  const reasons = [...why, problem, ...(canAsk ? [] : [nobodyToAsk])];
  return { ...rest, verdict: "ask", reasons };
}
