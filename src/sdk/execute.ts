// execute: one run with callbacks, awaited to its end. The unified form, and those that are named after one CLI.
import { StringDecoder } from "node:string_decoder";
import { callOf, createUnifier } from "./live-messages.ts";
import { checkOptions, executeChecks } from "./option-checks.ts";
import type { RunError, RunOutcome, RunResult } from "./outcome.ts";
import { type StartOptions, start } from "./run.ts";
import type { RunEvent } from "./run-event.ts";
import type { AnswerSchema, DataOf } from "./structured.ts";
import type { UnifiedMessage, UnifiedTool } from "./unified.ts";

/** One call of a tool, by one list of names for all CLIs. */
export interface UnifiedToolUse {
  id: string;
  name: string;
  /** As the source spells it. */
  input: unknown;
}

/** Each is awaited before the next, so that a slow one slows the CLI down. What one throws ends the run. */
export interface ExecuteCallbacks {
  /** The process has started. */
  onStart?(facts: { pid: number; command: readonly string[] }): void;
  /** Every event. */
  onEvent?(event: RunEvent): void | Promise<void>;
  /** Every message. */
  onMessage?(message: UnifiedMessage): void | Promise<void>;
  /** A tool call starts. */
  onToolUse?(toolUse: UnifiedToolUse): void | Promise<void>;
  /** A piece of the answer, and its timestamp. */
  onToken?(token: string, timestamp: number): void | Promise<void>;
  /** Output of the CLI on stdout, as text. */
  onStdout?(text: string): void;
  /** Output of the CLI on stderr. */
  onStderr?(text: string): void;
  /** Every outcome except success. */
  onError?(error: RunError): void | Promise<void>;
  /** The process has exited. */
  onClose?(exitCode: number | null, signal: string): void | Promise<void>;
  /** The run has finished, with any outcome. */
  onComplete?(): void | Promise<void>;
}

export type ExecuteOptions<Schema extends AnswerSchema | undefined = undefined> = Omit<
  StartOptions<Schema>,
  "keepEvents" | "onStdout" | "onStderr" | "onStart"
> &
  ExecuteCallbacks & {
    /** Same as `resume`. */
    sessionId?: string | undefined;
  };

export interface ExecuteResult<Data = undefined> {
  success: boolean;
  outcome: RunOutcome;
  /** The whole answer. */
  text: string;
  /** The answer by `schema`. */
  data: Data | undefined;
  sessionId: string | undefined;
  messages: UnifiedMessage[];
  toolUses: UnifiedToolUse[];
  exitCode: number | null;
  durationMs: number;
  error: RunError | undefined;
  usage: RunResult["usage"];
  /** All that is known. */
  result: RunResult<Data>;
}

export type CursorExecuteResult<Data = undefined> = ExecuteResult<Data>;

export type CursorExecuteOptions<Schema extends AnswerSchema | undefined = undefined> = Omit<
  ExecuteOptions<Schema>,
  "prompt" | "tool"
>;

export async function execute<const Schema extends AnswerSchema | undefined = undefined>(
  options: ExecuteOptions<Schema> & { tool?: UnifiedTool },
): Promise<ExecuteResult<DataOf<Schema>>> {
  checkOptions("execute", options, executeChecks, { example: "{ prompt: '…' }", required: "prompt" });
  const { onEvent, onMessage, onToolUse, onToken, onError, onClose, onComplete, onStdout, onStderr, ...rest } = options;
  const { sessionId, ...same } = rest;
  const run = start<Schema>({
    ...(same as StartOptions<Schema>),
    ...(sessionId !== undefined && { resume: sessionId }),
    partial: options.partial ?? onToken !== undefined,
    keepEvents: false,
    ...(onStdout && { onStdout: textTap(onStdout) }),
    ...(onStderr && { onStderr: textTap(onStderr) }),
  });
  const unify = createUnifier({ tool: run.tool, startedAt: Date.now() });
  const messages: UnifiedMessage[] = [];
  const toolUses: UnifiedToolUse[] = [];
  try {
    for await (const event of run.events) {
      await onEvent?.(event);
      if (event.type === "text") await onToken?.(event.text, event.at ?? Date.now());
      if (event.type === "tool_start") {
        const toolUse = { id: event.callId, ...callOf(event, run.tool) };
        toolUses.push(toolUse);
        await onToolUse?.(toolUse);
      }
      for (const message of unify(event)) {
        messages.push(message);
        await onMessage?.(message);
      }
    }
  } catch (error) {
    await run.cancel(); // a callback that throws leaves no process behind
    throw error;
  }
  const result = await run.result;
  const error = result.outcome === "success" ? undefined : result.error;
  if (error?.code === "CALLBACK_FAILED") throw error.cause;
  if (error) await onError?.(error);
  await onClose?.(result.exitCode, result.signal);
  await onComplete?.();
  const { outcome, text, sessionId: session, exitCode, durationMs, usage } = result;
  const data = result.outcome === "success" ? result.data : undefined;
  const told = { outcome, text, data, sessionId: session, exitCode, durationMs, usage };
  return { ...told, success: !error, error, messages, toolUses, result };
}

export function executeCursor<const Schema extends AnswerSchema | undefined = undefined>(
  prompt: string,
  options: CursorExecuteOptions<Schema> = {},
): Promise<CursorExecuteResult<DataOf<Schema>>> {
  return execute<Schema>({ ...options, prompt, tool: "cursor" });
}

/** The answer piece by piece, through `onToken`. */
export function executeCursorStreaming<const Schema extends AnswerSchema | undefined = undefined>(
  prompt: string,
  options: CursorExecuteOptions<Schema> = {},
): Promise<CursorExecuteResult<DataOf<Schema>>> {
  return execute<Schema>({ ...options, prompt, tool: "cursor", partial: true });
}

/** Characters that arrive in two pieces are told in one. */
function textTap(tell: (text: string) => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder("utf8");
  return (chunk) => {
    const text = decoder.write(chunk);
    if (text !== "") tell(text);
  };
}
