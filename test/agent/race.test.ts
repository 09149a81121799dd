import { describe, expect, test } from "vitest";
import { notLinux, orSkipped } from "../support/skipping.ts";
import { raceRounds } from "./race.ts";
import { raceSandbox } from "./race-sandbox.ts";
import { sandboxMissing } from "./sandbox-fixture.ts";

// The long form: npm run long -- race --rounds 100
describe("a folder replaced by links while tools read it", () => {
  const title = orSkipped("no tool tells or changes anything of what the links lead to", notLinux);
  test.skipIf(notLinux)(title, { timeout: 60_000 }, async () => {
    const { leaks, answered, swaps } = await raceRounds(2, 6);
    expect(leaks).toEqual([]);
    expect(answered).toBeGreaterThan(0);
    expect(swaps).toBeGreaterThan(20);
  });
});

describe("folders replaced by one sandboxed command while others read them", () => {
  const missing = sandboxMissing();
  test.skipIf(missing)(
    orSkipped("in races against the sandbox no denied file is read or written, and every command starts", missing),
    async () => {
      expect(await raceSandbox(1, 3)).toEqual({ commands: 3, leaks: [], failures: [] });
    },
  );
});
