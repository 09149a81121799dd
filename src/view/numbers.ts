// Numbers as people read them: times, tokens, sizes, counts. Short, and of even width where they change while one looks.

/** "12 ms", "0.4 s", "12 s", "1m 42s", "1h 02m". */
export function duration(ms: number): string {
  if (ms < 100) return `${Math.max(0, Math.round(ms))} ms`;
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes}m ${String(Math.floor(seconds % 60)).padStart(2, "0")}s`;
  return `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, "0")}m`;
}

/** Of what still runs: whole seconds, so that it changes once a second. */
export function runningFor(ms: number): string {
  return ms < 60_000 ? `${Math.floor(Math.max(0, ms) / 1000)} s` : duration(ms);
}

export function tokenCount(count: number): string {
  if (count < 1000) return String(count);
  if (count >= 1_000_000) return `${(count / 1_000_000).toFixed(2)}M`;
  return count < 100_000 ? `${(count / 1000).toFixed(1)}k` : `${Math.round(count / 1000)}k`;
}

export function byteSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1000)} kB`;
  return bytes < 1e9 ? `${(bytes / 1_000_000).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}

export function dollars(cost: number): string {
  return `$${cost < 0.995 && cost > 0 && cost < 0.01 ? cost.toFixed(4) : cost.toFixed(2)}`;
}

/** "1 file", "3 files". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
