// The grammar of whole orders: the first row that fits from the first word to the last.
import { kindRows, lookRows, measureRows } from "./counting.ts";
import { wholeFileRows } from "./files.ts";
import { gitRows } from "./git.ts";
import { lastLineRows, lineRows } from "./lines.ts";
import { firstFitting } from "./rows.ts";
import { scriptRows } from "./scripts.ts";
import { quotedRow } from "./talk.ts";
import { valueRows } from "./values.ts";

export const wholeOrder = firstFitting([
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
