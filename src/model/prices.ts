// What tokens cost.
import type { Usage } from "../protocol/event.ts";

/** US dollars for a million tokens. Without a cache price, cached tokens cost what others do. */
export type Price = { input: number; output: number; cacheRead?: number; cacheWrite?: number };

/** US dollars. */
export function costOf(usage: Usage, price: Price): number {
  const millionths =
    usage.inputTokens * price.input +
    usage.outputTokens * price.output +
    usage.cacheReadTokens * (price.cacheRead ?? price.input) +
    usage.cacheWriteTokens * (price.cacheWrite ?? price.input);
  return millionths / 1_000_000;
}
