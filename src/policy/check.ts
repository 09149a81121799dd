// Answers a permission question such as `Shell: git push -f`.
import { nearestName } from "../text/nearest.ts";
import { decide, type Situation } from "./decide.ts";
import type { Decision, Need } from "./need.ts";

const kinds: readonly Need["kind"][] = ["Shell", "Read", "Write", "Delete", "WebFetch", "WebSearch", "Mcp"];

/** Parses a question into a need, or returns a sentence that says what is wrong with it. */
export function parseNeed(text: string): { need: Need } | { problem: string } {
  const [, word = "", target = ""] = /^\s*(\w+)\s*:\s*(.*?)\s*$/s.exec(text) ?? [];
  const kind = kinds.find((each) => each.toLowerCase() === word.toLowerCase());
  if (kind && target !== "") return { need: { kind, target } };
  const meant = kind ?? (word && nearestName(word, kinds));
  const example = meant === "Mcp" ? "Mcp: server:tool" : `${meant || "Shell"}: …`;
  return {
    problem: `${JSON.stringify(text)} is not a question: write it like "${example}"; the kinds are ${kinds.join(", ")}`,
  };
}

/** Throws an Error if the question cannot be parsed. */
export async function check(question: string | Need, situation: Situation): Promise<Decision & { need: Need }> {
  const parsed = typeof question === "string" ? parseNeed(question) : { need: question };
  if ("problem" in parsed) throw new Error(`${parsed.problem}.`);
  return { need: parsed.need, ...(await decide([parsed.need], situation)) };
}
