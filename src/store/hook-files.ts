// Loads hooks from their files, highest level first, and decides which may run.
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fieldsOf, isObject, type JsonObject, tryParse } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { cursorToolNames, hookEvents, isHookEvent, renamedTools } from "../protocol/hook-events.ts";
import { behindDigest } from "./files-behind.ts";
import { type HookEntry, readClaudeHooks, readCursorHooks } from "./hook-entries.ts";
import { type HookFile, type HookPaths, hookFiles } from "./hook-paths.ts";
import { isApproved } from "./hook-trust.ts";
import { readJson, readJsonText } from "./json-file.ts";
import { type Plugin, pluginVariables } from "./plugins/read-plugin.ts";

export type Hook = HookEntry &
  Pick<HookFile, "level" | "file" | "cwd"> & {
    /** Additional environment variables for the hook. */
    env?: Record<string, string>;
    /** The files of a folder that the command runs, as they were when they were approved: an agent may change them. */
    behind?: { folder: string; digest: string };
  };

export type LoadedHooks = {
  hooks: Hook[];
  warnings: string[];
  /** Project files that do not run, because they were never approved or have changed since, with their hooks. */
  waiting: WaitingFile[];
};

export type WaitingFile = { file: string; text: string; hooks: Hook[] };

/** Loads the hooks that may run; those of the project only if `trusted`. Throws for an invalid file, since it may contain restrictions. */
export function loadHooks(place: HookPaths, { trusted }: { trusted: boolean }): LoadedHooks {
  const loaded: LoadedHooks = { hooks: [], warnings: [], waiting: [] };
  for (const each of hookFiles(place)) {
    if (each.ofProject && !trusted) {
      if (existsSync(each.file))
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

/** Returns all hooks including the waiting ones, ordered by level. */
export function withWaiting({ hooks, waiting }: LoadedHooks, place: HookPaths): Hook[] {
  const rank = hookFiles(place).map(({ file }) => file);
  const all = [...hooks, ...waiting.flatMap((each) => each.hooks)];
  return withoutRepeats(all).sort((left, right) => rank.indexOf(left.file) - rank.indexOf(right.file));
}

/** Reads hooks given for one run, as inline JSON or a file. Throws if they cannot be parsed. */
export function readGivenHooks(fileOrJson: string, cwd: string): { hooks: Hook[]; warnings: string[] } {
  const isText = fileOrJson.trimStart().startsWith("{");
  const file = isText ? "--hooks" : resolve(fileOrJson);
  const content = isText ? tryParse(fileOrJson) : readJson(file);
  if (isText && !isObject(content)) throw new UserError("CONFIG_INVALID", `${file}: this is not a JSON object.`);
  if (!isObject(content))
    throw new UserError("FILE_UNREADABLE", `--hooks: file not found: ${file}. Pass a file or inline JSON.`);
  const warnings: string[] = [];
  const entries = readCursorHooks({ file, content, warnings });
  return {
    hooks: entries.map((entry) => ({ ...entry, level: "user", file, cwd, ...filesBehind(entry, cwd) })),
    warnings,
  };
}

/** Reads a plugin's hooks in either format: Cursor's run in the plugin's folder, Claude's in the workspace. */
export function pluginHooks(plugin: Plugin, workspace: string): { hooks: Hook[]; warnings: string[] } {
  const warnings: string[] = [];
  const hooks = plugin.hooks.flatMap(({ file, content }) => {
    const isCursor = content["version"] !== undefined || Object.keys(fieldsOf(content["hooks"])).some(isHookEvent);
    const read = isCursor ? readCursorHooks : readClaudeHooks;
    const entries = read({ file, content, warnings });
    return entries.map(
      (entry): Hook => ({
        ...entry,
        level: "user",
        file,
        cwd: isCursor ? plugin.root : workspace,
        env: pluginVariables(plugin),
        ...filesBehind(entry, plugin.root),
      }),
    );
  });
  return { hooks, warnings };
}

function filesBehind({ command }: HookEntry, folder: string): Pick<Hook, "behind"> {
  return command === undefined ? {} : { behind: { folder, digest: behindDigest([command], folder) } };
}

/** Reads the hooks of one file, whether or not they may run; undefined if there is no file. */
export function readHookFile({
  level,
  format,
  file,
  cwd,
  ofProject,
}: HookFile): { text: string; hooks: Hook[]; warnings: string[] } | undefined {
  const found = readJsonText(file);
  if (!found) return undefined;
  const warnings: string[] = [];
  const read = format === "cursor" ? readCursorHooks : readClaudeHooks;
  const entries = read({ file, content: format === "gemini" ? asClaudeWrites(found.value) : found.value, warnings });
  const hooks = entries.map((entry): Hook => {
    return { ...entry, level, file, cwd, ...(ofProject && filesBehind(entry, cwd)) };
  });
  return { text: found.text, hooks, warnings };
}

/** Gemini's hooks under Claude's names, with timeouts in seconds. Undefined names stay, and are ignored. */
function asClaudeWrites({ hooks }: JsonObject): JsonObject {
  const names = new Map(Object.values(hookEvents).map(({ gemini, claude }) => [gemini, claude]));
  const inSeconds = (text: string) =>
    JSON.parse(text, (key, value) => (key === "timeout" ? Number(value) / 1000 : value));
  const entries = Object.entries(fieldsOf(hooks)).map(([name, groups]) => [names.get(name) ?? name, groups]);
  return { hooks: inSeconds(JSON.stringify(Object.fromEntries(entries))) };
}

/** Removes repeated hooks. A script installed for both Cursor and Claude Code is in the files of both, and must run only once. */
function withoutRepeats(hooks: readonly Hook[]): Hook[] {
  return hooks.filter((hook) => !repeatedBy(hook, hooks));
}

/** Returns the Cursor hook that does everything this Claude hook would do. */
export function repeatedBy(hook: Hook, running: readonly Hook[]): Hook | undefined {
  if (hook.format !== "claude") return undefined;
  const script = scriptOf(hook);
  if (script === undefined) return undefined;
  return running.find((other) => other.format === "cursor" && scriptOf(other) === script && coversHook(other, hook));
}

/** Returns whether `other` replaces `hook`: not if it runs less often, or is less strict when it fails. */
function coversHook(other: Hook, hook: Hook): boolean {
  const applies = other.matcher === undefined || other.matcher === matcherOf(hook);
  const strictness = ({ failClosed }: Hook) => (failClosed === undefined ? 1 : failClosed ? 2 : 0);
  return other.event === hook.event && applies && strictness(other) >= strictness(hook);
}

function matcherOf({ matcher }: Hook): string | undefined {
  return matcher === undefined ? undefined : renamedTools(matcher, cursorToolNames);
}

/** `X --host cursor` and `X --host claude` are the same script. Returns undefined without `--host`. */
function scriptOf({ command, format, cwd }: Hook): string | undefined {
  const end = ` --host ${format}`;
  if (!command?.endsWith(end)) return undefined;
  const script = command.slice(0, -end.length).replace(/^("\$CLAUDE_PROJECT_DIR"|\$CLAUDE_PROJECT_DIR|\.)\//, "");
  return /^['"]?\//.test(script) ? script : `${cwd}/${script}`;
}
