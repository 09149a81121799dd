// The composition root: from a command line to everything a run needs. What `init` must know comes first and cheap;
// the agent itself is loaded when the first line is already out.
import { isForeignKey } from "../model/keys.ts";
import { type ResolvedModel, resolveModel } from "../model/resolve.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { Rule } from "../protocol/permission-rule.ts";
import { configDir, homeDir } from "../store/config-dir.ts";
import { builtInRules, loadSettings, type Settings } from "../store/settings.ts";
import { isTrusted } from "../store/trust.ts";
import { type FlagValues, flagList, flagText } from "../cli/flags.ts";
import type { Invocation } from "../cli/main.ts";
import { modelChoice } from "../cli/model-choice.ts";
import { realDirectory } from "./real-directory.ts";

export type PermissionMode = "default" | "force" | "plan" | "ask";

/** What is settled before a run begins. */
export type Setup = {
  invocation: Invocation;
  workspace: string;
  roots: string[];
  configDir: string;
  home: string;
  /** By --trust, or as it was remembered. */
  trusted: boolean;
  settings: Settings;
  /** The settings' rules, and the one that keeps saved keys from the agent. */
  rules: readonly Rule[];
  model: ResolvedModel;
  mode: PermissionMode;
  limits: { maxTurns: number; maxTimeMs?: number; maxCost?: number };
  compat: "2025" | undefined;
  warnings: string[];
};

export function setUp(invocation: Invocation, options: { gate: boolean }): Setup {
  const { env, line } = invocation;
  const { flags } = line;
  const limits = limitsOf(flags);
  const workspace = realDirectory(flagText(flags, "workspace") ?? ".", "--workspace");
  const roots = flagList(flags, "add-dir").map((path) => realDirectory(path, "--add-dir"));
  const home = homeDir(env);
  const config = configDir(env);

  const trusted = flags.has("trust") || isTrusted(config, workspace);
  const settings = loadSettings({ configDir: config, workspace, trusted });
  const mode = modeOf(flags, settings);
  if (options.gate && !trusted && !isForced(flags)) throw untrusted(workspace);

  const model = resolveModel(modelChoice(invocation, settings, config));
  if (
    limits.maxCost !== undefined &&
    !model.price &&
    !model.local &&
    model.kind !== "offline" &&
    model.kind !== "script"
  ) {
    throw new UserError(
      "USAGE",
      `--max-cost cannot be kept: the price of ${model.displayName} is not known. Use --max-turns or --max-time.`,
    );
  }
  return {
    invocation,
    workspace,
    roots,
    configDir: config,
    home,
    trusted,
    settings,
    rules: [...settings.rules, ...builtInRules(config)],
    model,
    mode,
    limits: { ...limits, maxTurns: limits.maxTurns ?? settings.courser.maxTurns ?? 500 },
    compat: env["COURSER_COMPAT"] === "2025" ? "2025" : undefined,
    warnings: [...settings.warnings, ...foreignKeyWarning(invocation)],
  };
}

/** Drivers of the original hand on its key; it opens nothing here, and other vendors must not see it. */
function foreignKeyWarning({ env, line: { flags } }: Invocation): string[] {
  const given = { "--api-key": flagText(flags, "api-key"), CURSOR_API_KEY: env["CURSOR_API_KEY"] };
  return Object.entries(given)
    .filter(([, key]) => key !== undefined && isForeignKey(key.trim()))
    .map(([name]) => `${name} holds a key of Cursor's own service and is not used: give a key of the model's vendor.`);
}

function isForced(flags: FlagValues): boolean {
  return flags.has("force") || flags.has("yolo");
}

function modeOf(flags: FlagValues, { approvalMode }: Settings): PermissionMode {
  const named = flagText(flags, "mode");
  if (flags.has("plan") && named !== undefined && named !== "plan") {
    throw new UserError("USAGE", `--plan and --mode ${named} exclude each other. Choose one.`);
  }
  if (flags.has("plan") || named === "plan") return "plan";
  if (named === "ask") return "ask";
  return isForced(flags) || approvalMode === "unrestricted" ? "force" : "default";
}

function limitsOf(flags: FlagValues): { maxTurns?: number; maxTimeMs?: number; maxCost?: number } {
  const turns = flagText(flags, "max-turns");
  const time = flagText(flags, "max-time");
  const cost = flagText(flags, "max-cost");
  if (turns !== undefined && !/^[1-9]\d*$/.test(turns)) {
    throw new UserError("USAGE", `--max-turns '${turns}' is no positive whole number. Example: --max-turns 20`);
  }
  if (cost !== undefined && !(/^\d+(\.\d+)?$/.test(cost) && Number(cost) > 0)) {
    throw new UserError("USAGE", `--max-cost '${cost}' is no amount of dollars. Example: --max-cost 0.50`);
  }
  return {
    ...(turns !== undefined && { maxTurns: Number(turns) }),
    ...(time !== undefined && { maxTimeMs: milliseconds(time) }),
    ...(cost !== undefined && { maxCost: Number(cost) }),
  };
}

function milliseconds(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text);
  const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
  const value = match ? Number(match[1]) * units[(match[2] ?? "s") as keyof typeof units] : 0;
  if (value <= 0)
    throw new UserError("USAGE", `--max-time '${text}' is no span of time. Examples: --max-time 90s, --max-time 5m`);
  return value;
}

function untrusted(workspace: string): UserError {
  return new UserError(
    "UNTRUSTED",
    `Workspace Trust Required\n\n  ${workspace}\n\nThe agent reads and changes files here and follows this project's instructions.\nPass --trust, --yolo, or -f if you trust this directory; --trust is remembered.`,
  );
}
