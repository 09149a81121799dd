// Where a hook script looks for courser-hook, which runs it.
import { delimiter, dirname } from "node:path";
import { findProgram } from "../../../process/find-program.ts";
import type { HooksContext } from "./context.ts";

/** Besides PATH: editors start their hooks with a short one. As the shell reads it. */
export const furtherFolders = [
  "$HOME/.local/bin",
  "/opt/homebrew/bin",
  "/usr/local/bin",
  "${0%/*}/../node_modules/.bin",
];

/** As the second line of a script does it. */
export function findLauncher(script: string, { env, home }: Pick<HooksContext, "env" | "home">): string | undefined {
  const filled = furtherFolders.map((folder) => folder.replace("$HOME", home).replace("${0%/*}", dirname(script)));
  return findProgram("courser-hook", { PATH: [env["PATH"] ?? "", ...filled].join(delimiter) });
}
