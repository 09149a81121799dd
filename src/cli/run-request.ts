// Turns flags into a RunRequest and a RunHost. Code below this file knows nothing about flags.
import { readFileSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { definedFields } from "../json/object.ts";
import { UserError, usageError } from "../protocol/error-codes.ts";
import { type ProfileName, profileNames } from "../protocol/profiles.ts";
import {
  type ChatChoice,
  type EndpointType,
  type FailReason,
  failReasons,
  type ReasoningEffort,
  type RunRequest,
} from "../protocol/run.ts";
import type { RunHost } from "../run/host.ts";
import { realDirectory } from "../run/real-directory.ts";
import { isChatId } from "../store/chats/layout.ts";
import { didYouMean } from "../text/nearest.ts";
import { systemErrorText } from "../text/system-error.ts";
import { type FlagValues, flagList, flagText } from "./flags.ts";
import type { Invocation } from "./main.ts";
import { learnSecrets, withoutSecrets, writeStderr } from "./stdout.ts";

/** Builds the request for a run from the flags. In print mode it has a single prompt. */
export function runRequest(invocation: Invocation, frontEnd: "print" | "terminal"): RunRequest {
  const { env, name } = invocation;
  const { flags } = invocation.line;
  const limits = limitsOf(flags);
  const workspace = realDirectory(flagText(flags, "workspace") ?? ".", "--workspace");
  const roots = flagList(flags, "add-dir").map((path) => realDirectory(path, "--add-dir"));
  const schema = flagText(flags, "json-schema");
  return definedFields({
    workspace,
    worktree: worktreeOf(flags),
    roots,
    chat: chatFromFlags(flags, name),
    ephemeral: isOn(flags, "no-persist"),
    mode: modeFromFlags(flags),
    force: isOn(flags, "force") ?? isOn(flags, "yolo"),
    trust: isOn(flags, "trust"),
    ...modelFlags(flags),
    fallbackModels: namesOf(flags, "fallback-model"),
    systemPrompt: flagText(flags, "system-prompt"),
    appendSystemPrompt: flagText(flags, "append-system-prompt"),
    allowedTools: namesOf(flags, "allowed-tools"),
    disallowedTools: namesOf(flags, "disallowed-tools"),
    permissions: rulesOf(flags),
    browser: isOn(flags, "browser"),
    ...serverFlags(flags),
    pluginDirs: flagList(flags, "plugin-dir").map((folder) => realDirectory(folder, "--plugin-dir")),
    hooks: flagList(flags, "hooks").map((given) => fileOrJson(given)),
    withoutLocalHooks: isOn(flags, "without-local-hooks"),
    sandbox: flagText(flags, "sandbox") as RunRequest["sandbox"],
    autoReview: isOn(flags, "auto-review"),
    askCommand: flagText(flags, "ask-command"),
    ...proofFlags(flags),
    single: frontEnd === "print" && flagText(flags, "input-format") !== "stream-json" ? true : undefined,
    limits,
    answerSchema: schema === undefined ? undefined : readSchema(schema),
    compat: profileNamed(env["COURSER_COMPAT"]),
  });
}

/** Returns the profile, which is the version of the stream-json format. Throws for an unknown one instead of using the current one. */
function profileNamed(profileText: string | undefined): ProfileName | undefined {
  if (profileText === undefined || profileText === "") return undefined;
  const name = profileNames.find((one) => one === profileText);
  if (name) return name;
  const profileList = profileNames.join(" or ");
  throw usageError(
    `COURSER_COMPAT is "${profileText}", which is not a version of the stream. Set it to ${profileList}, or unset it.`,
  );
}

/**
 * Builds the request with its worktree created, for front ends that must know the workspace before the run starts. Prints
 * notices on stderr.
 */
export async function settledRequest(invocation: Invocation, frontEnd: "print" | "terminal"): Promise<RunRequest> {
  const request = runRequest(invocation, frontEnd);
  if (!request.worktree) return request;
  const { inWorktree } = await import("../run/worktree.ts");
  const prepared = await inWorktree(request, runHost(invocation));
  for (const notice of prepared.notices) writeStderr(`${notice}\n`);
  return prepared.request;
}

export function modelFlags(flags: FlagValues): Pick<RunRequest, "model" | "effort" | "endpoint" | "endpointType"> {
  return {
    model: flagText(flags, "model"),
    effort: flagText(flags, "effort") as ReasoningEffort | undefined,
    endpoint: flagText(flags, "endpoint"),
    endpointType: flagText(flags, "endpoint-type") as EndpointType | undefined,
  };
}

export function serverFlags(flags: FlagValues): Pick<RunRequest, "mcpConfigs" | "approvedServers"> {
  return {
    mcpConfigs: flagList(flags, "mcp-config").map((given) => fileOrJson(given)),
    approvedServers: flags.has("approve-mcps") ? "all" : flagList(flags, "approve-mcp"),
  };
}

export function runHost({ line: { flags }, env, name, version }: Invocation): RunHost {
  const log = flagText(flags, "log") ?? env["COURSER_LOG"];
  return {
    program: name,
    version,
    env,
    apiKey: flagText(flags, "api-key"),
    tokenCommand: flagText(flags, "token-command"),
    headers: flagList(flags, "header"),
    ...(flags.has("insecure") && { insecure: true }),
    redact: withoutSecrets,
    learnSecrets,
    ...(log && { log: resolve(log) }),
    warn: (message) => writeStderr(`Warning: ${message}\n`),
  };
}

function isOn(flags: FlagValues, name: string): true | undefined {
  return flags.has(name) ? true : undefined;
}

/** Splits comma-separated lists, repeated or not. Returns undefined if the flag was not given. */
function namesOf(flags: FlagValues, name: string): string[] | undefined {
  if (!flags.has(name)) return undefined;
  return flagList(flags, name)
    .flatMap((list) => list.split(","))
    .map((each) => each.trim())
    .filter((each) => each !== "");
}

/** Returns the permission rules of flags. Each flag contains one rule, since rules may contain commas. */
function rulesOf(flags: FlagValues): RunRequest["permissions"] {
  if (!flags.has("allow") && !flags.has("deny")) return undefined;
  return { allow: flagList(flags, "allow"), deny: flagList(flags, "deny") };
}

function fileOrJson(fileOrText: string): string {
  return fileOrText.trimStart().startsWith("{") ? fileOrText : resolve(fileOrText);
}

function worktreeOf(flags: FlagValues): RunRequest["worktree"] {
  const name = flagText(flags, "worktree");
  const base = flagText(flags, "worktree-base");
  const skipSetup = isOn(flags, "skip-worktree-setup");
  if (flags.has("worktree")) return definedFields({ name, base, skipSetup });
  const alone = base !== undefined ? "--worktree-base" : skipSetup ? "--skip-worktree-setup" : undefined;
  if (alone !== undefined) throw usageError(`${alone} needs --worktree. Example: -w fix-login ${alone}`);
  return undefined;
}

function modeFromFlags(flags: FlagValues): RunRequest["mode"] {
  const named = flagText(flags, "mode") as RunRequest["mode"];
  if (flags.has("plan") && named !== undefined && named !== "plan") {
    throw usageError(`--plan and --mode ${named} are mutually exclusive. Choose one.`);
  }
  return flags.has("plan") ? "plan" : named;
}

function chatFromFlags(flags: FlagValues, program: string): ChatChoice {
  const name = flagText(flags, "name");
  return { ...chosenChat(flags, program), ...(name && { name }) };
}

function chosenChat(flags: FlagValues, program: string): ChatChoice {
  const resumed = flags.has("resume") || flags.has("continue");
  const fork = flags.has("fork");
  const sessionId = flagText(flags, "session-id");
  if (fork && !resumed) throw usageError(`--fork needs a chat to copy: ${program} --resume <chatId> --fork "…"`);
  if (sessionId !== undefined && resumed && !fork)
    throw usageError("--session-id names a new chat; together with --resume it needs --fork.");
  if (sessionId !== undefined && !isChatId(sessionId))
    throw usageError(`--session-id '${sessionId}' is not a UUID. Make one with: ${program} create-chat`);
  const id = sessionId?.toLowerCase();
  const either = flagText(flags, "resume-or-new");
  if (either !== undefined) return resumeOrNew(either, resumed || sessionId !== undefined, program);
  if (!resumed) return { type: "new", ...(id !== undefined && { id }) };
  const chat = { type: "resume", id: flagText(flags, "resume") ?? "-1" } as const;
  return fork ? { ...chat, fork, ...(id !== undefined && { newId: id }) } : chat;
}

function resumeOrNew(id: string, isChosen: boolean, program: string): ChatChoice {
  if (isChosen)
    throw usageError("--resume-or-new already says which chat: leave out --resume, --continue and --session-id.");
  if (!isChatId(id)) throw usageError(`--resume-or-new '${id}' is not a UUID. Make one with: ${program} create-chat`);
  return { type: "resume", id, orNew: true };
}

export function proofFlags(flags: FlagValues): Pick<RunRequest, "failOn" | "requiredServers" | "price"> {
  const failOn = namesOf(flags, "fail-on");
  const wrong = failOn?.find((name) => !(failReasons as readonly string[]).includes(name));
  if (wrong !== undefined)
    throw usageError(
      `--fail-on '${wrong}' is not known: it takes ${failReasons.join(", ")}.${didYouMean(wrong, failReasons)}`,
    );
  const price = flagText(flags, "price");
  const amounts = price?.split(",").map((each) => (/^\d+(\.\d+)?$/.test(each.trim()) ? Number(each) : Number.NaN));
  if (amounts && (amounts.length !== 2 || amounts.some(Number.isNaN)))
    throw usageError(`--price '${price}' is not two prices in dollars for a million tokens. Example: --price 3,15`);
  return {
    failOn: failOn as readonly FailReason[] | undefined,
    requiredServers: namesOf(flags, "require-mcp"),
    price: amounts && { input: amounts[0]!, output: amounts[1]! },
  };
}

export function durationFlag(flags: FlagValues, name: string): number | undefined {
  const flagValue = flagText(flags, name);
  return flagValue === undefined ? undefined : milliseconds(flagValue, name);
}

export function limitsOf(flags: FlagValues): NonNullable<RunRequest["limits"]> {
  const turns = flagText(flags, "max-turns");
  const time = flagText(flags, "max-time");
  const cost = flagText(flags, "max-cost");
  if (turns !== undefined && !/^[1-9]\d*$/.test(turns))
    throw usageError(`--max-turns '${turns}' is not a positive integer. Example: --max-turns 20`);
  if (cost !== undefined && !(/^\d+(\.\d+)?$/.test(cost) && Number(cost) > 0))
    throw usageError(`--max-cost '${cost}' is not an amount in dollars. Example: --max-cost 0.50`);
  return {
    ...(turns !== undefined && { maxTurns: Number(turns) }),
    ...(time !== undefined && { maxTimeMs: milliseconds(time, "max-time") }),
    ...(cost !== undefined && { maxCost: Number(cost) }),
  };
}

const unitMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function milliseconds(text: string, flag: string): number {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text);
  const value = match ? Number(match[1]) * unitMs[(match[2] ?? "s") as keyof typeof unitMs] : 0;
  if (value <= 0) throw usageError(`--${flag} '${text}' is not a duration. Examples: --${flag} 90s, --${flag} 5m`);
  return value;
}

const longestSchema = 2 ** 20;

/** Reads a JSON Schema, given directly or as the path of a file. */
function readSchema(fileOrText: string): unknown {
  const isInline = /^\s*\{/.test(fileOrText);
  try {
    if (!isInline && statSync(resolve(fileOrText)).size > longestSchema) throw new Error("it has more than 1 MiB");
    return JSON.parse(isInline ? fileOrText : readFileSync(resolve(fileOrText), "utf8").replace(/^\uFEFF/, ""));
  } catch (error) {
    if (error instanceof SyntaxError)
      throw usageError(
        `--json-schema${isInline ? "" : ` ${fileOrText}`} is not valid JSON. Example: --json-schema '{"type": "object"}'`,
      );
    throw new UserError(
      "FILE_UNREADABLE",
      `--json-schema ${fileOrText}: the file cannot be read: ${systemErrorText(error)}. A schema can also be given inline: --json-schema '{"type": "object"}'`,
    );
  }
}
