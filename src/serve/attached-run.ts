// AttachedRun: follows a run of the fleet as a LiveRun, from any process. Closing it leaves the run running. A prompt for a run
// that is over starts the agent's next run, which resumes the session, so that the user sees one conversation.
import { explainError, UserError } from "../protocol/error-codes.ts";
import { failedTurn, type OpenPrompt, userError } from "../protocol/prompts.ts";
import type { Human, PermissionMode, Question, TurnEnding } from "../protocol/run.ts";
import { RunElsewhere, type RunOrder } from "../protocol/run-elsewhere.ts";
import type { RunLoss } from "../sdk/drivers/driver.ts";
import { Questions } from "../sdk/live/questions.ts";
import { randomUuid } from "../store/chats/random-uuid.ts";
import { programName } from "../text/program-name.ts";
import type { Entry, Fleet, LogEntry, Message, RunEnd, RunRecord } from "./fleet.ts";
import { answerQuestion, followThrough } from "./follow-log.ts";
import { followUp, refusedMode } from "./new-run.ts";

export type AttachOptions = {
  start(run: RunRecord): Promise<unknown>;
  /** Answers the questions that the run asks. */
  human?: Human;
  /** The position in the log from which to read; by default its beginning. */
  from?: number;
};

export class AttachedRun extends RunElsewhere {
  /** Why the run could not be followed to its end, if that is so. */
  failure: UserError | undefined;
  /** Parts of the request that could not be carried over to the run's CLI. */
  readonly losses: RunLoss[] = [];
  readonly #fleet: Fleet;
  readonly #options: AttachOptions;
  readonly #asked: Questions;
  readonly #closed = new AbortController();
  #run: RunRecord;
  #isAttended = false;
  #sessionId: string | undefined;
  #last: number;
  #following: Promise<void>;
  /** Chains the prompts so that they are sent in order: the first of two may have to start a run. */
  #handing: Promise<unknown> = Promise.resolve();
  /** Prompts that this run has received. Other prompts may still start a run, so they stay open when this run ends. */
  readonly #delivered = new WeakSet<OpenPrompt>();
  /** How the run that is followed now has ended; undefined while it runs. */
  #over: UserError | undefined;

  constructor(fleet: Fleet, run: RunRecord, options: AttachOptions) {
    // use a random prefix for message ids, so that no other attached client takes the replies
    super(`${randomUuid().slice(0, 8)}-`);
    this.#fleet = fleet;
    this.#run = run;
    this.#options = options;
    this.#asked = new Questions(options.human, { isLeft: true });
    this.#sessionId = run.sessionId;
    this.#last = options.from ?? 0;
    this.#following = this.#follow();
  }

  /** The id of the session; empty until the agent CLI reports it. */
  get chatId(): string {
    return this.#sessionId ?? "";
  }

  /** The id of the run that is followed now. */
  get runId(): string {
    return this.#run.id;
  }

  /** The position of the last log entry that was read. */
  get position(): number {
    return this.#last;
  }

  /** Never rejects. Resolves when the run that is followed now is over and fully read, or can no longer be read. */
  get settled(): Promise<void> {
    return this.#following;
  }

  /** Cancels the run for every client. Returns false if it was already over. */
  async stop(reason: string): Promise<boolean> {
    return this.#fleet.cancel(this.#run.id, reason);
  }

  /** Reports that a person is watching from now on. When they leave, the run's questions stay open. */
  attend(): void {
    this.#isAttended = true;
    // if the run has ended, the next run receives this message
    this.#fleet.say(this.#run.id, { type: "attend" }).catch(() => {});
  }

  override setMode(mode: PermissionMode): void {
    const refusal = refusedMode(mode, this.#run.spec.request);
    if (refusal) throw refusal;
    super.setMode(mode);
  }

  /** Stops following the run, which continues. */
  async close(): Promise<void> {
    this.#end(new UserError("INTERRUPTED", "Detached; the run continues."));
    this.#closed.abort();
    await this.#following;
  }

  protected sendOrder(order: RunOrder): Promise<void> {
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
      this.#delivered.add(item);
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
    // follow it even if it cannot be started here, since another process may start it
    this.#following = this.#follow(item);
    await this.#options.start(run);
  }

  /** Follows the run's log. `first` is the prompt that the run was started with. */
  async #follow(first?: OpenPrompt): Promise<void> {
    try {
      await this.#read(first);
    } catch (error) {
      this.#fail(error);
    }
  }

  async #read(first: OpenPrompt | undefined): Promise<void> {
    const { id, startedAt, createdAt } = this.#run;
    const { signal } = this.#closed;
    for await (const entry of followThrough((from) => this.#fleet.follow(id, from, signal), this.#last, signal)) {
      this.#last = entry.position;
      this.#receiveEntry(entry, first);
      while (this.log.ready() && !this.stopped) await this.log.ready();
    }
    if (this.stopped) return;
    const { end } = (await this.#fleet.run(id)) ?? {};
    if (!end) throw new UserError("RUN_NOT_FOUND", "its log ended before the run did");
    if (first) this.prompts.end(first, "told", this.lastEnding ?? failedEnding(end, startedAt ?? createdAt));
  }

  /** Ends everything here when the run can no longer be read, although it may continue; the readers get the reason. */
  #fail(error: unknown): void {
    if (this.stopped) return;
    const { code, message } = explainError(error);
    const again = `It may still be running; to see it again: ${programName()} runs attach ${this.#run.id.slice(0, 12)}`;
    this.failure = new UserError(code, `The run can no longer be followed: ${message.replace(/\.$/, "")}. ${again}`);
    this.failTurn(failedTurn(this.failure, this.#run.startedAt ?? this.#run.createdAt));
    this.#end(this.failure);
  }

  /** Ends all open prompts, requests and questions of this client, with the given reason. */
  #end(why: UserError): void {
    if (this.stopped) return;
    this.stopped = why;
    this.#settle(why);
    for (const item of this.prompts.list()) this.drop(item, why);
    this.log.close(); // do not wait for a reader that has stopped reading
  }

  #receiveEntry({ entry }: LogEntry, first: OpenPrompt | undefined): void {
    switch (entry.type) {
      case "event":
        this.#show(entry, first);
        break;
      case "question":
        this.#answer(entry.question).catch((error) => this.#fail(error));
        break;
      case "question_closed":
        this.#asked.close(entry.question);
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
      case "losses":
        this.losses.push(...entry.losses);
        break;
      case "leased":
      case "checkpoint":
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

  /** Adds the end of a run that no turn reported, because the run was cancelled or its host was lost. */
  #conclude(end: RunEnd): void {
    const isTold = this.lastEnding?.type === "done" ? end.outcome === "finished" : this.lastEnding !== undefined;
    if (!isTold && end.outcome !== "finished")
      this.failTurn(failedEnding(end, this.#run.startedAt ?? this.#run.createdAt));
    this.#over = userError(end.code ?? "RUN_OVER", end.text);
    for (const item of this.prompts.list()) if (this.#delivered.has(item)) this.drop(item, this.#over);
    this.#settle(this.#over);
  }

  /** Fails the pending requests and closes the open questions. */
  #settle(why: Error): void {
    this.failRequests(why);
    this.#asked.closeAll();
  }

  /** Answers a question of the run. Without an answer it stays open for other attached clients. */
  async #answer(question: Question): Promise<void> {
    const run = this.#run.id;
    const answer = await this.#asked.ask(question, async () => {
      const open = await this.#fleet.questions();
      return open.some((each) => each.run === run && each.question.id === question.id);
    });
    if (answer) await answerQuestion(this.#fleet, run, question, answer);
  }
}

function failedEnding({ text, code }: RunEnd, startedAt: number): TurnEnding {
  return failedTurn({ message: text, ...(code !== undefined && { code }) }, startedAt);
}
