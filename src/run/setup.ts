// Resolves a request to what `init` needs: cheap, and before anything heavy is loaded.

import { existsSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { isForeignKey } from "../model/keys.ts";
import { type ResolvedModel, resolveModel } from "../model/resolve.ts";
import { UserError } from "../protocol/error-codes.ts";
import { parseRule, type Rule } from "../protocol/permission-rule.ts";
import type { PermissionMode, RunRequest } from "../protocol/run.ts";
import { readRunRequest } from "../protocol/run-request.ts";
import { configDir, homeDir } from "../store/config-dir.ts";
import { realPathOrSame } from "../store/json-file.ts";
import type { Plugins } from "../store/plugins/installed.ts";
import type { Plugin } from "../store/plugins/read-plugin.ts";
import { builtInRules, loadSettings, projectDenyRules, type Settings } from "../store/settings.ts";
import { isTrusted, isWide, trust } from "../store/trust.ts";
import { programName } from "../text/program-name.ts";
import type { Worktree } from "../worktrees/records.ts";
import type { RunHost } from "./host.ts";
import { type Asking, createAsking, keepConsent } from "./human.ts";
import { checkPrice, modelChoice, priceWarning } from "./models.ts";
import { realDirectory } from "./real-directory.ts";

/** What is determined before a run starts. */
export type Setup = {
  request: RunRequest;
  host: RunHost;
  asking: Asking;
  workspace: string;
  roots: string[];
  configDir: string;
  home: string;
  /** Whether the workspace is trusted, by the request or from before. */
  trusted: boolean;
  settings: Settings;
  /** The rules of the settings and of this run, and the built-in one that hides saved keys from the agent. */
  rules: readonly Rule[];
  /** The checkout that this worktree was created from. Its restrictions apply here too, even uncommitted ones. */
  standsFor?: string;
  /** Folders of a worktree's repository that commands in the sandbox must be able to read. */
  borrowed?: readonly string[];
  model: ResolvedModel;
  mode: PermissionMode;
  limits: { maxTurns?: number; maxTurnsPerPrompt: number; maxTimeMs?: number; maxCost?: number };
  /** The installed plugins; their contents are read where they are used. */
  plugins: readonly Plugin[];
  warnings: string[];
};

/** Prepares a run. Throws a UserError if it cannot start. With `gate`, the workspace must be trusted. */
export async function setUp(requested: RunRequest, host: RunHost, { gate } = { gate: true }): Promise<Setup> {
  const asked = readRunRequest(requested);
  const { env } = host;
  const workspace = realDirectory(asked.workspace, "--workspace");
  const roots = (asked.roots ?? []).map((path) => realDirectory(path, "--add-dir"));
  const config = configDir(env);
  const asking = createAsking(host.human, host.signal, { waiting: host.waiting, newId: host.seams?.newId });

  const isKnown = asked.trust === true || isTrusted(config, workspace);
  const isAsked = gate && !isKnown && !asked.force;
  const answer = isAsked ? await asking.ask({ type: "trust", workspace }) : undefined;
  const isGranted = answer?.type === "yes";
  host.signal?.throwIfAborted();
  if (isAsked && !isGranted) throw untrustedError(workspace);
  // If the user agreed, trust the workspace from now on, like --trust does, unless the answer was for this run only.
  const request = isGranted && answer.grant !== "run" ? { ...asked, trust: true } : asked;
  const trusted = isKnown || isGranted;
  const trustWarnings: string[] = [];
  // Save the trust before anything else can fail.
  if (request.trust && gate) {
    if (!isTrusted(config, workspace) && isWide(workspace, homeDir(env)))
      trustWarnings.push(
        `${workspace} is trusted from now on, although it contains more than one project: settings, hooks and servers found there are used. To undo: ${programName()} trust remove ${workspace}`,
      );
    keepConsent(
      () => trust(config, workspace),
      `The trust in ${workspace} applies`,
      (message) => trustWarnings.push(message),
    );
  }

  const settings = loadSettings({ configDir: config, workspace, trusted });
  const { plugins, warnings } = await pluginsOf(config, request);
  const worktree = await worktreeOf(config, workspace);
  const standsFor = worktree && join(worktree.source, relative(realPathOrSame(worktree.path), workspace));
  const model = {
    ...resolveModel(modelChoice({ ...host, ...request }, settings, config)),
    ...host.seams?.modelInfo,
    ...(request.price && { price: request.price }),
  };
  const limits = request.limits ?? {};
  const { fallbackModels = settings.courser.fallbackModels } = request;
  checkPrice(model, limits.maxCost, fallbackModels);
  return {
    request,
    host,
    asking,
    workspace,
    roots,
    configDir: config,
    home: homeDir(env),
    trusted,
    settings,
    rules: [
      ...settings.rules,
      ...(standsFor === undefined ? [] : projectDenyRules(config, standsFor)),
      ...rulesOfRun(request),
      ...builtInRules(config),
    ],
    ...(standsFor !== undefined && { standsFor }),
    ...(worktree && { borrowed: [worktree.objects] }),
    model,
    mode: initialMode(request, settings),
    limits: { ...limits, maxTurnsPerPrompt: limits.maxTurns ?? settings.courser.maxTurns ?? 500 },
    plugins,
    warnings: [
      ...trustWarnings,
      ...settings.warnings,
      ...warnings,
      ...foreignKeyWarning(host),
      ...(host.insecure ? ["The TLS certificate of the model's server is not verified (--insecure)."] : []),
      ...(model.notice ? [model.notice] : []),
      ...priceWarning(model),
    ],
  };
}

/** Loads plugins. Most runs have none, and load nothing for them. */
async function pluginsOf(config: string, { pluginDirs = [] }: RunRequest): Promise<Plugins> {
  if (pluginDirs.length === 0 && !existsSync(join(config, "plugins"))) return { plugins: [], warnings: [] };
  return (await import("../store/plugins/installed.ts")).loadPlugins(config, pluginDirs);
}

async function worktreeOf(config: string, workspace: string): Promise<Worktree | undefined> {
  if (!workspace.startsWith(join(realPathOrSame(config), "worktrees", sep))) return undefined;
  return (await import("../worktrees/records.ts")).worktreeAt(config, workspace);
}

function rulesOfRun({ permissions = {} }: RunRequest): Rule[] {
  return (["allow", "deny"] as const).flatMap((verdict) =>
    (permissions[verdict] ?? []).flatMap((text) => {
      const parsed = parseRule(text, { verdict, scope: "user", source: `--${verdict}` });
      return "rule" in parsed ? [parsed.rule] : []; // the request was validated before
    }),
  );
}

/** Warns about a key of `cursor-agent`, which does not work here and must not be sent to vendors. */
function foreignKeyWarning({ env, apiKey }: RunHost): string[] {
  const keySources = { "--api-key": apiKey, CURSOR_API_KEY: env["CURSOR_API_KEY"] };
  return Object.entries(keySources)
    .filter(([, key]) => key !== undefined && isForeignKey(key.trim()))
    .map(
      ([name]) => `${name} contains a key for Cursor's own service and is not used: use a key of the model's vendor.`,
    );
}

function initialMode({ mode, force }: RunRequest, { approvalMode }: Settings): PermissionMode {
  if (mode === "plan" || mode === "ask") return mode;
  return force || approvalMode === "unrestricted" ? "force" : "default";
}

/** Builds the error for an untrusted workspace, also for callers that do not start a run. */
export function untrustedError(workspace: string): UserError {
  return new UserError(
    "UNTRUSTED",
    `Workspace Trust Required\n\n  ${workspace}\n\nThe agent reads and changes files here and follows this project's instructions.\nPass --trust, --yolo, or -f if you trust this directory; --trust is remembered.`,
  );
}

/** Describes the setup of a run for debug output. */
export function describeSetup({ workspace, roots, configDir, settings, model, mode, host }: Setup): string[] {
  const rules = settings.rules.map((rule) => `${rule.verdict} ${rule.text}`).join(", ");
  const at = model.baseUrl ? ` at ${model.baseUrl}` : "";
  return [
    `courser ${host.version}, node ${process.version}, ${process.platform}-${process.arch}`,
    `workspace ${[workspace, ...roots].join(", ")}; config ${configDir}; mode ${mode}`,
    `model ${model.id} (${model.displayName}) of ${model.vendor}${at}, key: ${model.apiKeySource}`,
    `rules ${rules === "" ? "none" : rules}`,
  ];
}
