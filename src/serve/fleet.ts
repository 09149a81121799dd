// Fleet: runs that outlive the process that started them. It has a queue of runs, a lease for the one host of each, a log that any
// client may follow, and messages to the host. Engines implement it: SQLite for one machine, or a server for many machines.
//
// The fence is the position in the run's log: a host that lost its run holds an old position, and its writes are refused.
// Positions count the whole fleet's log, so within one run they grow with gaps, and one number says how far a reader is.
import type { ControlLine } from "../protocol/control-lines.ts";
import type { AgentEvent, Denial, Usage } from "../protocol/event.ts";
import type { Answer, Prompt, Question, RunRequest } from "../protocol/run.ts";
import type { RunLoss } from "../sdk/drivers/driver.ts";

/** The agent CLIs that can be driven. `courser` is this program, `cursor` the original. */
export const cliNames = ["courser", "cursor", "claude", "codex", "gemini", "opencode", "pi"] as const;
/** The name of an agent CLI that fleets can run. */
export type CliName = (typeof cliNames)[number];

/**
 * The version of run records. It grows when a record may hold something that older workers have to know, such as a new
 * restriction: an older worker leaves such a run to others.
 */
export const specVersion = 1;

/** The definition of a run: plain data without secrets. Keys come from the host's environment. */
export type RunSpec = {
  /** The version of this record; records without one are of version 1. */
  version?: number;
  cli: CliName;
  request: RunRequest;
  prompt: Prompt;
  /** The source of the run's files. Without it: `request.workspace` on the worker's disk. */
  source?: WorkspaceSource;
  placement?: Placement;
  /** `continue`: the next worker resumes from the last checkpoint. `interrupt` (the default): the run ends. */
  onWorkerLoss?: "continue" | "interrupt";
  /** Whether a user watches the run, so that calls which no rule decides are asked about. */
  attended?: boolean;
};

/** Where the worker gets the files of a run from. */
export type WorkspaceSource =
  /** A repository at a path, in a bundle or at a URL; its default branch unless `ref` is given. */
  | { type: "git"; from: string; ref?: string }
  /** The files are copied from a folder on the worker's disk. */
  | { type: "folder"; path: string }
  /** A .tar.gz object of the fleet, stored for this run or for another run with the same files. */
  | { type: "archive"; object: string; run?: string };

/** Labels by name and value, which runs require and workers have. */
export type Labels = Readonly<Record<string, string>>;

export const priorities = ["high", "normal", "low"] as const;
export type Priority = (typeof priorities)[number];

/** Which workers may take a run, and its priority. */
export type Placement = {
  /** The pool of workers that may take the run; `default` if absent. */
  pool?: string;
  /** Labels that a worker must have to take the run. */
  labels?: Labels;
  priority?: Priority;
};

/** `agent` is the conversation that the run belongs to. An agent has one run at a time. */
export type NewRun = { id: string; agent: string; spec: RunSpec; name?: string; sender?: string };

export const runStates = ["queued", "running", "finished", "error", "cancelled"] as const;
export type RunState = (typeof runStates)[number];

export type RunRecord = {
  id: string;
  agent: string;
  spec: RunSpec;
  state: RunState;
  createdAt: number;
  /** The user who submitted the run, if several share the fleet. */
  sender?: string;
  /** When a host took the run for the first time. */
  startedAt?: number;
  endedAt?: number;
  /** The position of the run's last log entry; 0 if its log is empty. */
  position: number;
  /** How many times a host has taken the run. */
  attempts: number;
  /** The id of the session in the agent CLI. */
  sessionId?: string;
  open: number;
  /** Why the host was told to end the run, if it was. */
  cancelReason?: string;
  /** Whether the log of the run was deleted. */
  isPruned?: true;
  end?: RunEnd;
};

/** How a run ended. Every run has exactly one end. */
export type RunEnd = {
  outcome: "finished" | "error" | "cancelled";
  /** The final answer, or the reason why there is none. */
  text: string;
  code?: string;
  durationMs: number;
  turns: number;
  usage?: Usage;
  costUsd?: number;
  denials?: Denial[];
  /** The name of the stored object with the run's changes, in the format of `git diff --binary`. */
  patch?: string;
  /** The branch with the run's changes, if the workspace came from a repository that can be pushed to. */
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
  /** The id of the agent's newest run. */
  latestRun?: string;
  isBusy: boolean;
};

/** One entry in the log of a run. */
export type Entry =
  /** A host took the run and now owns its lease. */
  | { type: "leased"; worker: string; attempt: number }
  /** An event of the agent, as in `Recorded`. Streamed pieces (deltas) have no number. */
  | { type: "event"; number?: number; agent?: string; event: AgentEvent }
  /**
   * The objects from which another worker can resume: the chat and the workspace. They include everything up to the
   * entry at `position`, and messages to the host up to `heard`.
   */
  | { type: "checkpoint"; chat: string; workspace?: string; position?: number; heard?: number }
  /** Parts of the request that could not be carried over to the run's CLI. */
  | { type: "losses"; losses: readonly RunLoss[] }
  | { type: "question"; question: Question }
  /** The question was answered, or its answer is no longer awaited. */
  | { type: "question_closed"; question: string; answer?: Answer }
  /** A prompt or steering message arrived during the run and waits for its turn. */
  | { type: "prompt"; id: string; kind: "steer" | "prompt"; text: string }
  /** A prompt that arrived during the run was delivered, or was dropped with this error. */
  | { type: "prompt_ended"; id: string; state: "told" | "dropped"; error?: string; code?: string }
  /** The reply of the host to the message with this id. */
  | { type: "reply"; id: string; value?: unknown; error?: string; code?: string }
  /** The end of the run, which is always the last entry. */
  | { type: "result"; end: RunEnd };

export type LogEntry = { position: number; run: string; at: number; entry: Entry };

/** A message to the host of a run. A reply or the end of a prompt refers to its `id`. */
export type Message =
  | Exclude<ControlLine, { type: "hello" | "answer" | "run_call" }>
  | { type: "prompt"; prompt: Prompt; id?: string }
  | { type: "answer"; question: string; hash: string; answer: Answer }
  | { type: "cancel"; reason: string };

/** An answer to a question of a run; `hash` is that of the question. */
export type GivenAnswer = Omit<Extract<Message, { type: "answer" }>, "type">;

/** A question that waits for an answer, and the run that asked it. */
export type OpenQuestion = { run: string; at: number; question: Question };

export type ReceivedMessage = { number: number; message: Message };

/**
 * `position` is the fence: a writer states where it believes the log ends. `takenAt` is a time before it was taken, by this process's
 * clock: a process that was handed the lease has to renew it first. `record` is the run as it was taken, if that was read then.
 */
export type Lease = {
  run: string;
  token: string;
  position: number;
  ttlMs: number;
  takenAt?: number;
  record?: RunRecord;
};

/** What a worker reports about itself to the operators of the fleet. */
export type Presence = {
  name: string;
  pool: string;
  /** The worker's labels; older workers do not report them. */
  labels?: Labels;
  version: string;
  concurrency: number;
  running: number;
};

export type StreamState = {
  name: string;
  messages: number;
  bytes: number;
  replicas: number;
  leader?: string;
  /** Names of servers that lag behind the leader or cannot be reached. */
  behind: string[];
  maxAgeDays?: number;
  maxBytes?: number;
};

export type Queue = {
  pool: string;
  priority: string;
  labels: Labels;
  /** The user who submitted these runs; empty if unknown. */
  sender: string;
  /** Why no more runs of this user are started now, if that is so. */
  heldBack?: string;
  waiting: number;
  running: number;
  /** How many seconds the oldest run in the queue has waited. */
  oldestSeconds: number;
};

/** The status of a fleet, as shown to its operator. */
export type Overview = {
  servers: string[];
  streams: StreamState[];
  queues: Queue[];
  workers: (Presence & { seenSeconds: number })[];
  /** The limits per sender: runs at once in a pool, and dollars per day. */
  quota: { runs?: number; costPerDay?: number };
  /** How many seconds it took to store a message on the server and read it back. */
  answerSeconds: number;
};

export type LeaseOptions = {
  /** The name of the worker, which is shown to users. */
  worker: string;
  ttlMs: number;
  /** The pool from which runs are taken; `default` if absent. */
  pool?: string;
  /** The labels of the worker. Runs that require other labels are skipped. */
  labels?: Labels;
  /** Called for a run that a newer version of this program sent, which is left to other workers. */
  onNewer?(run: string, version: number): void;
  /** Waits for a run until this is aborted. Without it, returns at once. */
  wait?: AbortSignal;
};

export type ListOptions = { agent?: string; states?: readonly RunState[]; limit?: number; before?: string };

export type AgentListOptions = { limit?: number; before?: string; archived?: boolean };

/** A fleet. A pending wait keeps the process alive until it resolves, is aborted, or the fleet is closed. */
export interface Fleet {
  /** Enqueuing the same id twice has no effect. Throws AGENT_BUSY while another run of the agent is not over. */
  enqueue(run: NewRun): Promise<RunRecord>;
  /** Leases the most urgent run without a host, the oldest first: it waits, or its host has not renewed its lease in time. */
  lease(options: LeaseOptions): Promise<Lease | undefined>;
  /** Returns false if the run belongs to another host or is over. */
  renew(lease: Lease): Promise<boolean>;
  /** Appends and renews. Returns the new end of the log. Throws LEASE_LOST if the log does not end at `after` or the run is over. */
  append(lease: Lease, entries: readonly Entry[], after: number): Promise<number>;
  /** Ends the run, once. Returns false if prompts beyond `handled` must be answered first. Throws as `append` does. */
  finish(lease: Lease, end: RunEnd, after: number, handled: number): Promise<boolean>;
  /**
   * Gives up a lease when the host cannot know whether the run is still its own: nothing more is written with it, and writes in
   * flight are not retried. `append`, `finish` and `release` throw LEASE_LOST, `renew` returns false.
   */
  abandon(lease: Lease): void;
  /** Puts the run of this lease back into the queue. */
  release(lease: Lease, after: number): Promise<void>;
  /** Cancels a run: ends a queued one, or tells the host of a running one. Returns false if the run had ended. */
  cancel(run: string, reason: string): Promise<boolean>;
  /** Accepts one answer, and only for the question with this hash. Otherwise throws QUESTION_CLOSED. */
  answer(run: string, answer: GivenAnswer): Promise<void>;
  /** Sends a message to the host of a run. Throws RUN_OVER if the run has ended. */
  say(run: string, message: Message): Promise<void>;
  /** Yields the messages to the host that follow `after`, as they arrive. */
  receive(lease: Lease, after: number, signal: AbortSignal): AsyncIterable<ReceivedMessage>;
  /** Yields the entries of a run's log after a position, and ends after the result. */
  follow(run: string, from: number, signal: AbortSignal): AsyncIterable<LogEntry>;
  /** Yields the entries of all runs in the order of one common log. Never ends. */
  followAll(from: number, signal: AbortSignal): AsyncIterable<LogEntry>;
  /** Returns the position of the last entry in the common log of all runs. */
  position(): Promise<number>;
  /** Returns the entries that are in the run's log now. */
  entries(run: string, from: number, limit: number): Promise<LogEntry[]>;

  run(id: string): Promise<RunRecord | undefined>;
  /** Returns the runs that match the options, newest first. */
  runs(options?: ListOptions): Promise<RunRecord[]>;
  /** Counts the runs that `lease` could return, and how many milliseconds remain until the next lease expires. */
  waiting(): Promise<{ count: number; hosted: number; nextMs?: number }>;
  /** Returns the open questions of all runs, oldest first. */
  questions(): Promise<OpenQuestion[]>;
  agent(id: string): Promise<AgentRecord | undefined>;
  agents(options?: AgentListOptions): Promise<AgentRecord[]>;
  changeAgent(id: string, change: { name?: string; isArchived?: boolean }): Promise<void>;
  /** Deletes the agent with its runs and their logs. Throws AGENT_BUSY while a run is not over. */
  deleteAgent(id: string): Promise<void>;
  /** Deletes the logs of runs that ended before `time`, but keeps their results. Returns how many logs were deleted. */
  prune(time: number): Promise<number>;
  /** Stores bytes for a run under a name: a checkpoint, a patch, an archive. Removed with the run's log. */
  put(run: string, name: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Returns undefined if there is no object of that name. */
  get(run: string, name: string): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Reports that a worker is alive. Fleets of one machine do not need it. */
  present?(worker: Presence): Promise<void>;
  /** Returns the status of the fleet. Only available for a fleet on a server. */
  overview?(): Promise<Overview>;
  /** `listener` is called when the connection is lost, and when it is back. */
  onReach(listener: (isReached: boolean) => void): void;
  close(): void;
}

/** The fleet of a single machine. It has no workers: the process that uses it starts the hosts of runs. */
export interface LocalFleet extends Fleet {
  /** Leases a run. With `run`, only that one; with `most`, none if that many runs already have hosts. */
  lease(options: LeaseOptions & { run?: string; most?: number }): Promise<Lease | undefined>;
  /** Resolves when something has changed since the last call. */
  changed(signal: AbortSignal): Promise<void>;
}

export function isLocal(fleet: Fleet): fleet is LocalFleet {
  return "changed" in fleet;
}

export function isOver(state: RunState): state is "finished" | "error" | "cancelled" {
  return state !== "queued" && state !== "running";
}

/** Returns whether a worker has all the labels that a run asks for. */
export function hasLabels(worker: Labels, wanted: Labels): boolean {
  return Object.entries(wanted).every(([name, value]) => worker[name] === value);
}
