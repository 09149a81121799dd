// The global state of the page: the connection, the runs, open questions, and the list of sessions.
import { batch, computed, signal } from "@preact/signals";
import { tryParse } from "../../../json/object.ts";
import type { Answer, Question } from "../../../protocol/run.ts";
import type {
  ChangedSession,
  InstalledCli,
  ListedSession,
  LogEntry,
  OpenQuestion,
  RunRecord,
} from "../../../serve/api.ts";
import { documentText } from "../../../view/document-text.ts";
import { type Api, createApi, type SessionFilter } from "../service/api.ts";
import { followLog, type Hello, type StreamState } from "../service/event-stream.ts";
import { createHttp, type Http } from "../service/http.ts";
import { forgetToken } from "../service/token.ts";
import { notifyOf } from "./notifications.ts";

export type Connection = StreamState | "refused";

/** Storage key for the agents found last time, since detecting them takes seconds. */
const knownAgents = "courser.agents";

export const connection = signal<Connection>("connecting");
export const runs = signal<ReadonlyMap<string, RunRecord>>(new Map());
export const questions = signal<readonly OpenQuestion[]>([]);
export const agents = signal((tryParse(localStorage.getItem(knownAgents) ?? "") ?? []) as readonly InstalledCli[]);

export const filter = signal<SessionFilter>({ search: "", agent: "", project: "", state: "", days: 0 });
export const sessions = signal<readonly ListedSession[] | undefined>(undefined);
/** The newest sessions, regardless of the search in the session list. */
export const recent = signal<readonly ListedSession[] | undefined>(undefined);
export const projects = signal<readonly string[]>([]);
export const listError = signal<string | undefined>(undefined);
/** The filter that the current list was loaded for; it differs from `filter` until the new list arrives. */
export const foundFor = signal(filter.value);
/** How many sessions to load for the list. */
export const listed = signal(100);

/** The runs that have not ended: running runs first, then queued ones. */
export const liveRuns = computed(() =>
  [...runs.value.values()]
    .filter(({ state }) => state === "queued" || state === "running")
    .sort((one, other) => other.state.localeCompare(one.state) || other.createdAt - one.createdAt),
);

/** The last step of each live run, as the service reported it when the page connected. */
export const lastSteps = signal<readonly LogEntry[]>([]);

let isLoaded: () => void;
/** Resolves when the list of runs was loaded. */
export const runsLoaded = new Promise<void>((resolve) => {
  isLoaded = resolve;
});

let api: Api;
let http: Http;
const listeners = new Set<(entry: LogEntry) => void>();
const watchers = new Set<(changed: readonly ChangedSession[]) => void>();

export function service(): Api {
  return api;
}

/** Returns the HTTP client, for responses that are not JSON. */
export function openHttp(): Http {
  return http;
}

/** Subscribes to log entries. Returns a function that unsubscribes. */
export function onEntry(listener: (entry: LogEntry) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Subscribes to sessions that other programs write to. Returns a function that unsubscribes. */
export function onSessions(listener: (changed: readonly ChangedSession[]) => void): () => void {
  watchers.add(listener);
  return () => watchers.delete(listener);
}

export function connect(token: string): void {
  const end = new AbortController();
  http = createHttp(token, () => {
    forgetToken();
    connection.value = "refused";
    end.abort();
  });
  api = createApi(http);
  void followLog({
    http,
    token,
    signal: end.signal,
    onEntry: applyEntry,
    onRuns(queued) {
      for (const run of queued) if (!runs.value.has(run.id)) noteRun(run);
    },
    onSessions(changed) {
      // Skip sessions of this service's own runs, which their log updates.
      const live = liveRuns.value.flatMap(({ sessionId }) => sessionId ?? []);
      if (changed.some(({ name }) => !live.some((id) => name.includes(id)))) loadSessionsSoon();
      for (const watcher of watchers) watcher(changed);
    },
    onState(state) {
      if (connection.value !== "refused") connection.value = state;
    },
    onHello: (there, again) => void takeAll(there, again),
  });
  filter.subscribe(() => void loadSessions());
  addEventListener("visibilitychange", () => {
    if (!document.hidden && connection.value === "open") void loadSessions();
  });
}

async function takeAll({ runs: all, questions: open, steps }: Hello, again: boolean): Promise<void> {
  const known = new Set(questions.value.map(questionKey));
  batch(() => {
    runs.value = new Map(all.map((run) => [run.id, run]));
    questions.value = open;
  });
  if (again) for (const each of open) if (!known.has(questionKey(each))) notifyOf(each, runTitle(each.run));
  isLoaded();
  lastSteps.value = steps;
  if (again) void loadSessions();
  // Load this later: until then, the agents of the last visit are used, or only our own.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const found = await api.agents().catch(() => undefined);
  if (!found) return;
  agents.value = found;
  localStorage.setItem(knownAgents, JSON.stringify(found));
}

/** Returns a key for a question, whose id is unique only within its run. */
export function questionKey({ run, question }: OpenQuestion): string {
  return `${run} ${question.id}`;
}

let loading: AbortController | undefined;

export async function loadSessions(): Promise<void> {
  if (!api) return;
  loading?.abort();
  const mine = new AbortController();
  loading = mine;
  const asked = filter.value;
  try {
    const found = await api.sessions(asked, listed.value, mine.signal);
    batch(() => {
      sessions.value = found.items;
      if (!isNarrowed(asked)) recent.value = found.items;
      foundFor.value = mine.signal.aborted ? foundFor.value : asked;
      if (found.projects.length > 0) projects.value = found.projects;
      listError.value = undefined;
    });
  } catch (error) {
    if (!mine.signal.aborted && connection.value === "open") listError.value = (error as Error).message;
  }
}

export function isNarrowed({ search, agent, project, state, days }: SessionFilter): boolean {
  return Boolean(search.trim() || agent || project || state || days);
}

let later: ReturnType<typeof setTimeout> | undefined;

function loadSessionsSoon(): void {
  clearTimeout(later);
  later = setTimeout(() => void loadSessions(), 150);
}

function applyEntry(logged: LogEntry): void {
  const { run: id, entry, at } = logged;
  const run = runs.value.get(id);
  batch(() => {
    if (!run) void learnOf(id);
    switch (entry.type) {
      case "leased":
        if (run?.state === "queued") changeRun(id, { state: "running", startedAt: at });
        break;
      case "question":
        addQuestion({ run: id, at, question: entry.question });
        break;
      case "question_closed":
        questions.value = questions.value.filter(
          ({ run: asks, question }) => asks !== id || question.id !== entry.question,
        );
        changeRun(id, { open: openOf(id) });
        break;
      case "event":
        if (entry.event.type === "init" && entry.agent === undefined) {
          changeRun(id, { sessionId: entry.event.sessionId });
          loadSessionsSoon();
        }
        break;
      case "result":
        questions.value = questions.value.filter(({ run }) => run !== id);
        changeRun(id, { state: entry.end.outcome, end: entry.end, endedAt: at, open: 0 });
        loadSessionsSoon();
        break;
      case "checkpoint":
      case "losses":
      case "prompt":
      case "prompt_ended":
      case "reply":
        break;
    }
  });
  for (const listener of listeners) listener(logged);
}

function addQuestion(asked: OpenQuestion): void {
  if (questions.value.some(({ run, question }) => run === asked.run && question.id === asked.question.id)) return;
  questions.value = [...questions.value, asked];
  changeRun(asked.run, { open: openOf(asked.run) });
  notifyOf(asked, runTitle(asked.run));
}

function openOf(id: string): number {
  return questions.value.filter(({ run }) => run === id).length;
}

async function learnOf(id: string): Promise<void> {
  const run = await api.run(id).catch(() => undefined);
  if (run) noteRun(run);
}

export function noteRun(run: RunRecord): void {
  runs.value = new Map(runs.value).set(run.id, run);
}

function changeRun(id: string, change: Partial<RunRecord>): void {
  const run = runs.value.get(id);
  if (run) noteRun({ ...run, ...change });
}

/** Answers a question. If several readers answer, only the first answer counts. */
export async function answerQuestion(run: string, question: Question, answer: Answer): Promise<void> {
  await api.answer(run, question, answer);
  questions.value = questions.value.filter((each) => each.run !== run || each.question.id !== question.id);
  changeRun(run, { open: openOf(run) });
}

/** Returns the newest run that worked in a session. */
export function latestRunOf(sessionId: string): RunRecord | undefined {
  return [...runs.value.values()]
    .filter((run) => run.sessionId === sessionId)
    .sort((one, other) => other.createdAt - one.createdAt)[0];
}

export function runTitle(id: string): string {
  const run = runs.value.get(id);
  return (
    sessionTitle(
      sessions.value?.find((each) => each.id === run?.sessionId),
      run,
    ) ?? "A run"
  );
}

/** Returns the title to show for a session. A new chat has none yet, and perhaps no prompt either. */
export function sessionTitle(
  session: { title: string } | undefined,
  run: Pick<RunRecord, "spec"> | undefined,
): string | undefined {
  const prompt = run?.spec.prompt.text.trim().split("\n")[0];
  const title = session && session.title !== "New Agent" ? session.title : (prompt ?? session?.title);
  return title === undefined ? undefined : documentText(title);
}
