// Parses a search text into words and quoted phrases. Every text is valid.

export type SearchTerm = { text: string; isPhrase: boolean };

/** Splits a search text into terms. Quoted text is a phrase; an unclosed quote extends to the end. */
export function termsIn(text: string): SearchTerm[] {
  return [...text.matchAll(/"([^"]*)(?:"|$)|([^\s"]+)/g)].map(([, phrase, word]) =>
    phrase === undefined ? { text: word!, isPhrase: false } : { text: phrase, isPhrase: true },
  );
}

/** Returns whether a search term is a single word, since the index contains only letters and digits. */
export function isWord({ text }: SearchTerm): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
