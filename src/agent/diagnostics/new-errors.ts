// Finds the errors that a change caused: those that were not there before, even if lines have moved.

import { firstLines } from "../../text/first-of.ts";
import { collapsed, shortened } from "../../text/one-line.ts";

/** An error found in a file. Lines and columns count from 0, as in the language server protocol. */
export type FoundError = { line: number; column: number; message: string; code: string };

/** A file's text and the errors found in it. */
export type CheckedText = { text: string | undefined; errors: readonly FoundError[] };

export type FileErrors = { path: string; errors: readonly FoundError[] };

export function newErrors(before: CheckedText, after: CheckedText): FoundError[] {
  const lineAfter = lineMapping(before.text ?? "", after.text ?? "");
  const open = new Map<string, FoundError[]>();
  for (const error of before.errors) open.set(errorKey(error), [...(open.get(errorKey(error)) ?? []), error]);
  // Match errors on the same line first. Each old error that is left then accounts for one new error, which only moved.
  const unmatched = after.errors.filter((error) => {
    const old = open.get(errorKey(error)) ?? [];
    const same = old.findIndex(({ line }) => lineAfter(line) === error.line);
    if (same !== -1) old.splice(same, 1);
    return same === -1;
  });
  return unmatched.filter((error) => open.get(errorKey(error))?.pop() === undefined);
}

function errorKey({ code, message }: FoundError): string {
  return `${code} ${message}`;
}

/** Returns where a line of the old text is in the new one; undefined within the changed part. */
function lineMapping(before: string, after: string): (line: number) => number | undefined {
  if (before === after) return (line) => line;
  const [old, now] = [before.split("\n"), after.split("\n")];
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  return (line) => {
    if (line < start) return line;
    return line >= old.length - end ? line + now.length - old.length : undefined;
  };
}

const maxShown = 10;
const longestMessage = 300;

/** Formats one line per error, in file order, up to a limit. */
export function errorLines(files: readonly FileErrors[], server: string): string {
  const lines = files.flatMap(({ path, errors }) =>
    [...errors]
      .sort((one, other) => one.line - other.line || one.column - other.column)
      .map(({ line, column, message, code }) => {
        const shortMessage = shortened(collapsed(message), longestMessage);
        return `${path}:${line + 1}:${column + 1} ${shortMessage}${code === "" ? "" : ` [${code}]`}`;
      }),
  );
  const heading = lines.length === 1 ? "1 new error" : `${lines.length} new errors`;
  return [`${heading} (${server}):`, ...firstLines(lines, maxShown, "")].join("\n");
}
