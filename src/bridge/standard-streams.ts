// stdin and stdout by their descriptors: `process.stdin` and `process.stdout` take longer to load than everything else here.

// Not by import: a built-in module is made into an ES module first, and each hook call would pay for that.
const { readSync, writeSync } = process.getBuiltinModule("node:fs");

/** Yields until the end, or until the reader has had enough. */
export async function* standardInput(): AsyncGenerator<Uint8Array> {
  for (;;) {
    const chunk = Buffer.allocUnsafe(65_536);
    let count: number;
    try {
      count = readSync(0, chunk, 0, chunk.length, null);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EOF") return;
      if (code !== "EAGAIN") throw error;
      yield* process.stdin; // it was opened by somebody who does not wait
      return;
    }
    if (count === 0) return;
    yield chunk.subarray(0, count);
  }
}

/** All of it, before the process may end. */
export function writeAll(descriptor: number, text: string): void {
  let bytes = Buffer.from(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(descriptor, bytes));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPIPE") return; // nobody listens any more
      if (code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2); // the pipe is full
    }
  }
}
