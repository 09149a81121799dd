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

describe("continuing a cut answer", () => {
  it("when an answer is cut, the provider asks for the rest and joins both into one part", async () => {
    const reply = await ask([{ text: "a **bo", ...cut }, { text: "ld** word" }]);
    expect(reply.parts).toEqual([{ type: "text", text: "a **bold** word" }]);
    expect(reply.text).toBe("a **bold** word");
    const { messages } = server!.requests[1]!.json;
    expect(messages.slice(1)).toMatchObject([
      { role: "assistant", content: [{ text: "a **bo" }] },
      { role: "user", content: [{ text: expect.stringContaining("Go on exactly where it stopped") }] },
    ]);
  });

  it("when a cut answer is continued, thinking and text keep their order and the signature is sent back", async () => {
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

  it("the usage of a continued answer counts the tokens of every part", async () => {
    const reply = await ask([
      { text: "a", ...cut, usage: { output: 7 } },
      { text: "b", usage: { output: 5 } },
    ]);
    const used = reply.chunks.flatMap((chunk) => (chunk.type === "usage" ? [chunk.usage.outputTokens] : []));
    expect(used).toEqual([7, 5]);
  });

  it("the provider keeps the first part of a cut answer when its request for the rest is retried", async () => {
    const reply = await ask([{ text: "one, ", ...cut }, { status: 529 }, { text: "two" }], 1);
    expect(reply).toMatchObject({ text: "one, two", parts: [{ text: "one, two" }], error: undefined });
    expect(server!.requests).toHaveLength(3);
  });

  it("a cut answer counts as complete if the model, asked for the rest, has nothing to add", async () => {
    expect(await ask([{ text: "all", ...cut }, { text: "" }])).toMatchObject({
      parts: [{ text: "all" }],
      error: undefined,
    });
  });

  it("when an answer is cut after its tool calls, the provider asks for no continuation", async () => {
    const call = { id: "a", name: "Shell", args: { command: "ls" } };
    const reply = await ask([{ text: "Now.", toolCalls: [call], ...cut }]);
    expect(reply).toMatchObject({ parts: [{ text: "Now." }, call], error: undefined });
    expect(reply.chunks.at(-1)).toMatchObject({ type: "notice", kind: "output_cut" });
  });
});

it.each([
  [
    "anthropic",
    [
      { type: "message_start", message: { id: "m", model: "c", usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: "content_block_start", index: 0, content_block: { type: "tool_use", id: "a", name: "Shell", input: {} } },
      { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: '{"comm' } },
      { type: "message_delta", delta: { stop_reason: "max_tokens" }, usage: { output_tokens: 5 } },
      { type: "message_stop" },
    ],
  ],
  [
    "openai",
    [
      {
        type: "response.output_item.added",
        output_index: 0,
        item: { type: "function_call", id: "fc_1", call_id: "a", name: "Shell", arguments: "" },
      },
      { type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 0, delta: '{"comm' },
      {
        type: "response.incomplete",
        response: {
          incomplete_details: { reason: "max_output_tokens" },
          usage: { input_tokens: 1, output_tokens: 5 },
        },
      },
    ],
  ],
] as const)("an answer continues after a call that was never finished: %s", async (kind, events) => {
  const chunks = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  const whole = { id: "b", name: "Shell", args: { command: "ls" } };
  server = await modelServer([{ chunks }, { toolCalls: [whole] }]);
  const reply = await replyOf(await providerAt(server.url, kind), requestFor(modelOf[kind]));
  expect(reply).toMatchObject({ parts: [whole], error: undefined });
  expect(server.requests[1]!.body.toString()).toContain("in the middle of a call of Shell");
});

it("the answer after a cut-off tool call begins a new paragraph", async () => {
  const call = { id: "a", name: "Shell", args: '{"comm' };
  const reply = await ask([{ text: "I run it.", toolCalls: [call], ...cut }, { text: "In steps." }]);
  expect(reply.parts).toEqual([{ type: "text", text: "I run it.\n\nIn steps." }]);
  expect(reply.text).toBe("I run it.\n\nIn steps.");
});

it("when the server pauses an answer, the provider asks it to continue", async () => {
  const reply = await ask([{ text: "one, ", stopReason: "pause_turn" }, { text: "two" }]);
  expect(reply.parts).toEqual([{ type: "text", text: "one, two" }]);
  expect(server!.requests[1]!.json.messages.at(-1)).toMatchObject({ role: "user", content: [{ text: "Continue." }] });
});

it("an answer that fills the context window ends with MODEL_OVERFLOW, and its partial text is dropped", async () => {
  const reply = await ask([{ text: "half", stopReason: "model_context_window_exceeded" }]);
  expect(reply).toMatchObject({ text: "", error: { code: "MODEL_OVERFLOW" } });
});

it.each([
  ["sonnet-4.5", 64_000],
  ["opus-4.1", 32_000],
  ["opus-5.5", 128_000],
])("%s may answer up to the catalog's limit", async (flag, tokens) => {
  server = await modelServer([{ text: "ok" }]);
  const endpoints = { anthropic: { baseUrl: `${server.url}/v1`, keyEnv: "KEY" } };
  const provider = await providerAt(server.url, "anthropic", { choice: { flag, env: { KEY: "k" }, endpoints } });
  await replyOf(provider, requestFor(modelOf.anthropic));
  expect(server.requests[0]!.json.max_tokens).toBeLessThanOrEqual(tokens);
  expect(server.requests[0]!.json.max_tokens).toBeGreaterThanOrEqual(Math.min(tokens, 64_000));
});
