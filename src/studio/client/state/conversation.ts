// A conversation that is looked at: what is on the disk of it, and what the run that works in it says, as one timeline.
import { batch, signal } from "@preact/signals";
import type { AgentEvent } from "../../../protocol/event.ts";
import type { ContextUse } from "../../../protocol/run.ts";
import type { EventsPage, LogEntry, RunRecord, SessionFacts } from "../../../serve/api.ts";
import { TimelineLog } from "../../components/timeline/log.ts";
import type { SessionRef } from "../service/api.ts";
import { ServiceError } from "../service/http.ts";
import { noteRun, onEntry, runs, runsLoaded, service } from "./app.ts";

/** `agent`: the subagent that did it. */
export type Step = { index: number; turn: number; event: AgentEvent; agent?: string };

/** Said to a run, and not told yet. */
export type Pending = { id: string; text: string; kind: "steer" | "prompt" };

const firstPage = 300;
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
  readonly #unlisten: () => void;

  constructor() {
    this.#unlisten = onEntry((logged) => {
      if (logged.run !== this.run.value) return this.#noticeOther(logged);
      if (this.#early) this.#early.push(logged);
      else this.#apply(logged);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#unlisten();
    cancelAnimationFrame(this.#frame);
  }

  async openSession(ref: SessionRef): Promise<void> {
    this.ref.value = ref;
    await this.#attempt(async () => {
      const [page] = await Promise.all([service().lastEvents(ref, firstPage), runsLoaded]);
      const live = [...runs.value.values()].find((run) => run.sessionId === ref.id && isLive(run));
      this.#showSession(ref, page, live?.createdAt);
      if (live) await this.attach(live);
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
    this.run.value = run.id;
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
    if (entry.type === "event") {
      const event = entry.event.at === undefined ? { ...entry.event, at } : entry.event;
      const { agent } = entry;
      this.log.value.append(agent === undefined ? event : { agent, event });
      const turn = this.log.value.turns.at(-1)?.number ?? 1;
      if (!isDelta(event))
        this.steps.push({ index: this.steps.length, turn, event, ...(agent !== undefined && { agent }) });
      if (agent === undefined) this.#notice(event);
    }
    if (entry.type === "leased") this.worker.value = entry.worker;
    if (entry.type === "prompt_ended") this.#settle(({ id }) => id === entry.id);
    if (entry.type === "reply" && entry.id.startsWith("context-") && entry.value)
      this.context.value = entry.value as ContextUse;
    if (entry.type === "result") {
      this.pending.value = [];
      void this.loadFacts();
    }
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.version.value++;
    });
  }

  #notice(event: AgentEvent): void {
    if (event.type === "init") {
      this.cwd.value = event.cwd;
      const run = this.#liveRun();
      if (run) this.ref.value ??= refOf({ ...run, sessionId: event.sessionId });
    }
    if (event.type === "user") this.#settle(({ text }) => text === event.text);
    if (event.type === "init" || event.type === "tool_end") this.#askForContext();
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

  async tell(kind: Pending["kind"], text: string): Promise<void> {
    const run = this.#liveRun();
    if (!run) return;
    const id = `${kind}-${crypto.randomUUID()}`;
    this.pending.value = [...this.pending.value, { id, text, kind }];
    const message = kind === "steer" ? { type: "steer", text, id } : { type: "prompt", prompt: { text }, id };
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

function isLive({ state }: RunRecord): boolean {
  return state === "queued" || state === "running";
}

function isDelta({ type }: AgentEvent): boolean {
  return type === "text" || type === "thinking" || type === "tool_output";
}
