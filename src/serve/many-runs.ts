// ManyRuns: starts any number of runs and reports how each ended, with one reader of the whole log. Their questions are refused at
// once, as in print mode, because no user watches a thousand runs.
import type { Answer, Question } from "../protocol/run.ts";
import { type Fleet, isLocal, isOver, type LogEntry, type NewRun, type RunRecord } from "./fleet.ts";
import { answerQuestion, followThrough } from "./follow-log.ts";
import { keepHosts } from "./keep-hosts.ts";
import { type Launch, startHosts } from "./launcher.ts";

export type ManyRunsOptions = {
  onStarted?(run: string): void;
};

type Waiting = { resolve(run: RunRecord): void; reject(error: Error): void };

/** How often to look for ended runs that the log did not report (in milliseconds), and how many at a time. */
const lookAgainMs = 3000;
const maxLooks = 50;

export class ManyRuns {
  readonly #fleet: Fleet;
  readonly #launch: Launch;
  readonly #options: ManyRunsOptions;
  readonly #waiting = new Map<string, Waiting>();
  readonly #closed = new AbortController();
  readonly #work: Promise<unknown>[] = [];
  #position = 0;
  #clock: NodeJS.Timeout | undefined;
  #failure: Error | undefined;

  private constructor(fleet: Fleet, launch: Launch, options: ManyRunsOptions) {
    this.#fleet = fleet;
    this.#launch = launch;
    this.#options = options;
  }

  static async open(fleet: Fleet, launch: Launch, options: ManyRunsOptions = {}): Promise<ManyRuns> {
    const runs = new ManyRuns(fleet, launch, options);
    runs.#position = await fleet.position();
    runs.#work.push(runs.#read().catch((error: Error) => runs.#fail(error)));
    runs.#clock = setInterval(() => void runs.#lookAgain().catch(() => {}), lookAgainMs);
    if (isLocal(fleet))
      runs.#work.push(keepHosts(fleet, launch, runs.#closed.signal).catch((error: Error) => runs.#fail(error)));
    return runs;
  }

  get unfinished(): readonly string[] {
    return [...this.#waiting.keys()];
  }

  /** Queues the run, or attaches to an existing run with this id; resolves when it is over. */
  async run(run: NewRun): Promise<RunRecord> {
    if (this.#failure) throw this.#failure;
    const ended = new Promise<RunRecord>((resolve, reject) => this.#waiting.set(run.id, { resolve, reject }));
    ended.catch(() => {}); // the caller gets the error from the promise returned below
    try {
      const record = await this.#fleet.enqueue(run);
      if (isOver(record.state)) this.#end(record);
      else if (record.attempts > 0) await this.#takeOver(record);
      else await startHosts(this.#fleet, this.#launch, run.id);
    } catch (error) {
      this.#waiting.delete(run.id);
      throw error;
    }
    return ended;
  }

  /** Detaches: runs continue, and pending `run` calls never settle. */
  async close(): Promise<void> {
    clearInterval(this.#clock);
    this.#closed.abort();
    this.#waiting.clear();
    await Promise.all(this.#work);
  }

  /** Attaches to a run that an earlier process started: it may have open questions, or may just have ended. */
  async #takeOver({ id }: RunRecord): Promise<void> {
    this.#options.onStarted?.(id);
    for (const { run, question } of await this.#fleet.questions()) if (run === id) await this.#refuse(id, question);
    const now = await this.#fleet.run(id);
    if (now && isOver(now.state)) this.#end(now);
  }

  /** Looks for missed ends, since a file watch may miss a change. Checked runs move to the end of the line. */
  async #lookAgain(): Promise<void> {
    await startHosts(this.#fleet, this.#launch);
    for (const id of this.unfinished.slice(0, maxLooks)) {
      const run = await this.#fleet.run(id);
      const waiting = this.#waiting.get(id);
      if (run && isOver(run.state)) this.#end(run);
      else if (waiting && this.#waiting.delete(id)) this.#waiting.set(id, waiting);
    }
  }

  async #read(): Promise<void> {
    const { signal } = this.#closed;
    for await (const entry of followThrough((from) => this.#fleet.followAll(from, signal), this.#position, signal))
      if (this.#waiting.has(entry.run)) await this.#receiveEntry(entry);
  }

  async #receiveEntry({ run, entry }: LogEntry): Promise<void> {
    if (entry.type === "leased") this.#options.onStarted?.(run);
    else if (entry.type === "question") await this.#refuse(run, entry.question);
    else if (entry.type === "result") {
      const record = await this.#fleet.run(run);
      if (record) this.#end(record.end ? record : { ...record, end: entry.end });
    }
  }

  #refuse(run: string, question: Question): Promise<void> {
    const none: Answer = question.type === "choices" ? { type: "choices", answers: [] } : { type: "no", reason };
    return answerQuestion(this.#fleet, run, question, none);
  }

  #end(run: RunRecord): void {
    this.#waiting.get(run.id)?.resolve(run);
    this.#waiting.delete(run.id);
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

const reason = "Nobody can answer. Allow it in advance: with rules, or with force.";
