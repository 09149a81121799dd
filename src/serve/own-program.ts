// Runs a command of this program for the service, so that the same rules apply as on the command line.
import { runProgram } from "../process/run-program.ts";
import type { ServeContext } from "./context.ts";
import { HttpError } from "./http/route.ts";

/** Returns the output. If the command fails, throws with its error message. */
export async function ownProgram({ program, env }: ServeContext, words: readonly string[], cwd = "/"): Promise<string> {
  const end = await runProgram({ command: [...program, ...words], cwd, env, timeoutMs: 60_000 });
  if (end.exitCode === 0) return end.stdout.toString("utf8").trim();
  const message = (end.failure?.message ?? end.stderr).trim().replace(/^Error: /, "");
  throw new HttpError(409, "refused", message || `The command ended with exit code ${end.exitCode}.`);
}
