// Changes a configuration file that people edit: locked while it is done, saved whole or not at all.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { JsonObject } from "../json/object.ts";
import { withFileLock } from "./file-lock.ts";
import { makeFolder, readJson, replaceFile } from "./json-file.ts";

/** `flag`: a file that the command line named. */
export type ConfigFile = { file: string; scope: "user" | "project" | "flag" };

/** Read as every reader does first: a file that is not understood is left alone. Undefined: there is none. */
export type ConfigContent = { content: JsonObject; text: string } | undefined;

export function readConfig(file: string): ConfigContent {
  const content = readJson(file);
  return content && { content, text: readFileSync(file, "utf8") };
}

/** `change` gives the new text, or undefined to leave the file alone. Says whether it was changed. */
export function editConfig(
  { file, scope }: ConfigFile,
  change: (current: ConfigContent) => string | undefined,
): boolean {
  // A project's file is everybody's; the user's own is private.
  makeFolder(dirname(file), scope === "project" ? 0o777 : 0o700);
  return withFileLock(`${file}.lock`, (stillOurs) => {
    const current = readConfig(file);
    const text = change(current);
    if (text === undefined) return false;
    if (current === undefined && scope === "project") writeFileSync(file, "{}\n", { flag: "wx", mode: 0o666 });
    replaceFile(file, text, stillOurs);
    return true;
  });
}
