// Fingerprints a workspace without reading all of it.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { digestOf } from "../text/digest.ts";
import type { WorkspaceFingerprint } from "./recording.ts";

/** Takes names and sizes of the top level, and the commit: enough to notice another workspace. */
export function fingerprintOf(workspace: string): WorkspaceFingerprint {
  const names = readdirSync(workspace, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1));
  const sized = names.map((entry) =>
    entry.isFile() ? [entry.name, statSync(join(workspace, entry.name), { throwIfNoEntry: false })?.size] : entry.name,
  );
  const commit = commitOf(workspace);
  return { ...(commit && { commit }), entries: names.length, digest: digestOf(JSON.stringify(sized)) };
}

function commitOf(workspace: string): string | undefined {
  const folder = resolve(workspace, ".git");
  if (!existsSync(join(folder, "HEAD"))) return undefined;
  const head = readFileSync(join(folder, "HEAD"), "utf8").trim();
  const reference = /^ref: (refs\/[\w./-]+)$/.exec(head)?.[1];
  const file = reference === undefined ? undefined : join(folder, reference);
  const commit = file === undefined ? head : existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  return /^[0-9a-f]{40,64}$/.test(commit) ? commit.slice(0, 12) : undefined;
}
