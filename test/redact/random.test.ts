// Texts put together at random from what redaction stumbles over: JSON stays JSON, and pieces give what the whole gives.
import { describe, expect, it } from "vitest";
import { createRedactor } from "../../src/redact/redact.ts";
import { random } from "../protocol/random.ts";
import { made } from "./made.ts";

const words =
  `password token secret apiKey = : ", ' \` \\ \\\\ \\" \\n { } [ ] , ghp_ sk- AKIA eyJ . - _ Bearer Authorization: Cookie: https:// postgres:// @ %5F %22 &quot; \\u005f é 😀 hooks/ -- abc Q~ :AA 1234567 0 correct-horse-battery <password> </password>`.split(
    " ",
  );
const units = [
  ...words,
  ...[" ", "\n", "\r\n", "\t", ": ", " = ", "\x1b[31m", "\x1b[0m", "\x1b]8;;", "\x07", "\u200b", "\ud800", "curl -u "],
  ...["-----BEGIN RSA PRIVATE KEY-----", "-----END RSA PRIVATE KEY-----"],
];
const redactor = createRedactor({ values: ["correct-horse-battery", 'va"l\\ue 1'] });
const { below, pick } = random(2024);

function text(most: number): string {
  const piece = () =>
    below(4) === 0
      ? made(pick(["hex", "alphanumeric", "word", "base64"] as const), 8 + below(60), below(1000))
      : pick(units);
  return Array.from({ length: below(most) }, piece).join("");
}

function value(depth: number): unknown {
  const kind = depth === 0 ? 0 : below(6);
  if (kind < 3) return text(6);
  if (kind === 3) return pick([null, true, 12_345_678, 1_234_567_890_123_456, 1.5]);
  if (kind === 4) return Array.from({ length: below(4) }, () => value(depth - 1));
  const names = ["password", "x", "token", "client_secret", text(2)];
  const inner = () => (below(5) === 0 ? JSON.stringify(value(depth - 1)) : value(depth - 1));
  return Object.fromEntries(Array.from({ length: below(5) }, () => [pick(names), inner()]));
}

describe("redaction of random text", () => {
  it("redacted JSON is still valid JSON", () => {
    for (let round = 0; round < 3000; round++) {
      const line = JSON.stringify(value(3));
      const out = redactor.redact(line);
      expect(() => JSON.parse(out) as unknown, `${line}\n${out}`).not.toThrow();
    }
  });

  it("redacting in pieces gives the same as redacting the whole", () => {
    for (let round = 0; round < 2000; round++) {
      const whole = text(60);
      const stream = redactor.stream();
      let out = "";
      for (let at = 0; at < whole.length; ) {
        const next = at + 1 + below(40);
        out += stream.push(whole.slice(at, next));
        at = next;
      }
      expect(out + stream.end()).toBe(redactor.redact(whole));
    }
  });
});
