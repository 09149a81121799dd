// Wraps a hook's context for the model in a tag that names its event.
import { block } from "../instructions/block.ts";

/** Longer hook output would crowd out the model's working context. */
const longest = 30_000;

export function contextBlock(event: string, text: string): string {
  const short = text.length > longest ? `${text.slice(0, longest)}\n[… cut …]` : text;
  return block("hook_context", { event }, short);
}
