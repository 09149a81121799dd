// Puts an agent together from a setup. Loaded after `init` is out, so that nobody waits for it.
import { release, tmpdir } from "node:os";
import { resolve } from "node:path";
import type { Agent, TurnControl } from "../agent/agent.ts";
import { BackgroundShells } from "../agent/background.ts";
import {
  buildSystemPrompt,
  createPathInstructions,
  createSkillBook,
  expandPrompt,
  listCommands,
  withSkills,
} from "../agent/instructions/index.ts";
import { runTurn } from "../agent/loop.ts";
import { createProcessRunner } from "../agent/process.ts";
import { realSeams } from "../agent/seams.ts";
import { createSnapshots } from "../agent/snapshots/index.ts";
import { callableSubagents, findSubagents, subagentSection } from "../agent/subagents/definitions.ts";
import { createSubagents } from "../agent/subagents/index.ts";
import type { SubagentContext } from "../agent/subagents/run.ts";
import { askQuestion } from "../agent/tools/ask-question.ts";
import { type Todo, TodoList, todoWrite } from "../agent/tools/todos.ts";
import type { Tool } from "../agent/tools/tool.ts";
import type { TurnPrompt } from "../agent/turn.ts";
import { UsageBudget } from "../agent/usage-budget.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { LiveRun, Prompt } from "../protocol/run.ts";
import { hasHookFiles } from "../store/hook-paths.ts";
import { hasSandboxFile } from "../store/sandbox-files.ts";
import { trust } from "../store/trust.ts";
import type { AnswerSchema } from "./answer-schema.ts";
import { chooseTools } from "./choose-tools.ts";
import { createAsking, permissionAsker, personOf } from "./human.ts";
import type { McpPlan } from "./mcp-plan.ts";
import { agentModel, openProvider } from "./models.ts";
import { promptParts } from "./prompt-parts.ts";
import { type Confinement, createConfinement, unconfined } from "./sandbox.ts";
import { codeSearchAccess, serviceKeys, webAccess } from "./services.ts";
import type { RunSession } from "./session.ts";
import type { Setup } from "./setup.ts";
import type { RunState } from "./state.ts";
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
  names: LiveRun["names"];
  /** After the conversation was taken back: what was kept beside it, as it was then. */
  reload(): void;
  /** Ends everything that was started. */
  end(): Promise<void>;
}

export async function assemble(setup: Setup, parts: AssemblyParts): Promise<Assembled> {
  const { session, answer, control, warn } = parts;
  const { workspace, roots, configDir, home, settings, model, request, host, asking } = setup;
  const { id: sessionId, chat } = session;
  const seams = { ...realSeams, ...host.seams };
  if (request.trust) rememberTrust(setup, warn);
  for (const warning of [...setup.warnings, ...session.warnings]) warn(warning);

  const state = { mode: session.mode, model: agentModel(model, setup) } as RunState;
  const web = webAccess(setup, state);
  const processes = createProcessRunner({ keys: [...model.keys, ...serviceKeys(setup, web)] });
  const browser = request.browser
    ? (await import("./browser.ts")).openBrowser(setup, { state, processes, warn })
    : undefined;
  const opened = openProvider(setup, model, { sessionId }).then((provider) => {
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
  const builtIn = perMode<readonly Tool[]>(state, (mode) => chooseTools(request, { mode, hasServers }));
  builtIn(); // wrong names stop the run here
  await opened;
  const { loadHidden } = await import("../policy/hidden.ts");
  const isIgnored = await loadHidden({ workspace, roots, home, configDir, rules: setup.rules });
  const instructions = { workspace, roots, configDir, home, isIgnored };
  const skills = createSkillBook({ ...instructions, trusted: setup.trusted });
  const { subagents, warnings: wrong } = findSubagents({ ...instructions, trusted: setup.trusted });
  const surroundings = {
    ...instructions,
    headless: !asking.isAttended,
    platform: process.platform,
    osRelease: release(),
    shell: host.env["SHELL"] ?? "/bin/bash",
    today: new Date(seams.now()),
    systemPrompt: request.systemPrompt,
    appendSystemPrompt: request.appendSystemPrompt,
    sections: [skills.section, builtIn().some((tool) => tool.wire === "task") ? subagentSection(subagents) : ""],
  };
  const append = [request.appendSystemPrompt, answer?.instruction].filter(Boolean).join("\n\n");
  const first = buildSystemPrompt({ ...surroundings, mode: state.mode, appendSystemPrompt: append });
  const { loaded } = first;
  const firstMode = state.mode;
  const system = perMode(state, (mode) =>
    mode === firstMode
      ? first.system
      : buildSystemPrompt({ ...surroundings, mode, appendSystemPrompt: append }, loaded).system,
  );
  for (const warning of [...first.warnings, ...skills.takeWarnings(), ...wrong]) warn(warning);

  const background = new BackgroundShells(processes, tmpdir());
  const ask = permissionAsker(
    asking.can("permission") ? asking : createAsking(await askCommand(setup, { processes, sessionId })),
  );
  let confinement = unconfined;
  let confining: Promise<Confinement> | undefined;
  const confine = async () => {
    const unlisted = request.unlistedCommands ?? "sandbox";
    confining ??= createConfinement(setup, { unlisted, canAsk: ask !== undefined, processes, warn });
    confinement = await confining;
    return confinement;
  };
  // A broken file stops the run before anything is asked or done.
  if (request.sandbox === "enabled" || hasSandboxFile(configDir, workspace)) await confine();
  const hooks =
    (request.hooks ?? []).length > 0 || hasHookFiles({ configDir, workspace, home })
      ? await (await import("./hooks.ts")).openHooks(setup, { session, state, processes, warn })
      : undefined;
  const snapshots = chat && createSnapshots({ configDir, workspace, roots, sessionId, chat });
  const reviews =
    request.autoReview || settings.approvalMode === "auto-review" ? await reviewer(setup, state) : undefined;
  const todos = new TodoList((session.state("todos") as Todo[] | undefined) ?? []);
  const pathInstructions = withSkills(createPathInstructions(instructions, loaded), skills);
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
      return [system(), ...(begun ?? [])].join("\n\n");
    },
    get tools() {
      return [...builtIn(), ...(browser?.tools ?? []), ...(mcp?.tools ?? [])];
    },
    async decide(needs, options) {
      const { decide } = await import("../policy/decide.ts");
      // While no command is run, nothing waits for the sandbox.
      const confined = confining || needs.some((need) => need.kind === "Shell") ? await confine() : unconfined;
      const decision = await decide(needs, {
        mode: options?.readOnly && state.mode !== "plan" ? "ask" : state.mode,
        interactive: ask !== undefined,
        workspace,
        // The model is pointed to long outputs by their path: it may read them.
        roots: background.folder ? [...roots, background.folder] : roots,
        home,
        configDir,
        rules: [...setup.rules, ...skills.readRules(), ...(mcp?.rules ?? [])],
        sandbox: confined.reach,
        searchPath: host.env["PATH"] ?? "",
        acceptsSearches: settings.raw["autoAcceptWebSearch"] === true,
      });
      return confined.check(decision);
    },
    ...(ask && { ask }),
    // The offline model understands instructions, not complaints.
    ...(answer && { answer: model.kind === "offline" ? { ...answer, repairs: 0 } : answer }),
    ...(person ? { person } : { untold: new Set([askQuestion.name]) }),
    ...(hooks && { hooks }),
    ...(reviews && {
      get review() {
        return state.mode === "default" ? reviews : undefined;
      },
    }),
    ...(snapshots && {
      async beforeWrite(needs, signal) {
        const note = await snapshots.before(chat!.turn, needs, signal);
        if (note) warn(note.message);
      },
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
      todos,
      configDir,
      newId: seams.newId,
      buffers: seams.buffers,
      get sandbox() {
        return confinement.sandbox;
      },
      // A quarter of the window at most: one result must leave room for the others and the answer.
      resultLimit: Math.max(4000, Math.min(100_000, state.model.contextTokens)),
      web,
      codeSearch: codeSearchAccess(setup, { isKept: chat !== undefined }),
      compat: request.compat,
    },
    instructionsFor: (path) => pathInstructions.forPath(resolve(workspace, path)),
  };
  agent.subagents = createSubagents(
    agent,
    subagentContext(setup, session, { subagents, state, surroundings, instructions, loaded, watch: parts.watch }),
  );

  const told = new Set<string>();
  /** A run that leaves something running says so before its result: it ends with the run. */
  const tellOfRunning = () => {
    for (const { taskId, status, command } of background.list()) {
      if (status !== "running" || told.has(taskId)) continue;
      told.add(taskId);
      warn(`The background command ${taskId} is still running, and ends with the run: ${command}`);
    }
  };
  const expand = async (prompt: Prompt, signal: AbortSignal): Promise<TurnPrompt> => {
    const callable = [skills, callableSubagents(subagents)];
    const expanded =
      (await mcp?.expand(prompt.text, signal)) ??
      expandPrompt(prompt.text, { ...instructions, instructions: pathInstructions, callable });
    for (const warning of expanded.warnings) warn(warning);
    return { ...promptParts(prompt, expanded), requestId: seams.newId() };
  };
  let last: { event?: AgentEvent; signal?: AbortSignal } = {};
  return {
    agent,
    state,
    expand,
    async *turn(prompt, signal) {
      if (hooks && !begun) begun = await hooks.begin(signal);
      yield* (await mcp?.ready(signal)) ?? [];
      for await (const event of runTurn(agent, await expand(prompt, signal), signal)) {
        if (event.type === "tool_end" && event.tool === todoWrite.wire) session.saveState("todos", todos.all());
        if (event.type === "done" || event.type === "fail") {
          last = { event, signal };
          for (const warning of pathInstructions.takeWarnings()) warn(warning);
          tellOfRunning();
        }
        yield event;
      }
    },
    reload: () => todos.replace((session.state("todos") as Todo[] | undefined) ?? []),
    background: (callId) => background.takeOver(callId),
    async names() {
      const names = subagents.map(({ name }) => name);
      return { commands: listCommands(instructions), skills: skills.names(), subagents: names };
    },
    async end() {
      if (begun) await hooks?.end(sessionEnd(last, asking.isAttended));
      await agent.subagents?.end();
      await background.endAll();
      await browser?.end();
      await mcp?.end();
      await confinement.sandbox?.end();
      await processes.endAll();
      await snapshots?.tidy();
    },
  };
}

/** Made once for each mode. */
function perMode<Value>(state: RunState, make: (mode: RunState["mode"]) => Value): () => Value {
  const made = new Map<RunState["mode"], Value>();
  return () => {
    if (!made.has(state.mode)) made.set(state.mode, make(state.mode));
    return made.get(state.mode)!;
  };
}

/** How a session ended, in the words that hooks are told. */
function sessionEnd({ event, signal }: { event?: AgentEvent; signal?: AbortSignal }, isAttended: boolean) {
  const status = event?.type === "done" ? "completed" : signal?.aborted ? "aborted" : "error";
  const error = event?.type === "fail" ? { error: event.message } : {};
  return { status, reason: isAttended && status === "completed" ? "user_close" : status, ...error } as const;
}

async function askCommand({ request, workspace }: Setup, parts: Pick<Agent["toolContext"], "processes" | "sessionId">) {
  if (request.askCommand === undefined) return undefined;
  return (await import("./ask-command.ts")).commandHuman(request.askCommand, { ...parts, workspace });
}

async function reviewer({ settings, workspace }: Setup, state: RunState) {
  const { createReviewer } = await import("../agent/auto-review.ts");
  return createReviewer({ state, instructions: settings.autoRun, workspace });
}

/** Where nothing can be saved (a container without a home), trust still holds for this run. */
function rememberTrust({ configDir, workspace }: Setup, warn: AssemblyParts["warn"]): void {
  try {
    trust(configDir, workspace);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    warn(`The trust in ${workspace} holds for this run only: ${error.message}`);
  }
}
