// Mailbox: messages to the host of a run. Each prompt is written only behind the last message that its sender saw. The host closes
// the box in the same way before it ends the run, so that no prompt arrives between its last check and the end.
import { UserError } from "../../../protocol/error-codes.ts";
import type { Question } from "../../../protocol/run.ts";
import { isOver, type Message, type ReceivedMessage } from "../../fleet.ts";
import { questionClosed, runOver } from "../refusals.ts";
import { decodeWord, word } from "./keys.ts";
import type { RunLogs } from "./log.ts";
import type { Payloads } from "./payloads.ts";
import { Refused, type Server, type Stored } from "./server.ts";
import { tail } from "./tail.ts";

/** `closed` names the host that closed the box; it ends the run next unless it is lost. */
type Told = { message: Message } | { closed: string };
type Asked = { question: Question };

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
    const data = await this.#payloads.pack(run, { message } satisfies Told);
    while (true) {
      const [{ head }, box] = await Promise.all([this.#logs.last(run), this.#lastInBox(run)]);
      const isClosed = box.told && "closed" in box.told && box.told.closed === head.owner;
      if (isOver(head.state) || isClosed) throw runOver(run);
      if (await this.#publish(boxOf(run), data, box.sequence)) return;
    }
  }

  /** Returns false if there are prompts after `heard`. */
  async close(run: string, owner: string, heard: number): Promise<boolean> {
    while (true) {
      const box = await this.#lastInBox(run);
      if (box.sequence > heard && (await this.#prompts(run, heard)) > 0) return false;
      const data = await this.#payloads.pack(run, { closed: owner } satisfies Told);
      if (await this.#publish(boxOf(run), data, box.sequence)) return true;
    }
  }

  async cancel(run: string, reason: string): Promise<void> {
    const message: Message = { type: "cancel", reason };
    await this.#server.publish("say", `${word(run)}.cancel`, await this.#payloads.pack(run, { message }));
  }

  async cancelReason(run: string): Promise<string | undefined> {
    const stored = await this.#server.last("say", `${word(run)}.cancel`);
    const told = stored && (await this.#payloads.unpack<Told>(run, stored.data));
    return told && "message" in told && told.message.type === "cancel" ? told.message.reason : undefined;
  }

  async *hear(run: string, after: number, signal: AbortSignal): AsyncGenerator<ReceivedMessage> {
    const options = { filter: `${word(run)}.>`, from: after, signal };
    for await (const stored of tail(this.#server, "say", options)) {
      const told = await this.#payloads.unpack<Told>(run, stored.data);
      if (told && "message" in told) yield { number: stored.sequence, message: told.message };
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

  /** Removes all questions of a host that is gone. */
  async withdrawAll(run: string): Promise<void> {
    await this.#server.purge("state", `question.${word(run)}.>`);
  }

  async questions(): Promise<{ run: string; at: number; question: Question }[]> {
    return this.#asked("question.>");
  }

  async answer(run: string, given: Omit<Extract<Message, { type: "answer" }>, "type">): Promise<void> {
    const open = await this.#asked(questionOf(run, "*", given.question));
    const found = open.find(({ question }) => question.hash === given.hash);
    const message: Message = { type: "answer", ...given };
    const data = await this.#payloads.pack(run, { message } satisfies Told);
    // Only the first answer to this question is accepted.
    const key = `${word(run)}.answer.${found?.sequence}`;
    if (!found || !(await this.#publish(key, data, 0))) throw questionClosed();
    // A client without the permission to remove the question leaves that to the host, which closes it.
    await this.#server.purge("state", found.key).catch(notRefusedByPermission);
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

  async #asked(
    filter: string,
  ): Promise<{ run: string; at: number; question: Question; sequence: number; key: string }[]> {
    const all: { run: string; at: number; question: Question; sequence: number; key: string }[] = [];
    for (const { key, sequence, at, data } of await this.#server.range("state", filter, 1)) {
      const run = decodeWord(key.split(".")[1]!);
      const asked = await this.#payloads.unpack<Asked>(run, data);
      if (asked) all.push({ run, at, question: asked.question, sequence, key });
    }
    return all;
  }

  async #prompts(run: string, heard: number): Promise<number> {
    let count = 0;
    for (const { data } of await this.#server.range("say", boxOf(run), heard + 1)) {
      const told = await this.#payloads.unpack<Told>(run, data);
      if (told && "message" in told && ["prompt", "steer"].includes(told.message.type)) count++;
    }
    return count;
  }

  async #lastInBox(run: string): Promise<{ sequence: number; told?: Told | undefined }> {
    const stored: Stored | undefined = await this.#server.last("say", boxOf(run));
    if (!stored) return { sequence: 0 };
    return { sequence: stored.sequence, told: await this.#payloads.unpack<Told>(run, stored.data) };
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

export function notRefusedByPermission(error: unknown): void {
  if (!(error instanceof UserError) || error.code !== "FLEET_REFUSED") throw error;
}

function boxOf(run: string): string {
  return `${word(run)}.box`;
}

function questionOf(run: string, owner: string, question: string): string {
  return `question.${word(run)}.${owner}.${word(question)}`;
}
