// TerminalStart: what the command line hands to the terminal.
import type { ReadStream, WriteStream } from "node:tty";
import type { Human, LiveRun, RunRequest } from "../protocol/run.ts";
import type { RunHost } from "../run/host.ts";
import type { CommandEnd } from "./desk.ts";

/** A run that goes on without this terminal. */
export type Attachment = {
  open(human: Human | undefined): LiveRun;
  /** Ends it for everybody. False: it was over. */
  stop(reason: string): Promise<boolean>;
};

export type TerminalStart = {
  request: RunRequest;
  /** Looked at first, in the place of a run of our own. */
  attachment?: Attachment;
  host: RunHost;
  input: ReadStream;
  output: WriteStream;
  /** Sent at once. */
  prompt?: string;
  images?: readonly string[];
  /** One of our own commands; what it printed comes back. `input`: for its stdin. */
  command(words: readonly string[], input?: string): Promise<CommandEnd>;
  /** One of our own commands, on the terminal. */
  interactive(words: readonly string[]): Promise<number>;
};
