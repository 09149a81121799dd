// The only writer of stdout. Nothing is lost, memory stays bounded, and a reader that went away ends the program quietly.
import { fstatSync, writeSync } from "node:fs";
import { createRedactor, type Redactor } from "../redact/redact.ts";
import { visible } from "../text/visible.ts";
import { secretsInUse } from "./secrets-in-use.ts";

export interface Sink {
  write(text: string): void;
  /** Resolves when the reader has caught up enough for more. */
  ready(): Promise<void> | undefined;
  /** Resolves when everything is out, or after `limitMs` when the reader stalls. */
  flush(limitMs?: number): Promise<void>;
}

/** Above this many unsent bytes the producer waits for the reader. */
const highWater = 1 << 20;

export function openStdout(onClosed = () => {}, onFailed: (error: NodeJS.ErrnoException) => void = () => {}): Sink {
  const isFile = fstatSync(1).isFile();
  let sent = 0;
  let failed = false;

  const fail = (error: NodeJS.ErrnoException) => {
    if (failed) return;
    failed = true;
    if (error.code === "EPIPE" || error.code === "ECONNRESET" || error.code === "EOF") onClosed();
    else onFailed(error);
  };

  // process.stdout takes 5 ms to make. The first lines fit a pipe's buffer, so they go out directly.
  const writeNow = (text: string): boolean => {
    const bytes = Buffer.from(text);
    if (!isFile && sent + bytes.length > 16_384) return false;
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

  return {
    write(text) {
      if (failed) return;
      if (!stream && writeNow(text)) return;
      openStream().write(text);
    },
    ready() {
      if (failed || !stream || stream.writableLength < highWater) return undefined;
      const waiting = stream;
      return new Promise((resolve) => {
        waiting.once("drain", resolve);
        waiting.once("error", () => resolve());
        waiting.once("close", () => resolve());
      });
    },
    async flush(limitMs) {
      if (failed || !stream || stream.writableLength === 0) return;
      const waiting = stream;
      await new Promise<void>((resolve) => {
        const timer = limitMs === undefined ? undefined : setTimeout(resolve, limitMs);
        waiting.write("", () => {
          clearTimeout(timer);
          resolve();
        });
      });
    },
  };
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

/** Small and synchronous: messages on stderr must be out even when the process ends right after. */
function writeAtOnce(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // A closed stderr leaves nobody to tell.
  }
}
