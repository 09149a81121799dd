// Exports the types of the service's responses, for clients that are built with it. Types only: importing it loads nothing.
import type { Question } from "../protocol/run.ts";
import type { CliName } from "./fleet.ts";
import type { SessionState } from "./session-list.ts";
import type { eventsPage, lastEvents, OpenedSession, TurnFigures } from "./sessions.ts";

export type { InstalledCli } from "./clis.ts";
export type { FileChange } from "./file-changes.ts";
export type { CliName, Entry, LogEntry, RunEnd, RunRecord, RunState } from "./fleet.ts";
export type { ListedSetting } from "./routes/studio-settings.ts";
export type { ListedSession, SessionState } from "./session-list.ts";
export type { DayFigures, SessionSummary } from "./session-summary.ts";
export type { ChangedSession } from "./session-watch.ts";
export type { TurnFigures } from "./sessions.ts";

export type SessionFacts = Omit<OpenedSession, "turns" | "path"> & {
  turns: TurnFigures[];
  total: number;
  agent: CliName;
  state: SessionState;
  isTrusted: boolean;
};

export type EventsPage = ReturnType<typeof eventsPage>;
export type LastEvents = Awaited<ReturnType<typeof lastEvents>>;

/** A question that waits for an answer, and the run that asked it. */
export type OpenQuestion = { run: string; at: number; question: Question };
