// Lists everything below a folder. Links are listed and never followed, while some versions of Node follow them in `readdir`.
import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";

export function* entriesBelow(folder: string): Generator<Dirent> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    yield entry;
    if (entry.isDirectory()) yield* entriesBelow(join(folder, entry.name));
  }
}
