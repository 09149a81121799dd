// Runs a program on our own terminal: it reads the keys and draws, and we wait.
import { spawnChild } from "./spawn.ts";

/** The exit code; 127 where it could not be started. */
export function runOnTerminal(
  command: readonly string[],
  { cwd, env }: { cwd: string; env: Readonly<Record<string, string | undefined>> },
): Promise<number> {
  return new Promise((resolve) => {
    const child = spawnChild({ command, cwd, env, streams: "inherit", channel: false, plain: true });
    child.on("error", () => resolve(127));
    child.on("exit", (code, signal) => resolve(code ?? (signal ? 128 : 1)));
  });
}
