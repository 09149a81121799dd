// OpenPrompts: tracks the prompts and requests that the host of a run has not answered yet, and reports the end of each.
import type { MessageHost } from "./dispatch-message.ts";
import { UserError } from "./error-codes.ts";
import type { Sent, TurnEnding } from "./run.ts";

/** What became of a prompt. `told`: the model received it. `dropped`: it did not, and `error` says why. */
export type PromptEnd = { state: "told" | "dropped"; error?: string; code?: string };
export type RequestEnd = { value?: unknown; error?: string; code?: string };

export type PromptReports = {
  /** Resolves when the end of the turn was reported, or never will be. */
  shown(ending: TurnEnding): Promise<void> | undefined;
  ended(id: string, end: PromptEnd): void;
  replied(id: string, end: RequestEnd): void;
  /** Called if a prompt without an id was dropped before it was delivered. */
  dropped?(ending: TurnEnding): void;
  /** Called when a prompt has ended. */
  settled?(): void;
};

export class OpenPrompts implements MessageHost {
  readonly #reports: PromptReports;
  readonly #sent = new Map<string, Sent>();
  /** The number of prompts that have not ended. */
  prompts = 0;
  #requests = 0;
  #wake: () => void = () => {};

  constructor(reports: PromptReports) {
    this.#reports = reports;
  }

  /** The number of prompts and requests that have not ended. */
  get count(): number {
    return this.prompts + this.#requests;
  }

  /** Resolves when a prompt or request is settled, or a message arrives. */
  nextChange(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  changed(): void {
    this.#wake();
  }

  follow(sent: Sent, id: string | undefined): void {
    this.prompts++;
    if (id !== undefined) this.#sent.set(id, sent);
    void sent.ending.then(async (ending) => {
      // Report the end of the turn before the end of its prompt.
      if (sent.state === "told") await this.#reports.shown(ending);
      else if (id === undefined) this.#reports.dropped?.(ending);
      if (id !== undefined) {
        this.#sent.delete(id);
        this.#reports.ended(id, promptEnd(sent, ending));
      }
      this.prompts--;
      this.#reports.settled?.();
      this.#wake();
    });
  }

  async withdraw(id: string): Promise<boolean> {
    return (await this.#sent.get(id)?.withdraw()) ?? false;
  }

  reply(id: string | undefined, work: () => Promise<unknown>): void {
    this.#requests++;
    const sendReply = (end: RequestEnd) => {
      if (id !== undefined) this.#reports.replied(id, end);
      this.#requests--;
      this.#wake();
    };
    work().then(
      (value) => sendReply(value === undefined ? {} : { value }),
      (error: Error) => sendReply({ error: error.message, code: error instanceof UserError ? error.code : "INTERNAL" }),
    );
  }
}

function promptEnd({ state }: Sent, ending: TurnEnding): PromptEnd {
  if (state === "told" || ending.type === "done") return { state: "told" };
  return { state: "dropped", error: ending.message, ...(ending.code !== undefined && { code: ending.code }) };
}
