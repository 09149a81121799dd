// The desk: how steps are carried out by calls of tools, and what is said of their results.
import type { ToolSpec } from "../provider.ts";
import type { Todo } from "./steps.ts";

export type ToolUse = { name: string; args: Record<string, unknown> };
export type ToolOutcome = { text: string; isError: boolean };

/** A program that is replayed against the calls already made: it keeps no state between replies. */
export type Program<Result = string> = Generator<ToolUse, Result, ToolOutcome>;

export type StepContext = {
  tools: readonly ToolSpec[];
  todos: Todo[];
  bare: boolean;
  /** What the last step showed, for "save the result to a.txt". */
  shown: string;
};

/** One call, if the run has such a tool. */
export function* use(desk: StepContext, name: string, args: Record<string, unknown>): Program<ToolOutcome> {
  const tool =
    desk.tools.find((one) => one.name === name) ??
    desk.tools.find((one) => one.name.toLowerCase() === name.toLowerCase());
  if (!tool) return { text: `the tool ${name} is not available in this run`, isError: true };
  const given = Object.entries(args).filter(([, value]) => value !== undefined);
  return yield { name: tool.name, args: Object.fromEntries(given) };
}

export function isNothing({ text }: ToolOutcome): boolean {
  return /^(?:no (?:files|matches)\b.*)?$/i.test(withoutUnread(text).trim());
}

const unread = /\n\[(Permission denied, not searched: .*)\]\s*$/;

export function withoutUnread(text: string): string {
  return text.replace(unread, "");
}

/** What the tool was not allowed to look at, as a sentence to add; else nothing. */
export function unreadSentence({ text }: ToolOutcome): string {
  const said = unread.exec(text)?.[1];
  return said === undefined ? "" : ` ${said}.`;
}

export function isFailure(report: string): boolean {
  return report.startsWith("I could not ");
}

export function failed(what: string, result: ToolOutcome): string {
  const why =
    result.text
      .trim()
      .replace(/^(?:Error|Failed|Failure):\s*/i, "")
      // The rest of this one tells a model which tool to try next.
      .replace(/^(File not found)\b[\s\S]*$/i, "$1") || "the tool gave no reason";
  return `I could not ${what}: ${/[.!?]$/.test(why) || why.includes("\n") ? why : `${why}.`}`;
}

const MOST_LINES = 200;
const MOST_CHARACTERS = 12_000;

/** Content under a heading; a fence longer than any inside it. */
export function shows(desk: StepContext, text: string, heading: string): string {
  const body = text.replace(/\s+$/, "");
  desk.shown = body;
  if (desk.bare) return body;
  if (body === "") return `${heading} nothing.`;
  const lines = body.split("\n");
  let kept = lines.slice(0, MOST_LINES).join("\n");
  if (kept.length > MOST_CHARACTERS) kept = kept.slice(0, MOST_CHARACTERS).replace(/\n[^\n]*$/, "");
  const hidden = lines.length - kept.split("\n").length;
  const fence = "`".repeat(Math.max(3, ...[...kept.matchAll(/`{3,}/g)].map((match) => match[0].length + 1)));
  return `${heading}\n${fence}\n${kept}\n${fence}${hidden > 0 ? `\n(${hidden} more lines)` : ""}`;
}

type FileText = { text: string; note: { to: number; of: number; isMore: boolean } | undefined };

/** What the file holds, apart from what the Read tool says about it. */
export function contentIn(result: string): FileText {
  if (/^\(The file is empty\.\)\s*$/.test(result)) return { text: "", note: undefined };
  const note = /\n\n\[Lines? \d+(?:-(\d+))? of (\d+)\b[^\]]*\]\s*$/.exec(result);
  if (!note) return { text: withoutNumbers(result), note: undefined };
  const isMore = /(?:read on|continue) with offset/i.test(note[0]);
  return {
    text: withoutNumbers(result.slice(0, note.index)),
    note: { to: Number(note[1] ?? 0), of: Number(note[2]), isMore },
  };
}

/** Takes off line numbers, where a Read tool puts them before each line. */
function withoutNumbers(text: string): string {
  const lines = text.split("\n");
  const numbered = lines.map((line) => /^\s*(\d+)(?:\t|→|\||: )(.*)$/.exec(line));
  const body = numbered.slice(0, lines.at(-1) === "" ? -1 : undefined);
  const first = Number(body[0]?.[1]);
  if (body.length === 0 || !body.every((match, index) => match !== null && Number(match[1]) === first + index))
    return text;
  return body.map((match) => match![2]).join("\n") + (lines.at(-1) === "" ? "\n" : "");
}
