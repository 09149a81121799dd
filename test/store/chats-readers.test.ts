// The orders in which programs of others read a store, written anew from their description: each must see everything.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ChatWriter } from "../../src/store/chats/chat.ts";
import { transcriptFile } from "../../src/store/chats/layout.ts";
import { openChat } from "../../src/store/chats/open-chat.ts";
import { readStore, storeReaders } from "../clients/store-readers.ts";
import {
  addThreeTurns,
  addTurn,
  assistant,
  call,
  createPlace,
  newChat,
  type Place,
  text,
  user,
} from "./chat-support.ts";

let place: Place;
let chat: ChatWriter;
beforeEach(() => {
  place = createPlace();
  chat = newChat(place);
});
afterEach(() => {
  chat.close();
  place.remove();
});

/** What a person would call the messages of the three turns. */
const conversation = [
  "user: what is 7+7?",
  "assistant: 14",
  "user: list the files, then read a.txt",
  "assistant: I look. [LS c1] [Read c2]",
  "tool: c1=a.txt",
  "tool: c2=hello",
  "assistant: It says hello.",
  "user: what is 7+7?",
  "assistant: 14",
];

describe.each(Object.entries(storeReaders))("a reader that goes %s", (_name, read) => {
  const shown = (using: typeof read) => readStore(chat.metadata.folder, using);

  it("a program that reads chat databases sees three turns with tools and repeated words in order", () => {
    addThreeTurns(chat);
    expect(shown(read)).toEqual(conversation);
  });

  it("a program that reads chat databases sees the same after a chat is closed and continued", () => {
    addThreeTurns(chat);
    chat.close();
    chat = openChat(chat.metadata.folder);
    addTurn(chat, "more", assistant(text("yes")));
    expect(shown(read)).toEqual([...conversation, "user: more", "assistant: yes"]);
  });

  it("a program that reads chat databases does not see turns that were rewound", () => {
    addThreeTurns(chat);
    chat.rewindTo(2);
    expect(shown(read)).toEqual(conversation.slice(0, 2));
    addTurn(chat, "another", assistant(text("way")));
    expect(shown(read)).toEqual([...conversation.slice(0, 2), "user: another", "assistant: way"]);
  });

  it("a program that reads chat databases sees a cut-off turn and how its call ended", () => {
    addTurn(chat, "one", assistant(text("1")));
    chat.record({ type: "user", text: "two" });
    chat.append(user("two"), assistant(call("c9", "Shell", { command: "sleep 9" })));
    chat.record({ type: "tool_start", callId: "c9", tool: "shell", args: {} });
    chat.close();
    chat = openChat(chat.metadata.folder);
    expect(shown(read)).toEqual([
      "user: one",
      "assistant: 1",
      "user: two",
      "assistant: [Shell c9]",
      expect.stringMatching(/^tool: c9=Interrupted/),
    ]);
  });
});

it("a program that lists chats by transcripts finds the workspace and a title", () => {
  addThreeTurns(chat);
  const file = transcriptFile(place.configDir, place.workspace, chat.metadata.id);
  const log = readFileSync(join(dirname(dirname(dirname(file))), "worker.log"), "utf8");
  expect(/workspacePath=(.*)$/m.exec(log)?.[1]).toBe(place.workspace);
  const first = JSON.parse(readFileSync(file, "utf8").split("\n")[0]!);
  const title = first.message.content[0].text
    .replace(/<timestamp>[\s\S]*?<\/timestamp>/g, "")
    .replace(/<\/?user_query>/g, "")
    .trim();
  expect([first.role, title]).toEqual(["user", "what is 7+7?"]);
});
