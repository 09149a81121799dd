// The conversation being viewed: combines the session on disk and the log of its live run into one timeline.
import { batch, signal } from "@preact/signals";
import { isObject } from "../../../json/object.ts";
import type { AgentEvent, EventOf } from "../../../protocol/event.ts";
import { withdrawnMessage } from "../../../protocol/prompts.ts";
import type { ContextUse } from "../../../protocol/run.ts";
import type {
  EventsPage,
  LastEvents,
  LogEntry,
  RunRecord,
  SessionDetails,
  SessionPictures,
} from "../../../serve/api.ts";
import type { Picture } from "../../components/timeline/blocks.ts";
import { TimelineLog } from "../../components/timeline/log.ts";
import type { Changes, SessionRef } from "../service/api.ts";
import { ServiceError } from "../service/http.ts";
import { latestRunOf, noteRun, onEntry, onSessions, runs, runsLoaded, service } from "./app.ts";

/** An event of the conversation; `agent` is the subagent that it belongs to. */
export type Step = { index: number; turn: number; event: AgentEvent; agent?: string };

/** A message sent to a run that the model has not received yet. */
export type Pending = { id: string; text: string; kind: "steer" | "prompt" };

/** Enough turns for the tallest window; earlier ones are loaded afterwards. */
const firstPage = 60;
const contextEveryMs = 4000;

export class Conversation {
  readonly status = signal<"loading" | "ready" | "error">("loading");
  readonly error = signal<string | undefined>(undefined);
  readonly ref = signal<SessionRef | undefined>(undefined);
  readonly run = signal<string | undefined>(undefined);
  readonly sessionDetails = signal<SessionDetails | undefined>(undefined);
  readonly log = signal(new TimelineLog());
  /** Increases when the log grows, at most once per frame. */
  readonly version = signal(0);
  readonly isWhole = signal(false);
  readonly pending = signal<readonly Pending[]>([]);
  /** Prompts that the run did not receive before it ended, to be given back to the user. */
  readonly undelivered = signal<readonly string[]>([]);
  /** The first prompt of a run that has not started yet. */
  readonly opening = signal<string | undefined>(undefined);
  readonly context = signal<ContextUse | undefined>(undefined);
  /** The working directory that the agent reported. */
  readonly cwd = signal<string | undefined>(undefined);
  /** The name of the worker that executes the run. */
  readonly worker = signal<string | undefined>(undefined);
  readonly steps: Step[] = [];

  #position = 0;
  #early: LogEntry[] | undefined;
  #isClosed = false;
  #frame = 0;
  #askedAt = 0;
  #isReading = false;
  #pictures: readonly SessionPictures[] = [];
  readonly #unlisten: (() => void)[];

  constructor() {
    this.#unlisten = [
      onEntry((logged) => {
        if (logged.run !== this.run.value) return this.#noticeOther(logged);
        if (this.#early) this.#early.push(logged);
        else this.#apply(logged);
      }),
      onSessions((changed) => {
        const ref = this.ref.value;
        const isIt = ref && changed.some(({ tool, name }) => tool === ref.tool && namesId(name, ref.id));
        if (isIt && !this.#liveRun()) void this.#readOn(ref);
      }),
    ];
  }

  close(): void {
    this.#isClosed = true;
    for (const stop of this.#unlisten) stop();
    cancelAnimationFrame(this.#frame);
  }

  async openSession(ref: SessionRef): Promise<void> {
    this.ref.value = ref;
    await this.#attempt(async () => {
      const [page] = await Promise.all([service().lastEvents(ref, firstPage), runsLoaded]);
      const last = latestRunOf(ref.id);
      // Read the log too if the run was killed or never started: the session lacks part of what was shown.
      const isLogged = last && (isLive(last) || (last.state !== "finished" && !last.isPruned));
      this.#showSession(ref, page, isLogged ? last.createdAt : undefined);
      if (isLogged) await this.attach(last);
    });
  }

  async openRun(id: string): Promise<void> {
    await this.#attempt(async () => {
      const run = await service().run(id);
      noteRun(run);
      const ref = refOf(run);
      this.ref.value = ref;
      if (ref && run.spec.request.chat?.type === "resume")
        this.#showSession(ref, await service().lastEvents(ref, firstPage), run.createdAt);
      await this.attach(run);
      this.isWhole.value = true;
    });
  }

  /** Appends a run to the timeline and follows it. */
  async attach(run: RunRecord): Promise<void> {
    noteRun(run);
    this.#early = [];
    this.#position = 0;
    this.pending.value = [];
    this.run.value = run.id;
    this.opening.value = run.spec.prompt.text;
    while (!this.#isClosed) {
      const entries = await service().log(run.id, this.#position);
      for (const entry of entries) this.#apply(entry);
      this.status.value = "ready";
      if (entries.length < 1000) break;
    }
    const early: LogEntry[] = this.#early;
    this.#early = undefined;
    for (const entry of early) this.#apply(entry);
    this.#askForContext();
  }

  /** Loads the conversation from disk again, after a rewind. */
  async reload(): Promise<void> {
    const ref = this.ref.value;
    if (!ref) return;
    this.run.value = undefined;
    await this.#attempt(async () => this.#showSession(ref, await service().lastEvents(ref, firstPage), undefined));
  }

  async loadDetails(wanted?: { pictures: boolean }): Promise<void> {
    const ref = this.ref.value;
    const sessionDetails =
      ref &&
      (await service()
        .session(ref, wanted)
        .catch(() => undefined));
    if (!sessionDetails || this.#isClosed) return;
    this.sessionDetails.value = sessionDetails;
    if (!sessionDetails.pictures) return;
    this.#pictures = sessionDetails.pictures;
    this.#showPictures();
  }

  #showPictures(): void {
    for (const { turn, callId, pictures } of this.#pictures) this.log.value.showPictures(callId ?? turn, pictures);
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.status.value = "ready";
      void waitForPaint().then(() => this.loadDetails({ pictures: true }));
    } catch (error) {
      if (this.#isClosed) return;
      batch(() => {
        this.status.value = "error";
        this.error.value = error instanceof ServiceError ? error.message : `Unexpected: ${(error as Error).message}`;
      });
    }
  }

  /** Events from the time `before` on are left to the log of a run. */
  #showSession(ref: SessionRef, { items, hasEarlier }: LastEvents, before: number | undefined): void {
    const isLater = ({ event: { at } }: Step) => before !== undefined && at !== undefined && at >= before;
    const later = items.find(isLater)?.turn ?? Number.POSITIVE_INFINITY;
    this.#replaceSteps(items.filter(({ turn }) => turn < later));
    this.status.value = "ready";
    this.isWhole.value = !hasEarlier;
    if (hasEarlier) void this.#loadOlder(ref, items[0]!.turn);
  }

  /** Loads older steps in the background; the reading position does not move. */
  async #loadOlder(ref: SessionRef, before: number): Promise<void> {
    await waitForPaint();
    const older: Step[] = [];
    for (let next: number | undefined = 0; next !== undefined && !this.#isClosed; ) {
      const page: EventsPage = await service().events(ref, "from", next);
      older.push(...page.items);
      next = (older.at(-1)?.turn ?? before) < before ? page.next : undefined;
    }
    if (this.#isClosed) return;
    this.#replaceSteps([...older.filter(({ turn }) => turn < before), ...this.steps]);
    this.isWhole.value = true;
  }

  /** Reads what another program added to the session, from the last known turn on, which may have changed. */
  async #readOn(ref: SessionRef): Promise<void> {
    if (this.#isReading || this.status.value !== "ready" || !this.isWhole.value) return;
    this.#isReading = true;
    try {
      const lastTurn = this.steps.at(-1)?.turn ?? 0;
      const { items } = await service().events(ref, "turn", lastTurn);
      if (this.#isClosed || this.#liveRun()) return;
      this.run.value = undefined;
      this.#replaceSteps([...this.steps.filter(({ turn }) => turn < lastTurn), ...items]);
      await this.loadDetails();
    } catch {
      // The next change will try again.
    } finally {
      this.#isReading = false;
    }
  }

  #replaceSteps(steps: readonly Step[]): void {
    const log = new TimelineLog({ firstTurn: steps[0]?.turn ?? 1 });
    for (const { event, agent } of steps) log.append(agent === undefined ? event : { agent, event });
    this.steps.splice(0, this.steps.length, ...steps.map((step, index) => ({ ...step, index })));
    batch(() => {
      this.log.value = log;
      this.#showPictures();
      this.version.value++;
    });
  }

  /** Attaches to a run that another tab or program started in this session. */
  #noticeOther({ run: id, entry }: LogEntry): void {
    if (entry.type !== "event" || entry.event.type !== "init" || entry.agent !== undefined) return;
    if (entry.event.sessionId !== this.ref.value?.id || this.#liveRun()) return;
    void service()
      .run(id)
      .then((run) => this.attach(run))
      .catch(() => {});
  }

  #apply({ position, entry, at }: LogEntry): void {
    if (position <= this.#position) return;
    this.#position = position;
    switch (entry.type) {
      case "event":
        this.#show(entry.event.at === undefined ? { ...entry.event, at } : entry.event, entry.agent);
        break;
      case "question": {
        // Add the question as an event, since other CLIs do not report it, so that waiting time is measured for them
        // too.
        const { id, type } = entry.question;
        const toolCallId = entry.question.type === "permission" ? entry.question.callId : undefined;
        this.log.value.append({ type: "ask", id: `question ${id}`, kind: type, query: { toolCallId }, at });
        break;
      }
      case "question_closed":
        this.log.value.append({ type: "answer", id: `question ${entry.question}`, kind: "", response: {}, at });
        break;
      case "leased":
        this.worker.value = entry.worker;
        break;
      case "prompt":
        if (!this.pending.value.some(({ id }) => id === entry.id))
          this.pending.value = [...this.pending.value, { id: entry.id, text: entry.text, kind: entry.kind }];
        break;
      case "prompt_ended":
        // A message that was dropped but not withdrawn stays until the run has ended, which returns it.
        if (entry.state === "told" || entry.error === withdrawnMessage) this.#settle(({ id }) => id === entry.id);
        break;
      case "reply":
        if (entry.id.startsWith("context-") && entry.value) this.context.value = entry.value as ContextUse;
        break;
      case "result":
        this.#conclude(entry.end, at);
        break;
      case "checkpoint":
      case "losses":
        break;
    }
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.version.value++;
    });
  }

  #show(event: AgentEvent, agent?: string): void {
    this.log.value.append(agent === undefined ? event : { agent, event });
    const turn = this.log.value.turns.at(-1)?.number ?? 1;
    if (!isDelta(event))
      this.steps.push({ index: this.steps.length, turn, event, ...(agent !== undefined && { agent }) });
    if (agent === undefined) this.#notice(event);
  }

  /** Shows the prompt and the end of every run, even of one that never started or was killed. */
  #conclude({ outcome, text, code, durationMs }: NonNullable<RunRecord["end"]>, at: number): void {
    if (this.opening.value !== undefined) this.#show({ type: "user", text: this.opening.value, at });
    const numbers = { durationMs, apiDurationMs: 0, at };
    if (this.log.value.isWorking && outcome === "finished") this.#show({ type: "done", text, ...numbers });
    else if (this.log.value.isWorking) {
      const why = outcome === "cancelled" ? "INTERRUPTED" : code;
      this.#show({ type: "fail", message: text, ...(why !== undefined && { code: why }), ...numbers });
    }
    // Offer undelivered messages only on pages that were open at the time; later ones would show them again and again.
    if (!this.#early) this.undelivered.value = this.pending.value.map(({ text }) => text);
    this.pending.value = [];
    void this.loadDetails();
  }

  #notice(event: AgentEvent): void {
    if (event.type === "init") {
      this.cwd.value = event.cwd;
      const run = this.#liveRun();
      if (run) this.ref.value ??= refOf({ ...run, sessionId: event.sessionId });
    }
    if (event.type === "user") {
      const turn = this.log.value.turns.at(-1)?.number;
      if (this.opening.value !== undefined && turn !== undefined) this.log.value.showPictures(turn, this.pictures);
      this.opening.value = undefined;
      this.#settle(({ text }) => text === event.text);
    }
    if (event.type === "init" || event.type === "tool_end") this.#askForContext();
    // Load the picture after the call has ended, which is when it is stored.
    if (event.type === "tool_end" && isPictureRead(event))
      setTimeout(() => void this.loadDetails({ pictures: true }), 500);
  }

  /** The pictures of the run's first prompt. Images given as file paths are left out, as a page cannot read them. */
  get pictures(): readonly Picture[] {
    const run = this.run.value === undefined ? undefined : runs.value.get(this.run.value);
    return (run?.spec.prompt.images ?? []).filter((image) => typeof image === "object");
  }

  /** Requests the context use, at a limited rate, since it only feeds the meter. */
  #askForContext(): void {
    const run = this.#liveRun();
    if (run?.spec.cli !== "courser" || this.#early || Date.now() - this.#askedAt < contextEveryMs) return;
    this.#askedAt = Date.now();
    void service()
      .tell(run.id, { type: "context", id: `context-${this.#askedAt}` })
      .catch(() => {});
  }

  #settle(isIt: (pending: Pending) => boolean): void {
    const index = this.pending.value.findIndex(isIt);
    if (index >= 0) this.pending.value = this.pending.value.filter((_, at) => at !== index);
  }

  #liveRun(): RunRecord | undefined {
    const run = this.run.value === undefined ? undefined : runs.value.get(this.run.value);
    return run && isLive(run) ? run : undefined;
  }

  async sendMessage(kind: Pending["kind"], text: string, images?: readonly object[]): Promise<void> {
    const run = this.#liveRun();
    if (!run) return;
    const id = `${kind}-${crypto.randomUUID()}`;
    this.pending.value = [...this.pending.value, { id, text, kind }];
    const prompt = { text, ...(images && images.length > 0 && { images }) };
    const message = kind === "steer" && !prompt.images ? { type: "steer", text, id } : { type: "prompt", prompt, id };
    try {
      await service().tell(run.id, message);
    } catch (error) {
      this.#settle((each) => each.id === id);
      throw error;
    }
  }

  /** Returns the changed files. With `now`, they include later changes on disk. */
  changes(now = false): Promise<Changes> {
    const ref = this.ref.value;
    return ref ? service().changes(ref, { commands: !this.#liveRun(), now }) : service().runChanges(this.run.value!);
  }

  async withdraw({ id }: Pending): Promise<void> {
    const run = this.#liveRun();
    if (run) await service().tell(run.id, { type: "withdraw", prompt: id });
  }
}

/** Waits until the first page is painted before more is loaded. The timeout is for hidden tabs, which are not painted. */
function waitForPaint(): Promise<unknown> {
  return new Promise((resolve) => {
    requestAnimationFrame(() => setTimeout(resolve));
    setTimeout(resolve, 300);
  });
}

function refOf({ spec: { cli }, sessionId }: RunRecord): SessionRef | undefined {
  return sessionId === undefined ? undefined : { tool: cli === "courser" ? "cursor" : cli, id: sessionId };
}

export function isLive({ state }: RunRecord): boolean {
  return state === "queued" || state === "running";
}

/** Returns whether a file's name begins with the first digits of the id. */
function namesId(name: string, id: string): boolean {
  return name.includes(id) || name.includes(id.slice(0, 8));
}

function isPictureRead({ tool, outcome }: EventOf<"tool_end">): boolean {
  const content = isObject(outcome?.value) ? outcome.value.content : undefined;
  return tool === "read" && typeof content === "string" && /^\[image\//.test(content);
}

function isDelta({ type }: AgentEvent): boolean {
  return type === "text" || type === "thinking" || type === "tool_output";
}
