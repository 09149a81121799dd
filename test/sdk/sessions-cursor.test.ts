// Chats in store.db as sessions of unified messages.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { cursorReader } from "../../src/sdk/sessions/cursor.ts";
import { messagesOf } from "../../src/sdk/unified.ts";
import { createChat } from "../../src/store/chats/open-chat.ts";
import { calls, chatId, result, says, user } from "./chat-record.ts";

const base = realpathSync(mkdtempSync(join(tmpdir(), "courser-cursor-")));
afterAll(() => rmSync(base, { recursive: true, force: true }));

it("Cursor sessions are listed and read with usage and times", () => {
  const configDir = join(base, ".cursor");
  const messages = [
    user("go"),
    calls("Shell", { command: "ls" }, "c1", "I look."),
    result("a.txt", "c1"),
    says("Done."),
  ];
  const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const chat = createChat({ configDir, workspace: base }, { id: chatId, mode: "default", model: "M", title: "T" });
  chat.record({ type: "user", text: "go", at: 1000 });
  chat.append(...messages);
  chat.record({ type: "done", text: "I look.Done.", durationMs: 1, apiDurationMs: 1, usage, at: 5000 });
  chat.close();

  const folder = cursorReader.folder({ CURSOR_CONFIG_DIR: configDir });
  const [file] = cursorReader.list(folder);
  const session = cursorReader.read(file!.path);
  expect(session).toMatchObject({ tool: "cursor", id: chatId, title: "T", workspace: base, model: "M", losses: [] });
  expect(messagesOf(session.messages)).toEqual(messages);
  expect(session.messages[0]!.timestamp).toBe(1000);
  expect(session.messages[3]!.usage).toEqual(usage);
  expect(cursorReader.read(session.path).messages).toHaveLength(4);
});
