// TerminalStart: what the command line hands to the terminal.
import type { ReadStream, WriteStream } from "node:tty";
import type { RunRequest } from "../protocol/run.ts";
import type { RunHost } from "../run/host.ts";
import type { CommandEnd } from "./desk.ts";

export type TerminalStart = {
  request: RunRequest;
  host: RunHost;
  input: ReadStream;
  output: WriteStream;
  /** Sent at once. */
  prompt?: string;
  images?: readonly string[];
  /** One of our own commands; what it printed comes back. */
  command(words: readonly string[]): Promise<CommandEnd>;
  /** One of our own commands, on the terminal. */
  interactive(words: readonly string[]): Promise<number>;
};
