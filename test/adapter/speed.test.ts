import { expect, test } from "vitest";
import { adapterTimes } from "../../bench/adapter.ts";

test("the adapter adds little to the cost of parsing JSON", { timeout: 60_000, retry: 2 }, async () => {
  const { timesParse, msPer100 } = await adapterTimes({ events: 20_000, rounds: 3 });
  // 1 ms for 100 events is some ten times what JSON.parse takes for lines of this length.
  expect(timesParse, `${msPer100.toFixed(3)} ms for 100 events`).toBeLessThan(8);
});
