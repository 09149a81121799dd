// What is documented of cursor-agent, statement by statement: each has its proof, and the page says what the cases say.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { withTables } from "../scripts/compatibility.ts";
import { repository } from "./support/run-cli.ts";
import { idleCases, missingProofs, type Statement, statements } from "./support/statements.ts";

const all = statements();
const one: Statement = { document: "manual", section: "1", says: "it", by: [], differs: undefined };

it("existing cases and tests prove every statement of the compatibility page", () => {
  expect(missingProofs(all)).toEqual([]);
  // It can fail.
  expect(missingProofs([one, { ...one, by: ["sample: none", "cli/golden.test.ts > none"] }])).toHaveLength(3);
});

it("every documented sample and command belongs to a statement", () => {
  expect(idleCases(all)).toEqual([]);
  expect(idleCases([]).length).toBeGreaterThan(50);
});

it("docs/compatibility.md is up to date (npm run long -- compatibility)", () => {
  const page = readFileSync(join(repository, "docs/compatibility.md"), "utf8");
  expect(page).toBe(withTables(page));
  expect(all.length).toBeGreaterThan(250);
});
