// The only writer of stdout and stderr. Nothing is lost, memory stays bounded, a reader that went away ends the program
// quietly, and what could not be written makes it fail.
import { fstatSync, writeSync } from "node:fs";
import { UserError } from "../protocol/error-codes.ts";
import { createRedactor, type Redactor } from "../redact/redact.ts";
import { visible } from "../text/visible.ts";
import { secretsInUse } from "./secrets-in-use.ts";

export interface Sink {
  write(text: string | Uint8Array): void;
  /** Resolves when the reader has caught up enough for more, or is not waited for any longer. */
  ready(unless?: AbortSignal): Promise<void> | undefined;
  /** Resolves when everything is out; after an abort also when the reader takes nothing for a while. Is everything out? */
  flush(unless?: AbortSignal): Promise<boolean>;
  /** How much the reader has taken, while more waits for it; undefined while nothing does. */
  taken(): number | undefined;
}

/** Above this many unsent bytes the producer waits for the reader. */
const highWater = 1 << 20;
/** So much fits into a pipe at once. */
const directBytes = 16_384;
/** A reader that takes nothing for so long after an abort is not waited for. */
const patienceMs = 800;

let fault: UserError | undefined;

/** Why not everything could be written, on whichever of the two. */
export function outputFault(): UserError | undefined {
  return fault;
}

function faultOf(what: string, { code, message }: NodeJS.ErrnoException): UserError {
  return new UserError(code === "ENOSPC" ? "STORE_FULL" : "OUTPUT_FAILED", `${what} cannot be written: ${message}`);
}

function isClosed({ code }: NodeJS.ErrnoException): boolean {
  return code === "EPIPE" || code === "ECONNRESET" || code === "EOF";
}

/** `onFailed`: not everything can be written. The program says so as it ends. */
export function openStdout(onClosed = () => {}, onFailed: (fault: UserError) => void = () => {}): Sink {
  const isFile = fstatSync(1).isFile();
  let sent = 0;
  let failed = false;

  const fail = (error: NodeJS.ErrnoException) => {
    if (failed) return;
    failed = true;
    if (isClosed(error)) return onClosed();
    fault ??= faultOf("The output", error);
    onFailed(fault);
  };

  // process.stdout takes 5 ms to make. The first lines fit a pipe's buffer, so they go out directly.
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
  const taken = (): number | undefined => {
    // A long piece is taken little by little, which only the handle knows.
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
        let seen = taken();
        let quietMs = 0;
        const everyMs = 100;
        watching = setInterval(() => {
          const now = taken();
          quietMs = unless.aborted && now === seen ? quietMs + everyMs : 0;
          seen = now;
          if (quietMs >= patienceMs) resolve(false);
        }, everyMs);
      });
      clearInterval(watching);
      await new Promise(setImmediate); // a failure is told right after
      return isOut;
    },
    taken,
  };
}

function queueSize(stream: NodeJS.WriteStream): number {
  return (stream as { _handle?: { writeQueueSize?: number } | null })._handle?.writeQueueSize ?? 0;
}

let redactor: Redactor | undefined;

/** What the program says about itself, without the keys it uses and whatever else looks like a secret. */
export function withoutSecrets(text: string): string {
  // Made with the first word on stderr: most runs say none.
  redactor ??= createRedactor({ values: secretsInUse(process.argv.slice(2), process.env) });
  return redactor.redact(text);
}

/** A message for people. What strangers wrote in it, such as the name of a project's server, cannot move the cursor or hide anything. */
export function writeStderr(text: string): void {
  writeAtOnce(visible(withoutSecrets(text).replaceAll("\r\n", "\n")));
}

/** A line that the next one overwrites: our own words, with control characters. */
export function writeProgress(text: string): void {
  writeAtOnce(text);
}

let saidBytes = 0;
let hasStderrStream = false;

/** Small and synchronous: messages on stderr must be out even when the process ends right after. */
function writeAtOnce(text: string): void {
  saidBytes += text.length;
  // More than a pipe holds would hold us up as long as its reader does.
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

/** Waits for what was not written at once, within reason. */
export async function flushStderr(): Promise<void> {
  if (!hasStderrStream || process.stderr.writableLength === 0) return;
  await new Promise<void>((resolve) => {
    process.stderr.write("", () => resolve());
    setTimeout(resolve, patienceMs);
  });
}

/** A closed stderr leaves nobody to tell. */
function failStderr(error: NodeJS.ErrnoException): void {
  if (!isClosed(error)) fault ??= faultOf("stderr", error);
}
