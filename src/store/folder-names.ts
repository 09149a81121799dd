// Lists the names in a folder.
import { readdirSync } from "node:fs";
import { tryOr } from "../text/try-or.ts";

/** Returns an empty list if the folder is missing or unreadable. */
export function namesIn(folder: string): string[] {
  return tryOr(() => readdirSync(folder), []);
}
