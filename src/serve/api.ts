// Exports the types of the service's responses, for clients that are built with it. Types only: importing it loads nothing.
import type { CliName } from "./fleet.ts";
import type { SessionState } from "./session-list.ts";
import type { SessionPictures } from "./session-pictures.ts";
import type { eventsPage, lastEvents, OpenedSession, TurnFigures } from "./sessions.ts";

export type { InstalledCli } from "./clis.ts";
export type { FileChange } from "./file-changes.ts";
export type { CliName, Entry, LogEntry, OpenQuestion, RunEnd, RunRecord, RunState } from "./fleet.ts";
export type { ListedSetting } from "./routes/studio-settings.ts";
export type { ListedSession, SessionState } from "./session-list.ts";
export type { SessionPictures } from "./session-pictures.ts";
export type { DayFigures, SessionSummary } from "./session-summary.ts";
export type { ChangedSession } from "./session-watch.ts";
export type { TurnFigures } from "./sessions.ts";

export type SessionDetails = Omit<OpenedSession, "turns" | "path"> & {
  turns: TurnFigures[];
  total: number;
  agent: CliName;
  state: SessionState;
  isTrusted: boolean;
  /** The pictures in the session, if the request asked for them. */
  pictures?: SessionPictures[];
};

export type EventsPage = ReturnType<typeof eventsPage>;
export type LastEvents = Awaited<ReturnType<typeof lastEvents>>;
