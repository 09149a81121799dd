// Computes what a request costs from its token counts.
import type { Usage } from "../protocol/event.ts";

type Amounts = { input: number; output: number; cacheRead?: number; cacheWrite?: number };

/**
 * US dollars per million tokens. Without a cache price, cached tokens cost the same as others. `above` applies to the whole of a
 * request that sends more than `tokens`.
 */
export type Price = Amounts & { above?: Amounts & { tokens: number } };

/** Returns the cost of one request in US dollars. */
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
