// The scripted model: what a file of replies plays, and what is said about a file that is none.
import { expect, test } from "vitest";
import { type ModelChunk, ModelError, type ModelRequest, type Provider } from "../../src/model/provider.ts";
import { loadScript } from "../../src/model/scripted.ts";
import { UserError } from "../../src/protocol/error-codes.ts";
import type { Message } from "../../src/protocol/message.ts";

const none = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };

function request(more: Partial<ModelRequest> = {}): ModelRequest {
  const messages: Message[] = [{ role: "user", parts: [{ type: "text", text: "hi there" }] }];
  return { model: "x.json", system: "", messages, tools: [], signal: new AbortController().signal, ...more };
}

async function play(
  provider: Provider,
  more: Partial<ModelRequest> = {},
): Promise<{ chunks: ModelChunk[]; error?: ModelError }> {
  const chunks: ModelChunk[] = [];
  try {
    for await (const chunk of provider.stream(request(more))) chunks.push(chunk);
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    return { chunks, error };
  }
  return { chunks };
}

const load = (script: unknown): Provider =>
  loadScript(typeof script === "string" ? script : JSON.stringify(script), "x.json");

const partsOf = (chunks: ModelChunk[]): unknown[] =>
  chunks.flatMap((chunk) => (chunk.type === "part" ? [chunk.part] : []));

test("a scripted reply plays thinking, text deltas, calls and usage in order", async () => {
  const script = load([
    {
      usage: { inputTokens: 3, outputTokens: 4 },
      calls: [
        { name: "Read", args: { path: "a" } },
        { name: "Read", args: '{"path": ', id: "mine" },
      ],
      text: ["Hel", "lo"],
      thinking: "hm",
    },
  ]);
  expect(script.id).toBe("script");
  expect((await play(script)).chunks).toEqual([
    { type: "thinking", text: "hm" },
    { type: "part", part: { type: "thinking", text: "hm" } },
    { type: "text", text: "Hel" },
    { type: "text", text: "lo" },
    { type: "part", part: { type: "text", text: "Hello" } },
    { type: "part", part: { type: "tool_call", id: "call_script_1", name: "Read", args: { path: "a" } } },
    { type: "part", part: { type: "tool_call", id: "mine", name: "Read", args: '{"path": ' } },
    { type: "usage", usage: { ...none, inputTokens: 3, outputTokens: 4 } },
  ]);
});

test("the steps of a scripted reply keep their order", async () => {
  const script = load([
    { steps: [{ call: { name: "LS" } }, { text: "after" }, { thinking: ["a", "b"] }, { delayMs: 1 }, { text: "end" }] },
  ]);
  expect(partsOf((await play(script)).chunks)).toEqual([
    { type: "tool_call", id: "call_script_1", name: "LS", args: {} },
    { type: "text", text: "after" },
    { type: "thinking", text: "ab" },
    { type: "text", text: "end" },
  ]);
});

test.each([
  ["an array", '[{"text":"1"},{"text":"2"}]'],
  ["an object", '{"replies":[{"text":"1"},{"text":"2"}]}'],
  ["lines", '{"text":"1"}\n\n{"text":"2"}\r\n'],
  ["with a byte order mark", '\uFEFF[{"text":"1"},{"text":"2"}]'],
])("%s: a model script gives its replies one after another, then ends", async (_, text) => {
  const script = load(text);
  for (const answer of ["1", "2"])
    expect(partsOf((await play(script)).chunks)).toEqual([{ type: "text", text: answer }]);
  const { error } = await play(script);
  expect(error).toMatchObject({
    code: "MODEL_BAD_RESPONSE",
    message: "script x.json has only 2 replies; the run asked for one more",
  });
});

test("a model script that is a single object is one reply", async () => {
  const script = load({ text: "only" });
  expect(partsOf((await play(script)).chunks)).toEqual([{ type: "text", text: "only" }]);
  expect((await play(script)).error?.message).toContain("has only 1 reply;");
});

test("a model script with loop starts again after its last reply", async () => {
  const script = load({ loop: true, replies: [{ text: "a" }, { text: "b" }] });
  const said: unknown[] = [];
  for (let turn = 0; turn < 5; turn += 1) said.push(...partsOf((await play(script)).chunks));
  expect(said.map((part) => (part as { text: string }).text).join("")).toBe("ababa");
});

test("a scripted error is thrown after the preceding steps, once", async () => {
  const script = load([
    { text: "so far", error: { code: "MODEL_RATE_LIMIT", message: "slow down", retryAfterMs: 5 } },
    { error: { code: "MODEL_OVERLOADED" } },
    { text: "fine" },
  ]);
  const first = await play(script);
  expect(partsOf(first.chunks)).toEqual([{ type: "text", text: "so far" }]);
  expect(first.error).toMatchObject({ code: "MODEL_RATE_LIMIT", message: "slow down", retryAfterMs: 5 });
  expect((await play(script)).error).toMatchObject({ code: "MODEL_OVERLOADED" });
  expect((await play(script)).error).toBeUndefined();
});

test("the field expect in a model script checks what the run sends", async () => {
  const results: Message[] = [
    ...request().messages,
    { role: "assistant", parts: [{ type: "tool_call", id: "call_script_4", name: "Read", args: {} }] },
    { role: "user", parts: [{ type: "tool_result", id: "call_script_4", text: "File not found", isError: true }] },
  ];
  const good = load([{ expect: ["not found"], calls: [{ name: "LS" }] }]);
  // Ids go on from those in the conversation.
  expect(partsOf((await play(good, { messages: results })).chunks)).toMatchObject([{ id: "call_script_5" }]);
  const bad = load([{ text: "x" }, { expect: ["found", "hi there", "zebra"], text: "never" }]);
  await play(bad);
  const { chunks, error } = await play(bad, { messages: results });
  expect(chunks).toEqual([]);
  expect(error?.code).toBe("MODEL_BAD_REQUEST");
  expect(error?.message).toBe(
    'script x.json, reply 2 expected "hi there" and "zebra" in the last message, which says: "File not found"',
  );
});

test("a scripted delay ends with the signal", async () => {
  const stop = new AbortController();
  const playing = play(load([{ delayMs: 600_000, text: "late" }]), { signal: stop.signal });
  stop.abort();
  expect((await playing).error?.code).toBe("INTERRUPTED");
  expect((await play(load([{ text: "x" }]), { signal: AbortSignal.abort() })).error?.code).toBe("INTERRUPTED");
});

test.each([
  ["", "line 1: the file is empty"],
  ["[]", "line 1: there are no replies"],
  ['"text"', 'line 1: a script is an array of replies, an object with "replies", or one reply a line, not a string'],
  ['[\n  {"text": "a"},\n  {"text": }\n]', "line 3, column 12: this is not JSON"],
  ['[\n  {"text": "a"', "line 2, column 15: this is not JSON"],
  ['{"text":"a"}\n{"text":\n', "line 2: this is not JSON"],
  [
    '[\n {"text":"a"},\n\n {"txet":"b"}]',
    'reply 2 (line 4): "txet" is not known (did you mean "text"?); allowed: delayMs, thinking, text, calls, error, steps, usage, expect',
  ],
  [
    '{"replies":[\n{"calls":[{"nam":"x"}]}]}',
    'reply 1 (line 2), "calls", call 1: "nam" is not known (did you mean "name"?)',
  ],
  ['{"replies":{}}', '"replies" must be an array, not an object'],
  ['{"replies":[{}],"loop":1}', '"loop" must be true or false, not a number'],
  ['[{"text":5}]', 'reply 1 (line 1), "text": expected a string or an array of strings, not a number'],
  [
    '[{"calls":[{"name":"Read","args":[1]}]}]',
    '"args" must be an object, or a string to play malformed arguments, not an array',
  ],
  ['[{"error":{"code":"MODEL_RATE_LIMT"}}]', '"code" "MODEL_RATE_LIMT" is unknown (did you mean MODEL_RATE_LIMIT?)'],
  ['[{"delayMs":-1}]', '"delayMs": expected a number of milliseconds, not -1'],
  ['[{"usage":{"inputTokens":1.5}}]', '"inputTokens" must be an integer, not 1.5'],
  [
    '[{"steps":[{"text":"a","thinking":"b"}]}]',
    '"steps", step 1: a step has exactly one of delayMs, thinking, text, call, error; this one has 2',
  ],
  ['[{"steps":[],"text":"a"}]', '"steps" and "text" cannot be combined'],
  ["[5]", "reply 1: expected an object with any of"],
])("the model script %j is refused", (text, message) => {
  const attempt = (): Provider => loadScript(text, "x.json");
  expect(attempt).toThrow(UserError);
  expect(attempt).toThrow(/^script x\.json, .*The form: 'courser help scripted-model'\.$/s);
  try {
    attempt();
  } catch (error) {
    expect((error as UserError).code).toBe("CONFIG_INVALID");
    expect((error as UserError).message).toContain(message);
  }
});
