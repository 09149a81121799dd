// A provider that is observed stays the same provider: what it can do, what it says and how it fails; its observers get it all.
import { describe, expect, it } from "vitest";
import { type ModelChunk, ModelError, type ModelRequest, type Provider } from "../../src/model/provider.ts";
import { type ModelAnswer, type ModelCall, type Observer, observedProvider } from "../../src/observe/observer.ts";

function heard() {
  const told: unknown[] = [];
  const calls: ModelCall[] = [];
  const answers: ModelAnswer[] = [];
  const observer = {
    asked: (call: ModelCall) => {
      calls.push(call);
      told.push("asked");
    },
    retried: () => told.push("retried"),
    answered: (_call: ModelCall, answer: ModelAnswer) => {
      answers.push(answer);
      told.push("answered");
    },
  } as unknown as Observer;
  return { observer, told, calls, answers };
}

const request = (signal = new AbortController().signal) => ({ signal }) as ModelRequest;
const part = (text: string) => ({ type: "part", part: { type: "text", text } }) as ModelChunk;
const retry = { type: "retry" } as ModelChunk;
const usage = { type: "usage", usage: { inputTokens: 1 } } as unknown as ModelChunk;

function saying(chunks: readonly (ModelChunk | Error)[], more: Partial<Provider> = {}): Provider {
  return {
    id: "p",
    async *stream() {
      for (const chunk of chunks) {
        if (chunk instanceof Error) throw chunk;
        yield chunk;
      }
    },
    ...more,
  } as Provider;
}

async function read(provider: Provider, given = request()): Promise<ModelChunk[]> {
  const all: ModelChunk[] = [];
  for await (const chunk of provider.stream(given)) all.push(chunk);
  return all;
}

describe("an observed provider", () => {
  it.each([true, false])("an observed provider can summarise as before: %s", (can) => {
    const { observer } = heard();
    const listened = observedProvider(saying([], { canSummarise: () => can }), { displayName: "M" }, [observer]);
    expect(listened.canSummarise!()).toBe(can);
    expect(observedProvider(saying([]), { displayName: "M" }, [observer]).canSummarise).toBeUndefined();
    expect(listened.id).toBe("p");
  });

  it("listeners of model requests get requests, retries and answers, unchanged for the caller", async () => {
    const [one, two] = [heard(), heard()];
    const model = { displayName: "GPT", baseUrl: "http://x" };
    const chunks = [part("lost"), retry, part("a"), part("b"), usage];
    expect(await read(observedProvider(saying(chunks), model, [one.observer, two.observer]))).toEqual(chunks);
    for (const each of [one, two]) {
      expect(each.told).toEqual(["asked", "retried", "answered"]);
      expect(each.calls[0]).toMatchObject({ name: "GPT", provider: "p", url: "http://x" });
      const [answer] = each.answers;
      expect(answer!.parts).toEqual([
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ]);
      expect(answer).toMatchObject({ usage: { inputTokens: 1 } });
      expect(answer!.cut).toBeUndefined();
      expect(answer!.error).toBeUndefined();
      expect(answer!.endedAt).toBeGreaterThanOrEqual(answer!.firstAt!);
    }
    await read(observedProvider(saying([]), { displayName: "M" }, [one.observer]));
    expect(one.calls[1]).not.toHaveProperty("url");
    expect(one.calls[1]!.number).toBe(one.calls[0]!.number + 1);
    expect(one.answers[1]).not.toHaveProperty("firstAt");
  });

  it("listeners of model requests get failures with their code; a cancelled request is no failure", async () => {
    const { observer, answers } = heard();
    const error = new ModelError("AUTH" as never, "no key");
    const failing = (why: Error) => observedProvider(saying([part("a"), why]), { displayName: "M" }, [observer]);
    await expect(read(failing(error))).rejects.toBe(error);
    expect(answers[0]).toMatchObject({ error: { code: "AUTH", message: "no key" }, parts: [{ text: "a" }] });
    expect(answers[0]!.cut).toBeUndefined();
    await expect(read(failing(new Error("odd")))).rejects.toThrow("odd");
    expect(answers[1]!.error).toEqual({ code: "INTERNAL", message: "odd" });
    await expect(read(failing(new Error("stopped")), request(AbortSignal.abort()))).rejects.toThrow("stopped");
    expect(answers[2]).toMatchObject({ cut: true });
    expect(answers[2]!.error).toBeUndefined();
    for await (const _chunk of observedProvider(saying([part("a"), part("b")]), { displayName: "M" }, [
      observer,
    ]).stream(request()))
      break;
    expect(answers[3]).toMatchObject({ cut: true, parts: [{ text: "a" }] });
  });
});
