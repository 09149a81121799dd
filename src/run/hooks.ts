// Opens the hooks of a run: decides which may run and connects them to the run. Loaded only if there are hooks.

import { type AgentHooks, createAgentHooks } from "../agent/hooks/agent-hooks.ts";
import { createHooks } from "../agent/hooks/index.ts";
import type { ProcessRunner } from "../agent/process.ts";
import type { HookEventName } from "../protocol/hook-events.ts";
import { messageText } from "../protocol/message.ts";
import type { HooksQuestion } from "../protocol/run.ts";
import { redact } from "../redact/redact.ts";
import { transcriptFile } from "../store/chats/layout.ts";
import {
  type Hook,
  type LoadedHooks,
  loadHooks,
  pluginHooks,
  readGivenHooks,
  withWaiting,
} from "../store/hook-files.ts";
import { hookFiles } from "../store/hook-paths.ts";
import { openHookTrace } from "../store/hook-trace.ts";
import { approveHooks } from "../store/hook-trust.ts";
import { isTrusted } from "../store/trust.ts";
import { keepConsent } from "./human.ts";
import { openNamedModel } from "./models.ts";
import type { RunSession } from "./session.ts";
import type { Setup } from "./setup.ts";
import type { RunState } from "./state.ts";

export type HookParts = {
  session: RunSession;
  state: RunState;
  processes: ProcessRunner;
  /** Secrets in use, which are removed from the environment of hooks. */
  keys: readonly string[];
  warn(message: string): void;
};

/** Loads the hooks of a run. Returns undefined if none may run. Throws if a hook file is invalid, which stops the run. */
export async function openHooks(setup: Setup, parts: HookParts): Promise<AgentHooks | undefined> {
  const { workspace, roots, configDir, host, request } = setup;
  const { session, state, processes, warn } = parts;
  const hooks = withHostHooks(await permittedHooks(setup, parts), setup, parts);
  if (hooks.length === 0) return undefined;
  const { chat, id: sessionId } = session;
  const trace = chat && openHookTrace({ configDir, workspace }, host.redact ?? redact);
  const fired = createHooks({
    hooks,
    session: {
      sessionId,
      get model() {
        return state.model.displayName;
      },
      version: host.version,
      workspace,
      roots,
      transcriptPath: chat ? transcriptFile(configDir, workspace, sessionId) : null,
      get mode() {
        return state.mode;
      },
    },
    processes,
    env: host.env,
    keys: parts.keys,
    askModel: modelAsker(setup, state),
    warn,
    ...(trace && { trace }),
  });
  const { waiting } = host;
  const fire = fired.fire.bind(fired);
  if (waiting) fired.fire = (event, ...rest) => waiting.during("hook", event, () => fire(event, ...rest));
  const isResumed = request.chat?.type === "resume";
  return createAgentHooks({ hooks: fired, workspace, isResumed, warn });
}

/** Returns the hooks that may run. Changed project hooks are asked about, or left out with a warning. */
async function permittedHooks(setup: Setup, parts: HookParts): Promise<Hook[]> {
  const requestHooks = (setup.request.hooks ?? []).map((each) => readGivenHooks(each, setup.workspace));
  for (const { warnings } of requestHooks) for (const warning of warnings) parts.warn(warning);
  const fileHooks = await permittedByFile(setup, parts, setup);
  const behind = await permittedBehind(setup, parts);
  const byFile = [...fileHooks, ...behind.filter((hook) => !fileHooks.some((each) => isSame(each, hook)))];
  const ofEnterprise = byFile.filter(({ level }) => level === "enterprise");
  const others = byFile.filter(({ level }) => level !== "enterprise");
  const ofPlugins = setup.plugins.map((plugin) => pluginHooks(plugin, setup.workspace));
  for (const { warnings } of ofPlugins) for (const warning of warnings) parts.warn(warning);
  return [
    ...ofEnterprise,
    ...requestHooks.flatMap(({ hooks }) => hooks),
    ...others,
    ...ofPlugins.flatMap(({ hooks }) => hooks),
  ];
}

/** Returns the hooks of files that may run, after asking about changed ones. `place` is the workspace, or what it is a copy of. */
async function permittedByFile(
  { configDir, home, asking, request }: Setup,
  { warn }: HookParts,
  place: { workspace: string; trusted: boolean },
): Promise<Hook[]> {
  const files = { configDir, home, workspace: place.workspace };
  const trustsNow = request.trust === true;
  const loaded = loadHooks(files, place);
  for (const warning of loaded.warnings) warn(warning);
  if (loaded.waiting.length === 0) return loaded.hooks;
  const answer = trustsNow ? undefined : await asking.ask(approvalQuestion(loaded));
  if (!trustsNow && answer?.type !== "yes") {
    for (const { file } of loaded.waiting)
      warn(
        `${file}, or a script that it runs, is new or has changed since it was approved: its hooks do not run. Look at it, then approve it with --trust.`,
      );
    return loaded.hooks;
  }
  if (answer?.type !== "yes" || answer.grant !== "run")
    keepConsent(() => approveHooks(files, loaded.waiting), `The hooks of ${place.workspace} are approved`, warn);
  return withWaiting(loaded, files);
}

/** Returns the hooks of the folder that a worktree stands for, where they may be uncommitted: they must be approved there, and run there. */
async function permittedBehind(setup: Setup, parts: HookParts): Promise<Hook[]> {
  const { configDir, home, standsFor: workspace } = setup;
  if (workspace === undefined) return [];
  const hooks = await permittedByFile(setup, parts, { workspace, trusted: isTrusted(configDir, workspace) });
  const ofProject = hookFiles({ configDir, home, workspace }).filter((each) => each.ofProject);
  return hooks.filter(({ file }) => ofProject.some((each) => each.file === file));
}

/** Returns whether two hooks are the same: a committed one is also in the worktree, and must not run twice. */
function isSame(one: Hook, other: Hook): boolean {
  const keys = ["format", "event", "matcher", "command", "prompt", "failClosed"] as const;
  return keys.every((key) => one[key] === other[key]) && String(one.variables) === String(other.variables);
}

function approvalQuestion({ waiting }: LoadedHooks): HooksQuestion {
  const files = waiting.map(({ file, hooks }) => ({
    file,
    hooks: hooks.map(({ event, command, prompt, variables = [] }) => {
      if (command === undefined) return { event, prompt };
      // Shows the user which secret variables the hook gets.
      return { event, command: variables.length > 0 ? `${command} (gets ${variables.join(", ")})` : command };
    }),
  }));
  return { type: "hooks", files };
}

/** The events that `cursor-agent` was observed to fire in print mode. */
const firedByOriginal: readonly HookEventName[] = [
  "sessionStart",
  "sessionEnd",
  "preToolUse",
  "postToolUse",
  "preCompact",
  "subagentStart",
  "subagentStop",
];

function withHostHooks(hooks: Hook[], { host, asking }: Setup, { warn }: HookParts): Hook[] {
  const asked = host.env["COURSER_PRINT_HOOKS"];
  if (!asked || asking.canAnswer) return hooks;
  if (asked !== "original") {
    warn(`COURSER_PRINT_HOOKS is '${asked}', which is unknown: 'original' keeps to the original's events.`);
    return hooks;
  }
  return hooks.filter(({ event }) => firedByOriginal.includes(event));
}

/** Asks a model one question without tools, and returns the whole answer. */
function modelAsker(setup: Setup, state: RunState) {
  return async (
    { system, text, model: name }: { system: string; text: string; model?: string },
    signal: AbortSignal,
  ): Promise<string> => {
    const { provider, model } = name === undefined ? state : await openNamedModel(setup, { name, by: "user" });
    const messages = [{ role: "user" as const, parts: [{ type: "text" as const, text }] }];
    let answer = "";
    for await (const chunk of provider.stream({ model: model.id, system, messages, tools: [], signal })) {
      if (chunk.type === "retry") answer = "";
      if (chunk.type === "part") answer += messageText({ role: "assistant", parts: [chunk.part] });
    }
    return answer;
  };
}
