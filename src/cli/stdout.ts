// The only writer of stdout and stderr. Loses nothing, limits memory, ends the program quietly when the reader is gone, and
// makes it fail if something could not be written.
import { fstatSync, writeSync } from "node:fs";
import { UserError } from "../protocol/error-codes.ts";
import { createRedactor, type Redactor } from "../redact/redact.ts";
import { visible } from "../text/visible.ts";
import { secretsInUse } from "./secrets-in-use.ts";

export interface Sink {
  write(text: string | Uint8Array): void;
  /** Resolves when the reader has caught up enough for more, or is no longer waited for. */
  ready(unless?: AbortSignal): Promise<void> | undefined;
  /** Resolves with whether everything was written. After an abort, it gives up when the reader takes nothing for a while. */
  flush(unless?: AbortSignal): Promise<boolean>;
  /** The number of bytes the reader has taken while more are pending; undefined if none are. */
  taken(): number | undefined;
}

/** Above this many unsent bytes the producer waits for the reader. */
const highWater = 1 << 20;
/** The number of bytes that fit into a pipe without blocking. */
const directBytes = 16_384;
/** After an abort, how many milliseconds to wait for a reader that reads nothing. */
const patienceMs = 800;

let fault: UserError | undefined;

/** Returns the first write error of stdout or stderr, if there was one. */
export function outputFault(): UserError | undefined {
  return fault;
}

function writeFault(what: string, { code, message }: NodeJS.ErrnoException): UserError {
  return new UserError(code === "ENOSPC" ? "STORE_FULL" : "OUTPUT_FAILED", `${what} cannot be written: ${message}`);
}

function isClosed({ code }: NodeJS.ErrnoException): boolean {
  return code === "EPIPE" || code === "ECONNRESET" || code === "EOF";
}

/** `onFailed` is called when not everything can be written. The program reports the error when it ends. */
export function openStdout(onClosed = () => {}, onFailed: (fault: UserError) => void = () => {}): Sink {
  const isFile = fstatSync(1).isFile();
  let sent = 0;
  let failed = false;

  const fail = (error: NodeJS.ErrnoException) => {
    if (failed) return;
    failed = true;
    if (isClosed(error)) return onClosed();
    fault ??= writeFault("The output", error);
    onFailed(fault);
  };

  // Creating process.stdout takes 5 ms. The first lines fit a pipe's buffer, so they are written directly.
  const writeNow = (text: string | Uint8Array): boolean => {
    const bytes = typeof text === "string" ? Buffer.from(text) : text;
    if (!isFile && sent + bytes.length > directBytes) return false;
    try {
      let offset = 0;
      while (offset < bytes.length) offset += writeSync(1, bytes, offset);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "EAGAIN") return false;
      fail(error as NodeJS.ErrnoException);
    }
    sent += bytes.length;
    return true;
  };

  let stream: NodeJS.WriteStream | undefined;
  const openStream = (): NodeJS.WriteStream => {
    if (!stream) {
      stream = process.stdout;
      stream.on("error", fail);
    }
    return stream;
  };

  let handed = 0;
  const takenCount = (): number | undefined => {
    // A long chunk is taken bit by bit, and only the handle knows how much is left.
    const left = stream && !failed ? stream.writableLength + queueSize(stream) : 0;
    return left > 0 ? handed - left : undefined;
  };

  return {
    write(text) {
      if (failed) return;
      if (!stream && writeNow(text)) return;
      handed += Buffer.byteLength(text);
      openStream().write(text);
    },
    ready(unless) {
      if (failed || unless?.aborted || !stream || stream.writableLength < highWater) return undefined;
      const waiting = stream;
      return new Promise((resolve) => {
        const end = () => {
          for (const name of ["drain", "error", "close"]) waiting.off(name, end);
          unless?.removeEventListener("abort", end);
          resolve();
        };
        for (const name of ["drain", "error", "close"]) waiting.once(name, end);
        unless?.addEventListener("abort", end, { once: true });
      });
    },
    async flush(unless) {
      if (failed || !stream) return true;
      const waiting = stream;
      let watching: NodeJS.Timeout | undefined;
      const isOut = await new Promise<boolean>((resolve) => {
        waiting.write("", () => resolve(true));
        if (!unless) return;
        let seen = takenCount();
        let quietMs = 0;
        const everyMs = 100;
        watching = setInterval(() => {
          const now = takenCount();
          quietMs = unless.aborted && now === seen ? quietMs + everyMs : 0;
          seen = now;
          if (quietMs >= patienceMs) resolve(false);
        }, everyMs);
      });
      clearInterval(watching);
      await new Promise(setImmediate); // a write error is reported in the next iteration of the event loop
      return isOut;
    },
    taken: takenCount,
  };
}

function queueSize(stream: NodeJS.WriteStream): number {
  return (stream as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;
}

let redactor: Redactor | undefined;
const learnedSecrets: string[] = [];

/** Adds values that prove to be keys once the settings of a run are read. */
export function learnSecrets(values: readonly string[]): void {
  learnedSecrets.push(...values);
  if (values.length > 0) redactor = undefined;
}

/** Redacts the keys in use, and anything else that looks like a secret, in the program's own messages. */
export function withoutSecrets(text: string): string {
  // Created at the first message on stderr, because most runs have none.
  redactor ??= createRedactor({ values: [...secretsInUse(process.argv.slice(2), process.env), ...learnedSecrets] });
  return redactor.redact(text);
}

/** Writes a message for people. Foreign text in it cannot move the cursor or hide anything. */
export function writeStderr(text: string): void {
  writeAtOnce(visible(withoutSecrets(text).replaceAll("\r\n", "\n")));
}

/** Writes a line that the next one overwrites. It is not escaped, so the text must be trusted. */
export function writeProgress(text: string): void {
  writeAtOnce(text);
}

let saidBytes = 0;
let hasStderrStream = false;

/** Writes small texts synchronously, because messages must be out even if the process ends right after. */
function writeAtOnce(text: string): void {
  saidBytes += text.length;
  // Write large amounts asynchronously: more than a pipe can hold would block until its reader catches up.
  const isMuch = saidBytes > directBytes || hasStderrStream;
  try {
    if (isMuch) writeLater(text);
    else writeSync(2, text);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EAGAIN") writeLater(text);
    else failStderr(error as NodeJS.ErrnoException);
  }
}

function writeLater(text: string): void {
  const { stderr } = process;
  if (!hasStderrStream) stderr.on("error", failStderr);
  hasStderrStream = true;
  if (stderr.writableLength < highWater) stderr.write(text);
}

/** Waits a limited time for pending writes to stderr. */
export async function flushStderr(): Promise<void> {
  if (!hasStderrStream || process.stderr.writableLength === 0) return;
  await new Promise<void>((resolve) => {
    process.stderr.write("", () => resolve());
    setTimeout(resolve, patienceMs);
  });
}

/** Ignores errors of stderr, since there is no other place to report them. */
function failStderr(error: NodeJS.ErrnoException): void {
  if (!isClosed(error)) fault ??= writeFault("stderr", error);
}
