// Helpers for work done by tool calls, and for showing their results.
import type { ToolSpec } from "../provider.ts";

export type ToolUse = { name: string; args: Record<string, unknown> };
export type ToolOutcome = { text: string; isError: boolean };

/**
 * A generator that yields tool calls. It runs again from the start for every reply, with the results so far, so that no
 * state must be stored.
 */
export type Program<Result = string> = Generator<ToolUse, Result, ToolOutcome>;

/** Makes one call, if the run has this tool. Adapters call the shell `exec`. */
export function* useTool(tools: readonly ToolSpec[], name: string, args: ToolUse["args"]): Program<ToolOutcome> {
  const names = [name, name.toLowerCase(), ...(name === "Shell" ? ["exec"] : [])];
  const tool = tools.find((one) => one.name === name) ?? tools.find((one) => names.includes(one.name.toLowerCase()));
  if (!tool) return { text: `the tool ${name} is not available in this run`, isError: true };
  const definedArgs = Object.entries(args).filter(([, value]) => value !== undefined);
  return yield { name: tool.name, args: Object.fromEntries(definedArgs) };
}

const COULD_NOT = "I could not ";

export function isFailure(report: string): boolean {
  return report.startsWith(COULD_NOT);
}

export function failure(what: string, result: ToolOutcome): string {
  const why =
    result.text
      .trim()
      .replace(/^(?:Error|Failed|Failure):\s*/i, "")
      // Keep only the first part of this message: the rest suggests another tool to a model.
      .replace(/^(File not found)\b[\s\S]*$/i, "$1") || "the tool gave no reason";
  return `${COULD_NOT}${what}: ${/[.!?]$/.test(why) || why.includes("\n") ? why : `${why}.`}`;
}

const MOST_LINES = 200;
const MOST_CHARACTERS = 12_000;

/** Shows content under a heading, in a fence longer than any inside it. */
export function fence(heading: string, text: string): string {
  const body = text.replace(/\s+$/, "");
  if (body === "") return `${heading} nothing.`;
  const lines = body.split("\n");
  let excerpt = lines.slice(0, MOST_LINES).join("\n");
  if (excerpt.length > MOST_CHARACTERS) excerpt = excerpt.slice(0, MOST_CHARACTERS).replace(/\n[^\n]*$/, "");
  const hidden = lines.length - excerpt.split("\n").length;
  const ticks = "`".repeat(Math.max(3, ...[...excerpt.matchAll(/`{3,}/g)].map((match) => match[0].length + 1)));
  return `${heading}\n${ticks}\n${excerpt}\n${ticks}${hidden > 0 ? `\n(${hidden} more lines)` : ""}`;
}

/** Separates the content of a file from the Read tool's notes. `isMore`: more lines follow. */
export function contentIn(result: string): { text: string; lines: number; isMore: boolean } {
  if (/^\(The file is empty\.\)\s*$/.test(result)) return { text: "", lines: 0, isMore: false };
  const note = /\n\n\[Lines? \d+(?:-\d+)? of (\d+)\b[^\]]*\]\s*$/.exec(result);
  if (!note) return { text: result, lines: 0, isMore: false };
  const isMore = /(?:read on|continue) with offset/i.test(note[0]);
  return { text: result.slice(0, note.index), lines: Number(note[1]), isMore };
}
