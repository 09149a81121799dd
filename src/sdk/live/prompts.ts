// Prompts that were handed to a session: which of them wait, which are told, and how each of them ends.
import { type ErrorCode, errorCodes, UserError } from "../../protocol/error-codes.ts";
import type { Prompt, Sent, TurnEnding } from "../../protocol/run.ts";

/** `steer`: for the turn that runs. `prompt`: a turn of its own. */
export type Item = {
  id: string;
  kind: "prompt" | "steer";
  prompt: Prompt;
  state: Sent["state"];
  ending: Promise<TurnEnding>;
  settle(ending: TurnEnding): void;
};

/** Those that are not over. What is over is forgotten here, and lives on in what its sender holds. */
export class Prompts {
  readonly #open = new Map<string, Item>();
  #count = 0;

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  add(kind: Item["kind"], prompt: Prompt): Item {
    let settle: Item["settle"] = () => {};
    const ending = new Promise<TurnEnding>((resolve) => {
      settle = resolve;
    });
    const item: Item = { id: `prompt-${++this.#count}`, kind, prompt, state: "waiting", ending, settle };
    this.#open.set(item.id, item);
    return item;
  }

  get(id: string): Item | undefined {
    return this.#open.get(id);
  }

  has({ id }: Item): boolean {
    return this.#open.has(id);
  }

  list(): Item[] {
    return [...this.#open.values()];
  }

  /** What was meant for a turn comes before what waits for one. */
  nextWaiting(): Item | undefined {
    const waiting = this.list().filter(({ state }) => state === "waiting");
    return waiting.find(({ kind }) => kind === "steer") ?? waiting[0];
  }

  end(item: Item, state: "told" | "dropped", ending: TurnEnding): void {
    if (!this.#open.delete(item.id)) return;
    item.state = state;
    item.settle(ending);
  }
}

export function sentOf(item: Item, withdraw: () => Promise<boolean>): Sent {
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
