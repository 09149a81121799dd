// Chance in tests: one seed for all of them, which `npm test` prints. TEST_SEED=N makes the same choices again.

const given = process.env["TEST_SEED"];

/** The seed of this run. Where `npm test` has not chosen one, it is told as soon as somebody draws. */
export const testSeed = Number(given ?? Math.floor(Math.random() * 1e9));
let isTold = given !== undefined;

/** A seed for whoever has this name: it draws the same numbers alone as it does among others. */
export function seedOf(name: string): number {
  if (!isTold) {
    console.error(`TEST_SEED=${testSeed} makes the same random choices again.`);
    process.env["TEST_SEED"] = String(testSeed); // for programs of the tests
    isTold = true;
  }
  let mixed = testSeed;
  for (const character of name) mixed = Math.imul(mixed ^ character.codePointAt(0)!, 0x01000193);
  return mixed >>> 0;
}

/** Numbers from 0 up to 1, as `Math.random` gives them. */
export function chanceOf(name: string): () => number {
  let state: number | undefined;
  return () => {
    // Mulberry32, as in protocol/random.ts.
    state = ((state ?? seedOf(name)) + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
