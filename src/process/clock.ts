// Time that only goes on. `performance.now()` says the same, and loads a module that costs milliseconds at start-up.

/** Milliseconds since this process began. */
export function milliseconds(): number {
  return process.uptime() * 1000;
}
