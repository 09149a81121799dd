// Cases of profiles and fallback models, with our CLI behind the adapter.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { casesIn } from "../support/case.ts";
import { runModelCaseByAdapter } from "./model-player.ts";

const cases = ["security-model", "model-more"]
  .flatMap((name) => casesIn(join(import.meta.dirname, `../cases/${name}.jsonl`)))
  .filter(({ config }) => "authProfiles" in config || "fallbackModels" in config);

describe("model cases through the adapter", () => {
  it.each(cases.map((given) => [given.id, given] as const))(
    "a model case gives its outcome through the adapter: %s",
    { timeout: 60_000 },
    async (_, given) => {
      const result = await runModelCaseByAdapter(given);
      expect({ safe: result.safe, exact: result.exact }, `${given.why}\n${result.detail}`).toEqual({
        safe: true,
        exact: true,
      });
    },
  );

  it("the table of model cases is not empty", () => expect(cases.length).toBeGreaterThan(1));
});
