// Where the prompt comes from: the words of the command line, stdin, or both.
import { fstatSync } from "node:fs";
import { UserError } from "../protocol/error-codes.ts";
import { systemErrorText } from "../text/system-error.ts";
import type { Invocation } from "./main.ts";

/** `data`: what was piped beside typed words. It is told to the model as it is: nothing in it is a command or a mention. */
export type PromptText = { text: string; data?: string; usedStdin: boolean };

/** Stdin is read only when there are no words, or when a lone `-` asks for it: an open pipe must never hold up a prompt. */
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
  return new UserError(
    "USAGE",
    `no prompt was given. Pass one as an argument or on stdin: ${name} -p "what does this project do?"`,
  );
}

/** More than any model takes. */
const mostBytes = 16 * 2 ** 20;

async function readAll(signal: AbortSignal, name: string): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  signal.throwIfAborted();
  const stop = () => process.stdin.destroy(signal.reason as Error);
  signal.addEventListener("abort", stop, { once: true });
  try {
    for await (const chunk of process.stdin) {
      length += (chunk as Buffer).length;
      if (length > mostBytes) throw tooMuch(name);
      chunks.push(chunk as Buffer);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof UserError) throw error;
    throw new UserError("USAGE", `stdin cannot be read: ${systemErrorText(error)}. Give the prompt as an argument.`);
  } finally {
    signal.removeEventListener("abort", stop);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function tooMuch(name: string): UserError {
  return new UserError(
    "PROMPT_TOO_LARGE",
    `stdin has more than ${mostBytes / 2 ** 20} MiB, which is more than any model can read. Put it into a file and name that: ${name} -p "look for errors in build.log"`,
  );
}

/**
 * Whether a pipe on stdin has data that nobody read. Reading to find out would steal the data from a shell loop
 * that shares the pipe, so the kernel is asked for the count; where that cannot be done, nothing is said.
 */
export async function hasUnreadStdin(usedStdin: boolean): Promise<boolean> {
  if (usedStdin || process.platform !== "linux" || !isPipe()) return false;
  const { runProgram } = await import("../process/run-program.ts");
  const ask =
    'use Fcntl; sysopen(F, $ARGV[0], O_RDONLY | O_NONBLOCK) or exit; ioctl(F, 0x541B, $n = pack("L", 0)) or exit; print unpack("L", $n)';
  const { exitCode, stdout } = await runProgram({
    command: ["perl", "-e", ask, `/proc/${process.pid}/fd/0`],
    cwd: "/",
    env: process.env,
    timeoutMs: 500,
    leftovers: "ignore",
    plain: true,
  });
  return exitCode === 0 && Number(stdout) > 0;
}

function isPipe(): boolean {
  try {
    return fstatSync(0).isFIFO();
  } catch {
    return false;
  }
}
