// LiveSession: a run in another process, what it is given to begin with, and what every kind of it does alike.
import { cancelled } from "../../protocol/cancelled.ts";
import { UserError } from "../../protocol/error-codes.ts";
import { imageKind, largestImage } from "../../protocol/image.ts";
import type { Human, LiveRun, Prompt, Recorded } from "../../protocol/run.ts";
import { RunElsewhere } from "../../protocol/run-elsewhere.ts";
import type { AgentDriver, RunLoss } from "../drivers/driver.ts";
import type { RunError, RunFacts } from "../outcome.ts";
import type { RunEvent } from "../run-event.ts";
import type { StartOptions } from "../start-options.ts";
import type { UnifiedTool } from "../unified.ts";

/** As of `LiveRun`, with calls named as in every other event of the SDK. */
export type LiveEvent = Omit<Recorded, "event"> & { event: RunEvent };

export interface LiveSession extends LiveRun {
  readonly tool: UnifiedTool;
  /** What could not be carried over to this CLI: options, and things that cannot be done to it. */
  readonly losses: readonly RunLoss[];
  /** Never rejects. Resolves when the process, and all that it started, is gone. */
  readonly ended: Promise<LiveEnd>;
  events(from?: number): AsyncIterable<LiveEvent>;
  /** A person came in front of the session: see `attended`. */
  attend(): void;
  /** With `holdCalls`: the call may run. `agent`: the subagent that made it. */
  runCall(callId: string, agent?: string): void;
}

/** How the process ended: where there is one for each turn, the last of them. `error`: it was not closed, it failed. */
export type LiveEnd = Pick<RunFacts, "exitCode" | "signal" | "stderr" | "stages"> & { error?: RunError };

export type LiveOptions = Pick<
  StartOptions,
  | "tool"
  | "cwd"
  | "model"
  | "permissionMode"
  | "trust"
  | "resume"
  | "fork"
  | "systemPrompt"
  | "appendSystemPrompt"
  | "allowedTools"
  | "disallowedTools"
  | "addDirs"
  | "mode"
  | "permissions"
  | "sandbox"
  | "mcpServers"
  | "idleMs"
  | "signal"
  | "executable"
  | "extraArgs"
  | "env"
  | "onNoise"
  | "graceMs"
  | "hooks"
  | "tools"
  | "onStart"
  | "onStdout"
  | "onStderr"
> & {
  /** Answers when no rule decides; trust is asked for before anything starts. Absent: such requests are denied. */
  human?: Human | undefined;
  /** A person is in front of the session, as at the terminal: commands that no rule speaks of are asked about instead of confined. */
  attended?: boolean | undefined;
  /** False: no events of subagents. */
  subagents?: boolean | undefined;
  /** False: no live command output. */
  toolOutput?: boolean | undefined;
  /** Each call waits for `runCall`. Only if one process of ours serves the session; otherwise calls run as they arrive. */
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

  /** Both kinds of session name their calls before they are kept. */
  override events(from?: number): AsyncIterable<LiveEvent> {
    return super.events(from) as AsyncIterable<LiveEvent>;
  }

  close(): Promise<void> {
    return this.end(new UserError("INTERRUPTED", "The run was closed."));
  }

  /** What is open ends with this reason. */
  end(why: UserError): Promise<void> {
    this.closing ??= this.endAll(why);
    return this.closing;
  }

  protected endOnAbort(signal: AbortSignal | undefined, ended: Promise<unknown>): void {
    const abort = () => void this.end(cancelled(signal));
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
    void ended.then(() => signal?.removeEventListener("abort", abort));
  }

  protected override faultOf(prompt: Prompt): UserError | undefined {
    return promptFault(prompt);
  }
}

/** Why a prompt cannot be sent: such a line would be the end of the process, and not only of its turn. */
function promptFault({ text, data, images = [] }: Prompt): UserError | undefined {
  if (typeof text !== "string") return new UserError("USAGE", "A prompt is an object: send({ text: '…' }).");
  if (text.trim() === "" && data === undefined && images.length === 0)
    return new UserError("USAGE", "The prompt is empty.");
  for (const image of images) {
    if (typeof image === "string") continue;
    const bytes = Buffer.from(image.base64, "base64");
    if (bytes.length > largestImage)
      return new UserError("FILE_UNREADABLE", `An image is larger than ${largestImage / 1_048_576} MiB.`);
    if (!imageKind(bytes)) return new UserError("FILE_UNREADABLE", "An image is not a PNG, JPEG, GIF or WebP image.");
  }
  return undefined;
}
