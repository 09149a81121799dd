// Requests to a run that are answered by a `reply` with their id.
import type { ControlNotice } from "../../protocol/control-lines.ts";
import type { UserError } from "../../protocol/error-codes.ts";
import { userError } from "../../protocol/prompts.ts";

export class Requests {
  readonly #open = new Map<string, { resolve(value: unknown): void; reject(error: UserError): void }>();
  readonly #onAsk: () => void;
  #count = 0;

  /** `onAsk`: told when somebody begins to wait for a reply. */
  constructor(onAsk: () => void) {
    this.#onAsk = onAsk;
  }

  get isWaiting(): boolean {
    return this.#open.size > 0;
  }

  /** `send` writes the line that has this id. */
  ask(send: (id: string) => void): Promise<unknown> {
    const id = `request-${++this.#count}`;
    const answer = new Promise<unknown>((resolve, reject) => this.#open.set(id, { resolve, reject }));
    send(id);
    this.#onAsk();
    return answer;
  }

  take({ id, value, error, error_code: code }: Extract<ControlNotice, { subtype: "reply" }>): void {
    const request = this.#open.get(id);
    this.#open.delete(id);
    if (error === undefined) request?.resolve(value);
    else request?.reject(userError(code, error));
  }

  failAll(error: UserError): void {
    for (const { reject } of this.#open.values()) reject(error);
    this.#open.clear();
  }
}
