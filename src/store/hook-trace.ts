// Writes and reads the trace of the last run's hook calls, one line each, shown by `hooks trace`.
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, tryParse } from "../json/object.ts";
import { redactedStart } from "../redact/shorten.ts";
import { tryOr } from "../text/try-or.ts";
import { replaceFile } from "./json-file.ts";
import { projectDir } from "./project.ts";

export type HookTraceLine = {
  /** When the hook started, as an ISO time. */
  at: string;
  event: string;
  /** The hook file and the entry in that file. */
  source: string;
  /** The hook's command, or its prompt. */
  command: string;
  ms: number;
  /** The exit code; null if the hook was ended by a signal, never started, or is not a command. */
  exit: number | null;
  /** What the hook answered, in a word or two: allow, deny, ask, stop, context, follow-up, failed, nothing. */
  answer: string;
  note: string;
};

type TracePaths = { configDir: string; workspace: string };

const maxLines = 1000;
const longestText = 2000;

export type HookTrace = (line: HookTraceLine) => void;

/** Opens the trace of hooks. Its first line replaces the last run's trace. A failed write does not stop the run. */
export function openHookTrace(paths: TracePaths, redact: (text: string) => string): HookTrace {
  const file = traceFile(paths);
  let lines = 0;
  const short = (text: string) => redactedStart(text, longestText, redact);
  return (line) => {
    if (lines >= maxLines) return;
    const kept = { ...line, command: short(line.command), note: short(line.note) };
    const text = `${JSON.stringify(kept)}\n`;
    try {
      if (lines === 0) replaceFile(file, text);
      else appendFileSync(file, text);
      lines++;
    } catch {
      lines = maxLines;
    }
  };
}

/** Returns an empty list if no run had hooks yet. Lines of another version are skipped. */
export function readHookTrace(paths: TracePaths): HookTraceLine[] {
  const text = tryOr(() => readFileSync(traceFile(paths), "utf8"), "");
  return text.split("\n").flatMap((line) => {
    const value = tryParse(line);
    return isObject(value) && typeof value["event"] === "string" ? [value as HookTraceLine] : [];
  });
}

function traceFile({ configDir, workspace }: TracePaths): string {
  return join(projectDir(configDir, workspace), "hooks-trace.jsonl");
}
