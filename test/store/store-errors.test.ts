// Errors of SQLite and of the system, as a user reads them: each has one code, and a bug is none of them.
import { tmpdir } from "node:os";
import { expect, it } from "vitest";
import { UserError } from "../../src/protocol/error-codes.ts";
import { isBusy, isImpossibleFailure, storeError } from "../../src/store/sqlite.ts";

const path = tmpdir();
const failure = (fields: object) => Object.assign(new Error("failed"), fields);

it.each<[object, string]>([
  [{ errcode: 5 }, "STORE_LOCKED"],
  [{ errcode: 6 }, "STORE_LOCKED"],
  [{ errcode: 5 + 256 }, "STORE_LOCKED"],
  [{ errcode: 8 }, "STORE_READONLY"],
  [{ errcode: 10 }, "STORE_IO"],
  [{ errcode: 11 }, "STORE_CORRUPT"],
  [{ errcode: 13 }, "STORE_FULL"],
  [{ errcode: 26 }, "STORE_CORRUPT"],
  [{ errcode: 21 }, "STORE_FAILED"],
  // What the system said is closer to the cause than "unable to open" and "I/O error".
  [{ errcode: 10, systemErrno: 28 }, "STORE_FULL"],
  [{ errcode: 14, systemErrno: 30 }, "STORE_READONLY"],
  [{ errcode: 11, systemErrno: 28 }, "STORE_CORRUPT"],
  [{ errcode: 14 }, "STORE_FAILED"],
  [{ code: "ENOSPC" }, "STORE_FULL"],
  [{ code: "EDQUOT" }, "STORE_FULL"],
  [{ code: "EIO" }, "STORE_IO"],
  [{ code: "EROFS" }, "STORE_READONLY"],
  [{ code: "EACCES" }, "STORE_READONLY"],
  [{ code: "EPERM" }, "STORE_READONLY"],
  [{ code: "EMFILE" }, "STORE_FAILED"],
])("%j is %s, with the path in its sentence", (fields, code) => {
  const error = storeError(failure({ errstr: "said so", ...fields }), path);
  expect([error.code, error.message.includes(path)]).toEqual([code, true]);
  if (/IO|CORRUPT|FAILED/.test(code)) expect(error.message).toContain("(said so)");
});

it("errors that are no storage failures, or already explained, are rethrown unchanged", () => {
  const bug = new TypeError("undefined is not a function");
  expect(() => storeError(bug, path)).toThrow(bug);
  expect(() => storeError(failure({ code: "ERR_OUT_OF_RANGE" }), path)).toThrow("failed");
  const told = new UserError("STORE_FULL", "told");
  expect(storeError(told, path)).toBe(told);
});

it("busy databases, and failures that a sound file cannot cause, are recognised by their codes", () => {
  expect([5, 6, 8, 11].map((errcode) => isBusy(failure({ errcode })))).toEqual([true, true, false, false]);
  expect([1, 19, 20, 25, 5, 11].map((errcode) => isImpossibleFailure(failure({ errcode })))).toEqual([
    ...[true, true, true, true],
    ...[false, false],
  ]);
  expect(isImpossibleFailure(failure({ code: "ERR_OUT_OF_RANGE" }))).toBe(true);
});
