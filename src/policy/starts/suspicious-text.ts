// Finds characters that make a line look like another one. Quotes allow invisible ones, but no control or direction characters.
import { showText } from "../show.ts";
import type { StartedPrograms } from "./wrappers.ts";

/** Matches joiners, direction marks, and all spaces but U+0020. */
const invisible = /[\p{Cf}\p{Zl}\p{Zp}\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u115f\u1160\u3164\uffa0\u2800]/gu;

export function suspiciousText(command: string, { lines, sources }: StartedPrograms): string[] {
  if (/^[\t\n\x20-\x7e]*$/.test(command)) return [];
  const reasons: string[] = [];
  if (/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.test(command)) reasons.push("It contains control characters.");
  if (/[\u202a-\u202e\u2066-\u2069]/.test(command))
    reasons.push("It contains characters that change the direction of text.");
  for (const [index, source] of sources.entries()) {
    const isQuoted = (at: number) => lines[index]!.quoted.some(([from, to]) => at >= from && at < to);
    if ([...source.matchAll(invisible)].some((match) => !isQuoted(match.index)))
      reasons.push("It contains invisible characters outside quotes.");
  }
  for (const { commands } of lines)
    for (const { name } of commands)
      if (name && /[^\x20-\x7e]/.test(name.value))
        reasons.push(`The name ${showText(name.value)} contains unusual characters.`);
  return reasons;
}
