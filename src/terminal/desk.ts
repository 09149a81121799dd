// Desk: what slash commands, questions and pickers may do with the terminal.
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

/** What one of our own commands printed. */
export type CommandEnd = { code: number; text: string };

export interface Desk {
  readonly palette: Palette;
  readonly conversation: Conversation;
  readonly size: Size;
  /** What shows Markdown, code and changed words; undefined until it is loaded. */
  readonly rendering: Rendering | undefined;
  /** The name the program was called by, its version, its environment. */
  readonly program: string;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly toggles: Readonly<Toggles>;
  setToggle(name: keyof Toggles, isOn: boolean): void;
  readonly goal: Goal | undefined;
  setGoal(goal: Goal | undefined): void;
  /** Into the scrollback: soft, as what the program itself says. */
  say(text: string): void;
  /** Text as it is, such as the output of one of our commands. */
  show(text: string): void;
  /** What went wrong, with its sign. */
  complain(text: string): void;
  commit(lines: readonly Painted[]): void;
  /** In the place of the editor until it closes. */
  open<Result>(opened: OpenedPanel<Result>): Promise<Result | undefined>;
  choose<Value>(options: ListOptions<Value>): Promise<Value | undefined>;
  /** On the alternate screen; resolves when it is left. */
  page(title: string, lines: (columns: number) => readonly Painted[]): Promise<void>;
  /** One of our own commands, as on a command line. `input`: for its stdin. */
  command(words: readonly string[], input?: string): Promise<CommandEnd>;
  /** One of our own commands that asks on the terminal. */
  interactive(words: readonly string[]): Promise<number>;
  /** Gives the terminal to another program. */
  lend<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Sends a prompt as if it had been typed. */
  submit(text: string): void;
  /** A command of the user's own; without one the editor waits for it. */
  shell(command: string): Promise<void>;
  /** What a key would do. */
  perform(action: AppAction): void;
  /** Shown below the transcript for a while. `stop`: what Esc and Ctrl+C do with it. */
  setLive(lines: ((columns: number) => readonly Painted[]) | undefined, stop?: () => void): void;
  /** Rows below the editor that a command of the user's makes. */
  readonly status: StatusLine;
  /** What was typed, into the scrollback. */
  echo(text: string): void;
  /** Puts text into the editor. */
  write(text: string): void;
  /** Ends this run and opens another one. */
  /** False: it could not be opened, which was said, and the one before goes on. `quietly`: it is the same chat, and stands on the screen. */
  switchTo(request: RunRequest, how?: "quietly"): Promise<boolean>;
  /** Prints the conversation again, at the present width. */
  reprint(): Promise<void>;
  /** By a sequence that terminals may take. False: the text is too long for that. */
  copyByTerminal(text: string): boolean;
  redraw(): void;
  leave(): void;
}

/** Settings of the screen that a command may switch. */
export type Toggles = { vim: boolean; thinking: boolean; lineNumbers: boolean; statusIndicators: boolean };
