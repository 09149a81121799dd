// A chat as the original CLI leaves it: two tables, messages as JSON blobs, a root that names them, no tables of ours.
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chatFolder } from "../../src/store/chats/layout.ts";
import { openDatabase } from "../../src/store/sqlite.ts";

export type OriginalChat = {
  id: string;
  name?: string;
  prompts: readonly string[];
  createdAt?: number;
  /** The file beside the store; without a title, as the original writes it. `false`: none. */
  beside?: false | { updatedAtMs: number; hasConversation?: boolean; cwd?: string; title?: string };
};

/** The folder of the chat. */
export function writeOriginalChat(place: { configDir: string; workspace: string }, chat: OriginalChat): string {
  const folder = chatFolder(place.configDir, place.workspace, chat.id);
  const createdAt = chat.createdAt ?? 1_761_698_454_965;
  mkdirSync(folder, { recursive: true });
  const messages = [
    { role: "user", content: "<user_info>\nOS: linux\n</user_info>" },
    ...chat.prompts.flatMap((prompt, index) => [
      { role: "user", content: [{ type: "text", text: `<user_query>\n${prompt}\n</user_query>` }] },
      { id: "1", role: "assistant", content: [{ type: "text", text: `Answer ${index + 1}.` }] },
    ]),
  ].map((message) => Buffer.from(JSON.stringify(message)));
  const root = Buffer.concat(messages.flatMap((data) => [Buffer.from([0x0a, 0x20]), hash(data)]));
  const meta = {
    agentId: chat.id,
    latestRootBlobId: hash(root).toString("hex"),
    name: chat.name ?? "New Agent",
    mode: "default",
    createdAt,
  };
  const database = openDatabase(join(folder, "store.db"));
  database.exec(
    "CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB); CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT)",
  );
  const rows = [...messages, root].map((data) => `('${hash(data).toString("hex")}', x'${data.toString("hex")}')`);
  database.exec(`INSERT INTO blobs VALUES ${rows.join(", ")}`);
  database.exec(`INSERT INTO meta VALUES ('0', '${Buffer.from(JSON.stringify(meta)).toString("hex")}')`);
  database.close();
  if (chat.beside !== false) {
    const facts = { updatedAtMs: createdAt, hasConversation: true, cwd: place.workspace, ...chat.beside };
    writeFileSync(join(folder, "meta.json"), JSON.stringify({ schemaVersion: 1, createdAtMs: createdAt, ...facts }));
  }
  return folder;
}

function hash(data: Buffer): Buffer {
  return createHash("sha256").update(data).digest();
}
