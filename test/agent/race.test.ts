import { describe, expect, test } from "vitest";
import { notLinux, orSkipped } from "../support/skipping.ts";
import { raceRounds } from "./race.ts";

// The long form: npm run race -- --rounds 100
describe("a folder that is exchanged with links while tools look into it", () => {
  const title = orSkipped("no tool tells or changes anything of what the links lead to", notLinux);
  test.skipIf(notLinux)(title, { timeout: 60_000 }, async () => {
    const { leaks, answered, swaps } = await raceRounds(2, 6);
    expect(leaks).toEqual([]);
    expect(answered).toBeGreaterThan(0);
    expect(swaps).toBeGreaterThan(20);
  });
});
