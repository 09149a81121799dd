// Errors of SQLite and of the system, as a user reads them: each has one code, and a bug is none of them.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { UserError } from "../../src/protocol/error-codes.ts";
import { decodeMessage, parseBlob } from "../../src/store/chats/blobs.ts";
import { openFreeChat } from "../../src/store/chats/open-chat.ts";
import { isBusy, isImpossibleFailure, makeDatabaseFile, storeError } from "../../src/store/sqlite.ts";

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

it.each([
  ["database is locked", "STORE_LOCKED"],
  ["database table is locked: x", "STORE_LOCKED"],
  ["attempt to write a readonly database", "STORE_READONLY"],
  ["disk I/O error", "STORE_IO"],
  ["database disk image is malformed", "STORE_CORRUPT"],
  ["database or disk is full", "STORE_FULL"],
  ["file is not a database", "STORE_CORRUPT"],
  ["no such table: x", "STORE_FAILED"],
])("an error of SQLite that says only '%s' is %s", (message, code) => {
  expect(storeError(Object.assign(new Error(message), { code: "ERR_SQLITE_ERROR" }), path).code).toBe(code);
});

it("a database file is made for its owner once, and only where its folder is", () => {
  const folder = mkdtempSync(join(tmpdir(), "courser-made-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "x.db");
  makeDatabaseFile(file);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  writeFileSync(file, "kept");
  makeDatabaseFile(file);
  expect(readFileSync(file, "utf8")).toBe("kept");
  expect(() => makeDatabaseFile(join(folder, "none", "x.db"))).toThrow("ENOENT");
});

it("opening a missing chat fails at once and creates nothing", async () => {
  const folder = join(tmpdir(), "courser-no-such-folder", "11111111-1111-4111-8111-111111111111");
  await expect(openFreeChat(folder)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  expect(existsSync(folder)).toBe(false);
});

it("a tool result that another program stored has its images, if there are any", () => {
  const result = (more: object) => {
    const part = { type: "tool-result", toolCallId: "c", toolName: "Read", result: "text", ...more };
    return decodeMessage([parseBlob(JSON.stringify({ role: "tool", content: [part] }))!])?.parts;
  };
  const picture = { type: "image", data: "AAAA", mimeType: "image/png" };
  const [plain] = result({}) ?? [];
  expect(plain).toMatchObject({ type: "tool_result", id: "c", text: "text" });
  expect(result({ experimental_content: [] })).toEqual([plain]);
  expect(result({ experimental_content: [{ type: "text", text: "x" }, { type: "image" }] })).toEqual([plain]);
  expect(
    result({ experimental_content: [picture, { ...picture, mimeType: undefined, mediaType: "image/gif" }] }),
  ).toEqual([
    {
      ...plain,
      images: [
        { mime: "image/png", base64: "AAAA" },
        { mime: "image/gif", base64: "AAAA" },
      ],
    },
  ]);
});
