import { createHash, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { chatFolder, chatIdentity, isChatId, projectId, transcriptFile } from "../../src/store/chats/layout.ts";
import { md5 } from "../../src/store/chats/md5.ts";
import { emptyRoot, RootBuilder, readRoot } from "../../src/store/chats/root.ts";
import { nativeSha256, sha256 } from "../../src/store/chats/sha256.ts";

const id = "0bae1f09-3bb0-49b8-9b9d-96a70ede533f";

describe("layout of chats", () => {
  it("a project's folder is named by the hash of its path", () => {
    expect(projectId("/a/b")).toBe("aee31d71a4dce5fe24481547cc863476");
    expect(chatFolder("/c", "/a/b", id)).toBe(`/c/chats/aee31d71a4dce5fe24481547cc863476/${id}`);
    expect(chatIdentity(chatFolder("/c", "/a/b", id))).toEqual({ id, configDir: "/c" });
    expect(transcriptFile("/c", "/a/b", id)).toBe(`/c/projects/a-b/agent-transcripts/${id}/${id}.jsonl`);
  });

  it.each(["../../../etc/passwd", "", "latest", `${id}/..`, `${id}\n`, id.slice(1), id.replace("-", "_")])(
    "a chat id of the form %j is refused",
    (text) => {
      expect(isChatId(text)).toBe(false);
      expect(() => chatFolder("/c", "/w", text)).toThrow(expect.objectContaining({ code: "SESSION_NOT_FOUND" }));
    },
  );
});

describe("hashes", () => {
  // In this order: once node:crypto is loaded, it is used for everything.
  it("our SHA-256 and MD5 equal those of node:crypto, around block lengths and for long inputs", () => {
    const inputs = [...Array.from({ length: 200 }, (_, length) => randomBytes(length)), randomBytes(16_383)];
    const expected = (data: Uint8Array | string) => createHash("sha256").update(data).digest("hex");
    for (const bytes of inputs) {
      expect(sha256(bytes)).toBe(expected(bytes));
      const words = bytes.toString("base64");
      expect(sha256(`${words}\u{1f469}\0`)).toBe(expected(`${words}\u{1f469}\0`));
      expect(md5(words)).toBe(createHash("md5").update(words).digest("hex"));
    }
    const long = randomBytes(300_001);
    expect(sha256(long)).toBe(expected(long));
    for (const bytes of inputs) expect(nativeSha256(bytes)).toBe(expected(bytes));
  });
});

describe("the root blob of a chat", () => {
  it("a chat's root blob lists its blobs in order, and the root's id is its hash", () => {
    const ids = Array.from({ length: 300 }, () => randomBytes(32).toString("hex"));
    const root = new RootBuilder();
    for (const each of ids) root.add(each);
    const built = root.build();
    expect(readRoot(built.data)).toEqual(ids);
    expect(built.id).toBe(createHash("sha256").update(built.data).digest("hex"));
    expect(new RootBuilder().build()).toEqual(emptyRoot);
  });

  it("a chat's root blob is read as protobuf: other fields are skipped, and garbage is refused", () => {
    const one = randomBytes(32);
    const reference = Buffer.concat([Buffer.from([0x0a, 0x20]), one]);
    const tokens = Buffer.from([0x2a, 0x02, 0x08, 0x07]); // field 5, two bytes
    const turn = Buffer.concat([Buffer.from([0x42, 0x20]), randomBytes(32)]); // field 8
    const fixed = Buffer.from([0x1d, 1, 2, 3, 4, 0x21, 1, 2, 3, 4, 5, 6, 7, 8, 0x30, 0xff, 0x01]);
    expect(readRoot(Buffer.concat([tokens, reference, fixed, turn, reference]))).toEqual([
      one.toString("hex"),
      one.toString("hex"),
    ]);
    expect(readRoot(Buffer.concat([reference, Buffer.from([0x0a])]))).toBeUndefined();
    expect(readRoot(reference.subarray(0, 20))).toBeUndefined();
    expect(readRoot(Buffer.from("{}"))).toBeUndefined();
    expect(readRoot(Buffer.alloc(0))).toEqual([]);
  });
});
