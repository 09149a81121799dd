import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fixture, makeFixture, removeFixture } from "./fixture.ts";
import { linesOf, tables, wrongLine } from "./tables.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
});
afterAll(() => removeFixture(fixture));

describe("tables of commands", () => {
  it.each(tables.map((table) => [table.file, table.what, table] as const))(
    "the policy decides about commands as listed in the table: %s.txt: %s",
    { timeout: 120_000 },
    async (_file, _what, table) => {
      const commands = linesOf(table);
      expect(commands.length).toBeGreaterThan(10);
      const wrong: string[] = [];
      for (const command of commands) {
        const problem = await wrongLine(fixture, table, command);
        if (problem) wrong.push(problem);
      }
      expect(wrong).toEqual([]);
    },
  );
});
