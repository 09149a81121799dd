// The errors that a change brought: those that were not there before, wherever the lines have moved to.
import { collapsed, shortened } from "../../text/one-line.ts";

/** Line and column count from 0, as servers count them. */
export type FoundError = { line: number; column: number; message: string; code: string };

/** What was found in a text. */
export type CheckedText = { text: string | undefined; errors: readonly FoundError[] };

export type FileErrors = { path: string; errors: readonly FoundError[] };

export function newErrors(before: CheckedText, after: CheckedText): FoundError[] {
  const lineAfter = lineMapping(before.text ?? "", after.text ?? "");
  const open = new Map<string, FoundError[]>();
  for (const error of before.errors) open.set(keyOf(error), [...(open.get(keyOf(error)) ?? []), error]);
  // First those that stand where they stood; then each that went away accounts for one that came: it was moved.
  const unmatched = after.errors.filter((error) => {
    const old = open.get(keyOf(error)) ?? [];
    const same = old.findIndex(({ line }) => lineAfter(line) === error.line);
    if (same !== -1) old.splice(same, 1);
    return same === -1;
  });
  return unmatched.filter((error) => open.get(keyOf(error))?.pop() === undefined);
}

function keyOf({ code, message }: FoundError): string {
  return `${code} ${message}`;
}

/** Where a line of the old text is in the new one; undefined for those in the part that was changed. */
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

const mostShown = 10;
const longestMessage = 300;

/** One line for each, in the order of the file, the first ones only. */
export function errorLines(files: readonly FileErrors[], server: string): string {
  const lines = files.flatMap(({ path, errors }) =>
    [...errors]
      .sort((one, other) => one.line - other.line || one.column - other.column)
      .map(({ line, column, message, code }) => {
        const told = shortened(collapsed(message), longestMessage);
        return `${path}:${line + 1}:${column + 1} ${told}${code === "" ? "" : ` [${code}]`}`;
      }),
  );
  const rest = lines.length > mostShown ? [`… and ${lines.length - mostShown} more`] : [];
  const heading = lines.length === 1 ? "1 new error" : `${lines.length} new errors`;
  return [`${heading} (${server}):`, ...lines.slice(0, mostShown), ...rest].join("\n");
}
