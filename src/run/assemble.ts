// Puts an agent together from a setup. Loaded after `init` is out, so that nobody waits for it.
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
  /** The servers that are configured. */
  mcp?: McpPlan;
  /** What the answer must be. */
  answer?: AnswerSchema;
  control: TurnControl;
  /** Shows events of subagents. */
  watch: NonNullable<SubagentContext["watch"]>;
  warn(message: string): void;
};

export interface Assembled {
  readonly agent: Agent;
  readonly state: RunState;
  /** One turn. Several may follow each other in one session. */
  turn(prompt: Prompt, signal: AbortSignal): AsyncGenerator<AgentEvent>;
  /** A prompt as the agent is told it, and what to warn of. */
  expand(prompt: Prompt, signal: AbortSignal): Promise<TurnPrompt>;
  /** A running command goes on by itself. */
  background(callId: string): Promise<boolean>;
  backgroundCommands(): readonly BackgroundCommand[];
  names: LiveRun["names"];
  /** After the conversation was taken back: what was kept beside it, as it was then. */
  reload(): void;
  /** Ends everything that was started. */
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
  const keys = [...model.keys, ...serviceKeys(setup, web)];
  const processes = createProcessRunner({ keys });
  const browser = request.browser
    ? (await import("./browser.ts")).openBrowser(setup, { state, processes, warn })
    : undefined;
  const opened = openProvider(setup, model, { sessionId, scriptPlace: scriptPlaceIn(session) }).then((provider) => {
    state.provider = provider;
    return state;
  });
  opened.catch(() => {}); // waited for below
  const person = personOf(asking);
  // As early as can be, so that they start while everything else is made ready.
  const mcp =
    parts.mcp &&
    (await (
      await import("./mcp.ts")
    ).openMcp(setup, parts.mcp, {
      state: opened,
      mode: () => state.mode,
      processes,
      warn,
      ...(person && { person }),
    }));
  const hasServers = mcp !== undefined || browser !== undefined;
  const builtIn = perMode(state, (mode) => chooseTools(request, { mode, hasServers })); // wrong names stop the run here
  const withoutServers = perMode(state, (mode) => chooseServerTools([noMcpResources], request, mode));
  await opened;
  const told = await loadInstructions(setup, {
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
    moreRules: () => [...told.skills.readRules(), ...(mcp?.rules ?? [])],
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
  /** What hooks said at the beginning. */
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
      return [told.system(), ...(begun ?? [])].join("\n\n");
    },
    get tools() {
      // Of two tools with one name the first counts.
      return [...builtIn(), ...(browser?.tools ?? []), ...(mcp?.tools ?? []), ...withoutServers()];
    },
    decide: permissions.decide,
    ...(permissions.ask && { ask: permissions.ask }),
    get review() {
      return permissions.review;
    },
    // The offline model understands instructions, not complaints.
    ...(answer && { answer: model.kind === "offline" ? { ...answer, repairs: 0 } : answer }),
    ...(person && { person }),
    get untold() {
      return new Set([
        ...(asking.can("choices") ? [] : [askQuestion.name]),
        ...(mcp?.tools.some(({ name }) => name === noMcpResources.name) ? [] : [noMcpResources.name]),
        ...closedTools(setup, state.mode),
      ]);
    },
    ...(hooks && { hooks }),
    // The offline model understands no complaints about its edits either.
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
      // A quarter of the window at most: one result must leave room for the others and the answer.
      resultLimit: Math.max(4000, Math.min(100_000, state.model.contextTokens)),
      web,
      codeSearch: codeSearchAccess(setup, { isKept: chat !== undefined }),
      compat: request.compat,
      ...(diagnostics && { diagnostics }),
    },
    instructionsFor: told.forPath,
  };
  agent.subagents = createSubagents(
    agent,
    subagentContext(setup, session, { instructions: told, state, watch: parts.watch }),
  );

  const report = new RunReport({
    request,
    background,
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
  const named = new Set<string>();
  /** A run that leaves something running says so before its result: it ends with the run. */
  const tellOfRunning = () => {
    for (const { taskId, status, command } of background.list()) {
      if (status !== "running" || named.has(taskId)) continue;
      named.add(taskId);
      warn(`The background command ${taskId} is still running, and ends with the run: ${command}`);
    }
  };
  const expand = (prompt: Prompt, signal: AbortSignal) => told.expand(prompt, seams.newId(), signal);
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
      report.checkServers(mcp?.names() ?? []);
      endPreparing = snapshots?.prepare();
      for await (const said of runTurn(agent, await expand(prompt, signal), signal)) {
        report.see(said);
        if (said.type === "done" || said.type === "fail") endPreparing?.();
        const event = said.type === "done" || said.type === "fail" ? await report.ending(said) : said;
        if (event.type === "tool_end" && event.tool === todoWrite.wire) session.saveState("todos", todos.all());
        if (event.type === "done" || event.type === "fail") {
          last = { event, signal };
          for (const warning of told.takeWarnings()) warn(warning);
          tellOfRunning();
        }
        yield event;
      }
    },
    reload: () => todos.become((session.state("todos") as Todo[] | undefined) ?? []),
    background: (callId) => background.takeOver(callId),
    backgroundCommands: () => background.list(),
    names: async () => [...told.names(), ...(mcp?.prompts() ?? [])],
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

/** Nothing of it is loaded before the first edit. Undefined where no language server may run. */
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

/** The last turn was stopped already, or the run is while it ends. */
function endSignal({ signal }: { signal?: AbortSignal }, host: RunHost): AbortSignal {
  return signal?.aborted ? signal : (host.signal ?? new AbortController().signal);
}

/** How a session ended, in the words that hooks are told. */
function sessionEnd({ event, signal }: { event?: AgentEvent; signal?: AbortSignal }, isAttended: boolean) {
  const status = event?.type === "done" ? "completed" : signal?.aborted ? "aborted" : "error";
  const error = event?.type === "fail" ? { error: event.message } : {};
  return { status, reason: isAttended && status === "completed" ? "user_close" : status, ...error } as const;
}

/** Deletes old chats where a setting says so, at the end; `tell`: says, at the beginning, how much room they take. */
async function tidyChats({ configDir, settings }: Setup, tell?: (message: string) => void): Promise<void> {
  const days = settings.courser.pruneAfterDays;
  if ((days === undefined) === (tell === undefined)) return;
  try {
    const { pruneDaily } = await import("./prune-chats.ts");
    await pruneDaily(configDir, { days, tell });
  } catch {
    // Nobody waits for it, and nobody needs it to succeed.
  }
}

/** Most runs only ask when that was done last. Nobody waits for it, and nobody needs it to succeed. */
function sweepWhenDue(signal: AbortSignal | undefined): void {
  if (!isSweepDue()) return;
  import("../agent/sweep-temporary.ts").then(({ sweepTemporary }) => sweepTemporary({ signal })).catch(() => {});
}
