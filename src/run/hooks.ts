// The hooks of a run: which may run here, and what they are connected with. Loaded only where there is a hook file.

import { type AgentHooks, createAgentHooks } from "../agent/hooks/agent-hooks.ts";
import { createHooks } from "../agent/hooks/index.ts";
import type { ProcessRunner } from "../agent/process.ts";
import type { Provider } from "../model/provider.ts";
import { createProvider } from "../model/resolve.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { HookEventName } from "../protocol/hook-events.ts";
import { textOf } from "../protocol/message.ts";
import { createRedactor } from "../redact/redact.ts";
import { transcriptFile } from "../store/chats/layout.ts";
import { type Hook, type LoadedHooks, loadHooks, readGivenHooks, withWaiting } from "../store/hook-files.ts";
import { openHookTrace } from "../store/hook-trace.ts";
import { approveHooks } from "../store/hook-trust.ts";
import { isTrusted } from "../store/trust.ts";
import { flagList } from "../cli/flags.ts";
import { secretsInUse } from "../cli/secrets-in-use.ts";
import type { RunSession } from "./session.ts";
import type { Setup } from "./setup.ts";

export type HooksPlace = {
  session: RunSession;
  headless: boolean;
  processes: ProcessRunner;
  provider: Provider;
  warn(message: string): void;
  /** Asks a person yes or no; absent where nobody can answer. */
  confirm?(question: string): Promise<boolean>;
};

/** Undefined where no hook may run. Throws what must stop the run: a file that cannot be understood. */
export async function openHooks(setup: Setup, place: HooksPlace): Promise<AgentHooks | undefined> {
  const { workspace, roots, configDir, model, invocation } = setup;
  const { session, processes, warn } = place;
  const hooks = heard(await permitted(setup, place), setup, place);
  if (hooks.length === 0) return undefined;
  const { chat, id: sessionId, mode } = session;
  const { redact } = createRedactor({ values: secretsInUse(process.argv.slice(2), invocation.env) });
  const trace = chat && openHookTrace({ configDir, workspace }, redact);
  const fired = createHooks({
    hooks,
    facts: {
      sessionId,
      model: model.displayName,
      version: invocation.version,
      workspace,
      roots,
      transcriptPath: chat ? transcriptFile(configDir, workspace, sessionId) : null,
      userEmail: null,
      mode,
    },
    processes,
    env: invocation.env,
    askModel: modelAsker(setup, place.provider),
    warn,
    ...(trace && { trace }),
  });
  const { flags } = invocation.line;
  const isResumed = flags.has("resume") || flags.has("continue");
  return createAgentHooks({ hooks: fired, workspace, isResumed, warn });
}

/** The hooks of the project run as they were approved; one that changed is asked about, or left out and named. */
async function permitted(setup: Setup, place: HooksPlace): Promise<Hook[]> {
  const given = flagList(setup.invocation.line.flags, "hooks").map((each) => readGivenHooks(each, setup.workspace));
  for (const { warnings } of given) for (const warning of warnings) place.warn(warning);
  const byFile = await permittedByFile(setup, place);
  const ofEnterprise = byFile.filter(({ level }) => level === "enterprise");
  const others = byFile.filter(({ level }) => level !== "enterprise");
  return [...ofEnterprise, ...given.flatMap(({ hooks }) => hooks), ...others];
}

async function permittedByFile(setup: Setup, { warn, confirm }: HooksPlace): Promise<Hook[]> {
  const { configDir, workspace, home, invocation } = setup;
  const files = { configDir, workspace, home };
  const trustsNow = invocation.line.flags.has("trust");
  const loaded = loadHooks(files, { trusted: trustsNow || isTrusted(configDir, workspace) });
  for (const warning of loaded.warnings) warn(warning);
  if (loaded.waiting.length === 0) return loaded.hooks;
  if (!trustsNow && !(await confirm?.(approvalQuestion(loaded)))) {
    for (const { file } of loaded.waiting)
      warn(
        `${file} is new or has changed since it was approved: its hooks do not run. Look at it, then approve it with --trust.`,
      );
    return loaded.hooks;
  }
  try {
    approveHooks(files, loaded.waiting);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    warn(`The hooks of ${workspace} are approved for this run only: ${error.message}`);
  }
  return withWaiting(loaded, files);
}

function approvalQuestion({ waiting }: LoadedHooks): string {
  const lines = waiting.flatMap(({ file, hooks }) => [
    `${file} is new or has changed. It would run:`,
    ...hooks.map(({ event, command, prompt }) => `  ${event}: ${command ?? `(asks a model) ${prompt}`}`),
  ]);
  return `${lines.join("\n")}\nRun these hooks from now on?`;
}

/** What the original was seen to fire in print mode. */
const firedByOriginal: readonly HookEventName[] = [
  "sessionStart",
  "sessionEnd",
  "preToolUse",
  "postToolUse",
  "preCompact",
  "subagentStart",
  "subagentStop",
];

function heard(hooks: Hook[], { invocation }: Setup, { headless, warn }: HooksPlace): Hook[] {
  const asked = invocation.env["COURSER_PRINT_HOOKS"];
  if (!asked || !headless) return hooks;
  if (asked !== "original") {
    warn(`COURSER_PRINT_HOOKS is '${asked}', which means nothing: 'original' keeps to the original's events.`);
    return hooks;
  }
  return hooks.filter(({ event }) => firedByOriginal.includes(event));
}

/** One question, no tools, the whole text of the answer. */
function modelAsker({ model, settings, invocation }: Setup, own: Provider) {
  return async (
    { system, text, model: name }: { system: string; text: string; model?: string },
    signal: AbortSignal,
  ): Promise<string> => {
    const chosen = name === undefined ? model : model.other(name);
    const { retries, timeoutMs, idleMs } = settings.courser;
    const provider =
      name === undefined ? own : await createProvider(chosen, { retries, timeoutMs, idleMs, program: invocation.name });
    const messages = [{ role: "user" as const, parts: [{ type: "text" as const, text }] }];
    let answer = "";
    for await (const chunk of provider.stream({ model: chosen.modelId, system, messages, tools: [], signal })) {
      if (chunk.type === "retry") answer = "";
      if (chunk.type === "part") answer += textOf({ role: "assistant", parts: [chunk.part] });
    }
    return answer;
  };
}
