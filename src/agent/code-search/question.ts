// Turns a question into concepts: each a word stem and its synonyms.
import { meantBy } from "./phrases.ts";
import { synonymsOf } from "./synonyms.ts";
import { isEmptyWord, splitIdentifier, termsOfWord } from "./words.ts";

/** A concept in the user's question; `terms` maps each search term for it to a weight. */
export type Concept = { terms: Map<string, number> };

const synonymWeight = 0.35;
const maxConcepts = 24;

export function conceptsOf(questionText: string): Concept[] {
  const question = questionText.slice(0, 2000);
  const words = question.match(/[\p{L}\p{N}_$]+/gu) ?? [];
  const concepts: Concept[] = [];
  const seen = new Set<string>();
  let previous: { concept: Concept; word: string } | undefined;
  for (const word of words) {
    if (isEmptyWord(word.toLowerCase())) {
      previous = undefined;
      continue;
    }
    const terms = termsOfWord(word);
    const concept = conceptOf(terms, word);
    // "user agent" is also spelled useragent, userAgent and user_agent, which are one term.
    if (previous && splitIdentifier(word).length === 1) {
      const joined = (previous.word + word).toLowerCase();
      previous.concept.terms.set(joined, 1);
      concept.terms.set(joined, 1);
    }
    previous = { concept, word };
    const key = terms[0] ?? word;
    if (concept.terms.size === 0 || seen.has(key)) continue;
    seen.add(key);
    concepts.push(concept);
  }
  const meant = meantBy(question);
  if (meant.size > 0) concepts.unshift({ terms: meant });
  return concepts.slice(0, maxConcepts);
}

function conceptOf(terms: readonly string[], word: string): Concept {
  const weights = new Map<string, number>();
  for (const term of terms) {
    for (const other of synonymsOf(term)) weights.set(other, Math.max(weights.get(other) ?? 0, synonymWeight));
  }
  for (const term of terms) weights.set(term, 1);
  if (weights.size === 0 && word.length > 1 && !isEmptyWord(word.toLowerCase())) weights.set(word.toLowerCase(), 1);
  return { terms: weights };
}
