// Works out from a lost host's log where another host can resume a run, what it must close first, and what to tell the model.
import type { AgentEvent } from "../../protocol/event.ts";
import type { Prompt, Recorded, TurnEnding } from "../../protocol/run.ts";
import type { Entry, Fleet, LogEntry, ReceivedMessage, RunRecord } from "../fleet.ts";

type ToolStart = Extract<AgentEvent, { type: "tool_start" }>;
type Checkpoint = Extract<Entry, { type: "checkpoint" }>;

/** A call that was made after the checkpoint, so its chat does not contain it. */
export type LaterCall = { tool: string; args: unknown; outcome?: string };

export type Continuation = {
  checkpoint?: Checkpoint;
  /** The number of the last numbered event, including those in `owed`. */
  lastNumber: number;
  sessionId?: string;
  endings: TurnEnding[];
  /** The last turn is over: only later prompts are left to answer. */
  isAnswered: boolean;
  /** Entries that are missing in the log: an end for each open call, text and question. */
  owed: Entry[];
  later: LaterCall[];
  /** The ids of prompts and requests that are over. */
  settled: ReadonlySet<string>;
  /** Prompts in the chat of the checkpoint, or in a later state of it if that still existed. */
  sentPrompts: string[];
  isLater?: boolean;
};

const pageSize = 500;
const interruption =
  "Interrupted: the worker was lost while this call was running. It may or may not have taken effect, and is not run again.";

/** Reads from the log how to continue a run whose host was lost. Returns undefined if no host has started it yet. */
export async function readContinuation(fleet: Fleet, run: string): Promise<Continuation | undefined> {
  const log: LogEntry[] = [];
  for (let from = 0; ; ) {
    const page = await fleet.entries(run, from, pageSize);
    // Deltas matter only at the end of the log.
    log.push(...page);
    if (page.length < pageSize) break;
    from = page.at(-1)!.position;
  }
  return continuationOf(log);
}

export function continuationOf(log: readonly LogEntry[]): Continuation | undefined {
  if (log.every(({ entry }) => entry.type === "leased" || entry.type === "losses")) return undefined;
  const checkpoint = log
    .map(({ entry }) => entry)
    .findLast((entry): entry is Checkpoint => entry.type === "checkpoint");
  const knownPosition = checkpoint?.position ?? 0;
  const open = new Map<string, { start: ToolStart; agent: string | undefined }>();
  const later = new Map<string, LaterCall>();
  const questions = new Set<string>();
  const settled = new Set<string>();
  const sentPrompts: string[] = [];
  const endings: TurnEnding[] = [];
  let sessionId: string | undefined;
  let lastNumber = 0;
  let isAnswered = false;
  let pieces: { text: string; thinking: string } = { text: "", thinking: "" };
  for (const { position, entry } of log) {
    if (entry.type === "question") questions.add(entry.question.id);
    if (entry.type === "question_closed") questions.delete(entry.question);
    if (entry.type === "prompt_ended" || entry.type === "reply") settled.add(entry.id);
    if (entry.type !== "event") continue;
    const { event, agent, number } = entry;
    const key = event.type === "tool_start" || event.type === "tool_end" ? `${agent ?? ""}/${event.callId}` : "";
    if (event.type === "tool_start") {
      open.set(key, { start: event, agent });
      if (position > knownPosition && agent === undefined) later.set(key, { tool: event.tool, args: event.args });
    }
    if (event.type === "tool_end") {
      open.delete(key);
      const call = later.get(key);
      if (call) call.outcome = event.outcome?.kind ?? "unknown";
    }
    if (agent !== undefined) continue;
    lastNumber = Math.max(lastNumber, number ?? 0);
    if (event.type === "text" || event.type === "thinking") pieces[event.type] += event.text;
    else if (number !== undefined) pieces = { text: "", thinking: "" };
    if (event.type === "init") sessionId = event.sessionId;
    if (event.type === "user") {
      isAnswered = false;
      if (position <= knownPosition) sentPrompts.push(event.text);
    }
    if (event.type === "done" || event.type === "fail") {
      isAnswered = true;
      endings.push(event);
    }
  }
  const owed = owedEntries({ open: [...open.values()], pieces, questions, lastNumber });
  return {
    ...(checkpoint && { checkpoint }),
    ...(sessionId !== undefined && { sessionId }),
    lastNumber: lastNumber + owed.filter((entry) => entry.type === "event" && entry.number !== undefined).length,
    endings,
    isAnswered,
    owed,
    later: [...later.values()],
    settled,
    sentPrompts: sentPrompts,
  };
}

type Left = {
  open: readonly { start: ToolStart; agent: string | undefined }[];
  pieces: { text: string; thinking: string };
  questions: ReadonlySet<string>;
  lastNumber: number;
};

function owedEntries({ open, pieces, questions, lastNumber }: Left): Entry[] {
  const at = Date.now();
  let number = lastNumber;
  const event = (event: AgentEvent): Entry => ({ type: "event", number: ++number, event });
  const entries: Entry[] = [...questions].map((question) => ({ type: "question_closed", question }));
  if (pieces.thinking !== "") entries.push(event({ type: "thinking_end", text: pieces.thinking, cut: true, at }));
  if (pieces.text !== "") entries.push(event({ type: "text_end", text: pieces.text, cut: true }));
  for (const { start, agent } of open) {
    const { type: _start, ...call } = start;
    const value = { errorMessage: interruption, error: interruption, message: interruption };
    const end: AgentEvent = { ...call, type: "tool_end", outcome: { kind: "error", value }, at };
    entries.push(agent === undefined ? event(end) : { type: "event", agent, event: end });
  }
  return entries;
}

/** Builds the prompt after a lost worker. With `workspace`, the files are those of the checkpoint, else as the lost host left them. */
export function continuationPrompt(
  run: RunRecord,
  { checkpoint, later }: Continuation,
  workspace: string | undefined,
): Prompt {
  const lines = [
    "The worker of this run was lost. Another worker continues it.",
    ...(workspace === undefined
      ? ["The files of the workspace are as they were left: check them before you rely on them."]
      : [
          `The workspace is now ${workspace}, with its files as they were ${checkpoint ? "after the last step that is in this conversation" : "at the start"}.`,
        ]),
  ];
  if (later.length > 0) {
    const fate = workspace === undefined ? "may be there" : "are undone";
    lines.push(
      `These calls were made since then. They are not run again; their changes to the workspace ${fate}, and what they did elsewhere may have happened, so check before you repeat one:`,
      ...later.map(({ tool, args, outcome }) => `- ${tool} ${shortArguments(args)}: ${outcome ?? "interrupted"}`),
    );
  }
  const note = reminder(lines.join("\n"));
  // Not phrased as a request: for models that look for the task, it is still the earlier prompt in the chat.
  if (checkpoint) return { text: reminder("Continue with the task above from where it was left."), data: note };
  return { ...run.spec.prompt, data: [run.spec.prompt.data, note].filter(Boolean).join("\n\n") };
}

function reminder(text: string): string {
  return `<system_reminder>\n${text}\n</system_reminder>`;
}

function shortArguments(args: unknown): string {
  const text = JSON.stringify(args) ?? "";
  return text.length > 400 ? `${text.slice(0, 400)} …` : text;
}

/** Decides what to do with a message that a lost host may have handled: handle it, skip it, send a late reply, or fail it. */
export function verdictOn(
  { settled, sentPrompts, checkpoint, isLater }: Continuation,
  { number, message }: ReceivedMessage,
): "handle" | "skip" | "reply" | "fail" {
  const id = "id" in message ? message.id : undefined;
  if (id !== undefined && settled.has(id)) return "skip";
  // An answer to a question that is closed has no effect.
  if (message.type === "cancel" || message.type === "answer" || message.type === "attend") return "handle";
  const isAfter = number > (checkpoint?.heard ?? 0);
  const isTold = (text: string) => {
    const index = isAfter && !isLater ? -1 : sentPrompts.indexOf(text);
    // The chat may hold only one of two prompts with the same text.
    if (index !== -1) sentPrompts.splice(index, 1);
    return index === -1 ? "handle" : "reply";
  };
  if (message.type === "prompt") return isTold(message.prompt.text);
  if (message.type === "steer") return isTold(message.text);
  if (isAfter) return "handle";
  switch (message.type) {
    case "mode":
    case "model":
    case "context":
    case "names":
    case "aside":
      return "handle";
    case "interrupt":
    case "withdraw":
    case "background":
    case "compact":
    case "rewind":
      return id === undefined ? "skip" : "fail";
  }
}

/** Joins the events of both hosts into one run: one init, one prompt, growing numbers. Returns undefined for events to skip. */
export function joinRuns({
  lastNumber,
  sessionId,
  checkpoint,
}: Continuation): (recorded: Recorded) => Recorded | undefined {
  let offset: number | undefined;
  let isTold = false;
  return (recorded) => {
    const { number, agent, event } = recorded;
    if (agent !== undefined) return recorded;
    if (number !== undefined) offset ??= Math.max(0, lastNumber + 1 - number);
    if (event.type === "init" && event.sessionId === sessionId) return undefined;
    const numbered = number === undefined ? {} : { number: number + offset! };
    if (event.type !== "user" || isTold) return { ...numbered, event };
    isTold = true;
    const message = `The worker of this run was lost; another one continues from its ${checkpoint ? "last checkpoint" : "start"}.`;
    return { ...numbered, event: { type: "notice", kind: "worker_lost", message, at: Date.now() } };
  };
}
