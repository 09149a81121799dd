// What tokens cost.
import type { Usage } from "../protocol/event.ts";

type Amounts = { input: number; output: number; cacheRead?: number; cacheWrite?: number };

/**
 * US dollars for a million tokens. Without a cache price, cached tokens cost what others do. `above`: of a request that
 * sends more tokens than so many, the whole of it.
 */
export type Price = Amounts & { above?: Amounts & { tokens: number } };

/** US dollars for one request. */
export function costOf(usage: Usage, { above, ...base }: Price): number {
  const sent = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const price = above && sent > above.tokens ? above : base;
  const millionths =
    usage.inputTokens * price.input +
    usage.outputTokens * price.output +
    usage.cacheReadTokens * (price.cacheRead ?? price.input) +
    usage.cacheWriteTokens * (price.cacheWrite ?? price.input);
  return millionths / 1_000_000;
}
