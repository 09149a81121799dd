// AttachedRun: a run of the fleet as a LiveRun, from any process. Closing it lets the run go on. A prompt for a run that is
// over begins the next run of its agent, which resumes the session: for who looks at it, it is one conversation.
import { explainError, UserError } from "../protocol/error-codes.ts";
import { EventLog, MemoryKeeper } from "../protocol/event-log.ts";
import { failedTurn, type OpenPrompt, Prompts, sentOf, userError } from "../protocol/prompts.ts";
import type {
  Answer,
  ContextUse,
  Human,
  LiveRun,
  PermissionMode,
  Prompt,
  Question,
  ReasoningEffort,
  Recorded,
  Sent,
  TurnEnding,
} from "../protocol/run.ts";
import { randomUuid } from "../store/chats/random-uuid.ts";
import type { Entry, Fleet, LogEntry, Message, RunEnd, RunRecord } from "./fleet.ts";
import { followUp } from "./new-run.ts";
import { refusedMode } from "./obey.ts";

export type AttachOptions = {
  /** Begins a run that was enqueued. */
  start(run: RunRecord): Promise<unknown>;
  /** Answers what the run asks. */
  human?: Human;
  /** Where to read from; from the beginning unless told. */
  from?: number;
};

type Request = { resolve(value: unknown): void; reject(error: Error): void };
type Order = Exclude<Message, { type: "prompt" | "answer" | "cancel" }>;

export function attachRun(fleet: Fleet, run: RunRecord, options: AttachOptions): AttachedRun {
  return new AttachedRun(fleet, run, options);
}

export class AttachedRun implements LiveRun {
  /** Why the run could not be followed to its end. */
  failure: UserError | undefined;
  readonly #fleet: Fleet;
  readonly #options: AttachOptions;
  readonly #log = new EventLog(new MemoryKeeper());
  readonly #prompts = new Prompts();
  readonly #requests = new Map<string, Request>();
  readonly #asked = new Map<string, AbortController>();
  readonly #closed = new AbortController();
  /** So that others who are attached do not take a reply for theirs. */
  readonly #name = randomUuid().slice(0, 8);
  #run: RunRecord;
  #sessionId: string | undefined;
  #lastEnding: TurnEnding | undefined;
  #last: number;
  #following: Promise<void>;
  /** Prompts go one after the other: the first of two may have to begin a run. */
  #handing: Promise<unknown> = Promise.resolve();
  #count = 0;
  /** Prompts that the run was told. Others may still have to begin a run, which the end of this one does not concern. */
  readonly #told = new WeakSet<OpenPrompt>();
  /** How the run that is looked at now ended. */
  #over: UserError | undefined;
  /** Why nothing is done here any more: it was closed, or what it is attached to cannot be read. The run may go on. */
  #stopped: UserError | undefined;

  constructor(fleet: Fleet, run: RunRecord, options: AttachOptions) {
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

  send(prompt: Prompt): Sent {
    return this.#hand(this.#prompts.add("prompt", prompt));
  }

  steer(text: string): Sent {
    return this.#hand(this.#prompts.add("steer", { text }));
  }

  interrupt(why?: string): void {
    this.#tell({ type: "interrupt", ...(why !== undefined && { reason: why }) });
  }

  /** Ends the run for everybody. False: it was over. */
  async stop(reason: string): Promise<boolean> {
    return this.#fleet.cancel(this.#run.id, reason);
  }

  async background(callId: string): Promise<boolean> {
    return (await this.#ask({ type: "background", call: callId })) === true;
  }

  setMode(mode: PermissionMode): void {
    const refusal = refusedMode(mode, this.#run.spec.request);
    if (refusal) throw refusal;
    this.#tell({ type: "mode", mode });
  }

  async setModel(model: string, effort?: ReasoningEffort): Promise<void> {
    await this.#ask({ type: "model", model, ...(effort && { effort }) });
  }

  async compact(): Promise<void> {
    await this.#ask({ type: "compact" });
  }

  async rewind(turn: number): Promise<void> {
    await this.#ask({ type: "rewind", turn });
  }

  async context(): Promise<ContextUse> {
    return (await this.#ask({ type: "context" })) as ContextUse;
  }

  async aside(question: string): Promise<string> {
    return (await this.#ask({ type: "aside", text: question })) as string;
  }

  async names(): ReturnType<LiveRun["names"]> {
    return (await this.#ask({ type: "names" })) as Awaited<ReturnType<LiveRun["names"]>>;
  }

  events(from?: number): AsyncIterable<Recorded> {
    return this.#log.events(from);
  }

  /** Looks away. The run goes on. */
  async close(): Promise<void> {
    this.#end(new UserError("INTERRUPTED", "Detached; the run continues."));
    this.#closed.abort();
    await this.#following;
  }

  #tell(message: Order): void {
    this.#fleet.say(this.#run.id, message).catch(() => {}); // it is over: there is nothing left to interrupt or change
  }

  async #ask(message: Order): Promise<unknown> {
    if (this.#stopped) throw this.#stopped;
    const id = `${this.#name}-request-${++this.#count}`;
    const answer = new Promise<unknown>((resolve, reject) => this.#requests.set(id, { resolve, reject }));
    answer.catch(() => {}); // told to whoever waits for it, below
    try {
      await this.#fleet.say(this.#run.id, { ...message, id } as Order);
    } catch (error) {
      this.#requests.delete(id);
      throw error;
    }
    return answer;
  }

  #hand(item: OpenPrompt): Sent {
    this.#handing = this.#handing.then(() => this.#pass(item)).catch((error: Error) => this.#drop(item, error));
    return sentOf(item, () => this.#withdraw(item));
  }

  async #pass(item: OpenPrompt): Promise<void> {
    if (this.#stopped) throw this.#stopped;
    const id = this.#idOf(item);
    const message: Message =
      item.kind === "steer"
        ? { type: "steer", text: item.prompt.text, id }
        : { type: "prompt", prompt: item.prompt, id };
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
    if (this.#stopped) throw this.#stopped;
    const run = await this.#fleet.enqueue(followUp(this.#run, this.#sessionId, item.prompt));
    this.#run = run;
    this.#lastEnding = undefined;
    this.#over = undefined;
    item.state = "told";
    this.#following = this.#follow(item); // also where it cannot be started here: whoever does, its end is told
    await this.#options.start(run);
  }

  async #withdraw(item: OpenPrompt): Promise<boolean> {
    if (!this.#prompts.has(item)) return false;
    return (await this.#ask({ type: "withdraw", prompt: this.#idOf(item) }).catch(() => false)) === true;
  }

  #idOf({ id }: OpenPrompt): string {
    return `${this.#name}-${id}`;
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
      while (this.#log.ready() && !this.#stopped) await this.#log.ready();
    }
    if (this.#stopped) return;
    const { end } = (await this.#fleet.run(id)) ?? {};
    if (!end) throw new UserError("RUN_NOT_FOUND", "its log ended before the run did");
    if (first) this.#prompts.end(first, "told", this.#lastEnding ?? ending(end, startedAt ?? createdAt));
  }

  /** The run may go on, but nothing of it can be told here: its readers are told why, and nobody waits for it. */
  #fail(error: unknown): void {
    if (this.#stopped) return;
    const { code, message } = explainError(error);
    const again = `It may still be running; to see it again: runs attach ${this.#run.id.slice(0, 12)}`;
    this.failure = new UserError(code, `The run can no longer be followed: ${message.replace(/\.$/, "")}. ${again}`);
    this.#log.append(failedTurn(this.failure, this.#run.startedAt ?? this.#run.createdAt));
    this.#end(this.failure);
  }

  /** Everything that is open here ends with this reason. */
  #end(why: UserError): void {
    if (this.#stopped) return;
    this.#stopped = why;
    this.#settle(why);
    for (const item of this.#prompts.list()) this.#drop(item, why);
    this.#log.close(); // a reader that has stopped reading is not waited for
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
      case "prompt_ended": {
        const item = this.#prompts.list().find((each) => this.#idOf(each) === entry.id);
        if (item && entry.state === "told" && this.#lastEnding) this.#prompts.end(item, "told", this.#lastEnding);
        else if (item) this.#drop(item, userError(entry.code, entry.error ?? "The prompt was dropped."));
        break;
      }
      case "reply": {
        const request = this.#requests.get(entry.id);
        this.#requests.delete(entry.id);
        if (entry.error === undefined) request?.resolve(entry.value);
        else request?.reject(userError(entry.code, entry.error));
        break;
      }
      case "result":
        this.#conclude(entry.end);
        break;
      case "leased":
      case "checkpoint":
      case "losses":
        break;
    }
  }

  #show({ number, agent, event }: Extract<Entry, { type: "event" }>, first: OpenPrompt | undefined): void {
    if (agent !== undefined) {
      this.#log.show({ agent, ...(number !== undefined && { number }), event });
      return;
    }
    if (event.type === "init") this.#sessionId = event.sessionId;
    if (number === undefined) this.#log.show({ event });
    else this.#log.append(event, number);
    if (event.type !== "done" && event.type !== "fail") return;
    this.#lastEnding = event;
    if (first) this.#prompts.end(first, "told", event);
  }

  /** A run may end for a reason that no turn tells: it was stopped, or its host was lost. */
  #conclude(end: RunEnd): void {
    const isTold = this.#lastEnding?.type === "done" ? end.outcome === "finished" : this.#lastEnding !== undefined;
    if (!isTold && end.outcome !== "finished") {
      this.#lastEnding = ending(end, this.#run.startedAt ?? this.#run.createdAt);
      this.#log.append(this.#lastEnding);
    }
    this.#over = userError(end.code ?? "RUN_OVER", end.text);
    for (const item of this.#prompts.list()) if (this.#told.has(item)) this.#drop(item, this.#over);
    this.#settle(this.#over);
  }

  /** For requests and questions nobody waits any more. */
  #settle(why: Error): void {
    for (const { reject } of this.#requests.values()) reject(why);
    this.#requests.clear();
    for (const abort of this.#asked.values()) abort.abort();
    this.#asked.clear();
  }

  #drop(item: OpenPrompt, why: Error): void {
    const code = why instanceof UserError ? { code: why.code } : {};
    this.#prompts.end(item, "dropped", failedTurn({ message: why.message, ...code }, Date.now()));
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
