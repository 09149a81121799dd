// Adds and removes rules in a configuration file that people edit: comments, order and all other fields are preserved.
import { isObject, type JsonObject } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { editConfig } from "./config-edit.ts";
import { editJson } from "./json-edit.ts";

export type RuleAddition = { list: "allow" | "deny"; rule: string; scope: "user" | "project" };

/** Saves atomically. Returns false if the rule was already there; the file is then left alone. */
export function addRule(file: string, { list, rule, scope }: RuleAddition): boolean {
  return editConfig({ file, scope }, (current) =>
    listIn(file, current?.content ?? {}, list).includes(rule)
      ? undefined
      : editJson(current?.text ?? newFile(scope), [{ type: "append", path: ["permissions", list], value: rule }]),
  );
}

/** Removes a permission rule from a file. Returns false, and changes nothing, if the rule is not in the list. */
export function removeRule(file: string, { list, rule, scope }: RuleAddition): boolean {
  return editConfig({ file, scope }, (current) => {
    const index = listIn(file, current?.content ?? {}, list).indexOf(rule);
    return index < 0 ? undefined : editJson(current!.text, [{ type: "remove", path: ["permissions", list, index] }]);
  });
}

function newFile(scope: RuleAddition["scope"]): string {
  const permissions = '  "permissions": {\n    "allow": [],\n    "deny": []\n  }';
  return scope === "user" ? `{\n  "version": 1,\n${permissions}\n}\n` : `{\n${permissions}\n}\n`;
}

/** Returns the permission rules of a list. Throws if the value is not a list: it is not repaired without the user's knowledge. */
function listIn(file: string, content: JsonObject, list: string): unknown[] {
  const permissions = Object.hasOwn(content, "permissions") ? content["permissions"] : {};
  if (!isObject(permissions)) throw unfitFileError(file, '"permissions" is not an object');
  const rules = Object.hasOwn(permissions, list) ? permissions[list] : [];
  if (!Array.isArray(rules)) throw unfitFileError(file, `"permissions.${list}" is not a list`);
  return rules;
}

function unfitFileError(file: string, why: string): UserError {
  return new UserError("CONFIG_INVALID", `${file}: ${why}. Fix it first; the file was not changed.`);
}
