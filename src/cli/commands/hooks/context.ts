// Locates each host's hook files, and finds out which hosts are in use here.
import { existsSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { commonHookNames, furtherHookNames, type HookName, hookNames } from "../../../bridge/event.ts";
import { type InstallHost, installHosts } from "../../../bridge/install/hosts.ts";
import { findProgram } from "../../../process/find-program.ts";
import { usageError } from "../../../protocol/error-codes.ts";
import { didYouMean } from "../../../text/nearest.ts";
import { flagText } from "../../flags.ts";
import type { Invocation } from "../../main.ts";
import { contextOf, type PermissionContext } from "../permissions/context.ts";

export type HooksContext = PermissionContext & { env: NodeJS.ProcessEnv };

export function hooksContext(invocation: Invocation): HooksContext {
  return { ...contextOf(invocation), env: invocation.env };
}

/** Returns the argument of a `hooks` command, which takes at most one. Throws if there are more. */
export function onlyWord(words: readonly string[], command: string): string | undefined {
  if (words.length <= 1) return words[0];
  throw usageError(`'hooks ${command}' takes one name, not ${words.length}: ${words.join(" ")}`);
}

export function configFileOf(host: InstallHost, context: HooksContext, scope: "project" | "user"): string {
  return join(scope === "project" ? join(context.workspace, host.folder) : userFolderOf(host, context), host.file);
}

function userFolderOf(host: InstallHost, { home, configDir, env }: HooksContext): string {
  const moved = { cursor: configDir, claude: env["CLAUDE_CONFIG_DIR"], codex: env["CODEX_HOME"], gemini: undefined }[
    host.name
  ];
  return moved ? resolve(moved) : join(home, host.folder);
}

/** The hosts named with --hosts, or those found. Cursor is always included, because Courser reads its file. */
export function hostsWanted(invocation: Invocation, context: HooksContext): InstallHost[] {
  const named = flagText(invocation.line.flags, "hosts");
  if (named === undefined) return installHosts.filter((host) => isUsed(host, context));
  const names = splitList(named).map((word) => word.toLowerCase());
  const hostNames = installHosts.map((host) => host.name);
  const unknown = names.find((name) => !hostNames.some((each) => each === name));
  if (unknown !== undefined || names.length === 0) {
    const unknownName = unknown ?? "";
    const hint = didYouMean(unknownName, hostNames);
    throw usageError(`option '--hosts' must list some of ${hostNames.join(", ")}, not '${unknownName}'.${hint}`);
  }
  return installHosts.filter((host) => names.includes(host.name));
}

export function isUsed(host: InstallHost, context: HooksContext): boolean {
  if (host.name === "cursor") return true;
  const folders = [join(context.workspace, host.folder), userFolderOf(host, context)];
  return folders.some((folder) => existsSync(folder)) || host.programs.some((name) => findProgram(name, context.env));
}

export type WantedEvent = HookName | { only: string };

/** Accepts event names of the bridge or of a host. `{ only }` is an event that only one host has. */
export function eventsWanted({ line: { flags } }: Invocation): WantedEvent[] {
  const named = flagText(flags, "events");
  if (named === undefined) return [...commonHookNames];
  const wanted = splitList(named).map(eventNamed);
  if (wanted.length === 0) throw usageError(`option '--events' needs names: ${hookNames.join(", ")}.`);
  // Sort the events as in the table, not as they were typed.
  return [...hookNames.filter((name) => wanted.includes(name)), ...wanted.filter((each) => typeof each === "object")];
}

export const furtherEvents: readonly HookName[] = furtherHookNames;

function eventNamed(word: string): WantedEvent {
  const name = hookNames.find(
    (each) =>
      each.toLowerCase() === word.toLowerCase() ||
      installHosts.some((host) => host.events[each]?.toLowerCase() === word.toLowerCase()),
  );
  if (name) return name;
  const further = installHosts.flatMap((host) => host.further);
  const only = further.find((each) => each.toLowerCase() === word.toLowerCase());
  if (only !== undefined) return { only };
  const all = [...hookNames, ...further];
  throw usageError(`unknown event '${word}'.${didYouMean(word, all, ` The events are ${all.join(", ")}.`)}`);
}

function splitList(list: string): string[] {
  return list.split(/[\s,]+/).filter((word) => word !== "");
}

export function shownFile(file: string, { workspace, home }: HooksContext): string {
  if (file.startsWith(workspace + sep)) return relative(workspace, file);
  return file.startsWith(home + sep) ? `~${sep}${relative(home, file)}` : file;
}
