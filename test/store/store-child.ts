// A process that works with a chat until it is told, or made, to end. Says each step on stdout once it is done.
import { writeSync } from "node:fs";
import { UserError } from "../../src/protocol/error-codes.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";
import type { ChatWriter } from "../../src/store/chats/chat.ts";
import { forkChat } from "../../src/store/chats/fork-chat.ts";
import { createChat, openChat } from "../../src/store/chats/open-chat.ts";
import { openDatabase } from "../../src/store/sqlite.ts";
import { assistant, call, done, result, text, user } from "./chat-support.ts";

type NewPlace = { configDir: string; workspace: string; id: string };

export type ChildJob =
  /** Records numbered events, and says the number of each once it is kept. `clock`: seconds that it jumps half-way. */
  | { kind: "write"; chat: NewPlace | string; events: number; bytes: number; clock?: number }
  /** Whole turns, then one whose call never ends. */
  | { kind: "turns"; chat: NewPlace; turns: number }
  | { kind: "create"; configDir: string; workspace: string }
  | { kind: "hold"; folder: string; ms: number }
  /** Copies a chat into `id` at a moment that several agree on, then goes on in the copy for a while. */
  | { kind: "fork"; configDir: string; folder: string; id: string; at: number; ms: number }
  /** As a program that knows nothing of chats locks a database. */
  | { kind: "lock"; file: string; begin: string; ms: number };

const jobs: { [Kind in ChildJob["kind"]]: (job: Extract<ChildJob, { kind: Kind }>) => void | Promise<void> } = {
  write({ chat: where, events, bytes, clock }) {
    const chat = open(where);
    for (let number = 1; number <= events; number++) {
      if (clock !== undefined && number === Math.floor(events / 2)) process.env["FAULT_CLOCK"] = String(clock);
      const event = eventOf(number, bytes);
      try {
        chat.record({ ...event, carried: { number } });
      } catch (error) {
        say(failed(error));
        insist(chat);
        return;
      }
      say(`kept ${number}`);
      if (event.type === "user") chat.append(user(event.text));
      if (event.type === "text_end") chat.append(assistant(text(event.text)));
    }
    chat.close();
    say("closed");
  },
  async turns({ chat: where, turns }) {
    const chat = open(where);
    for (let number = 1; number <= turns; number++) {
      const id = `call-${number}`;
      chat.record({ type: "user", text: `prompt ${number}` });
      chat.append(user(`prompt ${number}`), assistant(call(id, "Shell", { command: "make" })));
      chat.record({ type: "tool_start", callId: id, tool: "shell", args: { command: "make" } });
      if (number === turns) break;
      chat.record({ type: "tool_end", callId: id, tool: "shell", args: {}, outcome: { kind: "success", value: {} } });
      chat.append({ role: "user", parts: [result(id, "made")] }, assistant(text("Made.")));
      chat.record(done("Made."));
    }
    say("started");
    await pause(60_000);
  },
  create({ configDir, workspace }) {
    for (let number = 1; ; number++) {
      const id = `0bae1f09-3bb0-49b8-9b9d-${number.toString(16).padStart(12, "0")}`;
      createChat({ configDir, workspace }, { id, mode: "default" }).close();
      say(id);
    }
  },
  async hold({ folder, ms }) {
    const chat = openChat(folder);
    say("held");
    await pause(ms);
    chat.close();
    say("closed");
  },
  async fork({ configDir, folder, id, at, ms }) {
    while (Date.now() < at);
    const chat = openChat(forkChat(configDir, folder, { id }).folder);
    say("forked");
    await pause(ms);
    chat.record({ type: "user", text: `after the fork of ${process.pid}` });
    chat.append(user("after the fork"), assistant(text("yes")));
    chat.record(done("yes"));
    chat.close();
    say("closed");
  },
  async lock({ file, begin, ms }) {
    const database = openDatabase(file);
    database.exec(begin);
    say("held");
    await pause(ms);
    database.exec("ROLLBACK");
    database.close();
    say("closed");
  },
};

/** After a failure nothing may be taken any more. */
function insist(chat: ChatWriter): void {
  process.exitCode = 1;
  for (const event of [eventOf(2, 1), eventOf(4, 1), eventOf(100, 1)]) {
    try {
      chat.record(event);
      say("kept after the failure");
    } catch (error) {
      say(failed(error));
    }
  }
  chat.close();
}

/** A little of everything that a run says. */
function eventOf(number: number, bytes: number): AgentEvent {
  const filling = "x".repeat(bytes);
  const callId = `call-${Math.floor(number / 10)}`;
  if (number % 100 === 1) return { type: "user", text: `prompt ${number}` };
  if (number % 100 === 0) return { ...done(filling) };
  if (number % 10 === 4) return { type: "tool_start", callId, tool: "shell", args: { command: filling } };
  if (number % 10 === 5)
    return { type: "tool_end", callId, tool: "shell", args: {}, outcome: { kind: "success", value: { filling } } };
  if (number % 10 === 8) return { type: "text_end", text: filling };
  return { type: "notice", kind: "test", message: filling };
}

function open(where: NewPlace | string): ChatWriter {
  const chat = typeof where === "string" ? openChat(where) : createChat(where, { id: where.id, mode: "default" });
  say("open");
  return chat;
}

/** At once: what is said must not wait in a buffer when the process is killed. */
function say(line: string): void {
  writeSync(1, `${line}\n`);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

const job = JSON.parse(process.argv[2]!) as ChildJob;
try {
  await (jobs[job.kind] as (job: ChildJob) => void | Promise<void>)(job);
} catch (error) {
  say(failed(error));
  process.exitCode = 1;
}

function failed(error: unknown): string {
  if (!(error instanceof UserError)) throw error;
  return `error ${error.code} ${error.message}`;
}
