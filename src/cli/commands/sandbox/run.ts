// `sandbox run`: runs the user's command in the sandbox, with this process's input, output and signals.
import { constants } from "node:os";
import { toolEnvironment } from "../../../agent/process.ts";
import { UserError } from "../../../protocol/error-codes.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { openForUser } from "./open.ts";

export async function runInSandbox(invocation: Invocation, words: readonly string[]): Promise<number> {
  const { sandbox, processes, workspace, problem, warnings } = await openForUser(invocation);
  for (const warning of warnings) writeStderr(`Warning: ${warning}\n`);
  try {
    if (problem) throw new UserError("SANDBOX_UNAVAILABLE", problem);
    // A single word is a shell command line, run as the shell tool would; several are a program and its arguments.
    const command = words.length === 1 ? ["bash", "-c", words[0]!] : words;
    const request = { command, cwd: workspace, env: toolEnvironment(invocation.env), sandbox };
    if (invocation.line.flags.has("sb-debug")) {
      const confined = sandbox.enter(request);
      confined.leave();
      writeStderr(`${confined.command.map((part) => JSON.stringify(part)).join(" ")}\n`);
    }
    const end = await processes.attach(request);
    for (const note of end.notes) writeStderr(`Warning: ${note}\n`);
    return end.exitCode ?? 128 + (constants.signals[end.signal as NodeJS.Signals] ?? 0);
  } finally {
    await sandbox.end();
  }
}
