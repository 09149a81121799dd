// `one_of`, `either`, `acceptable_instead`: several outcomes that pass, told as more of `expect` or as a sentence.

export type Fault = { key: string; text: string };
type Expect = Record<string, unknown>;

export type Judge = {
  /** What of a plain `expect` does not hold. */
  faults(expect: Expect): Fault[];
  /** Whether a sentence is true of what was seen. A sentence that nobody understands is not. */
  isSo(sentence: string): boolean;
};

/** None: the case passes. */
export function faultsWithWays(expect: Expect, judge: Judge): Fault[] {
  const { one_of, either, acceptable_instead, ...base } = expect;
  const faults: Fault[] = [];
  const required = Object.entries({ one_of, either }).filter(([, ways]) => ways !== undefined);
  if (required.length === 0) faults.push(...judge.faults(base));
  for (const [key, ways] of required) {
    const tried = listOf(ways).map((way) => faultsOfWay(way, base, judge));
    if (tried.some((found) => found.length === 0)) continue;
    // The way that came closest says most.
    const closest = tried.sort((left, right) => left.length - right.length)[0] ?? [];
    faults.push({ key, text: "none of them holds" }, ...closest);
  }
  if (faults.length === 0 || acceptable_instead === undefined) return faults;
  const isAccepted = listOf(acceptable_instead).some((way) =>
    typeof way === "string" ? judge.isSo(way) : faultsOfWay(way, base, judge).length === 0,
  );
  return isAccepted ? [] : faults;
}

function faultsOfWay(way: unknown, base: Expect, judge: Judge): Fault[] {
  if (typeof way !== "string") return judge.faults({ ...base, ...(way as Expect) });
  return judge.isSo(way) ? judge.faults(base) : [{ key: "one_of", text: `not so: ${way}` }];
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

/** A code in a sentence, such as CONFIG_INVALID. */
export function codeIn(sentence: string): string | undefined {
  return /\b[A-Z]+(?:_[A-Z]+)+\b|\bUSAGE\b|\bUNTRUSTED\b/.exec(sentence)?.[0];
}

export function shownFaults(faults: readonly Fault[]): string {
  return faults.map(({ key, text }) => `${key}: ${text}`).join("; ");
}
