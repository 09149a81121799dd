// Runs --ask-command: a user's program that answers permission questions when no user can.
import { type ProcessRunner, toolEnvironment } from "../agent/process.ts";
import { isObject, tryParse } from "../json/object.ts";
import type { Human, PermissionQuestion } from "../protocol/run.ts";
import { redactedEnd } from "../redact/shorten.ts";

type AskCommandParts = { processes: ProcessRunner; workspace: string; sessionId: string };

const shell = process.platform === "win32" ? "sh" : "/bin/sh";
/** How many milliseconds the program may take to answer, since it stands for a user. */
const timeoutMs = 3_600_000;

/**
 * Asks a program instead of the user. Only `{"allow": true}` allows the call. Questions that only the user may answer
 * are refused without running it.
 */
export function commandHuman(command: string, { processes, workspace, sessionId }: AskCommandParts): Human {
  return {
    answers: ["permission"],
    async ask(question, signal) {
      if (question.type !== "permission") return { type: "no" };
      if (question.personOnly) return { type: "no", reason: question.reasons.join(" ") };
      const end = await processes.run({
        command: [shell, "-c", command],
        cwd: workspace,
        env: toolEnvironment(process.env),
        input: JSON.stringify(questionOnWire(question, sessionId)),
        signal,
        timeoutMs,
        graceMs: 500,
        keepBytes: 65_536,
        leftovers: "group",
      });
      const answer = end.exitCode === 0 ? tryParse(end.stdout) : undefined;
      if (!isObject(answer)) {
        const errorOutput = redactedEnd(end.stderr.trim(), 500);
        const reason = `Nobody could be asked: --ask-command gave no answer${errorOutput && ` (${errorOutput})`}.`;
        return { type: "no", reason };
      }
      if (answer.allow === true) return { type: "yes" };
      return { type: "no", ...(typeof answer.reason === "string" && { reason: answer.reason }) };
    },
  };
}

function questionOnWire({ callId, tool, args, needs, reasons }: PermissionQuestion, sessionId: string): object {
  return { session_id: sessionId, call_id: callId, tool_name: tool, tool_input: args, needs, reasons };
}
