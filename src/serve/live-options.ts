// Translates a run's request into options for another vendor's CLI. This program's own CLI gets the request itself: see host-run.ts.
import { usageError } from "../protocol/error-codes.ts";
import type { RunRequest } from "../protocol/run.ts";
import type { LiveOptions } from "../sdk/live/session.ts";
import type { UnifiedTool } from "../sdk/unified.ts";
import type { CliName, RunSpec } from "./fleet.ts";

export function toolForCli(cli: CliName): UnifiedTool {
  return cli === "courser" ? "cursor" : cli;
}

/** `"refused"`: the CLI has no such option, and a run must not start without a limit or rule that was requested. */
type Projection<Name extends keyof RunRequest> =
  | "refused"
  | ((value: NonNullable<RunRequest[Name]>, request: RunRequest) => LiveOptions | "refused");

/** Drops a field that only concerns our program and means nothing to another CLI. */
const ofOurs = () => ({});

const projections: { [Name in keyof Required<RunRequest>]: Projection<Name> } = {
  workspace: (cwd) => ({ cwd }),
  worktree: "refused",
  roots: (addDirs) => ({ addDirs }),
  chat(chat) {
    if (chat.name !== undefined) return "refused";
    if (chat.type === "new") return chat.id === undefined ? {} : "refused";
    if (chat.orNew || chat.newId !== undefined) return "refused";
    return { resume: chat.id === "-1" ? true : chat.id, ...(chat.fork && { fork: true }) };
  },
  ephemeral: "refused",
  mode: (mode, { force }) => {
    if (mode === "ask") return "refused";
    return mode === "plan" && !force ? { permissionMode: "plan" } : mode === "plan" ? { mode } : {};
  },
  force: () => ({ permissionMode: "force" }),
  trust: (trust) => ({ trust }),
  model: (model) => ({ model }),
  effort: "refused",
  fallbackModels: "refused",
  endpoint: "refused",
  endpointType: "refused",
  systemPrompt: (systemPrompt) => ({ systemPrompt }),
  appendSystemPrompt: (appendSystemPrompt) => ({ appendSystemPrompt }),
  allowedTools: (allowedTools) => ({ allowedTools }),
  disallowedTools: (disallowedTools) => ({ disallowedTools }),
  permissions: (permissions) => ({ permissions }),
  browser: "refused",
  mcpConfigs: "refused",
  approvedServers: "refused",
  approvedServerCalls: ofOurs,
  pluginDirs: "refused",
  hooks: "refused",
  withoutLocalHooks: ofOurs,
  sandbox: (sandbox) => ({ sandbox: sandbox === "enabled" }),
  unlistedCommands: (what) => (what === "sandbox" ? {} : "refused"),
  autoReview: "refused",
  askCommand: "refused",
  single: ofOurs,
  failOn: "refused",
  requiredServers: "refused",
  price: "refused",
  limits: "refused",
  answerSchema: "refused",
  compat: ofOurs,
};

/** Converts a run request to SDK options for its CLI. Throws a UserError for fields that it lacks and that must not be dropped. */
export function liveOptions({ cli, request }: RunSpec): LiveOptions {
  const lossTexts = (Object.keys(projections) as (keyof RunRequest)[]).flatMap((name) => {
    const projection = projections[name] as Projection<keyof RunRequest>;
    const value = request[name];
    if (!isFieldSet(name, value)) return [];
    return [{ name, options: projection === "refused" ? projection : projection(value as never, request) }];
  });
  const refused = lossTexts.flatMap(({ name, options }) => (options === "refused" ? [name] : []));
  if (refused.length > 0)
    throw usageError(`${cli} has no word for ${refused.join(", ")}. Leave it out, or run courser.`);
  return Object.assign({ tool: toolForCli(cli) }, ...lossTexts.map(({ options }) => options));
}

/** Returns whether a field is set. Empty lists count as absent, except in `allowedTools`, where they allow no tools. */
function isFieldSet(name: keyof RunRequest, value: unknown): boolean {
  if (value === undefined || value === false) return false;
  return name === "allowedTools" || typeof value !== "object" || value === null || Object.keys(value).length > 0;
}
