// The terminal as a device: raw mode, paste and key protocols, title, alternate screen; and everything as it was before, on
// every way out. `enter()` before the first paint, `leave()` at the end; an exit without it leaves as well.
import { writeSync } from "node:fs";
import { oneLine } from "../text/one-line.ts";
import { visible } from "../text/visible.ts";
import { startTerminalGuard, type TerminalGuard } from "./terminal-guard.ts";
import type { Size } from "./view.ts";

export interface Tty {
  /** Keys come one by one from now on. */
  enter(): void;
  /** As it was. Safe to call twice, and while the process ends. */
  leave(): void;
  /** Ctrl+Z: gives the terminal back to the shell and stops; goes on with `onResume` after `fg`. */
  suspend(): void;
  setTitle(text: string): void;
  /** For a pager. The main screen stays as it is. */
  alternate(on: boolean): void;
  /** Asks for the background colour; the answer comes as a sequence of its own, see `darknessOf`. */
  askBackground(): void;
  /** Raw mode is on: what is drawn stands where we think. Not while the shell has the terminal. */
  readonly isOurs: boolean;
  readonly size: Size;
}

export type TtyOptions = {
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
  env: Readonly<Record<string, string | undefined>>;
  /** The shell is about to get the terminal: take the live region away. */
  onSuspend?(): void;
  /** Everything that was shown may be gone: draw the live region anew. */
  onResume(): void;
};

const pasteOn = "\x1b[?2004h";
/** These terminals know no marks around a paste: consoles, and GNU screen, whose name tmux takes as well. */
const marksNothing = /^(linux|vt\d|ansi|cons|sun|eterm|cygwin|screen)/;
/** Keys that differ only in modifiers: the newer protocol on its own stack, the older one for those that lack it. */
const keysOn = "\x1b[>1u\x1b[>4;2m";
const pushTitle = "\x1b[22;2t";
const alternateOn = "\x1b[?1049h";
const alternateOff = "\x1b[?1049l";
/** Paste, keys, cursor, wrapping and frames as they are by default. */
const modesOff = "\x1b[?2026l\x1b[?7h\x1b[?25h\x1b[?2004l\x1b[>4m\x1b[<u";
const titleOff = "\x1b]2;\x1b\\\x1b[23;2t";
const backgroundQuery = "\x1b]11;?\x1b\\";

/** Does the terminal say where a paste begins and ends? */
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
  /** At once: at the end of a process nothing that waits is written any more. */
  const writeNow = (text: string) => {
    try {
      writeSync(fd, text);
    } catch {
      output.write(text); // busy, or gone
    }
  };
  const setRaw = (isRaw: boolean) => {
    try {
      if (input.isTTY) input.setRawMode(isRaw);
    } catch {
      // It went away with its window.
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
    // Stopped from outside: the shell has set its own modes since.
    setRaw(false);
    apply();
    onResume();
  };
  const suspend = () => {
    process.off("SIGTSTP", suspend);
    process.off("SIGCONT", continued);
    onSuspend?.();
    leave();
    // The whole group, as the terminal would do it: a launcher that waits for us must stop as well.
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
      // After the first paint: starting a process takes longer than that.
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
      writeNow(`${hasTitle ? "" : pushTitle}\x1b]2;${oneLine(visible(text), 120)}\x1b\\`);
      hasTitle = true;
      guard?.changed(undo());
    },
    alternate(on) {
      if (on === isAlternate) return;
      isAlternate = on;
      writeNow(on ? alternateOn : alternateOff);
      if (isEntered) guard?.changed(undo());
    },
    askBackground() {
      writeNow(backgroundQuery);
    },
    get isOurs() {
      return isEntered;
    },
    get size() {
      return { columns: output.columns || 80, rows: output.rows || 24 };
    },
  };
}

/** While another program has the terminal, Ctrl+C is that program's, though the whole group gets the signal. */
export async function deafToInterrupts<Result>(work: () => Promise<Result>): Promise<Result> {
  const ignore = () => {};
  process.on("SIGINT", ignore).on("SIGQUIT", ignore);
  try {
    return await work();
  } finally {
    // One that came at the last moment is told of later.
    setTimeout(() => process.off("SIGINT", ignore).off("SIGQUIT", ignore), 200).unref();
  }
}
