// Renders the user's message as typed. Of a long paste only the beginning and the end are shown.
import { cut, join, linesOf, type Painted, type Palette, wrap } from "../painted.ts";

const maxLines = 40;
const first = 10;
const last = 3;
/** The maximum number of rows for one long line. */
const maxRows = 10;

type MessageStyle = { palette: Palette; isExpanded: boolean };

export function messageLines(text: string, width: number, { palette, isExpanded }: MessageStyle): Painted[] {
  const lines = linesOf(text.trimEnd()).map((line, row) =>
    join(row === 0 ? palette.both("accent", "message")("› ") : palette.message("  "), palette.message(line)),
  );
  const left = lines.length - first - last;
  const shown =
    isExpanded || lines.length <= maxLines
      ? lines
      : [
          ...lines.slice(0, first),
          palette.both("soft", "message")(`  … ${left} more lines · ctrl+o shows them`),
          ...lines.slice(-last),
        ];
  return shown.flatMap((line) => wrap(isExpanded ? line : cut(line, width * maxRows), width, palette.message("  ")));
}
