import { describe, expect, it } from "vitest";
import { runFrameCase } from "../protocol/frames-driver.ts";
import { codeIn, faultsWithWays } from "./ways.ts";

const seen: Record<string, unknown> = { color: "red", size: 3 };
const judge = {
  faults: (expect: Record<string, unknown>) =>
    Object.entries(expect).flatMap(([key, value]) => (seen[key] === value ? [] : [{ key, text: "differs" }])),
  isSo: (sentence: string) => sentence === "it is red",
};

describe("alternatives of an outcome", () => {
  it.each([
    [{ color: "red" }, true],
    [{ color: "blue" }, false],
    [{ size: 3, one_of: [{ color: "blue" }, { color: "red" }] }, true],
    [{ size: 3, one_of: [{ color: "blue" }, { color: "green" }] }, false],
    [{ size: 4, one_of: [{ color: "red" }] }, false],
    [{ either: ["it is blue", "it is red"] }, true],
    [{ size: 4, either: ["it is red"] }, false],
    [{ one_of: ["it is blue"] }, false],
    [{ color: "blue", acceptable_instead: { color: "red" } }, true],
    [{ color: "blue", acceptable_instead: "it is red" }, true],
    [{ color: "blue", acceptable_instead: [{ color: "green" }, "it is blue"] }, false],
  ])("the alternatives of an expected outcome match %j: %s", (expected, passes) => {
    expect(faultsWithWays(expected, judge).length === 0).toBe(passes);
  });
});

it("the test driver finds an error code in a sentence", () => {
  expect(codeIn("CONFIG_INVALID and exit 1")).toBe("CONFIG_INVALID");
  expect(codeIn("parsed as JSONC")).toBeUndefined();
});

it.each([
  { outcome: "fail_closed", one_of: [{ error: "FRAME_SCHEMA" }, { error: "FRAME_SESSION" }] },
  { outcome: "fail_closed", never: "NO_OUTPUT" },
  { never: "something that nobody understands" },
  { outcome: "fail_closed", sings: true },
])("the frame driver fails on %j", (expected) => {
  const given = { id: "x", config: {}, input: { chunks: [], exit: 0 }, expect: expected };
  expect(runFrameCase(given).pass).toBe(false);
});
