// A case of test/cases: one line of data, what is done and what must be seen.
import { readFileSync } from "node:fs";

export type Case = {
  id: string;
  group: string;
  config: Record<string, any>;
  input: Record<string, any>;
  expect: Record<string, any>;
  why: string;
};

export type CaseResult = {
  pass: boolean;
  verdict: string;
  expected: string;
  /** Nothing happened that must not happen. */
  safe: boolean;
  /** The answer is exactly the expected one. */
  exact: boolean;
  detail: string;
  /** Why it could not be run here. */
  skipped?: string;
};

export type CaseDriver = (
  given: Case,
  options: { driver: "library" | "cli"; long: boolean },
) => Promise<CaseResult> | CaseResult;

export function casesIn(file: string): Case[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.flatMap((line, index) => {
    if (line.trim() === "") return [];
    try {
      return [JSON.parse(line) as Case];
    } catch (error) {
      throw new Error(`${file}:${index + 1}: ${(error as Error).message}`);
    }
  });
}
