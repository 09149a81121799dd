// Prompts that were handed to a session: which of them wait, which are told, and how each of them ends.
import { type ErrorCode, errorCodes, UserError } from "./error-codes.ts";
import type { Prompt, Sent, TurnEnding } from "./run.ts";

/** `steer`: for the turn that runs. `prompt`: a turn of its own. */
export type OpenPrompt = {
  id: string;
  kind: "prompt" | "steer";
  prompt: Prompt;
  state: Sent["state"];
  ending: Promise<TurnEnding>;
  settle(ending: TurnEnding): void;
};

/** Those that are not over. What is over is forgotten here, and lives on in what its sender holds. */
export class Prompts {
  readonly #open = new Map<string, OpenPrompt>();
  readonly #name: string;
  #count = 0;

  /** `name`: begins their ids, where others have prompts for the same run. */
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

  /** What was meant for a turn comes before what waits for one. */
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

/** A word from another process, as an error of ours. */
export function userError(code: string | undefined, message: string): UserError {
  const known = code !== undefined && Object.hasOwn(errorCodes, code);
  return new UserError(known ? (code as ErrorCode) : "CLI_FAILED", message);
}
