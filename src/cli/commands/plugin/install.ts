// `plugin add`, `update`, `remove`, `enable`, `disable`. What is installed is a copy of what the user saw and approved.

import { cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { UserError, usageError } from "../../../protocol/error-codes.ts";
import { configDir } from "../../../store/config-dir.ts";
import { entriesBelow } from "../../../store/entries-below.ts";
import { makeFolder } from "../../../store/json-file.ts";
import {
  hashFolder,
  installedFolder,
  type PluginRecord,
  pluginRecords,
  pluginsDir,
  saveRecord,
} from "../../../store/plugins/installed.ts";
import { readPlugin } from "../../../store/plugins/read-plugin.ts";
import { nearestName } from "../../../text/nearest.ts";
import { programName } from "../../../text/program-name.ts";
import { visible } from "../../../text/visible.ts";
import { git } from "../../../worktrees/git.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { writeStderr } from "../../stdout.ts";
import { answer } from "../answer.ts";
import { askToConfirm } from "../confirm.ts";
import { refuseAgents } from "../refuse-agents.ts";
import { contentsOf, describe } from "./contents.ts";

export async function addPlugin(invocation: Invocation, [folderOrUrl]: readonly string[]): Promise<number> {
  refuseAgents(invocation, "which plugins they have");
  const isFolder = statSync(folderOrUrl!, { throwIfNoEntry: false })?.isDirectory() === true;
  const source = isFolder ? resolve(folderOrUrl!) : folderOrUrl!;
  if (!isFolder && !/^[a-z+]+:\/\/|^[\w.-]+@[\w.-]+:/i.test(source))
    throw usageError(`${folderOrUrl} is neither a directory nor a git URL.`);
  return install(invocation, { source, ref: flagText(invocation.line.flags, "git-ref") });
}

export async function updatePlugins(invocation: Invocation, words: readonly string[]): Promise<number> {
  refuseAgents(invocation, "which plugins they have");
  const records = pluginRecords(configDir(invocation.env));
  const names = words.length > 0 ? words : Object.keys(records);
  const wanted = names.map((name) => recordOf(name, records));
  if (wanted.length === 0) return answer("No plugins are installed.\n");
  const gitRef = flagText(invocation.line.flags, "git-ref");
  let code = 0;
  for (const { source, ref } of wanted) code ||= await install(invocation, { source, ref: gitRef ?? ref });
  return code;
}

export async function removePlugins(invocation: Invocation, words: readonly string[]): Promise<number> {
  refuseAgents(invocation, "which plugins they have");
  const config = configDir(invocation.env);
  const records = pluginRecords(config);
  for (const name of words) recordOf(name, records);
  for (const name of words) {
    saveRecord(config, name, undefined);
    rmSync(installedFolder(config, name), { recursive: true, force: true });
  }
  return answer(words.map((name) => `✓ Removed the plugin ${name}\n`).join(""));
}

export const enablePlugin = (invocation: Invocation, words: readonly string[]) =>
  switchPlugin(invocation, words, false);
export const disablePlugin = (invocation: Invocation, words: readonly string[]) =>
  switchPlugin(invocation, words, true);

async function switchPlugin(invocation: Invocation, [name]: readonly string[], disabled: boolean): Promise<number> {
  refuseAgents(invocation, "which plugins they have");
  const config = configDir(invocation.env);
  const { disabled: _, ...record } = recordOf(name!, pluginRecords(config));
  saveRecord(config, name!, { ...record, ...(disabled && { disabled }) });
  return answer(`✓ ${disabled ? "Disabled" : "Enabled"} the plugin ${name}\n`);
}

type Wanted = { source: string; ref: string | undefined };

async function install(invocation: Invocation, { source, ref }: Wanted): Promise<number> {
  const config = configDir(invocation.env);
  makeFolder(pluginsDir(config));
  const temporary = mkdtempSync(join(pluginsDir(config), "new-"));
  try {
    const folder = join(temporary, "plugin");
    await fetchSource({ source, ref }, folder, invocation.env);
    const plugin = readPlugin(folder, "user");
    const { name } = plugin;
    const installedRecord = pluginRecords(config)[name];
    if (installedRecord && installedRecord.source !== source)
      throw usageError(
        `A plugin ${name} is installed from ${installedRecord.source}. Remove it first: ${invocation.name} plugin remove ${name}`,
      );
    const hash = hashFolder(folder);
    const target = installedFolder(config, name);
    const isSame = installedRecord?.hash === hash && existsSync(target) && hashFolder(target) === hash;
    if (isSame) return answer(`✓ ${name} is up to date.\n`);
    const lines = [
      `${name}${plugin.version === undefined ? "" : ` ${plugin.version}`} from ${source}`,
      ...describe(contentsOf(plugin)),
    ];
    writeStderr(visible(`${lines.join("\n")}\n`));
    const command = installedRecord ? `plugin update ${name} --yes` : `plugin add ${source} --yes`;
    if (!(await askToConfirm(invocation, "Install it, and let it run this?", command)))
      return answer("Nothing was installed.\n");
    replaceFolder(folder, target);
    saveRecord(config, name, { source, ...(ref !== undefined && { ref }), hash, addedAt: new Date().toISOString() });
    return answer(visible(`✓ ${installedRecord ? "Updated" : "Installed"} the plugin ${name}\n`));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

async function fetchSource({ source, ref }: Wanted, folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  const isTaken = withinLimits();
  if (statSync(source, { throwIfNoEntry: false })?.isDirectory() && ref === undefined) {
    const filter = (path: string) => path !== join(source, ".git") && isTaken(path);
    cpSync(source, folder, { recursive: true, verbatimSymlinks: true, filter });
    return;
  }
  const call = { cwd: dirname(folder), env };
  await git(["clone", "--quiet", "--no-checkout", "--", source, folder], call);
  await git(["checkout", "--quiet", "--detach", ref ?? "HEAD"], { ...call, cwd: folder });
  rmSync(join(folder, ".git"), { recursive: true, force: true });
  for (const { parentPath, name } of entriesBelow(folder)) isTaken(join(parentPath, name));
}

/** The maximum size of a plugin. Its files are read at each start, to check that they are as approved. */
const maxMebibytes = 64;
const maxEntries = 10_000;

/** Returns a check for each path of a plugin. Refuses pipes and devices, which have no contents to approve. */
function withinLimits(): (path: string) => boolean {
  let [entries, bytes] = [0, 0];
  return (path) => {
    const stat = lstatSync(path);
    if (!stat.isFile() && !stat.isDirectory() && !stat.isSymbolicLink())
      throw new UserError("CONFIG_INVALID", `${path} is neither a file nor a directory. Remove it from the plugin.`);
    if (stat.isFile()) bytes += stat.size;
    if (++entries <= maxEntries && bytes <= maxMebibytes * 2 ** 20) return true;
    throw new UserError(
      "CONFIG_INVALID",
      `This plugin is too large: at most ${maxEntries} files and directories of ${maxMebibytes} MiB in all are installed. Remove what it does not need.`,
    );
  };
}

/** Replaces the old folder; it is missing only between two renames. */
function replaceFolder(folder: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
  const old = `${target}.old`;
  rmSync(old, { recursive: true, force: true });
  if (existsSync(target)) renameSync(target, old);
  renameSync(folder, target);
  rmSync(old, { recursive: true, force: true });
}

function recordOf(name: string, records: Record<string, PluginRecord>): PluginRecord {
  const record = Object.hasOwn(records, name) ? records[name] : undefined;
  if (record) return record;
  const near = nearestName(name, Object.keys(records));
  throw usageError(
    `No plugin ${name} is installed.${near ? ` Did you mean ${near}?` : ""} See: ${programName()} plugin list`,
  );
}
