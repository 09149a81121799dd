// What the scripts of this folder share: each drives one program as it came from the registry or its repository, and says what it saw, a line of JSON a check.
// They are started with the folder of the package, two folders that nobody has trusted, and the prompts that the model understands.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, workspace, otherWorkspace, given] = process.argv.slice(2);

export { folder, otherWorkspace, workspace };

/** `prompts`, `preamble`, `conclusion` of place.ts. */
export const { prompts, preamble, conclusion } = JSON.parse(given);
export const whole = preamble + conclusion;

export function check(what, ok, seen) {
  console.log(
    JSON.stringify({
      check: what,
      ok: ok === true,
      ...(ok !== true && { seen: String(JSON.stringify(seen)).slice(0, 600) }),
    }),
  );
}

/** Whatever goes wrong is one check that failed. */
export async function attempt(what, work) {
  try {
    await work();
  } catch (error) {
    check(what, false, error?.stack ?? error);
  }
}

/** A file of the package, loaded. */
export function load(name, path) {
  return import(pathToFileURL(join(folder, "node_modules", name, path)).href);
}

export function versionOf(name) {
  return JSON.parse(readFileSync(join(folder, "node_modules", name, "package.json"), "utf8")).version;
}

/** The files of a repository, as they were cloned. */
export const repository = join(folder, "repository");

/** Runs TypeScript as it is written. */
export const bun = join(folder, "node_modules/@oven/bun-linux-x64/bin/bun");
