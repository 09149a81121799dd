import { describe, expect, it } from "vitest";
import { wrongLines } from "./under-force.ts";

describe("under --force", () => {
  it.each([
    ["write-denied", "Write deny rules are judged as protected paths are"],
    ["write-ordinary", "ordinary commands beside them stay allowed"],
    ["shell-denied", "Shell deny rules hold through variables, links and files that this run wrote"],
    ["shell-ordinary", "ordinary commands beside them stay allowed"],
    ["keys", "saved keys stay unread"],
  ])("the policy decides about commands under --force as listed in the table: %s.txt: %s", async (file) => {
    const { wrong, count } = await wrongLines(file);
    expect(wrong).toEqual([]);
    expect(count).toBeGreaterThan(50);
  });
});
