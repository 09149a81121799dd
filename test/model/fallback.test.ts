import { afterEach, describe, expect, it } from "vitest";
import { type ModelCandidate, withRetries } from "../../src/model/fallback.ts";
import { type ModelChunk, ModelError, type ModelRequest, type Provider } from "../../src/model/provider.ts";
import { UserError } from "../../src/protocol/error-codes.ts";
import { type ModelAnswer, type ModelServer, modelServer } from "../../src/testing/kit/model-server.ts";
import { modelOf, providerAt, replyOf, requestFor } from "./reply.ts";

let server: ModelServer | undefined;

afterEach(async () => {
  await server?.stop();
  server = undefined;
});

const kind = "openai-compatible";
const ok: ModelAnswer = { text: "ok" };

async function ask(answers: ModelAnswer[], options: Parameters<typeof providerAt>[2]) {
  server = await modelServer(answers);
  return replyOf(await providerAt(server.url, kind, options), requestFor(modelOf[kind]));
}

/** Milliseconds between two requests. */
const between = (first: number, second: number): number => server!.requests[second]!.at - server!.requests[first]!.at;

describe("retries over the wire", () => {
  it("the provider respects a server's Retry-After and announces the pause", async () => {
    const reply = await ask([{ status: 429, headers: { "retry-after-ms": "300" } }, ok], { retries: 5 });
    expect(reply.text).toBe("ok");
    expect(server!.requests).toHaveLength(2);
    expect(between(0, 1)).toBeGreaterThanOrEqual(300);
    expect(between(0, 1)).toBeLessThan(600);
    const retry = reply.chunks.find((chunk) => chunk.type === "retry");
    expect(retry).toMatchObject({ attempt: 1 });
    expect(retry?.delayMs).toBeGreaterThanOrEqual(300);
  });

  it("model requests are retried after server errors", async () => {
    const reply = await ask([{ status: 500 }, { status: 503 }, ok], { retries: 3 });
    expect(reply.text).toBe("ok");
    expect(server!.requests).toHaveLength(3);
  });

  it("bad model requests are not retried", async () => {
    const reply = await ask([{ status: 400, body: { error: "bad" } }, ok], { retries: 5 });
    expect(reply.error?.code).toBe("MODEL_BAD_REQUEST");
    expect(server!.requests).toHaveLength(1);
  });

  it("model refusals are not retried", async () => {
    expect((await ask([{ stopReason: "refusal", text: "" }, ok], { retries: 5 })).error?.code).toBe("MODEL_REFUSED");
    expect(server!.requests).toHaveLength(1);
  });

  it.each([
    [1, 2, "ok"],
    [2, 3, "ok"],
    [9, 3, ""],
  ])("%d empty answers are retried, twice at most", async (empty, requests, text) => {
    const reply = await ask([{ text: "", repeat: empty }, ok], { retries: 5, sleep: async () => {} });
    expect(reply).toMatchObject({ text, error: text ? undefined : { code: "MODEL_EMPTY" } });
    expect(server!.requests).toHaveLength(requests);
  });

  it("the provider does not retry a local model server that may still be working", async () => {
    for (const answer of [{ acceptOnly: true }, { chunks: [], ending: "silence" }] satisfies ModelAnswer[]) {
      const reply = await ask([answer, ok], { retries: 3, timeoutMs: 200, idleMs: 50 });
      expect(reply.error?.code).toBe("MODEL_TIMEOUT");
      expect(reply.error?.message).toContain("Raise timeoutMs in courser.json");
      expect(server!.requests).toHaveLength(1);
      await server!.stop();
    }
  });

  it("the provider has one timeout for the first byte and another for pauses within an answer", async () => {
    const reply = await ask([{ text: "ok", delayMs: 300 }], { timeoutMs: 5000, idleMs: 50 });
    expect(reply.text).toBe("ok");
  });

  it.each([
    ["Unsupported value: 'reasoning.effort' does not support 'high' with this model."],
    ["thinking is not enabled for this model"],
    ["Unrecognized request argument supplied: reasoning_effort"],
    ["Unsupported value: 'high' is not supported with this model."],
  ])("when a server refuses the effort level, the provider drops it for good and says so once: %s", async (message) => {
    server = await modelServer((request) =>
      request.body.includes("effort") ? { status: 400, body: { error: { message } } } : ok,
    );
    const provider = await providerAt(server.url, kind);
    const first = await replyOf(provider, requestFor(modelOf[kind], { effort: "high" }));
    expect(first.text).toBe("ok");
    expect(first.chunks[0]).toMatchObject({ type: "notice", kind: "effort_refused" });
    const second = await replyOf(provider, requestFor(modelOf[kind], { effort: "high" }));
    expect(second.chunks.some((chunk) => chunk.type === "notice")).toBe(false);
    expect(server.requests).toHaveLength(3);
  });

  const dot = { mime: "image/png", base64: "iVBORw0KGgo=" };
  const signed = { type: "thinking" as const, text: "Hm.", opaque: { from: "test", metadata: { openai: {} } } };
  it.each([
    ["images_refused", 400, "image dimensions exceed max allowed size: 8000 pixels"],
    ["images_refused", 400, "unknown variant `image_url`, expected `text`"],
    ["images_refused", 404, "No endpoints found that support image input"],
    ["thinking_refused", 400, "The encrypted content for item rs_1 could not be verified."],
    ["thinking_refused", 400, "messages.1.content.0: Invalid `signature` in `thinking` block"],
    ["thinking_refused", 400, "Corrupted thought signature."],
  ])(
    "the provider repeats a request once without what the server refuses: %s, %d %s",
    async (notice, status, message) => {
      const asked: ModelRequest[] = [];
      const provider = withRetries({
        id: "test",
        displayName: "Test",
        open: async () => [
          {
            id: "test",
            async *stream(request): AsyncGenerator<ModelChunk> {
              asked.push(request);
              const text = JSON.stringify(request.messages);
              const isRefused = notice === "images_refused" ? text.includes(dot.base64) : text.includes("opaque");
              if (isRefused) throw new ModelError(status === 404 ? "MODEL_UNKNOWN" : "MODEL_BAD_REQUEST", message);
              yield { type: "text", text: "ok" };
            },
          },
        ],
      });
      const call = { type: "tool_call" as const, id: "a", name: "Read", args: {}, opaque: signed.opaque };
      const request = requestFor("m", {
        messages: [
          { role: "user", parts: [{ type: "image", ...dot }] },
          { role: "assistant", parts: [signed, call] },
          { role: "user", parts: [{ type: "tool_result", id: "a", text: "seen", isError: false, images: [dot] }] },
        ],
      });
      const first = await replyOf(provider, request);
      expect(first.text).toBe("ok");
      expect(first.chunks[0]).toMatchObject({
        type: "notice",
        kind: notice,
        message: expect.stringContaining(message),
      });
      await replyOf(provider, request);
      expect(asked).toHaveLength(3);
      expect(asked[1]!.messages.map(({ parts }) => parts.length)).toEqual([1, notice === "images_refused" ? 2 : 1, 1]);
      expect(JSON.stringify(asked[1]!.messages)).toContain("seen");
    },
  );

  it("a retry does not duplicate the text of a cut answer", async () => {
    const reply = await ask(
      [
        { chunks: ['data: {"choices":[{"index":0,"delta":{"content":"half "}}]}\n\n'], ending: "reset" },
        { text: "whole" },
      ],
      { retries: 1 },
    );
    expect(reply.text).toBe("whole");
    expect(reply.chunks.map((chunk) => chunk.type)).toEqual(["text", "retry", "text", "part", "usage"]);
  });

  it("the provider cuts a silent stream and retries", async () => {
    const reply = await ask(
      [{ chunks: ['data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'], ending: "silence" }, ok],
      { retries: 1, idleMs: 100 },
    );
    expect(reply.text).toBe("ok");
    expect(server!.requests).toHaveLength(2);
  });

  it("when a vendor refuses an API key, the provider uses the next key from then on", async () => {
    server = await modelServer((request) => (request.key === "key-a" ? { status: 401 } : ok));
    const provider = await providerAt(server.url, kind, { keys: ["key-a", "key-b"], retries: 0 });
    const first = await replyOf(provider, requestFor("m"));
    expect(first.text).toBe("ok");
    expect(first.chunks[0]).toMatchObject({
      type: "retry",
      delayMs: 0,
      reason: expect.stringContaining("API key 1 of 2 was rejected and is no longer used"),
    });
    await replyOf(provider, requestFor("m"));
    expect(server.requests.map((request) => request.key)).toEqual(["key-a", "key-b", "key-b"]);
  });

  it("if the vendor refuses every API key, the error is final, and the next request tries them again", async () => {
    server = await modelServer([{ status: 401, repeat: 3 }, ok]);
    const provider = await providerAt(server.url, kind, { keys: ["key-a", "key-b"], retries: 3 });
    expect((await replyOf(provider, requestFor("m"))).error?.code).toBe("MODEL_AUTH_ERROR");
    expect(server.requests.map((request) => request.key)).toEqual(["key-a", "key-b"]);
    expect((await replyOf(provider, requestFor("m"))).text).toBe("ok");
    expect(server.requests.map((request) => request.key)).toEqual(["key-a", "key-b", "key-a", "key-b"]);
  });

  it("while one API key is rate limited, the provider uses another", async () => {
    server = await modelServer((request) => (request.key === "key-a" ? { status: 429 } : ok));
    const reply = await replyOf(
      await providerAt(server.url, kind, { keys: ["key-a", "key-b"], retries: 0 }),
      requestFor("m"),
    );
    expect(reply.text).toBe("ok");
  });

  it("the run announces a change to a fallback model and stays with it", async () => {
    server = await modelServer((request) => (request.model === modelOf[kind] ? { status: 529 } : ok));
    const provider = await providerAt(server.url, kind, { retries: 0, fallbackModels: ["test/m2"] });
    const reply = await replyOf(provider, requestFor(modelOf[kind]));
    expect(reply.text).toBe("ok");
    expect(reply.chunks[0]).toMatchObject({ type: "model", model: "m2" });
    await replyOf(provider, requestFor(modelOf[kind]));
    expect(server.requests.map((request) => request.model)).toEqual([modelOf[kind], "m2", "m2"]);
  });

  it("when the vendor does not know a model, the run uses the fallback model", async () => {
    server = await modelServer((request) => (request.model === modelOf[kind] ? { status: 404 } : ok));
    const provider = await providerAt(server.url, kind, { retries: 2, fallbackModels: ["test/m2"] });
    expect((await replyOf(provider, requestFor(modelOf[kind]))).text).toBe("ok");
    expect(server.requests).toHaveLength(2);
  });

  it("bad requests and refused API keys never lead to the fallback model", async () => {
    for (const status of [400, 401]) {
      const reply = await ask([{ status, body: { error: "no" } }, ok], { retries: 2, fallbackModels: ["test/m2"] });
      expect(reply.error?.code).toBe(status === 400 ? "MODEL_BAD_REQUEST" : "MODEL_AUTH_ERROR");
      expect(server!.requests).toHaveLength(1);
      await server!.stop();
    }
  });

  it("an unusable fallback model is reported with the reason", async () => {
    const reply = await ask([{ status: 500, repeat: 9 }], { retries: 0, fallbackModels: ["gpt-5"] });
    expect(reply.error?.code).toBe("MODEL_SERVER_ERROR");
    expect(reply.error?.message).toMatch(/fallback gpt-5 cannot be used either: Not authenticated/);
  });
});

describe("pauses between retries", () => {
  const fails = (...failures: (ModelError | undefined)[]): Provider => {
    const left = [...failures];
    return {
      id: "fake",
      async *stream(): AsyncGenerator<ModelChunk> {
        const failure = left.length > 1 ? left.shift() : left[0];
        if (failure) throw failure;
        yield { type: "text", text: "ok" };
      },
    };
  };
  const candidate = (provider: Provider): ModelCandidate => ({
    id: provider.id,
    displayName: provider.id,
    open: async () => [provider],
  });
  const run = async (provider: Provider, options: { retries?: number; random?: number; left?: number } = {}) => {
    const pauses: number[] = [];
    const wrapped = withRetries(candidate(provider), {
      ...(options.retries !== undefined && { retries: options.retries }),
      random: () => options.random ?? 0.5,
      timeLeft: () => options.left,
      sleep: async (ms) => void pauses.push(ms),
    });
    return { reply: await replyOf(wrapped, requestFor("m")), pauses };
  };
  const limited = (retryAfterMs?: number) =>
    new ModelError("MODEL_RATE_LIMIT", "slow down", retryAfterMs === undefined ? {} : { retryAfterMs });

  it("pauses between model retries grow and are limited in number", async () => {
    const { reply, pauses } = await run(fails(limited()), { retries: 5 });
    expect(pauses).toEqual([500, 1000, 2000, 4000, 8000]);
    expect(reply.error?.code).toBe("MODEL_RATE_LIMIT");
    expect(reply.error?.message).toContain("(6 attempts)");
  });

  it("model requests are retried three times by default, and 0 means never", async () => {
    expect((await run(fails(limited()))).pauses).toHaveLength(3);
    expect((await run(fails(limited()), { retries: 0 })).pauses).toHaveLength(0);
  });

  it.each([0, 0.999])("the provider's pause is between Retry-After and twice that (random %d)", async (random) => {
    const { pauses } = await run(fails(limited(2000), undefined), { random });
    expect(pauses[0]).toBeGreaterThanOrEqual(2000);
    expect(pauses[0]).toBeLessThanOrEqual(4000);
  });

  it("pauses between model retries are as long as the server asks, within the run's time", async () => {
    const { reply, pauses } = await run(fails(limited(90_000), undefined), { random: 0 });
    expect(reply.text).toBe("ok");
    expect(pauses).toEqual([90_000]);
    const limitedRun = await run(fails(limited(90_000), undefined), { left: 60_000 });
    expect(limitedRun.pauses).toEqual([]);
    expect(limitedRun.reply.error?.message).toMatch(/asks to wait 90 s, longer than the run may still take \(60 s\)/);
    expect((await run(fails(limited(4_000_000)))).pauses).toEqual([]);
  });

  it("cancelling the run ends the provider's pause", async () => {
    const controller = new AbortController();
    const request: ModelRequest = requestFor("m", { signal: controller.signal });
    setTimeout(() => controller.abort(), 30);
    const reply = await replyOf(withRetries(candidate(fails(limited(30_000)))), request);
    expect(reply.error?.code).toBe("INTERRUPTED");
  });

  it("the provider does not retry unexpected errors", async () => {
    const broken: Provider = {
      id: "broken",
      // biome-ignore lint/correctness/useYield: it fails before it says anything
      async *stream() {
        throw new TypeError("a bug");
      },
    };
    await expect(replyOf(withRetries(candidate(broken)), requestFor("m"))).rejects.toThrow("a bug");
    const fallbacks = [
      {
        name: "x",
        resolve: () => {
          throw new UserError("NOT_AUTHENTICATED", "no key");
        },
      },
    ];
    const wrapped = withRetries(candidate(fails(limited())), { retries: 0, fallbacks });
    expect((await replyOf(wrapped, requestFor("m"))).error?.message).toContain("no key");
  });
});
