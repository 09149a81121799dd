// execute: runs an agent CLI with callbacks and waits for its end; also the variants named after one CLI.
import { StringDecoder } from "node:string_decoder";
import { callInCliTerms, createUnifier } from "./live-messages.ts";
import { checkOptions, executeChecks } from "./option-checks.ts";
import type { RunError, RunOutcome, RunResult } from "./outcome.ts";
import { type StartOptions, start } from "./run.ts";
import type { RunEvent } from "./run-event.ts";
import type { AnswerSchema, DataOf } from "./structured.ts";
import type { UnifiedMessage, UnifiedTool } from "./unified.ts";

/** A tool call; `name` is the same for all CLIs. */
export interface UnifiedToolUse {
  id: string;
  name: string;
  /** The input with the CLI's own field names. */
  input: unknown;
}

/** Each callback is awaited before the next, so a slow one slows the CLI down. An error thrown by a callback ends the run. */
export interface ExecuteCallbacks {
  /** Called when the process has started. */
  onStart?(started: { pid: number; command: readonly string[] }): void;
  /** Called with every event. */
  onEvent?(event: RunEvent): void | Promise<void>;
  /** Called with every message. */
  onMessage?(message: UnifiedMessage): void | Promise<void>;
  /** Called when a tool call starts. */
  onToolUse?(toolUse: UnifiedToolUse): void | Promise<void>;
  /** Called with each piece of the answer and its timestamp. */
  onToken?(token: string, timestamp: number): void | Promise<void>;
  /** Called with the CLI's output on stdout, as text. */
  onStdout?(text: string): void;
  /** Called with the CLI's output on stderr, as text. */
  onStderr?(text: string): void;
  /** Called for every outcome except success. */
  onError?(error: RunError): void | Promise<void>;
  /** Called when the process has exited. */
  onClose?(exitCode: number | null, signal: string): void | Promise<void>;
  /** Called when the run has finished, with any outcome. */
  onComplete?(): void | Promise<void>;
}

/** The options of `execute`: those of `start`, and the callbacks. */
export type ExecuteOptions<Schema extends AnswerSchema | undefined = undefined> = Omit<
  StartOptions<Schema>,
  "keepEvents" | "onStdout" | "onStderr" | "onStart"
> &
  ExecuteCallbacks & {
    /** The session to resume, same as `resume`. */
    sessionId?: string | undefined;
  };

/** The result of `execute`. */
export interface ExecuteResult<Data = undefined> {
  success: boolean;
  outcome: RunOutcome;
  /** The whole answer; after a failure, the part that arrived. */
  text: string;
  /** The answer parsed by `schema`. */
  data: Data | undefined;
  sessionId: string | undefined;
  messages: UnifiedMessage[];
  toolUses: UnifiedToolUse[];
  exitCode: number | null;
  durationMs: number;
  error: RunError | undefined;
  usage: RunResult["usage"];
  /** The complete result of the run, as `start` returns it. */
  result: RunResult<Data>;
}

/** The result of `executeCursor`. */
export type CursorExecuteResult<Data = undefined> = ExecuteResult<Data>;

/** The options of `executeCursor`. */
export type CursorExecuteOptions<Schema extends AnswerSchema | undefined = undefined> = Omit<
  ExecuteOptions<Schema>,
  "prompt" | "tool"
>;

/**
 * Runs an agent CLI and waits for its end. A failed run resolves with `success: false`; invalid options and errors thrown by
 * callbacks reject.
 */
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
        const toolUse = { id: event.callId, ...callInCliTerms(event, run.tool) };
        toolUses.push(toolUse);
        await onToolUse?.(toolUse);
      }
      for (const message of unify(event)) {
        messages.push(message);
        await onMessage?.(message);
      }
    }
  } catch (error) {
    await run.cancel(); // do not leave the process running when a callback throws
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
  const summary = { outcome, text, data, sessionId: session, exitCode, durationMs, usage };
  return { ...summary, success: !error, error, messages, toolUses, result };
}

/** Runs `cursor-agent`, or the CLI of this package in its place, and waits for its end. */
export function executeCursor<const Schema extends AnswerSchema | undefined = undefined>(
  prompt: string,
  options: CursorExecuteOptions<Schema> = {},
): Promise<CursorExecuteResult<DataOf<Schema>>> {
  return execute<Schema>({ ...options, prompt, tool: "cursor" });
}

/** Same as `executeCursor`, with the answer passed to `onToken` piece by piece. */
export function executeCursorStreaming<const Schema extends AnswerSchema | undefined = undefined>(
  prompt: string,
  options: CursorExecuteOptions<Schema> = {},
): Promise<CursorExecuteResult<DataOf<Schema>>> {
  return execute<Schema>({ ...options, prompt, tool: "cursor", partial: true });
}

/** Decodes chunks as UTF-8, joining characters that are split between two chunks. */
function textTap(onText: (text: string) => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder("utf8");
  return (chunk) => {
    const text = decoder.write(chunk);
    if (text !== "") onText(text);
  };
}
