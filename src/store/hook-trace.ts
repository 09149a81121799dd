// The trace of the last run's hook calls, a line for each: what `hooks trace` shows.
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject, tryParse } from "../json/object.ts";
import { redactedStart } from "../redact/shorten.ts";
import { replaceFile } from "./json-file.ts";
import { projectDir } from "./project.ts";

export type HookTraceLine = {
  /** ISO time of its start. */
  at: string;
  event: string;
  /** The file that it stands in, and where. */
  source: string;
  /** Or the prompt of a prompt hook. */
  command: string;
  ms: number;
  /** Null: ended by a signal, never started, or no command at all. */
  exit: number | null;
  /** In a word or two: allow, deny, ask, stop, context, follow-up, failed, nothing. */
  answer: string;
  note: string;
};

type TracePaths = { configDir: string; workspace: string };

const mostLines = 1000;
const longestText = 2000;

export type HookTrace = (line: HookTraceLine) => void;

/** Takes the place of the last run's with its first line. A trace that cannot be written is no reason to stop. */
export function openHookTrace(paths: TracePaths, redact: (text: string) => string): HookTrace {
  const file = traceFile(paths);
  let lines = 0;
  const short = (text: string) => redactedStart(text, longestText, redact);
  return (line) => {
    if (lines >= mostLines) return;
    const kept = { ...line, command: short(line.command), note: short(line.note) };
    const text = `${JSON.stringify(kept)}\n`;
    try {
      if (lines === 0) replaceFile(file, text);
      else appendFileSync(file, text);
      lines++;
    } catch {
      lines = mostLines;
    }
  };
}

/** Empty where no run had hooks yet. Lines of another version are left out. */
export function readHookTrace(paths: TracePaths): HookTraceLine[] {
  let text: string;
  try {
    text = readFileSync(traceFile(paths), "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    const value = tryParse(line);
    return isObject(value) && typeof value["event"] === "string" ? [value as HookTraceLine] : [];
  });
}

function traceFile({ configDir, workspace }: TracePaths): string {
  return join(projectDir(configDir, workspace), "hooks-trace.jsonl");
}
