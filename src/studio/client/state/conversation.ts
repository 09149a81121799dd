// A conversation that is looked at: what is on the disk of it, and what the run that works in it says, as one timeline.
import { batch, signal } from "@preact/signals";
import type { AgentEvent } from "../../../protocol/event.ts";
import type { ContextUse } from "../../../protocol/run.ts";
import type { EventsPage, LogEntry, RunRecord, SessionFacts } from "../../../serve/api.ts";
import type { Picture } from "../../components/timeline/blocks.ts";
import { TimelineLog } from "../../components/timeline/log.ts";
import type { SessionRef } from "../service/api.ts";
import { ServiceError } from "../service/http.ts";
import { latestRunOf, noteRun, onEntry, onSessions, runs, runsLoaded, service } from "./app.ts";

/** `agent`: the subagent that did it. */
export type Step = { index: number; turn: number; event: AgentEvent; agent?: string };

/** Said to a run, and not told yet. */
export type Pending = { id: string; text: string; kind: "steer" | "prompt" };

const firstPage = 150;
const contextEveryMs = 4000;

export class Conversation {
  readonly status = signal<"loading" | "ready" | "error">("loading");
  readonly error = signal<string | undefined>(undefined);
  readonly ref = signal<SessionRef | undefined>(undefined);
  readonly run = signal<string | undefined>(undefined);
  readonly facts = signal<SessionFacts | undefined>(undefined);
  readonly log = signal(new TimelineLog());
  /** Grows with the log, at most once a frame. */
  readonly version = signal(0);
  readonly isWhole = signal(false);
  readonly pending = signal<readonly Pending[]>([]);
  /** The prompt of a run that has not begun with it yet. */
  readonly opening = signal<string | undefined>(undefined);
  readonly context = signal<ContextUse | undefined>(undefined);
  /** Where the agent works, as it said. */
  readonly cwd = signal<string | undefined>(undefined);
  /** Who carries out the run that is looked at. */
  readonly worker = signal<string | undefined>(undefined);
  readonly steps: Step[] = [];

  #position = 0;
  #early: LogEntry[] | undefined;
  #isClosed = false;
  #frame = 0;
  #askedAt = 0;
  #isReading = false;
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
      // What a run showed and could not keep, since it was killed or never began, is in its log alone.
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

  /** The run goes on where the timeline ends. */
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

  /** Where the conversation stands on the disk by now: after it was rewound. */
  async reload(): Promise<void> {
    const ref = this.ref.value;
    if (!ref) return;
    this.run.value = undefined;
    await this.#attempt(async () => this.#showSession(ref, await service().lastEvents(ref, firstPage), undefined));
  }

  async loadFacts(): Promise<void> {
    const ref = this.ref.value;
    if (ref)
      this.facts.value = await service()
        .session(ref)
        .catch(() => this.facts.value);
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.status.value = "ready";
      void this.loadFacts();
    } catch (error) {
      if (this.#isClosed) return;
      batch(() => {
        this.status.value = "error";
        this.error.value = error instanceof ServiceError ? error.message : `Unexpected: ${(error as Error).message}`;
      });
    }
  }

  /** `before`: what came later is told by the log of a run. */
  #showSession(ref: SessionRef, page: EventsPage, before: number | undefined): void {
    const isLater = ({ event: { at } }: Step) => before !== undefined && at !== undefined && at >= before;
    const later = page.items.find(isLater)?.turn ?? Number.POSITIVE_INFINITY;
    this.#replaceSteps(page.items.filter(({ turn }) => turn < later));
    this.status.value = "ready";
    const [first] = page.items;
    this.isWhole.value = !first || first.index === 0;
    if (first && first.index > 0) void this.#loadOlder(ref, first.index);
  }

  /** In the background: what is read stays where it is. */
  async #loadOlder(ref: SessionRef, until: number): Promise<void> {
    const older: Step[] = [];
    while (older.length < until && !this.#isClosed) {
      const page = await service().events(ref, older.length, Math.min(10_000, until - older.length));
      if (page.items.length === 0) return;
      older.push(...page.items);
    }
    if (this.#isClosed) return;
    this.#replaceSteps([...older, ...this.steps]);
    this.isWhole.value = true;
  }

  /** Another program goes on with it: what it has written since is shown, from the turn that it may have changed. */
  async #readOn(ref: SessionRef): Promise<void> {
    if (this.#isReading || this.status.value !== "ready" || !this.isWhole.value) return;
    this.#isReading = true;
    try {
      const page = await service().lastEvents(ref, 1);
      const from = page.items[0]?.index ?? 0;
      // Where there is more than one new turn, all that came before the last one is read as well.
      const between = from > this.steps.length ? await service().events(ref, this.steps.length, from) : { items: [] };
      if (this.#isClosed || this.#liveRun()) return;
      this.run.value = undefined;
      this.#replaceSteps([
        ...this.steps.slice(0, from),
        ...between.items.filter(({ index }) => index < from),
        ...page.items,
      ]);
      await this.loadFacts();
    } catch {
      // Told again with the next change.
    } finally {
      this.#isReading = false;
    }
  }

  #replaceSteps(steps: readonly Step[]): void {
    const log = new TimelineLog({ firstTurn: steps[0]?.turn ?? 1 });
    for (const { event, agent } of steps) log.append(agent === undefined ? event : { agent, event });
    this.steps.splice(0, this.steps.length, ...steps);
    batch(() => {
      this.log.value = log;
      this.version.value++;
    });
  }

  /** Somebody else went on with this session: another tab, or another program. */
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
        // Programs of others say nothing of what they ask: so the time that it takes is known for them too.
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
        this.#settle(({ id }) => id === entry.id);
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

  /** Whatever ended a run, its prompt and its end are seen: also of one that never began, or was killed. */
  #conclude({ outcome, text, code, durationMs }: NonNullable<RunRecord["end"]>, at: number): void {
    if (this.opening.value !== undefined) this.#show({ type: "user", text: this.opening.value, at });
    const numbers = { durationMs, apiDurationMs: 0, at };
    if (this.log.value.isWorking && outcome === "finished") this.#show({ type: "done", text, ...numbers });
    else if (this.log.value.isWorking) {
      const why = outcome === "cancelled" ? "INTERRUPTED" : code;
      this.#show({ type: "fail", message: text, ...(why !== undefined && { code: why }), ...numbers });
    }
    this.pending.value = [];
    void this.loadFacts();
  }

  #notice(event: AgentEvent): void {
    if (event.type === "init") {
      this.cwd.value = event.cwd;
      const run = this.#liveRun();
      if (run) this.ref.value ??= refOf({ ...run, sessionId: event.sessionId });
    }
    if (event.type === "user") {
      if (this.opening.value !== undefined) this.log.value.showPictures(this.pictures);
      this.opening.value = undefined;
      this.#settle(({ text }) => text === event.text);
    }
    if (event.type === "init" || event.type === "tool_end") this.#askForContext();
  }

  /** Those of the prompt that the run began with; what lies on a disk as a file is not for a page. */
  get pictures(): readonly Picture[] {
    const run = this.run.value === undefined ? undefined : runs.value.get(this.run.value);
    return (run?.spec.prompt.images ?? []).filter((image) => typeof image === "object");
  }

  /** Said quickly, not often: the meter is for eyes. */
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

  async tell(kind: Pending["kind"], text: string, images?: readonly object[]): Promise<void> {
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

  async withdraw({ id }: Pending): Promise<void> {
    const run = this.#liveRun();
    if (run) await service().tell(run.id, { type: "withdraw", prompt: id });
  }
}

function refOf({ spec: { cli }, sessionId }: RunRecord): SessionRef | undefined {
  return sessionId === undefined ? undefined : { tool: cli === "courser" ? "cursor" : cli, id: sessionId };
}

export function isLive({ state }: RunRecord): boolean {
  return state === "queued" || state === "running";
}

/** A file may be named after the first digits of its id. */
function namesId(name: string, id: string): boolean {
  return name.includes(id) || name.includes(id.slice(0, 8));
}

function isDelta({ type }: AgentEvent): boolean {
  return type === "text" || type === "thinking" || type === "tool_output";
}
