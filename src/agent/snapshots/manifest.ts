// Encodes and decodes snapshots: one blob per folder, so that an unchanged folder is stored once.
import type { UnsavedReason } from "./reasons.ts";

/** The state of a path in a snapshot. `absent`: it did not exist. `unmade`: a folder that did not exist. */
export type SnapshotEntry =
  | { kind: "file"; mode: number; size: number; object: string }
  | { kind: "link"; object: string }
  | { kind: "folder"; mode: number; object?: string }
  | { kind: "unsaved"; why: UnsavedReason; stamp: string }
  | { kind: "absent" }
  | { kind: "unmade" };

/** `tree`: the roots, each with everything in it. `paths`: single entries below the roots, by absolute path. */
export type Snapshot = { kind: "tree" | "paths"; roots: readonly string[]; entries: Map<string, SnapshotEntry> };

export function decodeFolder(content: Buffer): Map<string, SnapshotEntry> {
  return decode(content.toString("utf8"));
}

/** Encodes a snapshot as text. The first line contains the kind, the format version, and the roots. */
export function encodeSnapshot({ kind, roots, entries }: Snapshot): string {
  return `${kind} 1 ${JSON.stringify(roots)}\n${encodeFolder(entries)}`;
}

export function decodeSnapshot(content: Buffer): Snapshot {
  const text = content.toString("utf8");
  const match = /^(tree|paths) 1 (\[.*\])\n/.exec(text);
  if (!match) throw new Error("it is not a snapshot of this version");
  const [head, kind, roots] = match as unknown as [string, Snapshot["kind"], string];
  return { kind, roots: JSON.parse(roots) as string[], entries: decode(text.slice(head.length)) };
}

/** Yields the objects that a manifest names, and which of them are manifests themselves. */
export function* objectsIn(
  entries: ReadonlyMap<string, SnapshotEntry>,
): Generator<{ object: string; isFolder: boolean }> {
  for (const entry of entries.values()) {
    if ("object" in entry && entry.object !== undefined)
      yield { object: entry.object, isFolder: entry.kind === "folder" };
  }
}

/**
 * Encodes the entries of a folder, one per line: `kind mode size object "name"`, or `kind why - stamp "name"` for a
 * path that was not saved.
 */
export function encodeFolder(entries: ReadonlyMap<string, SnapshotEntry>): string {
  let text = "";
  for (const [name, entry] of entries) text += `${entry.kind} ${entryFields(entry)} ${JSON.stringify(name)}\n`;
  return text;
}

function entryFields(entry: SnapshotEntry): string {
  switch (entry.kind) {
    case "file":
      return `${entry.mode.toString(8)} ${entry.size} ${entry.object}`;
    case "link":
      return `- - ${entry.object}`;
    case "folder":
      return `${entry.mode.toString(8)} - ${entry.object ?? "-"}`;
    case "unsaved":
      return `${entry.why} - ${entry.stamp.replaceAll(" ", ",") || "-"}`;
    case "absent":
    case "unmade":
      return "- - -";
  }
}

function decode(text: string): Map<string, SnapshotEntry> {
  const entries = new Map<string, SnapshotEntry>();
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [kind, mode, size, object] = line.split(" ", 4) as [SnapshotEntry["kind"], string, string, string];
    const name = JSON.parse(line.slice(kind.length + mode.length + size.length + object.length + 4)) as string;
    entries.set(name, parseEntry(kind, { mode, size, object }));
  }
  return entries;
}

function parseEntry(
  kind: SnapshotEntry["kind"],
  { mode, size, object }: Record<"mode" | "size" | "object", string>,
): SnapshotEntry {
  switch (kind) {
    case "file":
      return { kind, mode: Number.parseInt(mode, 8), size: Number(size), object };
    case "link":
      return { kind, object };
    case "folder":
      return { kind, mode: Number.parseInt(mode, 8), ...(object !== "-" && { object }) };
    case "unsaved":
      return { kind, why: mode as UnsavedReason, stamp: object === "-" ? "" : object.replaceAll(",", " ") };
    case "absent":
    case "unmade":
      return { kind };
  }
}
