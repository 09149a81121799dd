// A conversation that is too long keeps its meaning: the user's words, every call beside its result, the newest turn.
import { describe, expect, it } from "vitest";
import { type CompactionSize, type CompactOptions, estimateTokens, makeRoom } from "../../src/agent/compact/index.ts";
import { summariser } from "../../src/agent/compact/summary.ts";
import { realSeams } from "../../src/agent/seams.ts";
import { type ModelChunk, ModelError, type ModelRequest } from "../../src/model/provider.ts";
import type { Message, Part } from "../../src/protocol/message.ts";
import { random } from "../protocol/random.ts";
import { seedOf } from "../support/chance.ts";

const user = (text: string, ...more: Part[]): Message => ({ role: "user", parts: [{ type: "text", text }, ...more] });
const said = (text: string): Message => ({ role: "assistant", parts: [{ type: "text", text }] });
const call = (id: string, args: unknown = { path: id }): Message => ({
  role: "assistant",
  parts: [{ type: "tool_call", id, name: "Read", args }],
});
const result = (id: string, text: string, ...more: Part[]): Message => ({
  role: "user",
  parts: [{ type: "tool_result", id, text, isError: false }, ...more],
});
const picture: Part = { type: "image", mime: "image/png", base64: "AAAA" };
const shorten = (messages: readonly Message[], room: number, options: Partial<CompactOptions> = {}) =>
  makeRoom(messages, { room, windowTokens: room * 2, ...options });

/** Every call is followed by its results, and nothing else has results. */
function isWhole(messages: readonly Message[]): boolean {
  let open: string[] = [];
  for (const message of messages) {
    const results = message.parts.flatMap((part) => (part.type === "tool_result" ? [part.id] : []));
    if (results.join() !== open.join()) return false;
    open = message.parts.flatMap((part) => (part.type === "tool_call" ? [part.id] : []));
  }
  return open.length === 0 && messages[0]?.role === "user";
}

function textsOf(messages: readonly Message[], role: Message["role"]): string[] {
  return messages
    .filter((message) => message.role === role)
    .flatMap(({ parts }) => parts.flatMap((part) => (part.type === "text" ? [part.text] : [])));
}

/** Twelve turns with a call each, and the newest one. */
function longTalk(): { messages: Message[]; words: string[]; newest: Message[] } {
  const words = Array.from({ length: 12 }, (_, index) => `Question ${index}: ${"why ".repeat(20)}`);
  const old = words.flatMap((text, index) => [
    user(text),
    call(`c${index}`, { path: "a.ts", content: "x".repeat(2000) }),
    result(`c${index}`, `found ${"y".repeat(3000)}`),
    said(`Answer ${index}: ${"because ".repeat(400)}`),
  ]);
  const newest = [user("The last question"), call("last"), result("last", "z".repeat(600))];
  return { messages: [...old, ...newest], words, newest };
}

describe("compaction without a model", () => {
  it("compaction shortens old results, calls, thoughts and images first", async () => {
    const messages = [
      user("look", picture),
      {
        role: "assistant" as const,
        parts: [{ type: "thinking" as const, text: "t".repeat(5000) }, ...call("a").parts],
      },
      result("a", "x".repeat(20_000)),
      call("b", { path: "b", content: "w".repeat(20_000) }),
      result("b", "ok"),
      said("Done."),
      user("and now?"),
    ];
    const { messages: short, how, after } = await shorten(messages, 1000);
    expect(how).toBe("shortened");
    expect(after).toBeLessThanOrEqual(600);
    expect(isWhole(short)).toBe(true);
    expect(short).toHaveLength(messages.length);
    expect(textsOf(short, "assistant")).toEqual(["Done."]);
    expect(JSON.stringify(short)).toContain("characters removed");
    expect(JSON.stringify(short)).not.toContain("AAAA");
    expect(short.at(-1)).toBe(messages.at(-1));
  });

  it("compaction drops old answers, oldest first, and keeps all user messages", async () => {
    const { messages, words, newest } = longTalk();
    const { messages: short, after } = await shorten(messages, 6000);
    expect(after).toBeLessThanOrEqual(3600);
    expect(isWhole(short)).toBe(true);
    expect(textsOf(short, "user")).toEqual([...words, "The last question"]);
    expect(short.slice(-3)).toEqual(newest);
    expect(textsOf(short, "assistant").at(-1)).toBe(textsOf(messages, "assistant").at(-1));
    expect(textsOf(short, "assistant")[0]).toContain("A call of tools went here");
  });

  it("compaction shortens @ mentions but not what the user typed or piped in", async () => {
    const typed = `see @a ${"word ".repeat(1000)}`;
    const piped: Part = { type: "text", text: "log line\n".repeat(500) };
    const attached: Part = { type: "text", text: `Attached for the @ mentions above:\n${"f".repeat(40_000)}` };
    const { messages: short } = await shorten([user(typed, attached, piped), said("Seen."), user("go on")], 6000);
    expect(textsOf(short, "user")).toEqual([typed, expect.stringContaining("characters removed"), piped.text, "go on"]);
  });

  it("compaction keeps instructions that were added to a tool result", async () => {
    const rule: Part = { type: "text", text: "Rule: tabs only." };
    const old = [user("a"), call("x"), result("x", "r".repeat(500), rule), said("s".repeat(9000))];
    const { messages: short } = await shorten([...old, user("b")], 500);
    expect(textsOf(short, "user")).toEqual(["a", "Rule: tabs only.", "b"]);
  });

  it("compaction changes the newest turn only if it does not fit alone", async () => {
    const work = Array.from({ length: 50 }, (_, index) => [call(`c${index}`), result(`c${index}`, "r".repeat(4000))]);
    const turn = [user("do the thing"), ...work.flat()];
    const roomy = await shorten([user("old"), said("o".repeat(90_000)), ...turn], 60_000);
    expect(roomy.messages.slice(-turn.length)).toEqual(turn);

    const { messages: short, after } = await shorten(turn, 1500);
    expect(after).toBeLessThanOrEqual(1500);
    expect(isWhole(short)).toBe(true);
    expect(textsOf(short, "user")[0]).toBe("do the thing");
    expect(JSON.stringify(short)).toContain('"c49"');
    expect(textsOf(short, "user")[1]).toMatch(
      /^\[The first steps of this turn.*:\]\n- Read c0\n(.*\n)*- Read c\d+ → r/,
    );
  });

  it("compaction replaces each removed step by one line, and keeps the todo list, even when repeated", async () => {
    const step = (index: number) => [
      call(`c${index}`, { command: `make ${index}` }),
      result(`c${index}`, `${"noise\n".repeat(400)}[exit code ${index}]`),
    ];
    const list: Message = {
      role: "assistant",
      parts: [{ type: "tool_call", id: "todo", name: "TodoWrite", args: { todos: [] } }],
    };
    const turn = [user("do it"), list, result("todo", "[x] 1: look\n[ ] 2: leap"), ...[1, 2, 3, 4, 5].flatMap(step)];
    const once = await shorten(turn, 600);
    const twice = await shorten([...once.messages, ...[6, 7, 8, 9].flatMap(step)], 600);
    const [request, note] = textsOf(twice.messages, "user");
    expect(request).toBe("do it");
    for (const index of [1, 2, 3, 4, 5]) expect(note).toContain(`- Read make ${index} → [exit code ${index}]\n`);
    expect(note!.match(/first steps of this turn/g)).toHaveLength(1);
    expect(note).toMatch(/\n\[The todo list after them:\]\n\[x\] 1: look\n\[ \] 2: leap$/);
    expect(twice.after).toBeLessThanOrEqual(360);
  });

  it("compaction never shortens the request itself and never makes anything longer", async () => {
    const request = user("line\n".repeat(20_000));
    const { messages, how, before, after } = await shorten([request], 5000);
    expect(messages).toEqual([request]);
    expect(how).toBe("unchanged");
    expect(after).toBe(before);
  });

  it("compaction does not split a character", async () => {
    for (let length = 4000; length < 4004; length++) {
      const { messages } = await shorten([user("a"), call("x"), result("x", "😀".repeat(length)), user("b")], 100);
      expect(JSON.stringify(messages)).not.toMatch(/\\ud[89a-f]/);
    }
  });
});

describe("compaction with a model", () => {
  it("compaction replaces older turns with a summary and keeps the user's messages", async () => {
    const { messages, words, newest } = longTalk();
    let material = "";
    const {
      messages: short,
      how,
      usage,
    } = await shorten(messages, 6000, {
      summarise: async (transcript) => {
        material = transcript;
        const usage = { inputTokens: 9, outputTokens: 2, cacheReadTokens: 0, cacheWriteTokens: 0 };
        return { text: "a.ts was read twelve times.", usage };
      },
    });
    expect(how).toBe("summarised");
    expect(usage?.inputTokens).toBe(9);
    expect(textsOf(short, "user")).toEqual([...words, "The last question"]);
    expect(textsOf(short, "assistant")).toEqual([expect.stringContaining("a.ts was read twelve times.")]);
    expect(short.slice(-3)).toEqual(newest);
    expect(isWhole(short)).toBe(true);
    expect(material).toContain("Answer 3: because");
    expect(material).not.toContain("The last question");
  });

  it("compaction requests no summary if shortening results is enough or there are no older turns", async () => {
    const asked: string[] = [];
    const summarise = async (transcript: string) => {
      asked.push(transcript);
      return { text: "s" };
    };
    await shorten([user("a"), call("x"), result("x", "r".repeat(30_000)), said("done"), user("b")], 1000, {
      summarise,
    });
    await shorten([user("only"), call("x"), result("x", "r".repeat(30_000))], 1000, { summarise });
    expect(asked).toEqual([]);
  });

  it("compaction summarises the first steps of a long turn and keeps a line for each", async () => {
    const step = (index: number) => [call(`c${index}`), result(`c${index}`, `fact ${index} ${"r".repeat(4000)}`)];
    const steps = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => step(from + at)).flat();
    const materials: string[] = [];
    const summarise = async (transcript: string) => {
      materials.push(transcript);
      return { text: `Memory ${materials.length}.` };
    };
    const once = await shorten([user("do the thing"), ...steps(0, 40)], 4000, { summarise });
    expect(once.how).toBe("summarised");
    expect(materials[0]).toContain("fact 3");
    expect(textsOf(once.messages, "user").at(-1)).toBe("[What these steps showed:]\nMemory 1.");
    const twice = await shorten([...once.messages, ...steps(40, 80)], 4000, { summarise });
    const texts = textsOf(twice.messages, "user");
    expect(texts[0]).toBe("do the thing");
    expect(texts.filter((text) => text.includes("Memory"))).toEqual(["[What these steps showed:]\nMemory 2."]);
    expect(materials[1]).toContain("Memory 1.");
    expect(texts.join()).toContain("\n- Read c3\n");
    expect(texts.join()).toContain("\n- Read c70 → fact 70");
    expect(twice.after).toBeLessThanOrEqual(4000);
    expect(isWhole(twice.messages)).toBe(true);
  });

  it.each([
    ["fails", () => Promise.reject(new ModelError("MODEL_OVERLOADED", "busy"))],
    ["says nothing", async () => ({ text: " \n" })],
    ["says too much", async (_: string, longest: number) => ({ text: "s".repeat(longest + 1) })],
  ])("compaction continues without a summary if the model %s", async (_, summarise) => {
    const { messages, words } = longTalk();
    const without = await shorten(messages, 6000);
    const tried = await shorten(messages, 6000, { summarise });
    expect(tried.messages).toEqual(without.messages);
    expect(tried.how).toBe("shortened");
    expect(textsOf(tried.messages, "user").slice(0, -1)).toEqual(words);
  });

  it("compaction merges an earlier summary into the new one, so there is only one", async () => {
    const { messages } = longTalk();
    const first = await shorten(messages, 6000, { summarise: async () => ({ text: "First memory." }) });
    const more = [...first.messages, said("x".repeat(30_000)), user("next")];
    let material = "";
    const second = await shorten(more, 6000, {
      summarise: async (transcript) => {
        material = transcript;
        return { text: "Second memory." };
      },
    });
    expect(material).toContain("First memory.");
    expect(JSON.stringify(second.messages)).not.toContain("First memory.");
  });
});

it("compaction is announced with an event before it happens", async () => {
  const { messages } = longTalk();
  const told: CompactionSize[] = [];
  await shorten(messages, 6000, { beforeCompact: (facts) => void told.push(facts) });
  expect(told).toEqual([
    { trigger: "auto", tokens: estimateTokens(messages), windowTokens: 12_000, messages: 51, messagesToCompact: 48 },
  ]);
});

it("compaction requests its summary once, without tools, and never from a model that cannot write one", async () => {
  const asked: ModelRequest[] = [];
  const provider = {
    id: "told",
    async *stream(request: ModelRequest): AsyncGenerator<ModelChunk> {
      asked.push(request);
      yield { type: "text", text: "half" };
      yield { type: "retry", attempt: 1, reason: "cut", delayMs: 0 };
      yield { type: "model", model: "Other", reason: "Other answers instead" };
      yield { type: "part", part: { type: "text", text: "The memory." } };
      yield { type: "part", part: { type: "tool_call", id: "x", name: "Shell", args: { command: "rm -rf ." } } };
      yield { type: "usage", usage: { inputTokens: 5, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 } };
    },
  };
  const model = { id: "m", displayName: "M", contextTokens: 1000 };
  const { signal } = new AbortController();
  const summary = await summariser({ provider, model, seams: realSeams }, signal)!("what happened", 500);
  expect(summary).toMatchObject({ text: "The memory.", usage: { inputTokens: 5 } });
  expect(summary.events).toMatchObject([{ type: "notice", kind: "model_change", message: "Other answers instead" }]);
  expect(asked).toHaveLength(1);
  expect(asked[0]).toMatchObject({ tools: [], model: "m" });
  const endless = {
    id: "endless",
    async *stream(): AsyncGenerator<ModelChunk> {
      for (;;) yield { type: "text", text: "and so on ".repeat(10) };
    },
  };
  await expect(
    summariser({ provider: endless, model, seams: realSeams }, signal)!("what happened", 500),
  ).rejects.toThrow("too long");
  expect(
    summariser({ provider: { ...provider, canSummarise: () => false }, model, seams: realSeams }, signal),
  ).toBeUndefined();
});

it("compaction estimates more tokens for texts in other alphabets", () => {
  expect(estimateTokens([user("abcd".repeat(100))])).toBe(100);
  expect(estimateTokens([user("слово".repeat(100))])).toBe(250);
  expect(estimateTokens([user("日本語".repeat(100))])).toBe(300);
});

it("compaction keeps the user's words and valid calls in random conversations", async () => {
  const seed = seedOf("agent/compact");
  const chance = random(seed);
  for (let round = 0; round < 300; round++) {
    const messages: Message[] = [];
    for (let turn = chance.below(6); turn >= 0; turn--) {
      messages.push(user(`u${messages.length}${"word ".repeat(chance.below(200))}`));
      for (let step = chance.below(8); step > 0; step--) {
        const id = `c${messages.length}`;
        messages.push(
          call(id, { path: id, content: "c".repeat(chance.below(3000)) }),
          result(id, "r".repeat(chance.below(9000))),
        );
      }
      if (turn > 0 && chance.below(4) > 0) messages.push(said("s".repeat(chance.below(9000))));
    }
    const room = 200 + chance.below(20_000);
    const text = "m".repeat(chance.below(3000));
    const options = chance.below(2) === 0 ? {} : { summarise: async () => ({ text }) };
    const { messages: short, before, after } = await shorten(messages, room, options);
    const why = `seed ${seed}, round ${round}`;
    expect(isWhole(short), why).toBe(true);
    expect(after, why).toBeLessThanOrEqual(before);
    expect(after, why).toBe(estimateTokens(short));
    expect(
      textsOf(short, "user").filter((each) => /^u\d/.test(each)),
      why,
    ).toEqual(textsOf(messages, "user"));
    const newest = messages.slice(
      messages.findLastIndex((each) => each.role === "user" && each.parts[0]?.type === "text"),
    );
    if (
      estimateTokens(newest) +
        estimateTokens(messages.filter((each) => each.parts[0]?.type === "text" && each.role === "user")) <
      room * 0.5
    )
      expect(short.slice(-newest.length), why).toEqual(newest);
  }
});
