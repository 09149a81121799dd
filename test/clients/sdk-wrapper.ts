// A client of the kind "SDK wrapper": typed events over one process a call. It takes what its schemas know and drops the rest, reads
// deltas by their time, takes the unstamped line for the answer, and turns any exit code but 0 into an exception with stderr.
import { runAgent } from "./client-process.ts";
import type { ClientPlace } from "./place.ts";

export type WrapperOptions = {
  place: ClientPlace;
  cwd: string;
  prompt: string;
  force?: boolean;
  approveMcps?: boolean;
  model?: string;
  chatId?: string;
  partial?: boolean;
  /** Ends the process with the signal's usual kill, once a line like this was read. */
  abortAt?(event: Event): boolean;
};

export type Event = { type: string; subtype?: string } & Record<string, any>;

export class WrapperError extends Error {
  readonly exitCode: number | null;
  readonly stderr: string;

  constructor(exitCode: number | null, stderr: string) {
    super(stderr.trim() || "the agent failed");
    this.exitCode = exitCode;
    this.stderr = stderr;
  }
}

/** The order in which such a wrapper builds its command line: permissions, key, print, format, chat, model, prompt. */
function argumentsOf({ force, approveMcps, chatId, model, prompt, partial }: WrapperOptions, format: string): string[] {
  return [
    ...(force ? ["--force"] : []),
    ...(approveMcps ? ["--approve-mcps"] : []),
    "--print",
    "--output-format",
    format,
    ...(partial ? ["--stream-partial-output"] : []),
    ...(chatId ? ["--resume", chatId] : []),
    ...(model ? ["--model", model] : []),
    prompt,
  ];
}

/** What its schemas take. An event that lacks a field is dropped without a word. */
const schemas: Record<string, (event: Event) => boolean> = {
  "system/init": (event) =>
    ["apiKeySource", "cwd", "session_id", "model", "permissionMode"].every((key) => typeof event[key] === "string"),
  "user/": (event) => event["message"]?.role === "user",
  "assistant/": (event) =>
    event["message"]?.role === "assistant" &&
    event["message"].content.every((block: Event) => block.type === "text" && typeof block["text"] === "string"),
  "thinking/delta": (event) => typeof event["text"] === "string" && typeof event["timestamp_ms"] === "number",
  "thinking/completed": (event) => typeof event["timestamp_ms"] === "number",
  "tool_call/started": (event) => typeof event["call_id"] === "string",
  "tool_call/completed": (event) => typeof event["call_id"] === "string" && hasOutcome(event["tool_call"]),
  "result/success": (event) =>
    typeof event["duration_ms"] === "number" &&
    typeof event["duration_api_ms"] === "number" &&
    typeof event["is_error"] === "boolean" &&
    typeof event["result"] === "string",
};

function hasOutcome(call: Record<string, any>): boolean {
  const tool = Object.values(call).find((value) => typeof value === "object" && value !== null && "args" in value);
  return tool?.result?.success !== undefined || tool?.result?.error?.message !== undefined;
}

export type Streamed = {
  events: Event[];
  dropped: Event[];
  /** Deltas joined. */
  typed: string;
  /** Unstamped assistant lines: what it shows as the answer. */
  answer: string;
};

export async function stream(options: WrapperOptions): Promise<Streamed> {
  const { place, cwd, abortAt } = options;
  const seen: Streamed = { events: [], dropped: [], typed: "", answer: "" };
  const { ended } = runAgent({
    place,
    cwd,
    args: argumentsOf(options, "stream-json"),
    onLine(line, child) {
      const event = JSON.parse(line) as Event;
      const isKnown = schemas[`${event.type}/${event.subtype ?? ""}`]?.(event) === true;
      (isKnown ? seen.events : seen.dropped).push(event);
      if (event.type === "assistant") {
        const text = event["message"].content.map((block: Event) => block["text"]).join("");
        if (event["timestamp_ms"] === undefined) seen.answer += text;
        else if (event["model_call_id"] === undefined) seen.typed += text;
      }
      if (abortAt?.(event)) child.kill();
    },
  });
  const { code, stderr } = await ended;
  if (code !== 0) throw new WrapperError(code, stderr);
  return seen;
}

/** `--output-format json`: one object, and nothing else. */
export async function generate(options: WrapperOptions): Promise<Event> {
  const { ended } = runAgent({ place: options.place, cwd: options.cwd, args: argumentsOf(options, "json") });
  const { code, stdout, stderr } = await ended;
  if (code !== 0) throw new WrapperError(code, stderr);
  return JSON.parse(stdout) as Event;
}
