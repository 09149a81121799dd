// `hooks trace`: prints the input and answers of the hooks of the last run here.

import { redactedStart } from "../../../redact/shorten.ts";
import { type HookTraceLine, readHookTrace } from "../../../store/hook-trace.ts";
import { collapsed } from "../../../text/one-line.ts";
import { visible } from "../../../text/visible.ts";
import { counted } from "../../../view/numbers.ts";
import type { Invocation } from "../../main.ts";
import { answer, answerJson, wantsJson } from "../answer.ts";
import { hooksContext } from "./context.ts";

export async function traceHooks(invocation: Invocation): Promise<number> {
  const lines = readHookTrace(hooksContext(invocation));
  if (wantsJson(invocation)) return answerJson(lines);
  if (lines.length === 0) return answer("No run with hooks has been recorded here yet.\n");
  const widest = (column: (line: HookTraceLine) => string) => Math.max(...lines.map((line) => column(line).length));
  const eventWidth = widest(({ event }) => event);
  const answerWidth = widest(({ answer }) => answer);
  const rows = lines.map(({ at, event, answer, ms, exit, command, source, note }) => {
    const code = exit === null || exit === 0 ? "" : `  exit ${exit}`;
    const row = `${formatTime(at)}  ${event.padEnd(eventWidth)}  ${answer.padEnd(answerWidth)}  ${`${ms} ms`.padStart(8)}  ${shortenForTrace(command)}${code}`;
    return [row, `    ${source}`, ...(note === "" ? [] : [`    ${shortenForTrace(note)}`])].map(visible).join("\n");
  });
  const total = lines.reduce((sum, { ms }) => sum + ms, 0);
  const calls = counted(lines.length, "call");
  return answer(`${rows.join("\n")}\n${calls}, ${total} ms of hooks.\n`);
}

function formatTime(at: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? at : date.toTimeString().slice(0, 8);
}

export function shortenForTrace(text: string): string {
  return redactedStart(collapsed(text), 160);
}
