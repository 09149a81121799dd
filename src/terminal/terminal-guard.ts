// What is left to do when this process is killed outright: a small shell that waits for the end of a pipe, and takes back what
// raw mode changed. It is started after raw mode is on: nobody waits for it, and no key is lost to the old mode meanwhile.
import { spawnChild } from "../process/spawn.ts";

export interface TerminalGuard {
  /** Raw mode is on now, and `undo` takes the rest back. */
  changed(undo: string): void;
  /** There is nothing to take back. */
  restored(): void;
  end(): void;
}

/**
 * Lines come in, the last one before the end is what counts: `-` nothing, else what to write. A shell that takes over may have
 * set the modes of its own prompt already: they are put back only while they are still ours.
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
 * `terminal`: a descriptor of it. The guard is in a session of its own, where no signal to us reaches it, and where nobody asks
 * whether it stands in the foreground.
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
  // Without a guard, a terminal is still put back on every other way out.
  child.on("error", () => {});
  stdin?.on("error", () => {});
  // Nothing of it keeps this process alive.
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

/** For `printf` of a shell: nothing in it but plain characters. */
function printfText(text: string): string {
  return text.replace(
    /[^A-Za-z0-9[\]?;<>]/g,
    (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`,
  );
}
