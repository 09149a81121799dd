// TurnwiseSession: a live session with a CLI that accepts no input while it works. Its turns share one process if the CLI can
// do that; else each is a process that resumes the session of the previous one.
import { isObject } from "../../json/object.ts";
import { deferred } from "../../protocol/deferred.ts";
import { UserError } from "../../protocol/error-codes.ts";
import type { AgentEvent } from "../../protocol/event.ts";
import { failedTurn, type OpenPrompt } from "../../protocol/prompts.ts";
import type {
  PermissionMode as LiveMode,
  LiveRun,
  Prompt,
  ReasoningEffort,
  Sent,
  TurnEnding,
} from "../../protocol/run.ts";
import type { RunOrder } from "../../protocol/run-elsewhere.ts";
import { derived } from "../../protocol/stream-json.ts";
import type { ForeignCarried } from "../drivers/carry.ts";
import type { AgentDriver, DriverCommand, LiveProtocol, PermissionMode, RunLoss } from "../drivers/driver.ts";
import type { FoundCli } from "../find-cli.ts";
import { start } from "../run.ts";
import { checkWords, driverRequest, type StartOptions } from "../start-options.ts";
import { KeptProcess } from "./kept-process.ts";
import { type LiveEnd, type LiveOptions, type LiveSession, OpenSession } from "./session.ts";

/** Operations that are impossible when each turn has its own process, and why. Calling one throws. */
const impossible = {
  background: "A command of a running turn cannot be reached from outside.",
  compact: "Its conversation cannot be made shorter from outside.",
  rewind: "Its conversation and files cannot be rewound from outside.",
  aside: "It does not support side questions.",
  context: "It does not tell what fills the window of its model.",
  names: "It does not tell which commands, skills and subagents it has.",
} satisfies Partial<Record<keyof LiveRun, string>>;

const possibleModes = ["default", "force", "plan"] as const satisfies PermissionMode[];

/** The losses known before anything runs: options without effect, and operations that are impossible. */
function turnwiseLosses({ human, subagents, toolOutput, holdCalls }: LiveOptions): RunLoss[] {
  const reasons = {
    steer: "A running turn cannot be told anything: it becomes the next prompt.",
    ...impossible,
    ...(human && { human: "It asks nobody: its own rules decide." }),
    ...(subagents !== false && { subagents: "The steps of its subagents are not told apart." }),
    ...(holdCalls && { holdCalls: "Its calls run as they come." }),
    ...(toolOutput !== false && { toolOutput: "Command output is reported only when a command ends." }),
  };
  return Object.entries(reasons).map(([option, reason]) => ({ option, reason }));
}

export type TurnwiseParts = { driver: AgentDriver; cli: FoundCli; options: LiveOptions; losses: readonly RunLoss[] };

export class TurnwiseSession extends OpenSession implements LiveSession {
  readonly #parts: TurnwiseParts;
  readonly #ended = deferred<LiveEnd>();
  /** The process of all turns, and the options that it was started with; both are new after a change of model or mode. */
  #kept: { process: KeptProcess; settings: string } | undefined;
  #shown = { text: "", isTold: false };
  readonly #program: string;
  readonly #command: (options: LiveOptions) => DriverCommand;
  #sessionId: string | undefined;
  #initShown: string | undefined;
  #mode: LiveMode | undefined;
  #isModeNew = false;
  #model: string | undefined;
  #effort: ReasoningEffort | undefined;
  #isModelNew = false;
  #turn: AbortController | undefined;
  #working: Promise<void> | undefined;
  #last: LiveEnd = { exitCode: null, signal: "", stderr: "", stages: [] };

  /** Throws a UserError for options that must not be ignored and that this CLI does not support. */
  constructor(parts: TurnwiseParts) {
    const { driver, cli, options, losses } = parts;
    const buildTurnCommand = (given: LiveOptions) =>
      driver.command(driverRequest({ ...given, prompt: "" }, undefined, false), cli);
    super(driver, [...losses, ...turnwiseLosses(options), ...buildTurnCommand(options).losses]);
    this.#parts = parts;
    this.#command = buildTurnCommand;
    this.#program = driver.programs[0]!;
    if (typeof options.resume === "string" && !options.fork) this.#sessionId = options.resume;
    this.endOnAbort(options.signal, this.ended);
  }

  get ended(): Promise<LiveEnd> {
    return this.#ended.promise;
  }

  /** The session's id; empty until the CLI has reported it in the first turn. */
  get chatId(): string {
    return this.#sessionId ?? "";
  }

  override steer(text: string): Sent {
    return this.hand(this.#turn ? "steer" : "prompt", { text });
  }

  override interrupt(why = "The turn was cancelled."): void {
    if (!this.#turn) return;
    this.#turn.abort(new UserError("INTERRUPTED", why));
    const waiting = this.prompts.waiting().length;
    if (waiting > 0)
      this.#notice("queue", `${waiting} queued ${waiting === 1 ? "prompt stays" : "prompts stay"} queued.`);
  }

  /** Has no effect: a CLI with one process per turn cannot ask the user. */
  attend(): void {}

  /** Has no effect: calls of other CLIs cannot be held. */
  runCall(): void {}

  override setMode(mode: LiveMode): void {
    this.#modeFor(mode);
    this.#isModeNew = true;
    this.#mode = mode;
  }

  override async setModel(model: string, effort?: ReasoningEffort): Promise<void> {
    checkWords({ model });
    const { losses } = this.#command({ ...this.#parts.options, model, effort });
    const loss = losses.find(({ option }) => option === "effort");
    if (loss) throw new UserError("NOT_SUPPORTED", `The effort cannot be ${effort}: ${loss.reason}`);
    this.#effort = effort ?? this.#effort;
    this.#isModelNew = true;
    this.#model = model;
  }

  /** Refuses every order: the possible ones have methods of their own above. */
  protected sendOrder({ type }: RunOrder): never {
    const why = impossible[type as keyof typeof impossible];
    throw new UserError("NOT_SUPPORTED", `${type} is not possible with ${this.#program}. ${why}`);
  }

  protected async endAll(why: UserError): Promise<void> {
    this.stopped = why;
    this.#turn?.abort(why);
    for (const item of this.prompts.waiting()) this.drop(item, why);
    while (this.#working) await this.#working;
    await this.#release();
    this.log.close();
    this.#ended.resolve(this.#last);
  }

  protected override async withdraw(item: OpenPrompt): Promise<boolean> {
    if (item.state !== "waiting") return false;
    this.drop(item, new UserError("INTERRUPTED", "The prompt was withdrawn."));
    return true;
  }

  protected pass(): void {
    this.#working ??= this.#workThrough().finally(() => {
      this.#working = undefined;
      if (this.prompts.nextWaiting() && !this.stopped) this.pass(); // this prompt arrived after the last check
    });
  }

  async #workThrough(): Promise<void> {
    for (let item = this.prompts.nextWaiting(); item && !this.stopped; item = this.prompts.nextWaiting())
      await this.#runTurn(item);
  }

  async #runTurn(item: OpenPrompt): Promise<void> {
    const abort = new AbortController();
    this.#turn = abort;
    item.state = "told";
    const startedAt = Date.now();
    let ending: TurnEnding | undefined;
    try {
      this.#settle();
      this.#shown = { text: item.prompt.text, isTold: false };
      const options = this.#optionsOf(item.prompt, abort.signal);
      const { live } = this.#parts.driver;
      ending = await (live ? this.#keptTurn(options, live) : this.#ownTurn(options));
      this.#show(undefined);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      ending = failedTurn(error, startedAt);
    }
    if (abort.signal.aborted && ending?.type !== "done") {
      const { message, code } = abort.signal.reason as UserError;
      ending = { ...(ending ?? failedTurn({ message }, startedAt)), type: "fail", message, code };
    }
    ending ??= failedTurn({ code: "NO_RESULT", message: "The turn ended without a result." }, startedAt);
    this.#turn = undefined;
    this.log.append(ending);
    this.prompts.end(item, "told", ending);
  }

  async #ownTurn(options: StartOptions): Promise<TurnEnding | undefined> {
    const run = start(options);
    let ending: TurnEnding | undefined;
    for await (const event of run.events) {
      if (event.type === "done" || event.type === "fail") ending = event;
      else this.#show(event);
      await this.log.ready();
    }
    const { sessionId, exitCode, signal, stderr, stages } = await run.result;
    this.#sessionId = sessionId ?? this.#sessionId;
    this.#last = { exitCode, signal, stderr, stages };
    return ending;
  }

  /** A turn in the process of all turns, which is started again if it is over or if its options have changed. */
  async #keptTurn(options: StartOptions, live: LiveProtocol): Promise<TurnEnding> {
    const settings = JSON.stringify([options.model, options.effort, options.permissionMode]);
    if (this.#kept && this.#kept.settings !== settings) await this.#release();
    if (!this.#kept) {
      const parts = { ...this.#parts, live, options: { ...options, signal: undefined } };
      const show = (event: AgentEvent) => this.#show(event);
      const kept = { process: await KeptProcess.start({ ...parts, show, ready: () => this.log.ready() }), settings };
      this.#kept = kept;
      void kept.process.ended.then((end) => {
        this.#last = end;
        if (this.#kept === kept) this.#kept = undefined;
      });
    }
    return this.#kept.process.turn(options.prompt, options.images ?? [], options.signal!);
  }

  async #release(): Promise<void> {
    await this.#kept?.process.close();
  }

  /**
   * Publishes an event, adding one `init` and one `user` event per prompt if the CLI reports none. At the end of the
   * turn it is called without an event.
   */
  #show(event: AgentEvent | undefined): void {
    const turn = this.#shown;
    if (event?.type === "init") {
      this.#sessionId = event.sessionId || this.#sessionId;
      if (this.#initShown === event.sessionId) return;
      this.#initShown = event.sessionId;
      this.log.append(event);
      return;
    }
    if (!turn.isTold && event?.type !== "notice" && event?.type !== "other") {
      turn.isTold = true;
      if (event?.type !== "user") this.log.append({ type: "user", text: turn.text, at: Date.now(), carried: derived });
    }
    if (event) this.log.append(withoutLine(event));
  }

  #modeFor(mode: LiveMode): PermissionMode {
    const existing = possibleModes.find((each) => each === mode);
    if (existing !== undefined) return existing;
    throw new UserError(
      "NOT_SUPPORTED",
      `${this.#program} has no mode '${mode}' here. The nearest is 'plan', in which nothing is changed.`,
    );
  }

  #settle(): void {
    if (this.#isModeNew) this.#notice("mode_change", `The mode is now ${this.#mode}.`, { permissionMode: this.#mode });
    if (this.#isModelNew) this.#notice("model_change", `The model is now ${this.#model}.`, { model: this.#model });
    this.#isModeNew = false;
    this.#isModelNew = false;
  }

  #notice(kind: string, message: string, fields?: Record<string, unknown>): void {
    this.log.append({ type: "notice", kind, message, ...(fields && { fields }), at: Date.now() });
  }

  #optionsOf({ text, data, images = [] }: Prompt, signal: AbortSignal): StartOptions {
    const {
      human: _human,
      subagents: _agents,
      toolOutput: _output,
      holdCalls: _hold,
      attended: _attended,
      resume,
      fork,
      ...same
    } = this.#parts.options;
    const paths = images.map((image) => {
      if (typeof image === "string") return image;
      throw new UserError("NOT_SUPPORTED", `${this.#program} takes images by their paths.`);
    });
    const mode: PermissionMode | undefined = this.#mode && this.#modeFor(this.#mode);
    const isFollowUp = this.#sessionId !== undefined;
    return {
      ...same,
      prompt: data === undefined ? text : `${text}\n\n${data}`,
      signal,
      keepEvents: false,
      ...(paths.length > 0 && { images: paths }),
      ...(mode && { permissionMode: mode }),
      ...(this.#model !== undefined && { model: this.#model }),
      ...(this.#effort !== undefined && { effort: this.#effort }),
      ...(isFollowUp ? { resume: this.#sessionId } : { resume, fork }),
    };
  }
}

/** Removes the CLI's original line from an event before it is stored, except the names of calls. */
function withoutLine(event: AgentEvent): AgentEvent {
  if (!isObject(event.carried) || !("codec" in event.carried)) return event;
  const { carried, ...rest } = event;
  const { line: _line, silent: _silent, events: _count, ...kept } = carried as ForeignCarried;
  return Object.keys(kept).length > 1 ? { ...rest, carried: kept } : rest;
}
