// The grammar of whole orders: one of these fits from the first word to the last, or the older parts have a look.
import { firstFitting } from "../patterns.ts";
import { kindRows, lookRows, measureRows } from "./counting.ts";
import { wholeFileRows } from "./files.ts";
import { gitRows } from "./git.ts";
import { itemRows, lineRows } from "./lines.ts";
import { scriptRows } from "./scripts.ts";
import { valueRows } from "./values.ts";

export const wholeOrder = firstFitting([
  ...lineRows,
  ...lookRows,
  ...itemRows,
  ...valueRows,
  ...measureRows,
  ...kindRows,
  ...gitRows,
  ...scriptRows,
  ...wholeFileRows,
]);
