// Why a call failed or was refused. Rules and files that a refusal names stand out.
import { documentText } from "../../view/document-text.ts";

/** `Shell(rm)`, `Write(src/**)`; paths of settings. */
const named =
  /\b(?:Shell|Read|Write|Delete|WebFetch|WebSearch|Mcp)\([^()\n]*\)|(?:~|\.{0,2})\/[^\s,;:'"]+\.(?:json|md|toml)\b/g;

/** Longer ones are what a program printed. */
const mostText = 4000;

export function Reason({ text, isRefused }: { text: string; isRefused?: boolean }) {
  const shown = documentText(text.trim());
  const cut = shown.length > mostText ? `${shown.slice(0, mostText)} …` : shown;
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
