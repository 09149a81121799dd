// Time that only goes on, and waiting that ends.

/** Since this process began. `performance.now()` says the same, and loads a module that costs milliseconds at start-up. */
export function milliseconds(): number {
  return process.uptime() * 1000;
}

export async function happensWithin(event: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    // A busy process sees its timers before its pipes: what has come by then is looked at first.
    timer = setTimeout(() => setImmediate(() => resolve(false)), limitMs);
  });
  try {
    return await Promise.race([event.then(() => true as const), late]);
  } finally {
    clearTimeout(timer);
  }
}
