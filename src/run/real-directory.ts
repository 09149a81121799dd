// Resolves the real path of a directory that the user named, or that the program was started in.
import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { UserError } from "../protocol/error-codes.ts";

/** Returns the real path of a directory. If it does not exist, the error names the option `flag`. */
export function realDirectory(path: string, flag: string): string {
  let absolute = path;
  try {
    absolute = resolve(path); // this throws if the current directory was deleted
    const real = realpathSync(absolute);
    if (statSync(real).isDirectory()) return real;
  } catch {
    throw new UserError(
      "CWD_MISSING",
      `The directory ${absolute} does not exist or cannot be read. Pass another with ${flag} <path>.`,
    );
  }
  throw new UserError("CWD_MISSING", `${absolute} is not a directory. Pass one with ${flag} <path>.`);
}
