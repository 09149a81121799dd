// Which hooks of a project the user has approved: a hash of each file as it stood, beside the marker of trust.
import { join, relative } from "node:path";
import { isObject, tryParse } from "../json/object.ts";
import { sha256 } from "./chats/sha256.ts";
import { behindDigest } from "./files-behind.ts";
import { readJson, replaceFile } from "./json-file.ts";
import { projectDir } from "./project.ts";

type TrustPaths = { configDir: string; workspace: string };

/** A single changed character counts, also in a script that it names: what would run is what was seen, or it does not run. */
export function isApproved(place: TrustPaths, file: string, text: string): boolean {
  return approvedIn(place)[nameOf(place, file)] === hashOf(place, text);
}

function hashOf({ workspace }: TrustPaths, text: string): string {
  const behind = behindDigest(commandsIn(tryParse(text) ?? text), workspace);
  return behind === "" ? sha256(text) : sha256(`${text}\0${behind}`);
}

/** The command lines in a hook file of either format. Where it cannot be taken apart, all of it counts. */
function commandsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap((each) => (typeof each === "string" ? [] : commandsIn(each)));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    typeof each === "string" && key !== "command" ? [] : commandsIn(each),
  );
}

/** From now on, until the file changes. */
export function approveHooks(place: TrustPaths, files: readonly { file: string; text: string }[]): void {
  if (files.every(({ file, text }) => isApproved(place, file, text))) return;
  const approved = { ...approvedIn(place) };
  for (const { file, text } of files) approved[nameOf(place, file)] = hashOf(place, text);
  save(place, approved);
}

/** What was approved in one workspace is approved in another, by the same hashes. */
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
    // Two workspaces can share the folder; the path inside tells them apart.
    if (record["workspacePath"] !== place.workspace || !isObject(record["files"])) return {};
    return record["files"];
  } catch {
    return {}; // what cannot be read approves nothing
  }
}

function recordFile({ configDir, workspace }: TrustPaths): string {
  return join(projectDir(configDir, workspace), "hooks-approved.json");
}

function nameOf({ workspace }: TrustPaths, file: string): string {
  return relative(workspace, file).replaceAll("\\", "/");
}
