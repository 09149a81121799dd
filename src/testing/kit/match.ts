// Matches a value against a test's description: partial objects, patterns, functions, and the matchers of test runners.
import { isObject } from "../../json/object.ts";

/** A text also matches if it is a path below `folder` and the test gives it relative to there. */
export function isMatch(expected: unknown, actual: unknown, folder?: string): boolean {
  if (expected instanceof RegExp) return typeof actual === "string" && expected.test(actual);
  if (typeof expected === "function") return Boolean(expected(actual));
  if (isAsymmetric(expected)) return expected.asymmetricMatch(actual);
  if (Array.isArray(expected))
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((each, index) => isMatch(each, actual[index], folder))
    );
  if (isObject(expected))
    return isObject(actual) && Object.entries(expected).every(([key, value]) => isMatch(value, actual[key], folder));
  return Object.is(expected, actual) || (folder !== undefined && isBelow(expected, actual, folder));
}

function isBelow(expected: unknown, actual: unknown, folder: string): boolean {
  if (typeof expected !== "string" || typeof actual !== "string" || !actual.startsWith(folder)) return false;
  const rest = actual.slice(folder.length).replaceAll("\\", "/");
  return rest === `/${expected}`;
}

/** The shape of `expect.stringContaining()` and the like, in vitest and Jest. */
type Asymmetric = { asymmetricMatch(value: unknown): boolean };

function isAsymmetric(value: unknown): value is Asymmetric {
  return isObject(value) && typeof value.asymmetricMatch === "function";
}

/** Renders a value on one line of limited length. */
export function shown(value: unknown): string {
  if (value instanceof RegExp) return String(value);
  const text =
    JSON.stringify(value, (_, inner: unknown) => {
      if (inner instanceof RegExp) return String(inner);
      if (isAsymmetric(inner)) return String(inner);
      return typeof inner === "function" ? "(a function)" : inner;
    }) ?? String(value);
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}
