// Reads stdin and writes stdout by file descriptor: loading `process.stdin` and `process.stdout` takes longer than all else here.

// Use getBuiltinModule: an import would first wrap the module as an ES module, which costs time at every hook call.
const { readSync, writeSync } = process.getBuiltinModule("node:fs");

/** Yields chunks until the end of input, or until the consumer stops. */
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
      yield* process.stdin; // stdin is in non-blocking mode
      return;
    }
    if (count === 0) return;
    yield chunk.subarray(0, count);
  }
}

/** Writes everything before returning, so that the process may exit. */
export function writeAll(descriptor: number, text: string): void {
  let bytes = Buffer.from(text);
  while (bytes.length > 0) {
    try {
      bytes = bytes.subarray(writeSync(descriptor, bytes));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPIPE") return; // the reader has closed the pipe
      if (code !== "EAGAIN") throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2); // wait a moment, since the pipe is full
    }
  }
}
