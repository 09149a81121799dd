// Computes unified diffs, line counts and the result value of an edit.
import { shownPath } from "../policy/paths.ts";
import type { ToolContext, ToolResult } from "./tools/tool.ts";

type FileChange = { path: string; before: string | undefined; after: string; message: string };

type Hunk = { oldStart: number; oldLines: number; newStart: number; newLines: number; lines: string[] };

const noNewline = "\\ No newline at end of file";
const around = 3;

/** Builds the result of an edit. `note` is shown to the model only. */
export async function changeResult(change: FileChange, context: ToolContext, note = ""): Promise<ToolResult> {
  const { path, before, after, message } = change;
  // Use a relative path so that `patch -p1` can apply the diff.
  const { text, added, removed } = await unifiedDiff({ ...change, path: shownPath(path, context.workspace) });
  const value = {
    path,
    linesAdded: added,
    linesRemoved: removed,
    diffString: text,
    ...(before !== undefined && { beforeFullFileContent: before }),
    afterFullFileContent: after,
    message,
    resultForModel: message,
  };
  const errors = await errorsAfter(change, context);
  const fullMessage = note === "" ? message : `${message} ${note}`;
  return { outcome: { kind: "success", value }, text: errors === "" ? fullMessage : `${fullMessage}\n${errors}` };
}

/** Returns the language servers' findings about the change. */
async function errorsAfter({ path, before, after }: FileChange, context: ToolContext): Promise<string> {
  const { diagnostics, sessionId, signal, isPreview, approved } = context;
  if (!diagnostics || isPreview || before === after) return "";
  return diagnostics.afterEdit({ path: approved?.get(path) ?? path, before, after, agent: sessionId }, signal);
}

/** Uses `a/` and `b/` headers, and `/dev/null` for a new file. Time is limited: unrelated texts become a single hunk. */
export async function unifiedDiff(change: {
  path: string;
  before: string | undefined;
  after: string;
}): Promise<{ text: string; added: number; removed: number }> {
  const hunks = await hunksOf(change.before ?? "", change.after);
  let added = 0;
  let removed = 0;
  const lines = [change.before === undefined ? "--- /dev/null" : `--- a/${change.path}`, `+++ b/${change.path}`];
  for (const hunk of hunks) {
    // In a unified diff, the line number of an empty side is that of the line before it.
    const oldStart = hunk.oldLines === 0 ? hunk.oldStart - 1 : hunk.oldStart;
    const newStart = hunk.newLines === 0 ? hunk.newStart - 1 : hunk.newStart;
    lines.push(`@@ -${oldStart},${hunk.oldLines} +${newStart},${hunk.newLines} @@`);
    for (const line of hunk.lines) {
      if (line[0] === "+") added += 1;
      if (line[0] === "-") removed += 1;
      lines.push(line);
    }
  }
  return hunks.length === 0 ? { text: "", added, removed } : { text: `${lines.join("\n")}\n`, added, removed };
}

async function hunksOf(before: string, after: string): Promise<Hunk[]> {
  if (before === after) return [];
  const block = wholeBlock(splitLines(before), splitLines(after));
  const { removed, added } = block;
  // Keep the hunk whole if one side has at most one line, which cannot be refined, or if the change is so large that
  // refining takes too long.
  if (Math.min(removed, added) < 2 || removed + added > 40_000) return [block.hunk];

  const { structuredPatch } = await import("diff");
  // Compared line by line, unrelated files of 5,000 lines would take seconds.
  const patch = structuredPatch("a", "b", before, after, undefined, undefined, { context: around, timeout: 150 });
  return patch?.hunks ?? [block.hunk];
}

/** Returns everything between the common start and the common end as one hunk. */
function wholeBlock(before: string[], after: string[]): { hunk: Hunk; removed: number; added: number } {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < shorter - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;

  const from = Math.max(0, start - around);
  const tail = Math.min(end, around);
  const lines: string[] = [];
  const push = (sign: string, source: string[], first: number, last: number) => {
    for (const line of source.slice(first, last)) {
      if (line.endsWith("\n")) lines.push(sign + line.slice(0, -1));
      else lines.push(sign + line, noNewline);
    }
  };
  push(" ", before, from, start);
  push("-", before, start, before.length - end);
  push("+", after, start, after.length - end);
  push(" ", before, before.length - end, before.length - end + tail);
  return {
    hunk: {
      oldStart: from + 1,
      oldLines: before.length - end + tail - from,
      newStart: from + 1,
      newLines: after.length - end + tail - from,
      lines,
    },
    removed: before.length - end - start,
    added: after.length - end - start,
  };
}

/** Splits a text into lines that keep their line feeds; a final line feed starts no further line. */
function splitLines(text: string): string[] {
  return text === "" ? [] : text.split(/(?<=\n)/);
}
