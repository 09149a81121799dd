// Where temporary files go whose path stands in commands without quotes, or in lists that a blank ends.
import { tmpdir } from "node:os";

/** The folder for temporary files, or /tmp where that folder's path has blanks. */
export function temporaryWithoutBlanks(): string {
  return /\s/.test(tmpdir()) ? "/tmp" : tmpdir();
}
