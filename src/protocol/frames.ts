// FrameParser: parses a CLI's stdout into checked frames, with a verdict at the end. Fails closed at the first fault.

import { FrameError } from "../json/frame-error.ts";
import { isObject, type JsonObject } from "../json/object.ts";
import type { JsonReader } from "../json/values.ts";
import { causeIn } from "../text/cause.ts";
import { commonFault, type FrameType, frameTypes, isFiniteThroughout } from "./frame-shapes.ts";
import { type Framing, readerFor } from "./framing.ts";
import {
  contractFault,
  type Fault,
  type KnownTool,
  supportedVersions,
  type ToolTable,
  toolTable,
  versionFault,
} from "./turn-contract.ts";

/** The options of `FrameParser`. */
export type FrameParserOptions = {
  /** Fixed at the start and never changed by the stream. "auto": the first line decides. */
  framing?: Framing;
  /** The maximum length of a line or block; 16 MiB by default. */
  maxLineBytes?: number;
  /** The protocol versions that are supported. */
  supported?: readonly string[];
  /** The tools that contract-shaped calls may name. If absent, names are not checked. */
  tools?: readonly KnownTool[];
  /** Lines that do not start like an object: fail (the default), or skip and count them. */
  onNoise?: "fail" | "skip";
  /** The known types of another wire format, instead of those of stream-json and the turn contract. */
  types?: ReadonlyMap<string, FrameType>;
};

/** A parsed frame. `other`: valid, but of an unknown type, so that it is counted as ignored and has no effect. */
export type Frame = { kind: "frame" | "other"; type: string; value: JsonObject };

/** How the child process ended. It is still running if `exit` is null and there is no signal. */
export type ChildEnd = { exit: number | null; signal?: string | null; stderr?: string };

/** How a stream of frames ended. */
export type FrameEnding = {
  outcome: "ok" | "fail_closed";
  /** The frames of a last line that has no line break. */
  frames: Frame[];
  error?: FrameError;
  /** Why the turn is over: the reason of `done`; "stop" or "error" for a result; "exit" if only the exit code showed it. */
  finish?: string;
  ignored: number;
  warnings: string[];
};

/** Parses a CLI's output into checked frames; fails closed at the first fault. */
export class FrameParser {
  readonly #reader: JsonReader;
  readonly #supported: readonly string[];
  readonly #tools: ToolTable | undefined;
  readonly #types: ReadonlyMap<string, FrameType>;
  readonly #warnings: string[] = [];
  #error: FrameError | undefined;
  #isClosed = false;
  #terminal: Frame | undefined;
  #sessionId: string | undefined;
  #ignored = 0;
  #late = 0;
  #hasForwarded = false;

  constructor(options: FrameParserOptions = {}) {
    this.#reader = readerFor(options);
    this.#supported = options.supported ?? supportedVersions;
    this.#tools = options.tools && toolTable(options.tools);
    this.#types = options.types ?? frameTypes;
  }

  /** The first fault in the stream. After it no frames are delivered, and the caller should kill the child process. */
  get error(): FrameError | undefined {
    return this.#error;
  }

  /** The frame that ended the turn, if it has ended. */
  get terminal(): Frame | undefined {
    return this.#terminal;
  }

  get sessionId(): string | undefined {
    return this.#sessionId;
  }

  /** Counts frames of unknown type, frames after the end, and skipped noise lines. */
  get ignored(): number {
    return this.#ignored + this.#reader.skipped;
  }

  /** Returns the frames of this chunk, up to the first fault. */
  push(bytes: Uint8Array): Frame[] {
    const frames: Frame[] = [];
    if (!this.#isClosed) this.#runStep(() => this.#reader.push(bytes, (value) => this.#addValue(value, frames)));
    return frames;
  }

  end(child: ChildEnd): FrameEnding {
    const frames: Frame[] = [];
    if (!this.#isClosed) this.#runStep(() => this.#reader.end((value) => this.#addValue(value, frames)));
    this.#isClosed = true;
    this.#error = this.#error ? withStderr(this.#error, child) : this.#endFault(child);
    if (this.#late > 0) this.#warnings.push(`${this.#late} frames came after the end of the turn and were ignored.`);
    const ending = { frames, ignored: this.ignored, warnings: this.#warnings };
    if (this.#error) return { outcome: "fail_closed", error: this.#error, ...ending };
    return { outcome: "ok", finish: finishOf(this.#terminal), ...ending };
  }

  #runStep(step: () => void): void {
    try {
      step();
    } catch (fault) {
      if (!(fault instanceof FrameError)) throw fault;
      this.#isClosed = true;
      if (!this.#terminal) {
        this.#error = fault;
        return;
      }
      // The first result is final: what a dying process prints after it does not change it.
      this.#ignored++;
      this.#warnings.push(`After the end of the turn: ${fault.message}`);
    }
  }

  #addValue(value: unknown, frames: Frame[]): void {
    if (this.#terminal) {
      this.#ignored++;
      this.#late++;
      return;
    }
    if (!isObject(value)) throw new FrameError("FRAME_MALFORMED", "A frame must be a JSON object.");
    const { type } = value;
    if (typeof type !== "string" || type === "") throw new FrameError("FRAME_MALFORMED", "A frame must have a type.");
    if (type === "protocol") {
      refuse(versionFault(value, this.#supported));
      return;
    }

    const existing = this.#types.get(type);
    if (!existing) {
      this.#ignored++;
      frames.push({ kind: "other", type, value });
      return;
    }
    if (existing.isIgnored) {
      // Check the session id, which ignored frames contain too.
      if (typeof value.session_id === "string") this.#checkSession(value.session_id);
      frames.push({ kind: "frame", type, value });
      return;
    }
    // Both formats have a frame `tool_call`; in that of the contract all fields are below `data`.
    const isContract = !existing.check || (type === "tool_call" && Object.hasOwn(value, "data"));
    if (isContract) refuse(contractFault(type, value, this.#tools));
    else this.#checkLine(type, existing, value);
    if (!isFiniteThroughout(value)) throw wrongShape(type, "numbers must be finite");

    const frame: Frame = { kind: "frame", type, value };
    if (existing.isTerminal) this.#terminal = frame;
    if (existing.isForwardable || (isContract && type === "tool_call")) this.#hasForwarded = true;
    frames.push(frame);
  }

  #checkLine(type: string, { check }: FrameType, line: JsonObject): void {
    const fault = commonFault(line) ?? check?.(line);
    if (fault) throw wrongShape(type, fault);
    if (line.session_id !== undefined) this.#checkSession(line.session_id as string);
  }

  #checkSession(sessionId: string): void {
    if (sessionId === this.#sessionId) return;
    if (this.#sessionId !== undefined) {
      throw new FrameError(
        "FRAME_SESSION",
        `A frame of session ${JSON.stringify(sessionId)} came in the stream of session ${JSON.stringify(this.#sessionId)}.`,
      );
    }
    this.#sessionId = sessionId;
  }

  #endFault(child: ChildEnd): FrameError | undefined {
    const failed = (child.exit !== null && child.exit !== 0) || Boolean(child.signal);
    if (this.#terminal) {
      if (failed) this.#warnings.push(`The CLI ${describeChildEnd(child)} after its result; the result stands.`);
      return undefined;
    }
    const { stderr } = child;
    if (failed)
      return new FrameError("CLI_EXIT", `The CLI ${describeChildEnd(child)} without a result${quotedStderr(stderr)}`, {
        stderr,
      });
    if (!this.#hasForwarded) {
      return new FrameError(
        "NO_OUTPUT",
        `The CLI ${describeChildEnd(child)} without an answer${quotedStderr(stderr)}`,
        {
          stderr,
        },
      );
    }
    if (child.exit === null) {
      return new FrameError("CLI_TIMEOUT", `The CLI gave no result and did not exit${quotedStderr(stderr)}`, {
        stderr,
      });
    }
    this.#warnings.push("The CLI exited with code 0 without a result; the answer may be incomplete.");
    return undefined;
  }
}

function refuse(fault: Fault | undefined): void {
  if (fault) throw new FrameError(fault.code, fault.message);
}

function wrongShape(type: string, fault: string): FrameError {
  return new FrameError("FRAME_SCHEMA", `Wrong ${type} frame: ${fault}.`);
}

function finishOf(terminal: Frame | undefined): string {
  if (!terminal) return "exit";
  if (terminal.type === "error") return "error";
  if (terminal.type === "done") return (terminal.value.data as { finishReason: string }).finishReason;
  return terminal.value.is_error === true ? "error" : "stop";
}

function describeChildEnd(child: ChildEnd): string {
  if (child.signal) return `was killed by ${child.signal}`;
  return child.exit === null ? "stayed" : `exited with code ${child.exit}`;
}

/** A faulty stream often results from a crash, whose cause is in stderr. */
function withStderr(error: FrameError, child: ChildEnd): FrameError {
  if (!child.stderr?.trim()) return error;
  return new FrameError(
    error.code,
    `${error.message} The CLI ${describeChildEnd(child)}${quotedStderr(child.stderr)}`,
    {
      stderr: child.stderr,
    },
  );
}

const longestQuote = 2000;

function quotedStderr(stderr: string | undefined): string {
  const text = causeIn(stderr ?? "");
  if (!text) return ".";
  return `: ${text.length > longestQuote ? `…${text.slice(-longestQuote)}` : text}`;
}
