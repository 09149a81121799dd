// Adds a rule to a configuration file that people edit: comments, order and every other field stay as they are.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { UserError } from "../protocol/error-codes.ts";
import { isObject, type JsonObject } from "../protocol/json-object.ts";
import { withFileLock } from "./file-lock.ts";
import { readJson, replaceFile } from "./json-file.ts";
import { type JsonPlace, parseJsonc, placesIn } from "./jsonc.ts";

export type RuleAddition = { list: "allow" | "deny"; rule: string; scope: "user" | "project" };

/** Saved whole or not at all. False: it was there already, and the file was left alone. */
export function addRule(file: string, { list, rule, scope }: RuleAddition): boolean {
  makeFolder(dirname(file), scope);
  return withFileLock(`${file}.lock`, (stillOurs) => {
    const current = readJson(file);
    if (listIn(file, current ?? {}, list).includes(rule)) return false;
    if (current === undefined && scope === "project") writeFileSync(file, "{}\n", { flag: "wx", mode: 0o666 });
    const text = current === undefined ? newFile(scope) : readFileSync(file, "utf8");
    replaceFile(file, withRule(text, list, rule), stillOurs);
    return true;
  });
}

/** A project's folder is everybody's; the user's own is private. */
function makeFolder(folder: string, scope: RuleAddition["scope"]): void {
  try {
    mkdirSync(folder, { recursive: true, mode: scope === "project" ? 0o777 : 0o700 });
  } catch (error) {
    throw new UserError("STORE_FAILED", `The folder ${folder} could not be made: ${(error as Error).message}.`);
  }
}

function newFile(scope: RuleAddition["scope"]): string {
  const permissions = '  "permissions": {\n    "allow": [],\n    "deny": []\n  }';
  return scope === "user" ? `{\n  "version": 1,\n${permissions}\n}\n` : `{\n${permissions}\n}\n`;
}

/** What is there must be what it should be: a list that is something else is not repaired behind the user's back. */
function listIn(file: string, content: JsonObject, list: string): unknown[] {
  const permissions = Object.hasOwn(content, "permissions") ? content["permissions"] : {};
  if (!isObject(permissions)) throw unfit(file, '"permissions" is no object');
  const rules = Object.hasOwn(permissions, list) ? permissions[list] : [];
  if (!Array.isArray(rules)) throw unfit(file, `"permissions.${list}" is no list`);
  return rules;
}

function unfit(file: string, why: string): UserError {
  return new UserError("CONFIG_INVALID", `${file}: ${why}. Correct it first; it was left as it is.`);
}

/** The text with one more entry at the end of a list. Checked: read again, it says what it said, and the rule. */
export function withRule(text: string, list: "allow" | "deny", rule: string): string {
  const mark = text.startsWith("\ufeff") ? "\ufeff" : "";
  const body = text.slice(mark.length);
  const places = placesIn(body);
  const value = JSON.stringify(rule);
  const rules = places.get(`permissions.${list}`);
  const permissions = places.get("permissions");
  const changed = rules
    ? insertInto(body, rules, value)
    : permissions
      ? insertInto(body, permissions, `"${list}": [${value}]`)
      : insertInto(body, places.get("")!, `"permissions": { "${list}": [${value}] }`);
  if (!isDeepStrictEqual(parseJsonc(changed), withEntry(parseJsonc(body) as JsonObject, list, rule)))
    throw new Error("the edit of a configuration file went wrong; nothing was saved");
  return mark + changed;
}

function withEntry(content: JsonObject, list: string, rule: string): JsonObject {
  const permissions = (content["permissions"] ?? {}) as JsonObject;
  return {
    ...content,
    permissions: { ...permissions, [list]: [...((permissions[list] ?? []) as unknown[]), rule] },
  };
}

/** At the end of an object or a list, on a line of its own where the last one has that. */
function insertInto(text: string, { start, end, lastChild }: JsonPlace, entry: string): string {
  const close = end - 1;
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
  if (lastChild === undefined) {
    const inside = text.slice(start + 1, close);
    // In a file of one line it stays on that line; a comment inside may reach to the end of its line.
    if (inside.trim() === "" && !text.trim().includes("\n"))
      return `${text.slice(0, start + 1)}${entry}${text.slice(close)}`;
    const indent = indentAt(text, start);
    const step = indent.includes("\t") ? "\t" : "  ";
    const head = text.slice(0, close).trimEnd();
    return `${head}${lineBreak}${indent}${step}${entry}${lineBreak}${indent}${text.slice(close)}`;
  }
  // Behind the last one may stand a comma, and a comment that belongs to it.
  const rest = /^([ \t]*,)?((?:[ \t]|\/\*(?:(?!\*\/).)*\*\/)*(?:\/\/[^\r\n]*)?)/.exec(text.slice(lastChild, close))!;
  const [whole, comma = "", tail = ""] = rest;
  const after = lastChild + whole.length;
  const spread = /[\r\n]/.test(text.slice(start, lastChild)) && /^\s*[\r\n]/.test(text.slice(after));
  const separator = spread || tail.includes("//") ? lineBreak + indentAt(text, lastChild) : " ";
  return `${text.slice(0, lastChild)},${tail.trimEnd()}${separator}${entry}${comma.trim()}${text.slice(after)}`;
}

/** The blanks that the line of a character begins with. */
function indentAt(text: string, at: number): string {
  const from = text.lastIndexOf("\n", at - 1) + 1;
  return /^[ \t]*/.exec(text.slice(from))![0];
}
