// What the permission commands judge by: the same files, folders and flags as a run, without a model.
import { parseNeed } from "../../../policy/check.ts";
import type { Situation } from "../../../policy/decide.ts";
import type { Need } from "../../../policy/need.ts";
import type { WorkspacePaths } from "../../../policy/paths.ts";
import { usageError } from "../../../protocol/error-codes.ts";
import { parseRule, type Rule } from "../../../protocol/permission-rule.ts";
import { realDirectory } from "../../../run/real-directory.ts";
import type { ConfinementSetup } from "../../../run/sandbox.ts";
import { configDir, homeDir } from "../../../store/config-dir.ts";
import { builtInRules, loadSettings, type Settings } from "../../../store/settings.ts";
import { isTrusted, usesSandbox } from "../../../store/trust.ts";
import { flagList, flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";

export type PermissionContext = WorkspacePaths & { trusted: boolean };

export function contextOf({ env, line: { flags } }: Invocation): PermissionContext {
  const config = configDir(env);
  const workspace = realDirectory(flagText(flags, "workspace") ?? ".", "--workspace");
  const roots = flagList(flags, "add-dir").map((path) => realDirectory(path, "--add-dir"));
  const trusted = flags.has("trust") || isTrusted(config, workspace);
  return { workspace, roots, home: homeDir(env), configDir: config, trusted };
}

/** Builds what a run with these flags would judge by, with the same warnings about its files. */
export async function situationOf(invocation: Invocation, need: Need): Promise<Situation> {
  const { flags } = invocation.line;
  const context = contextOf(invocation);
  const settings = loadSettings(context);
  settings.warnings.forEach(warn);
  const rules = [...settings.rules, ...rulesOfFlags(flags), ...builtInRules(context.configDir)];
  const interactive = !flags.has("print");
  const { sandbox, sandboxWorks } =
    need.kind === "Shell"
      ? await sandboxHere(invocation, { ...context, roots: [...context.roots], settings, rules })
      : noSandbox;
  const acceptsSearches = settings.raw["autoAcceptWebSearch"] === true;
  const searchPath = invocation.env["PATH"] ?? "";
  const mode = modeFromFlags(flags, settings);
  const keepsDeleted = flags.has("print") && !flags.has("no-persist");
  return {
    ...context,
    mode,
    interactive,
    ...(interactive && { attended: { sandboxWorks } }),
    keepsDeleted,
    rules,
    sandbox,
    acceptsSearches,
    searchPath,
  };
}

function rulesOfFlags(flags: Invocation["line"]["flags"]): Rule[] {
  return (["allow", "deny"] as const).flatMap((verdict) =>
    flagList(flags, verdict).map((text) => {
      const parsed = parseRule(text, { verdict, scope: "user", source: `--${verdict}` });
      if ("rule" in parsed) return parsed.rule;
      throw usageError(`--${verdict}: ${parsed.problem}`);
    }),
  );
}

type SandboxHere = { sandbox: Situation["sandbox"]; sandboxWorks: boolean };

const noSandbox: SandboxHere = { sandbox: "off", sandboxWorks: false };

/** Tries the sandbox for real, as a run would, because an installed sandbox may still not work. */
async function sandboxHere(
  { env, line: { flags } }: Invocation,
  setup: Omit<ConfinementSetup, "request" | "host">,
): Promise<SandboxHere> {
  const { createConfinement } = await import("../../../run/sandbox.ts");
  const { createProcessRunner } = await import("../../../agent/process.ts");
  const processes = createProcessRunner();
  const isPrint = flags.has("print");
  const asked = flagText(flags, "sandbox") as "enabled" | "disabled" | undefined;
  const unlisted = isPrint || usesSandbox(setup.configDir, setup.workspace) ? "sandbox" : "ask";
  const { reach, sandbox } = await createConfinement(
    { ...setup, request: asked ? { sandbox: asked } : {}, host: { env } },
    { canAsk: !isPrint, processes, warn },
  );
  if (!sandbox) return noSandbox;
  try {
    const problem = await sandbox.problem();
    if (problem === undefined) return { sandbox: reach(unlisted), sandboxWorks: true };
    if (reach(unlisted) !== "off") warn(problem);
    return noSandbox;
  } finally {
    await sandbox.end();
    await processes.endAll();
  }
}

function warn(message: string): void {
  writeStderr(`Warning: ${message}\n`);
}

function modeFromFlags(flags: Invocation["line"]["flags"], { approvalMode }: Settings): Situation["mode"] {
  if (flags.has("plan")) return "plan";
  const asked = flagText(flags, "mode") as "agent" | "plan" | "ask" | undefined;
  const forced = flags.has("force") || flags.has("yolo") || approvalMode === "unrestricted";
  return asked === undefined || asked === "agent" ? (forced ? "force" : "default") : asked;
}

export function parseNeedArgument(words: readonly string[], { name }: Invocation): Need {
  const parsed = parseNeed(words.join(" "));
  if ("need" in parsed) return parsed.need;
  throw usageError(`${parsed.problem}. Example: ${name} permissions check 'Shell: git push -f'`);
}

export function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
