// Restores the terminal if this process is killed outright: a small shell waits for a pipe to close and undoes what raw mode
// changed. It starts after raw mode is on, so that startup does not wait for it and no key is read in the old mode.
import { spawnChild } from "../process/spawn.ts";

export interface TerminalGuard {
  /** Called when raw mode is on; `undo` is the text that restores the other modes. */
  changed(undo: string): void;
  /** Call this when the terminal was restored, so that the guard need not do it. */
  restored(): void;
  end(): void;
}

/**
 * Reads lines; the last one before the end counts: `-` for nothing, else the text to write. The shell that takes over may have
 * set its own modes already, so they are restored only if they are still those of raw mode.
 */
const script = `
trap '' HUP INT TERM PIPE
undo=- raw=
while IFS= read -r line; do
  undo=$line
  [ "$line" = - ] || [ -n "$raw" ] || raw=$(stty -g <&3 2>/dev/null) || exit 0
done
[ "$undo" = - ] && exit 0
printf "$undo" >&3
[ "$(stty -g <&3)" = "$raw" ] && stty brkint icrnl ixon icanon echo isig iexten <&3
exit 0
`;

/**
 * Starts the guard. It has its own session, where no signal for this process reaches it, and where it may write to `terminal`, a file
 * descriptor, without being in the foreground.
 */
export function startTerminalGuard(
  env: Readonly<Record<string, string | undefined>>,
  terminal: number,
): TerminalGuard | undefined {
  if (process.platform === "win32") return undefined;
  const child = spawnChild({
    command: ["/bin/sh", "-c", script],
    cwd: "/",
    env: { PATH: env["PATH"] },
    streams: "pipe",
    channel: false,
    inherited: terminal,
  });
  const { stdin, stdout, stderr } = child;
  // If the guard cannot be started, the terminal is still restored on every exit but a kill.
  child.on("error", () => {});
  stdin?.on("error", () => {});
  // The guard must not keep this process running.
  child.unref();
  stdout?.destroy();
  stderr?.destroy();
  (stdin as { unref?(): void } | null)?.unref?.();
  return {
    changed: (undo) => stdin?.write(`${printfText(undo)}\n`),
    restored: () => stdin?.write("-\n"),
    end: () => stdin?.end("-\n"),
  };
}

/** Escapes all but plain characters for the shell's `printf`. */
function printfText(text: string): string {
  return text.replace(
    /[^A-Za-z0-9[\]?;<>]/g,
    (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
}
