// Lines of a plain terminal. What is typed ahead is kept for the next prompt, and never answers a question that came later.
import type { Interface } from "node:readline";

export interface TerminalLines {
  /** The next line, also one that was typed already. Undefined when the input is closed. */
  next(prompt: string): Promise<string | undefined>;
  /** Another prompt for the line that is waited for. */
  reprompt(prompt: string): void;
  /** A line that is typed from now on. Undefined when the input is closed, or the question is called off. */
  ask(question: string, signal?: AbortSignal): Promise<string | undefined>;
  close(): void;
}

type Waiting = { resolve(line: string | undefined): void; prompt: string };

export function terminalLines(terminal: Interface): TerminalLines {
  const typed: string[] = [];
  /** A question comes before the prompt that may wait as well. */
  const waiting: { question?: Waiting; prompt?: Waiting } = {};
  let isClosed = false;
  const show = () => {
    const first = waiting.question ?? waiting.prompt;
    if (!first || isClosed) return; // since Node 24 a closed interface throws when it is used
    terminal.setPrompt(first.prompt);
    terminal.prompt(true);
  };
  const settle = (which: "question" | "prompt", line: string | undefined) => {
    const settled = waiting[which];
    delete waiting[which];
    settled?.resolve(line);
    if (which === "question") show();
  };
  const wait = (which: "question" | "prompt", prompt: string) =>
    new Promise<string | undefined>((resolve) => {
      if (isClosed) return resolve(undefined);
      waiting[which] = { resolve, prompt };
      show();
    });
  terminal.on("line", (line) => {
    if (waiting.question) settle("question", line);
    else if (waiting.prompt) settle("prompt", line);
    else typed.push(line);
  });
  terminal.on("close", () => {
    isClosed = true;
    settle("question", undefined);
    settle("prompt", undefined);
  });
  return {
    next: (prompt) => (typed.length > 0 ? Promise.resolve(typed.shift()) : wait("prompt", prompt)),
    reprompt(prompt) {
      if (!waiting.prompt) return;
      waiting.prompt.prompt = prompt;
      if (!waiting.question) show();
    },
    async ask(question, signal) {
      if (signal?.aborted) return undefined;
      const off = () => settle("question", undefined);
      signal?.addEventListener("abort", off, { once: true });
      try {
        return await wait("question", question);
      } finally {
        signal?.removeEventListener("abort", off);
      }
    },
    close: () => terminal.close(),
  };
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
