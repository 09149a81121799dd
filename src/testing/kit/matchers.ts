// The checks in two forms: matchers for `expect` of vitest and Jest, and assertions that stand alone.
import { AssertionError } from "node:assert";
import { type CheckedRun, type CheckName, check, checkNames, type Given, messageOf } from "./checks.ts";

/** What each check takes, as methods. For vitest: `interface Matchers<T> extends CourserMatchers<T>`. */
export interface CourserMatchers<Result = unknown> {
  /** It ended by itself, said that it succeeded, and its exit code says so too. */
  toHaveSucceeded(...given: Given<"toHaveSucceeded">): Result;
  /** With that error code, where one is given. */
  toHaveFailed(...given: Given<"toHaveFailed">): Result;
  /** With this in the answer. */
  toHaveAnswered(...given: Given<"toHaveAnswered">): Result;
  /** With some of the arguments, so often, with that outcome. */
  toHaveCalledTool(...given: Given<"toHaveCalledTool">): Result;
  /** One after the other, whatever came between them. */
  toHaveCalledInOrder(...given: Given<"toHaveCalledInOrder">): Result;
  /** Of a run of agent(), or of one of its requests: the model was offered it. */
  toHaveTool(...given: Given<"toHaveTool">): Result;
  /** Exactly these; without any, some file. */
  toHaveChangedFiles(...given: Given<"toHaveChangedFiles">): Result;
  /** A person, with this in the question. */
  toHaveAsked(...given: Given<"toHaveAsked">): Result;
  /** A call of that tool, with this in the reason or rule. */
  toHaveBeenDenied(...given: Given<"toHaveBeenDenied">): Result;
}

type Verdict = { pass: boolean; message(): string };
type Matcher = (received: unknown, ...given: unknown[]) => Verdict;

/** For `expect.extend(courserMatchers)`. */
export const courserMatchers = Object.fromEntries(
  checkNames.map((name): [CheckName, Matcher] => [
    name,
    (received, ...given) => {
      const finding = check(name, received, given);
      // Asked only where it is not as it should be: what holds must not.
      return { pass: finding.pass, message: () => messageOf(finding, finding.pass) };
    },
  ]),
) as Record<CheckName, Matcher>;

export type RunExpectations = CourserMatchers<void> & { readonly not: CourserMatchers<void> };

/** The same checks without a framework, for `node:test` and scripts. Throws AssertionError. */
export function expectRun(run: CheckedRun): RunExpectations {
  return { ...assertions(run, false), not: assertions(run, true) };
}

function assertions(run: CheckedRun, isNot: boolean): CourserMatchers<void> {
  const made = checkNames.map((name) => {
    const assert = (...given: unknown[]): void => {
      const finding = check(name, run, given);
      if (finding.pass === isNot)
        throw new AssertionError({ message: messageOf(finding, isNot), operator: name, stackStartFn: assert });
    };
    return [name, assert] as const;
  });
  return Object.fromEntries(made) as unknown as CourserMatchers<void>;
}
