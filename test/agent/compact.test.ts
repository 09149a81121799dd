// A conversation that is too long keeps its meaning: the request, every call beside its result, the latest work.
import { describe, expect, it } from "vitest";
import { compact, estimateTokens } from "../../src/agent/compact.ts";
import type { Message } from "../../src/protocol/message.ts";

const user = (text: string): Message => ({ role: "user", parts: [{ type: "text", text }] });
const said = (text: string): Message => ({ role: "assistant", parts: [{ type: "text", text }] });
const call = (id: string): Message => ({
  role: "assistant",
  parts: [{ type: "tool_call", id, name: "Read", args: { path: id } }],
});
const result = (id: string, text: string): Message => ({
  role: "user",
  parts: [{ type: "tool_result", id, text, isError: false }],
});

function isWhole(messages: readonly Message[]): boolean {
  let open: string[] = [];
  for (const message of messages) {
    const results = message.parts.flatMap((part) => (part.type === "tool_result" ? [part.id] : []));
    if (results.join() !== open.join()) return false;
    open = message.parts.flatMap((part) => (part.type === "tool_call" ? [part.id] : []));
  }
  return open.length === 0 && messages[0]?.role === "user";
}

describe("compact", () => {
  it("cuts old results before anything else", () => {
    const messages = [user("go"), call("a"), result("a", "x".repeat(8000)), call("b"), result("b", "y".repeat(1000))];
    const short = compact(messages, 1000);
    expect(estimateTokens(short)).toBeLessThanOrEqual(1000);
    expect(short).toHaveLength(messages.length);
    expect(short.at(-1)).toEqual(messages.at(-1));
    expect(isWhole(short)).toBe(true);
  });

  it("lets old turns go, whole, and says so", () => {
    const old = Array.from({ length: 20 }, (_, index) => [
      user(`question ${index} ${"q".repeat(900)}`),
      said("a".repeat(900)),
    ]);
    const short = compact([...old.flat(), user("the last question")], 2000);
    expect(estimateTokens(short)).toBeLessThanOrEqual(2000);
    expect(isWhole(short)).toBe(true);
    expect(JSON.stringify(short)).toContain("Earlier parts of this conversation were removed");
    expect(JSON.stringify(short.at(-1))).toContain("the last question");
  });

  it("keeps the request of a long turn, and its latest calls", () => {
    const work = Array.from({ length: 50 }, (_, index) => [call(`c${index}`), result(`c${index}`, "r".repeat(400))]);
    const short = compact([user("do the thing"), ...work.flat()], 1500);
    expect(estimateTokens(short)).toBeLessThanOrEqual(1500);
    expect(isWhole(short)).toBe(true);
    expect(JSON.stringify(short[0])).toContain("do the thing");
    expect(JSON.stringify(short)).toContain('"c49"');
  });

  it("gives a request that is too long all the room there is", () => {
    const text = Array.from({ length: 20_000 }, (_, index) => `line ${index}`).join("\n");
    const [only] = compact([user(text)], 20_000);
    const kept = (only!.parts[0] as { text: string }).text;
    expect(kept.length).toBeGreaterThan(70_000);
    expect(kept.length).toBeLessThanOrEqual(80_000);
    expect(kept).toContain("characters removed");
    expect(kept.endsWith("line 19999")).toBe(true);
  });

  it("survives requests without an answer between them", () => {
    const short = compact([user("a".repeat(9000)), user("b"), call("x"), result("x", "r".repeat(9000))], 500);
    expect(isWhole(short)).toBe(true);
    expect(JSON.stringify(short)).toContain('"b"');
  });
});
