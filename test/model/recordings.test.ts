import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { modelServer } from "../../src/testing/kit/model-server.ts";
import { type Kind, modelOf, providerAt, type Reply, replyOf, requestFor } from "./reply.ts";

const recordings: [kind: Kind, file: string][] = [
  ["anthropic", "anthropic/thinking-tools.sse"],
  ["openai", "openai-responses/reasoning-tools.sse"],
  ["openai-compatible", "openai-chat/reasoning-tools.sse"],
  ["google", "gemini/thinking-tools.sse"],
];

function pieces(bytes: Buffer, size: number): Uint8Array[] {
  const cut: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += size) cut.push(bytes.subarray(at, at + size));
  return cut;
}

async function play(kind: Kind, chunks: Uint8Array[]): Promise<Reply> {
  await using server = await modelServer([{ chunks }]);
  return await replyOf(await providerAt(server.url, kind), requestFor(modelOf[kind]));
}

describe.each(recordings)("the recording %s: %s", (kind, file) => {
  const bytes = readFileSync(join(import.meta.dirname, "../recordings", file));

  it("a recorded answer decodes the same however it is chunked", async () => {
    const reply = await play(kind, [bytes]);
    expect(reply.error).toBeUndefined();
    expect(reply.text).toBe("I read both: “ä” 🦌.");
    expect(reply.thinking).not.toBe("");
    const calls = reply.parts.filter((part) => part.type === "tool_call");
    expect(calls.map((call) => [call.name, call.args])).toEqual([
      ["Read", { path: "a.txt" }],
      ["Read", { path: "b.txt" }],
    ]);
    expect(new Set(calls.map((call) => call.id)).size).toBe(2);
    expect(reply.parts.filter((part) => part.type !== "thinking").map((part) => part.type)).toEqual([
      "text",
      "tool_call",
      "tool_call",
    ]);
    const anthropic = kind === "anthropic";
    expect(reply.usage).toEqual({
      inputTokens: anthropic ? 4 : 316,
      outputTokens: 141,
      cacheReadTokens: 2048,
      cacheWriteTokens: anthropic ? 312 : 0,
    });
    for (const size of [1, 7, 1000]) {
      const again = await play(kind, pieces(bytes, size));
      expect(withoutIds(again)).toEqual(withoutIds(reply));
    }
  });

  it("a recorded answer that stops before its last event counts as cut, wherever it stops", async () => {
    const events = bytes.toString("utf8").split(/(?<=\r?\n\r?\n)/);
    // The last event that carries the stop, and what may follow it, decide; everything before is incomplete.
    const stop = events.findIndex((event) =>
      /message_stop|response\.completed|"finish_reason":"\w|"finishReason"/.test(event),
    );
    for (const kept of [1, Math.floor(stop / 2), stop]) {
      const { error } = await play(kind, [Buffer.from(events.slice(0, kept).join(""))]);
      expect(error?.code, `${kept} of ${events.length} events`).toBe("MODEL_TRUNCATED");
    }
  });
});

/** Gemini names no calls: its ids are made up here. */
function withoutIds({ parts, text, thinking, usage }: Reply): unknown {
  return {
    text,
    thinking,
    usage,
    parts: parts.map((part) => (part.type === "tool_call" ? { ...part, id: "" } : part)),
  };
}
