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

describe.each(kinds)("%s", (kind) => {
  it("streams text as deltas and ends with one part and the usage", async () => {
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

  it("counts when the server keeps the connection open behind its last event", async () => {
    const call = { id: "a", name: "Shell", args: { command: "ls" } };
    const started = performance.now();
    const reply = await ask(kind, [{ text: "whole", toolCalls: [call], ending: "silence" }]);
    expect(reply.error).toBeUndefined();
    expect(reply.parts).toMatchObject([{ text: "whole" }, { name: "Shell", args: { command: "ls" } }]);
    expect(performance.now() - started).toBeLessThan(kind === "google" ? 8000 : 2500);
  });

  it("counts cached tokens apart", async () => {
    const reply = await ask(kind, [{ text: "ok", usage: { input: 100, output: 7, cacheRead: 900 } }]);
    expect(reply.usage).toMatchObject({ inputTokens: 100, outputTokens: 7, cacheReadTokens: 900 });
  });

  it("sends the key, the system prompt, the tools and the question", async () => {
    await ask(kind, [{ text: "ok" }]);
    const request = server!.requests[0]!;
    expect(request.key).toBe("test-key-1");
    expect(request.model).toBe(modelOf[kind]);
    const body = request.body.toString();
    expect(body).toContain("Be brief.");
    expect(body).toContain('"Shell"');
    expect(body).toContain('"hi"');
  });

  it("gives thinking, text and parallel calls in the order they were said", async () => {
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

  it("hands a whole exchange back: thinking with its signature, calls, results, images", async () => {
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

  it("keeps another vendor's thinking to itself", async () => {
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

  it("repairs what vendors refuse: open calls, doubled ids, arguments that are not objects", async () => {
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

  it("passes malformed arguments on as text", async () => {
    if (kind === "google") return; // its wire carries objects only
    const reply = await ask(kind, [{ toolCalls: [{ id: "a", name: "Shell", args: "{not json" }] }]);
    expect(reply.parts).toMatchObject([{ type: "tool_call", id: "a", name: "Shell", args: "{not json" }]);
  });

  it("calls an empty answer an error", async () => {
    for (const text of ["", " \n", "\u200b"]) {
      const reply = await ask(kind, [{ text }]);
      expect(reply.error?.code).toBe("MODEL_EMPTY");
    }
  });

  it("calls a refusal an error", async () => {
    const words: Record<Kind, string> = {
      anthropic: "refusal",
      openai: "content_filter",
      google: "SAFETY",
      "openai-compatible": "content_filter",
    };
    const reply = await ask(kind, [{ text: "", stopReason: words[kind] }]);
    expect(reply.error?.code).toBe("MODEL_REFUSED");
  });

  it("stops reading when nobody listens any more", async () => {
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

  it("ends at once when it is cancelled", async () => {
    server = await modelServer([{ acceptOnly: true }]);
    const provider = await providerAt(server.url, kind);
    const signal = AbortSignal.timeout(50);
    const reply = await replyOf(provider, requestFor(modelOf[kind], { signal }));
    expect(reply.error?.code).toBe("INTERRUPTED");
  });
});

describe("effort", () => {
  const sent = async (kind: Kind, model: string): Promise<any> => {
    server = await modelServer([{ text: "ok" }]);
    await replyOf(await providerAt(server.url, kind), requestFor(model, { effort: "high" }));
    return server.requests[0]!.json;
  };

  it("is a budget for older Claude models", async () => {
    expect(await sent("anthropic", "claude-sonnet-4-5")).toMatchObject({
      thinking: { type: "enabled", budget_tokens: 28_000 },
    });
  });
  it("is a word for newer ones", async () => {
    expect(await sent("anthropic", "claude-opus-4-6")).toMatchObject({
      thinking: { type: "adaptive" },
      output_config: { effort: "high" },
    });
  });
  it("is a word for OpenAI", async () => {
    expect(await sent("openai", "gpt-5")).toMatchObject({
      reasoning: { effort: "high", summary: "auto" },
      store: false,
    });
  });
  it("is a budget for Gemini 2.5 and a level for 3", async () => {
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
  it("is reasoning_effort elsewhere", async () => {
    expect(await sent("openai-compatible", "qwen3")).toMatchObject({ reasoning_effort: "high" });
  });
});

describe("caching", () => {
  it("marks the system prompt and the newest message for Anthropic", async () => {
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

  it("names the session to OpenAI", async () => {
    server = await modelServer([{ text: "ok" }]);
    await replyOf(await providerAt(server.url, "openai", { sessionId: "session-1" }), requestFor("gpt-5"));
    expect(server.requests[0]!.json.prompt_cache_key).toBe("session-1");
  });

  it("counts what Anthropic writes to the cache", async () => {
    const reply = await ask("anthropic", [
      { text: "ok", usage: { input: 3, output: 2, cacheRead: 40, cacheWrite: 500 } },
    ]);
    expect(reply.usage).toEqual({ inputTokens: 3, outputTokens: 2, cacheReadTokens: 40, cacheWriteTokens: 500 });
  });
});

it("does not think on behind a call that was made without thinking, where that is refused", async () => {
  const messages: Message[] = [
    userSays("q"),
    { role: "assistant", parts: [{ type: "tool_call", id: "x", name: "Shell", args: { command: "ls" } }] },
    { role: "user", parts: [{ type: "tool_result", id: "x", text: "a", isError: false }] },
  ];
  await ask("anthropic", [{ text: "ok" }], { messages, effort: "high" });
  expect(server!.requests[0]!.json.thinking).toBeUndefined();
});
