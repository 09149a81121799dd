// OpenRouter beside chat completions; and, for every wire, that a request begins as the one before it did.
import { afterEach, expect, it } from "vitest";
import type { Message } from "../../src/protocol/message.ts";
import { type ModelServer, modelServer } from "../../src/testing/kit/model-server.ts";
import { kinds, modelOf, providerAt, replyOf, requestFor, userSays } from "./reply.ts";

let server: ModelServer | undefined;

afterEach(async () => {
  await server?.stop();
  server = undefined;
});

function openrouter(model: string) {
  const endpoints = { openrouter: { baseUrl: `${server!.url}/v1`, keyEnv: "KEY" } };
  const choice = { flag: `openrouter/${model}`, env: { KEY: "k" }, endpoints };
  return providerAt(server!.url, "openai-compatible", { choice });
}

const history: Message[] = [
  userSays("go"),
  { role: "assistant", parts: [{ type: "tool_call", id: "a", name: "Shell", args: { command: "ls" } }] },
  { role: "user", parts: [{ type: "tool_result", id: "a", text: "b", isError: false }] },
];

it.each([
  ["anthropic/claude-sonnet-4.5", 2],
  ["qwen/qwen3-coder", 0],
])("requests to OpenRouter contain cache markers for models that accept them: %s", async (model, marks) => {
  server = await modelServer([{ text: "ok" }]);
  await replyOf(await openrouter(model), requestFor(model, { messages: history }));
  const { messages } = server.requests[0]!.json;
  expect(JSON.stringify(messages).split("cache_control").length - 1).toBe(marks);
  if (marks === 0) return;
  const mark = { cache_control: { type: "ephemeral" } };
  expect(messages.at(0)).toMatchObject({ role: "system", content: [{ type: "text", text: "Be brief.", ...mark }] });
  expect(messages.at(-1)).toMatchObject({
    role: "tool",
    tool_call_id: "a",
    content: [{ type: "text", text: "b", ...mark }],
  });
});

it("requests to OpenRouter send reasoning details back as they came, reassembled", async () => {
  const detail = (fields: object) => ({ type: "reasoning.text", index: 0, format: "anthropic-claude-v1", ...fields });
  const encrypted = { type: "reasoning.encrypted", index: 1, data: "abc", id: "rs_1" };
  const deltas = [
    { role: "assistant", reasoning: "Let me ", reasoning_details: [detail({ text: "Let me " })] },
    { reasoning: "see.", reasoning_details: [detail({ text: "see." })] },
    { reasoning_details: [detail({ text: "", signature: "sig" }), encrypted] },
    {
      tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "Shell", arguments: '{"command":"ls"}' } }],
    },
  ];
  const chunks = [
    ...deltas.map((delta) => ({ choices: [{ index: 0, delta }] })),
    { choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
  ].map((event) => `data: ${JSON.stringify(event)}\n\n`);
  server = await modelServer([{ chunks: [...chunks, "data: [DONE]\n\n"] }, { text: "ok" }]);
  const provider = await openrouter("anthropic/claude-sonnet-4.5");
  const { parts, thinking } = await replyOf(provider, requestFor("anthropic/claude-sonnet-4.5"));
  expect(thinking).toBe("Let me see.");
  const messages: Message[] = [userSays("go"), { role: "assistant", parts, provider: "openrouter" }, history[2]!];
  await replyOf(provider, requestFor("anthropic/claude-sonnet-4.5", { messages }));
  const sent = server.requests[1]!.json.messages.find(({ role }: { role: string }) => role === "assistant");
  expect(sent.reasoning_details).toEqual([detail({ text: "Let me see.", signature: "sig" }), encrypted]);
});

it.each([...kinds, "openrouter"] as const)("%s: a request begins with nearly all of the previous one", async (kind) => {
  server = await modelServer(() => ({ text: "ok" }));
  const model = kind === "openrouter" ? "anthropic/claude-sonnet-4.5" : modelOf[kind];
  const provider = await (kind === "openrouter" ? openrouter(model) : providerAt(server.url, kind));
  const messages: Message[] = [userSays("go ".repeat(500))];
  for (let turn = 0; turn < 50; turn++) {
    await replyOf(provider, requestFor(model, { messages: [...messages] }));
    const call = { type: "tool_call" as const, id: `functions.Shell:${turn}`, name: "Shell", args: { command: "ls" } };
    const result = { type: "tool_result" as const, id: call.id, text: "a file\n".repeat(20), isError: false };
    messages.push({ role: "assistant", parts: [call], provider: "other" }, { role: "user", parts: [result] });
  }
  const bodies = server.requests.map(({ body }) => body.toString());
  const shares = bodies.slice(1).map((body, index) => sameStart(bodies[index]!, body) / bodies[index]!.length);
  expect(Math.min(...shares)).toBeGreaterThan(0.95);
  expect(shares.reduce((sum, share) => sum + share) / shares.length).toBeGreaterThan(0.98);
});

function sameStart(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length++;
  return length;
}
