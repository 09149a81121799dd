// ManyRuns: begins any number of runs and tells how each ended, by one reader of the whole log. What they ask is refused at
// once, as in print mode: nobody waits in front of a thousand runs.
import { setTimeout as sleep } from "node:timers/promises";
import { UserError } from "../protocol/error-codes.ts";
import type { Answer, Question } from "../protocol/run.ts";
import { type Fleet, isOver, type LogEntry, type NewRun, type RunRecord } from "./fleet.ts";
import { keepHosts } from "./keep-hosts.ts";
import { type Launch, startHosts } from "./launcher.ts";

export type ManyRunsOptions = {
  /** A host took the run. */
  onStarted?(run: string): void;
};

type Waiting = { resolve(run: RunRecord): void; reject(error: Error): void };

/** How often it is looked for ends that the log has not told, and how many runs are looked at then. */
const lookAgainMs = 3000;
const mostLooks = 50;
/** A reader that fails is begun again where it was, for so long. */
const longestOutageMs = 120_000;

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
    if (launch.fleetUrl === undefined)
      runs.#work.push(keepHosts(fleet, launch, runs.#closed.signal).catch((error: Error) => runs.#fail(error)));
    return runs;
  }

  /** Not over yet, and begun here. */
  get unfinished(): readonly string[] {
    return [...this.#waiting.keys()];
  }

  /** Queued, or found where a run with this id is there already; resolves when it is over. */
  async run(run: NewRun): Promise<RunRecord> {
    if (this.#failure) throw this.#failure;
    const ended = new Promise<RunRecord>((resolve, reject) => this.#waiting.set(run.id, { resolve, reject }));
    ended.catch(() => {}); // told to whoever waits for it, below
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

  /** Looks away: runs go on, and what is waited for is never told. */
  async close(): Promise<void> {
    clearInterval(this.#clock);
    this.#closed.abort();
    this.#waiting.clear();
    await Promise.all(this.#work);
  }

  /** It was begun by an earlier process: it may have asked something, or come to its end just now. */
  async #takeOver({ id }: RunRecord): Promise<void> {
    this.#options.onStarted?.(id);
    for (const { run, question } of await this.#fleet.questions()) if (run === id) await this.#refuse(id, question);
    const now = await this.#fleet.run(id);
    if (now && isOver(now.state)) this.#end(now);
  }

  /** A watch on files may miss a change. The ones that were looked at go to the end of the line. */
  async #lookAgain(): Promise<void> {
    await startHosts(this.#fleet, this.#launch);
    for (const id of this.unfinished.slice(0, mostLooks)) {
      const run = await this.#fleet.run(id);
      const waiting = this.#waiting.get(id);
      if (run && isOver(run.state)) this.#end(run);
      else if (waiting && this.#waiting.delete(id)) this.#waiting.set(id, waiting);
    }
  }

  async #read(): Promise<void> {
    const { signal } = this.#closed;
    let failedAt: number | undefined;
    while (!signal.aborted) {
      try {
        for await (const entry of this.#fleet.followAll(this.#position, signal)) {
          this.#position = entry.position;
          failedAt = undefined;
          if (this.#waiting.has(entry.run)) await this.#take(entry);
        }
      } catch (error) {
        failedAt ??= Date.now();
        if (signal.aborted) return;
        const isGone = error instanceof UserError && error.code === "FLEET_UNREACHABLE";
        if (isGone || Date.now() - failedAt > longestOutageMs) throw error;
        await sleep(1000, undefined, { signal }).catch(() => {});
      }
    }
  }

  async #take({ run, entry }: LogEntry): Promise<void> {
    if (entry.type === "leased") this.#options.onStarted?.(run);
    else if (entry.type === "question") await this.#refuse(run, entry.question);
    else if (entry.type === "result") {
      const record = await this.#fleet.run(run);
      if (record) this.#end(record.end ? record : { ...record, end: entry.end });
    }
  }

  async #refuse(run: string, question: Question): Promise<void> {
    const answer: Answer =
      question.type === "choices" ? { type: "choices", answers: [] } : { type: "no", reason: nobodyThere };
    // Somebody else may have been quicker.
    await this.#fleet.answer(run, { question: question.id, hash: question.hash, answer }).catch((error: Error) => {
      if (!(error instanceof UserError)) throw error;
    });
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

const nobodyThere = "Nobody can answer. Allow it in advance: with rules, or with force.";
