// Shows why a call failed or was refused, highlighting rules and files that a refusal names.
import { documentText } from "../../view/document-text.ts";

/** Matches rules such as `Shell(rm)` and `Write(src/**)`, and paths of settings. */
const named =
  /\b(?:Shell|Read|Write|Delete|WebFetch|WebSearch|Mcp)\([^()\n]*\)|(?:~|\.{0,2})\/[^\s,;:'"]+\.(?:json|md|toml)\b/g;

/** The length above which a reason, which is then the output of a program, is shortened. */
const maxText = 4000;

export function Reason({ text, isRefused }: { text: string; isRefused?: boolean }) {
  const reasonText = documentText(text.trim());
  const cut = reasonText.length > maxText ? `${reasonText.slice(0, maxText)} …` : reasonText;
  return <p class={`cr-reason${isRefused ? " cr-refused" : " cr-failed"}`}>{isRefused ? withNames(cut) : cut}</p>;
}

function withNames(text: string) {
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(named)) {
    parts.push(text.slice(at, found.index), <code>{found[0]}</code>);
    at = found.index + found[0].length;
  }
  return [...parts, text.slice(at)];
}
