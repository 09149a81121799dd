// A case of test/cases: one line of data, what is done and what must be seen.

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
