// Finds the active branch in the tree of entries of a Claude Code session.
import { isObject, type JsonObject, objectsIn, textIn } from "../../json/object.ts";

export type TreeEntry = JsonObject & { uuid: string; type: string };

export type Branch = {
  /** The entries of the conversation in the order they were written. */
  entries: TreeEntry[];
  /** The entry at which the conversation was last compacted. */
  boundary?: TreeEntry;
  /** The number of messages on abandoned branches of the conversation. */
  givenUp: number;
};

/** The path to the last message. It includes what precedes a compaction, whose entry begins a new tree. */
export function activeBranch(written: readonly TreeEntry[]): Branch {
  const order = new Map<string, number>();
  const byUuid = new Map<string, TreeEntry>();
  for (const entry of written) {
    if (!order.has(entry.uuid)) order.set(entry.uuid, order.size);
    byUuid.set(entry.uuid, entry);
  }
  const all = [...byUuid.values()];
  const way = new Set<TreeEntry>();
  let at = all.findLast(isSaid);
  while (at && !way.has(at)) {
    way.add(at);
    at = parentOf(at);
  }
  addSiblings(way, all);

  const entries = all.filter((entry) => way.has(entry));
  const boundary = entries.findLast((entry) => entry.subtype === "compact_boundary");
  return { entries, ...(boundary && { boundary }), givenUp: messagesIn(all) - messagesIn(entries) };

  function parentOf(entry: TreeEntry): TreeEntry | undefined {
    const named = entry.parentUuid ?? entry.logicalParentUuid;
    if (typeof named !== "string" && entry.subtype !== "compact_boundary") return undefined;
    // If the file does not contain the parent, use the entry that was written just before.
    return byUuid.get(String(named)) ?? all[order.get(entry.uuid)! - 1];
  }
}

/**
 * Parallel calls are lines of one message, and each result is a child of its own call, so the path to a leaf misses the
 * others: adds everything that belongs to a message on the path.
 */
function addSiblings(way: Set<TreeEntry>, all: readonly TreeEntry[]): void {
  const messageIds = new Set<string>();
  for (const entry of way) {
    const id = messageIdOf(entry);
    if (id !== undefined) messageIds.add(id);
  }
  const callIds = new Set<string>();
  for (const entry of all) {
    const id = messageIdOf(entry);
    if (id === undefined || !messageIds.has(id)) continue;
    way.add(entry);
    for (const block of blocksOf(entry)) if (block.type === "tool_use") callIds.add(String(block.id));
  }
  for (const entry of all) {
    if (entry.type !== "user" || way.has(entry)) continue;
    const blocks = blocksOf(entry);
    const answersCall = blocks.some((block) => block.type === "tool_result" && callIds.has(String(block.tool_use_id)));
    if (answersCall) way.add(entry);
  }
}

export function isSaid({ type }: TreeEntry): boolean {
  return type === "user" || type === "assistant";
}

function messageIdOf(entry: TreeEntry): string | undefined {
  return entry.type === "assistant" ? textIn(entry.message, "id") : undefined;
}

function blocksOf(entry: TreeEntry): JsonObject[] {
  const content = isObject(entry.message) ? entry.message.content : undefined;
  return objectsIn(content);
}

function messagesIn(entries: readonly TreeEntry[]): number {
  const ids = entries.filter(isSaid).map((entry) => messageIdOf(entry) ?? entry.uuid);
  return new Set(ids).size;
}
