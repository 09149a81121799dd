import { afterEach, describe, expect, it } from "vitest";
import type { Message } from "../../src/protocol/message.ts";
import { type ModelAnswer, type ModelServer, modelServer } from "../../src/testing/kit/model-server.ts";
import { type Kind, kinds, modelOf, providerAt, type Reply, replyOf, requestFor, userSays } from "./reply.ts";

const picture = { mime: "image/png", base64: "iVBORw0KGgo=" };
let server: ModelServer | undefined;

afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function ask(kind: Kind, answers: ModelAnswer[], more: Parameters<typeof requestFor>[1] = {}): Promise<Reply> {
  server = await modelServer(answers);
  return replyOf(await providerAt(server.url, kind), requestFor(modelOf[kind], more));
}

describe.each(kinds)("the wire of %s", (kind) => {
  it("a model's answer arrives as text deltas and ends with one text part and the usage", async () => {
    const reply = await ask(kind, [{ text: ["Hel", "lo ", "wörld"], usage: { input: 100, output: 7 } }]);
    expect(reply.error).toBeUndefined();
    expect(reply.chunks.flatMap((chunk) => (chunk.type === "text" ? [chunk.text] : []))).toEqual([
      "Hel",
      "lo ",
      "wörld",
    ]);
    expect(reply.parts).toEqual([{ type: "text", text: "Hello wörld" }]);
    expect(reply.usage).toEqual({ inputTokens: 100, outputTokens: 7, cacheReadTokens: 0, cacheWriteTokens: 0 });
  });

  it("a model's answer is complete even if the server keeps the connection open", async () => {
    const call = { id: "a", name: "Shell", args: { command: "ls" } };
    const started = performance.now();
    const reply = await ask(kind, [{ text: "whole", toolCalls: [call], ending: "silence" }]);
    expect(reply.error).toBeUndefined();
    expect(reply.parts).toMatchObject([{ text: "whole" }, { name: "Shell", args: { command: "ls" } }]);
    expect(performance.now() - started).toBeLessThan(kind === "google" ? 8000 : 2500);
  });

  it("cached tokens are counted separately", async () => {
    const reply = await ask(kind, [{ text: "ok", usage: { input: 100, output: 7, cacheRead: 900 } }]);
    expect(reply.usage).toMatchObject({ inputTokens: 100, outputTokens: 7, cacheReadTokens: 900 });
  });

  it("a model request contains the key, system prompt, tools and question", async () => {
    await ask(kind, [{ text: "ok" }]);
    const request = server!.requests[0]!;
    expect(request.key).toBe("test-key-1");
    expect(request.model).toBe(modelOf[kind]);
    const body = request.body.toString();
    expect(body).toContain("Be brief.");
    expect(body).toContain('"Shell"');
    expect(body).toContain('"hi"');
  });

  it("a model's answer keeps the order of thinking, text and parallel tool calls", async () => {
    const reply = await ask(kind, [
      {
        thinking: "Let me look.",
        text: "Looking.",
        toolCalls: [
          { id: "a", name: "Shell", args: { command: "ls" } },
          { id: "b", name: "Shell", args: { command: "pwd" } },
        ],
      },
    ]);
    expect(reply.error).toBeUndefined();
    expect(reply.thinking).toBe("Let me look.");
    expect(reply.parts.map((part) => part.type)).toEqual(["thinking", "text", "tool_call", "tool_call"]);
    expect(reply.parts[2]).toMatchObject({ id: "a", name: "Shell", args: { command: "ls" } });
    expect(reply.parts[3]).toMatchObject({ id: "b", name: "Shell", args: { command: "pwd" } });
  });

  it("a model request contains the whole exchange: thinking with signature, calls, results, images", async () => {
    server = await modelServer([
      { thinking: "Hm.", toolCalls: [{ id: "a", name: "Shell", args: { command: "ls" } }] },
      { text: "done" },
    ]);
    const provider = await providerAt(server.url, kind);
    const first = await replyOf(provider, requestFor(modelOf[kind], { effort: "medium" }));
    const messages: Message[] = [
      userSays("look"),
      { role: "assistant", parts: first.parts, provider: provider.id },
      {
        role: "user",
        parts: [
          { type: "tool_result", id: "a", text: "a.txt", isError: false, images: [picture] },
          { type: "image", ...picture },
        ],
      },
    ];
    const second = await replyOf(provider, requestFor(modelOf[kind], { messages, effort: "medium" }));
    expect(second.error).toBeUndefined();
    expect(second.text).toBe("done");
    const body = server.requests[1]!.body.toString();
    expect(body.split(picture.base64)).toHaveLength(3);
    expect(body).toContain("a.txt");
    if (kind === "anthropic") expect(body).toContain('"signature":"c2lnbmF0dXJl"');
    if (kind === "openai") expect(body).toContain('"encrypted_content":"ZW5jcnlwdGVk"');
    if (kind === "google") expect(body).toContain('"thoughtSignature":"c2lnbmF0dXJl"');
    if (kind === "openai-compatible") expect(body).not.toContain("Hm.");
  });

  it("a model request omits the thinking of another vendor", async () => {
    const foreign: Message[] = [
      userSays("q"),
      {
        role: "assistant",
        provider: "elsewhere",
        parts: [
          {
            type: "thinking",
            text: "SECRET-THOUGHT",
            opaque: { from: "elsewhere", metadata: { anthropic: { signature: "SECRET-SIGNATURE" } } },
          },
          {
            type: "tool_call",
            id: "x",
            name: "Shell",
            args: { command: "ls" },
            opaque: { from: "elsewhere", metadata: { google: { thoughtSignature: "SECRET-SIGNATURE" } } },
          },
        ],
      },
      { role: "user", parts: [{ type: "tool_result", id: "x", text: "nothing", isError: true }] },
    ];
    const reply = await ask(kind, [{ text: "ok" }], { messages: foreign, effort: "high" });
    expect(reply.text).toBe("ok");
    expect(server!.requests[0]!.body.toString()).not.toContain("SECRET");
  });

  it("before it is sent, a model request's open calls, duplicate ids and non-object arguments are repaired", async () => {
    const messages: Message[] = [
      userSays("q"),
      {
        role: "assistant",
        parts: [
          { type: "tool_call", id: "x", name: "Shell", args: "{not json" },
          { type: "tool_call", id: "x", name: "Shell", args: {} },
          { type: "tool_call", id: "y", name: "Shell", args: { command: "ls" } },
        ],
      },
      {
        role: "user",
        parts: [
          { type: "tool_result", id: "x", text: "", isError: false },
          { type: "tool_result", id: "x", text: "again", isError: false },
        ],
      },
      userSays("go on"),
    ];
    const reply = await ask(kind, [{ text: "ok" }], { messages });
    expect(reply.text).toBe("ok");
    const body = server!.requests[0]!.body.toString();
    expect(body).toContain("the call was interrupted");
    expect(body).not.toContain("again");
    expect(body).toContain("{not json".replaceAll('"', '\\"'));
    expect(body).toContain("go on");
  });

  it("malformed tool arguments of a model are passed on as text", async () => {
    if (kind === "google") return; // its wire carries objects only
    const reply = await ask(kind, [{ toolCalls: [{ id: "a", name: "Shell", args: "{not json" }] }]);
    expect(reply.parts).toMatchObject([{ type: "tool_call", id: "a", name: "Shell", args: "{not json" }]);
  });

  it("a model's empty answer is an error", async () => {
    for (const text of ["", " \n", "\u200b"]) {
      const reply = await ask(kind, [{ text }]);
      expect(reply.error?.code).toBe("MODEL_EMPTY");
    }
  });

  it("a model's refusal is an error", async () => {
    const words: Record<Kind, string> = {
      anthropic: "refusal",
      openai: "content_filter",
      google: "SAFETY",
      "openai-compatible": "content_filter",
    };
    const reply = await ask(kind, [{ text: "", stopReason: words[kind] }]);
    expect(reply.error?.code).toBe("MODEL_REFUSED");
  });

  it("the provider stops reading a model's answer when its caller stops", async () => {
    server = await modelServer([{ text: ["one ", "two"], ending: "silence" }]);
    const provider = await providerAt(server.url, kind);
    const heard: string[] = [];
    for await (const chunk of provider.stream(requestFor(modelOf[kind]))) {
      if (chunk.type !== "text") continue;
      heard.push(chunk.text);
      break;
    }
    expect(heard).toEqual(["one "]);
  });

  it("a cancelled model request ends at once", async () => {
    server = await modelServer([{ acceptOnly: true }]);
    const provider = await providerAt(server.url, kind);
    const signal = AbortSignal.timeout(50);
    const reply = await replyOf(provider, requestFor(modelOf[kind], { signal }));
    expect(reply.error?.code).toBe("INTERRUPTED");
  });
});

describe("effort settings", () => {
  const sent = async (kind: Kind, model: string): Promise<any> => {
    server = await modelServer([{ text: "ok" }]);
    await replyOf(await providerAt(server.url, kind), requestFor(model, { effort: "high" }));
    return server.requests[0]!.json;
  };

  it("the effort level becomes a thinking budget for older Claude models", async () => {
    expect(await sent("anthropic", "claude-sonnet-4-5")).toMatchObject({
      thinking: { type: "enabled", budget_tokens: 28_000 },
    });
  });
  it("the effort level is sent as a level to newer Claude models", async () => {
    expect(await sent("anthropic", "claude-opus-4-6")).toMatchObject({
      thinking: { type: "adaptive" },
      output_config: { effort: "high" },
    });
  });
  it("the effort level is sent as a level to OpenAI", async () => {
    expect(await sent("openai", "gpt-5")).toMatchObject({
      reasoning: { effort: "high", summary: "auto" },
      store: false,
    });
  });
  it("the effort level becomes a budget for Gemini 2.5 and a level for Gemini 3", async () => {
    expect((await sent("google", "gemini-2.5-pro")).generationConfig.thinkingConfig).toEqual({
      includeThoughts: true,
      thinkingBudget: 24_576,
    });
    await server!.stop();
    expect((await sent("google", "gemini-3.1-pro-preview")).generationConfig.thinkingConfig).toEqual({
      includeThoughts: true,
      thinkingLevel: "high",
    });
  });
  it("for vendors other than the large ones, the effort is sent as reasoning_effort", async () => {
    expect(await sent("openai-compatible", "qwen3")).toMatchObject({ reasoning_effort: "high" });
  });
});

describe("prompt caching", () => {
  it("a request to Anthropic marks system prompt and newest message for the prompt cache", async () => {
    await ask("anthropic", [{ text: "ok" }], {
      messages: [userSays("one"), { role: "assistant", parts: [{ type: "text", text: "two" }] }, userSays("three")],
    });
    const { system, messages } = server!.requests[0]!.json;
    expect(system.at(-1).cache_control).toEqual({ type: "ephemeral" });
    expect(messages.map((message: any) => message.content.some((part: any) => part.cache_control))).toEqual([
      false,
      false,
      true,
    ]);
  });

  it("a request to OpenAI sends the session id as the prompt cache key", async () => {
    server = await modelServer([{ text: "ok" }]);
    await replyOf(await providerAt(server.url, "openai", { sessionId: "session-1" }), requestFor("gpt-5"));
    expect(server.requests[0]!.json.prompt_cache_key).toBe("session-1");
  });

  it("tokens written to Anthropic's cache are counted", async () => {
    const reply = await ask("anthropic", [
      { text: "ok", usage: { input: 3, output: 2, cacheRead: 40, cacheWrite: 500 } },
    ]);
    expect(reply.usage).toEqual({ inputTokens: 3, outputTokens: 2, cacheReadTokens: 40, cacheWriteTokens: 500 });
  });
});

it("a request to Anthropic turns thinking off if the open turn has a tool call without thinking", async () => {
  const messages: Message[] = [
    userSays("q"),
    { role: "assistant", parts: [{ type: "tool_call", id: "x", name: "Shell", args: { command: "ls" } }] },
    { role: "user", parts: [{ type: "tool_result", id: "x", text: "a", isError: false }] },
  ];
  await ask("anthropic", [{ text: "ok" }], { messages, effort: "high" });
  expect(server!.requests[0]!.json.thinking).toBeUndefined();
});

it("several texts of one model answer become paragraphs; pieces of one text do not", async () => {
  const events = [
    { type: "message_start", message: { id: "m", model: "c", usage: { input_tokens: 1, output_tokens: 1 } } },
    ...["One", "Two\n", "Three"].flatMap((word, index) => [
      { type: "content_block_start", index, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index, delta: { type: "text_delta", text: "Text " } },
      { type: "content_block_delta", index, delta: { type: "text_delta", text: word } },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ];
  const chunks = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  await using server = await modelServer([{ chunks }]);
  const reply = await replyOf(await providerAt(server.url, "anthropic"), requestFor(modelOf.anthropic));
  expect(reply.text).toBe("Text One\n\nText Two\nText Three");
  expect(reply.parts).toEqual([{ type: "text", text: reply.text }]);
});

it.each(["deepseek-v4-pro", "zai/glm-5", "moonshot/kimi-k2.6"])(
  "the effort none turns thinking off for %s",
  async (flag) => {
    server = await modelServer([{ text: "ok" }]);
    const vendor = /^[a-z]+/.exec(flag)![0];
    const endpoints = { [vendor]: { baseUrl: `${server.url}/v1`, keyEnv: "KEY" } };
    const provider = await providerAt(server.url, "openai-compatible", {
      choice: { flag, env: { KEY: "k" }, endpoints },
    });
    await replyOf(provider, requestFor("m", { effort: "none" }));
    const { json } = server.requests[0]!;
    expect([json.thinking, json.reasoning_effort]).toEqual([{ type: "disabled" }, undefined]);
  },
);
