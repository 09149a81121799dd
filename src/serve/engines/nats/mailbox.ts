// Mailbox: messages to the host of a run. Each prompt is written only behind the last message that its sender saw. The host closes
// the box in the same way before it ends the run, so that no prompt arrives between its last check and the end.
import type { Question } from "../../../protocol/run.ts";
import { type GivenAnswer, isOver, type Message, type OpenQuestion, type ReceivedMessage } from "../../fleet.ts";
import { ignoreMissingPermission, questionClosed, runOver } from "../refusals.ts";
import { decodeWord, word } from "./keys.ts";
import type { RunLogs } from "./log.ts";
import type { Payloads } from "./payloads.ts";
import { Refused, type Server, type Stored } from "./server.ts";
import { followStream } from "./tail.ts";

/** `closed` names the host that closed the box; it ends the run next unless it is lost. */
type Letter = { message: Message } | { closed: string };
type Asked = { question: Question };
type StoredQuestion = OpenQuestion & { sequence: number; key: string };

export class Mailbox {
  readonly #server: Server;
  readonly #logs: RunLogs;
  readonly #payloads: Payloads;

  constructor(server: Server, logs: RunLogs, payloads: Payloads) {
    this.#server = server;
    this.#logs = logs;
    this.#payloads = payloads;
  }

  async say(run: string, message: Message): Promise<void> {
    const data = await this.#payloads.pack(run, { message } satisfies Letter);
    while (true) {
      const [{ head }, box] = await Promise.all([this.#logs.last(run), this.#lastInBox(run)]);
      const isClosed = box.letter && "closed" in box.letter && box.letter.closed === head.owner;
      if (isOver(head.state) || isClosed) throw runOver(run);
      if (await this.#publish(boxOf(run), data, box.sequence)) return;
    }
  }

  /** Closes the mailbox of a run, and returns whether it was ever used. Returns undefined if there are prompts after `handled`. */
  async close(run: string, owner: string, handled: number): Promise<{ isUsed: boolean } | undefined> {
    const data = await this.#payloads.pack(run, { closed: owner } satisfies Letter);
    if (handled === 0 && (await this.#publish(boxOf(run), data, 0))) return { isUsed: false };
    while (true) {
      const box = await this.#lastInBox(run);
      if (box.sequence > handled && (await this.#prompts(run, handled)) > 0) return undefined;
      if (await this.#publish(boxOf(run), data, box.sequence)) return { isUsed: box.sequence > 0 };
    }
  }

  async cancel(run: string, reason: string): Promise<void> {
    const message: Message = { type: "cancel", reason };
    await this.#server.publish("say", `${word(run)}.cancel`, await this.#payloads.pack(run, { message }));
  }

  async cancelReason(run: string): Promise<string | undefined> {
    const stored = await this.#server.last("say", `${word(run)}.cancel`);
    const letter = stored && (await this.#payloads.unpack<Letter>(run, stored.data));
    return letter && "message" in letter && letter.message.type === "cancel" ? letter.message.reason : undefined;
  }

  async *receive(run: string, after: number, signal: AbortSignal): AsyncGenerator<ReceivedMessage> {
    const options = { filter: `${word(run)}.>`, from: after, signal };
    for await (const stored of followStream(this.#server, "say", options)) {
      const letter = await this.#payloads.unpack<Letter>(run, stored.data);
      if (letter && "message" in letter) yield { number: stored.sequence, message: letter.message };
    }
  }

  /** Stores the question before it appears in the log, so that readers of the log can answer it at once. */
  async ask(run: string, owner: string, question: Question): Promise<void> {
    const data = await this.#payloads.pack(run, { question } satisfies Asked);
    await this.#server.publish("state", questionOf(run, owner, question.id), data);
  }

  async withdraw(run: string, owner: string, question: string): Promise<void> {
    await this.#server.purge("state", questionOf(run, owner, question));
  }

  async withdrawAll(run: string): Promise<void> {
    await this.#server.purge("state", `question.${word(run)}.>`);
  }

  async questions(): Promise<OpenQuestion[]> {
    return (await this.#asked("question.>")).map(({ run, at, question }) => ({ run, at, question }));
  }

  async answer(run: string, given: GivenAnswer): Promise<void> {
    const open = await this.#asked(questionOf(run, "*", given.question));
    const found = open.find(({ question }) => question.hash === given.hash);
    const message: Message = { type: "answer", ...given };
    const data = await this.#payloads.pack(run, { message } satisfies Letter);
    // Only the first answer to this question is accepted.
    const key = `${word(run)}.answer.${found?.sequence}`;
    if (!found || !(await this.#publish(key, data, 0))) throw questionClosed();
    // A client without the permission to remove the question leaves that to the host, which closes it.
    await this.#server.purge("state", found.key).catch(ignoreMissingPermission);
  }

  /** Empties the box of a run that is over, but keeps the message that closed it. */
  async empty(run: string): Promise<void> {
    await Promise.all([
      this.#server.purge("say", boxOf(run), 1),
      this.#server.purge("say", `${word(run)}.answer.*`),
      this.withdrawAll(run),
    ]);
  }

  async drop(run: string): Promise<void> {
    await Promise.all([this.#server.purge("say", `${word(run)}.>`), this.withdrawAll(run)]);
  }

  async #asked(filter: string): Promise<StoredQuestion[]> {
    const all: StoredQuestion[] = [];
    for (const { key, sequence, at, data } of await this.#server.range("state", filter, 1)) {
      const run = decodeWord(key.split(".")[1]!);
      const asked = await this.#payloads.unpack<Asked>(run, data);
      if (asked) all.push({ run, at, question: asked.question, sequence, key });
    }
    return all;
  }

  async #prompts(run: string, handled: number): Promise<number> {
    let count = 0;
    for (const { data } of await this.#server.range("say", boxOf(run), handled + 1)) {
      const letter = await this.#payloads.unpack<Letter>(run, data);
      if (letter && "message" in letter && ["prompt", "steer"].includes(letter.message.type)) count++;
    }
    return count;
  }

  async #lastInBox(run: string): Promise<{ sequence: number; letter?: Letter | undefined }> {
    const stored: Stored | undefined = await this.#server.last("say", boxOf(run));
    if (!stored) return { sequence: 0 };
    return { sequence: stored.sequence, letter: await this.#payloads.unpack<Letter>(run, stored.data) };
  }

  async #publish(key: string, data: string, after: number): Promise<boolean> {
    try {
      await this.#server.publish("say", key, data, { after });
      return true;
    } catch (error) {
      if (error instanceof Refused) return false;
      throw error;
    }
  }
}

function boxOf(run: string): string {
  return `${word(run)}.box`;
}

function questionOf(run: string, owner: string, question: string): string {
  return `question.${word(run)}.${owner}.${word(question)}`;
}
