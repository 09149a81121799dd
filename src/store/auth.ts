// Stores API keys in one owner-only file, one key per vendor.
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { isObject, type JsonObject } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import { readJson, saveJson } from "./json-file.ts";

export function authFile(configDir: string): string {
  return join(configDir, "auth.json");
}

export function readKeys(configDir: string): Record<string, string> {
  const file = authFile(configDir);
  const found = Object.create(null) as Record<string, string>;
  for (const [vendor, entry] of Object.entries(keysIn(file, readJson(file) ?? {}))) {
    if (isObject(entry) && typeof entry["key"] === "string") found[vendor] = entry["key"];
  }
  return found;
}

export function saveKey(configDir: string, vendor: string, key: string): void {
  const file = authFile(configDir);
  saveJson(file, (current) => ({
    ...current,
    version: 1,
    keys: { ...keysIn(file, current), [vendor]: { key, savedAt: new Date().toISOString() } },
  }));
  // Restrict the file's mode: if the user created it by hand, others may be able to read it.
  chmodSync(file, 0o600);
  // Programs that drive the original CLI take this file as a sign that the user is logged in.
  const settings = join(configDir, "cli-config.json");
  if (!existsSync(settings)) saveJson(settings, () => ({ version: 1 }));
}

/** Removes the key of one vendor, or all keys. Returns the vendors whose keys were removed. */
export function removeKeys(configDir: string, vendor?: string): string[] {
  const file = authFile(configDir);
  if (readJson(file) === undefined) return [];
  const removed: string[] = [];
  saveJson(file, (current) => {
    const keys = { ...keysIn(file, current) };
    for (const name of Object.keys(keys)) {
      if (vendor !== undefined && name !== vendor) continue;
      removed.push(name);
      delete keys[name];
    }
    return removed.length > 0 ? { ...current, version: 1, keys } : undefined;
  });
  return removed;
}

function keysIn(file: string, content: JsonObject): JsonObject {
  const keys = content["keys"];
  if (keys === undefined) return {};
  if (!isObject(keys))
    throw new UserError("CONFIG_INVALID", `${file}: "keys" must be an object. Delete the file and log in again.`);
  return keys;
}
