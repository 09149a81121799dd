// Puts an agent together from a setup. Loaded after the first line is out, so that nobody waits for it.
import { release, tmpdir } from "node:os";
import { resolve } from "node:path";
import type { Agent, Asker } from "../agent/agent.ts";
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
import type { Person } from "../agent/person.ts";
import { createProcessRunner } from "../agent/process.ts";
import { createSnapshots } from "../agent/snapshots/index.ts";
import { callableSubagents, findSubagents, subagentSection } from "../agent/subagents/definitions.ts";
import { createSubagents } from "../agent/subagents/index.ts";
import { askQuestion } from "../agent/tools/ask-question.ts";
import { type Todo, TodoList, todoWrite } from "../agent/tools/todos.ts";
import type { Provider } from "../model/provider.ts";
import { createProvider } from "../model/resolve.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { Part } from "../protocol/message.ts";
import { randomUuid } from "../store/chats/random-uuid.ts";
import { hasHookFiles } from "../store/hook-paths.ts";
import { hasSandboxFile } from "../store/sandbox-files.ts";
import { trust } from "../store/trust.ts";
import type { AnswerSchema } from "./answer-schema.ts";
import { chooseTools } from "./choose-tools.ts";
import { type Confinement, createConfinement, unconfined } from "./sandbox.ts";
import { fallbackModels } from "./models.ts";
import { flagText } from "../cli/flags.ts";
import type { McpPlan } from "./mcp-plan.ts";
import { attachedFiles, imagePart } from "./prompt-parts.ts";
import { codeSearchAccess, serviceKeys, webAccess } from "./services.ts";
import type { RunSession } from "./session.ts";
import type { Setup } from "./setup.ts";
import { subagentPlace } from "./subagents.ts";

export type RunOptions = {
  session: RunSession;
  headless: boolean;
  warn(message: string): void;
  ask?: Asker;
  /** Answers what no rule can. */
  person?: Person;
  /** What the answer must be. */
  answer?: AnswerSchema;
  /** Asks a person yes or no. */
  confirm?(question: string): Promise<boolean>;
  /** The servers that are configured. */
  mcp?: McpPlan;
};

export type TurnPrompt = {
  text: string;
  /** Told to the model after the text, as it is. */
  data?: string;
  /** Paths. */
  images: readonly string[];
  /** Images as they are. */
  pictures?: readonly Part[];
};

export interface Run {
  /** One turn. Several may follow each other in one session. */
  turn(prompt: TurnPrompt, signal: AbortSignal): AsyncGenerator<AgentEvent>;
  /** What a `/name` at the beginning of a prompt may be. */
  named(): Record<"Commands" | "Skills" | "Subagents", string[]>;
  /** Ends everything that was started. */
  end(): Promise<void>;
}

export async function createRun(setup: Setup, options: RunOptions): Promise<Run> {
  const { session, headless, warn, ask, person, answer, confirm } = options;
  const { workspace, roots, configDir, home, settings, model } = setup;
  const { id: sessionId, mode, chat } = session;
  const { flags } = setup.invocation.line;
  if (flags.has("trust")) rememberTrust(setup, warn);
  for (const warning of [...setup.warnings, ...session.warnings]) warn(warning);

  const web = webAccess(setup, mode);
  const processes = createProcessRunner({ keys: [...model.keys, ...serviceKeys(setup, web)] });
  const endNow = () => processes.endAllNow();
  process.once("exit", endNow);
  const browser = flags.has("browser")
    ? (await import("./browser.ts")).openBrowser(setup, { mode, processes, warn })
    : undefined;
  const making = createProvider(model, {
    retries: settings.courser.retries,
    timeoutMs: settings.courser.timeoutMs,
    idleMs: settings.courser.idleMs,
    fallbackModels: fallbackModels(setup),
    program: setup.invocation.name,
    sessionId,
  });
  making.catch(() => {}); // waited for below
  // As early as can be, so that they start while everything else is made ready.
  const mcp =
    options.mcp &&
    (await (await import("./mcp.ts")).openMcp(setup, options.mcp, { ...options, mode, processes, provider: making }));
  const hasServers = mcp !== undefined || browser !== undefined;
  const builtIn = chooseTools(flags, { mode, compat: setup.compat, hasServers });
  const provider = await making;
  const { loadHidden } = await import("../policy/hidden.ts");
  const isIgnored = await loadHidden({ workspace, roots, home, configDir, rules: setup.rules });
  const instructions = { workspace, roots, configDir, home, isIgnored };
  const skills = createSkillBook({ ...instructions, trusted: setup.trusted });
  const { subagents, warnings: wrong } = findSubagents({ ...instructions, trusted: setup.trusted });
  const surroundings = {
    ...instructions,
    mode,
    headless,
    platform: process.platform,
    osRelease: release(),
    shell: setup.invocation.env["SHELL"] ?? "/bin/bash",
    today: new Date(),
    systemPrompt: flagText(flags, "system-prompt"),
    appendSystemPrompt: flagText(flags, "append-system-prompt"),
    sections: [skills.section, builtIn.some((tool) => tool.wire === "task") ? subagentSection(subagents) : ""],
  };
  const { system, warnings, loaded } = buildSystemPrompt({
    ...surroundings,
    appendSystemPrompt: [surroundings.appendSystemPrompt, answer?.instruction].filter(Boolean).join("\n\n"),
  });
  for (const warning of [...warnings, ...skills.takeWarnings(), ...wrong]) warn(warning);

  const background = new BackgroundShells(processes, tmpdir());
  let confinement = unconfined;
  let confining: Promise<Confinement> | undefined;
  const confine = async () => {
    confining ??= createConfinement(setup, { headless, processes, warn });
    confinement = await confining;
    return confinement;
  };
  // A broken file stops the run before anything is asked or done.
  if (flagText(flags, "sandbox") === "enabled" || hasSandboxFile(configDir, workspace)) await confine();
  const askCommand = flagText(flags, "ask-command");
  const asker =
    ask ??
    (askCommand === undefined
      ? undefined
      : (await import("./ask-command.ts")).commandAsker(askCommand, { processes, workspace, sessionId }));
  const hooks =
    flags.has("hooks") || hasHookFiles({ configDir, workspace, home })
      ? await (await import("./hooks.ts")).openHooks(setup, {
          session,
          headless,
          processes,
          provider,
          warn,
          ...(confirm && { confirm }),
        })
      : undefined;
  const snapshots = chat && createSnapshots({ configDir, workspace, roots, sessionId, chat });
  const reviews = mode === "default" && (flags.has("auto-review") || settings.approvalMode === "auto-review");
  const contextTokens = settings.courser.contextTokens ?? model.contextTokens;
  const todos = new TodoList((session.state("todos") as Todo[] | undefined) ?? []);
  const pathInstructions = withSkills(createPathInstructions(instructions, loaded), skills);
  const agent: Agent = {
    session: session.session,
    provider,
    model: {
      id: model.modelId,
      displayName: model.displayName,
      contextTokens,
      effort: model.effort,
      price: model.price,
    },
    system,
    get tools() {
      return [...builtIn, ...(browser?.tools ?? []), ...(mcp?.tools ?? [])];
    },
    async decide(needs, options) {
      const { decide } = await import("../policy/decide.ts");
      // While no command is run, nothing waits for the sandbox.
      const confined = confining || needs.some((need) => need.kind === "Shell") ? await confine() : unconfined;
      const decision = await decide(needs, {
        mode: options?.readOnly && mode !== "plan" ? "ask" : mode,
        interactive: !headless || asker !== undefined,
        workspace,
        // The model is pointed to long outputs by their path: it may read them.
        roots: background.folder ? [...roots, background.folder] : roots,
        home,
        configDir,
        rules: [...setup.rules, ...skills.readRules(), ...(mcp?.rules ?? [])],
        sandbox: confined.reach,
        acceptsSearches: settings.raw["autoAcceptWebSearch"] === true,
      });
      return confined.check(decision);
    },
    ...(asker && { ask: asker }),
    // The offline model understands instructions, not complaints.
    ...(answer && { answer: model.kind === "offline" ? { ...answer, repairs: 0 } : answer }),
    ...(person ? { person } : { untold: new Set([askQuestion.name]) }),
    ...(hooks && { hooks }),
    ...(reviews && { review: await reviewer(setup, provider) }),
    ...(snapshots && {
      async beforeWrite(needs, signal) {
        const note = await snapshots.before(chat!.turn, needs, signal);
        if (note) warn(note.message);
      },
    }),
    limits: {
      maxTurns: setup.limits.maxTurns,
      loopLimit: settings.courser.loopLimit ?? 5,
      maxCost: setup.limits.maxCost,
    },
    toolContext: {
      sessionId,
      workspace,
      roots,
      processes,
      background,
      todos,
      configDir,
      get sandbox() {
        return confinement.sandbox;
      },
      // A quarter of the window at most: one result must leave room for the others and the answer.
      resultLimit: Math.max(4000, Math.min(100_000, contextTokens)),
      web,
      codeSearch: codeSearchAccess(setup, { isKept: chat !== undefined }),
      compat: setup.compat,
    },
    instructionsFor: (path) => pathInstructions.forPath(resolve(workspace, path)),
  };

  const place = subagentPlace(setup, session, { subagents, surroundings, instructions, loaded });
  agent.subagents = createSubagents(agent, place);

  let hasBegun = false;
  let last: { event?: AgentEvent; signal?: AbortSignal } = {};
  return {
    async *turn({ text, data, images, pictures: given = [] }, signal) {
      if (hooks && !hasBegun) {
        hasBegun = true;
        agent.system = [system, ...(await hooks.begin(signal))].join("\n\n");
      }
      yield* (await mcp?.ready(signal)) ?? [];
      const callable = [skills, callableSubagents(subagents)];
      const expanded =
        (await mcp?.expand(text, signal)) ??
        expandPrompt(text, { ...instructions, instructions: pathInstructions, callable });
      for (const warning of expanded.warnings) warn(warning);
      const pictures = [...given, ...images.map((path) => imagePart(resolve(path)))];
      const piped: Part[] = data === undefined ? [] : [{ type: "text", text: data }];
      const shown = data === undefined ? text : `${text}\n\n${data}`;
      const parts = [...expanded.parts, ...piped, ...pictures];
      const attachments = attachedFiles(expanded, images);
      const prompt = { text: shown, parts, requestId: randomUuid(), attachments };
      for await (const event of runTurn(agent, prompt, signal)) {
        last = { event, signal };
        if (event.type === "tool_end" && event.tool === todoWrite.wire) chat?.saveState("todos", todos.all());
        yield event;
      }
      for (const warning of pathInstructions.takeWarnings()) warn(warning);
    },
    named: () => ({
      Commands: listCommands(instructions),
      Skills: skills.names(),
      Subagents: subagents.map(({ name }) => name),
    }),
    async end() {
      if (hasBegun) await hooks?.end(sessionEnd(last, headless));
      for (const shell of background.list()) {
        if (shell.status === "running")
          warn(`The background command ${shell.taskId} was still running and was ended: ${shell.command}`);
      }
      await agent.subagents?.end();
      await background.endAll();
      await browser?.end();
      await mcp?.end();
      await confinement.sandbox?.end();
      await processes.endAll();
      process.off("exit", endNow);
      await snapshots?.tidy();
    },
  };
}

/** How a session ended, in the words that hooks are told. */
function sessionEnd({ event, signal }: { event?: AgentEvent; signal?: AbortSignal }, headless: boolean) {
  const status = event?.type === "done" ? "completed" : signal?.aborted ? "aborted" : "error";
  const error = event?.type === "fail" ? { error: event.message } : {};
  return { status, reason: headless || status !== "completed" ? status : "user_close", ...error } as const;
}

async function reviewer({ model, settings, workspace }: Setup, provider: Provider) {
  const { createReviewer } = await import("../agent/auto-review.ts");
  const { modelId: id, displayName } = model;
  return createReviewer({ provider, model: { id, displayName }, instructions: settings.autoRun, workspace });
}

/** Where nothing can be saved (a container without a home), trust still holds for this run. */
function rememberTrust({ configDir, workspace }: Setup, warn: RunOptions["warn"]): void {
  try {
    trust(configDir, workspace);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    warn(`The trust in ${workspace} holds for this run only: ${error.message}`);
  }
}
