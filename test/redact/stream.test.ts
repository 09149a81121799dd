// Text in pieces: wherever it is cut, the same comes out.
import { describe, expect, it } from "vitest";
import { createRedactor, marker } from "../../src/redact/redact.ts";
import { random } from "../protocol/random.ts";
import { made } from "./made.ts";

const known = "correct-horse-battery";
const redactor = createRedactor({ values: [known] });

function throughStream(chunks: readonly string[]): string {
  const stream = redactor.stream();
  return chunks.map((chunk) => stream.push(chunk)).join("") + stream.end();
}

const key = [1, 2, 3].map((seed) => made("base64", 64, seed));
const secrets = [
  made("alphanumeric", 36),
  made("word", 40),
  made("alphanumeric", 14),
  made("alphanumeric", 20),
  known,
  ...key,
];
const text = [
  `first line with ghp_${secrets[0]} in it`,
  `Authorization: Bearer ${secrets[1]}`,
  "",
  `{"password":"${secrets[2]}","next":"\\n"}\r`,
  `postgres://app:${secrets[3]}@db.test/x and ${known}`,
  "-----BEGIN RSA PRIVATE KEY-----",
  ...key,
  "-----END RSA PRIVATE KEY-----",
  `commit ${made("hex", 40)}`,
  `\x1b[31mghp_${secrets[0]!.slice(0, 9)}\x1b[0m${secrets[0]!.slice(9)} é😀`,
  "the end without a line break",
].join("\n");

describe("redacting a stream", () => {
  const whole = redactor.redact(text);

  it("the streaming redactor hides every secret", () => {
    for (const secret of secrets) expect(whole).not.toContain(secret);
  });

  it("the streaming redactor gives the same for a stream cut anywhere in two", () => {
    for (let cut = 0; cut <= text.length; cut++) {
      expect(throughStream([text.slice(0, cut), text.slice(cut)])).toBe(whole);
    }
  });

  it("the streaming redactor gives the same for pieces of any size", () => {
    expect(throughStream([...text.split("")])).toBe(whole);
    const { below } = random(4);
    for (let round = 0; round < 200; round++) {
      const chunks: string[] = [];
      for (let at = 0; at < text.length; ) {
        const next = at + below(90);
        chunks.push(text.slice(at, next));
        at = next;
      }
      expect(throughStream(chunks)).toBe(whole);
    }
  });

  it("the streaming redactor passes complete lines at once, and holds the last one back", () => {
    const stream = redactor.stream();
    expect(stream.push("one\ntwo")).toBe("one\n");
    expect(stream.push(" and\nthree")).toBe("two and\n");
    expect(stream.push("")).toBe("");
    expect(stream.end()).toBe("three");
    expect(stream.end()).toBe("");
  });

  it("the streaming redactor hides lines of a private key as they arrive", () => {
    const stream = redactor.stream();
    stream.push("-----BEGIN PRIVATE KEY-----\n");
    expect(stream.push(`${key[0]}\n`)).toBe(`${marker}\n`);
    stream.push("-----END PRIVATE KEY-----\n");
    expect(stream.push(`${key[0]}\n`)).toBe(`${key[0]}\n`);
  });

  it("the streaming redactor passes an endless line on in chunks, and hides secrets across them", () => {
    const word = "some words that go on ";
    const filler = word.repeat(Math.ceil(262_144 / word.length));
    const stream = redactor.stream();
    let out = "";
    let largest = 0;
    for (let round = 0; round < 20; round++) {
      // Each time another distance from the place of the cut.
      const piece = `${filler.slice(0, 240_000 + round * 1500)} ghp_${secrets[0]} `;
      for (let at = 0; at < piece.length; at += 4096) {
        const said = stream.push(piece.slice(at, at + 4096));
        out += said;
        largest = Math.max(largest, said.length);
      }
    }
    expect(largest).toBeLessThan(2 * 262_144);
    out += stream.end();
    expect(out).not.toContain(secrets[0]);
    expect(out.split(marker)).toHaveLength(21);
  });

  it("the streaming redactor hides a secret value that never ends", () => {
    const stream = redactor.stream();
    let out = stream.push("password=");
    for (let round = 0; round < 40; round++) out += stream.push(made("alphanumeric", 65_536, round));
    out += stream.end();
    expect(out.length).toBeLessThan(2_000);
  });
});
