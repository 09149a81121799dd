// LiveSession: a live run in another process, its options, and the behaviour that all kinds of live session share.
import { cancelled } from "../../protocol/cancelled.ts";
import { UserError, usageError } from "../../protocol/error-codes.ts";
import { imageKind, largestImage } from "../../protocol/image.ts";
import { onAbort } from "../../protocol/on-abort.ts";
import type { Human, LiveRun, Prompt, Recorded } from "../../protocol/run.ts";
import { RunElsewhere } from "../../protocol/run-elsewhere.ts";
import type { AgentDriver, RunLoss } from "../drivers/driver.ts";
import type { RunDetails, RunError } from "../outcome.ts";
import type { RunEvent } from "../run-event.ts";
import type { StartOptions } from "../start-options.ts";
import type { UnifiedTool } from "../unified.ts";

/** A numbered event, as of `LiveRun`, with tool calls named as in every other event of the SDK. */
export type LiveEvent = Omit<Recorded, "event"> & { event: RunEvent };

/** A session with an agent CLI that can be controlled while it runs. */
export interface LiveSession extends LiveRun {
  readonly tool: UnifiedTool;
  /** Options and operations that this CLI does not support. */
  readonly losses: readonly RunLoss[];
  /** Never rejects. Resolves when the process and all its child processes are gone. */
  readonly ended: Promise<LiveEnd>;
  events(from?: number): AsyncIterable<LiveEvent>;
  /** Reports that a person is now watching the session: see `attended`. */
  attend(): void;
  /** Lets a held call run (`holdCalls`). `agent` is the subagent that made it. */
  runCall(callId: string, agent?: string): void;
}

/** How the process ended; if each turn has its own, the last one. `error` is set if it failed rather than was closed. */
export type LiveEnd = Pick<RunDetails, "exitCode" | "signal" | "stderr" | "stages"> & { error?: RunError };

/** The options of `openLive`. */
export type LiveOptions = Omit<
  StartOptions,
  | "prompt"
  | "images"
  | "schema"
  | "jsonSchema"
  | "budget"
  | "timeoutMs"
  | "partial"
  | "keepEvents"
  | "resultGraceMs"
  | "canUseTool"
> & {
  /** Answers questions that no rule decides; trust is asked for before anything starts. Without it, such requests are denied. */
  human?: Human | undefined;
  /** A person is watching the session, as at the terminal: commands that no rule covers are asked about instead of confined. */
  attended?: boolean | undefined;
  /** Set to false to leave out events of subagents. */
  subagents?: boolean | undefined;
  /** Set to false to leave out live command output. */
  toolOutput?: boolean | undefined;
  /** Each call waits for `runCall`. Needs Courser's CLI, in one process for the session; otherwise calls run as they arrive. */
  holdCalls?: boolean | undefined;
};

export abstract class OpenSession extends RunElsewhere {
  readonly tool: UnifiedTool;
  readonly losses: readonly RunLoss[];
  protected closing: Promise<void> | undefined;

  constructor({ tool }: AgentDriver, losses: readonly RunLoss[]) {
    super();
    this.tool = tool;
    this.losses = losses;
  }

  protected abstract endAll(why: UserError): Promise<void>;

  /** The cast is safe: both kinds of session name their calls before they record them. */
  override events(from?: number): AsyncIterable<LiveEvent> {
    return super.events(from) as AsyncIterable<LiveEvent>;
  }

  close(): Promise<void> {
    return this.end(new UserError("INTERRUPTED", "The run was closed."));
  }

  /** Ends all open prompts, requests and questions with this reason. */
  end(why: UserError): Promise<void> {
    this.closing ??= this.endAll(why);
    return this.closing;
  }

  protected endOnAbort(signal: AbortSignal | undefined, ended: Promise<unknown>): void {
    void ended.then(onAbort(signal, () => void this.end(cancelled(signal))));
  }

  protected override promptFault(prompt: Prompt): UserError | undefined {
    return promptFault(prompt);
  }
}

/** Why a prompt cannot be sent: an invalid line would end the whole process, not only its turn. */
function promptFault({ text, data, images = [] }: Prompt): UserError | undefined {
  if (typeof text !== "string") return usageError("A prompt is an object: send({ text: '…' }).");
  if (text.trim() === "" && data === undefined && images.length === 0) return usageError("The prompt is empty.");
  for (const image of images) {
    if (typeof image === "string") continue;
    const bytes = Buffer.from(image.base64, "base64");
    if (bytes.length > largestImage)
      return new UserError("FILE_UNREADABLE", `An image is larger than ${largestImage / 1_048_576} MiB.`);
    if (!imageKind(bytes)) return new UserError("FILE_UNREADABLE", "An image is not a PNG, JPEG, GIF or WebP image.");
  }
  return undefined;
}
