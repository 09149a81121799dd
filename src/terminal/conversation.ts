// The conversation on the screen: opens one run after another, queues what the user types meanwhile, and tracks facts about the chat.
import type { AgentEvent, EventOf } from "../protocol/event.ts";
import type {
  CallableName,
  ContextUse,
  LiveRun,
  PermissionMode,
  Prompt,
  ReasoningEffort,
  Recorded,
  RunRequest,
  Sent,
} from "../protocol/run.ts";
import type { RunHost } from "../run/host.ts";
import { openRun } from "../run/live-run.ts";
import type { Attachment } from "./start.ts";

/** A message typed during a turn that the model has not received yet. */
type Queued = { text: string; sent: Sent };

/** Information for the footer, the window title and the status line. */
export type ConversationInfo = {
  chatId?: string;
  model: string;
  mode: PermissionMode;
  context?: ContextUse;
  /** The number of tokens that the finished turns have used. */
  tokens: { input: number; output: number };
};

/** One edit that the run reported, with its turn. */
export type Change = { turn: number; path: string; diff: string; added: number; removed: number };

type Listeners = {
  event(recorded: Recorded): void;
  /** Called when something other than an event changed: the queue or the facts. */
  changed(): void;
};

export class Conversation {
  readonly #host: RunHost;
  readonly #listeners: Listeners;
  /** The run this terminal is attached to, until another run replaces it. */
  #attachment: Attachment | undefined;
  /** Whether the attached run is in a turn, which another client may have started. */
  #isInTurn = false;
  #run: LiveRun | undefined;
  #followed: Promise<void> | undefined;
  #request: RunRequest;
  #sent: Queued[] = [];
  /** Prompts that the user sent before the run was open. */
  #early: Prompt[] = [];
  /** The ids of shell calls that are running, the newest last. */
  readonly #shells = new Set<string>();
  #firstNumber: number | undefined;
  #lastNumber = 0;
  readonly changes: Change[] = [];
  info: ConversationInfo;
  turn = 0;
  /** The text of the last answer and the id of its request, for copying. */
  lastAnswer = "";
  lastRequestId = "";
  /** The skill added to every prompt, until another mode is chosen. */
  skill: string | undefined;
  /** Commands and skills of the project and the user, in addition to the built-in commands. */
  names: readonly CallableName[] = [];
  exitCode = 0;

  constructor(request: RunRequest, host: RunHost, listeners: Listeners, attachment?: Attachment) {
    this.#request = request;
    this.#host = host;
    this.#listeners = listeners;
    this.#attachment = attachment;
    this.info = initialInfo(request);
  }

  get request(): RunRequest {
    return this.#request;
  }

  get run(): LiveRun | undefined {
    return this.#run;
  }

  get host(): RunHost {
    return this.#host;
  }

  /** The attached run, which continues after this terminal closes. */
  get attachment(): Attachment | undefined {
    return this.#attachment;
  }

  get isWorking(): boolean {
    return this.#isInTurn || this.#sent.some(({ sent }) => sent.state === "told");
  }

  get queue(): readonly { text: string }[] {
    return [...(this.isWorking ? this.#waiting() : []), ...this.#early];
  }

  #waiting(): Queued[] {
    return this.#sent.filter(({ sent }) => sent.state === "waiting");
  }

  /** Yields all recorded events of the chat; with `before`, only those of earlier runs. */
  async *history(part: "all" | "before" = "all"): AsyncGenerator<Recorded> {
    this.#forget();
    const end = part === "all" ? this.#lastNumber : (this.#firstNumber ?? 1) - 1;
    if (!this.#run || end < 1) return;
    for await (const recorded of this.#run.events(1)) {
      if (recorded.number === undefined || recorded.agent !== undefined) continue;
      if (recorded.number <= end) {
        this.#rememberTurn(recorded.event);
        yield recorded;
      }
      if (recorded.number >= end) return;
    }
  }

  /** Opens the requested run, after closing the previous one. Throws a UserError if the run cannot be opened. */
  async open(request: RunRequest = this.#request): Promise<void> {
    if (this.#run) this.#attachment = undefined;
    await this.close();
    this.#request = request;
    this.info = initialInfo(request);
    this.#firstNumber = undefined;
    this.#shells.clear();
    this.#forget();
    const run = this.#attachment?.open(this.#host.human) ?? (await openRun(request, this.#host));
    this.#run = run;
    this.info.chatId = run.chatId;
    this.#followed = this.#follow(run);
    // Listing names makes hooks and servers ask their questions before the first prompt; errors are reported by the first turn.
    const named = this.refreshNames();
    if (!this.#attachment) await named; // do not wait for the host of an attached run, which may be busy
    for (const prompt of this.#early.splice(0)) this.submit(prompt);
    void this.refresh();
  }

  async close(): Promise<void> {
    const [run, followed] = [this.#run, this.#followed];
    this.#run = undefined;
    this.#sent = [];
    this.#isInTurn = false;
    await run?.close();
    await followed;
  }

  /** Starts a turn, or steers the running turn if there is one. Prompts are kept until the run is open. */
  submit(prompt: Prompt): void {
    const run = this.#run;
    if (!run) this.#early.push(prompt);
    else {
      const isSteering = this.isWorking && (prompt.images ?? []).length === 0;
      this.#enqueue(prompt.text, isSteering ? run.steer(prompt.text) : run.send(this.#withSkill(prompt)));
    }
    this.#listeners.changed();
  }

  #withSkill(prompt: Prompt): Prompt {
    const isNamed = this.names.some(({ name, kind }) => kind === "skill" && name === this.skill);
    return isNamed && !prompt.text.startsWith("/") ? { ...prompt, text: `/${this.skill} ${prompt.text}` } : prompt;
  }

  /** Takes back the last queued message; returns undefined if all have been sent to the model. */
  async takeBack(): Promise<string | undefined> {
    const early = this.#early.pop();
    const last = this.#waiting().at(-1);
    if (early) return early.text;
    return last && (await last.sent.withdraw()) ? last.text : undefined;
  }

  /** Withdraws all queued messages and returns them in order. */
  async takeBackAll(): Promise<string[]> {
    const texts: string[] = [];
    for (const { text, sent } of this.#waiting()) if (await sent.withdraw()) texts.push(text);
    return [...texts, ...this.#early.splice(0).map(({ text }) => text)];
  }

  interrupt(): void {
    this.#run?.interrupt("Interrupted by you.");
  }

  /** Resolves when the turns of all sent messages have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#sent.map(({ sent }) => sent.ending));
  }

  /** Moves the running shell command to the background. Returns false if no command is running. */
  async background(): Promise<boolean> {
    const last = [...this.#shells].at(-1);
    return last !== undefined && (await this.#run?.background(last)) === true;
  }

  setSkill(skill: string): void {
    this.skill = skill;
    this.#listeners.changed();
  }

  setMode(mode: PermissionMode): void {
    this.skill = undefined;
    this.#run?.setMode(mode);
    this.info = { ...this.info, mode };
    this.#listeners.changed();
  }

  async setModel({ id, name }: { id: string; name: string }, effort?: ReasoningEffort): Promise<void> {
    await this.#run?.setModel(id, effort);
    const { effort: _before, ...request } = this.#request;
    this.#request = { ...request, model: id, ...(effort !== undefined && { effort }) };
    this.info = { ...this.info, model: name };
    void this.refresh();
    this.#listeners.changed();
  }

  /** Updates how full the context window is. Keeps the previous value if the run does not know. */
  async refresh(): Promise<void> {
    const run = this.#run;
    const context = await run?.context().catch(() => undefined);
    if (run !== this.#run || !context) return;
    this.info = { ...this.info, context };
    this.#listeners.changed();
  }

  /** Updates the names; servers that connected in the meantime may have added some. */
  async refreshNames(): Promise<void> {
    const run = this.#run;
    const names = await run?.names().catch(() => undefined);
    if (names && run === this.#run) this.names = names;
  }

  /** Clears what is known about past turns, before the history is read again. */
  #forget(): void {
    this.turn = 0;
    this.changes.length = 0;
    this.lastAnswer = "";
    this.lastRequestId = "";
    this.info = { ...this.info, tokens: { input: 0, output: 0 } };
  }

  #enqueue(text: string, sent: Sent): void {
    this.#sent.push({ text, sent });
    void sent.ending.then((ending) => {
      this.#sent = this.#sent.filter((each) => each.sent !== sent);
      this.exitCode = ending.type === "done" ? 0 : 1;
      void this.refresh();
      this.#listeners.changed();
    });
  }

  async #follow(run: LiveRun): Promise<void> {
    for await (const recorded of run.events()) {
      if (recorded.agent === undefined) this.#updateState(recorded.event);
      if (this.#attachment && recorded.agent === undefined) this.#watch(recorded.event);
      if (recorded.number !== undefined && recorded.agent === undefined) {
        this.#firstNumber ??= recorded.number;
        this.#lastNumber = recorded.number;
      }
      this.#listeners.event(recorded);
    }
  }

  #watch(event: AgentEvent): void {
    if (event.type === "init") this.info = { ...this.info, chatId: event.sessionId };
    if (event.type === "user") this.#isInTurn = true;
    if (event.type !== "done" && event.type !== "fail") return;
    this.#isInTurn = false;
  }

  #updateState(event: AgentEvent): void {
    this.#rememberTurn(event);
    switch (event.type) {
      case "init":
        this.info = { ...this.info, model: event.model ?? "", mode: event.permissionMode as PermissionMode };
        break;
      case "tool_start":
        if (event.tool === "shell") this.#shells.add(event.callId);
        break;
      case "tool_end":
        this.#shells.delete(event.callId);
        break;
      case "notice": {
        const { model, permissionMode } = event.fields ?? {};
        if (event.kind === "model_change" && typeof model === "string") this.info = { ...this.info, model };
        if (event.kind === "mode_change") this.info = { ...this.info, mode: permissionMode as PermissionMode };
        break;
      }
      default:
        break;
    }
  }

  /** Records an event of a turn, whether it is live or replayed from the history. */
  #rememberTurn(event: AgentEvent): void {
    switch (event.type) {
      case "user":
        this.turn++;
        break;
      case "tool_end":
        this.#rememberChange(event);
        break;
      case "text_end":
        this.lastAnswer = event.text;
        break;
      case "done":
      case "fail": {
        const { input, output } = this.info.tokens;
        const { inputTokens = 0, outputTokens = 0 } = event.usage ?? {};
        this.info = { ...this.info, tokens: { input: input + inputTokens, output: output + outputTokens } };
        this.lastRequestId = event.requestId ?? this.lastRequestId;
        break;
      }
      default:
        break;
    }
  }

  #rememberChange({ outcome }: EventOf<"tool_end">): void {
    const value = outcome?.kind === "success" ? (outcome.value as Record<string, unknown> | undefined) : undefined;
    const { path, diffString, linesAdded, linesRemoved } = value ?? {};
    if (typeof path !== "string" || typeof diffString !== "string" || diffString === "") return;
    const counts = { added: Number(linesAdded ?? 0), removed: Number(linesRemoved ?? 0) };
    this.changes.push({ turn: this.turn, path, diff: diffString, ...counts });
  }
}

function initialInfo({ model, mode, force }: RunRequest): ConversationInfo {
  const first: PermissionMode = mode === "plan" || mode === "ask" ? mode : force ? "force" : "default";
  return { model: model ?? "", mode: first, tokens: { input: 0, output: 0 } };
}
