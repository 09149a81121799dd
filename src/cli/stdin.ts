// Reads the prompt from the command line, stdin, or both.
import { fstatSync } from "node:fs";
import { UserError, usageError } from "../protocol/error-codes.ts";
import { systemErrorText } from "../text/system-error.ts";
import type { Invocation } from "./main.ts";
import { writeStderr } from "./stdout.ts";

/**
 * The prompt. `data` is what was piped in besides the words on the command line; the model gets it verbatim, without
 * looking for commands or mentions in it.
 */
export type PromptText = { text: string; data?: string; usedStdin: boolean };

/** Waits for stdin only if there are no words or a lone `-` asks for it. `pipedBeside` handles other piped input. */
export async function readPrompt({ line, name }: Invocation, signal: AbortSignal): Promise<PromptText> {
  const words = line.words.filter((word, index) => word !== "-" || index >= line.plainWords);
  const usedStdin = words.length < line.words.length || words.length === 0;
  const typed = words.join(" ");
  if (!usedStdin) {
    if (typed.trim() === "") throw noPrompt(name);
    return { text: typed, usedStdin };
  }
  const { isatty } = await import("node:tty");
  if (isatty(0)) throw noPrompt(name);
  const piped = await readAll(signal, name);
  if (typed !== "") return { text: typed, data: piped, usedStdin };
  const text = piped.replace(/\r?\n$/, "");
  if (text.trim() === "") throw noPrompt(name);
  return { text, usedStdin };
}

export function noPrompt(name: string): UserError {
  return usageError(`no prompt was given. Pass one as an argument or on stdin: ${name} -p "list all files"`);
}

/**
 * Reads stdin in addition to a typed prompt. A file is read to its end. So is a pipe, if data arrives before `ready` resolves;
 * a pipe that is open and empty by then is ignored, because parent processes often leave one open. Returns undefined if there
 * is nothing. `isQuiet` suppresses messages on stderr.
 */
export async function pipedBeside(
  invocation: Invocation,
  { ready, signal, isQuiet }: { ready: () => Promise<unknown>; signal: AbortSignal; isQuiet: boolean },
): Promise<string | undefined> {
  const kind = kindOfStdin();
  if (kind === "other") return undefined;
  if (kind === "pipe") {
    const state = await stateOfPipe(ready, signal);
    signal.throwIfAborted();
    if (state === "ended") return undefined;
    if (state === "silent") {
      if (!isQuiet) writeStderr(silentPipe(invocation));
      return undefined;
    }
  }
  // Explain the wait, because a pipe that is never closed looks like a hang.
  const waiting = setTimeout(() => {
    if (!isQuiet) writeStderr("Reading stdin to its end …\n");
  }, 2000);
  try {
    const text = await readAll(signal, invocation.name);
    return text.trim() === "" ? undefined : text;
  } finally {
    clearTimeout(waiting);
  }
}

function silentPipe({ line, name }: Invocation): string {
  const prompt = line.words.join(" ");
  const shortPrompt = prompt.length > 40 ? `${prompt.slice(0, 39)}…` : prompt;
  return `Note: stdin is open, but there was nothing in it yet, so it was not read. To wait for it, add a dash: … | ${name} -p "${shortPrompt}" -\n`;
}

/** Node gives its child processes a socket as a pipe. A terminal and /dev/null are neither file nor pipe. */
function kindOfStdin(): "file" | "pipe" | "other" {
  try {
    const stdin = fstatSync(0);
    if (stdin.isFile()) return "file";
    return stdin.isFIFO() || stdin.isSocket() ? "pipe" : "other";
  } catch {
    return "other"; // stdin is closed
  }
}

type PipeState = "filled" | "ended" | "silent";

async function stateOfPipe(ready: () => Promise<unknown>, signal: AbortSignal): Promise<PipeState> {
  const { stdin } = process;
  let settle: (state: PipeState) => void = () => {};
  const found = new Promise<PipeState>((resolve) => {
    settle = resolve;
  });
  const ended = () => settle("ended");
  // An end without data is a separate event, which is emitted only after another read.
  const readable = () => (stdin.readableLength > 0 ? settle("filled") : stdin.read());
  // Wait for two turns of the event loop: by then, data that was already in the pipe has been seen.
  const late = () => setImmediate(() => setImmediate(settle, "silent"));
  stdin.once("error", ended).once("end", ended).on("readable", readable);
  signal.addEventListener("abort", late, { once: true });
  ready().then(late, late);
  const state = await found;
  signal.removeEventListener("abort", late);
  stdin.off("end", ended).off("readable", readable);
  if (state === "filled") stdin.off("error", ended);
  if (state === "silent") stdin.unref();
  return state;
}

/** The maximum number of bytes read from stdin, which is more than any model accepts. */
const maxBytes = 16 * 2 ** 20;

async function readAll(signal: AbortSignal, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  signal.throwIfAborted();
  const stop = () => process.stdin.destroy(signal.reason as Error);
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of process.stdin) {
      length += (chunk as Buffer).length;
      if (length > maxBytes) throw tooMuch(name);
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UserError) throw error;
    throw usageError(
      `stdin cannot be read: ${systemErrorText(error)}. Give the prompt as an argument, and nothing on stdin: ${name} -p "…" </dev/null`,
    );
  } finally {
    signal.removeEventListener("abort", stop);
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.includes(0)) throw notText(name);
  return bytes.toString("utf8");
}

function tooMuch(name: string): UserError {
  return new UserError(
    "PROMPT_TOO_LARGE",
    `stdin has more than ${maxBytes / 2 ** 20} MiB, which is more than any model can read. Put it into a file and name that: ${name} -p "look for errors in build.log"`,
  );
}

function notText(name: string): UserError {
  return usageError(
    `stdin is not text, so it cannot be part of a prompt. Put it into a file and name that: ${name} -p "what is in data.bin?" </dev/null. A picture: --image <file>`,
  );
}
