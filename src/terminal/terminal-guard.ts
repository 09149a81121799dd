// What is left to do when this process is killed outright: a small shell that holds the terminal's state from before, waits
// for the end of a pipe, and puts it back.
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
saved=$(stty -g <&3 2>/dev/null) || exit 0
echo ready
undo=- raw=
while IFS= read -r line; do
  undo=$line
  [ "$line" = - ] || [ -n "$raw" ] || raw=$(stty -g <&3)
done
[ "$undo" = - ] && exit 0
printf "$undo" >&3
[ "$(stty -g <&3)" = "$raw" ] && stty "$saved" <&3
exit 0
`;

/** Without a guard, a terminal is still put back on every other way out. */
const longestStartMs = 1000;

/**
 * `terminal`: a descriptor of it. The guard is in a session of its own, where no signal to us reaches it, and where nobody asks
 * whether it stands in the foreground.
 */
export async function startTerminalGuard(
  env: Readonly<Record<string, string | undefined>>,
  terminal: number,
): Promise<TerminalGuard | undefined> {
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
  stdin?.on("error", () => {});
  const isReady = await new Promise<boolean>((resolve) => {
    const settle = (ready: boolean) => {
      clearTimeout(timer);
      resolve(ready);
    };
    const timer = setTimeout(() => settle(false), longestStartMs);
    child.once("error", () => settle(false));
    child.once("exit", () => settle(false));
    stdout?.once("data", () => settle(true));
  });
  // Nothing of it keeps this process alive.
  child.unref();
  stdout?.destroy();
  stderr?.destroy();
  (stdin as { unref?(): void } | null)?.unref?.();
  if (!isReady) {
    stdin?.end();
    return undefined;
  }
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
