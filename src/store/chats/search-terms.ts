// What is searched for, taken apart: words, and phrases in quotes. No text is a syntax error.

export type SearchTerm = { text: string; isPhrase: boolean };

/** What is in quotes is a phrase; a quote that is never closed reaches to the end. */
export function termsIn(text: string): SearchTerm[] {
  return [...text.matchAll(/"([^"]*)(?:"|$)|([^\s"]+)/g)].map(([, phrase, word]) =>
    phrase === undefined ? { text: word!, isPhrase: false } : { text: phrase, isPhrase: true },
  );
}

/** The index knows letters and digits only. */
export function isWord({ text }: SearchTerm): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}
