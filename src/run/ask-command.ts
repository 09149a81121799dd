// --ask-command: a program of the user's that answers, in print mode, what a person would be asked.
import type { Asker, Question } from "../agent/agent.ts";
import { type ProcessRunner, toolEnvironment } from "../agent/process.ts";
import { isObject, tryParse } from "../json/object.ts";

type Place = { processes: ProcessRunner; workspace: string; sessionId: string };

const shell = ["linux", "darwin"].includes(process.platform) ? "/bin/sh" : "sh";
/** As long as a person may take. */
const timeoutMs = 3_600_000;

/** Only a clear `{"allow": true}` is a yes. What only a person may permit is not asked at all. */
export function commandAsker(command: string, { processes, workspace, sessionId }: Place): Asker {
  return async (question) => {
    if (question.personOnly) return { allow: false, reason: question.reasons.join(" ") };
    const running = processes.start({
      command: [shell, "-c", command],
      cwd: workspace,
      env: toolEnvironment(),
      input: JSON.stringify(wireOf(question, sessionId)),
      timeoutMs,
      graceMs: 500,
      keepBytes: 65_536,
      leftovers: "group",
    });
    const end = await running.ended;
    const answer = end.exitCode === 0 ? tryParse(end.stdout) : undefined;
    if (!isObject(answer)) {
      const said = end.stderr.trim().slice(-500);
      return { allow: false, reason: `Nobody could be asked: --ask-command gave no answer${said && ` (${said})`}.` };
    }
    const reason = typeof answer.reason === "string" ? answer.reason : undefined;
    return { allow: answer.allow === true, ...(reason !== undefined && { reason }) };
  };
}

function wireOf({ callId, tool, args, needs, reasons }: Question, sessionId: string): object {
  return { session_id: sessionId, call_id: callId, tool_name: tool, tool_input: args, needs, reasons };
}
