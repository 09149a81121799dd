// Records which hooks of a project the user has approved: a hash of each file, next to the trust marker.
import { join, relative } from "node:path";
import { isObject, tryParse } from "../json/object.ts";
import { sha256 } from "./chats/sha256.ts";
import { behindDigest } from "./files-behind.ts";
import { readJson, replaceFile } from "./json-file.ts";
import { projectDir } from "./project.ts";

type TrustPaths = { configDir: string; workspace: string };

/** Returns whether the user has approved exactly this file and the scripts that it names: only what they have seen may run. */
export function isApproved(place: TrustPaths, file: string, text: string): boolean {
  return approvedIn(place)[relativeName(place, file)] === hashOf(place, text);
}

function hashOf({ workspace }: TrustPaths, text: string): string {
  const behind = behindDigest(commandsIn(tryParse(text) ?? text), workspace);
  return behind === "" ? sha256(text) : sha256(`${text}\0${behind}`);
}

/** Returns the command lines in a hook file of either format; the whole text if it cannot be parsed. */
function commandsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap((each) => (typeof each === "string" ? [] : commandsIn(each)));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    typeof each === "string" && key !== "command" ? [] : commandsIn(each),
  );
}

/** Records that the user approved these files. The approval ends when they change. */
export function approveHooks(place: TrustPaths, files: readonly { file: string; text: string }[]): void {
  if (files.every(({ file, text }) => isApproved(place, file, text))) return;
  const approved = { ...approvedIn(place) };
  for (const { file, text } of files) approved[relativeName(place, file)] = hashOf(place, text);
  save(place, approved);
}

/** Copies the approvals of one workspace to another, with the same hashes. */
export function inheritHooks(from: TrustPaths, to: string): void {
  const files = approvedIn(from);
  if (Object.keys(files).length === 0) return;
  save({ ...from, workspace: to }, { ...files, ...approvedIn({ ...from, workspace: to }) });
}

function save(place: TrustPaths, files: Record<string, unknown>): void {
  replaceFile(recordFile(place), `${JSON.stringify({ workspacePath: place.workspace, files }, null, 2)}\n`);
}

function approvedIn(place: TrustPaths): Record<string, unknown> {
  try {
    const record = readJson(recordFile(place)) ?? {};
    // Two workspaces can share this folder, so compare the recorded path.
    if (record["workspacePath"] !== place.workspace || !isObject(record["files"])) return {};
    return record["files"];
  } catch {
    return {}; // a record that cannot be read approves nothing
  }
}

function recordFile({ configDir, workspace }: TrustPaths): string {
  return join(projectDir(configDir, workspace), "hooks-approved.json");
}

function relativeName({ workspace }: TrustPaths, file: string): string {
  return relative(workspace, file).replaceAll("\\", "/");
}
