// OpenPrompts: tracks prompts and requests that the host has not answered yet. A run does not end while one is open.
import { UserError } from "../protocol/error-codes.ts";
import type { Sent, TurnEnding } from "../protocol/run.ts";
import type { ReceivedMessage } from "./fleet.ts";
import type { RunLogWriter } from "./run-log-writer.ts";

type Host = {
  writer: RunLogWriter;
  /** Resolves when the end of the turn is in the log, or never will be. */
  shown(ending: TurnEnding): Promise<void>;
  /** Called if the run's first prompt was dropped before it was delivered. */
  onDropped(ending: TurnEnding): void;
};

export class OpenPrompts {
  readonly #host: Host;
  readonly #sent = new Map<string, Sent>();
  #count = 0;
  #wake: () => void = () => {};

  constructor(host: Host) {
    this.#host = host;
  }

  get count(): number {
    return this.#count;
  }

  /** Resolves when a prompt is settled or a message arrives. */
  nextChange(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  changed(): void {
    this.#wake();
  }

  /** Logs a waiting prompt, so that all clients see it and not only its sender. */
  note(message: ReceivedMessage["message"]): void {
    if ((message.type !== "prompt" && message.type !== "steer") || message.id === undefined) return;
    const { type: kind, id } = message;
    const text = message.type === "prompt" ? message.prompt.text : message.text;
    this.#host.writer.add({ type: "prompt", id, kind, text });
  }

  /** `id` is set for prompts after the first one. */
  follow(sent: Sent, id: string | undefined): void {
    this.#count++;
    if (id !== undefined) this.#sent.set(id, sent);
    void sent.ending.then(async (ending) => {
      // Log the end of the turn before the end of its prompt.
      if (sent.state === "told") await this.#host.shown(ending);
      else if (id === undefined) this.#host.onDropped(ending);
      if (id !== undefined) this.#end(id, sent, ending);
      this.#count--;
      this.#wake();
    });
  }

  #end(id: string, { state }: Sent, ending: TurnEnding): void {
    const { writer } = this.#host;
    this.#sent.delete(id);
    const { message: error, code } = ending.type === "fail" ? ending : {};
    const why = state === "dropped" && error !== undefined ? { error, ...(code && { code }) } : {};
    writer.add({ type: "prompt_ended", id, state: state === "told" ? "told" : "dropped", ...why });
  }

  async withdraw(id: string): Promise<boolean> {
    return (await this.#sent.get(id)?.withdraw()) ?? false;
  }

  /** Counts a request as open, so that it is answered before the run ends. */
  reply(id: string | undefined, work: () => Promise<unknown>): void {
    this.#count++;
    const told = (outcome: { value?: unknown; error?: string; code?: string }) => {
      if (id !== undefined) this.#host.writer.add({ type: "reply", id, ...outcome });
      this.#count--;
      this.#wake();
    };
    work().then(
      (value) => told(value === undefined ? {} : { value }),
      (error: Error) => told({ error: error.message, code: error instanceof UserError ? error.code : "INTERNAL" }),
    );
  }
}
