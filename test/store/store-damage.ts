// Stores that somebody damaged, ids that are none, and odd contents.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findChat } from "../../src/store/chats/find-chat.ts";
import { chatFolder } from "../../src/store/chats/layout.ts";
import { openChat } from "../../src/store/chats/open-chat.ts";
import { readChat, readMessages } from "../../src/store/chats/read-chat.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { chanceOf } from "../support/chance.ts";
import { addThreeTurns, assistant, createPlace, newChat, text, user } from "./chat-support.ts";
import { failureOf, type Input, resumes, type StoreSeen } from "./store-seen.ts";

const chance = chanceOf("store/store-damage");

export function corrupt(input: Input): StoreSeen {
  const [first, last] = (input["bytes"] ?? [0, 16]) as [number, number];
  return damage((file, bytes) => {
    const fillings: Record<string, () => number> = { zeros: () => 0, ones: () => 255 };
    const filling = fillings[String(input["with_"] ?? input["with"])] ?? (() => Math.floor(chance() * 256));
    for (let at = first; at < Math.min(last, bytes.length); at++) bytes[at] = filling();
    writeFileSync(file, bytes);
  });
}

export function replaced(input: Input): StoreSeen {
  return damage((file) => truncateSync(file, Number(input["size"] ?? 0)));
}

function damage(change: (file: string, bytes: Buffer) => void): StoreSeen {
  using place = createPlace();
  const other = newChat(place);
  addThreeTurns(other);
  other.close();
  const chat = newChat(place);
  addThreeTurns(chat);
  chat.close();
  const { folder } = chat.metadata;
  const file = join(folder, "store.db");
  change(file, readFileSync(file));
  const damagedBytes = readFileSync(file);
  const seen = [() => openChat(folder), () => readChat(folder), () => openChat(folder)].map((attempt) =>
    failureOf(attempt),
  );
  const aside = readdirSync(folder).filter((name) => name.startsWith("store.db.corrupt-"));
  const isWhole = (name: string) => readFileSync(join(folder, name)).equals(damagedBytes);
  return {
    ...(seen.every((each) => each.errorCode === seen[0]!.errorCode) ? seen[0] : {}),
    keptAside: aside,
    isAsideWhole: aside.length > 0 && aside.every(isWhole),
    othersWork: resumes(other.metadata.folder),
    isNew: !isWhole("store.db"),
  };
}

export function deletedRow(input: Input): StoreSeen {
  return changeRow(input, (database, id) => database.exec(`DELETE FROM blobs WHERE id = '${id}'`));
}

export function flippedRow(input: Input): StoreSeen {
  return changeRow(input, (database, id) => {
    const data = Buffer.from(database.prepare("SELECT data FROM blobs WHERE id = ?").get(id)?.["data"] as Uint8Array);
    const at = Math.floor(chance() * data.length);
    data[at] = data[at]! ^ (1 << Math.floor(chance() * 8));
    database.prepare("UPDATE blobs SET data = ? WHERE id = ?").run(data, id);
  });
}

/** Which row: the root, or one of the messages. */
function changeRow(input: Input, change: (database: ReturnType<typeof openDatabase>, id: string) => void): StoreSeen {
  using place = createPlace();
  const chat = newChat(place);
  addThreeTurns(chat);
  chat.close();
  const { folder } = chat.metadata;
  const database = openDatabase(join(folder, "store.db"));
  const meta = String(database.prepare("SELECT value FROM meta WHERE key = '0'").get()?.["value"]);
  const { latestRootBlobId } = JSON.parse(Buffer.from(meta, "hex").toString()) as { latestRootBlobId: string };
  const messages = database.prepare("SELECT blob FROM courser_messages ORDER BY sequence").all();
  const isRoot = /root/i.test(String(input["which"] ?? ""));
  const id = isRoot ? latestRootBlobId : String(messages[Math.floor(chance() * messages.length)]?.["blob"]);
  change(database, id);
  database.close();
  const record = readChat(folder);
  const seen = failureOf(() => openChat(folder));
  const { turns, wholeTurns } = record;
  return {
    ...seen,
    namesMissing: seen.message?.includes(id) === true && record.problems.some((problem) => problem.blobs?.includes(id)),
    offersOlder: /last complete root, [0-9a-f]{64}/.test(seen.message ?? "") || (!isRoot && wholeTurns < turns.length),
    reachesModel: failureOf(() => readMessages(folder)).errorCode !== seen.errorCode,
    othersWork: record.messages.length >= (isRoot ? 8 : 7),
  };
}

/** A real chat lies where the id would lead, were it taken for a path. */
export function foreignId(input: Input): StoreSeen {
  using place = createPlace();
  const id = String(input["session_id"]);
  const chat = newChat(place);
  addThreeTurns(chat);
  chat.close();
  const trap = join(dirname(chat.metadata.folder), id);
  const canBe = !trap.includes("\0") && trap.split("/").every((name) => name.length <= 255);
  if (trap.startsWith(place.base) && canBe && !existsSync(trap)) {
    mkdirSync(trap, { recursive: true });
    copyFileSync(join(chat.metadata.folder, "store.db"), join(trap, "store.db"));
  }
  const seen = failureOf(() => findChat(place.configDir, id, place.workspace));
  const other = failureOf(() => chatFolder(place.configDir, place.workspace, id));
  return { ...seen, readsOutside: seen.errorCode === undefined || other.errorCode === undefined };
}

export function roundTrip(input: Input): StoreSeen {
  using place = createPlace();
  // The line may spell a character that JSON cannot carry.
  const content = String(input["content"])
    .replace(/\\u([0-9a-f]{4})/gi, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replace(/\\U([0-9a-f]{8})/gi, (_, digits: string) => String.fromCodePoint(Number.parseInt(digits, 16)))
    .concat(" \0 \ud800 end");
  const chat = newChat(place);
  chat.record({ type: "user", text: content });
  chat.append(user(content), assistant(text(content)));
  chat.record({ type: "done", text: content, durationMs: 1, apiDurationMs: 1 });
  chat.rename(content);
  chat.saveState("x", content);
  chat.close();
  const { messages, events, metadata } = readChat(chat.metadata.folder, { events: true });
  const texts = [
    ...messages.map(({ message }) => message.parts[0]),
    ...events.map(({ event }) => event),
    { text: metadata.title },
  ].map((part) => (part as { text: string }).text);
  const isExact = texts.length === 5 && texts.every((each) => each === content);
  return { roundtrip: isExact ? "exact" : texts.every((each) => each.endsWith("end")) ? "escaped" : "truncated" };
}
