// The terminal device: sets raw mode, paste and key protocols, title and alternate screen, and restores everything on every exit.
// Call `enter()` before the first paint and `leave()` at the end; exiting without it restores the terminal as well.
import { writeSync } from "node:fs";
import { oneLine } from "../text/one-line.ts";
import { visible } from "../text/visible.ts";
import { startTerminalGuard, type TerminalGuard } from "./terminal-guard.ts";
import type { Size } from "./view.ts";

export interface Tty {
  /** Switches the terminal to raw mode, where keys arrive one by one. */
  enter(): void;
  /** Restores the terminal. Safe to call twice, and while the process exits. */
  leave(): void;
  /** Ctrl+Z: gives the terminal back to the shell and stops; after `fg`, calls `onResume`. */
  suspend(): void;
  setTitle(text: string): void;
  /** Switches to the alternate screen for a pager. The main screen stays unchanged. */
  alternate(on: boolean): void;
  /** Queries the background colour; the answer arrives as a sequence, see `darknessOf`. */
  askBackground(): void;
  /** Whether the terminal is in raw mode with the cursor in its expected place; false while the shell has it. */
  readonly isOurs: boolean;
  /** Reads the size before a frame: on a busy machine, the signal of a change may be handled only after it. */
  readSize(): void;
  readonly size: Size;
}

export type TtyOptions = {
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
  env: Readonly<Record<string, string | undefined>>;
  /** Called before the shell gets the terminal, to remove the live region. */
  onSuspend?(): void;
  /** Called when everything on the screen may be gone, to draw the live region again. */
  onResume(): void;
};

const pasteOn = "\x1b[?2004h";
/** Terminals that do not mark pastes: consoles, and GNU screen, whose TERM tmux uses as well. */
const marksNothing = /^(linux|vt\d|ansi|cons|sun|eterm|cygwin|screen)/;
/** Reports modifiers of keys: kitty's protocol, pushed on its stack, and modifyOtherKeys for terminals without it. */
const keysOn = "\x1b[>1u\x1b[>4;2m";
const pushTitle = "\x1b[22;2t";
const alternateOn = "\x1b[?1049h";
const alternateOff = "\x1b[?1049l";
/** Restores the defaults of paste, keys, cursor, wrapping and frames. */
const modesOff = "\x1b[?2026l\x1b[?7h\x1b[?25h\x1b[?2004l\x1b[>4m\x1b[<u";
const titleOff = "\x1b]2;\x1b\\\x1b[23;2t";
const backgroundQuery = "\x1b]11;?\x1b\\";

/** Returns whether the terminal marks where a paste begins and ends. */
export function marksPastes(env: TtyOptions["env"]): boolean {
  if (process.platform === "win32" && !env["WT_SESSION"] && !env["TERM_PROGRAM"]) return false;
  return env["TMUX"] !== undefined || !marksNothing.test(env["TERM"] ?? "");
}

export function openTty({ input, output, env, onSuspend, onResume }: TtyOptions): Tty {
  let isEntered = false;
  let isAlternate = false;
  let hasTitle = false;
  let guard: TerminalGuard | undefined;

  const { fd = 1 } = output as { fd?: number };

  const undo = () => (isAlternate ? alternateOff : "") + modesOff + (hasTitle ? titleOff : "");
  /**
   * Writes synchronously, since pending output is lost when the process exits. Only to enter and to leave: it overtakes what a slow
   * terminal has not taken yet, and lines would end on the wrong screen.
   */
  const writeNow = (text: string) => {
    try {
      writeSync(fd, text);
    } catch {
      output.write(text); // the terminal is busy or gone
    }
  };
  const setRaw = (isRaw: boolean) => {
    try {
      if (input.isTTY) input.setRawMode(isRaw);
    } catch {
      // The terminal was closed with its window.
    }
  };
  const apply = () => {
    setRaw(true);
    writeNow(pasteOn + keysOn + (isAlternate ? alternateOn : ""));
    isEntered = true;
    guard?.changed(undo());
  };
  const leave = () => {
    if (!isEntered) return;
    isEntered = false;
    writeNow(undo());
    setRaw(false);
    guard?.restored();
  };
  const atExit = () => {
    leave();
    guard?.end();
  };
  const continued = () => {
    if (!isEntered) return;
    // The process was stopped by another process, and the shell has set its own modes since.
    setRaw(false);
    apply();
    onResume();
  };
  const suspend = () => {
    process.off("SIGTSTP", suspend);
    process.off("SIGCONT", continued);
    onSuspend?.();
    leave();
    // Stop the whole process group, as the terminal would: a launcher waiting for this process must stop as well.
    process.kill(0, "SIGTSTP");
    setImmediate(() => {
      listen();
      apply();
      onResume();
    });
  };
  const listen = () => {
    process.on("SIGTSTP", suspend);
    process.on("SIGCONT", continued);
  };

  return {
    enter() {
      if (isEntered) return;
      process.once("exit", atExit);
      listen();
      apply();
      // Start the guard after the first paint, since starting a process takes longer.
      setImmediate(() => {
        if (!isEntered || guard) return;
        guard = startTerminalGuard(env, fd);
        guard?.changed(undo());
      });
    },
    leave() {
      leave();
      hasTitle = false;
      isAlternate = false;
      guard?.end();
      guard = undefined;
      process.off("exit", atExit);
      process.off("SIGTSTP", suspend);
      process.off("SIGCONT", continued);
    },
    suspend,
    setTitle(text) {
      if (!isEntered) return;
      output.write(`${hasTitle ? "" : pushTitle}\x1b]2;${oneLine(visible(text), 120)}\x1b\\`);
      hasTitle = true;
      guard?.changed(undo());
    },
    alternate(on) {
      if (on === isAlternate) return;
      isAlternate = on;
      output.write(on ? alternateOn : alternateOff);
      if (isEntered) guard?.changed(undo());
    },
    askBackground() {
      output.write(backgroundQuery);
    },
    get isOurs() {
      return isEntered;
    },
    readSize() {
      try {
        (output as { _refreshSize?(): void })._refreshSize?.();
      } catch {} // The terminal was closed with its window.
    },
    get size() {
      return { columns: output.columns || 80, rows: output.rows || 24 };
    },
  };
}

/** Ignores Ctrl+C while another program uses the terminal, although the whole process group receives the signal. */
export async function deafToInterrupts<Result>(work: () => Promise<Result>): Promise<Result> {
  const ignore = () => {};
  process.on("SIGINT", ignore).on("SIGQUIT", ignore);
  try {
    return await work();
  } finally {
    // A signal that arrived at the last moment is delivered later, on a busy machine only after the timer.
    const listen = () => process.off("SIGINT", ignore).off("SIGQUIT", ignore);
    setTimeout(() => setImmediate(listen), 200).unref();
  }
}
