// The types of what the service answers, for clients that are built with it. Types only: nothing is loaded.
import type { Question } from "../protocol/run.ts";
import type { CliName } from "./fleet.ts";
import type { SessionState } from "./session-list.ts";
import type { eventsPage, OpenedSession, TurnFigures } from "./sessions.ts";

export type { InstalledCli } from "./clis.ts";
export type { FileChange } from "./file-changes.ts";
export type { CliName, Entry, LogEntry, RunEnd, RunRecord, RunState } from "./fleet.ts";
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

/** What waits for an answer, and whose question it is. */
export type OpenQuestion = { run: string; at: number; question: Question };
