// The cases of the group `config`, one by one.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type ConfigCase, runConfigCase } from "./config-driver.ts";

const cases = readFileSync(join(import.meta.dirname, "../cases/security-config.jsonl"), "utf8")
  .split("\n")
  .filter(Boolean)
  .map((line) => JSON.parse(line) as ConfigCase);

describe("configuration cases", () => {
  for (const each of cases) {
    it(each.id, async (context) => {
      const result = await runConfigCase(each, { driver: "library" });
      if (result.skipped) context.skip(result.skipped);
      expect(result.detail).toBe("");
      expect(result).toMatchObject({ pass: true, safe: true, exact: true });
    }, 60_000);
  }
});

describe("the driver can fail", () => {
  const base = {
    config: {},
    input: { file: "~/.cursor/cli-config.json", content: '{"permissions":{"deny":["Shell(rm)"]}}' },
  };
  it.each([
    [{ error_code: "CONFIG_INVALID" }],
    [{ effective_allow: ["Shell(ls)"] }],
    [{ warns: true }],
    [{ one_of: ["CONFIG_INVALID", "bad entries dropped with a warning"] }],
    [{ ignored_fields: ["model"] }],
    [{ something_new: true }],
    [{ one_of: [{ effective_deny: [] }, { error_code: "CONFIG_INVALID" }] }],
    [{ effective_deny: [], acceptable_instead: "CONFIG_TOO_LARGE" }],
    [{ exit: 1 }],
    [{ message_has: "line and column" }],
    [{ never: "deny ignored", effective_deny: [] }],
  ])("%j", async (expected) => {
    expect((await runConfigCase({ id: "x", ...base, expect: expected })).pass).toBe(false);
  });
});
