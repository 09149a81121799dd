// Chats of subagents: below their parent's, left out of lists and numbers, found by their id, gone with what belongs to them.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { deleteChat } from "../../src/store/chats/delete-chat.ts";
import { findChat, forkChat, listChats, nthChat } from "../../src/store/chats/find-chat.ts";
import { chatFolder, metadataFile, transcriptFile } from "../../src/store/chats/layout.ts";
import { createChat, openChat } from "../../src/store/chats/open-chat.ts";
import { readMetadata } from "../../src/store/chats/read-chat.ts";
import { openSubagentOutput } from "../../src/store/subagent-output.ts";

const parent = "11111111-1111-4111-8111-111111111111";
const child = "22222222-2222-4222-8222-222222222222";
let configDir: string;
const workspace = "/project/space";
beforeEach(() => {
  configDir = realpathSync(mkdtempSync(join(tmpdir(), "subagent-chats-")));
  make(parent);
  make(child, { parent });
});
afterEach(() => rmSync(configDir, { recursive: true, force: true }));

function make(id: string, more: { parent?: string } = {}): void {
  const chat = createChat({ configDir, workspace }, { id, mode: "default", title: id.slice(0, 4), ...more });
  chat.record({ type: "user", text: "hello" });
  chat.append({ role: "user", parts: [{ type: "text", text: "hello" }] });
  chat.record({ type: "done", text: "hi", durationMs: 1, apiDurationMs: 1 });
  chat.close();
}

it("subagents' chats are not listed or counted, and are found by id", () => {
  expect(listChats(configDir).map(({ id }) => id)).toEqual([parent]);
  expect(listChats(configDir, { workspace, parent }).map(({ id }) => id)).toEqual([child]);
  expect(nthChat(configDir, workspace, 1)).toBe(chatFolder(configDir, workspace, parent));
  expect(() => nthChat(configDir, workspace, 2)).toThrow("there is one chat");
  const folder = findChat(configDir, child, workspace);
  expect(JSON.parse(readFileSync(metadataFile(folder), "utf8"))).toMatchObject({ isSubagent: true });
  // Also where the file beside the store is lost, or was written anew by somebody else.
  rmSync(metadataFile(folder));
  expect(readMetadata(folder).parent).toBe(parent);
  openChat(folder).close();
  expect(readMetadata(folder).parent).toBe(parent);
  expect(readFileSync(transcriptFile(configDir, workspace, child, parent), "utf8")).toContain("hello");
});

it("a forked subagent chat is an ordinary chat", () => {
  const { id, parent: none } = forkChat(configDir, findChat(configDir, child, workspace));
  expect(none).toBeUndefined();
  expect(listChats(configDir).map((chat) => chat.id)).toContain(id);
  deleteChat(configDir, findChat(configDir, id, workspace));
});

it("subagents of other CLIs are left out too", () => {
  const folder = chatFolder(configDir, workspace, "33333333-3333-4333-8333-333333333333");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "store.db"), "");
  writeFileSync(metadataFile(folder), JSON.stringify({ updatedAtMs: Date.now(), title: "theirs", isSubagent: true }));
  expect(listChats(configDir).map(({ title }) => title)).not.toContain("theirs");
  expect(nthChat(configDir, workspace, 1)).toBe(chatFolder(configDir, workspace, parent));
});

it("subagents' chats are removed with their transcript and output", () => {
  const output = openSubagentOutput(configDir, child);
  output.write("at work\n");
  output.close();
  deleteChat(configDir, findChat(configDir, child, workspace));
  expect(existsSync(output.path)).toBe(false);
  expect(existsSync(transcriptFile(configDir, workspace, child, parent))).toBe(false);
});
