// Blocks of more lines than a function call takes arguments: some 120,000.
import { expect, it } from "vitest";
import { said, shown } from "./events.ts";

it("the terminal shows a list of 150,000 items completely", async () => {
  const items = Array.from({ length: 150_000 }, (_, index) => `- ${index}`).join("\n");
  const lines = await shown(said(`${items}\n\nDone.\n`, 1_000_000));
  expect(lines.filter((line) => /\d/.test(line))).toHaveLength(150_000);
  expect(lines.at(-1)).toContain("Done.");
}, 120_000);
