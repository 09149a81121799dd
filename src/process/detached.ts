// Starts a program that outlives this one: in a session of its own, with no stream of ours.
import { closeSync, openSync } from "node:fs";

/** `log`: a file that its stderr is added to. Undefined: it could not be started. */
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
    child.on("error", () => {}); // told by the missing number
    child.unref();
    return child.pid;
  } finally {
    if (typeof stderr === "number") closeSync(stderr);
  }
}
