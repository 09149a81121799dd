// Changes a file of hooks: locked while it is done, saved whole or not at all, private where it is the user's own.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { JsonObject } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { withFileLock } from "./file-lock.ts";
import { editJson, type JsonEdit } from "./json-edit.ts";
import { readJson, replaceFile } from "./json-file.ts";

export type HookFileChange = {
  file: string;
  scope: "project" | "user";
  /** What is to be changed, seeing what is there; undefined: there is no file. */
  plan(content: JsonObject | undefined): readonly JsonEdit[];
};

/** `after` is the same text as `before` where nothing is to be changed. */
export type HookFileTexts = { before: string | undefined; after: string | undefined };

export function previewHookFile({ file, plan }: Omit<HookFileChange, "scope">): HookFileTexts {
  // Read as every reader does first: a file that is not understood is left alone.
  const content = readJson(file);
  const before = content === undefined ? undefined : readFileSync(file, "utf8");
  const edits = plan(content);
  return { before, after: edits.length === 0 ? before : editJson(before, edits) };
}

export function saveHookFile(change: HookFileChange): HookFileTexts {
  const { file, scope } = change;
  const seen = previewHookFile(change);
  if (isUnchanged(seen)) return seen;
  makeFolder(dirname(file), scope);
  return withFileLock(`${file}.lock`, (stillOurs) => {
    const texts = previewHookFile(change);
    if (isUnchanged(texts)) return texts;
    // A project's file is everybody's; the user's own is private.
    if (texts.before === undefined && scope === "project") writeFileSync(file, "", { flag: "wx", mode: 0o666 });
    replaceFile(file, texts.after!, stillOurs);
    return texts;
  });
}

export function isUnchanged({ before, after }: HookFileTexts): boolean {
  return before === after;
}

function makeFolder(folder: string, scope: HookFileChange["scope"]): void {
  try {
    mkdirSync(folder, { recursive: true, mode: scope === "project" ? 0o777 : 0o700 });
  } catch (error) {
    throw new UserError("STORE_FAILED", `The folder ${folder} could not be made: ${(error as Error).message}.`);
  }
}
