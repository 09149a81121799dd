// The grammar of whole orders: the first row that fits from the first word to the last.
import { kindRows, lookRows, measureRows } from "./counting.ts";
import { wholeFileRows } from "./files.ts";
import { gitRows } from "./git.ts";
import { lastLineRows, lineRows } from "./lines.ts";
import { firstFitting, type Row } from "./rows.ts";
import { scriptRows } from "./scripts.ts";
import { quotedRow } from "./talk.ts";
import { valueRows } from "./values.ts";

const readRow: Row = [
  "read|show|show_me|open|cat|print|display|view FILE",
  ({ file }) => (/(?:^|\/)\.{0,2}$/.test(file) ? undefined : [{ do: "read", path: file }]),
];

/** What is asked most: nothing else is looked up for it. */
export const simpleOrder = firstFitting([readRow]);

export const wholeOrder = firstFitting([
  readRow,
  quotedRow,
  ...lineRows,
  ...lookRows,
  ...valueRows,
  ...lastLineRows,
  ...measureRows,
  ...kindRows,
  ...gitRows,
  ...scriptRows,
  ...wholeFileRows,
]);
