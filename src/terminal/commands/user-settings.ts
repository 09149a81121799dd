// What a command of the screen saves for the next time, in the user's own cli-config.json.
import { isObject, type JsonObject } from "../../json/object.ts";
import { configDir } from "../../store/config-dir.ts";
import { editConfig } from "../../store/config-edit.ts";
import { editJson } from "../../store/json-edit.ts";
import { cliConfigFile } from "../../store/rule-files.ts";

const empty = '{\n  "version": 1\n}\n';

/** Undefined: it is taken away. */
export function saveSetting(env: NodeJS.ProcessEnv, path: readonly string[], value: unknown): void {
  const file = cliConfigFile(configDir(env));
  editConfig({ file, scope: "user" }, (current) =>
    editJson(current?.text ?? empty, [
      ...(isSet(current?.content, path) ? [{ type: "remove", path } as const] : []),
      ...(value === undefined ? [] : [{ type: "set", path, value } as const]),
    ]),
  );
}

/** The file, which is made where there is none. */
export function settingsFile(env: NodeJS.ProcessEnv): string {
  const file = cliConfigFile(configDir(env));
  editConfig({ file, scope: "user" }, (current) => (current ? undefined : empty));
  return file;
}

function isSet(content: JsonObject | undefined, path: readonly string[]): boolean {
  let holder: unknown = content;
  for (const name of path) {
    if (!isObject(holder) || !Object.hasOwn(holder, name)) return false;
    holder = holder[name];
  }
  return true;
}
