// TerminalStart: the options that the command line passes to the terminal.
import type { ReadStream, WriteStream } from "node:tty";
import type { Human, LiveRun, RunRequest } from "../protocol/run.ts";
import type { RunHost } from "../run/host.ts";
import type { CommandEnd } from "./desk.ts";

/** A run that this terminal is attached to; it continues when the terminal is closed. */
export type Attachment = {
  open(human: Human | undefined): LiveRun;
  /** Ends the run for all its clients. Returns false if it was over already. */
  stop(reason: string): Promise<boolean>;
};

export type TerminalStart = {
  request: RunRequest;
  /** A run to attach to, instead of opening a new one. */
  attachment?: Attachment;
  host: RunHost;
  input: ReadStream;
  output: WriteStream;
  /** A prompt that is sent at once. */
  prompt?: string;
  images?: readonly string[];
  /** Runs a command-line command and returns its output. `input` is passed on stdin. */
  command(words: readonly string[], input?: string): Promise<CommandEnd>;
  /** Runs a command-line command that uses the terminal, and returns its exit code. */
  interactive(words: readonly string[]): Promise<number>;
};
