// Converts the structured results of Claude Code's tool calls, from its streams and its files, to outcomes.
import { fieldsOf, isObject, type JsonObject } from "../../json/object.ts";
import type { Outcome } from "../../protocol/event.ts";
import type { ToolCallPart } from "../../protocol/message.ts";
import { changeOf, shellRun } from "../wire-calls.ts";

type OutcomeReader = (reported: JsonObject, args: JsonObject) => JsonObject | undefined;

/** Functions that read a tool's result, by our own tool name. */
const readers: Readonly<Record<string, OutcomeReader>> = {
  Read({ file }) {
    if (!isObject(file) || typeof file.content !== "string") return undefined;
    const { filePath: path, content, startLine, numLines, totalLines } = file;
    const isPlaced = typeof startLine === "number" && typeof numLines === "number";
    return {
      path,
      content,
      isEmpty: content === "",
      ...(typeof totalLines === "number" && { totalLines }),
      ...(isPlaced && { readRange: { startLine, endLine: startLine + numLines - 1 } }),
    };
  },
  Edit: editOf,
  Write: editOf,
  Shell: ({ stdout, stderr }, args) =>
    typeof stdout === "string" ? shellRun(args, { stdout, ...(typeof stderr === "string" && { stderr }) }) : undefined,
  Glob({ filenames, numFiles, truncated }, { pattern }) {
    if (!Array.isArray(filenames)) return undefined;
    return {
      pattern,
      files: filenames,
      ...(typeof numFiles === "number" && { totalFiles: numFiles }),
      ...(typeof truncated === "boolean" && { clientTruncated: truncated }),
    };
  },
};

/** Returns the outcome of a call in the unified form, or undefined if the CLI reports no more than the text that its model received. */
export function claudeOutcome(
  { name, args }: ToolCallPart,
  { text, isError }: { text: string; isError: boolean },
  reported: unknown,
): Outcome | undefined {
  const argsObject = fieldsOf(args);
  if (isError) {
    const [, code, output = ""] = (name === "Shell" && /^Exit code (\d+)\n?(.*)$/s.exec(text)) || [];
    if (code === undefined) return undefined;
    return { kind: "failure", value: shellRun(argsObject, { stdout: output, exitCode: Number(code) }) };
  }
  const read = Object.hasOwn(readers, name) ? readers[name] : undefined;
  const value = isObject(reported) ? read?.(reported, argsObject) : undefined;
  return value && { kind: "success", value };
}

function editOf({ filePath: path, structuredPatch: hunks, originalFile: before, content }: JsonObject) {
  if (!Array.isArray(hunks)) return undefined;
  const isNew = before === null && typeof content === "string";
  return {
    path,
    ...changeOf(isNew ? { added: content } : { diff: hunks.filter(isObject).map(hunkText).join("\n") }),
    ...(typeof before === "string" && { beforeFullFileContent: before }),
    ...(typeof content === "string" && { afterFullFileContent: content }),
  };
}

function hunkText({ oldStart, oldLines, newStart, newLines, lines }: JsonObject): string {
  const head = `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`;
  return [head, ...(Array.isArray(lines) ? lines : [])].join("\n");
}
