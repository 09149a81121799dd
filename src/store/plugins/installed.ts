// Loads installed plugins: copies in <config>/plugins/installed, each used only while it matches what was approved.

import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../../json/object.ts";
import { programName } from "../../text/program-name.ts";
import { readJson, saveJson } from "../json-file.ts";
import { type Plugin, readPlugin } from "./read-plugin.ts";

/** `source` is its origin, a path or a git URL. `hash` covers all its files as they were approved. */
export type PluginRecord = { source: string; ref?: string; hash: string; addedAt: string; disabled?: boolean };

export type Plugins = { plugins: Plugin[]; warnings: string[] };

export function pluginsDir(configDir: string): string {
  return join(configDir, "plugins");
}

export function installedFolder(configDir: string, name: string): string {
  return join(pluginsDir(configDir), "installed", name);
}

/**
 * Loads the plugins given for this run, the user's own in `plugins/local`, and the installed ones. The first of two with the same
 * name wins.
 */
export function loadPlugins(configDir: string, pluginFolders: readonly string[] = []): Plugins {
  const found: Plugins = { plugins: pluginFolders.map((folder) => readPlugin(folder, "flag")), warnings: [] };
  const local = join(pluginsDir(configDir), "local");
  const folders = foldersIn(local).map((name) => join(local, name));
  for (const [name, record] of Object.entries(pluginRecords(configDir))) {
    if (record.disabled) continue;
    const folder = installedFolder(configDir, name);
    if (!existsSync(folder))
      found.warnings.push(
        `The plugin ${name} has lost its files. Add it again, or: ${programName()} plugin remove ${name}`,
      );
    else if (hashFolder(folder) === record.hash) folders.push(folder);
    else
      found.warnings.push(
        `The plugin ${name} has changed since it was approved and is not loaded. Approve it again: ${programName()} plugin update ${name}`,
      );
  }
  for (const folder of folders) {
    try {
      found.plugins.push(readPlugin(folder, "user"));
    } catch (error) {
      found.warnings.push(`A plugin was not loaded: ${(error as Error).message}`);
    }
  }
  const names = new Set<string>();
  return { ...found, plugins: found.plugins.filter(({ name }) => !names.has(name) && names.add(name)) };
}

export function pluginRecords(configDir: string): Record<string, PluginRecord> {
  const content = readJson(recordFile(configDir)) ?? {};
  const plugins = isObject(content["plugins"]) ? content["plugins"] : {};
  return Object.fromEntries(
    Object.entries(plugins).filter(
      (entry): entry is [string, PluginRecord] => isObject(entry[1]) && typeof entry[1]["hash"] === "string",
    ),
  );
}

/** Saves the record of a plugin, or removes it if `record` is undefined. */
export function saveRecord(configDir: string, name: string, record: PluginRecord | undefined): void {
  saveJson(recordFile(configDir), (content) => {
    const { [name]: _, ...others } = isObject(content["plugins"]) ? content["plugins"] : {};
    return { ...content, plugins: record ? { ...others, [name]: record } : others };
  });
}

/** Hashes names, types, modes and contents of everything except the .git folder. */
export function hashFolder(folder: string): string {
  const hash = process.getBuiltinModule("node:crypto").createHash("sha256");
  const visit = (current: string, prefix: string): void => {
    for (const name of readdirSync(current).sort()) {
      if (prefix === "" && name === ".git") continue;
      const path = join(current, name);
      const stat = lstatSync(path);
      hash.update(`${prefix}${name}\0${stat.mode & 0o170100}\0`);
      if (stat.isDirectory()) visit(path, `${prefix}${name}/`);
      else
        hash.update(stat.isSymbolicLink() ? readlinkSync(path) : stat.isFile() ? readFileSync(path) : "").update("\0");
    }
  };
  visit(folder, "");
  return hash.digest("hex");
}

function recordFile(configDir: string): string {
  return join(pluginsDir(configDir), "plugins.json");
}

function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map(({ name }) => name)
    .sort();
}
