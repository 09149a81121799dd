// A monotonic clock, and waiting with a time limit.

/** Milliseconds since this process started. `performance.now()` would do, but loads a module that costs milliseconds at start-up. */
export function milliseconds(): number {
  return process.uptime() * 1000;
}

export async function settlesWithin(event: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    // In a busy process timers fire before pipes are read, so first handle pending input.
    timer = setTimeout(() => setImmediate(() => resolve(false)), limitMs);
  });
  try {
    return await Promise.race([event.then(() => true as const), late]);
  } finally {
    clearTimeout(timer);
  }
}
