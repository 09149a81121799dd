// A recording: the types of its lines, and the parser of its file. docs/recording.md has the format.
import { readFileSync } from "node:fs";
import { isObject } from "../json/object.ts";
import { type ErrorCode, UserError } from "../protocol/error-codes.ts";
import type { AgentEvent, EventOf, Usage } from "../protocol/event.ts";
import type { Part } from "../protocol/message.ts";
import type { PermissionMode, RunRequest } from "../protocol/run.ts";
import { programName } from "../text/program-name.ts";
import { systemErrorText } from "../text/system-error.ts";
import { wholeHeader } from "./head.ts";
import { headerFault, lineFault } from "./line-faults.ts";
import type { Places } from "./normalise.ts";
import { SaidBefore } from "./short-lines.ts";

export const recordingVersion = 1;

/** The first line of a recording. */
export type RecordingHeader = {
  recording: typeof recordingVersion;
  /** The version of our program that made the recording. */
  version: string;
  recordedAt: string;
  chatId: string;
  mode: PermissionMode;
  trusted: boolean;
  /** The request of the run, without its directories, which are in `places`. */
  request: Omit<RunRequest, "workspace" | "roots">;
  places: Places;
  model: { id: string; displayName: string; contextTokens: number; price?: object; effort?: string };
  workspace: WorkspaceFingerprint;
};

/** A fingerprint of a workspace's state that is quick to compute. */
export type WorkspaceFingerprint = { commit?: string; entries: number; digest: string };

/** A stored part of a message. A picture is stored only as its digest. */
export type KeptPart =
  | Exclude<Part, { type: "image" | "tool_result" }>
  | { type: "image"; mime: string; digest: string }
  | {
      type: "tool_result";
      id: string;
      text: string;
      isError: boolean;
      images?: { mime: string; digest: string }[];
    };

/** `reply` means that the message is the reply with this number, and is stored there. */
export type KeptMessage = { role: "user" | "assistant"; digest: string } & ({ parts: KeptPart[] } | { reply: number });

/** A part of the system prompt. `text` is omitted for built-in prompts of this version. */
export type SystemPart = { digest: string; text?: string; builtIn?: string };

/**
 * A request to the model. `messages` are the first `kept` ones of the agent's previous request, then `added`. System and tools
 * are written only if they changed. `agent` is the owner of the conversation, `main` or the id of a subagent; it is absent for
 * a side request.
 */
export type RequestLine = {
  request: number;
  digest: string;
  agent?: string;
  purpose?: string;
  system?: SystemPart[];
  /** The digest of each tool, by name; written as one text, `Read 2bd4e2, …`. */
  tools?: Record<string, string>;
  messages: { kept: number; added: KeptMessage[] };
};

/** A part of a reply. `deltas` are the lengths of the pieces in which a text was streamed. */
export type ReplyPart = Part & { deltas?: number[] };

export type ReplyLine = {
  reply: number;
  parts: ReplyPart[];
  usage?: Usage;
  provider?: string;
  /** The error that ended the reply after its parts. */
  error?: { code: ErrorCode; message: string };
  /** Whether the run ended before the reply was complete. */
  cut?: true;
};

/** `digest` is that of a tool's result, so that a change is noticed. */
export type EventLine = { event: AgentEvent; digest?: string };

/** Consecutive deltas: one text, their lengths, and the milliseconds from each to the next. */
export type DeltasLine = { deltas: "text" | "thinking"; text: string; sizes: number[]; at: number[] };

export type RecordingLine = RequestLine | ReplyLine | EventLine | DeltasLine;

export type Recording = {
  file: string;
  header: RecordingHeader;
  lines: readonly RecordingLine[];
  requests: readonly RequestLine[];
  replies: ReadonlyMap<number, ReplyLine>;
};

export function readRecording(file: string): Recording {
  return parseRecording(readText(file, `The recording ${file}`, "Make one with --record FILE."), file);
}

/** Reads a file that the user named. `hint` says what to do if it cannot be read. */
export function readText(file: string, subject: string, hint: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UserError("FILE_UNREADABLE", `${subject} cannot be read: ${systemErrorText(error)}. ${hint}`);
  }
}

export function parseRecording(text: string, file: string): Recording {
  const refuse = (line: number, why: string): never => {
    throw new UserError(
      "RECORDING_INVALID",
      `The recording ${file} is damaged, line ${line}: ${why}. Record the run again with --record FILE.`,
    );
  };
  const values = text.split("\n").flatMap((line, index) => {
    if (line.trim() === "") return [];
    try {
      return [{ number: index + 1, value: JSON.parse(line) as unknown }];
    } catch (error) {
      return refuse(index + 1, `this is not JSON: ${(error as Error).message}`);
    }
  });
  const [first, ...rest] = values;
  if (first && isObject(first.value) && typeof first.value["exchanges"] === "number") {
    const agent = String(first.value["agent"]);
    const how = `${programName()} replay ${file} -- ${agent} …`;
    throw new UserError("RECORDING_INVALID", `The recording ${file} is one of ${agent}. Play it with: ${how}`);
  }
  if (!first || !isObject(first.value) || typeof first.value["recording"] !== "number")
    return refuse(1, 'it does not begin with a line {"recording": …}');
  if (first.value["recording"] !== recordingVersion)
    return refuse(
      1,
      `its format is version ${first.value["recording"]}, this program reads version ${recordingVersion}`,
    );
  const header = wholeHeader(first.value, findInit(rest));
  const wrong = headerFault(header);
  if (wrong !== undefined) return refuse(1, wrong);
  const lines: RecordingLine[] = [];
  const requests: RequestLine[] = [];
  const replies = new Map<number, ReplyLine>();
  const said = new SaidBefore(header.model.id);
  for (const { number, value } of rest) {
    if (!isObject(value)) return refuse(number, "it is not an object");
    if ("event" in value && !isObject(value["event"])) return refuse(number, '"event" must be an object');
    const line = said.whole(value as RecordingLine);
    const fault = lineFault(line) ?? misplaced(line, requests, replies);
    if (fault !== undefined) return refuse(number, fault);
    lines.push(line);
    if ("request" in line) requests.push(line);
    if ("reply" in line) replies.set(line.reply, line);
  }
  if (lines.length === 0) return refuse(2, "nothing follows the first line");
  return { file, header, lines, requests, replies };
}

/** Finds the `init` event, which is among the first. */
function findInit(lines: readonly { value: unknown }[]): EventOf<"init"> | undefined {
  const found = lines.find(
    ({ value }) => isObject(value) && isObject(value["event"]) && value["event"]["type"] === "init",
  );
  return found && (found.value as { event: EventOf<"init"> }).event;
}

/** Describes what does not fit the earlier lines, or the line itself. */
function misplaced(
  line: RecordingLine,
  requests: readonly RequestLine[],
  replies: ReadonlyMap<number, ReplyLine>,
): string | undefined {
  if ("event" in line) return undefined;
  if ("deltas" in line) {
    if (line.sizes.length !== line.at.length) return '"deltas" needs as many times as sizes';
    const whole = line.sizes.reduce((sum, size) => sum + size, 0);
    const { length } = line.text;
    return whole === length ? undefined : `its sizes are of ${whole} characters, the text has ${length}`;
  }
  if ("request" in line) {
    const next = requests.length + 1;
    if (line.request !== next) return `request ${next} should stand here, not ${line.request}`;
    const lost = line.messages.added.findIndex((each) => !("parts" in each) && !replies.has(each.reply));
    return lost < 0 ? undefined : `message ${lost + 1} of "added" has neither parts nor a reply that stands before it`;
  }
  if (line.reply < 1 || line.reply > requests.length) return `there is no request ${line.reply}`;
  return replies.has(line.reply) ? `reply ${line.reply} stands here twice` : undefined;
}

/** Yields all events in order. Streamed texts are split into their original pieces. */
export function* eventsOf(lines: Iterable<RecordingLine>): Generator<AgentEvent> {
  for (const line of lines) yield* eventsIn(line);
}

export function* eventsIn(line: RecordingLine): Generator<AgentEvent> {
  if ("event" in line) yield line.event;
  if (!("deltas" in line)) return;
  let from = 0;
  let at = 0;
  for (const [index, size] of line.sizes.entries()) {
    at += line.at[index]!;
    yield { type: line.deltas, text: line.text.slice(from, from + size), at };
    from += size;
  }
}
