// After a failure of each kind, at each moment: who is asked next, and that nothing is said or done twice.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runTurn } from "../../src/adapter/run-turn.ts";
import { createToolRouter } from "../../src/adapter/tools/router.ts";
import { aliveWith, uniqueSleep } from "../agent/process-support.ts";
import { adapterOf, hello, model, note, scratchFolder, tell } from "./support.ts";

const folder = scratchFolder();
const fast = { stopMs: { cancel: 100, term: 200, result: 200 } };

const kinds: [scenario: string, kind: string, more?: object][] = [
  ["auth", "auth"],
  ["auth-words", "auth"],
  ["auth-failed", "auth"],
  ["limit", "limit"],
  ["overloaded", "model"],
  ["is-error", "model"],
  ["unknown-tool", "model"],
  ["wrong-args", "model"],
  ["crash", "transport"],
  ["signal", "transport"],
  ["noise", "transport"],
  ["cut", "transport"],
  ["not-utf8", "transport"],
  ["unknown-version", "transport"],
  ["hang", "timeout", { timeoutMs: 250 }],
  ["listen", "timeout", { timeoutMs: 400, stopMs: { cancel: 3000 } }],
];

/** `first` fails in its way after $MOMENT; `second` says all of it, and calls the same tool. */
function twoModels(scenario: string, moment: string, more: object = {}) {
  const nap = uniqueSleep();
  const second = moment === "call" ? "repeat-call" : "answer";
  const adapter = adapterOf(
    {
      first: model(scenario, { ...fast, ...more, authProfiles: ["p"], fallbackModels: ["second"] }),
      second: model(second === "answer" ? "answer" : ["-"], {
        ...fast,
        ...(second === "repeat-call" && { command: "bash", args: ["-c", repeatCall] }),
      }),
    },
    { profiles: { p: { env: { NAP: nap, MOMENT: moment, SEEN: join(folder, "seen") } } } },
  );
  return { adapter, nap };
}

const line = (value: object) => `echo '${JSON.stringify(value)}'`;
const delta = (content: string) => line({ type: "assistant_delta", data: { content } });
const done = line({ type: "done", data: { finishReason: "stop" } });
// Asked again with the result of its call, it is done.
const repeatCall = `read -r turn; case $turn in *'"role":"tool"'*) ${delta("noted")}; ${done};; *) ${delta("Hello ")}; ${delta("world")}; ${line({ type: "tool_call", data: { name: "note", args: { text: "a" } } })}; ${done};; esac`;

describe.each(["nothing", "text", "call"])("fallback after %s", (moment) => {
  test.each(kinds)(
    "the adapter asks the next model after the fault %s, and delivers text and call once",
    async (scenario, kind, more) => {
      const { adapter, nap } = twoModels(scenario, moment, more);
      const { text, types, turn, last, events } = await tell(adapter, { tools: [note] });
      expect(text).toBe("Hello world");
      expect(last).toEqual({ type: "done", data: { finishReason: "stop" } });
      expect(types).not.toContain("error");
      expect(events.filter(({ type }) => type === "tool_call")).toHaveLength(moment === "call" ? 1 : 0);
      expect(turn.attempts).toMatchObject([
        { model: "first", profile: "p", outcome: "failed", kind },
        { model: "second", profile: "default", outcome: "ok" },
      ]);
      expect(aliveWith(nap)).toEqual([]);
    },
  );
});

test.each(kinds)("the adapter's runTurn executes a tool call once after %s", async (scenario, _kind, more) => {
  const { adapter } = twoModels(scenario, "call", more);
  const notes: string[] = [];
  const router = createToolRouter([
    {
      ...note,
      run: async ({ text }: { text: string }) => {
        notes.push(text);
        return "ok";
      },
    },
  ]);
  const session = await adapter.createSession();
  const turn = runTurn(adapter, session, { messages: hello, tools: router });
  let text = "";
  for await (const event of turn) if (event.type === "assistant_delta") text += event.data.content;
  expect(notes).toEqual(["a"]);
  expect(turn.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
  expect(text).toBe("Hello worldnoted");
  expect(turn.attempts.map((attempt) => attempt.model)).toEqual(["first", "second", "second"]);
});

describe("text of a second attempt after a failure", () => {
  const say = (...pieces: string[]) => ({ command: "bash", args: ["-c", `${pieces.map(delta).join(";")};${done}`] });
  const breakOff = (...pieces: string[]) => ({
    command: "bash",
    args: ["-c", `${pieces.map(delta).join(";")};exit 1`],
  });
  const ask = async (first: object, second: object, text: "full" | "new" = "full") => {
    const models = {
      first: model("", { ...first, fallbackModels: ["second"] }),
      second: model("", second),
    };
    return (await tell(adapterOf(models), { text })).text;
  };

  test("when a fallback model repeats text, the adapter forwards only the new part, however it is split", async () => {
    expect(await ask(breakOff("Hel", "lo wo"), say("Hello", " world"))).toBe("Hello world");
    expect(await ask(breakOff("Hello world"), say("H", "e", "llo world", "!"))).toBe("Hello world!");
    expect(await ask(breakOff("ha", "ha"), say("ha", "ha", "ha"))).toBe("hahaha");
  });

  test("when a fallback model only repeats what was already sent, the adapter forwards nothing", async () => {
    expect(await ask(breakOff("Hello world"), say("Hello"))).toBe("Hello world");
  });

  test("the adapter forwards a fallback model's different answer whole, as its own paragraph", async () => {
    expect(await ask(breakOff("I think"), say("I ", "know", " it"))).toBe("I think\n\nI know it");
  });

  test("when a fallback answers, whole texts that only repeat their deltas do not count as new text", async () => {
    const flush = (content: string, more: object = {}) =>
      line({ type: "assistant", message: { role: "assistant", content: [{ type: "text", text: content }] }, ...more });
    const streamed = [
      flush("Hello ", { timestamp_ms: 1 }),
      flush("world", { timestamp_ms: 2 }),
      flush("Hello world"),
      done,
    ].join(";");
    expect(await ask(breakOff("Hello"), { command: "bash", args: ["-c", streamed] })).toBe("Hello world");
  });

  test("the adapter takes a tool call with its argument keys in another order for the same call", async () => {
    const call = (args: object) => line({ type: "tool_call", data: { name: "pair", args } });
    const pair = { name: "pair", schema: { type: "object" } };
    const models = {
      first: model("", {
        command: "bash",
        args: ["-c", `${call({ a: 1, b: { c: 2, d: 3 } })}; exit 1`],
        fallbackModels: ["second"],
      }),
      second: model("", {
        command: "bash",
        args: ["-c", `${call({ b: { d: 3, c: 2 }, a: 1 })}; ${call({ a: 2 })}; ${done}`],
      }),
    };
    const { events } = await tell(adapterOf(models), { tools: [pair] });
    expect(events.filter(({ type }) => type === "tool_call").map(({ data }) => data)).toEqual([
      { name: "pair", args: { a: 1, b: { c: 2, d: 3 } } },
      { name: "pair", args: { a: 2 } },
    ]);
  });
});

describe("account profiles", () => {
  const byAccount = {
    command: "bash",
    args: [
      "-c",
      `case $ACCOUNT in bad) ${line({ type: "error", data: { code: "MODEL_AUTH_ERROR", message: "token expired" } })};; busy) echo 'Error: 429 Too Many Requests' >&2; exit 1;; broken) exit 1;; *) ${delta("ok")}; ${done};; esac`,
    ],
  };
  const profiles = Object.fromEntries(
    ["bad", "busy", "broken", "good"].map((name) => [name, { env: { ACCOUNT: name } }]),
  );

  test("the adapter pauses a profile that the vendor refused, also in the next turn, and tries the others in order", async () => {
    const adapter = adapterOf({ a: model("", { ...byAccount, authProfiles: ["bad", "busy", "good"] }) }, { profiles });
    const first = await tell(adapter);
    expect(first.turn.attempts.map(({ profile, kind }) => [profile, kind])).toEqual([
      ["bad", "auth"],
      ["busy", "limit"],
      ["good", undefined],
    ]);
    expect(first.last.type).toBe("done");
    expect((await tell(adapter)).turn.attempts.map(({ profile }) => profile)).toEqual(["good"]);
  });

  test("if all profiles pause, the adapter still uses the one with the shortest pause", async () => {
    const adapter = adapterOf({ a: model("", { ...byAccount, authProfiles: ["bad", "busy"] }) }, { profiles });
    await tell(adapter);
    expect((await tell(adapter)).turn.attempts.map(({ profile }) => profile)).toEqual(["busy", "bad"]);
  });

  test("when a CLI crashes, the adapter does not pause the profile but tries another model", async () => {
    const models = {
      a: model("", { ...byAccount, authProfiles: ["broken", "good"], fallbackModels: ["b"] }),
      b: model("answer"),
    };
    const { turn } = await tell(adapterOf(models, { profiles }));
    expect(turn.attempts.map((attempt) => attempt.model)).toEqual(["a", "b"]);
  });
});

describe("no fallback", () => {
  const withFallback = (scenario: string | readonly string[], more: object = {}) => ({
    a: model(scenario, { ...fast, ...more, fallbackModels: ["b"] }),
    b: model("answer"),
  });

  test("the adapter runs no fallback after a CLI changed something with its own tools, so nothing is done twice", async () => {
    const { turn, last } = await tell(adapterOf(withFallback(["own-tool", "shell"])));
    expect(turn.attempts).toMatchObject([{ model: "a", ownTools: ["shell"], kept: expect.stringContaining("shell") }]);
    expect(last).toMatchObject({ type: "error", data: { message: expect.stringContaining("must not run twice") } });
  });

  test("the adapter runs a fallback after a CLI only read something, or if the options permit repeating", async () => {
    expect((await tell(adapterOf(withFallback(["own-tool", "read"])))).last.type).toBe("done");
    const permitted = withFallback(["own-tool", "edit"], { fallbackAfterOwnTools: true });
    expect((await tell(adapterOf(permitted))).last.type).toBe("done");
  });

  test("the adapter runs no fallback for faulty turns, and none that is not enabled", async () => {
    const { last, turn } = await tell(adapterOf(withFallback("crash", { promptAsArg: true })), {
      messages: [{ role: "assistant", content: "no user here" }],
    });
    expect(last).toMatchObject({ type: "error", data: { code: "USAGE" } });
    expect(turn.attempts).toHaveLength(1);
    const off = { ...withFallback("crash"), b: model("answer", { enabled: false }) };
    expect((await tell(adapterOf(off))).last).toMatchObject({ type: "error", data: { code: "CLI_EXIT" } });
  });
});

test("when all models fail, the adapter's error names every one that it tried", async () => {
  const { last, turn } = await tell(adapterOf({ a: model("crash", { fallbackModels: ["b"] }), b: model("auth") }));
  expect(last).toMatchObject({ type: "error", data: { code: "MODEL_AUTH_ERROR" } });
  expect((last.data as { message: string }).message).toContain(
    "Tried: a (profile default): CLI_EXIT; b (profile default): MODEL_AUTH_ERROR.",
  );
  expect(turn.attempts).toHaveLength(2);
});

describe("messages on stderr", () => {
  const speak = `if [ -n "$WORDS" ]; then echo "$WORDS" >&2; exit 1; fi; ${delta("Hello world")}; ${line({ type: "done", data: {} })}`;
  const play = async (words: string) => {
    const adapter = adapterOf(
      { first: model("-", { ...fast, command: "bash", args: ["-c", speak], authProfiles: ["one", "two"] }) },
      { profiles: { one: { env: { WORDS: words } }, two: { env: { WORDS: "" } } } },
    );
    return tell(adapter);
  };

  test.each([
    "auth failed",
    "Authorization failure",
    "unauthorized",
    "invalid token",
    "error: the token was revoked",
    "Bad credentials",
    "HTTP 401",
    "You are not signed in",
    "authentication_error: x-api-key",
    "invalid_api_key",
  ])("the adapter tries the next profile after the fault %s, and its done event needs no reason", async (words) => {
    const { turn, last, text } = await play(words);
    expect(turn.attempts.map(({ profile, kind }) => [profile, kind])).toEqual([
      ["one", "auth"],
      ["two", undefined],
    ]);
    expect(text).toBe("Hello world");
    expect(last).toEqual({ type: "done", data: { finishReason: "stop" } });
  });

  test.each(["boom", "the author failed a test", "wrote 40100 lines", "tokens: 401k"])(
    "after the fault %s, the adapter tries no other profile",
    async (words) => {
      const { turn, last } = await play(words);
      expect(turn.attempts).toHaveLength(1);
      expect(last).toMatchObject({ type: "error", data: { code: "CLI_EXIT" } });
    },
  );
});

test("the adapter still tries a model that shares command and profile with a refused one", async () => {
  const line = (value: object) => `echo '${JSON.stringify(value)}'`;
  const refused = line({ type: "error", data: { code: "MODEL_AUTH_ERROR", message: "token expired" } });
  const fine = `${line({ type: "assistant_delta", data: { content: "ok" } })}; ${line({ type: "done", data: {} })}`;
  const shared = { provider: "cursor-agent-cli", command: "bash", authProfiles: ["default"] };
  const adapter = adapterOf({
    first: { ...shared, args: ["-c", refused], fallbackModels: ["second"] },
    second: { ...shared, args: ["-c", fine] },
  });
  const { text, turn } = await tell(adapter);
  expect(text).toBe("ok");
  expect(turn.attempts.map(({ model, outcome }) => `${model} ${outcome}`)).toEqual(["first failed", "second ok"]);
});

test("the adapter skips output lines that the turn contract ignores, and unknown ones, whatever their shape", async () => {
  const odd = ["protocol", "system", "user", "thinking", "interaction_query", "telemetry"].flatMap((type) => [
    { type },
    { type, subtype: 1, data: "x", message: null, session_id: 7, timestamp_ms: "soon" },
  ]);
  const lines = [...odd, { type: "assistant_delta", data: { content: "ok" } }, { type: "done", data: {} }];
  const script = lines.map((value) => `echo '${JSON.stringify(value)}'`).join("; ");
  const adapter = adapterOf({ odd: { provider: "cursor-agent-cli", command: "bash", args: ["-c", script] } });
  const { text, last, turn } = await tell(adapter);
  expect([text, last.type, turn.attempts[0]!.ignored]).toEqual(["ok", "done", 2]);
});
