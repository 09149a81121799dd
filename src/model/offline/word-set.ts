// Sets of words, made when they are first asked: most prompts need few of them.

/** Whether a word is one of these. */
export function wordSet(words: string): (word: string) => boolean {
  let set: Set<string> | undefined;
  return (word) => (set ??= new Set(words.split(" "))).has(word);
}
