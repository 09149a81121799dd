// Changes a hook file, or previews the change.
import type { JsonObject } from "../json/object.ts";
import { type ConfigContent, type ConfigFile, editConfig, readConfig } from "./config-edit.ts";
import { editJson, type JsonEdit } from "./json-edit.ts";

export type HookFileChange = ConfigFile & {
  /** Returns the edits for the current content, which is undefined if there is no file. */
  plan(content: JsonObject | undefined): readonly JsonEdit[];
};

/** A hook file's text before and after an edit. Both are equal if nothing changes. */
export type HookFileTexts = { before: string | undefined; after: string | undefined };

export function previewHookFile({ file, plan }: Omit<HookFileChange, "scope">): HookFileTexts {
  return fileTexts(readConfig(file), plan);
}

export function saveHookFile(change: HookFileChange): HookFileTexts {
  let texts = previewHookFile(change);
  if (isUnchanged(texts)) return texts;
  editConfig(change, (current) => {
    texts = fileTexts(current, change.plan);
    return isUnchanged(texts) ? undefined : texts.after;
  });
  return texts;
}

export function isUnchanged({ before, after }: HookFileTexts): boolean {
  return before === after;
}

function fileTexts(current: ConfigContent, plan: HookFileChange["plan"]): HookFileTexts {
  const before = current?.text;
  const edits = plan(current?.content);
  return { before, after: edits.length === 0 ? before : editJson(before, edits) };
}
