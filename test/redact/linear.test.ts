// A longer text takes longer by as much as it is longer, whatever it is made of.
import { describe, expect, it } from "vitest";
import { createRedactor } from "../../src/redact/redact.ts";

const units = [
  "a",
  " ",
  "plain words and more ",
  "password=",
  "token=",
  "token='",
  'token="\\"',
  '"token":"',
  "token: ",
  "authorization: bearer ",
  "authorization:",
  "cookie: a=",
  "Bearer ",
  "basic a",
  "-u a:b ",
  "--password ",
  "login x password ",
  "://",
  "a://b:c@",
  "https://hooks.x/",
  "https://a/hooks/",
  "-----BEGIN RSA PRIVATE KEY-----\n",
  "-----BEGIN ",
  "-----END",
  "eyJ",
  "eyJ-",
  "eyJ.",
  "hvs.",
  "SG.",
  "sk-",
  "sk-a-",
  "ghp_",
  "Q~",
  "0Q~",
  "1:AA",
  ".bbbbbb.",
  "1//0",
  "AKIA",
  "EAA",
  "\\",
  "\\\\n",
  "\\u005f",
  "%41",
  "%25",
  "\x1b[",
  "\x1b]",
  "\x1b[31m",
  "\u200b",
  "&quot;",
  "&#",
  "aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ ",
  "aGVsbG8gd29ybGQ",
  "-_",
  "secret_1111111111111111=",
  "1234567890",
  "correct-horse-batter",
];

describe("redaction takes linear time", () => {
  const redactor = createRedactor({ values: ["correct-horse-battery"] });
  const spent = (text: string): number => {
    // Of the processor: what else the machine does takes none of it.
    const started = process.cpuUsage();
    redactor.redact(text);
    const { user, system } = process.cpuUsage(started);
    return (user + system) / 1000;
  };

  it.each(units.map((unit) => [unit]))("redacting many repetitions takes linear time: %j", (unit) => {
    const of = (length: number) => unit.repeat(Math.ceil(length / unit.length));
    spent(of(5_000)); // warm
    const short = Math.min(spent(of(5_000)), spent(of(5_000)), spent(of(5_000)));
    const long = Math.min(spent(of(160_000)), spent(of(160_000)));
    // 32 times the text; the square would be 1024. A pause of the machine is given its due.
    expect(long).toBeLessThan(200 * short + 100);
  });
});
