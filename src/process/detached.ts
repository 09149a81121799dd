// Starts a program that outlives this process: in its own session, sharing no stream with it.
import { closeSync, openSync } from "node:fs";

/** Returns the process id, or undefined if the program could not be started. Its stderr is appended to the file `log`. */
export function startDetached(
  [program, ...args]: readonly string[],
  { cwd, env, log }: { cwd: string; env: NodeJS.ProcessEnv; log?: string },
): number | undefined {
  const { spawn } = process.getBuiltinModule("node:child_process");
  const stderr = log === undefined ? "ignore" : openSync(log, "a", 0o600);
  try {
    const child = spawn(program!, args, {
      cwd,
      env,
      detached: true,
      windowsHide: true,
      stdio: ["ignore", "ignore", stderr],
    });
    child.on("error", () => {}); // the missing process id reports the failure
    child.unref();
    return child.pid;
  } finally {
    if (typeof stderr === "number") closeSync(stderr);
  }
}
