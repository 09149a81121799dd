// AttachedRun: a run of the fleet as a LiveRun, from any process. Closing it lets the run go on. A prompt for a run that is
// over begins the next run of its agent, which resumes the session: for who looks at it, it is one conversation.
import { explainError, UserError } from "../protocol/error-codes.ts";
import { failedTurn, type OpenPrompt, userError } from "../protocol/prompts.ts";
import type { Answer, Human, PermissionMode, Question, TurnEnding } from "../protocol/run.ts";
import { RunElsewhere, type RunOrder } from "../protocol/run-elsewhere.ts";
import { randomUuid } from "../store/chats/random-uuid.ts";
import { programName } from "../text/program-name.ts";
import type { Entry, Fleet, LogEntry, Message, RunEnd, RunRecord } from "./fleet.ts";
import { followUp, refusedMode } from "./new-run.ts";

export type AttachOptions = {
  /** Begins a run that was enqueued. */
  start(run: RunRecord): Promise<unknown>;
  /** Answers what the run asks. */
  human?: Human;
  /** Where to read from; from the beginning unless told. */
  from?: number;
};

export function attachRun(fleet: Fleet, run: RunRecord, options: AttachOptions): AttachedRun {
  return new AttachedRun(fleet, run, options);
}

export class AttachedRun extends RunElsewhere {
  /** Why the run could not be followed to its end. */
  failure: UserError | undefined;
  readonly #fleet: Fleet;
  readonly #options: AttachOptions;
  readonly #asked = new Map<string, AbortController>();
  readonly #closed = new AbortController();
  #run: RunRecord;
  #isAttended = false;
  #sessionId: string | undefined;
  #last: number;
  #following: Promise<void>;
  /** Prompts go one after the other: the first of two may have to begin a run. */
  #handing: Promise<unknown> = Promise.resolve();
  /** Prompts that the run was told. Others may still have to begin a run, which the end of this one does not concern. */
  readonly #told = new WeakSet<OpenPrompt>();
  /** How the run that is looked at now ended. */
  #over: UserError | undefined;

  constructor(fleet: Fleet, run: RunRecord, options: AttachOptions) {
    super(`${randomUuid().slice(0, 8)}-`); // others who are attached do not take a reply for theirs
    this.#fleet = fleet;
    this.#run = run;
    this.#options = options;
    this.#sessionId = run.sessionId;
    this.#last = options.from ?? 0;
    this.#following = this.#follow();
  }

  /** Empty until its CLI said it. */
  get chatId(): string {
    return this.#sessionId ?? "";
  }

  /** The run that is looked at now. */
  get runId(): string {
    return this.#run.id;
  }

  /** Never rejects. Resolves when the run that is looked at now is over and everything of it was told, or cannot be told. */
  get settled(): Promise<void> {
    return this.#following;
  }

  /** Ends the run for everybody. False: it was over. */
  async stop(reason: string): Promise<boolean> {
    return this.#fleet.cancel(this.#run.id, reason);
  }

  /** A person is in front of it from now on. When they leave, what it asks waits. */
  attend(): void {
    this.#isAttended = true;
    this.#fleet.say(this.#run.id, { type: "attend" }).catch(() => {}); // it is over: the next run is told
  }

  override setMode(mode: PermissionMode): void {
    const refusal = refusedMode(mode, this.#run.spec.request);
    if (refusal) throw refusal;
    super.setMode(mode);
  }

  /** Looks away. The run goes on. */
  async close(): Promise<void> {
    this.#end(new UserError("INTERRUPTED", "Detached; the run continues."));
    this.#closed.abort();
    await this.#following;
  }

  protected tell(order: RunOrder): Promise<void> {
    return this.#fleet.say(this.#run.id, order);
  }

  protected pass(item: OpenPrompt): void {
    this.#handing = this.#handing.then(() => this.#pass(item)).catch((error: UserError) => this.drop(item, error));
  }

  async #pass(item: OpenPrompt): Promise<void> {
    if (this.stopped) throw this.stopped;
    const { kind, prompt, id } = item;
    const message: Message =
      kind === "steer" ? { type: "steer", text: prompt.text, id } : { type: "prompt", prompt, id };
    try {
      await this.#fleet.say(this.#run.id, message);
      if (this.#over) throw this.#over;
      this.#told.add(item);
    } catch (error) {
      if (error === this.#over || !(error instanceof UserError) || error.code !== "RUN_OVER") throw error;
      await this.#following;
      await this.#begin(item);
    }
  }

  async #begin(item: OpenPrompt): Promise<void> {
    if (this.stopped) throw this.stopped;
    const run = await this.#fleet.enqueue(followUp(this.#run, this.#sessionId, item.prompt, this.#isAttended));
    this.#run = run;
    this.lastEnding = undefined;
    this.#over = undefined;
    item.state = "told";
    this.#following = this.#follow(item); // also where it cannot be started here: whoever does, its end is told
    await this.#options.start(run);
  }

  /** `first`: the prompt that the run was begun with. */
  async #follow(first?: OpenPrompt): Promise<void> {
    try {
      await this.#read(first);
    } catch (error) {
      this.#fail(error);
    }
  }

  async #read(first: OpenPrompt | undefined): Promise<void> {
    const { id, startedAt, createdAt } = this.#run;
    for await (const entry of this.#fleet.follow(id, this.#last, this.#closed.signal)) {
      this.#last = entry.position;
      this.#take(entry, first);
      while (this.log.ready() && !this.stopped) await this.log.ready();
    }
    if (this.stopped) return;
    const { end } = (await this.#fleet.run(id)) ?? {};
    if (!end) throw new UserError("RUN_NOT_FOUND", "its log ended before the run did");
    if (first) this.prompts.end(first, "told", this.lastEnding ?? ending(end, startedAt ?? createdAt));
  }

  /** The run may go on, but nothing of it can be told here: its readers are told why, and nobody waits for it. */
  #fail(error: unknown): void {
    if (this.stopped) return;
    const { code, message } = explainError(error);
    const again = `It may still be running; to see it again: ${programName()} runs attach ${this.#run.id.slice(0, 12)}`;
    this.failure = new UserError(code, `The run can no longer be followed: ${message.replace(/\.$/, "")}. ${again}`);
    this.failTurn(failedTurn(this.failure, this.#run.startedAt ?? this.#run.createdAt));
    this.#end(this.failure);
  }

  /** Everything that is open here ends with this reason. */
  #end(why: UserError): void {
    if (this.stopped) return;
    this.stopped = why;
    this.#settle(why);
    for (const item of this.prompts.list()) this.drop(item, why);
    this.log.close(); // a reader that has stopped reading is not waited for
  }

  #take({ entry }: LogEntry, first: OpenPrompt | undefined): void {
    switch (entry.type) {
      case "event":
        this.#show(entry, first);
        break;
      case "question":
        this.#answer(entry.question).catch((error) => this.#fail(error));
        break;
      case "question_closed":
        this.#asked.get(entry.question)?.abort();
        this.#asked.delete(entry.question);
        break;
      case "prompt_ended":
        this.promptEnded(entry, entry.state);
        break;
      case "reply":
        this.replied(entry);
        break;
      case "result":
        this.#conclude(entry.end);
        break;
      case "leased":
      case "checkpoint":
      case "losses":
      case "prompt":
        break;
    }
  }

  #show(entry: Extract<Entry, { type: "event" }>, first: OpenPrompt | undefined): void {
    const { event, agent } = entry;
    this.record(entry);
    if (agent === undefined && event.type === "init") this.#sessionId = event.sessionId;
    if (first && agent === undefined && (event.type === "done" || event.type === "fail"))
      this.prompts.end(first, "told", event);
  }

  /** A run may end for a reason that no turn tells: it was stopped, or its host was lost. */
  #conclude(end: RunEnd): void {
    const isTold = this.lastEnding?.type === "done" ? end.outcome === "finished" : this.lastEnding !== undefined;
    if (!isTold && end.outcome !== "finished") this.failTurn(ending(end, this.#run.startedAt ?? this.#run.createdAt));
    this.#over = userError(end.code ?? "RUN_OVER", end.text);
    for (const item of this.prompts.list()) if (this.#told.has(item)) this.drop(item, this.#over);
    this.#settle(this.#over);
  }

  /** For requests and questions nobody waits any more. */
  #settle(why: Error): void {
    this.failRequests(why);
    for (const abort of this.#asked.values()) abort.abort();
    this.#asked.clear();
  }

  async #answer(question: Question): Promise<void> {
    const { human } = this.#options;
    if (!human || human.answers?.includes(question.type) === false) return;
    const abort = new AbortController();
    this.#asked.set(question.id, abort);
    const run = this.#run.id;
    // The log is read from its beginning: what was answered long ago is not asked again.
    const open = await this.#fleet.questions();
    if (abort.signal.aborted || !open.some((each) => each.run === run && each.question.id === question.id)) return;
    // Without an answer from here it stays open, for whoever else is there.
    const answer = await askHuman(human, question, abort.signal);
    if (abort.signal.aborted || !answer) return;
    // Somebody else may have been quicker.
    await this.#fleet.answer(run, { question: question.id, hash: question.hash, answer }).catch(() => {});
  }
}

async function askHuman(human: Human, question: Question, signal: AbortSignal): Promise<Answer | undefined> {
  try {
    return await human.ask(question, signal);
  } catch {
    return undefined;
  }
}

function ending({ text, code }: RunEnd, startedAt: number): TurnEnding {
  return failedTurn({ message: text, ...(code !== undefined && { code }) }, startedAt);
}
