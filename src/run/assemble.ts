// Assembles an agent from a setup. Loaded after `init` was sent, so that it does not delay it.
import { tmpdir } from "node:os";
import type { Agent, TurnControl } from "../agent/agent.ts";
import { BackgroundShells } from "../agent/background.ts";
import type { Diagnostics } from "../agent/diagnostics/index.ts";
import { runTurn } from "../agent/loop.ts";
import { isSweepDue } from "../agent/output-folder.ts";
import { createProcessRunner } from "../agent/process.ts";
import { realSeams } from "../agent/seams.ts";
import { createSnapshots } from "../agent/snapshots/index.ts";
import { createSubagents } from "../agent/subagents/index.ts";
import type { SubagentContext } from "../agent/subagents/run.ts";
import { askQuestion } from "../agent/tools/ask-question.ts";
import { noMcpResources } from "../agent/tools/list-mcp-resources.ts";
import { type Todo, TodoList, todoWrite } from "../agent/tools/todos.ts";
import type { TurnPrompt } from "../agent/turn.ts";
import { UsageBudget } from "../agent/usage-budget.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { BackgroundCommand, LiveRun, Prompt } from "../protocol/run.ts";
import { hasHookFiles } from "../store/hook-paths.ts";
import type { AnswerSchema } from "./answer-schema.ts";
import { chooseServerTools, chooseTools, closedTools } from "./choose-tools.ts";
import type { DiagnosticsParts } from "./diagnostics.ts";
import type { RunHost } from "./host.ts";
import { personOf } from "./human.ts";
import { loadInstructions, readRecentWork } from "./instructions.ts";
import type { McpPlan } from "./mcp-plan.ts";
import { agentModel, openProvider } from "./models.ts";
import { openPermissions } from "./permissions.ts";
import { RunReport } from "./run-report.ts";
import { codeSearchAccess, serviceKeys, webAccess } from "./services.ts";
import { type RunSession, scriptPlaceIn } from "./session.ts";
import type { Setup } from "./setup.ts";
import { perMode, type RunState } from "./state.ts";
import { subagentContext } from "./subagents.ts";

export type AssemblyParts = {
  session: RunSession;
  mcp?: McpPlan;
  answer?: AnswerSchema;
  control: TurnControl;
  watch: NonNullable<SubagentContext["watch"]>;
  warn(message: string): void;
};

export interface Assembled {
  readonly agent: Agent;
  readonly state: RunState;
  /** Runs one turn. Several may follow each other in one session. */
  turn(prompt: Prompt, signal: AbortSignal): AsyncGenerator<AgentEvent>;
  /** Expands the mentions in a prompt for the model, and reports warnings. */
  expand(prompt: Prompt, signal: AbortSignal): Promise<TurnPrompt>;
  /** Moves a running command to the background. */
  background(callId: string): Promise<boolean>;
  backgroundCommands(): readonly BackgroundCommand[];
  names: LiveRun["names"];
  /** Restores stored state after the conversation was rewound. */
  reload(): void;
  /** Ends everything that the run has started. */
  end(): Promise<void>;
}

export async function assemble(setup: Setup, parts: AssemblyParts): Promise<Assembled> {
  const { session, answer, control, warn } = parts;
  const { workspace, roots, configDir, settings, model, request, host, asking } = setup;
  const { id: sessionId, chat } = session;
  const seams = { ...realSeams, ...host.seams };
  const { runTool } = seams;
  if (host.waiting)
    seams.runTool = (tool, ...rest) => host.waiting!.during("tool", tool.name, () => runTool(tool, ...rest));
  for (const warning of [...setup.warnings, ...session.warnings]) warn(warning);

  const work = readRecentWork(setup, session);
  const state = { mode: session.mode, model: agentModel(model, setup) } as RunState;
  const web = webAccess(setup, state);
  const servers = parts.mcp && (await import("./mcp.ts"));
  const serverKeys = parts.mcp ? servers!.serverKeys(setup, parts.mcp) : [];
  host.learnSecrets?.(serverKeys);
  const keys = [...model.keys, ...serviceKeys(setup, web), ...serverKeys];
  const processes = createProcessRunner({ keys, env: { ...process.env, CURSOR_CONVERSATION_ID: sessionId } });
  const browser = request.browser
    ? (await import("./browser.ts")).openBrowser(setup, { state, processes, warn })
    : undefined;
  const opened = openProvider(setup, model, { sessionId, scriptPlace: scriptPlaceIn(session) }).then((provider) => {
    state.provider = provider;
    return state;
  });
  opened.catch(() => {}); // awaited further below
  const person = personOf(asking);
  // Started as early as possible, while everything else is prepared.
  const mcp =
    parts.mcp &&
    (await servers!.openMcp(setup, parts.mcp, {
      state: opened,
      mode: () => state.mode,
      processes,
      warn,
      ...(person && { person }),
    }));
  const hasServers = mcp !== undefined || browser !== undefined;
  // throws here if a tool name is unknown
  const builtIn = perMode(state, (mode) => chooseTools(request, { mode, hasServers }));
  const withoutServers = perMode(state, (mode) => chooseServerTools([noMcpResources], request, mode));
  await opened;
  const instructions = await loadInstructions(setup, {
    state,
    tools: builtIn(),
    now: seams.now(),
    work,
    warn,
    ...(mcp && { mcp }),
    ...(answer && { answer }),
  });
  const background = new BackgroundShells(processes, tmpdir());
  sweepWhenDue(setup.host.signal);
  if (chat && asking.canAnswer) void tidyChats(setup, warn);
  const permissions = await openPermissions(setup, {
    state,
    isResumed: session.session.messages.length > 0,
    processes,
    sessionId,
    background,
    moreRules: () => [...instructions.skills.readRules(), ...(mcp?.rules ?? [])],
    warn,
  });
  const hooks =
    (request.hooks ?? []).length > 0 ||
    setup.plugins.some((plugin) => plugin.hooks.length > 0) ||
    hasHookFiles(setup) ||
    (setup.standsFor !== undefined && hasHookFiles({ ...setup, workspace: setup.standsFor }))
      ? await (await import("./hooks.ts")).openHooks(setup, { session, state, processes, keys, warn })
      : undefined;
  const diagnostics = lazyDiagnostics(setup, { processes, warn });
  const snapshots = chat && createSnapshots({ configDir, workspace, roots, sessionId, chat });
  const todos = new TodoList((session.state("todos") as Todo[] | undefined) ?? []);
  /** The context that hooks added at the start of the session. */
  let begun: string[] | undefined;
  const agent: Agent = {
    seams,
    control,
    session: session.session,
    spending: new UsageBudget(),
    get provider() {
      return state.provider;
    },
    get model() {
      return state.model;
    },
    get system() {
      return [instructions.system(), ...(begun ?? [])].join("\n\n");
    },
    get tools() {
      // If two tools have the same name, the first one is used.
      return [...builtIn(), ...(browser?.tools ?? []), ...(mcp?.tools ?? []), ...withoutServers()];
    },
    decide: permissions.decide,
    ...(permissions.ask && { ask: permissions.ask }),
    get review() {
      return permissions.review;
    },
    // Do not ask the offline model to repair its answer, since it cannot.
    ...(answer && { answer: model.kind === "offline" ? { ...answer, repairs: 0 } : answer }),
    ...(person && { person }),
    get hiddenTools() {
      return new Set([
        ...(asking.can("choices") ? [] : [askQuestion.name]),
        ...(mcp?.tools.some(({ name }) => name === noMcpResources.name) ? [] : [noMcpResources.name]),
        ...closedTools(setup, state.mode),
      ]);
    },
    ...(hooks && { hooks }),
    // The offline model cannot react to findings about its edits either.
    ...(diagnostics && model.kind !== "offline" && { diagnostics }),
    ...(snapshots && {
      async beforeWrite(needs, signal) {
        const note = await snapshots.before(chat!.turn, needs, signal);
        if (note && !signal.aborted) warn(note.message);
      },
      keepsDeleted: (needs, signal) => snapshots.holdsDeleted(chat!.turn, needs, signal),
    }),
    limits: {
      ...setup.limits,
      loopLimit: settings.courser.loopLimit ?? 5,
    },
    toolContext: {
      sessionId,
      workspace,
      roots,
      processes,
      background,
      mergeOutput: settings.courser.mergeOutput,
      get numbersLines() {
        return state.mode === "ask";
      },
      todos,
      get skipsApproval() {
        return state.mode === "force";
      },
      configDir,
      newId: seams.newId,
      buffers: seams.buffers,
      get sandbox() {
        return permissions.sandbox;
      },
      get openSandbox() {
        return permissions.openSandbox;
      },
      // Limit a result to a quarter of the context window, to leave room for other results and the answer.
      resultLimit: Math.max(4000, Math.min(100_000, state.model.contextTokens)),
      web,
      codeSearch: codeSearchAccess(setup, { isKept: chat !== undefined }),
      compat: request.compat,
      ...(diagnostics && { diagnostics }),
    },
    instructionsFor: instructions.forPath,
  };
  agent.subagents = createSubagents(
    agent,
    subagentContext(setup, session, { instructions, state, watch: parts.watch }),
  );

  const report = new RunReport({
    request,
    background,
    asking,
    spending: agent.spending!,
    missing: () => mcp?.missing() ?? [],
    waitMs: settings.courser.backgroundWaitMs ?? 5000,
    waiting: host.waiting,
  });
  if (request.single) {
    agent.unfinished = async (signal) => {
      const text = await report.unfinished(signal);
      return model.kind === "offline" ? undefined : text;
    };
  }
  const whole = request.single ? "run" : "session";
  const named = new Set<string>();
  /** Warns, before the result, about commands that are still running, and says when they will be ended. */
  const remindOfRunning = () => {
    for (const { taskId, status, command } of background.list()) {
      if (status !== "running" || named.has(taskId)) continue;
      named.add(taskId);
      warn(`The background command ${taskId} is still running, and ends with the ${whole}: ${command}`);
    }
  };
  const expand = (prompt: Prompt, signal: AbortSignal) => instructions.expand(prompt, seams.newId(), signal);
  const { waiting } = host;
  const waitedServers = async (signal: AbortSignal) =>
    mcp && waiting
      ? waiting.during("server", mcp.names().join(", ") || "MCP", () => mcp.ready(signal))
      : mcp?.ready(signal);
  let last: { event?: AgentEvent; signal?: AbortSignal } = {};
  let endPreparing: (() => void) | undefined;
  return {
    agent,
    state,
    expand,
    async *turn(prompt, signal) {
      if (hooks && !begun) begun = await hooks.begin(signal);
      yield* (await waitedServers(signal)) ?? [];
      report.begin(mcp?.names() ?? []);
      endPreparing = snapshots?.prepare();
      for await (const emitted of runTurn(agent, await expand(prompt, signal), signal)) {
        report.see(emitted);
        if (emitted.type === "done" || emitted.type === "fail") endPreparing?.();
        const event = emitted.type === "done" || emitted.type === "fail" ? await report.ending(emitted) : emitted;
        if (event.type === "tool_end" && event.tool === todoWrite.wire) session.saveState("todos", todos.all());
        if (event.type === "done" || event.type === "fail") {
          last = { event, signal };
          for (const warning of instructions.takeWarnings()) warn(warning);
          remindOfRunning();
        }
        yield event;
      }
    },
    reload: () => todos.become((session.state("todos") as Todo[] | undefined) ?? []),
    background: (callId) => background.takeOver(callId),
    backgroundCommands: () => background.list(),
    names: async () => [...instructions.names(), ...(mcp?.prompts() ?? [])],
    async end() {
      endPreparing?.();
      if (begun) await hooks?.end(sessionEnd(last, asking.canAnswer), endSignal(last, setup.host));
      await agent.subagents?.end();
      await background.endAll();
      await browser?.end();
      await diagnostics?.end();
      await mcp?.end();
      await permissions.end();
      await processes.endAll();
      background.leaveFolder();
      await snapshots?.tidy();
      if (chat) await tidyChats(setup);
    },
  };
}

/** Loads language servers on the first edit. Returns undefined where none may run. */
function lazyDiagnostics(setup: Setup, parts: DiagnosticsParts): Diagnostics | undefined {
  if (!setup.trusted || setup.settings.courser.diagnostics === false) return undefined;
  let opened: Promise<Diagnostics | undefined> | undefined;
  const open = async () => {
    const { openDiagnostics } = await import("./diagnostics.ts");
    return openDiagnostics(setup, parts);
  };
  return {
    async afterEdit(...edit) {
      opened ??= open().catch((error: Error) => void parts.warn(`Edits are not checked: ${error.message}`));
      return (await opened)?.afterEdit(...edit) ?? "";
    },
    takeLate: async (...agent) => (await opened)?.takeLate(...agent) ?? "",
    end: async () => (await opened)?.end(),
  };
}

/** Returns the signal of the last turn if it was stopped, else that of the run. */
function endSignal({ signal }: { signal?: AbortSignal }, host: RunHost): AbortSignal {
  return signal?.aborted ? signal : (host.signal ?? new AbortController().signal);
}

/** Describes how a session ended, in the terms that hooks use. */
function sessionEnd({ event, signal }: { event?: AgentEvent; signal?: AbortSignal }, isAttended: boolean) {
  const status = event?.type === "done" ? "completed" : signal?.aborted ? "aborted" : "error";
  const error = event?.type === "fail" ? { error: event.message } : {};
  return { status, reason: isAttended && status === "completed" ? "user_close" : status, ...error } as const;
}

/** At the end of a run, deletes old chats if a setting asks for it. At the start, `notify` is called with how much space they take. */
async function tidyChats({ configDir, settings }: Setup, notify?: (message: string) => void): Promise<void> {
  const days = settings.courser.pruneAfterDays;
  if ((days === undefined) === (notify === undefined)) return;
  try {
    const { pruneDaily } = await import("./prune-chats.ts");
    await pruneDaily(configDir, { days, notice: notify });
  } catch {
    // Ignore failures, since deleting old chats is not essential.
  }
}

/** Sweeps temporary files in the background; most runs only check when that was done last. Failures are ignored. */
function sweepWhenDue(signal: AbortSignal | undefined): void {
  if (!isSweepDue()) return;
  import("../agent/sweep-temporary.ts").then(({ sweepTemporary }) => sweepTemporary({ signal })).catch(() => {});
}
