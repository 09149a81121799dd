// From a run that is to be to the CLI that carries it out: a RunRequest in the words of `openLive`, or of our own flags.
import { UserError } from "../protocol/error-codes.ts";
import type { RunRequest } from "../protocol/run.ts";
import type { LiveOptions } from "../sdk/live/session.ts";
import type { UnifiedTool } from "../sdk/unified.ts";
import type { CliName, RunSpec } from "./fleet.ts";

export function toolOf(cli: CliName): UnifiedTool {
  return cli === "courser" ? "cursor" : cli;
}

/** `program`: how this program is started. Throws UserError for what a CLI has no word for and must not be left out. */
export function liveOptions({ cli, request }: RunSpec, program: readonly string[]): LiveOptions {
  const { chat, mode, force } = request;
  const isOurs = cli === "courser";
  if (!isOurs) refuseOurOwn(request, cli);
  return {
    tool: toolOf(cli),
    cwd: request.workspace,
    permissionMode: force ? "force" : mode === "plan" ? "plan" : "default",
    ...(request.trust && { trust: true }),
    ...(request.model !== undefined && { model: request.model }),
    ...(request.roots?.length && { addDirs: request.roots }),
    ...(request.systemPrompt !== undefined && { systemPrompt: request.systemPrompt }),
    ...(request.appendSystemPrompt !== undefined && { appendSystemPrompt: request.appendSystemPrompt }),
    ...(request.allowedTools && { allowedTools: request.allowedTools }),
    ...(request.disallowedTools && { disallowedTools: request.disallowedTools }),
    ...(request.permissions && { permissions: request.permissions }),
    ...(request.sandbox && { sandbox: request.sandbox === "enabled" }),
    ...(chat?.type === "resume" && { resume: chat.id === "-1" ? true : chat.id, ...(chat.fork && { fork: true }) }),
    ...(isOurs && { executable: program, extraArgs: ownFlags(request) }),
  };
}

type FlagOf = (request: RunRequest) => readonly (string | undefined)[];

/** Fields that only our CLI knows, each as its flags. */
const ownFields: Readonly<Partial<Record<keyof RunRequest, FlagOf>>> = {
  unkept: () => ["--no-persist"],
  effort: ({ effort }) => ["--effort", effort],
  fallbackModels: ({ fallbackModels = [] }) => fallbackModels.flatMap((model) => ["--fallback-model", model]),
  endpoint: ({ endpoint }) => ["--endpoint", endpoint],
  endpointType: ({ endpointType }) => ["--endpoint-type", endpointType],
  browser: () => ["--browser"],
  mcpConfigs: ({ mcpConfigs = [] }) => mcpConfigs.flatMap((config) => ["--mcp-config", config]),
  approvedServers: ({ approvedServers = [] }) =>
    approvedServers === "all" ? ["--approve-mcps"] : approvedServers.flatMap((name) => ["--approve-mcp", name]),
  hooks: ({ hooks = [] }) => hooks.flatMap((hook) => ["--hooks", hook]),
  autoReview: () => ["--auto-review"],
  askCommand: ({ askCommand }) => ["--ask-command", askCommand],
  limits: ({ limits: { maxTurns, maxTimeMs, maxCost } = {} }) => [
    ...(maxTurns === undefined ? [] : ["--max-turns", String(maxTurns)]),
    ...(maxTimeMs === undefined ? [] : ["--max-time", `${maxTimeMs}ms`]),
    ...(maxCost === undefined ? [] : ["--max-cost", String(maxCost)]),
  ],
  failOn: ({ failOn = [] }) => ["--fail-on", failOn.join(",")],
  requiredServers: ({ requiredServers = [] }) => requiredServers.flatMap((name) => ["--require-mcp", name]),
  price: ({ price }) => ["--price", price && `${price.input},${price.output}`],
  answerSchema: ({ answerSchema }) => ["--json-schema", JSON.stringify(answerSchema)],
};

function ownFlags(request: RunRequest): string[] {
  const { chat, mode, force } = request;
  const flags = Object.entries(ownFields).flatMap(([field, flagsOf]) =>
    isGiven(request, field as keyof RunRequest) ? flagsOf(request) : [],
  );
  // `plan` alone is a permission mode of every CLI.
  if (mode !== undefined && (mode !== "plan" || force)) flags.push("--mode", mode);
  const id = chat?.type === "new" ? chat.id : chat?.newId;
  if (id !== undefined) flags.push("--session-id", id);
  return flags.filter((flag) => flag !== undefined);
}

/** No run goes without a limit or a rule that it was to have. */
function refuseOurOwn(request: RunRequest, cli: CliName): void {
  const unknown = (Object.keys(ownFields) as (keyof RunRequest)[]).filter((field) => isGiven(request, field));
  if (request.mode === "ask") unknown.push("mode");
  if (request.chat?.type === "new" && request.chat.id !== undefined) unknown.push("chat");
  if (unknown.length === 0) return;
  throw new UserError("USAGE", `${cli} has no word for ${unknown.join(", ")}. Leave it out, or run courser.`);
}

function isGiven(request: RunRequest, field: keyof RunRequest): boolean {
  const value = request[field];
  if (value === undefined || value === false) return false;
  return typeof value !== "object" || value === null || Object.keys(value).length > 0;
}
