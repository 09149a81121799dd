// OpenPrompts: what the host of a run was told and has not answered yet. A run does not end while something is open.
import { UserError } from "../protocol/error-codes.ts";
import type { Sent, TurnEnding } from "../protocol/run.ts";
import type { Heard } from "./fleet.ts";
import type { RunLogWriter } from "./run-log-writer.ts";

type Host = {
  writer: RunLogWriter;
  /** Resolves when the ending of a turn is in the log, or never will be. */
  shown(ending: TurnEnding): Promise<void>;
  /** The prompt that the run began with was not even told. */
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

  /** Something was settled or heard. */
  nextChange(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  changed(): void {
    this.#wake();
  }

  /** Everybody who follows the run sees what waits, not only who said it. */
  note(message: Heard["message"]): void {
    if ((message.type !== "prompt" && message.type !== "steer") || message.id === undefined) return;
    const { type: kind, id } = message;
    const text = message.type === "prompt" ? message.prompt.text : message.text;
    this.#host.writer.add({ type: "prompt", id, kind, text });
  }

  /** `id`: of a prompt that came later than the first one. */
  follow(sent: Sent, id: string | undefined): void {
    this.#count++;
    if (id !== undefined) this.#sent.set(id, sent);
    void sent.ending.then(async (ending) => {
      // It is in the log before its prompt is over.
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

  /** What was asked for before the end is answered before it: it counts as open. */
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
