// What the page knows as a whole: the service, the runs, what waits for an answer, the list of sessions.
import { batch, computed, signal } from "@preact/signals";
import type { Answer, Question } from "../../../protocol/run.ts";
import type { InstalledCli, ListedSession, LogEntry, OpenQuestion, RunRecord } from "../../../serve/api.ts";
import { type Api, createApi, type SessionFilter } from "../service/api.ts";
import { followLog, type StreamState } from "../service/event-stream.ts";
import { createHttp, type Http } from "../service/http.ts";
import { forgetToken } from "../service/token.ts";
import { notifyOf } from "./notifications.ts";

export type Connection = StreamState | "refused";

export const connection = signal<Connection>("connecting");
export const runs = signal<ReadonlyMap<string, RunRecord>>(new Map());
export const questions = signal<readonly OpenQuestion[]>([]);
export const agents = signal<readonly InstalledCli[]>([]);

export const filter = signal<SessionFilter>({ search: "", agent: "", project: "", state: "", days: 0 });
export const sessions = signal<readonly ListedSession[] | undefined>(undefined);
export const projects = signal<readonly string[]>([]);
export const listError = signal<string | undefined>(undefined);
/** How many sessions are asked for. */
export const listed = signal(100);

export const liveRuns = computed(() =>
  [...runs.value.values()]
    .filter(({ state }) => state === "queued" || state === "running")
    .sort((one, other) => other.createdAt - one.createdAt),
);

let isLoaded: () => void;
/** Resolves when it is known what runs. */
export const runsLoaded = new Promise<void>((resolve) => {
  isLoaded = resolve;
});

let api: Api;
let http: Http;
const listeners = new Set<(entry: LogEntry) => void>();

export function service(): Api {
  return api;
}

/** For what is not JSON. */
export function openHttp(): Http {
  return http;
}

/** Entries of the log, as they come. What ends it comes back. */
export function onEntry(listener: (entry: LogEntry) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
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
    onState(state, again) {
      if (connection.value === "refused") return;
      connection.value = state;
      if (state === "open") void loadAll(again);
    },
  });
  filter.subscribe(() => void loadSessions());
  addEventListener("visibilitychange", () => {
    if (!document.hidden && connection.value === "open") void loadSessions();
  });
}

async function loadAll(again: boolean): Promise<void> {
  const known = new Set(questions.value.map(({ question }) => question.id));
  const [allRuns, open] = await Promise.all([api.runs(), api.questions()]).catch(() => [undefined, undefined]);
  if (allRuns) runs.value = new Map(allRuns.map((run) => [run.id, run]));
  if (open) {
    questions.value = open;
    if (again) for (const each of open) if (!known.has(each.question.id)) notifyOf(each, runTitle(each.run));
  }
  if (allRuns) isLoaded();
  void loadSessions();
  if (agents.value.length === 0) agents.value = await api.agents().catch(() => []);
}

let loading: AbortController | undefined;

export async function loadSessions(): Promise<void> {
  if (!api) return;
  loading?.abort();
  const mine = new AbortController();
  loading = mine;
  try {
    const found = await api.sessions(filter.value, listed.value, mine.signal);
    batch(() => {
      sessions.value = found.items;
      if (found.projects.length > 0) projects.value = found.projects;
      listError.value = undefined;
    });
  } catch (error) {
    if (!mine.signal.aborted && connection.value === "open") listError.value = (error as Error).message;
  }
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

/** The first answer counts; who comes late is told by the question being gone. */
export async function answerQuestion(run: string, question: Question, answer: Answer): Promise<void> {
  await api.answer(run, question, answer);
  questions.value = questions.value.filter((each) => each.run !== run || each.question.id !== question.id);
  changeRun(run, { open: openOf(run) });
}

export function runTitle(id: string): string {
  const run = runs.value.get(id);
  return (
    titleOf(
      sessions.value?.find((each) => each.id === run?.sessionId),
      run,
    ) ?? "A run"
  );
}

/** A chat that was just begun has no title yet, and may not even know its prompt. */
export function titleOf(
  session: { title: string } | undefined,
  run: Pick<RunRecord, "spec"> | undefined,
): string | undefined {
  const prompt = run?.spec.prompt.text.split("\n")[0];
  return session && session.title !== "New Agent" ? session.title : (prompt ?? session?.title);
}
