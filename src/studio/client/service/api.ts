// The requests of the page to the service, as named functions.
import type { Answer } from "../../../protocol/run.ts";
import type {
  DayFigures,
  EventsPage,
  FileChange,
  InstalledCli,
  LastEvents,
  ListedSession,
  ListedSetting,
  LogEntry,
  RunRecord,
  SessionDetails,
  SessionSummary,
} from "../../../serve/api.ts";
import type { Http } from "./http.ts";

export type SessionRef = { tool: string; id: string };

export type SessionFilter = { search: string; agent: string; project: string; state: string; days: number };

export type FolderEntry = { name: string; type: "file" | "folder" | "other" };

export type SentPrompt = { text: string; images?: readonly { mime: string; base64: string }[] };

/** The options of a follow-up run that differ from the previous run. */
export type FollowUp = { prompt: SentPrompt; mode?: "plan" | "ask" | "agent"; model?: string; force?: boolean };

export type NewRun = {
  cli: string;
  workspace?: string;
  /** For a fleet: where the files come from, and the pool of workers. */
  source?: string;
  pool?: string;
  prompt: SentPrompt;
  worktree?: object;
  model?: string;
  mode?: "plan" | "ask" | "agent";
  force?: boolean;
  session?: { id: string; fork?: boolean };
};

/** `since` is the number of files that differ since the session ended. */
export type Changes = { items: FileChange[]; since?: number };

export type Api = ReturnType<typeof createApi>;

export function createApi({ get, send }: Http) {
  const session = ({ tool, id }: SessionRef, rest = "") => `/api/sessions/${tool}/${encodeURIComponent(id)}${rest}`;
  const run = (id: string, rest = "") => `/api/runs/${encodeURIComponent(id)}${rest}`;
  return {
    sessions({ search, agent, project, state, days }: SessionFilter, limit: number, signal?: AbortSignal) {
      const since = days > 0 ? String(Math.floor(Date.now() / 1000) - days * 86_400) : "";
      const parameters = { search: search.trim(), agent, project, state, since, limit: String(limit) };
      const query = new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== ""));
      return get<{ items: ListedSession[]; projects: string[] }>(`/api/sessions?${query}`, signal);
    },
    session: (ref: SessionRef, { pictures = false } = {}) =>
      get<SessionDetails>(session(ref, pictures ? "?pictures=1" : "")),
    /** Loads events of a session. `next` in the result is where the following page begins. */
    events: (ref: SessionRef, from: "from" | "turn", number: number) =>
      get<EventsPage>(session(ref, `/events?limit=10000&${from}=${number}`)),
    lastEvents: (ref: SessionRef, last: number) => get<LastEvents>(session(ref, `/events?last=${last}`)),
    /** `commands` includes changes made by shell commands, which takes longer. */
    changes: (ref: SessionRef, { commands, now = false }: { commands: boolean; now?: boolean }) =>
      get<Changes>(session(ref, `/changes${commands ? `?commands=1${now ? "&now=1" : ""}` : ""}`)),
    rename: (ref: SessionRef, title: string) => send("PATCH", session(ref), { title }),
    remove: (ref: SessionRef) => send("DELETE", session(ref)),
    /** Copies a session and returns the id of the copy. */
    async fork(ref: SessionRef, turn?: number): Promise<string | undefined> {
      const { text } = await send<{ text: string }>("POST", session(ref, "/fork"), turn === undefined ? {} : { turn });
      return /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(text)?.[0];
    },
    /** Rewinds a session to a turn; with `file`, only that file. */
    rewind: (ref: SessionRef, turn: number, file?: string) =>
      send("POST", session(ref, "/rewind"), { turn, ...(file !== undefined && { file }) }),
    undoRewind: (ref: SessionRef) => send("POST", session(ref, "/rewind/undo")),
    exportAddress: (ref: SessionRef, format: string) => session(ref, `/export?format=${format}`),

    agents: async () => (await get<{ items: InstalledCli[] }>("/api/agents")).items,
    models: async () => (await get<{ items: { id: string; displayName: string }[] }>("/v1/models")).items,
    workspaces: () => get<{ items: string[]; isFleet: boolean; startedIn: string }>("/api/workspaces"),
    trust: (workspace: string) => send("POST", "/api/workspaces/trust", { workspace }),
    files: async (workspace: string, path: string) =>
      (await send<{ items: FolderEntry[] }>("POST", "/api/files/list", { workspace, path })).items,
    file: (workspace: string, path: string) =>
      send<{ text: string; bytes: number; isCut: boolean }>("POST", "/api/files/read", { workspace, path }),
    settings: async () => (await get<{ items: ListedSetting[] }>("/api/settings")).items,
    /** Saves a setting, or restores its default if the value is null. Returns a message about what was done. */
    saveSetting: async (name: string, value: string | null) =>
      (await send<{ text: string }>("PATCH", "/api/settings", { name, value })).text,
    days: async () => (await get<{ items: DayFigures[] }>("/api/days")).items,
    summaries: async (sessions: readonly Pick<ListedSession, "tool" | "id" | "updatedAt">[]) =>
      (await send<{ items: (SessionSummary | null)[] }>("POST", "/api/sessions/summaries", { sessions })).items,

    run: (id: string) => get<RunRecord>(run(id)),
    log: async (id: string, from: number) => (await get<{ items: LogEntry[] }>(run(id, `/log?from=${from}`))).items,
    runChanges: (id: string) => get<Changes>(run(id, "/changes")),
    patchAddress: (id: string) => run(id, "/patch"),
    start: (given: NewRun) => send<RunRecord>("POST", "/api/runs", given),
    followUp: (id: string, given: FollowUp) => send<RunRecord>("POST", run(id, "/follow-up"), given),
    tell: (id: string, message: object) => send("POST", run(id, "/messages"), message),
    stop: (id: string) => send("POST", run(id, "/stop")),
    answer: (id: string, question: { id: string; hash: string }, answer: Answer) =>
      send("POST", run(id, "/answer"), { question: question.id, hash: question.hash, answer }),
  };
}
