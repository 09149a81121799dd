// A store as the original writes it, made by hand from its description.
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { projectId } from "../../src/store/chats/layout.ts";
import { openDatabase } from "../../src/store/sqlite.ts";

export const originalBlobs = [
  { role: "system", content: "You are an agent." },
  { role: "user", content: [{ type: "text", text: "<user_info>\nOS: linux\n</user_info>" }] },
  { role: "user", content: [{ type: "text", text: "<user_query>\nread a.txt and b.txt\n</user_query>" }] },
  {
    id: "1",
    role: "assistant",
    content: [
      { type: "reasoning", text: "Hm.", signature: "abc" },
      { type: "text", text: "I read." },
      { type: "tool-call", toolCallId: "t1", toolName: "Read", args: { path: "a.txt" } },
      { type: "tool-call", toolCallId: "t2", toolName: "Read", args: { path: "b.txt" } },
    ],
  },
  { role: "tool", id: "t1", content: [{ type: "tool-result", toolName: "Read", toolCallId: "t1", result: "A" }] },
  {
    role: "tool",
    id: "t2",
    content: [
      { type: "tool-result", toolName: "Read", toolCallId: "t2", result: [{ type: "text", text: "B" }], isError: true },
    ],
    providerOptions: { cursor: { highLevelToolCallResult: {} } },
  },
  { id: "1", role: "assistant", content: [{ type: "text", text: "Done." }] },
  {
    role: "user",
    content: "<timestamp>Monday</timestamp>\n<user_query>\nthanks\n</user_query>",
  },
  { id: "1", role: "assistant", content: [{ type: "text", text: "You are welcome." }] },
];

export type OriginalOptions = {
  order?: number[];
  root?: boolean;
  journal?: "wal" | "delete";
  meta?: (json: string) => string | Buffer;
};

/** Inserted in the given order; the root names them in the right one, and holds the other fields that were seen. */
export function writeOriginalStore(
  place: { configDir: string; workspace: string },
  messages: readonly object[] = originalBlobs,
  options: OriginalOptions = {},
): string {
  const id = randomUUID();
  const folder = join(place.configDir, "chats", projectId(place.workspace), id);
  mkdirSync(folder, { recursive: true });
  const database = openDatabase(join(folder, "store.db"));
  database.exec(
    `PRAGMA journal_mode = ${options.journal ?? "wal"}; CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)`,
  );
  const insert = database.prepare("INSERT OR IGNORE INTO blobs VALUES (?, ?)");
  const data = messages.map((message) => Buffer.from(JSON.stringify(message)));
  for (const index of options.order ?? data.keys()) insert.run(sha(data[index]!), data[index]!);
  const root = Buffer.concat([
    ...data.map((each) => Buffer.concat([Buffer.from([0x0a, 0x20]), Buffer.from(sha(each), "hex")])),
    Buffer.from([0x2a, 0x04, 0x08, 0x80, 0x01, 0x10]),
    Buffer.concat([Buffer.from([0x42, 0x20]), Buffer.alloc(32, 7)]),
  ]);
  if (options.root !== false) insert.run(sha(root), root);
  const meta = JSON.stringify({
    agentId: id,
    latestRootBlobId: sha(root),
    name: "New Agent",
    mode: "auto-run",
    createdAt: 1_761_698_454_965,
    isRunEverything: true,
  });
  const value = options.meta?.(meta) ?? Buffer.from(meta).toString("hex");
  database.prepare("INSERT INTO meta VALUES ('0', ?)").run(value);
  database.close();
  return folder;
}

export const sha = (data: Uint8Array) => createHash("sha256").update(data).digest("hex");
