// The checks in two forms: matchers for `expect` of vitest and Jest, and standalone assertions.
import { AssertionError } from "node:assert";
import { type CheckedRun, type CheckName, check, checkNames, failureMessage, type Given } from "./checks.ts";

/** The checks as methods of `expect`. For vitest, declare `interface Matchers<T> extends CourserMatchers<T>` in its module. */
export interface CourserMatchers<Result = unknown> {
  /** The run ended by itself with a success result and, if known, exit code 0. */
  toHaveSucceeded(...given: Given<"toHaveSucceeded">): Result;
  /** The run failed, with the error code if one is given. */
  toHaveFailed(...given: Given<"toHaveFailed">): Result;
  /** The answer contains this text. */
  toHaveAnswered(...given: Given<"toHaveAnswered">): Result;
  /** The tool was called with at least these arguments, this many times, with this outcome. */
  toHaveCalledTool(...given: Given<"toHaveCalledTool">): Result;
  /** The tools were called in this order, with any others in between. */
  toHaveCalledInOrder(...given: Given<"toHaveCalledInOrder">): Result;
  /** The model was offered the tool, in a run of agent() or in one of its requests. */
  toHaveTool(...given: Given<"toHaveTool">): Result;
  /** Exactly these files changed; without any, at least one did. */
  toHaveChangedFiles(...given: Given<"toHaveChangedFiles">): Result;
  /** The run asked a person, with this in the question. */
  toHaveAsked(...given: Given<"toHaveAsked">): Result;
  /** A call of that tool was refused, with this in the reason or rule. */
  toHaveBeenDenied(...given: Given<"toHaveBeenDenied">): Result;
}

type Verdict = { pass: boolean; message(): string };
type Matcher = (received: unknown, ...given: unknown[]) => Verdict;

/** Used with `expect.extend(courserMatchers)`. */
export const courserMatchers = Object.fromEntries(
  checkNames.map((name): [CheckName, Matcher] => [
    name,
    (received, ...given) => {
      const finding = check(name, received, given);
      // A test runner asks for the message only on failure. If the check holds then, it was negated.
      return { pass: finding.pass, message: () => failureMessage(finding, finding.pass) };
    },
  ]),
) as Record<CheckName, Matcher>;

/** The checks of a run. */
export type RunExpectations = CourserMatchers<void> & { readonly not: CourserMatchers<void> };

/** The same checks without a framework, for `node:test` and scripts. Throws an AssertionError. */
export function expectRun(run: CheckedRun): RunExpectations {
  return { ...assertions(run, false), not: assertions(run, true) };
}

function assertions(run: CheckedRun, isNot: boolean): CourserMatchers<void> {
  const matchers = checkNames.map((name) => {
    const assert = (...given: unknown[]): void => {
      const finding = check(name, run, given);
      if (finding.pass === isNot)
        throw new AssertionError({ message: failureMessage(finding, isNot), operator: name, stackStartFn: assert });
    };
    return [name, assert] as const;
  });
  return Object.fromEntries(matchers) as unknown as CourserMatchers<void>;
}
