// Characters that make a line look like another one: asked about outside quotes, free inside them.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decide } from "../../src/policy/decide.ts";
import { type Fixture, makeFixture, removeFixture, rulesOf, situationOf } from "./fixture.ts";

let fixture: Fixture;
beforeAll(() => {
  fixture = makeFixture();
});
afterAll(() => removeFixture(fixture));

async function verdict(command: string, ...names: string[]): Promise<string> {
  const allow = ["echo", "cat", "bash", ...names].map((name) => `Shell(${name})`);
  const situation = situationOf(fixture, { rules: rulesOf({ allow }) });
  return (await decide([{ kind: "Shell", target: command }], situation)).verdict;
}

describe("deceptive characters", () => {
  it.each([
    'echo "a" x\u00a0y',
    'echo x\u00a0y "a"',
    'echo "a"\u200b',
    "echo 'a'\u3000'b'",
    "echo a\u2028",
    "echo a\ufeffb",
    "echo a\u2800b",
    "bash -c 'echo a\u200bb'",
    "echo 'a\u202eb'",
    "echo 'a\u2066b'",
    "echo 'a\u0007b'",
    "echo 'a\u001b[2Kb'",
    "echo 'a\u0080b'",
    "echo a\rb",
  ])("the policy asks about the suspicious text %j", async (command) => {
    expect(await verdict(command)).toBe("ask");
  });

  it.each([
    "echo 'a\u00a0b'",
    'echo "a\u200bb" c',
    'echo "\u00a0"',
    "echo 'grüße 漢字 🙂'",
    "echo größe",
    "cat <<'E'\n\u00a0x\nE",
    "bash -c 'echo \"a\u200bb\"'",
    "echo 'a\tb\nc'",
  ])("the policy does not ask about the harmless text %j", async (command) => {
    expect(await verdict(command)).toBe("allow");
  });

  it("the policy asks about a deceptive program name, whatever a rule says", async () => {
    expect(await verdict("e\u0441ho a", "e\u0441ho")).toBe("ask");
    expect(await verdict("bash -c 'e\u0441ho a'", "e\u0441ho")).toBe("ask");
    expect(await verdict("plain a", "plain")).toBe("allow");
  });
});
