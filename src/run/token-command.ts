// Runs a user's program that prints a token for the model's server.
import { homedir } from "node:os";
import { runProgram } from "../process/run-program.ts";
import { redactedEnd } from "../redact/shorten.ts";

const shell = ["linux", "darwin"].includes(process.platform) ? "/bin/sh" : "sh";
const timeoutMs = 60_000;

/** Runs in the home directory, not in the workspace, whose files may come from others. Throws when the program fails. */
export async function runTokenCommand(
  command: string,
  { env, signal }: { env: NodeJS.ProcessEnv; signal?: AbortSignal },
): Promise<string> {
  const end = await runProgram({
    command: [shell, "-c", command],
    cwd: homedir(),
    env,
    timeoutMs,
    graceMs: 500,
    keepBytes: 65_536,
    leftovers: "group",
    ...(signal && { signal }),
  });
  if (end.exitCode === 0) return end.stdout.toString("utf8");
  const why = end.timedOut ? `it did not end within ${timeoutMs / 1000} s` : `it ended with exit code ${end.exitCode}`;
  const errorOutput = redactedEnd(end.stderr.trim(), 500);
  throw new Error(`${why}${errorOutput && ` (${errorOutput})`}: ${command}`);
}
