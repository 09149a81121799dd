// Hooks as they stand in the files: which may run, and what each says, the highest level first.
import { resolve } from "node:path";
import { isObject, type JsonObject, tryParse } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { type HookEntry, readClaudeHooks, readCursorHooks } from "./hook-entries.ts";
import { type HookFile, type HookPaths, hookFiles, isThere } from "./hook-paths.ts";
import { withoutRepeats } from "./hook-repeats.ts";
import { approveHooks, isApproved } from "./hook-trust.ts";
import { readJsonText } from "./json-file.ts";

export type Hook = HookEntry & Pick<HookFile, "level" | "file" | "cwd">;

export type LoadedHooks = {
  hooks: Hook[];
  warnings: string[];
  /** Files of the project that do not run: never approved, or changed since. With what they would run. */
  waiting: WaitingFile[];
};

export type WaitingFile = { file: string; text: string; hooks: Hook[] };

/** Throws for a file that cannot be read or understood: it may hold guards. `trusted`: approved hooks of the project may run. */
export function loadHooks(place: HookPaths, { trusted }: { trusted: boolean }): LoadedHooks {
  const loaded: LoadedHooks = { hooks: [], warnings: [], waiting: [] };
  for (const each of hookFiles(place)) {
    if (each.ofProject && !trusted) {
      if (isThere(each.file))
        loaded.warnings.push(`${each.file}: its hooks do not run until you trust this workspace (--trust).`);
      continue;
    }
    const read = readHookFile(each);
    if (!read) continue;
    loaded.warnings.push(...read.warnings);
    const { file } = each;
    const { hooks, text } = read;
    if (!each.ofProject || hooks.length === 0 || isApproved(place, file, text)) loaded.hooks.push(...hooks);
    else loaded.waiting.push({ file, text, hooks });
  }
  return { ...loaded, hooks: withoutRepeats(loaded.hooks) };
}

/** All hooks, with those that waited, in the order of their levels. */
export function withWaiting({ hooks, waiting }: LoadedHooks, place: HookPaths): Hook[] {
  const rank = hookFiles(place).map(({ file }) => file);
  const all = [...hooks, ...waiting.flatMap((each) => each.hooks)];
  return withoutRepeats(all).sort((left, right) => rank.indexOf(left.file) - rank.indexOf(right.file));
}

/** What the user has just seen or written runs from now on: with trust given, and after `hooks install`. */
export function approveProjectHooks(place: HookPaths): void {
  approveHooks(place, loadHooks(place, { trusted: true }).waiting);
}

/** Hooks that the user gave for one run: the JSON itself, or a file with it. Throws for what cannot be understood. */
export function readGivenHooks(given: string, cwd: string): { hooks: Hook[]; warnings: string[] } {
  const isText = given.trimStart().startsWith("{");
  const file = isText ? "--hooks" : resolve(given);
  const found = isText ? { value: parseJsonObject(given, file) } : readJsonText(file);
  if (!found) throw new UserError("FILE_UNREADABLE", `--hooks: ${file} does not exist.`);
  const warnings: string[] = [];
  const entries = readCursorHooks({ file, content: found.value, warnings });
  return { hooks: entries.map((entry) => ({ ...entry, level: "user", file, cwd })), warnings };
}

function parseJsonObject(text: string, file: string): JsonObject {
  const value = tryParse(text);
  if (!isObject(value)) throw new UserError("CONFIG_INVALID", `${file}: this is not a JSON object.`);
  return value;
}

/** What stands in one file, whether or not it may run; undefined where there is none. */
export function readHookFile({
  level,
  format,
  file,
  cwd,
}: HookFile): { text: string; hooks: Hook[]; warnings: string[] } | undefined {
  const found = readJsonText(file);
  if (!found) return undefined;
  const warnings: string[] = [];
  const read = format === "claude" ? readClaudeHooks : readCursorHooks;
  const entries = read({ file, content: found.value, warnings });
  return { text: found.text, hooks: entries.map((entry) => ({ ...entry, level, file, cwd })), warnings };
}
