// Programs that read the store of a chat, each in an order of its own: written anew from how they do it.
import { join } from "node:path";
import { openDatabase } from "../../src/store/sqlite.ts";

type Blob = { rowid: number; id: string; data: Buffer };
type Shown = { role: string; content: Record<string, any>[] };
type ReadStore = (blobs: Blob[], root: string) => Shown[];

/** By the order they take. */
export const storeReaders = { byTable, byNodes, byRoot, byFirstBytes } satisfies Record<string, ReadStore>;

/** A line a message, as a person would tell it. */
export function readStore(folder: string, read: ReadStore): string[] {
  const database = openDatabase(join(folder, "store.db"), { readOnly: true });
  const blobs = database
    .prepare("SELECT rowid, id, data FROM blobs")
    .all()
    .map((row) => ({
      rowid: Number(row["rowid"]),
      id: String(row["id"]),
      data: Buffer.from(row["data"] as Uint8Array),
    }));
  const meta = String(database.prepare("SELECT value FROM meta WHERE key = '0'").get()?.["value"]);
  database.close();
  const { latestRootBlobId } = JSON.parse(Buffer.from(meta, "hex").toString());
  return read(blobs, latestRootBlobId).flatMap((message) => {
    const said = message.content.map((part) => wordsOf(message.role, part)).filter((word) => word !== "");
    return said.length > 0 ? [`${message.role}: ${said.join(" ")}`] : [];
  });
}

/** JSON blobs as they lie in the table, inside each node that holds their hash; nodes after those they refer to. */
function byTable(blobs: Blob[]): Shown[] {
  const known = new Map(blobs.map((blob) => [blob.id, blob]));
  const parents = new Map<string, string[]>();
  for (const { id, data } of blobs.filter((blob) => !isJson(blob))) {
    const found: string[] = [];
    for (let at = 0; at < data.length - 33; ) {
      const isReference = data[at] === 0x0a && data[at + 1] === 0x20;
      const hash = data.toString("hex", at + 2, at + 34);
      if (isReference && known.has(hash)) found.push(hash);
      at += isReference ? 34 : 1;
    }
    if (found.length > 0) parents.set(id, found);
  }
  const sorted: Blob[] = [];
  const visited = new Set<string>();
  const visit = (id: string): void => {
    if (visited.has(id)) return;
    visited.add(id);
    for (const parent of parents.get(id) ?? []) visit(parent);
    sorted.push(known.get(id)!);
  };
  for (const { id } of blobs) if (!parents.has(id)) visit(id);
  for (const { id } of blobs) visit(id);

  const order = new Map<string, number>();
  for (const node of sorted.filter((blob) => !isJson(blob)))
    for (const { id } of blobs.filter(isJson))
      if (!order.has(id) && node.data.includes(Buffer.from(id, "hex"))) order.set(id, order.size);
  const last = Number.MAX_SAFE_INTEGER;
  return blobs
    .filter(isJson)
    .sort((left, right) => (order.get(left.id) ?? last) - (order.get(right.id) ?? last) || left.rowid - right.rowid)
    .map(parse)
    .filter(({ role }) => role !== "system");
}

/** Only blobs with some JSON count; the one with most references is the end; what it refers to comes before it. */
function byNodes(blobs: Blob[]): Shown[] {
  const nodes = new Map<string, { references: string[]; json: Shown }>();
  for (const { id, data } of blobs) {
    const start = data.indexOf('{"');
    if (start < 0) continue;
    const json = firstJson(data.toString("utf8", start));
    if (json === undefined) continue;
    const references: string[] = [];
    for (let at = 0; at < data.length - 33; at++) {
      if ((data[at] !== 0x0a && data[at] !== 0x12) || data[at + 1] !== 0x20) continue;
      const hash = data.subarray(at + 2, at + 34);
      const odd = hash.filter((byte) => byte < 0x20 || byte > 0x7e).length;
      if (odd < 8) continue;
      references.push(hash.toString("hex"));
      at += 33;
    }
    nodes.set(id, { references, json });
  }
  let end = "";
  for (const [id, node] of nodes) if (node.references.length > (nodes.get(end)?.references.length ?? -1)) end = id;
  const walked: Shown[] = [];
  const visited = new Set<string>();
  const walk = (id: string): void => {
    const node = nodes.get(id);
    if (!node || visited.has(id)) return;
    visited.add(id);
    for (const reference of node.references) walk(reference);
    walked.push(node.json);
  };
  walk(end);
  return walked.filter(({ role }) => role !== undefined && role !== "system");
}

/** References from the first byte of the root on, up to the first other tag. */
function byRoot(blobs: Blob[], root: string): Shown[] {
  const node = blobs.find((blob) => blob.id === root)!.data;
  const found: Shown[] = [];
  for (let at = 0; node[at] === 0x0a && node[at + 1] === 0x20; at += 34)
    found.push(parse(blobs.find((blob) => blob.id === node.toString("hex", at + 2, at + 34))!));
  return found;
}

/** The same in the first 8 KB only. */
function byFirstBytes(blobs: Blob[], root: string): Shown[] {
  const cut = blobs.map((blob) => (blob.id === root ? { ...blob, data: blob.data.subarray(0, 8192) } : blob));
  return byRoot(cut, root);
}

/** Reminders are passed over; the tags of a prompt are taken off where the text begins with them. */
function wordsOf(role: string, part: Record<string, any>): string {
  if (part["type"] === "tool-call") return `[${part["toolName"]} ${part["toolCallId"]}]`;
  if (part["type"] === "tool-result") return `${part["toolCallId"]}=${part["result"]}`;
  const value = String(part["text"] ?? "").trim();
  if (/^<(user_info|system_reminder)>/.test(value)) return "";
  return role === "user" ? (/^<user_query>\n?([\s\S]*?)\n?<\/user_query>$/.exec(value)?.[1] ?? value) : value;
}

function isJson(blob: Blob): boolean {
  return blob.data[0] === 0x7b;
}

function parse(blob: Blob): Shown {
  return JSON.parse(blob.data.toString("utf8")) as Shown;
}

function firstJson(value: string): Shown | undefined {
  for (let end = value.length; end > 0; end = value.lastIndexOf("}", end - 1)) {
    try {
      return JSON.parse(value.slice(0, end + 1)) as Shown;
    } catch {}
  }
  return undefined;
}
