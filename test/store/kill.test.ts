import { describe, expect, it } from "vitest";
import { killRounds } from "./kill.ts";

// The long form: npm run long -- kill --rounds 1000
describe("runs that are killed", () => {
  it("killed runs lose nothing that was shown, and every chat can be resumed", { timeout: 180_000 }, async () => {
    const summary = await killRounds(12);
    expect(summary.faults).toEqual([]);
    expect(summary.kills).toBeGreaterThan(0);
  });
});
