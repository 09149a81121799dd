// openRun: a run as an object for every front end. It returns once `init` is recorded, and assembles the agent afterwards.
import { explainError, faultOf, UserError, usageError } from "../protocol/error-codes.ts";
import type { AgentEvent, EventOf, Spending } from "../protocol/event.ts";
import { EventLog, MemoryKeeper } from "../protocol/event-log.ts";
import { onAbort, untilAborted } from "../protocol/on-abort.ts";
import { type OpenPrompt, Prompts, sentOf, withdrawnMessage } from "../protocol/prompts.ts";
import type {
  ContextUse,
  LiveRun,
  PermissionMode,
  Prompt,
  ReasoningEffort,
  Recorded,
  RunRequest,
  Sent,
} from "../protocol/run.ts";
import { noSpending } from "../protocol/usage.ts";
import { randomUuid } from "../store/chats/random-uuid.ts";
import type { AnswerSchema } from "./answer-schema.ts";
import type { Assembled } from "./assemble.ts";
import type { RunHost } from "./host.ts";
import type { McpPlan } from "./mcp-plan.ts";
import type { OpenedModel } from "./models.ts";
import { chatKeeper, findMcp, initEvent, lastingModes, openSession, type RunSession } from "./session.ts";
import { describeSetup, type Setup, setUp } from "./setup.ts";
import { limitTime } from "./time-limit.ts";
import { TurnRecorder } from "./turn-recorder.ts";

/** Opens a run. Throws a UserError if it cannot start. */
export async function openRun(request: RunRequest, host: RunHost): Promise<LiveRun> {
  if (!isObserved(host)) return open(request, host);
  return (await import("./observed-run.ts")).observedRun(request, host, open);
}

/** Returns whether a log or OpenTelemetry observes the run; neither is loaded otherwise. */
function isObserved({ log, env }: RunHost): boolean {
  if (log !== undefined) return true;
  const { OTEL_EXPORTER_OTLP_ENDPOINT: all, OTEL_SDK_DISABLED: disabled } = env;
  const isWanted = all || env["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] || env["OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"];
  return isWanted !== undefined && isWanted !== "" && disabled?.toLowerCase() !== "true";
}

async function open(requested: RunRequest, host: RunHost): Promise<OpenRun> {
  const prepared = requested.worktree ? await (await import("./worktree.ts")).inWorktree(requested, host) : undefined;
  const setup = await setUp(prepared?.request ?? requested, host);
  const mcp = await findMcp(setup);
  const { allowedTools, disallowedTools, answerSchema, browser } = setup.request;
  if (allowedTools || disallowedTools) {
    const { chooseTools } = await import("./choose-tools.ts");
    // Report unknown tool names before the run starts.
    chooseTools(setup.request, { mode: setup.mode, hasServers: mcp !== undefined || browser === true });
  }
  const answer =
    answerSchema === undefined ? undefined : (await import("./answer-schema.ts")).answerSchema(answerSchema);
  if (host.debug) describeSetup(setup).forEach(host.debug);
  const session = await openSession(setup);
  try {
    if (host.seams?.messages && session.session.messages.length === 0) session.session.append(...host.seams.messages);
    const run = new OpenRun({ setup, session, mcp, answer });
    for (const notice of prepared?.notices ?? []) run.notice("worktree", notice);
    return run;
  } catch (error) {
    session.close();
    throw error;
  }
}

type OpenParts = {
  setup: Setup;
  session: RunSession;
  mcp: McpPlan | undefined;
  answer: AnswerSchema | undefined;
};

class OpenRun implements LiveRun {
  readonly chatId: string;
  readonly #parts: OpenParts;
  readonly #log: EventLog;
  readonly #prompts = new Prompts();
  /** Work that must not be done while a turn is running. */
  readonly #jobs: (() => Promise<void>)[] = [];
  readonly #startedAt: number;
  #timer: NodeJS.Timeout | undefined;
  /** The model's text since its last tool call. */
  #said = "";
  #turn: { abort: AbortController; item: OpenPrompt } | undefined;
  #working: Promise<void> | undefined;
  #assembling: Promise<Assembled> | undefined;
  #agent: Assembled["agent"] | undefined;
  /** Why the run was stopped, if it was. */
  #stopped: UserError | undefined;
  #hasTurned = false;
  #closing: Promise<void> | undefined;
  readonly #pending: { mode?: PermissionMode; model?: OpenedModel; compact?: boolean } = {};

  constructor(parts: OpenParts) {
    const { setup, session, mcp } = parts;
    this.#parts = parts;
    this.chatId = session.id;
    this.#startedAt = this.#now();
    this.#log = new EventLog(session.chat ? chatKeeper(session.chat) : new MemoryKeeper(), {
      watch: setup.host.watch,
      broke: (error) => this.#stop(faultOf(error)),
    });
    this.#log.append(initEvent(setup, session, mcp));
    this.#assembleOnce().catch(() => {}); // a rejection is reported by the first turn
  }

  send(prompt: Prompt): Sent {
    return this.#enqueue("prompt", prompt);
  }

  steer(text: string): Sent {
    return this.#enqueue(this.#turn ? "steer" : "prompt", { text });
  }

  interrupt(why = "The turn was cancelled."): void {
    if (!this.#turn) return;
    this.#turn.abort.abort(new UserError("INTERRUPTED", why));
    const waiting = this.#prompts.waiting().length;
    if (waiting > 0)
      this.notice("queue", `${waiting} queued ${waiting === 1 ? "prompt stays" : "prompts stay"} queued.`);
  }

  readonly background = async (callId: string) => (await this.#assembleOnce()).background(callId);
  readonly backgroundCommands = async () => (await this.#assembleOnce()).backgroundCommands();

  setMode(mode: PermissionMode): void {
    this.#pending.mode = mode;
  }

  async setModel(name: string, effort?: ReasoningEffort): Promise<void> {
    const { openNamedModel } = await import("./models.ts");
    this.#pending.model = await openNamedModel(this.#parts.setup, { name, by: "user", ...(effort && { effort }) });
  }

  async compact(): Promise<void> {
    if (this.#turn) this.#pending.compact = true;
    else
      await this.#job(async () =>
        (await this.#loadVerbs()).compactConversation(await this.#assembleOnce(), (event) => this.#emit(event)),
      );
  }

  async rewind(turn: number): Promise<void> {
    if (this.#turn || this.#prompts.nextWaiting()) throw usageError("A turn is running. Interrupt it, then rewind.");
    await this.#job(async () => {
      const [{ rewind }, assembled] = await Promise.all([this.#loadVerbs(), this.#assembleOnce()]);
      if (this.#stopped) throw this.#stopped;
      const message = await rewind(this.#parts, assembled, turn);
      this.notice("rewound", message);
    });
  }

  async context(): Promise<ContextUse> {
    return (await this.#loadVerbs()).contextUse((await this.#assembleOnce()).agent);
  }

  async aside(question: string): Promise<string> {
    const { agent } = await this.#assembleOnce();
    return (await this.#loadVerbs()).askAside(agent, question, this.#parts.setup.host.signal);
  }

  async names(): ReturnType<LiveRun["names"]> {
    return (await this.#assembleOnce()).names();
  }

  events(from?: number): AsyncIterable<Recorded> {
    return this.#log.events(from);
  }

  spent(): Spending {
    const { spending, model } = this.#agent ?? {};
    return spending?.total(model?.price) ?? noSpending;
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#stop(new UserError("INTERRUPTED", "The run was closed."));
    clearTimeout(this.#timer);
    while (this.#working) await this.#working;
    try {
      await (await this.#assembling?.catch(() => undefined))?.end();
    } finally {
      this.#log.close();
      this.#parts.session.close();
    }
  }

  #loadVerbs() {
    return import("./verbs.ts");
  }

  #now(): number {
    return (this.#parts.setup.host.seams?.now ?? Date.now)();
  }

  #enqueue(kind: OpenPrompt["kind"], prompt: Prompt): Sent {
    const item = this.#prompts.add(kind, prompt);
    this.#startWork();
    return sentOf(item, async () => {
      if (item.state !== "waiting") return false;
      this.#drop(item, new UserError("INTERRUPTED", withdrawnMessage));
      return true;
    });
  }

  #drop(item: OpenPrompt, why: UserError): void {
    this.#prompts.end(item, "dropped", { ...this.#failure(why), usage: noSpending });
  }

  #job(work: () => Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#jobs.push(() => work().then(resolve, reject));
      this.#startWork();
    });
  }

  #startWork(): void {
    this.#working ??= this.#workThrough().finally(() => {
      this.#working = undefined;
      // a job or prompt was added after the last check
      if (this.#jobs.length > 0 || this.#prompts.nextWaiting()) this.#startWork();
    });
  }

  async #workThrough(): Promise<void> {
    while (true) {
      const job = this.#jobs.shift();
      const next = job ? undefined : this.#prompts.nextWaiting();
      if (job) await job();
      else if (!next) return;
      else if (this.#stopped && (this.#hasTurned || this.#closing)) this.#drop(next, this.#stopped);
      else await this.#runTurn(next);
    }
  }

  async #runTurn(item: OpenPrompt): Promise<void> {
    const abort = new AbortController();
    const startedAt = this.#now();
    item.state = "told";
    this.#hasTurned = true;
    this.#turn = { abort, item };
    const recorder = new TurnRecorder(this.#log);
    const take = (event: AgentEvent) => this.#take(event, recorder);
    try {
      if (this.#stopped) throw this.#stopped;
      const assembled = await this.#assembleOnce();
      for await (const event of assembled.turn(item.prompt, abort.signal)) {
        take(event);
        await this.#log.ready();
        if (event.type === "tool_start") await this.#waitForHost(event.callId, undefined, abort.signal);
      }
    } catch (error) {
      const reason: unknown = abort.signal.aborted ? abort.signal.reason : error;
      take(this.#failure(reason, startedAt));
    }
    if (!recorder.ending) take(this.#failure(new Error("the turn ended without a result"), startedAt));
    this.#turn = undefined;
    if (this.#pending.compact) {
      this.#pending.compact = false;
      void this.compact().catch((error: Error) => this.notice("warning", error.message));
    }
    this.#prompts.end(item, "told", recorder.ending!);
  }

  /** Stores an event, then shows it. If it cannot be stored, the turn ends once its calls have ended. */
  #take(event: AgentEvent, recorder: TurnRecorder): void {
    if (recorder.ending) return;
    try {
      if (event.type === "user" || event.type === "tool_start") this.#said = "";
      if (event.type === "text_end") this.#said += event.text;
      if (event.type === "done") this.#parts.setup.host.deliver?.({ ...event, text: this.#said });
      recorder.add(event);
    } catch (error) {
      const fault = faultOf(error);
      this.#stop(fault);
      recorder.breakOff(event, this.#failure(fault));
    }
  }

  /** Records an event that does not belong to a turn. */
  #emit(event: AgentEvent): void {
    try {
      this.#log.append(event);
    } catch (error) {
      this.#stop(faultOf(error)); // an event that cannot be stored is not shown
    }
  }

  notice(kind: string, message: string, fields?: Record<string, unknown>): void {
    this.#emit({ type: "notice", kind, message, ...(fields && { fields }), at: this.#now() });
  }

  #failure(error: unknown, startedAt = this.#startedAt): EventOf<"fail"> {
    const { redact = (text: string) => text } = this.#parts.setup.host;
    const { code, message } = explainError(error);
    const requestId = (this.#parts.setup.host.seams?.newId ?? randomUuid)();
    const durationMs = this.#now() - startedAt;
    const usage = this.#turn ? this.spent() : noSpending;
    return { type: "fail", message: redact(message), code, durationMs, apiDurationMs: 0, requestId, usage };
  }

  /** Ends the turn with this reason. No further turn runs after it. */
  #stop(reason: unknown): void {
    if (this.#stopped) return;
    this.#stopped = reason instanceof UserError ? reason : new UserError("INTERRUPTED", "The run was cancelled.");
    this.#turn?.abort.abort(this.#stopped);
  }

  /** Applies the time limit and the host's abort signal. */
  #limit({ limits: { maxTimeMs }, host: { signal } }: Setup): void {
    onAbort(signal, () => this.#stop(signal?.reason));
    if (maxTimeMs !== undefined) this.#timer = limitTime(maxTimeMs, (spent) => this.#stop(spent));
  }

  #assembleOnce(): Promise<Assembled> {
    this.#assembling ??= this.#assemble();
    return this.#assembling;
  }

  async #assemble(): Promise<Assembled> {
    const { setup, session, mcp, answer } = this.#parts;
    await new Promise(setImmediate); // first let readers that wait for `init` receive it
    this.#limit(setup);
    await setup.host.ready;
    const { assemble } = await import("./assemble.ts");
    const assembled = await assemble(setup, {
      session,
      ...(mcp && { mcp }),
      ...(answer && { answer }),
      control: {
        settle: () => this.#settle(assembled),
        takeSteered: (signal) => this.#takeSteered(assembled, signal),
        takeCompact: () => {
          const isWanted = this.#pending.compact === true;
          this.#pending.compact = false;
          return isWanted;
        },
      },
      watch: (agent, event, number) => {
        this.#log.show({ agent, ...(number !== undefined && { number }), event });
        const held = event.type === "tool_start" && this.#turn;
        return held ? this.#waitForHost(event.callId, agent, held.abort.signal) : this.#log.ready();
      },
      warn: (message) => this.notice("warning", message),
    });
    this.#agent = assembled.agent;
    setup.host.debug?.("the agent is ready");
    return assembled;
  }

  /** Waits until the host lets a call start. A turn that is stopped meanwhile continues to the ends of its calls. */
  async #waitForHost(callId: string, agent: string | undefined, signal: AbortSignal): Promise<void> {
    const held = this.#parts.setup.host.heldCall?.(callId, agent);
    await (held ? Promise.race([held, untilAborted(signal)]) : this.#log.ready());
  }

  #settle({ state }: Assembled): AgentEvent[] {
    const { mode, model } = this.#pending;
    const { session } = this.#parts;
    const events: AgentEvent[] = [];
    const say = (kind: string, message: string, fields: Record<string, string>) =>
      events.push({ type: "notice", kind, message, fields, at: this.#now() });
    if (mode !== undefined && mode !== state.mode) {
      state.mode = mode;
      if (lastingModes.includes(mode) || session.state("mode") !== undefined) session.saveState("mode", mode);
      say("mode_change", `The mode is now ${mode}.`, { permissionMode: mode });
    }
    if (model) {
      Object.assign(state, model);
      const { displayName } = model.model;
      say("model_change", `The model is now ${displayName}.`, { model: displayName });
    }
    this.#pending.mode = undefined;
    this.#pending.model = undefined;
    return events;
  }

  async #takeSteered({ expand }: Assembled, signal: AbortSignal) {
    const taken = this.#prompts.waiting().filter(({ kind }) => kind === "steer");
    for (const item of taken) {
      item.state = "told";
      void this.#turn?.item.ending.then((ending) => this.#prompts.end(item, "told", ending));
    }
    return Promise.all(taken.map(({ prompt }) => expand(prompt, signal)));
  }
}
