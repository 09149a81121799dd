// --log FILE: writes what a run did, one JSON object per line, with secrets redacted. docs/observability.md lists the lines.
import { closeSync, openSync, writeSync } from "node:fs";
import { UserError, usageError } from "../protocol/error-codes.ts";
import type { AgentEvent, EventOf, Outcome } from "../protocol/event.ts";
import type { Recorded } from "../protocol/run.ts";
import type { Waited } from "../protocol/waiting.ts";
import { systemErrorText } from "../text/system-error.ts";
import type { ModelAnswer, ModelCall, ModelRetry, Observer } from "./observer.ts";

type Level = "debug" | "info" | "warn" | "error";
type Fields = Record<string, unknown>;

export type LogOptions = {
  file: string;
  /** Facts about the program and this process, for the first line. */
  started: Fields;
  redact(text: string): string;
};

/** Opens a log file and writes its first line. Throws a UserError if the file cannot be written. */
export function openLog({ file, started, redact }: LogOptions): Observer {
  const log = new RunLog(file, redact);
  log.line("info", "start", Date.now(), started);
  return log;
}

class RunLog implements Observer {
  readonly #file: string;
  readonly #redact: (text: string) => string;
  #descriptor: number | undefined;
  #fault: string | undefined;

  constructor(file: string, redact: (text: string) => string) {
    this.#file = file;
    this.#redact = redact;
    try {
      // Several runs may write to one file: each line is appended at once.
      this.#descriptor = openSync(file, "a", 0o600);
    } catch (error) {
      throw usageError(
        `--log ${file} cannot be written: ${systemErrorText(error)}. Use another file, in an existing directory.`,
      );
    }
  }

  line(level: Level, event: string, at: number, fields: Fields): void {
    if (this.#descriptor === undefined) return;
    const text = JSON.stringify({ time: new Date(at).toISOString(), level, event, ...fields });
    const clean = this.#redact(text);
    try {
      const bytes = Buffer.from(
        `${isJson(clean) ? clean : JSON.stringify({ time: new Date(at).toISOString(), level, event, redacted: clean })}\n`,
      );
      let offset = 0;
      while (offset < bytes.length) offset += writeSync(this.#descriptor, bytes, offset);
    } catch (error) {
      this.#fault = `--log ${this.#file} could not be written to its end: ${systemErrorText(error)}`;
      this.#close();
    }
  }

  event({ event, agent }: Recorded, at: number): void {
    const described = describe(event);
    if (!described) return;
    const [level, name, fields] = described;
    this.line(level, name, event.at ?? at, { ...(agent !== undefined && { agent }), ...fields });
  }

  asked({ number, name, provider, request, startedAt }: ModelCall): void {
    const { agent, purpose, messages, tools, model } = request;
    this.line("info", "model_request", startedAt, {
      request: number,
      ...(agent !== undefined && { agent }),
      ...(purpose && { purpose }),
      ...{ provider, model, name, messages: messages.length, tools: tools.length },
    });
  }

  retried({ number }: ModelCall, { attempt, reason, delayMs }: ModelRetry, at: number): void {
    this.line("warn", "model_retry", at, { request: number, attempt, delay_ms: delayMs, reason });
  }

  answered({ number, startedAt }: ModelCall, { endedAt, firstAt, usage, error, cut, parts }: ModelAnswer): void {
    this.line(error ? "error" : "info", "model_reply", endedAt, {
      request: number,
      status: error ? "error" : cut ? "cut" : "ok",
      duration_ms: endedAt - startedAt,
      ...(firstAt !== undefined && { first_ms: firstAt - startedAt }),
      ...(usage && { usage }),
      tool_calls: parts.filter(({ type }) => type === "tool_call").length,
      ...(error && { code: error.code, message: error.message }),
    });
  }

  waited({ kind, name, since }: Waited, endedAt: number): void {
    this.line("info", kind, endedAt, { name, duration_ms: endedAt - since });
  }

  said(message: string, at: number): void {
    this.line("debug", "note", at, { message });
  }

  failed(error: unknown, at: number): void {
    const { code, message, stack } = error as { code?: string; message?: string; stack?: string };
    const isBug = !(error instanceof UserError);
    this.line("error", "failed", at, {
      code: code ?? "INTERNAL",
      message: message ?? String(error),
      ...(isBug && { stack }),
    });
  }

  async end(): Promise<string | undefined> {
    this.line("info", "end", Date.now(), {});
    this.#close();
    return this.#fault;
  }

  #close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Selects the events worth a line. Texts are left out: the stream and the chat have them. */
function describe(event: AgentEvent): [Level, string, Fields] | undefined {
  switch (event.type) {
    case "init": {
      const { type: _, ...init } = event;
      return ["info", "init", init];
    }
    case "user":
      return ["info", "prompt", { characters: event.text.length }];
    case "tool_start":
      return ["info", "tool_start", { call: event.callId, tool: event.tool }];
    case "tool_end":
      return [event.outcome?.kind === "success" ? "info" : "warn", "tool_end", toolEnd(event)];
    case "ask":
    case "answer":
      return ["info", event.type, { id: event.id, kind: event.kind }];
    case "notice":
      return [
        event.kind === "warning" ? "warn" : "info",
        "notice",
        { kind: event.kind, message: event.message, ...event.fields },
      ];
    case "done":
    case "fail": {
      const { type, durationMs, apiDurationMs, usage, denials, background, missingServers, requestId } = event;
      const failure = type === "fail" ? { code: event.code, message: event.message } : {};
      return [
        type === "done" ? "info" : "error",
        "result",
        {
          ...{ status: type === "done" ? "success" : "error", ...failure },
          ...{ duration_ms: durationMs, model_ms: apiDurationMs, request_id: requestId, usage },
          ...{ denials, background, missing_servers: missingServers },
        },
      ];
    }
    default:
      return undefined;
  }
}

/** Formats how a call ended and, if it failed, why. */
function toolEnd({ callId, tool, outcome, startedAt, completedAt }: EventOf<"tool_end">): Fields {
  const { exitCode, reason, message } = outcomeFields(outcome);
  return {
    call: callId,
    tool,
    outcome: outcome?.kind ?? "none",
    ...(startedAt !== undefined && completedAt !== undefined && { duration_ms: completedAt - startedAt }),
    ...(exitCode !== undefined && { exit: exitCode }),
    ...(outcome?.kind !== "success" && { reason: reason ?? message }),
  };
}

function outcomeFields(outcome: Outcome | undefined): Fields {
  return typeof outcome?.value === "object" && outcome.value !== null ? (outcome.value as Fields) : {};
}
