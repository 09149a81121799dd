// The cases of the group `model`, as far as the model layer alone can answer them: the wire, retries, keys, fallbacks.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { pause } from "../../src/model/pause.ts";
import { createProvider, resolveModel } from "../../src/model/resolve.ts";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import type { Case } from "../support/case.ts";
import { keyOfProfile, providerAnswersFromCase, translateEvents } from "./model-driver.ts";
import { replyOf, requestFor } from "./reply.ts";

const file = resolve(import.meta.dirname, "../cases/security-model.jsonl");
const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
const cases = lines.map((line) => JSON.parse(line) as Case);
/** What a single request can show; the others need the agent. */
const ours = cases.filter(
  ({ expect: wanted }) =>
    ("attempts" in wanted ||
      "attempts_max" in wanted ||
      "error_code" in wanted ||
      "profile" in wanted ||
      "model" in wanted) &&
    !("compacted" in wanted) &&
    !("turns" in wanted) &&
    wanted["error_code"] !== "LOOP_DETECTED",
);

describe.concurrent("model cases", () => {
  it.each(ours.map((given) => [given.id, given] as const))(
    "a model case gives its outcome in the model layer: %s",
    async (_, given) => {
      const { config, expect: wanted } = given;
      const profiles = (config["authProfiles"] as string[] | undefined) ?? ["default"];
      await using server = await modelServer(providerAnswersFromCase(given));
      const resolved = resolveModel({
        flag: "fake/m1",
        env: Object.fromEntries(profiles.map((name) => [`KEY_${name}`, keyOfProfile(name)])),
        endpoints: { fake: { baseUrl: `${server.url}/v1`, keys: profiles.map((name) => `KEY_${name}`) } },
      });
      const provider = await createProvider(resolved, {
        ...("retries" in config && { retries: config["retries"] as number }),
        // Ten times as fast as a user would have it, where the time is not what is looked at.
        ...(!("wait_ms_min" in wanted) && { sleep: (ms: number, signal: AbortSignal) => pause(ms / 10, signal) }),
        ...("timeout_ms" in config && { timeoutMs: (config["timeout_ms"] as number) / 10 }),
        ...("idle_ms" in config && { idleMs: (config["idle_ms"] as number) / 10 }),
        ...("fallbackModels" in config && {
          fallbackModels: (config["fallbackModels"] as string[]).map((name) => `fake/${name}`),
        }),
      });
      const reply = await replyOf(provider, requestFor("m1"));
      if ("result" in wanted) expect(reply.error ? "error" : "success").toBe(wanted["result"]);
      if ("error_code" in wanted) expect(reply.error?.code).toBe(wanted["error_code"]);
      if ("attempts" in wanted) expect(server.requests).toHaveLength(wanted["attempts"]);
      if ("attempts_max" in wanted) expect(server.requests.length).toBeLessThanOrEqual(wanted["attempts_max"]);
      if ("text" in wanted) expect(reply.text).toBe(wanted["text"]);
      if ("profile" in wanted) expect(server.requests.at(-1)!.key).toBe(keyOfProfile(wanted["profile"]));
      if ("model" in wanted) expect(server.requests.at(-1)!.model).toBe(wanted["model"]);
      if ("wait_ms_min" in wanted) {
        const waited = server.requests[1]!.at - server.requests[0]!.at;
        expect(waited).toBeGreaterThanOrEqual(wanted["wait_ms_min"]);
        expect(waited).toBeLessThanOrEqual(wanted["wait_ms_max"]);
      }
    },
  );
});

describe("translating the events of a case", () => {
  it("replayed model cases have the recorded chunk boundaries, line endings and broken ends", () => {
    const chunks = translateEvents(['data: {"delta":"a"}\r\n\r\nda', 'ta: {"delta":"b"}\n\n', 'data: {"delta":"hel']);
    expect(chunks).toHaveLength(3);
    expect(chunks[0]).toMatch(/"content":"a"\}.*\}\r\n\r\nda$/);
    expect(chunks[1]).toMatch(/^ta: \{"choices".*"b".*\n\n$/);
    expect(chunks[2]).toMatch(/^data: \{"choices".*"content":"hel$/);
  });

  it("translating the events of a recorded answer leaves unknown ones unchanged", () => {
    expect(translateEvents(["data: [DONE]\n\n", ": comment\n", 'data: {"x":1}\n\n']).join("")).toBe(
      'data: [DONE]\n\n: comment\ndata: {"x":1}\n\n',
    );
  });
});
