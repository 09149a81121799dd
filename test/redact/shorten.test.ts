import { describe, expect, it } from "vitest";
import { createRedactor } from "../../src/redact/redact.ts";
import { redactedEnd, redactedStart } from "../../src/redact/shorten.ts";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import { createWorkspace } from "../support/run-cli.ts";

const key = "k7Qm2ZpX9vTb4RnW8sYd1GcJ6hLfE3uA";
const { redact } = createRedactor({ values: [key] });

/** The longest part of the key that stands in the text. */
function shownOf(text: string, secret = key): number {
  for (let length = secret.length; length > 0; length--)
    for (let at = 0; at + length <= secret.length; at++)
      if (text.includes(secret.slice(at, at + length))) return length;
  return 0;
}

describe("shortened secrets", () => {
  it("shortened text shows no part of an API key, wherever it is cut", () => {
    for (let at = 440; at < 510; at++) {
      const text = `${"a ".repeat(at / 2)}${key} and more ${"b ".repeat(300)}`;
      expect(shownOf(redactedStart(text, 500, redact))).toBeLessThan(3);
      expect(redactedStart(text, 500, redact).length).toBeLessThanOrEqual(501);
      const turned = `${"b ".repeat(300)} more ${key}${" a".repeat(at / 2)}`;
      expect(shownOf(redactedEnd(turned, 500, redact))).toBeLessThan(3);
    }
  });

  it("shortening leaves short text alone, and splits no character", () => {
    expect(redactedStart("short", 500)).toBe("short");
    expect(redactedStart("😀😀", 3)).toBe("😀…");
    expect(redactedEnd("😀😀", 3)).toBe("…😀");
  });
});

it("a model server's error that quotes an API key shows no part of it", async () => {
  const space = createWorkspace();
  let at = 0;
  const server = await modelServer(() => {
    const message = `${"a".repeat(at)} ${key} ${"b ".repeat(300)}`;
    return { status: 400, body: { type: "error", error: { type: "invalid_request_error", message } } };
  });
  const env = { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: `${server.url}/v1` };
  try {
    for (at of [468, 480, 490]) {
      const run = await space.run(["-p", "--force", "--model", "anthropic/claude-x", "--output-format", "json", "go"], {
        env,
      });
      expect(run.stdout).toContain("aaaa");
      expect(shownOf(run.stdout + run.stderr)).toBeLessThan(4);
    }
  } finally {
    await server.stop();
    space.remove();
  }
});

describe("keys that others shortened", () => {
  it.each([
    ["before an ellipsis", (part: string) => `the server said: ${part}… Try again.`],
    ["before three dots, in quotes", (part: string) => `"Incorrect key: ${part}..." (401)`],
    ["at the end", (part: string) => `Incorrect key: ${part}`],
    ["at the end, in quotes", (part: string) => `Incorrect key: "${part}"`],
  ])("the redactor shows no part of a shortened API key %s", (_, around) => {
    for (let length = 9; length < key.length; length++)
      expect(shownOf(redact(around(key.slice(0, length))))).toBeLessThan(3);
  });

  it.each([
    ["behind an ellipsis", (part: string) => `said: …${part} is wrong`],
    ["at the start", (part: string) => `${part} is wrong`],
  ])("the redactor hides a partial API key %s", (_, around) => {
    for (let length = 9; length < key.length; length++)
      expect(shownOf(redact(around(key.slice(-length))))).toBeLessThan(3);
  });

  it("the redactor keeps short hints of an API key, and words with the same beginning", () => {
    expect(redact(`saved: ${key.slice(0, 6)}…`)).toContain(key.slice(0, 6));
    expect(redact(`${key.slice(0, 12)}-other and more`)).toContain(key.slice(0, 12));
  });
});

describe("long keys in base64", () => {
  const long = Array.from({ length: 300 }, (_, at) => String.fromCharCode(48 + ((at * 7 + (at >> 3)) % 74))).join("");
  let state = 7;
  const letter = () => {
    state = (state * 48_271) % 2_147_483_647;
    return String.fromCharCode(97 + (state % 26));
  };
  const huge = Array.from({ length: 12_000 }, letter).join("");

  it.each([
    ["300 characters", long],
    ["12,000 characters", huge],
  ])("the redactor finds a long base64 key on one or many lines, in any alphabet: %s", (_, secret) => {
    const redactor = createRedactor({ values: [secret] });
    for (const before of ["", "x", "xy"]) {
      const whole = Buffer.from(`${before}${secret}z`);
      for (const encoded of [whole.toString("base64"), whole.toString("base64url"), whole.toString("hex")]) {
        for (const [width, end] of [
          [64, "\r\n"],
          [76, "\n    "],
          [0, ""],
        ] as const) {
          const wrapped = width === 0 ? encoded : encoded.replace(new RegExp(`(.{${width}})`, "g"), `$1${end}`);
          const shown = redactor.redact(`begin\n${wrapped}\nend`).replace(/\s/g, "");
          expect(shown.startsWith("begin") && shown.endsWith("end")).toBe(true);
          expect(shown.length).toBeLessThan(60);
        }
      }
    }
  });

  it("the redactor finds a long base64 key by its format alone", () => {
    const secret = `sk-ant-api03-${"aB3dE6gH9j".repeat(9)}AA`;
    const encoded = Buffer.from(`token: ${secret}`)
      .toString("base64")
      .replace(/(.{76})/g, "$1\n");
    const shown = createRedactor().redact(encoded);
    expect(shown.length).toBeLessThan(40);
  });
});
