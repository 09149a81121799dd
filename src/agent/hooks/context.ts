// What a hook wants the model to know, in a fence that says where it comes from.
import { block } from "../instructions/block.ts";

/** More of a hook's text would push out what the model works with. */
const longest = 30_000;

export function contextBlock(event: string, text: string): string {
  const short = text.length > longest ? `${text.slice(0, longest)}\n[… cut …]` : text;
  return block("hook_context", { event }, short);
}
