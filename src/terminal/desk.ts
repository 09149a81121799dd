// Desk: the interface through which slash commands, questions and pickers use the terminal.
import type { RunRequest } from "../protocol/run.ts";
import type { Goal } from "./commands/goal.ts";
import type { Conversation } from "./conversation.ts";
import type { AppAction } from "./keymap.ts";
import type { Painted, Palette } from "./painted.ts";
import type { ListOptions } from "./panels/list.ts";
import type { OpenedPanel } from "./panels/panel.ts";
import type { StatusLine } from "./status-line.ts";
import type { Rendering } from "./transcript/rendering.ts";
import type { Size } from "./view.ts";

/** The exit code and output of a command of the command line. */
export type CommandEnd = { code: number; text: string };

export interface Desk {
  readonly palette: Palette;
  readonly conversation: Conversation;
  readonly size: Size;
  /** Renders Markdown, code and diffs; undefined until loaded. */
  readonly rendering: Rendering | undefined;
  /** The name by which the program was called. */
  readonly program: string;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly toggles: Readonly<Toggles>;
  setToggle(name: keyof Toggles, isOn: boolean): void;
  readonly goal: Goal | undefined;
  setGoal(goal: Goal | undefined): void;
  /** Writes a message of the program to the scrollback, in a soft colour. */
  say(text: string): void;
  /** Writes text unchanged, such as the output of a command. */
  show(text: string): void;
  /** Writes an error message with an error sign. */
  complain(text: string): void;
  commit(lines: readonly Painted[]): void;
  /** Shows a panel in place of the editor until it is closed. */
  open<Result>(opened: OpenedPanel<Result>): Promise<Result | undefined>;
  choose<Value>(options: ListOptions<Value>): Promise<Value | undefined>;
  /** Opens a pager on the alternate screen; resolves when the user leaves it. */
  page(title: string, lines: (columns: number) => readonly Painted[]): Promise<void>;
  /** Runs a command-line command of this program and returns its output. `input` is passed on stdin. */
  command(words: readonly string[], input?: string): Promise<CommandEnd>;
  /** Runs a command-line command that asks questions on the terminal. */
  interactive(words: readonly string[]): Promise<number>;
  /** Lets another program use the terminal until `work` has ended. */
  lend<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Sends a prompt as if the user had typed it. */
  submit(text: string): void;
  /** Runs a shell command of the user; an empty one puts the editor into shell mode. */
  shell(command: string): Promise<void>;
  perform(action: AppAction): void;
  /** Shows lines below the transcript for a while. `stop` is called on Esc and Ctrl+C. */
  setLive(lines: ((columns: number) => readonly Painted[]) | undefined, stop?: () => void): void;
  /** The rows below the editor printed by the user's status line command. */
  readonly status: StatusLine;
  /** Writes the text of a typed command to the scrollback. */
  echo(text: string): void;
  /** Puts text into the editor. */
  write(text: string): void;
  /**
   * Ends this run and opens another one. Returns false after reporting why the run could not be opened; the previous one
   * continues. `quietly` is for the same chat, which is on the screen already.
   */
  switchTo(request: RunRequest, how?: "quietly"): Promise<boolean>;
  /** Prints the conversation again at the current width. */
  reprint(): Promise<void>;
  /** Copies through the terminal by OSC 52. Returns false if the text is too long for that. */
  copyByTerminal(text: string): boolean;
  redraw(): void;
  leave(): void;
}

/** Settings of the screen that a command can toggle. */
export type Toggles = { vim: boolean; thinking: boolean; lineNumbers: boolean; statusIndicators: boolean };
