// Tracks the prompts handed to a session: which are waiting, which were sent to the model, and how each ends.
import { type ErrorCode, errorCodes, UserError } from "./error-codes.ts";
import type { Prompt, Sent, TurnEnding } from "./run.ts";

/** `steer` is for the running turn; `prompt` starts a new turn. */
export type OpenPrompt = {
  id: string;
  kind: "prompt" | "steer";
  prompt: Prompt;
  state: Sent["state"];
  ending: Promise<TurnEnding>;
  settle(ending: TurnEnding): void;
};

/** The error of a prompt that its sender has withdrawn. */
export const withdrawnMessage = "The prompt was withdrawn.";

/** The prompts of a run that have not ended. Ended ones are removed; their senders still have the result. */
export class Prompts {
  readonly #open = new Map<string, OpenPrompt>();
  readonly #name: string;
  #count = 0;

  /** `name` prefixes the ids, for runs that receive prompts from several senders. */
  constructor(name = "") {
    this.#name = name;
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  add(kind: OpenPrompt["kind"], prompt: Prompt): OpenPrompt {
    let settle: OpenPrompt["settle"] = () => {};
    const ending = new Promise<TurnEnding>((resolve) => {
      settle = resolve;
    });
    const item: OpenPrompt = {
      id: `${this.#name}prompt-${++this.#count}`,
      kind,
      prompt,
      state: "waiting",
      ending,
      settle,
    };
    this.#open.set(item.id, item);
    return item;
  }

  get(id: string): OpenPrompt | undefined {
    return this.#open.get(id);
  }

  has({ id }: OpenPrompt): boolean {
    return this.#open.has(id);
  }

  list(): OpenPrompt[] {
    return [...this.#open.values()];
  }

  waiting(): OpenPrompt[] {
    return this.list().filter(({ state }) => state === "waiting");
  }

  /** Returns the next prompt. Steering text comes before prompts that wait for a new turn. */
  nextWaiting(): OpenPrompt | undefined {
    const waiting = this.waiting();
    return waiting.find(({ kind }) => kind === "steer") ?? waiting[0];
  }

  end(item: OpenPrompt, state: "told" | "dropped", ending: TurnEnding): void {
    if (!this.#open.delete(item.id)) return;
    item.state = state;
    item.settle(ending);
  }
}

export function sentOf(item: OpenPrompt, withdraw: () => Promise<boolean>): Sent {
  return {
    id: item.id,
    ending: item.ending,
    get state() {
      return item.state;
    },
    withdraw,
  };
}

export function failedTurn(error: { message: string; code?: string }, startedAt: number): TurnEnding {
  const at = Date.now();
  const code = error.code === undefined ? {} : { code: error.code };
  return { type: "fail", message: error.message, ...code, durationMs: at - startedAt, apiDurationMs: 0, at };
}

/** Converts an error reported by another process to a UserError. */
export function userError(code: string | undefined, message: string): UserError {
  const isKnownCode = code !== undefined && Object.hasOwn(errorCodes, code);
  return new UserError(isKnownCode ? (code as ErrorCode) : "CLI_FAILED", message);
}
