// Answers that stop at a limit: what readers see, and what is asked for next.
import { afterEach, describe, expect, it } from "vitest";
import { type ModelAnswer, type ModelServer, modelServer } from "../../src/testing/kit/model-server.ts";
import { modelOf, providerAt, replyOf, requestFor } from "./reply.ts";

let server: ModelServer | undefined;

afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function ask(answers: ModelAnswer[], retries = 0) {
  server = await modelServer(answers);
  return replyOf(await providerAt(server.url, "anthropic", { retries }), requestFor(modelOf.anthropic));
}

const cut = { stopReason: "max_tokens" };

describe("a cut answer", () => {
  it("is handed back with the wish for the rest, and becomes one part", async () => {
    const reply = await ask([{ text: "a **bo", ...cut }, { text: "ld** word" }]);
    expect(reply.parts).toEqual([{ type: "text", text: "a **bold** word" }]);
    expect(reply.text).toBe("a **bold** word");
    const { messages } = server!.requests[1]!.json;
    expect(messages.slice(1)).toMatchObject([
      { role: "assistant", content: [{ text: "a **bo" }] },
      { role: "user", content: [{ text: expect.stringContaining("Go on exactly where it stopped") }] },
    ]);
  });

  it("keeps thinking where it was thought", async () => {
    const reply = await ask([
      { thinking: "Hm.", text: "one, ", ...cut },
      { thinking: "And?", text: "two" },
    ]);
    expect(reply.parts).toMatchObject([{ text: "Hm." }, { text: "one, " }, { text: "And?" }, { text: "two" }]);
    expect(server!.requests[1]!.json.messages[1].content[0]).toMatchObject({
      type: "thinking",
      signature: "c2lnbmF0dXJl",
    });
  });

  it("counts the tokens of every part of it", async () => {
    const reply = await ask([
      { text: "a", ...cut, usage: { output: 7 } },
      { text: "b", usage: { output: 5 } },
    ]);
    const used = reply.chunks.flatMap((chunk) => (chunk.type === "usage" ? [chunk.usage.outputTokens] : []));
    expect(used).toEqual([7, 5]);
  });

  it("stands when the request for the rest must be repeated", async () => {
    const reply = await ask([{ text: "one, ", ...cut }, { status: 529 }, { text: "two" }], 1);
    expect(reply).toMatchObject({ text: "one, two", parts: [{ text: "one, two" }], error: undefined });
    expect(server!.requests).toHaveLength(3);
  });

  it("is whole when the model has nothing to add", async () => {
    expect(await ask([{ text: "all", ...cut }, { text: "" }])).toMatchObject({
      parts: [{ text: "all" }],
      error: undefined,
    });
  });

  it("goes on by itself behind its calls", async () => {
    const call = { id: "a", name: "Shell", args: { command: "ls" } };
    const reply = await ask([{ text: "Now.", toolCalls: [call], ...cut }]);
    expect(reply).toMatchObject({ parts: [{ text: "Now." }, call], error: undefined });
    expect(reply.chunks.at(-1)).toMatchObject({ type: "notice", kind: "output_cut" });
  });
});

it("goes on after a pause", async () => {
  const reply = await ask([{ text: "one, ", stopReason: "pause_turn" }, { text: "two" }]);
  expect(reply.parts).toEqual([{ type: "text", text: "one, two" }]);
  expect(server!.requests[1]!.json.messages.at(-1)).toMatchObject({ role: "user", content: [{ text: "Continue." }] });
});

it("takes a full context window for a conversation that is too long, and voids what was said", async () => {
  const reply = await ask([{ text: "half", stopReason: "model_context_window_exceeded" }]);
  expect(reply).toMatchObject({ text: "", error: { code: "MODEL_OVERFLOW" } });
});

it.each([
  ["sonnet-4.5", 64_000],
  ["opus-4.1", 32_000],
  ["opus-5.5", 128_000],
])("%s may say as much as the catalog allows", async (flag, tokens) => {
  server = await modelServer([{ text: "ok" }]);
  const endpoints = { anthropic: { baseUrl: `${server.url}/v1`, keyEnv: "KEY" } };
  const provider = await providerAt(server.url, "anthropic", { choice: { flag, env: { KEY: "k" }, endpoints } });
  await replyOf(provider, requestFor(modelOf.anthropic));
  expect(server.requests[0]!.json.max_tokens).toBeLessThanOrEqual(tokens);
  expect(server.requests[0]!.json.max_tokens).toBeGreaterThanOrEqual(Math.min(tokens, 64_000));
});
