import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { repository } from "./process-bundle.ts";
import { type ProcessCase, runProcessCase } from "./process-driver.ts";

// COURSER_LONG=1: gigabytes and thousands, as the cases say.
const long = process.env["COURSER_LONG"] === "1";
const lines = readFileSync(join(repository, "test/cases/security-process.jsonl"), "utf8").split("\n").filter(Boolean);

describe.runIf(process.platform === "linux")("cases: process", () => {
  for (const given of lines.map((line) => JSON.parse(line) as ProcessCase)) {
    test(given.id, { timeout: long ? 300_000 : 60_000 }, async (context) => {
      const result = await runProcessCase(given, { long });
      if (result.skipped !== undefined) context.skip(result.skipped);
      expect(result.detail).toBe("");
      expect(result.pass).toBe(true);
    });
  }

  test("a wrong expectation is noticed", async () => {
    const wrong = { id: "x", config: {}, input: { child: "echo a" }, expect: { stdout: "b\n", exit: 0 } };
    expect(await runProcessCase(wrong)).toMatchObject({ pass: false, detail: expect.stringContaining("stdout") });
    const unknown = { id: "x", config: {}, input: { child: "true" }, expect: { sings: true } };
    expect(await runProcessCase(unknown)).toMatchObject({ pass: false, detail: expect.stringContaining("sings") });
  });
});
