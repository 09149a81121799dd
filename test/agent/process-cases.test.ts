// The driver of process cases on expectations that must fail. The cases themselves: test/cases.test.ts.
import { expect, test } from "vitest";
import { notLinux, orSkipped } from "../support/skipping.ts";
import { runProcessCase } from "./process-driver.ts";

test.skipIf(notLinux)(orSkipped("a wrong expectation is noticed", notLinux), async () => {
  const wrong = { id: "x", config: {}, input: { child: "echo a" }, expect: { stdout: "b\n", exit: 0 } };
  expect(await runProcessCase(wrong)).toMatchObject({ pass: false, detail: expect.stringContaining("stdout") });
  const unknown = { id: "x", config: {}, input: { child: "true" }, expect: { sings: true } };
  expect(await runProcessCase(unknown)).toMatchObject({ pass: false, detail: expect.stringContaining("sings") });
});
