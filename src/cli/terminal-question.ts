// Reads lines on a plain terminal. Lines typed ahead are kept for the next prompt and never answer a later question.
import type { Interface } from "node:readline";

export interface TerminalLines {
  /** Resolves with the next line, including one already typed, or undefined if the input is closed. */
  next(prompt: string): Promise<string | undefined>;
  /** Changes the prompt text of the line that is being read. */
  reprompt(prompt: string): void;
  /** Resolves with a line typed from now on, or undefined if the input is closed or the question is cancelled. */
  ask(question: string, signal?: AbortSignal): Promise<string | undefined>;
  close(): void;
}

type Waiting = { resolve(line: string | undefined): void; prompt: string };

export function terminalLines(terminal: Interface): TerminalLines {
  const typed: string[] = [];
  /** The reads that wait for a line. A question takes precedence over a prompt. */
  const waiting: { question?: Waiting; prompt?: Waiting } = {};
  let isClosed = false;
  const show = () => {
    const first = waiting.question ?? waiting.prompt;
    if (!first || isClosed) return; // since Node 24, using a closed readline interface throws
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

/** Asks one question at a time, although calls run in parallel. */
export type Queue = <Answer>(ask: () => Promise<Answer>) => Promise<Answer>;

export function createQueue(): Queue {
  let last: Promise<unknown> = Promise.resolve();
  return (ask) => {
    const answer = last.then(ask);
    last = answer.catch(() => {});
    return answer;
  };
}
