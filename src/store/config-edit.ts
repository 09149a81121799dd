// Changes a configuration file that people edit, under a lock and atomically.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { JsonObject } from "../json/object.ts";
import { withFileLock } from "./file-lock.ts";
import { makeFolder, readJson, replaceFile } from "./json-file.ts";

/** A configuration file; `flag` means that it was named on the command line. */
export type ConfigFile = { file: string; scope: "user" | "project" | "flag" };

/** The parsed content and its text, or undefined if there is no file. A file that cannot be parsed is never changed. */
export type ConfigContent = { content: JsonObject; text: string } | undefined;

export function readConfig(file: string): ConfigContent {
  const content = readJson(file);
  return content && { content, text: readFileSync(file, "utf8") };
}

/** Edits a configuration file under a lock, and returns whether it changed. `change` returns the new text, or undefined for none. */
export function editConfig(
  { file, scope }: ConfigFile,
  change: (current: ConfigContent) => string | undefined,
): boolean {
  // A project's configuration is shared with others; the user's own is private.
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
