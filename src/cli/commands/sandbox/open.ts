// Opens the sandbox as a run in this folder would, with the additions from the flags of `sandbox run`.
import { existsSync } from "node:fs";
import { totalmem } from "node:os";
import { createProcessRunner, type ProcessRunner } from "../../../agent/process.ts";
import { createSandbox, planSandbox, type Sandbox } from "../../../agent/sandbox/index.ts";
import { absolutePath } from "../../../policy/paths.ts";
import { usageError } from "../../../protocol/error-codes.ts";
import type { Rule } from "../../../protocol/permission-rule.ts";
import { realDirectory } from "../../../run/real-directory.ts";
import { configDir, homeDir } from "../../../store/config-dir.ts";
import { loadSandboxSettings, type SandboxSettings } from "../../../store/sandbox-settings.ts";
import { builtInRules, loadSettings } from "../../../store/settings.ts";
import { isTrusted } from "../../../store/trust.ts";
import { flagList, flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";

export type OpenForUser = {
  sandbox: Sandbox;
  /** Why the sandbox does not work on this machine; undefined if it does. */
  problem: string | undefined;
  processes: ProcessRunner;
  settings: SandboxSettings;
  workspace: string;
  warnings: string[];
};

export async function openForUser({ env, line: { flags } }: Invocation): Promise<OpenForUser> {
  const list = (name: string) => (flagText(flags, name) ?? "").split(",").filter((each) => each.trim() !== "");
  const folder = configDir(env);
  const workspace = realDirectory(flagText(flags, "workspace") ?? ".", "--workspace");
  const roots = flagList(flags, "add-dir").map((path) => realDirectory(path, "--add-dir"));
  const trusted = isTrusted(folder, workspace);
  const general = loadSettings({ configDir: folder, workspace, trusted });
  const saved = loadSandboxSettings({ configDir: folder, workspace, cliConfig: general.raw });
  const place = { workspace, roots, home: homeDir(env), configDir: folder };
  // Refuse missing paths, which the sandbox would silently ignore.
  const paths = (name: string) =>
    list(name).map((path) => {
      if (existsSync(absolutePath(path, place))) return path;
      throw usageError(`--${name}: ${path} does not exist. Create it first, or correct the name.`);
    });
  const settings: SandboxSettings = {
    ...saved,
    readwritePaths: [...saved.readwritePaths, ...paths("allow-paths")],
    readonlyPaths: [...saved.readonlyPaths, ...paths("readonly-paths")],
    network: flags.has("network") ? { ...saved.network, default: "allow" } : saved.network,
  };
  const rules = [...general.rules, ...builtInRules(folder), ...list("blocked-patterns").flatMap(blockingRules)];
  const plan = planSandbox(settings, { ...place, rules, totalMemoryMb: Math.floor(totalmem() / 1_048_576) });
  const processes = createProcessRunner();
  const sandbox = createSandbox({ plan, processes, env });
  const warnings = [...general.warnings, ...saved.warnings];
  return { sandbox, problem: await sandbox.problem(), processes, settings, workspace, warnings };
}

function blockingRules(pattern: string): Rule[] {
  return (["Read", "Write"] as const).map((kind) => ({
    verdict: "deny",
    kind,
    pattern,
    text: `${kind}(${pattern})`,
    scope: "user",
    source: "--blocked-patterns",
  }));
}
