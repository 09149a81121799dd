// Lists the names in a folder.
import { readdirSync } from "node:fs";

/** Returns an empty list if the folder is missing or unreadable. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
