// A place for chats of one test, and conversations to put into them.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentEvent } from "../../src/protocol/event.ts";
import type { Message, Part } from "../../src/protocol/message.ts";
import type { ChatWriter } from "../../src/store/chats/chat.ts";
import { createChat } from "../../src/store/chats/open-chat.ts";

export type Place = { base: string; configDir: string; workspace: string; remove(): void; [Symbol.dispose](): void };

export function createPlace(parent = tmpdir()): Place {
  const base = realpathSync(mkdtempSync(join(parent, "courser-chats-")));
  const workspace = join(base, "work");
  mkdirSync(workspace);
  const remove = () => rmSync(base, { recursive: true, force: true });
  return { base, configDir: join(base, "config"), workspace, remove, [Symbol.dispose]: remove };
}

let made = 0;

export function nextId(): string {
  return `0bae1f09-3bb0-49b8-9b9d-${(++made).toString(16).padStart(12, "0")}`;
}

export function newChat(place: Place, title?: string): ChatWriter {
  return createChat(place, { id: nextId(), mode: "default", model: "Test", ...(title !== undefined && { title }) });
}

export const user = (text: string): Message => ({ role: "user", parts: [{ type: "text", text }] });
export const assistant = (...parts: Part[]): Message => ({ role: "assistant", parts, provider: "test" });
export const text = (value: string): Part => ({ type: "text", text: value });
export const call = (id: string, name: string, args: unknown): Part => ({ type: "tool_call", id, name, args });
export const result = (id: string, value: string, isError = false): Part => ({
  type: "tool_result",
  id,
  text: value,
  isError,
});

export const done = (value: string): AgentEvent => ({ type: "done", text: value, durationMs: 5, apiDurationMs: 3 });

/** A turn with its events, as a run keeps it. */
export function addTurn(chat: ChatWriter, prompt: string, ...replies: Message[]): void {
  chat.record({ type: "user", text: prompt });
  chat.append(user(prompt));
  for (const reply of replies) {
    for (const part of reply.parts)
      if (reply.role === "assistant" && part.type === "text") chat.record({ type: "text_end", text: part.text });
    chat.append(reply);
  }
  chat.record(done(prompt));
}

/** Three turns with tools; the same words twice. */
export function addThreeTurns(chat: ChatWriter): Message[] {
  const before = chat.messages.length;
  addTurn(chat, "what is 7+7?", assistant(text("14")));
  addTurn(
    chat,
    "list the files, then read a.txt",
    assistant(text("I look."), call("c1", "LS", { path: "." }), call("c2", "Read", { path: "a.txt" })),
    { role: "user", parts: [result("c1", "a.txt"), result("c2", "hello"), text("A rule for a.txt.")] },
    assistant(text("It says hello.")),
  );
  addTurn(chat, "what is 7+7?", assistant(text("14")));
  return chat.messages.slice(before);
}
