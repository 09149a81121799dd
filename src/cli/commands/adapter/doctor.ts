// `adapter doctor -- <command…>`: prints the report as text or JSON.
import { type DoctorReport, diagnoseCli } from "../../../adapter/doctor.ts";
import { usageError } from "../../../protocol/error-codes.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { handleShutdown } from "../../shutdown.ts";
import { answer, answerJson } from "../answer.ts";

export async function doctor({ line: { flags }, env }: Invocation, words: readonly string[]): Promise<number> {
  const seconds = flagText(flags, "timeout");
  if (seconds !== undefined && !(Number(seconds) > 0))
    throw usageError(`--timeout '${seconds}' is not a positive number. Example: --timeout 60`);
  const abort = new AbortController();
  const watch = handleShutdown(abort, { env });
  let report: DoctorReport;
  try {
    report = await diagnoseCli({
      command: words,
      style: flagText(flags, "style") as DoctorReport["style"] | undefined,
      ...(flags.has("no-headless-flags") && { headlessFlags: [] }),
      ...(seconds !== undefined && { timeoutMs: Number(seconds) * 1000 }),
      env,
      signal: abort.signal,
    });
  } finally {
    watch.stop();
  }
  abort.signal.throwIfAborted();
  const written = flagText(flags, "format") === "json" ? answerJson(report) : answer(reportText(report));
  return (await written) || (report.ok ? 0 : 1);
}

const marks = { ok: "ok", warning: "note", problem: "PROBLEM", skipped: "-" };

function reportText({ command, style, findings, ok }: DoctorReport): string {
  const how = style === "argument" ? "the prompt is its last argument" : "turn JSON on its stdin";
  const lines = findings.flatMap(({ check, status, message, remedy }) => [
    `${marks[status].padEnd(8)} ${check.padEnd(15)} ${message.replaceAll("\n", `\n${" ".repeat(25)}`)}`,
    ...(remedy ? [`${" ".repeat(25)}-> ${remedy}`] : []),
  ]);
  const verdict = ok ? "It can be used." : "It cannot be used like this.";
  return `${command.join(" ")} (${how})\n\n${lines.join("\n")}\n\n${verdict}\n`;
}
