// hostRun: carries out one run in this process. It owns the pipes of the agent CLI, writes what happens into the log, hears
// what others say, and ends the run exactly once, whatever happens.
import { UserError } from "../protocol/error-codes.ts";
import type { Answer, Human, Question, Sent, TurnEnding } from "../protocol/run.ts";
import { openLive } from "../sdk/live/open-live.ts";
import type { LiveSession } from "../sdk/live/session.ts";
import type { Fleet, Lease, Message, RunEnd, RunRecord } from "./fleet.ts";
import { liveOptions } from "./live-options.ts";
import { addEndings, endOf, failedEnd } from "./run-end.ts";
import { RunLogWriter } from "./run-log-writer.ts";

export type HostOptions = {
  /** How this program is started. */
  program: readonly string[];
  /** Ends the run. Its reason is a UserError. */
  signal: AbortSignal;
};

/** Resolves when the run is over, or is somebody else's. Rejects with what keeps the log from being written. */
export async function hostRun(fleet: Fleet, lease: Lease, options: HostOptions): Promise<void> {
  const run = await fleet.run(lease.run);
  if (!run || !(await fleet.renew(lease))) return;
  const host = new RunHost(fleet, lease, run, options);
  await host.work();
}

type SessionMessage = Exclude<Message, { type: "cancel" | "answer" }>;

class RunHost {
  readonly #fleet: Fleet;
  readonly #lease: Lease;
  readonly #run: RunRecord;
  readonly #options: HostOptions;
  readonly #writer: RunLogWriter;
  /** Ends what this host does, and why. */
  readonly #stop = new AbortController();
  readonly #asked = new Map<string, (answer: Answer) => void>();
  readonly #sent = new Map<string, Sent>();
  readonly #endings: TurnEnding[] = [];
  readonly #awaitingEnding: (() => void)[] = [];
  /** There are no more events. */
  #isShown = false;
  readonly #early: SessionMessage[] = [];
  #session: LiveSession | undefined;
  #heard = 0;
  #open = 0;
  #change: () => void = () => {};
  #lost: UserError | undefined;

  constructor(fleet: Fleet, lease: Lease, run: RunRecord, options: HostOptions) {
    this.#fleet = fleet;
    this.#lease = lease;
    this.#run = run;
    this.#options = options;
    this.#writer = new RunLogWriter(fleet, lease, (error) => this.#lose(error));
  }

  async work(): Promise<void> {
    const { signal } = this.#options;
    const abort = () => this.#stop.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    const renewing = setInterval(() => void this.#renew(), this.#lease.ttlMs / 3);
    try {
      const end = (await this.#endBefore()) ?? (await this.#carryOut());
      // Whatever prompts there still are: nobody is left to answer them.
      if (end) await this.#finish(end, Number.MAX_SAFE_INTEGER);
    } finally {
      clearInterval(renewing);
      signal.removeEventListener("abort", abort);
      this.#stop.abort();
    }
    if (this.#lost && this.#lost.code !== "LEASE_LOST") throw this.#lost;
  }

  async #renew(): Promise<void> {
    const isOurs = await this.#fleet.renew(this.#lease).catch(() => true); // a busy moment of the store is not the end
    if (!isOurs) this.#lose(new UserError("LEASE_LOST", `The run ${this.#run.id} has another host by now.`));
  }

  #lose(error: UserError): void {
    this.#lost ??= error;
    this.#stop.abort(error);
  }

  /** A run that another host had begun is not begun again: nobody knows what of it was done. */
  async #endBefore(): Promise<RunEnd | undefined> {
    const { cancelReason } = this.#run;
    if (cancelReason !== undefined)
      return failedEnd(new UserError("INTERRUPTED", cancelReason), this.#run, "cancelled");
    if (this.#run.attempts === 1) return undefined;
    const log = await this.#fleet.entries(this.#run.id, 0, this.#run.attempts + 1);
    if (log.every(({ entry }) => entry.type === "leased")) return undefined;
    const why =
      "The process that hosted this run ended without a word. What it had begun is not begun again; resume the session to go on.";
    return failedEnd(new UserError("TERMINATED", why), this.#run, "error");
  }

  /** Undefined: it has ended, or is not ours to end. */
  async #carryOut(): Promise<RunEnd | undefined> {
    const hearing = new AbortController();
    const heard = this.#hear(hearing.signal);
    try {
      return await this.#converse();
    } finally {
      hearing.abort();
      await heard;
    }
  }

  async #converse(): Promise<RunEnd | undefined> {
    let session: LiveSession;
    try {
      const options = liveOptions(this.#run.spec, this.#options.program);
      session = await openLive({ ...options, human: this.#human(), signal: this.#stop.signal });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return failedEnd(error, this.#run, this.#stop.signal.aborted ? "cancelled" : "error");
    }
    if (session.losses.length > 0) this.#writer.add({ type: "losses", losses: session.losses });
    const shown = this.#show(session);
    this.#follow(session.send(this.#run.spec.prompt), undefined);
    this.#session = session;
    for (const message of this.#early.splice(0)) this.#obey(session, message);
    const isEnded = await this.#untilEnded(session);
    await session.close();
    await shown;
    const { error } = await session.ended;
    return isEnded ? undefined : this.#endNow(error);
  }

  /** True: the end is written while the session is still there, since prompts may come until then. False: it is over. */
  async #untilEnded(session: LiveSession): Promise<boolean> {
    const over = session.ended.then(() => true);
    while (!this.#stop.signal.aborted) {
      const change = this.#nextChange();
      if (this.#open === 0) {
        const { isFinished } = await this.#finish(this.#endNow(undefined), this.#heard);
        if (isFinished || this.#lost) return true;
      }
      if (await Promise.race([change.then(() => false), over])) return false;
    }
    return false;
  }

  /** A prompt was settled or heard. */
  #nextChange(): Promise<void> {
    return new Promise((resolve) => {
      this.#change = resolve;
    });
  }

  #endNow(error: { message: string; code: string } | undefined): RunEnd {
    const reason: unknown = this.#stop.signal.reason;
    if (reason instanceof UserError) return addEndings(failedEnd(reason, this.#run, "cancelled"), this.#endings);
    return endOf(this.#endings, this.#run, error);
  }

  async #finish(end: RunEnd, heard: number): Promise<{ isFinished: boolean }> {
    await this.#writer.flush();
    if (this.#lost) return { isFinished: false };
    try {
      return { isFinished: await this.#fleet.finish(this.#lease, end, this.#writer.position, heard) };
    } catch (error) {
      this.#lose(error as UserError);
      return { isFinished: false };
    }
  }

  async #show(session: LiveSession): Promise<void> {
    for await (const recorded of session.events()) {
      this.#writer.event(recorded);
      const { event, agent } = recorded;
      if (agent === undefined && (event.type === "done" || event.type === "fail")) {
        this.#endings.push(event);
        for (const wake of this.#awaitingEnding.splice(0)) wake();
      }
    }
    this.#isShown = true;
    for (const wake of this.#awaitingEnding.splice(0)) wake();
  }

  #endingShown(): Promise<void> {
    return new Promise((resolve) => this.#awaitingEnding.push(resolve));
  }

  /** Answers and the end are heard from the first moment; the rest, when there is a session. */
  async #hear(signal: AbortSignal): Promise<void> {
    for await (const { number, message } of this.#fleet.hear(this.#lease, 0, signal)) {
      if (message.type === "cancel") this.#stop.abort(new UserError("INTERRUPTED", message.reason));
      else if (message.type === "answer") this.#asked.get(message.question)?.(message.answer);
      else if (this.#session) this.#obey(this.#session, message);
      else this.#early.push(message);
      this.#heard = number;
      this.#change();
    }
  }

  #obey(session: LiveSession, message: SessionMessage): void {
    switch (message.type) {
      case "prompt":
        this.#follow(session.send(message.prompt), message.id);
        break;
      case "steer":
        this.#follow(session.steer(message.text), message.id);
        break;
      case "interrupt":
        session.interrupt(message.reason);
        break;
      case "withdraw":
        this.#reply(message, async () => (await this.#sent.get(message.prompt)?.withdraw()) ?? false);
        break;
      case "mode":
        this.#reply({}, async () => session.setMode(message.mode));
        break;
      case "model":
        this.#reply(message, () => session.setModel(message.model, message.effort));
        break;
      case "background":
        this.#reply(message, () => session.background(message.call));
        break;
      case "compact":
      case "context":
      case "names":
        this.#reply(message, () => session[message.type]());
        break;
      case "rewind":
        this.#reply(message, () => session.rewind(message.turn));
        break;
      case "aside":
        this.#reply(message, () => session.aside(message.text));
        break;
    }
  }

  #follow(sent: Sent, id: string | undefined): void {
    this.#open++;
    if (id !== undefined) this.#sent.set(id, sent);
    void sent.ending.then(async (ending) => {
      // It is in the log before its prompt is over.
      while (sent.state === "told" && !this.#endings.includes(ending) && !this.#isShown) await this.#endingShown();
      const why = ending.type === "fail" ? { error: ending.message, ...(ending.code && { code: ending.code }) } : {};
      if (sent.state === "dropped" && id === undefined) this.#endings.push(ending);
      if (id !== undefined) {
        this.#sent.delete(id);
        if (sent.state === "told") this.#writer.add({ type: "prompt_ended", id, state: "told" });
        else this.#writer.add({ type: "prompt_ended", id, state: "dropped", ...why });
      }
      this.#open--;
      this.#change();
    });
  }

  /** What was asked for before the end is answered before it: it counts as open. */
  #reply({ id }: { id?: string }, work: () => Promise<unknown>): void {
    this.#open++;
    const told = (outcome: { value?: unknown; error?: string; code?: string }) => {
      if (id !== undefined) this.#writer.add({ type: "reply", id, ...outcome });
      this.#open--;
      this.#change();
    };
    work().then(
      (value) => told(value === undefined ? {} : { value }),
      (error: Error) => told({ error: error.message, code: error instanceof UserError ? error.code : "INTERNAL" }),
    );
  }

  #human(): Human {
    return {
      answers: ["permission", "choices", "plan", "trust", "server", "hooks"],
      ask: (question, signal) => this.#ask(question, signal),
    };
  }

  #ask(question: Question, signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve) => {
      const close = (answer: Answer, told?: Answer) => {
        if (!this.#asked.delete(question.id)) return;
        signal.removeEventListener("abort", withdrawn);
        this.#writer.add({ type: "question_closed", question: question.id, ...(told && { answer: told }) });
        resolve(answer);
      };
      const withdrawn = () => close({ type: "no", reason: "Nobody waits for the answer any more." });
      this.#asked.set(question.id, (answer) => close(answer, answer));
      signal.addEventListener("abort", withdrawn, { once: true });
      this.#writer.add({ type: "question", question });
      if (signal.aborted) withdrawn();
    });
  }
}
