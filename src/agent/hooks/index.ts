// Runs hooks: fires all hooks of an event in parallel and merges their answers. The strictest wins.
import { setMaxListeners } from "node:events";
import { isObject, type JsonObject, tryParse } from "../../json/object.ts";
import type { Verdict } from "../../policy/need.ts";
import { type HookEventName, hookEvents, openFields } from "../../protocol/hook-events.ts";
import { redactedStart } from "../../redact/shorten.ts";
import type { Hook } from "../../store/hook-files.ts";
import type { HookTrace, HookTraceLine } from "../../store/hook-trace.ts";
import { collapsed } from "../../text/one-line.ts";
import { type ProcessRunner, toolEnvironment } from "../process.ts";
import type { Tool } from "../tools/tool.ts";
import { type HookReply, isGate, strictestVerdict } from "./answer.ts";
import { createMatcher, type Matcher, subjectsOf } from "./matching.ts";
import { type AskModel, type HookRun, runHook } from "./run-hook.ts";

export type { AskModel } from "./run-hook.ts";

/** The merged answer of all hooks of an event. Texts of a higher level come first. */
export type HookAnswer = {
  permission?: Verdict;
  /** The reasons given by the hooks whose decision applies. */
  reasons: string[];
  /** Messages to show to the user. */
  messages: string[];
  updatedInput?: JsonObject;
  /** Set if other hooks ran for this event besides the one that returned `updatedInput`. */
  hasOthers?: boolean;
  context: string[];
  followup?: string;
  mcpOutput?: JsonObject;
};

/** Fields about the run that every hook payload contains. */
export type HookSession = {
  sessionId: string;
  model: string;
  version: string;
  workspace: string;
  roots: readonly string[];
  transcriptPath: string | null;
  /** The permission mode: default, force, plan or ask. */
  mode: string;
};

export type HooksOptions = {
  /** All configured hooks, ordered by level from the highest to the lowest. */
  hooks: readonly Hook[];
  session: HookSession;
  processes: ProcessRunner;
  env?: NodeJS.ProcessEnv;
  /** Secret values in use, which are removed from the hooks' environment under any name. */
  keys?: readonly string[];
  askModel?: AskModel;
  warn(message: string): void;
  trace?: HookTrace;
};

/** `tool` is our name of the tool that a call is about; `names` are all names that a matcher may use for it. */
export type FireOptions = { signal: AbortSignal; tool?: string; names?: readonly string[] };

export interface Hooks {
  has(event: HookEventName): boolean;
  /** Runs the hooks of an event and combines their answers. Never throws: a failure is part of the answer. */
  fire(event: HookEventName, fields: JsonObject, options: FireOptions): Promise<HookAnswer>;
  /** The request id of the current prompt, sent as `generation_id`. */
  generationId: string;
}

type PreparedHook = { hook: Hook; matches: Matcher };

export function createHooks({ hooks, session, processes, env, keys, askModel, warn, trace }: HooksOptions): Hooks {
  const warned = new Set<string>();
  // Warn only once about a broken hook, since it fails at every call.
  const warnOnce = (message: string) => {
    if (!warned.has(message)) warn(message);
    warned.add(message);
  };
  const byEvent = new Map<HookEventName, PreparedHook[]>();
  for (const hook of hooks) {
    const list = byEvent.get(hook.event) ?? [];
    byEvent.set(hook.event, [...list, { hook, matches: createMatcher(hook, warnOnce) }]);
  }
  const hookEnv = env ?? process.env;
  const asked = ({ variables = [] }: Hook) =>
    Object.fromEntries(variables.flatMap((name) => (hookEnv[name] === undefined ? [] : [[name, hookEnv[name]]])));
  const context = { processes, env: environmentOf(session, hookEnv, keys), asked, ...(askModel && { askModel }) };
  let generationId = "";

  async function fire(event: HookEventName, fields: JsonObject, options: FireOptions): Promise<HookAnswer> {
    const list = byEvent.get(event) ?? [];
    if (list.length === 0) return noAnswer;
    const payloads = payloadsOf(event, fields, options.tool);
    const asked = list.filter(({ hook, matches }) => {
      const compared = subjectsOf(hook, payloads[hook.format].value, options.names);
      return !compared || matches(compared.subjects, compared.isName);
    });
    // Create one signal for all hooks, which has no limit on listeners.
    const signal = AbortSignal.any([options.signal]);
    setMaxListeners(0, signal);
    const loopCount = Number(fields["loop_count"] ?? 0);
    const runs = await Promise.all(
      asked.map(({ hook }) => runOneHook(hook, payloads[hook.format].text(), loopCount, signal)),
    );
    for (const { env: more } of [...runs].reverse()) context.env = { ...context.env, ...more };
    return { ...mergeReplies(runs), hasOthers: list.length > 1 };
  }

  async function runOneHook(hook: Hook, payload: string, loopCount: number, signal: AbortSignal): Promise<HookReply> {
    const at = new Date().toISOString();
    const run = await runHook(hook, { payload, context, signal });
    const reply = settleReply(hook, run.reply, loopCount);
    for (const warning of reply.warnings) warnOnce(`The hook ${hookLabel(hook)}: ${warning}.`);
    trace?.({ at, ...traceLine(hook, run, reply) });
    return reply;
  }

  function payloadsOf(event: HookEventName, fields: JsonObject, tool: string | undefined) {
    const common: JsonObject = {
      conversation_id: session.sessionId,
      generation_id: generationId,
      session_id: session.sessionId,
      model: session.model,
      hook_event_name: event,
      cursor_version: session.version,
      workspace_roots: [session.workspace, ...session.roots],
      user_email: null,
      transcript_path: session.transcriptPath,
    };
    const commonFields =
      event === "workspaceOpen" ? openFields.map((key) => [key, common[key]]) : Object.entries(common);
    const value: JsonObject = { ...Object.fromEntries(commonFields), ...fields };
    const { workspace, mode } = session;
    const claude = claudePayload(event, value, { workspace, mode, ...(tool !== undefined && { tool }) });
    return { cursor: serializeLazily(value), claude: serializeLazily(claude) };
  }

  return {
    has: (event) => byEvent.has(event),
    fire,
    get generationId() {
      return generationId;
    },
    set generationId(id) {
      generationId = id;
    },
  };
}

const noAnswer: HookAnswer = { reasons: [], messages: [], context: [] };

/** Serializes a payload lazily and only once, since it may be large. */
function serializeLazily(value: JsonObject): { value: JsonObject; text(): string } {
  let text: string | undefined;
  return { value, text: () => (text ??= JSON.stringify(value)) };
}

/** Applies the loop limit, and turns a failure into a verdict or a warning. */
function settleReply(hook: Hook, reply: HookReply, loopCount: number): HookReply {
  if (reply.followup !== undefined && hook.loopLimit !== null && loopCount >= hook.loopLimit) {
    const { followup: _dropped, ...rest } = reply;
    const warning = `its follow-up was dropped: "loop_limit" is ${hook.loopLimit}`;
    return { ...rest, warnings: [...reply.warnings, warning] };
  }
  const { failure, cutOff } = reply;
  if (failure === undefined) return reply;
  const withWarning = (what: string) => ({ ...reply, warnings: [...reply.warnings, `${what}: ${failure}`] });
  // The hook was stopped together with the run, so it has not failed. If it decides about a call, it must not count as
  // approval.
  if (cutOff === "stopped") return isGate(hook.event) ? { ...reply, permission: "deny", reason: failure } : reply;
  if (!isGate(hook.event)) return withWarning("it failed");
  if (hook.failClosed) {
    return { ...withWarning("it failed"), permission: "deny", reason: `it is required ("failClosed"), and ${failure}` };
  }
  if (cutOff && hook.failClosed === undefined && hookEvents[hook.event].effect === "permit") {
    const reason = `${failure}, so it has not allowed it ("failClosed": false lets calls pass without it)`;
    return { ...withWarning("it failed"), permission: "deny", reason };
  }
  return withWarning('it failed and was ignored ("failClosed": true would refuse)');
}

function mergeReplies(replies: readonly HookReply[]): HookAnswer {
  const permission = strictestVerdict(replies.map((reply) => reply.permission));
  const deciding = permission ? replies.filter((reply) => reply.permission === permission) : [];
  const updatedInput = replies.find((reply) => reply.updatedInput)?.updatedInput;
  const followup = replies.find((reply) => reply.followup !== undefined)?.followup;
  const mcpOutput = replies.find((reply) => reply.mcpOutput)?.mcpOutput;
  const texts = (list: readonly (string | undefined)[]) => [...new Set(list.filter((text) => text !== undefined))];
  return {
    ...(permission && { permission }),
    reasons: texts(deciding.map((reply) => reply.reason ?? reply.message)),
    messages: texts([...deciding, ...replies].map((reply) => reply.message)),
    ...(updatedInput && { updatedInput }),
    context: texts(replies.map((reply) => reply.context)),
    ...(followup !== undefined && { followup }),
    ...(mcpOutput && { mcpOutput }),
  };
}

function environmentOf(
  session: HookSession,
  env: NodeJS.ProcessEnv,
  keys: readonly string[] | undefined,
): Record<string, string> {
  return {
    ...toolEnvironment(env, keys),
    CURSOR_PROJECT_DIR: session.workspace,
    CLAUDE_PROJECT_DIR: session.workspace,
    CURSOR_VERSION: session.version,
    // Lets a script detect Courser: CURSOR_VERSION alone looks like that of `cursor-agent`.
    COURSER_VERSION: session.version,
    ...(session.transcriptPath !== null && { CURSOR_TRANSCRIPT_PATH: session.transcriptPath }),
  };
}

/** Words for the trace of what a hook answered; the empty word stands for its permission decision. */
const answers: [word: string, holds: (reply: HookReply) => boolean][] = [
  ["", ({ permission }) => permission !== undefined],
  ["failed", ({ failure }) => failure !== undefined],
  ["follow-up", ({ followup }) => followup !== undefined],
  ["context", ({ context }) => context !== undefined],
];

function traceLine(hook: Hook, { exit, ms }: HookRun, reply: HookReply): Omit<HookTraceLine, "at"> {
  const answerName = answers.find(([, holds]) => holds(reply))?.[0] ?? "nothing";
  return {
    event: hook.event,
    source: `${hook.file} ${hook.entry}`,
    command: hook.command ?? hook.prompt ?? "",
    ms,
    exit,
    answer: answerName === "" ? reply.permission! : answerName,
    note: [reply.failure, reply.reason, reply.message, ...reply.warnings].filter(Boolean).join("; "),
  };
}

function hookLabel({ command, prompt, file }: Hook): string {
  return `${redactedStart(collapsed(command ?? prompt ?? ""), 60)} (${file})`;
}

/** Returns a tool's names for hooks: `hookName` in Cursor's payloads, `tool` as the base for Claude's, `names` for matchers. */
export function toolNames({ name, mcp }: Pick<Tool, "name" | "mcp">): {
  hookName: string;
  tool: string;
  names: string[];
} {
  const hookName = mcp ? `MCP:${mcp.tool}` : name === "Edit" ? "Write" : name;
  const tool = mcp ? `mcp__${mcp.server}__${mcp.tool}` : name;
  return { hookName, tool, names: [...new Set([hookName, name, claudeToolNames[tool] ?? tool])] };
}

const claudeToolNames: Record<string, string> = { Shell: "Bash", Edit: "Edit", Await: "BashOutput" };

/** Additional payload fields that Claude Code sends for each event. */
const extras: Partial<Record<HookEventName, (payload: JsonObject) => JsonObject>> = {
  sessionStart: ({ is_resumed }) => ({ source: is_resumed === true ? "resume" : "startup" }),
  postToolUse: ({ tool_output }) => ({ tool_response: claudeToolResponse(tool_output) }),
  postToolUseFailure: ({ error_message }) => ({ error: error_message }),
  stop: ({ loop_count }) => ({ stop_hook_active: Number(loop_count) > 0 }),
  subagentStop: ({ loop_count }) => ({ stop_hook_active: Number(loop_count) > 0 }),
  preCompact: () => ({ custom_instructions: "" }),
};

/** Converts a tool's output to what Claude Code passes to hooks: an object, with a command's output in `stdout`. */
function claudeToolResponse(output: unknown): unknown {
  const value = typeof output === "string" ? tryParse(output) : undefined;
  if (!isObject(value)) return output;
  const { output: printed, exitCode, ...rest } = value;
  if (typeof printed !== "string" || exitCode === undefined) return value;
  return { stdout: printed, stderr: "", interrupted: false, isImage: false, exitCode, ...rest };
}

const permissionModes: Record<string, string> = { force: "bypassPermissions", plan: "plan", ask: "plan" };

/** Builds a payload in Claude Code's format. `tool` is our name of the tool. */
function claudePayload(
  event: HookEventName,
  payload: JsonObject,
  place: { workspace: string; mode: string; tool?: string },
): JsonObject {
  const {
    conversation_id: _conversation,
    generation_id: _generation,
    cursor_version: _version,
    workspace_roots: _roots,
    user_email: _email,
    is_resumed: _resumed,
    cwd = place.workspace,
    ...rest
  } = payload;
  return {
    ...rest,
    ...extras[event]?.(payload),
    hook_event_name: hookEvents[event].claude ?? event,
    cwd,
    // Claude Code omits `permission_mode` from its SessionStart payload.
    ...(event !== "sessionStart" && { permission_mode: permissionModes[place.mode] ?? "default" }),
    ...(place.tool !== undefined && { tool_name: claudeToolNames[place.tool] ?? place.tool }),
  };
}
