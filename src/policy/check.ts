// A question in words: `Shell: git push -f`. May it be done here?
import { nearestName } from "../text/nearest.ts";
import { decide, type Situation } from "./decide.ts";
import type { Decision, Need } from "./need.ts";

const kinds: readonly Need["kind"][] = ["Shell", "Read", "Write", "Delete", "WebFetch", "WebSearch", "Mcp"];

/** The need that a text speaks of, or a sentence that says what is wrong with it. */
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

/** Throws for a text that is not a question. */
export async function check(question: string | Need, situation: Situation): Promise<Decision & { need: Need }> {
  const parsed = typeof question === "string" ? parseNeed(question) : { need: question };
  if ("problem" in parsed) throw new Error(`${parsed.problem}.`);
  return { need: parsed.need, ...(await decide([parsed.need], situation)) };
}
