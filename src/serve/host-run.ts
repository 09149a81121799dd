// hostRun: hosts one run in this process. It owns the pipes of the agent CLI, writes events into the log, receives messages from
// clients, and ends the run exactly once, whatever happens.
import { realpathSync } from "node:fs";
import { milliseconds, settlesWithin } from "../process/clock.ts";
import { dispatchMessage } from "../protocol/dispatch-message.ts";
import { UserError } from "../protocol/error-codes.ts";
import { onAbort } from "../protocol/on-abort.ts";
import { OpenPrompts } from "../protocol/open-prompts.ts";
import type { Recorded, RunRequest, Sent, TurnEnding } from "../protocol/run.ts";
import type { OwnOptions } from "../sdk/live/open-live.ts";
import type { LiveSession } from "../sdk/live/session.ts";
import { chatFolder } from "../store/chats/layout.ts";
import type { Fleet, Lease, ReceivedMessage, RunEnd, RunRecord } from "./fleet.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { liveOptions } from "./live-options.ts";
import { refusedMode } from "./new-run.ts";
import { addEndings, failedEnd, runEnd } from "./run-end.ts";
import { RunLogWriter } from "./run-log-writer.ts";
import { RunQuestions } from "./run-questions.ts";
import { Checkpoints } from "./worker/checkpoint.ts";
import { type Continuation, continuationPrompt, joinRuns, readContinuation, verdictOn } from "./worker/continuation.ts";
import { cleanUpRun, type PreparedRun, prepareRun, type WorkerPlace } from "./worker/prepare-run.ts";
import { repositoryChangesNotice, storeChanges } from "./worker/workspace.ts";

export type HostOptions = WorkerPlace & {
  /** The command that starts our program. */
  program: readonly string[];
  /** Ends the run when aborted. The reason of the abort is a UserError. */
  signal: AbortSignal;
  /** Asks this host to leave: a run that can continue on another host is released, others end. */
  leave?: AbortSignal;
  /** Opens a run of Courser in this process, for a host with a single run. Without it, each run gets its own process. */
  openHere?(request: RunRequest, options: Omit<OwnOptions, "executable">): Promise<LiveSession>;
};

type SessionMessage = Exclude<ReceivedMessage["message"], { type: "cancel" | "answer" }>;

/** `given back`: another host continues the run. `lost`: another host already has it. */
export type HostedEnd = RunEnd | "given back" | "lost";

/** Resolves when the run is over or belongs to another host. Rejects with the error that keeps the log from being written. */
export async function hostRun(fleet: Fleet, lease: Lease, options: HostOptions): Promise<HostedEnd> {
  const run = lease.record ?? (await fleet.run(lease.run));
  const sureSince = lease.takenAt ?? milliseconds();
  if (!run || (lease.takenAt === undefined && !(await fleet.renew(lease)))) return "lost";
  const host = new RunProcess(fleet, lease, run, options);
  return host.work(sureSince);
}

/** How many hosts may take a run before it is reported as failed. */
const maxAttempts = 10;
/** How many milliseconds a leaving host waits for its last checkpoint. */
const lastCheckpointMs = 4000;

class RunProcess {
  readonly #fleet: Fleet;
  readonly #lease: Lease;
  readonly #run: RunRecord;
  readonly #options: HostOptions;
  readonly #writer: RunLogWriter;
  #keeper: LeaseKeeper | undefined;
  /** Aborted to stop all work of this host, with the reason. */
  readonly #stop = new AbortController();
  readonly #prompts: OpenPrompts;
  readonly #questions = new RunQuestions((entry) => this.#writer.add(entry));
  readonly #endings: TurnEnding[] = [];
  readonly #awaitingEnding: (() => void)[] = [];
  /** Whether the agent has emitted its last event. */
  #isShown = false;
  /** Messages that arrived before the session was opened. */
  readonly #early: ReceivedMessage[] = [];
  #session: LiveSession | undefined;
  #handled = 0;
  #lost: UserError | undefined;
  #end: RunEnd | undefined;
  #isLeaving = false;
  /** Notices about the repository that were already shown, because the end may be tried more than once. */
  readonly #isTold = new Set<string | undefined>();
  #prepared: PreparedRun | undefined;
  #checkpoints: Checkpoints | undefined;
  /** The state from which a run continues whose previous host was lost. */
  #continuation: Continuation | undefined;
  #first: Sent | undefined;
  /** Joins the events with those that the lost host logged, so that they form one run. */
  #join: ((recorded: Recorded) => Recorded | undefined) | undefined;

  constructor(fleet: Fleet, lease: Lease, run: RunRecord, options: HostOptions) {
    this.#fleet = fleet;
    this.#lease = lease;
    this.#run = run;
    this.#options = options;
    this.#writer = new RunLogWriter(fleet, lease, {
      onWritten: (sentAt) => this.#keeper?.arrived(sentAt),
      onLost: (error) => this.#loseLease(error),
    });
    this.#prompts = new OpenPrompts({
      shown: (ending) => this.#waitUntilShown(ending),
      dropped: (ending) => this.#endings.push(ending),
      ended: (id, end) => this.#writer.add({ type: "prompt_ended", id, ...end }),
      replied: (id, end) => this.#writer.add({ type: "reply", id, ...end }),
    });
  }

  /** Runs the agent until it ends. The lease is known to be valid from `sureSince` on. */
  async work(sureSince: number): Promise<HostedEnd> {
    this.#keeper = new LeaseKeeper(this.#fleet, this.#lease, sureSince, (error) => this.#loseLease(error));
    try {
      return await this.#runToEnd();
    } finally {
      this.#keeper.stop();
    }
  }

  async #runToEnd(): Promise<HostedEnd> {
    const { signal, leave, configDir } = this.#options;
    const abort = () => this.#stop.abort(signal.reason);
    const hurry = () => void this.#leave();
    const forget = [onAbort(signal, abort), onAbort(leave, hurry)];
    try {
      const before = await this.#endBefore();
      const end = before ?? (this.#end ? undefined : await this.#carryOut());
      // Ignore remaining prompts: the session that could answer them is gone.
      if (end) await this.#finish(end, Number.MAX_SAFE_INTEGER);
    } finally {
      for (const each of forget) each();
      this.#stop.abort();
      this.#checkpoints?.close();
      if (this.#prepared) cleanUpRun(this.#prepared, { end: this.#end, chatId: this.#session?.chatId, configDir });
    }
    if (this.#end) return this.#end;
    if (this.#lost && this.#lost.code !== "LEASE_LOST") throw this.#lost;
    if (this.#lost || !this.#isLeaving) return "lost";
    return this.#giveBack();
  }

  /** Whether another host could continue the run in the middle. */
  get #canGoOn(): boolean {
    const { cli, request, onWorkerLoss } = this.#run.spec;
    return cli === "courser" && onWorkerLoss === "continue" && !request.ephemeral;
  }

  async #leave(): Promise<void> {
    const why = new UserError("TERMINATED", "The worker was stopped before the run ended.");
    if (this.#canGoOn) {
      await settlesWithin(Promise.resolve(this.#checkpoints?.last()), lastCheckpointMs);
      this.#isLeaving = true;
      await this.#writer.close();
    }
    this.#stop.abort(why);
  }

  async #giveBack(): Promise<"given back" | "lost"> {
    try {
      await this.#fleet.release(this.#lease, this.#writer.position);
      return "given back";
    } catch (error) {
      if (error instanceof UserError && error.code === "LEASE_LOST") return "lost";
      throw error;
    }
  }

  #loseLease(error: UserError): void {
    this.#lost ??= error;
    this.#stop.abort(error);
  }

  /** A run that another host had started is not restarted unless it may continue: how much of it was done is unknown. */
  async #endBefore(): Promise<RunEnd | undefined> {
    const { cancelReason } = this.#run;
    if (cancelReason !== undefined)
      return failedEnd(new UserError("INTERRUPTED", cancelReason), this.#run, "cancelled");
    if (this.#run.attempts === 1) return undefined;
    if (this.#run.attempts > maxAttempts) {
      const why = `${maxAttempts} workers took this run, and none brought it to its end. It may be what ends them.`;
      return failedEnd(new UserError("TERMINATED", why), this.#run, "error");
    }
    this.#continuation = await readContinuation(this.#fleet, this.#run.id);
    if (!this.#continuation) return undefined;
    this.#join = joinRuns(this.#continuation);
    this.#endings.push(...this.#continuation.endings);
    for (const entry of this.#continuation.owed) this.#writer.add(entry);
    if (this.#canGoOn) return undefined;
    // The previous host finished the run but was lost before it could write the end.
    if (
      this.#continuation.isAnswered &&
      (await this.#finish(runEnd(this.#endings, this.#run, undefined), 0)).isFinished
    )
      return undefined;
    const next = this.#run.spec.source
      ? "start it again, with --on-worker-loss continue if it may continue on another worker next time."
      : "resume the session to continue.";
    const why = `The process that hosted this run ended unexpectedly. Nothing it had started is repeated; ${next}`;
    return failedEnd(new UserError("TERMINATED", why), this.#run, "error");
  }

  /** Runs the agent and receives messages to the run. Returns undefined if the run has ended or is not this host's to end. */
  async #carryOut(): Promise<RunEnd | undefined> {
    const listening = new AbortController();
    const listened = this.#receiveMessages(listening.signal).catch((error: UserError) => this.#loseLease(error));
    try {
      return await this.#converse();
    } finally {
      listening.abort();
      await listened;
    }
  }

  async #converse(): Promise<RunEnd | undefined> {
    let session: LiveSession;
    try {
      session = await this.#openSession();
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      if (this.#isLeaving) return undefined;
      return failedEnd(error, this.#run, this.#stop.signal.aborted ? "cancelled" : "error");
    }
    if (session.losses.length > 0) this.#writer.add({ type: "losses", losses: session.losses });
    const showing = this.#show(session);
    if (!this.#continuation?.isAnswered) this.#first = session.send(this.#firstPrompt());
    if (this.#first) this.#prompts.follow(this.#first, undefined);
    this.#session = session;
    for (const incoming of this.#early.splice(0)) this.#receiveMessage(session, incoming);
    const isEnded = await this.#untilEnded(session);
    await session.close();
    await showing;
    const { error } = await session.ended;
    return isEnded || this.#isLeaving ? undefined : this.#endNow(error);
  }

  async #openSession(): Promise<LiveSession> {
    const { program, openHere, ...place } = this.#options;
    const { signal } = this.#stop;
    const prepared = await prepareRun(this.#fleet, this.#run, this.#continuation, { place, signal });
    this.#prepared = prepared;
    if (this.#continuation && prepared.sentPrompts) {
      this.#continuation.sentPrompts = [...prepared.sentPrompts];
      this.#continuation.isLater = true;
    }
    if (prepared.notice !== undefined) this.#notice("chat", prepared.notice);
    const { cli, request, attended } = prepared.spec;
    if (cli === "courser" && !request.ephemeral && (this.#canGoOn || prepared.workspace))
      this.#checkpoints = this.#keepCheckpoints(prepared);
    const host = { holdCalls: this.#canGoOn, attended, human: this.#questions, signal };
    if (openHere && cli === "courser" && !this.#checkpoints) return openHere(request, host);
    const { openLive, openOwn } = await import("../sdk/live/open-live.ts"); // a run in this process needs none of it
    if (cli !== "courser") return openLive({ ...liveOptions(prepared.spec), ...host });
    return openOwn(request, { ...host, executable: program });
  }

  #keepCheckpoints({ folder, workspace, spec: { request } }: PreparedRun): Checkpoints {
    const { configDir } = this.#options;
    return new Checkpoints({
      fleet: this.#fleet,
      run: this.#run.id,
      attempt: this.#run.attempts,
      folder,
      chat: () => this.#session && chatFolder(configDir, realpathSync(request.workspace), this.#session.chatId),
      ...(workspace && { states: workspace.states }),
      position: () => this.#writer.flush().then(() => this.#writer.position),
      lastHandled: () => this.#handled,
      add: (entry) => this.#writer.add(entry),
      onProblem: (message) => this.#notice("checkpoint", message),
    });
  }

  #notice(kind: string, message: string): void {
    this.#writer.event({ event: { type: "notice", kind, message, at: Date.now() } });
  }

  #firstPrompt() {
    if (!this.#continuation) return this.#run.spec.prompt;
    return continuationPrompt(this.#run, this.#continuation, this.#prepared?.workspace?.path);
  }

  /** Returns true if the end was written while the session was open, since prompts may arrive until then; false if the session ended. */
  async #untilEnded(session: LiveSession): Promise<boolean> {
    const over = session.ended.then(() => true);
    while (!this.#stop.signal.aborted) {
      const change = this.#prompts.nextChange();
      if (this.#prompts.count === 0) {
        const { isFinished } = await this.#finish(this.#endNow(undefined), this.#handled);
        if (isFinished || this.#lost) return true;
      }
      if (await Promise.race([change.then(() => false), over])) return false;
    }
    return false;
  }

  #endNow(error: { message: string; code: string } | undefined): RunEnd {
    const reason: unknown = this.#stop.signal.reason;
    if (reason instanceof UserError) return addEndings(failedEnd(reason, this.#run, "cancelled"), this.#endings);
    return runEnd(this.#endings, this.#run, error);
  }

  async #finish(known: RunEnd, handled: number): Promise<{ isFinished: boolean }> {
    const end = { ...known, ...(await this.#changes()) };
    await this.#writer.flush();
    if (this.#lost || this.#isLeaving) return { isFinished: false };
    const write = () => this.#fleet.finish(this.#lease, end, this.#writer.position, handled);
    try {
      const isFinished = await this.#keeper!.ending(write);
      if (isFinished) this.#end = end;
      return { isFinished };
    } catch (error) {
      this.#loseLease(error as UserError);
      return { isFinished: false };
    }
  }

  /** Stores the changes that the run made in a workspace of the worker, and its chat, before the run is over. */
  async #changes(): Promise<Pick<RunEnd, "patch" | "branch">> {
    const workspace = this.#prepared?.workspace;
    if (!workspace || this.#lost || this.#isLeaving) return {};
    try {
      await this.#checkpoints?.last();
      const changes = await storeChanges(this.#fleet, this.#run, workspace);
      const left = await repositoryChangesNotice(workspace, changes);
      if (left !== undefined && !this.#isTold.has(left)) this.#notice("repository", left);
      this.#isTold.add(left);
      return changes;
    } catch (error) {
      this.#notice("patch", `The changes of the run could not be stored: ${(error as Error).message}`);
      return {};
    }
  }

  async #show(session: LiveSession): Promise<void> {
    for await (const recorded of session.events()) {
      const joined = this.#join ? this.#join(recorded) : recorded;
      if (joined) this.#writer.event(joined);
      const { event, agent } = recorded;
      this.#watchCalls(session, recorded);
      if (agent === undefined && (event.type === "done" || event.type === "fail")) {
        this.#endings.push(event);
        this.#checkpoints?.touch();
        for (const wake of this.#awaitingEnding.splice(0)) wake();
      }
    }
    this.#isShown = true;
    for (const wake of this.#awaitingEnding.splice(0)) wake();
  }

  /** Logs the start of a call before the call runs, and makes no checkpoint while a call runs. */
  #watchCalls(session: LiveSession, { agent, event }: Recorded): void {
    if (!this.#canGoOn) return;
    if (agent !== undefined) {
      if (event.type === "done" || event.type === "fail") this.#checkpoints?.end(agent);
      else this.#checkpoints?.begin(agent);
    }
    if (event.type === "tool_start") void this.#letRun(session, event.callId, agent);
    if (event.type === "tool_end") this.#checkpoints?.end(`${agent ?? ""}/${event.callId}`);
  }

  async #letRun(session: LiveSession, callId: string, agent: string | undefined): Promise<void> {
    await this.#writer.flush();
    await this.#checkpoints?.free();
    if (this.#lost || this.#isLeaving || !this.#keeper!.isSure) return;
    this.#checkpoints?.begin(`${agent ?? ""}/${callId}`);
    session.runCall(callId, agent);
  }

  async #waitUntilShown(ending: TurnEnding): Promise<void> {
    while (!this.#endings.includes(ending) && !this.#isShown)
      await new Promise<void>((resolve) => this.#awaitingEnding.push(resolve));
  }

  /** Receives messages to the run. Answers and cancellation take effect at once; others need an open session. */
  async #receiveMessages(signal: AbortSignal): Promise<void> {
    for await (const incoming of this.#fleet.receive(this.#lease, 0, signal)) {
      const { number, message } = incoming;
      if (message.type === "cancel") this.#stop.abort(new UserError("INTERRUPTED", message.reason));
      else if (message.type === "answer") this.#questions.answer(message.question, message.answer);
      else if (this.#session) this.#receiveMessage(this.#session, incoming);
      else this.#early.push(incoming);
      this.#handled = number;
      this.#prompts.changed();
    }
  }

  /** Skips messages that a lost host already handled, and fails those that it can no longer handle. */
  #receiveMessage(session: LiveSession, incoming: ReceivedMessage): void {
    const verdict = this.#continuation ? verdictOn(this.#continuation, incoming) : "handle";
    if (verdict === "handle") this.#dispatchMessage(session, incoming.message as SessionMessage);
    const id = "id" in incoming.message ? incoming.message.id : undefined;
    const error = "The worker that received this request was lost.";
    if (verdict === "fail" && id !== undefined) this.#writer.add({ type: "reply", id, error, code: "LEASE_LOST" });
    if (verdict === "reply" && id !== undefined && this.#first) this.#prompts.follow(this.#first, id);
  }

  #dispatchMessage(session: LiveSession, message: SessionMessage): void {
    const refusal = message.type === "mode" && refusedMode(message.mode, this.#run.spec.request);
    this.#writer.noteWaiting(message);
    if (refusal) this.#notice("mode_change", refusal.message);
    else if (message.type === "attend") session.attend();
    else if (message.type === "prompt") this.#prompts.follow(session.send(message.prompt), message.id);
    else dispatchMessage(session, message, this.#prompts);
  }
}
