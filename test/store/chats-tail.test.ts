// Opening a long chat: only its end is read, and still nothing that was altered or lost goes unseen.
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { Message } from "../../src/protocol/message.ts";
import type { ChatWriter } from "../../src/store/chats/chat.ts";
import { openStore } from "../../src/store/chats/connection.ts";
import { modelView, readHistory, readMeta, readView } from "../../src/store/chats/history.ts";
import { openChat } from "../../src/store/chats/open-chat.ts";
import { readMessages } from "../../src/store/chats/read-chat.ts";
import { rootFromIds } from "../../src/store/chats/root.ts";
import { readTail } from "../../src/store/chats/tail.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { random } from "../protocol/random.ts";
import { addThreeTurns, addTurn, assistant, createPlace, newChat, type Place, text, user } from "./chat-support.ts";

let place: Place;
let chat: ChatWriter;
let folder: string;
beforeEach(() => {
  place = createPlace();
  chat = newChat(place);
  folder = chat.metadata.folder;
});
afterEach(() => {
  chat.close();
  place.remove();
});

/** Both ways to read the store as it lies now. */
function bothWays() {
  const store = openStore(join(folder, "store.db"), "read");
  try {
    const meta = readMeta(store);
    const view = readView(store);
    const history = readHistory(store, meta);
    return { view, history, tail: readTail(store, meta.latestRootBlobId, view.after) };
  } finally {
    store.close();
  }
}

function change(sql: string): void {
  const database = openDatabase(join(folder, "store.db"));
  database.exec(sql);
  database.close();
}

/** Many messages, more than are read at a time; of all but the last turn the model is told in short. */
function longChat(): Message[] {
  for (let index = 0; index < 300; index++) chat.append(user(`question ${index}`), assistant(text(`answer ${index}`)));
  chat.replace([user("in short")]);
  addThreeTurns(chat);
  const told = [...chat.messages];
  chat.close();
  return told;
}

const first = "SELECT blob FROM courser_messages ORDER BY sequence LIMIT 1";

it("reading only the end of a chat gives the same as the end of the whole history", () => {
  const { below } = random(3);
  for (let round = 0; round < 12; round++) {
    for (let step = below(40); step > 0; step--) {
      const kind = below(10);
      if (kind === 0) addThreeTurns(chat);
      else if (kind === 1) chat.replace(chat.messages.slice(-2));
      else if (kind === 2 && chat.turn > 1) chat.rewindTo(1 + below(chat.turn));
      else addTurn(chat, `Wörter ${"ö\0\u{1f600}".repeat(below(40))}`, assistant(text("x".repeat(below(3000)))));
    }
    const told = [...chat.messages];
    chat.close();
    const { view, history, tail } = bothWays();
    expect(history.problems).toEqual([]);
    const last = history.rows.at(-1);
    expect(tail).toMatchObject({ turn: last?.turn ?? 0, lastSequence: last?.sequence ?? 0 });
    expect(tail?.root.build()).toEqual(rootFromIds(history.rows.map((row) => row.blob)).build());
    expect(tail?.lastNumber).toBe(history.lastNumber);
    expect(modelView(view, tail!.messages)).toEqual(modelView(view, history.messages));
    expect(readMessages(folder)).toEqual(told);
    chat = openChat(folder);
    expect(chat.messages).toEqual(told);
  }
});

it("when a long chat is continued from its end, its root still names every message", () => {
  const told = longChat();
  chat = openChat(folder);
  expect(chat.messages).toEqual(told);
  addTurn(chat, "and now?", assistant(text("now")));
  chat.close();
  const { history, tail } = bothWays();
  expect(history.problems).toEqual([]);
  expect(history.messages).toHaveLength(600 + 8 + 2);
  expect(tail?.messages).toHaveLength(8 + 2);
});

it.each([
  ["STORE_BLOB_HASH", "altered", `UPDATE blobs SET data = CAST('{"role":"user"}' AS BLOB) WHERE id = (${first})`],
  ["STORE_BLOB_HASH", "emptied", `UPDATE blobs SET data = NULL WHERE id = (${first})`],
  ["STORE_MISSING_BLOB", "lost", `DELETE FROM blobs WHERE id = (${first})`],
  ["STORE_CORRUPT", "moved", "UPDATE courser_messages SET sequence = -1 WHERE sequence = 300"],
  ["STORE_CORRUPT", "taken out of the order", "DELETE FROM courser_messages WHERE sequence = 300"],
])("reading the end of a chat says %s when a message is %s that the model no longer gets", (code, _what, sql) => {
  longChat();
  change(sql);
  expect(bothWays().tail).toBeUndefined();
  expect(() => openChat(folder)).toThrow(expect.objectContaining({ code }));
});

it("when another program wrote last, a chat's whole history is read", () => {
  longChat();
  change("UPDATE courser_state SET value = '\"0\"' WHERE key = '.root'");
  expect(bothWays().tail).toBeUndefined();
  chat = openChat(folder);
  expect(chat.messages.at(-1)).toEqual(assistant(text("14")));
});
