// The driver of configuration cases on expectations that must fail. The cases themselves: test/cases.test.ts.
import { describe, expect, it } from "vitest";
import { runConfigCase } from "./config-driver.ts";

describe("the driver of config cases can fail", () => {
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
  ])("the driver of config cases notices the wrong expectation %j", async (expected) => {
    expect((await runConfigCase({ id: "x", ...base, expect: expected })).pass).toBe(false);
  });
});
