// --output-last-message: the last answer in a file, for scripts that want nothing else.
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { writeWhole } from "./whole-file.ts";

/** The file is emptied at once: one that cannot be written stops the run before it costs anything, and none is left of an earlier run. */
export function openAnswerFile(file: string): (text: string) => void {
  const path = resolve(file);
  const stat = statSync(path, { throwIfNoEntry: false });
  const isStream = stat !== undefined && !stat.isFile() && !stat.isDirectory();
  if (!isStream) writeWhole(path, [""]);
  return (text) => writeWhole(path, [text]);
}
