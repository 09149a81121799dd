// Fuzzy matching: ranks names by how well they match a few letters.

export type Candidate = { name: string; lower: string };

export function toCandidate(name: string): Candidate {
  return { name, lower: name.toLowerCase() };
}

/** Returns the best matches. An empty query matches everything, in the given order. */
export function bestMatches<Each extends Candidate>(query: string, candidates: Iterable<Each>, most: number): Each[] {
  const wanted = query.toLowerCase();
  const scored: { each: Each; score: number }[] = [];
  if (wanted === "") return [...candidates].slice(0, most);
  for (const each of candidates) {
    const score = scoreOf(wanted, each.lower);
    if (score !== undefined) scored.push({ each, score });
  }
  return scored
    .sort((one, other) => other.score - one.score || one.each.name.length - other.each.name.length)
    .slice(0, most)
    .map(({ each }) => each);
}

/** Higher is better. A contiguous match counts more than scattered letters, the last part of a path more than its folders. */
function scoreOf(wanted: string, name: string): number | undefined {
  if (!holdsInOrder(wanted, name)) return undefined;
  const base = name.replace(/\/$/, "").lastIndexOf("/") + 1;
  const inBase = name.indexOf(wanted, base);
  if (inBase === base) return 4000 - name.length;
  if (inBase !== -1) return (isBoundary(name, inBase) ? 3000 : 2500) - name.length;
  const anywhere = name.indexOf(wanted);
  if (anywhere !== -1) return (isBoundary(name, anywhere) ? 2000 : 1500) - name.length;
  return scoreLetters(wanted, name, base) - name.length / 10;
}

function holdsInOrder(wanted: string, name: string): boolean {
  let at = 0;
  for (let index = 0; index < name.length && at < wanted.length; index++)
    if (name.charCodeAt(index) === wanted.charCodeAt(at)) at++;
  return at === wanted.length;
}

/** Matches from the end, so that letters fall on the last part of a path where possible. */
function scoreLetters(wanted: string, name: string, base: number): number {
  let score = 0;
  let at = wanted.length - 1;
  let last = -1;
  for (let index = name.length - 1; index >= 0 && at >= 0; index--) {
    if (name.charCodeAt(index) !== wanted.charCodeAt(at)) continue;
    if (last === index + 1) score += 8;
    if (isBoundary(name, index)) score += 10;
    if (index >= base) score += 4;
    last = index;
    at--;
  }
  return score;
}

function isBoundary(name: string, index: number): boolean {
  return index === 0 || /[\s\-_./:]/.test(name[index - 1]!);
}
