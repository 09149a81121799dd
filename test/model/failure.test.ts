import { afterEach, describe, expect, it } from "vitest";
import { retryAfter } from "../../src/model/failure.ts";
import { type ModelAnswer, type ModelServer, modelServer } from "../../src/testing/kit/model-server.ts";
import { wires } from "../../src/testing/kit/wires/index.ts";
import { freePort } from "../support/free-port.ts";
import { type Kind, kinds, modelOf, providerAt, type Reply, replyOf, requestFor } from "./reply.ts";

let server: ModelServer | undefined;

afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function ask(kind: Kind, answer: ModelAnswer, options: Parameters<typeof providerAt>[2] = {}): Promise<Reply> {
  server = await modelServer([answer]);
  return replyOf(await providerAt(server.url, kind, options), requestFor(modelOf[kind]));
}

/** An error's body as each vendor shapes it. */
const bodyOf: Record<Kind, (message: string, type: string) => unknown> = {
  anthropic: (message, type) => ({ type: "error", error: { type, message }, request_id: "req_1" }),
  openai: (message, type) => ({ error: { message, type, param: null, code: type } }),
  google: (message, type) => ({ error: { code: 400, message, status: type.toUpperCase() } }),
  "openai-compatible": (message) => ({ error: message }),
};

describe.each(kinds)("failures of the wire of %s", (kind) => {
  it.each([
    [401, "invalid x-api-key", "authentication_error", "MODEL_AUTH_ERROR"],
    [403, "Your API key does not have permission", "permission_error", "MODEL_AUTH_ERROR"],
    [404, "model: nope", "not_found_error", "MODEL_UNKNOWN"],
    [400, "messages: bad", "invalid_request_error", "MODEL_BAD_REQUEST"],
    [413, "Request exceeds the maximum size", "request_too_large", "MODEL_OVERFLOW"],
    [429, "Too many requests", "rate_limit_error", "MODEL_RATE_LIMIT"],
    [500, "Internal server error", "api_error", "MODEL_SERVER_ERROR"],
    [409, "another request is under way", "conflict_error", "MODEL_SERVER_ERROR"],
    [425, "too early", "too_early", "MODEL_SERVER_ERROR"],
    [400, "Your request was rejected by our safety system", "invalid_request_error", "MODEL_REFUSED"],
    [400, "prompt has 40000 tokens, but the maximum is 32768", "invalid_request_error", "MODEL_OVERFLOW"],
    [400, "tokens in prompt: 9001 exceed model limit 8192", "invalid_request_error", "MODEL_OVERFLOW"],
    [400, "Range of input length should be [1, 98304]", "invalid_request_error", "MODEL_OVERFLOW"],
    [502, "bad gateway", "api_error", "MODEL_SERVER_ERROR"],
    [503, "unavailable", "api_error", "MODEL_SERVER_ERROR"],
    [529, "Overloaded", "overloaded_error", "MODEL_OVERLOADED"],
  ])("an answer with status %i (%s) becomes the right error code", async (status, message, type, code) => {
    const { error } = await ask(kind, { status, body: bodyOf[kind](message, type) });
    expect(error?.code).toBe(code);
    expect(error?.message).toContain(message);
  });

  it.each([
    "prompt is too long: 210000 tokens > 200000 maximum",
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "the request exceeds the available context size. try increasing the context size",
    "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
  ])("a conversation that is too long is recognised by the server's message: %s", async (message) => {
    const { error } = await ask(kind, { status: 400, body: bodyOf[kind](message, "invalid_request_error") });
    expect(error?.code).toBe("MODEL_OVERFLOW");
  });

  it("an invalid output limit is not taken for a conversation that is too long", async () => {
    const message = "max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens";
    const { error } = await ask(kind, { status: 400, body: bodyOf[kind](message, "invalid_request_error") });
    expect(error?.code).toBe("MODEL_BAD_REQUEST");
  });

  it("the error for a refused API key begins with the words that other tools look for, and never shows the key", async () => {
    const { error } = await ask(kind, {
      status: 401,
      body: bodyOf[kind]("Incorrect API key provided: test-key-1", "authentication_error"),
    });
    expect(error?.message).toMatch(/^API key invalid/);
    expect(error?.message).toContain("--api-key");
    expect(error?.message).not.toContain("test-key-1");
  });

  it("a model error keeps the server's Retry-After", async () => {
    const { error } = await ask(kind, { status: 429, headers: { "retry-after": "2" }, body: {} });
    expect(error).toMatchObject({ code: "MODEL_RATE_LIMIT", retryAfterMs: 2000 });
  });

  it.each(["end", "close"] as const)(
    "a model's answer that ends (%s) without a stop event counts as cut off",
    async (ending) => {
      const opening: Record<Kind, string> = {
        anthropic:
          'event: message_start\ndata: {"type":"message_start","message":{"id":"m","model":"c","usage":{"input_tokens":1}}}\n\n' +
          'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n' +
          'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hi"}}\n\n',
        openai:
          'data: {"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"m"}}\n\ndata: {"type":"response.output_text.delta","item_id":"m","delta":"hi"}\n\n',
        google: 'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"hi"}]}}]}\n\n',
        "openai-compatible": 'data: {"choices":[{"index":0,"delta":{"content":"hi"}}]}\n\n',
      };
      const reply = await ask(kind, { chunks: [opening[kind]], ending });
      expect(reply.text).toBe("hi");
      expect(reply.error?.code).toBe("MODEL_TRUNCATED");
    },
  );

  it("a model's answer counts as cut off if its connection is reset in the middle of an event", async () => {
    const { error } = await ask(kind, { chunks: ['data: {"ty'], ending: "reset" });
    expect(error?.code).toBe("MODEL_TRUNCATED");
  });

  it("an event of a model's stream that is not JSON is a bad response", async () => {
    const { error } = await ask(kind, { chunks: ["data: {oops\n\n"] });
    expect(error?.code).toBe("MODEL_BAD_RESPONSE");
  });

  it.each([
    ["text/html", "<html><title>Sign in</title>login</html>"],
    ["text/event-stream", "<html>login</html>"],
    ["application/json", '{"ok":true}'],
  ])("a model server's response of %s instead of a stream is a bad response", async (contentType, body) => {
    const { error } = await ask(kind, { contentType, body });
    expect(error?.code).toBe("MODEL_BAD_RESPONSE");
  });

  it("an error that a model server sends with status 200 is still an error", async () => {
    const { error } = await ask(kind, { body: { error: { type: "rate_limit_error", message: "slow down" } } });
    expect(error?.code).toBe("MODEL_RATE_LIMIT");
  });

  it("a model's answer that never begins is a timeout", async () => {
    const { error } = await ask(kind, { acceptOnly: true }, { timeoutMs: 80 });
    expect(error?.code).toBe("MODEL_TIMEOUT");
    expect(error?.message).toContain("80 ms");
  });

  it("a model's answer that falls silent is a timeout", async () => {
    const reply = await ask(kind, { text: "begin", ending: "silence", chunks: [": still here\n\n"] }, { idleMs: 80 });
    expect(reply.error?.code).toBe("MODEL_TIMEOUT");
  });

  it("the error about an unreachable model server names it", async () => {
    const free = await freePort();
    const provider = await providerAt(`http://127.0.0.1:${free}`, kind);
    const { error } = await replyOf(provider, requestFor(modelOf[kind]));
    expect(error?.code).toBe("MODEL_UNREACHABLE");
    expect(error?.message).toContain(`127.0.0.1:${free}`);
  });

  it("the provider follows no redirects of a model server, so keys go nowhere else", async () => {
    const { error } = await ask(kind, { status: 302, headers: { location: "http://127.0.0.1:1/elsewhere" }, body: "" });
    expect(error?.code).toBe("MODEL_BAD_RESPONSE");
    expect(server!.requests).toHaveLength(1);
  });
});

describe("errors inside a stream", () => {
  it("an overloaded error from Anthropic is handled before and after the first text", async () => {
    const error = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n';
    expect((await ask("anthropic", { chunks: [error] })).error?.code).toBe("MODEL_OVERLOADED");
    await server!.stop();
    const start =
      'event: message_start\ndata: {"type":"message_start","message":{"id":"m","model":"c","usage":{"input_tokens":1}}}\n\n';
    expect((await ask("anthropic", { chunks: [start, error] })).error?.code).toBe("MODEL_OVERLOADED");
  });

  it("an OpenAI response.failed event is an error", async () => {
    const chunk =
      'data: {"type":"response.failed","sequence_number":1,"response":{"error":{"code":"server_error","message":"The server had an error"}}}\n\n';
    expect((await ask("openai", { chunks: [chunk] })).error?.code).toBe("MODEL_SERVER_ERROR");
  });

  it("a Gemini error chunk is an error", async () => {
    const chunk = 'data: {"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}\n\n';
    expect((await ask("google", { chunks: [chunk] })).error?.code).toBe("MODEL_OVERLOADED");
  });

  it("errors of OpenAI-compatible servers are recognised in any shape", async () => {
    const chunk = 'data: {"error":{"message":"context length exceeded","type":"invalid_request_error","code":400}}\n\n';
    expect((await ask("openai-compatible", { chunks: [chunk] })).error?.code).toBe("MODEL_OVERFLOW");
    await server!.stop();
    expect((await ask("openai-compatible", { chunks: ['data: {"error":"boom"}\n\n'] })).error?.code).toBe(
      "MODEL_SERVER_ERROR",
    );
  });

  it("the provider ignores unknown events from Anthropic", async () => {
    const chunks = wires.anthropic.stream({ text: "ok" }, { model: "c" } as never);
    chunks.splice(2, 0, 'event: brand_new\ndata: {"type":"brand_new","x":1}\n\n');
    const reply = await ask("anthropic", { chunks });
    expect(reply.error).toBeUndefined();
    expect(reply.text).toBe("ok");
  });
});

it("Google's key error is recognised despite its status 400", async () => {
  const { error } = await ask("google", {
    status: 400,
    body: {
      error: { code: 400, message: "API key not valid. Please pass a valid API key.", status: "INVALID_ARGUMENT" },
    },
  });
  expect(error?.code).toBe("MODEL_AUTH_ERROR");
  expect(error?.message).toMatch(/^API key invalid/);
});

it("an exhausted account at a vendor is not taken for a rate limit", async () => {
  const { error } = await ask("openai", {
    status: 429,
    body: {
      error: {
        message: "You exceeded your current quota, please check your plan and billing details.",
        type: "insufficient_quota",
        code: "insufficient_quota",
      },
    },
  });
  expect(error?.code).toBe("MODEL_AUTH_ERROR");
});

it("a model's stream that ends with [DONE] but gives no stop reason is complete", async () => {
  const reply = await ask("openai-compatible", {
    chunks: ['data: {"choices":[{"index":0,"delta":{"content":"ab"}}]}\r\n\r\nda', "ta: [DO", "NE]\n\n"],
  });
  expect(reply.error).toBeUndefined();
  expect(reply.text).toBe("ab");
});

it("model errors hide the values of configured headers as well", async () => {
  const choice = { headerFlags: ["x-tenant: tenant-secret-1"] };
  const { error } = await ask(
    "openai-compatible",
    { status: 400, body: { error: "no tenant tenant-secret-1" } },
    { choice },
  );
  expect(server!.requests[0]!.headers["x-tenant"]).toBe("tenant-secret-1");
  expect(error?.message).not.toContain("tenant-secret-1");
});

describe("Retry-After", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  it.each([
    [{ "retry-after": "2" }, 2000],
    [{ "retry-after": "1.5" }, 1500],
    [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
    [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, 30_000],
    [{ "retry-after": "Thu, 01 Jan 2015 00:00:30 GMT" }, 0],
    [{ "retry-after": "soon" }, undefined],
    [{}, undefined],
  ])("the Retry-After header %j means %s ms", (headers, expected) => {
    expect(retryAfter(headers as Record<string, string>, "", now)).toBe(expected);
  });
  it.each([
    ["Rate limit reached. Please try again in 1.898s. Visit …", 1898],
    ["Please try again in 898ms.", 898],
    ["Please try again in 7m12.5s.", 432_500],
    ["Please try again in 1h2m.", 3_720_000],
    ["Please try again in a while.", undefined],
  ])("the provider reads how long to pause from error texts of OpenAI and Groq: %s", (said, expected) => {
    expect(retryAfter({}, said)).toBe(expected);
  });
  it("the provider reads how long to pause from the body of Google's errors", () => {
    expect(retryAfter({}, '{"details":[{"retryDelay": "34.07s"}]}')).toBe(34_070);
  });
});

it.each<[Kind, string, string]>([
  ["google", "OTHER", "MODEL_BAD_RESPONSE"],
  ["google", "MALFORMED_FUNCTION_CALL", "MODEL_BAD_RESPONSE"],
  ["google", "UNEXPECTED_TOOL_CALL", "MODEL_BAD_RESPONSE"],
  ["google", "TOO_MANY_TOOL_CALLS", "MODEL_BAD_RESPONSE"],
  ["google", "MISSING_THOUGHT_SIGNATURE", "MODEL_BAD_RESPONSE"],
  ["google", "LANGUAGE", "MODEL_BAD_RESPONSE"],
  ["google", "RECITATION", "MODEL_REFUSED"],
  ["openai-compatible", "insufficient_system_resource", "MODEL_BAD_RESPONSE"],
  ["openai-compatible", "network_error", "MODEL_BAD_RESPONSE"],
  ["openai-compatible", "abort", "MODEL_BAD_RESPONSE"],
  ["openai-compatible", "error", "MODEL_BAD_RESPONSE"],
  ["openai-compatible", "sensitive", "MODEL_REFUSED"],
  ["openai-compatible", "model_length", "OUTPUT_CUT"],
  ["openai-compatible", "model_context_window_exceeded", "MODEL_OVERFLOW"],
])("a model's answer of %s that ends with %s counts as a failure", async (kind, stopReason, code) => {
  server = await modelServer(() => ({ text: "half a ", stopReason }));
  const reply = await replyOf(await providerAt(server.url, kind), requestFor(modelOf[kind]));
  expect(reply.error?.code).toBe(code);
});

it.each(["eos_token", "COMPLETE", "end_turn", "stop_sequence"])(
  "a model server's stream may have %s at the end",
  async (stopReason) => {
    const reply = await ask("openai-compatible", { text: "whole", stopReason });
    expect(reply).toMatchObject({ text: "whole", error: undefined });
  },
);
