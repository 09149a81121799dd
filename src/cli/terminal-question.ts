// Questions on a terminal, one at a time.
import type { Interface } from "node:readline";

/** Undefined when the input is closed, or the question is called off. */
export function question(terminal: Interface, text: string, signal?: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve(undefined);
    const settle = (answer: string | undefined) => {
      terminal.off("close", off);
      signal?.removeEventListener("abort", off);
      resolve(answer);
    };
    const off = () => settle(undefined);
    terminal.once("close", off);
    signal?.addEventListener("abort", off, { once: true });
    try {
      terminal.question(text, signal ? { signal } : {}, settle);
    } catch (error) {
      // Ctrl+D was pressed while something was being answered.
      if ((error as NodeJS.ErrnoException).code !== "ERR_USE_AFTER_CLOSE") throw error;
      off();
    }
  });
}

/** Calls run side by side, and a person answers one after the other. */
export type Queue = <Answer>(ask: () => Promise<Answer>) => Promise<Answer>;

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return (ask) => {
    const answer = last.then(ask);
    last = answer.catch(() => {});
    return answer;
  };
}
