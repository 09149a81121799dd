// The error codes as docs/stream-json.md lists them: which there are, their exit codes, and after which a request is sent again.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
  codeNamedIn,
  type ErrorCode,
  errorCodes,
  exitCodeOf,
  explainError,
  faultOf,
  isRetryable,
  resultText,
  UserError,
} from "../../src/protocol/error-codes.ts";
import { repository } from "../support/run-cli.ts";

const page = readFileSync(join(repository, "docs/stream-json.md"), "utf8");
const listed = page.slice(page.indexOf("## Error codes"), page.indexOf("## In a program"));
const codes = (text: string) => new Set([...text.matchAll(/`([A-Z]+(?:_[A-Z]+)*)`/g)].map(([, code]) => code!));
const rowsWith = (words: string) => [
  ...codes(
    listed
      .split("\n")
      .filter((row) => row.includes(words))
      .join("\n"),
  ),
];
const known = Object.keys(errorCodes) as ErrorCode[];

it("the error codes are those of the docs", () => {
  expect([...codes(listed)].sort()).toEqual([...known].sort());
});

it("every error exits with 1, except wrong command lines, --fail-on conditions and signals", () => {
  const others = known.filter((code) => exitCodeOf(code) !== 1).map((code) => [code, exitCodeOf(code)]);
  expect(Object.fromEntries(others)).toEqual({ USAGE: 2, NOT_DONE: 5, INTERRUPTED: 130, TERMINATED: 143 });
});

it("error codes count as retryable if docs say that retries failed, or if something is only away for now", () => {
  const away = ["STORE_LOCKED", "MCP_UNREACHABLE", "AGENT_BUSY", "FLEET_UNREACHABLE"];
  expect(known.filter(isRetryable).sort()).toEqual([...rowsWith("retries failed"), ...away].sort());
});

it.each([
  ["Error: No key. [NOT_AUTHENTICATED]\n", "NOT_AUTHENTICATED"],
  ["Error: Stopped. [TERMINATED]  \nmore", "TERMINATED"],
  ["Error: It said [USAGE] there.", undefined],
  ["Error: Odd. [UNHEARD_OF]", undefined],
  ["Error: Odd. [toString]", undefined],
])("the code named in %j is %s", (stderr, code) => {
  expect(codeNamedIn(stderr)).toBe(code);
});

it("an error that is not the user's counts as a bug and is shown with its stack", () => {
  const own = new UserError("CWD_MISSING", "There is no x.");
  expect([explainError(own), faultOf(own)]).toEqual([{ code: "CWD_MISSING", message: "There is no x." }, own]);
  const bug = new Error("lost");
  expect(explainError(bug)).toEqual({
    code: "INTERNAL",
    message: `Unexpected failure, please report it: ${bug.stack}`,
  });
  expect(faultOf("odd")).toMatchObject({
    name: "UserError",
    code: "INTERNAL",
    message: "Unexpected failure, please report it: odd",
  });
  expect(resultText("x")).toBe("Error: x");
});
