// The driver of store cases on cases that are in no file: other particulars, and expectations that must fail.
import { describe, expect, it } from "vitest";
import { runStoreCase } from "./store-driver.ts";
import { faults } from "./store-program.ts";

const corrupt = { error_code: "STORE_CORRUPT", original_kept_as: "store.db.corrupt-*", other_chats_unaffected: true };
const failed = { acknowledged_events_lost: 0, not_acknowledged_after_error: true, integrity_check: "ok" };

const variants: [string, Record<string, unknown>, Record<string, unknown>][] = [
  ["the first page is noise", { scenario: "corrupt", bytes: [100, 4096], with_: "random" }, corrupt],
  ["a page in the middle is gone", { scenario: "corrupt", bytes: [4096, 8192], with_: "zeros" }, corrupt],
  ["the file was cut", { scenario: "replace", size: 5000 }, { ...corrupt, not_silently_new: true }],
  ["the file is one byte", { scenario: "replace", size: 1 }, { ...corrupt, not_silently_new: true }],
  ["the log was cut near its end", { scenario: "corrupt_wal", truncate_to: "90%" }, { committed_prefix: true }],
  [
    "a message is missing",
    { scenario: "delete_row", table: "blobs", which: "a message" },
    { error_code: "STORE_MISSING_BLOB", lists_missing: true, not_sent_to_model: true },
  ],
  [
    "the root was altered",
    { scenario: "update_row", table: "blobs", which: "root", flip_bit: true },
    { error_code: "STORE_BLOB_HASH", not_sent_to_model: true, older_root_offered: true },
  ],
  [
    "a store that is read-only",
    { scenario: "chmod", path: "store.db", mode: "0444" },
    { error_code: "STORE_READONLY", run: "…" },
  ],
  ["a write that fails", { scenario: "inject_eio", syscall: "pwrite", nth: 25 }, { ...failed, error_code: "STORE_IO" }],
  [
    "the disk is full in the middle of a write",
    { scenario: "inject_enospc", syscall: "write", nth: 30 },
    { ...failed, error_code: "STORE_FULL", exit_nonzero: true },
  ],
  [
    "a file system that became read-only",
    { scenario: "inject_erofs", syscall: "write", nth: 30 },
    { ...failed, error_code: "STORE_READONLY" },
  ],
  [
    "a narrow umask",
    // Who is not root cannot work in a folder that the mask takes from its owner.
    { scenario: "umask", umask: process.getuid?.() === 0 ? "277" : "077" },
    { file_modes: { "store.db-wal": "0600", "projects dir": "0700" } },
  ],
];

const without = faults({});

describe("store cases", () => {
  for (const [name, input, wanted] of variants) {
    const reason = String(input["scenario"]).startsWith("inject") && typeof without === "string" ? without : undefined;
    const title = reason === undefined ? name : `${name} (skipped: ${reason})`;
    it.skipIf(reason !== undefined)(title, { timeout: 60_000 }, async () => {
      expect((await runStoreCase({ input, expect: wanted })).detail).toBe("");
    });
  }

  it("the driver of store cases notices a wrong expectation", async () => {
    const input = { scenario: "roundtrip", content: "x" };
    for (const wanted of [{ roundtrip: "lost" }, { sings: true }, { error_code: "STORE_IO" }, { order_kept: true }])
      expect(await runStoreCase({ input, expect: wanted })).toMatchObject({ pass: false });
    expect(await runStoreCase({ input: { scenario: "earthquake" }, expect: {} })).toMatchObject({
      pass: false,
      skipped: expect.any(String),
    });
  });
});
