// Splits a prompt into orders, each of one form of the table with no word left over. Otherwise refuses, naming the nearest forms.
import { programName } from "../../text/program-name.ts";
import { type Form, forms } from "./forms.ts";
import { asTyped, compileSentence, type Masked, mask, readSlots } from "./slots.ts";

export type Order = { form: Form; slots: Readonly<Record<string, string>> };

/** The result of parsing a prompt: orders to carry out, or the `part` that matches no form. */
export type Understood = { orders: Order[] } | { part: string; isOneOfSeveral?: boolean };

/** Limits for the prompt, and for its words without quoted texts. */
const LONGEST = { prompt: 50_000, words: 4_000 };
const JOINED = /\s*[,;]?\s+(?:and then|then|and)\s+|\s*\n\s*(?:(?:and then|then|and)\s+)?/gi;

export function parseOrders(prompt: string): Understood {
  const masked = mask(prompt.slice(0, LONGEST.prompt).trim());
  const { text } = masked;
  if (prompt.length > LONGEST.prompt || text.length > LONGEST.words) return { part: prompt };
  const joints = [...text.matchAll(JOINED)].map((joint) => ({ end: joint.index, next: joint.index + joint[0].length }));
  const ends = [...joints, { end: text.length, next: text.length }];
  const orders: Order[] = [];
  for (let at = 0; at < text.length; ) {
    const rest = ends.filter(({ end }) => end > at);
    let next: number | undefined;
    // The longest first: the items of a todo list may themselves be joined by "and".
    for (const joint of rest.toReversed()) {
      const order = parseInstruction(text.slice(at, joint.end), masked);
      if (!order) continue;
      orders.push(order);
      next = joint.next;
      break;
    }
    if (next === undefined)
      return { part: asTyped(text.slice(at, rest[0]!.end), masked), isOneOfSeveral: joints.length > 0 };
    at = next;
  }
  return orders.length > 0 ? { orders } : { part: prompt };
}

const patterns = new Map<string, RegExp>();

function parseInstruction(words: string, masked: Masked): Order | undefined {
  const plain = words.replace(/\s+/g, " ").replace(/^ ?(?:please,? )?|,? please(?=[.!?]*$)| $/gi, "");
  const isQuestion = plain.endsWith("?");
  // A full stop ends a sentence only after a word, not in "git add ." or "ls a/..".
  const sentence = `${plain.replace(/(?<=[^\s.!?/])(?:\.|!+)$|\s?\?+$/, "")} `;
  for (const form of forms) {
    if (form.changes && isQuestion) continue;
    for (const says of form.says) {
      const pattern = patterns.get(says) ?? compileSentence(says);
      patterns.set(says, pattern);
      const found = pattern.exec(sentence);
      const slots = found && readSlots(found.groups ?? {}, masked);
      if (slots) return { form, slots };
    }
  }
  return undefined;
}

/** Returns the error message: at most three lines. */
export function explainMisunderstanding(understood: Extract<Understood, { part: string }>): string {
  const part = understood.part.trim().replace(/\s+/g, " ");
  const shortPart = part.length > 60 ? `${part.slice(0, 57)}...` : part;
  const nothing = understood.isOneOfSeveral ? " Nothing was done." : "";
  return [
    `The built-in offline model cannot do this: it did not understand "${shortPart}".${nothing}`,
    `The nearest it can do: ${nearestExamples(part).join(" · ")} (all of it: what can you do?)`,
    `For a real model: ${howToGetAModel()}`,
  ].join("\n");
}

export function howToGetAModel(): string {
  return `${programName()} login, or in the terminal /login and /model`;
}

/** Returns two examples: of the forms that share the rarest words with the prompt, otherwise of the most common ones. */
function nearestExamples(part: string): string[] {
  const vocabularies = forms.map(({ says, example }) => new Set(wordsIn(`${says.join(" ")} ${example}`)));
  const weigh = (word: string): number => 1 / vocabularies.filter((words) => words.has(word)).length;
  const typed = new Set(wordsIn(part));
  const scores = forms.map(({ do: deed }, index) => {
    const shared = [...typed].filter((word) => vocabularies[index]!.has(word));
    return shared.reduce((sum, word) => sum + weigh(word), deed === "read" || deed === "create" ? 0.2 : 0);
  });
  const best = [...scores.keys()].sort((one, other) => scores[other]! - scores[one]!);
  return best.slice(0, 2).map((index) => forms[index]!.example);
}

function wordsIn(text: string): string[] {
  return text.toLowerCase().match(/[a-z]{2,}/g) ?? [];
}
