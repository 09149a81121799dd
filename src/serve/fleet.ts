// Fleet: runs that outlive whoever started them. A queue of runs, a lease for the one host of each, a log of what happened
// that anybody may follow, and messages to the host. Engines keep it: one machine's SQLite, or a server for many machines.
//
// The fence is the position in the run's log: a host that lost its run holds an old position, and what it writes is refused.
// Positions are those of the whole fleet's log, so within one run they grow with gaps, and one number says how far a reader is.
import type { ControlLine } from "../protocol/control-lines.ts";
import type { AgentEvent, Denial, Usage } from "../protocol/event.ts";
import type { Answer, Prompt, Question, RunRequest } from "../protocol/run.ts";
import type { RunLoss } from "../sdk/drivers/driver.ts";

/** The agent CLIs that can be driven. `courser` is this program, `cursor` the original. */
export const cliNames = ["courser", "cursor", "claude", "codex", "gemini", "opencode", "pi"] as const;
export type CliName = (typeof cliNames)[number];

/**
 * Of the records of runs. It grows when a record may hold something that an older worker would have to know, such as a new
 * restriction: such a worker leaves the run to others.
 */
export const specVersion = 1;

/** What a run shall be: plain data without a secret. Keys come from the environment of the host. */
export type RunSpec = {
  /** The version of this record; records without one are of version 1. */
  version?: number;
  cli: CliName;
  request: RunRequest;
  prompt: Prompt;
  /** Where its files come from. Without: `request.workspace` as it lies on the worker's disk. */
  source?: WorkspaceSource;
  placement?: Placement;
  /** `continue`: the next worker goes on from the last step that was kept. `interrupt`, unless told: the run is over. */
  onWorkerLoss?: "continue" | "interrupt";
  /** A person started it, and is in front of it: what no rule speaks of is asked. */
  attended?: boolean;
};

/** What a worker makes the workspace of a run from. */
export type WorkspaceSource =
  /** A repository at a path, in a bundle or behind a URL; its default branch unless told. */
  | { type: "git"; from: string; ref?: string }
  /** A copy of a folder on the worker's disk. */
  | { type: "folder"; path: string }
  /** A .tar.gz that was put into the fleet, for this run or for another that has the same files. */
  | { type: "archive"; object: string; run?: string };

export const priorities = ["high", "normal", "low"] as const;
export type Priority = (typeof priorities)[number];

/** Which workers may take a run, and when. */
export type Placement = {
  /** `default` unless told. */
  pool?: string;
  /** All of them must be labels of the worker. */
  labels?: Readonly<Record<string, string>>;
  priority?: Priority;
};

/** `agent`: the conversation that it belongs to. One run of it at a time. */
export type NewRun = { id: string; agent: string; spec: RunSpec; name?: string };

export const runStates = ["queued", "running", "finished", "error", "cancelled"] as const;
export type RunState = (typeof runStates)[number];

export type RunRecord = {
  id: string;
  agent: string;
  spec: RunSpec;
  state: RunState;
  createdAt: number;
  /** When a host took it first. */
  startedAt?: number;
  endedAt?: number;
  /** Of the last entry in its log; 0: none. */
  position: number;
  /** How many hosts took it. */
  attempts: number;
  /** The session as its own CLI knows it. */
  sessionId?: string;
  /** Questions that wait for an answer. */
  open: number;
  /** Its host was told to end it. */
  cancelReason?: string;
  /** Its log was dropped. */
  isPruned?: true;
  end?: RunEnd;
};

/** Exactly one for each run. */
export type RunEnd = {
  outcome: "finished" | "error" | "cancelled";
  /** The answer; without success, why there is none. */
  text: string;
  code?: string;
  durationMs: number;
  /** Turns that were answered. */
  turns: number;
  usage?: Usage;
  costUsd?: number;
  denials?: Denial[];
  /** The object with what was changed, as `git diff --binary` tells it. */
  patch?: string;
  /** The branch that holds it, where the workspace came from a repository that could be written to. */
  branch?: string;
};

export type AgentRecord = {
  id: string;
  name: string;
  cli: CliName;
  workspace: string;
  createdAt: number;
  updatedAt: number;
  isArchived: boolean;
  sessionId?: string;
  /** Newest. */
  latestRun?: string;
  isBusy: boolean;
};

/** What stands in the log of a run. */
export type Entry =
  /** A host took it. */
  | { type: "leased"; worker: string; attempt: number }
  /** As `Recorded`: deltas have no number. */
  | { type: "event"; number?: number; agent?: string; event: AgentEvent }
  /**
   * The objects from which another worker can go on: the chat, and the workspace as it was. They hold everything up to the
   * entry at `position`, and what the host was told up to `heard`.
   */
  | { type: "checkpoint"; chat: string; workspace?: string; position?: number; heard?: number }
  /** What could not be carried over to its CLI. */
  | { type: "losses"; losses: readonly RunLoss[] }
  | { type: "question"; question: Question }
  /** Answered, or nobody waits for the answer any more. */
  | { type: "question_closed"; question: string; answer?: Answer }
  /** A prompt or a steering message was handed in later, and waits for its turn. */
  | { type: "prompt"; id: string; kind: "steer" | "prompt"; text: string }
  /** A prompt that was handed in later is over: told, or dropped and why. */
  | { type: "prompt_ended"; id: string; state: "told" | "dropped"; error?: string; code?: string }
  /** Answers the message with this id. */
  | { type: "reply"; id: string; value?: unknown; error?: string; code?: string }
  /** The last one. */
  | { type: "result"; end: RunEnd };

export type LogEntry = { position: number; run: string; at: number; entry: Entry };

/** To the host of a run. `id`: what a reply or the end of a prompt names. */
export type Message =
  | Exclude<ControlLine, { type: "hello" | "answer" | "run_call" }>
  | { type: "prompt"; prompt: Prompt; id?: string }
  | { type: "answer"; question: string; hash: string; answer: Answer }
  | { type: "cancel"; reason: string };

export type Heard = { number: number; message: Message };

/** `position` is the fence: whoever writes says where it believes the log to end. */
export type Lease = { run: string; token: string; position: number; ttlMs: number };

/** What a worker says of itself, for people who look. */
export type Presence = { name: string; pool: string; version: string; concurrency: number; running: number };

export type LeaseOptions = {
  /** Who asks, for people. */
  worker: string;
  ttlMs: number;
  /** This one only. */
  run?: string;
  /** None where so many runs have hosts already. */
  most?: number;
  /** Only runs for this pool; `default` unless told. */
  pool?: string;
  /** What the worker can say of itself: a run that asks for more is not for it. */
  labels?: Readonly<Record<string, string>>;
  /** Told of a run that a newer version of this program has sent, and that is left to others. */
  onNewer?(run: string, version: number): void;
  /** Waits for a run as long as this lasts, woken by its engine. Without: none is an answer at once. */
  wait?: AbortSignal;
};

export type ListOptions = { agent?: string; states?: readonly RunState[]; limit?: number; before?: string };

/** Who waits for something here keeps the process alive, until it comes, its signal is aborted or the fleet is closed. */
export interface Fleet {
  /** The same id again changes nothing. Refused (AGENT_BUSY) while another run of its agent is not over. */
  enqueue(run: NewRun): Promise<RunRecord>;
  /** The most urgent run that has no host, of those the oldest: it waits, or its host has not renewed its lease in time. */
  lease(options: LeaseOptions): Promise<Lease | undefined>;
  /** False: it is somebody else's, or over. */
  renew(lease: Lease): Promise<boolean>;
  /** Also renews. Where the log ends now comes back. Throws LEASE_LOST where it does not end at `after`, or the run is over. */
  append(lease: Lease, entries: readonly Entry[], after: number): Promise<number>;
  /** The end, once. False: there are prompts beyond `heard` to be answered first. Throws as `append` does. */
  finish(lease: Lease, end: RunEnd, after: number, heard: number): Promise<boolean>;
  /**
   * For a host that cannot know whether the run is still its own: from now on nothing is written by this lease, and what is on its
   * way is not sent again. `append`, `finish` and `release` throw LEASE_LOST, `renew` is false.
   */
  abandon(lease: Lease): void;
  /** Back to the queue. */
  release(lease: Lease, after: number): Promise<void>;
  /** A run that waits ends here and now; the host of one that runs is told. False: it was over. */
  cancel(run: string, reason: string): Promise<boolean>;
  /** Counted once, and only for the question that has this hash: else QUESTION_CLOSED. */
  answer(run: string, answer: Omit<Extract<Message, { type: "answer" }>, "type">): Promise<void>;
  /** For the host. Throws RUN_OVER. */
  say(run: string, message: Message): Promise<void>;
  /** What the host is told from now on, beyond `after`. */
  hear(lease: Lease, after: number, signal: AbortSignal): AsyncIterable<Heard>;
  /** From behind a position; over after the result. */
  follow(run: string, from: number, signal: AbortSignal): AsyncIterable<LogEntry>;
  /** All runs, in one order; never over. */
  followAll(from: number, signal: AbortSignal): AsyncIterable<LogEntry>;
  /** Where the log of all runs ends. */
  position(): Promise<number>;
  /** What stands in the log of a run by now. */
  entries(run: string, from: number, limit: number): Promise<LogEntry[]>;

  run(id: string): Promise<RunRecord | undefined>;
  /** Newest first. */
  runs(options?: ListOptions): Promise<RunRecord[]>;
  /** Runs that `lease` would give out, and in how many milliseconds the next one may be lost by its host. */
  waiting(): Promise<{ count: number; hosted: number; nextMs?: number }>;
  /** What waits for an answer, oldest first. */
  questions(): Promise<{ run: string; at: number; question: Question }[]>;
  agent(id: string): Promise<AgentRecord | undefined>;
  agents(options?: { limit?: number; before?: string; archived?: boolean }): Promise<AgentRecord[]>;
  changeAgent(id: string, change: { name?: string; isArchived?: boolean }): Promise<void>;
  /** With its runs and their logs. Refused (AGENT_BUSY) while one is not over. */
  deleteAgent(id: string): Promise<void>;
  /** Logs of runs that ended before `time` are dropped; what became of them is kept. How many comes back. */
  prune(time: number): Promise<number>;
  /** Keeps bytes for a run, under a name of its own: a checkpoint, a patch, an archive. Gone with the log of the run. */
  put(run: string, name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Undefined: there is nothing of that name. */
  get(run: string, name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** A worker is there. Fleets of one machine need no telling. */
  present?(worker: Presence): Promise<void>;
  /** `listener` is told when the connection is lost, and when it is there again. */
  onReach(listener: (isReached: boolean) => void): void;
  /** Resolves when something has changed since the last call. */
  changed(signal: AbortSignal): Promise<void>;
  close(): void;
}

export function isOver(state: RunState): state is "finished" | "error" | "cancelled" {
  return state !== "queued" && state !== "running";
}

/** A run that asks for labels is for workers that have them all. */
export function hasLabels(worker: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([name, value]) => worker[name] === value);
}
