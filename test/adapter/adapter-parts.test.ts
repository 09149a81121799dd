// The adapter's judgements by themselves: what trial runs mean (the whole table is findings.txt), kinds of failures, rests, repetitions.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkConfig } from "../../src/adapter/config.ts";
import { codeOfWords, failureKind, isTooLong, refusedFlag } from "../../src/adapter/failure.ts";
import { findingsFrom } from "../../src/adapter/findings.ts";
import { callKey, RepeatedCalls } from "../../src/adapter/repeated-calls.ts";
import { RepeatedText } from "../../src/adapter/repeated-text.ts";
import { Rotation } from "../../src/adapter/rotation.ts";

const line = (value: object) => `${JSON.stringify(value)}\n`;
const delta = line({ type: "assistant_delta", data: { content: "Hello" } });
const done = line({ type: "done", data: { turnId: "t1" } });
const end = (stdout: string, more: object = {}) =>
  ({
    ...{ stdout: Buffer.from(stdout), stderr: "", exitCode: 0, signal: "", timedOut: false, durationMs: 12 },
    ...more,
  }) as never;
const stdin = { style: "stdin" as const, command: ["cli"], headlessFlags: ["--force"] };
const argument = { ...stdin, style: "argument" as const };

const trials: [what: string, trials: object, doctorCase?: typeof stdin | typeof argument][] = [
  ["no program", { pipe: end("", { failure: new Error("spawn cli ENOENT") }) }],
  ["all is well", { pipe: end(delta + done), open: end(delta + done), terminal: end("x") }],
  ["it names its version", { pipe: end(line({ type: "protocol", data: { version: "1.0" } }) + delta + done) }],
  ["it speaks a later version", { pipe: end(line({ type: "protocol", data: { version: 99 } }) + delta + done) }],
  [
    "its version comes after twenty lines",
    { pipe: end("\n".repeat(20) + line({ type: "protocol", data: { version: "1.0" } }) + done) },
  ],
  ["two pieces", { pipe: end(delta + delta + done) }],
  [
    "whole messages and a result",
    {
      pipe: end(
        line({ type: "assistant", message: { role: "assistant", content: [{ type: "text", text: "Whole" }] } }) +
          line({
            type: "result",
            subtype: "success",
            is_error: false,
            duration_ms: 1,
            duration_api_ms: 1,
            session_id: "s",
            result: "Whole",
          }),
      ),
    },
  ],
  ["an answer without an end", { pipe: end(delta) }],
  ["an end without an answer", { pipe: end(done) }],
  [
    "it does not exit, with an answer",
    { pipe: end(delta + done, { timedOut: true, exitCode: null, signal: "SIGTERM" }) },
  ],
  ["it does not exit, without one", { pipe: end("", { timedOut: true, exitCode: null, signal: "SIGTERM" }) }],
  ["it was killed", { pipe: end(delta, { exitCode: null, signal: "SIGSEGV" }) }],
  ["it fails after its result", { pipe: end(delta + done, { exitCode: 3 }) }],
  ["it fails in silence", { pipe: end("", { exitCode: 3 }) }],
  ["it fails in silence, as an argument", { pipe: end("", { exitCode: 3 }), terminal: end(" ") }, argument],
  ["it fails with output", { pipe: end(delta, { exitCode: 3 }) }],
  ["it fails and says why", { pipe: end("", { exitCode: 1, stderr: "oops\n" }), terminal: end("x") }],
  ["it needs a login", { pipe: end("", { exitCode: 1, stderr: "Please log in" }) }],
  ["it says something, and works", { pipe: end(delta + done, { stderr: "note" }) }],
  ["it says much", { pipe: end(delta + done, { stderr: "x".repeat(500) }) }],
  ["it refuses a flag", { pipe: end("", { exitCode: 2, stderr: "error: unknown option '--force'" }) }, argument],
  [
    "it refuses a flag that nobody gave",
    { pipe: end("", { exitCode: 2, stderr: "error: unknown option '--other'" }) },
    argument,
  ],
  ["it refuses a flag, from stdin", { pipe: end("", { exitCode: 2, stderr: "error: unknown option '--force'" }) }],
  ["its output is no frames", { pipe: end("hello\n") }],
  [
    "it ends in an error",
    { pipe: end(line({ type: "error", data: { code: "MODEL_AUTH_ERROR", message: "no key" } })) },
  ],
  [
    "it ends in another error",
    { pipe: end(line({ type: "error", data: { code: "MODEL_RATE_LIMIT", message: "slow down" } })) },
  ],
  [
    "a result is an error",
    {
      pipe: end(
        line({
          type: "result",
          subtype: "error",
          is_error: true,
          duration_ms: 1,
          duration_api_ms: 1,
          session_id: "s",
          result: "Invalid API key",
        }),
      ),
    },
  ],
  [
    "a result is an unheard error",
    {
      pipe: end(
        line({
          type: "result",
          subtype: "error",
          is_error: true,
          duration_ms: 1,
          duration_api_ms: 1,
          session_id: "s",
          result: "odd",
        }),
      ),
    },
  ],
  ["it answers only when stdin ends", { pipe: end(delta + done), open: end("", { timedOut: true, exitCode: null }) }],
  ["it never answers", { pipe: end(""), open: end("") }],
  ["it writes to a terminal only", { pipe: end(""), terminal: end("hi") }],
  ["there is no terminal", { pipe: end(delta + done), terminal: end("", { failure: new Error("x") }) }],
];

it("adapter doctor derives from trial runs of a CLI the findings listed in findings.txt", async () => {
  const rows = trials.flatMap(([what, given, doctorCase = stdin]) => [
    `# ${what}`,
    ...findingsFrom(given as never, doctorCase).map(
      ({ check, status, message, remedy }) =>
        `${status}  ${check}: ${message}${remedy === undefined ? "" : `  → ${remedy}`}`,
    ),
    "",
  ]);
  await expect(rows.join("\n")).toMatchFileSnapshot(join(import.meta.dirname, "findings.txt"));
});

it.each([
  ["auth", "NOT_AUTHENTICATED MODEL_AUTH_ERROR"],
  ["limit", "MODEL_RATE_LIMIT"],
  ["timeout", "MODEL_TIMEOUT CLI_TIMEOUT"],
  ["transport", "NO_OUTPUT NO_RESULT CLI_EXIT CLI_NOT_FOUND FRAME_INVALID"],
  [
    "model",
    "TOOL_UNKNOWN TOOL_ARGUMENTS CLI_FAILED INTERNAL UNTRUSTED MODEL_BAD_REQUEST MODEL_OVERLOADED MODEL_NEW ODD",
  ],
  ["final", "INTERRUPTED CWD_MISSING USAGE CONFIG_INVALID CONFIG_UNREADABLE CONFIG_TOO_LARGE PROMPT_BLOCKED"],
  ["auth", "invalid_api_key not_logged_in"],
  ["limit", "rate_limited too_many_requests"],
])("failures of the kind %s have the codes %s", (kind, codes) => {
  for (const code of codes.split(" ")) expect([code, failureKind(code)]).toEqual([code, kind]);
});

it.each([
  [
    "MODEL_AUTH_ERROR",
    "not authenticated|Not authorised|not logged in|not signed in|Unauthorized|unauthenticated|please log in|sign in|signin first",
  ],
  [
    "MODEL_AUTH_ERROR",
    "auth failed|authentication error|authorization_denied|auth-expired|failed to authenticate|could not authorise|access denied|401|403 no",
  ],
  [
    "MODEL_AUTH_ERROR",
    "invalid API key|invalid_api_key|your token has expired|credentials were rejected|bad token|api-key is missing",
  ],
  [
    "MODEL_RATE_LIMIT",
    "rate limit|rate-limited|Too many requests|usage limit reached|quota exceeded|out of credits|error 429",
  ],
  ["MODEL_OVERLOADED", "Overloaded|503|529 |service unavailable"],
  ["MODEL_TIMEOUT", "timed out|time out|timeout|deadline exceeded"],
  ["MODEL_UNREACHABLE", "ECONNREFUSED|ENOTFOUND|ECONNRESET|EAI_AGAIN|network error|fetch failed"],
  [undefined, "tokenizer is invalidated|4011|catalog in|blogging in|all is well|authored|keyboard missing"],
])("the adapter reads the error code %s from these messages of a CLI: %s", (code, texts) => {
  for (const text of texts.split("|")) expect([text, codeOfWords(text)]).toEqual([text, code]);
});

it.each([
  ["error: unknown option '--force'", "--force"],
  ["Unrecognised argument: Force", "--force"],
  ["unexpected flag -x", "-x"],
  ["invalid switch x", "-x"],
  ["no such option: --force", "--force"],
  ["'--force' is not a valid flag", "--force"],
  ["bad flag --force", "--force"],
  ["flag provided but not defined: -force", "--force"],
  ["unknown command --force", undefined],
  ["unknown option '--other'", undefined],
])("the adapter reads from the message '%s' that the CLI refused the flag %s", (stderr, flag) =>
  expect(refusedFlag(stderr, ["--force", "-x"])).toBe(flag === "-x" ? "-x" : flag),
);

it("the adapter recognizes the system's error for a command line that is too long", () => {
  for (const text of ["spawn E2BIG", "ENAMETOOLONG", "Argument list too long", "The command line is too long."])
    expect(isTooLong(text)).toBe(true);
  for (const text of ["E2BIGGER", "the list is too long"]) expect(isTooLong(text)).toBe(false);
});

describe("the next candidate", () => {
  const model = (more: object = {}) => ({ provider: "cursor-agent-cli", command: "cli", ...more });
  const config = checkConfig({
    models: {
      a: model({ authProfiles: ["one", "two", "one"], fallbackModels: ["b", "off", "a", "none"] }),
      b: model({ command: "other", authProfiles: ["one"] }),
      off: model({ enabled: false }),
    },
    profiles: { one: { env: { KEY: "1", GONE: null } }, two: {} },
  });
  const rotation = () => {
    const clock = { now: 0 };
    return { clock, rotation: new Rotation(config, () => clock.now) };
  };
  const names = (candidates: { model: { name: string }; profile: string }[]) =>
    candidates.map(({ model, profile }) => `${model.name}/${profile}`);

  it("the adapter tries the model's profiles, then those of its fallbacks, and first the one that last answered", () => {
    const { rotation: one } = rotation();
    expect(names(one.candidates("a"))).toEqual(["a/one", "a/two", "b/one"]);
    expect(names(one.candidates("a", { model: "b", profile: "one" }))).toEqual(["b/one", "a/one", "a/two"]);
    expect(names(one.candidates("a", { model: "b", profile: "two" }))).toEqual(["a/one", "a/two", "b/one"]);
    expect([one.candidates("none"), one.candidates("off")]).toEqual([[], []]);
    expect(one.candidates("a")[0]!.env).toEqual({ KEY: "1", GONE: undefined });
  });

  it.each([
    ["auth", 600_000],
    ["limit", 60_000],
  ] as const)("a profile rests after a failure of the kind %s, for %i ms, with this command only", (kind, ms) => {
    const { rotation: one, clock } = rotation();
    const [first, ...left] = one.candidates("a");
    expect(names(one.after(first!, kind, left))).toEqual(["a/two", "b/one"]);
    for (const [now, expected] of [
      [0, "a/two a/one b/one"],
      [ms - 1, "a/two a/one b/one"],
      [ms, "a/one a/two b/one"],
    ] as const) {
      clock.now = now;
      expect(names(one.candidates("a")).join(" ")).toBe(expected);
    }
  });

  it("if all profiles pause, the adapter first tries the one whose pause ends soonest", () => {
    const { rotation: one } = rotation();
    const [first, second, third] = one.candidates("a");
    one.after(first!, "auth", []);
    one.after(second!, "limit", []);
    expect(names(one.candidates("a"))).toEqual(["a/two", "a/one", "b/one"]);
    for (const kind of ["model", "timeout", "transport"] as const)
      expect(names(one.after(first!, kind, [second!, third!]))).toEqual(["b/one"]);
  });
});

describe("what is repeated", () => {
  it.each([
    ["the same pieces", "abcd", ["ab", "cd", "ef"], ["", "", "ef"]],
    ["larger pieces", "ab", ["abcd", "e"], ["cd", "e"]],
    ["another text", "abcd", ["ab", "xy", "z"], ["", "\n\nabxy", "z"]],
    ["another text after a line", "ab\n", ["x"], ["x"]],
    ["nothing", "ab", ["", "ab"], ["", ""]],
    ["more than was said", "ab", ["ab", "c"], ["", "c"]],
  ])("the adapter forwards only the new part of a text that a CLI sends twice: %s", (_what, said, pieces, expected) => {
    const text = new RepeatedText(said);
    expect(pieces.map((piece) => text.next(piece))).toEqual(expected);
  });

  it("a call sent in both stream formats counts as one call, and a call sent twice in one format as two", () => {
    const calls = new RepeatedCalls();
    const call = { name: "read", args: { path: "a", limit: 1 } };
    const same = { name: "read", args: { limit: 1, path: "a" } };
    expect([
      calls.isNew("contract", call),
      calls.isNew("nested", same),
      calls.isNew("nested", same),
      calls.isNew("contract", call),
      calls.isNew("contract", { name: "read", args: { path: "b" } }),
      calls.isNew("nested", call, 1),
      calls.isNew("nested", call, 1),
    ]).toEqual([true, false, true, false, true, true, false]);
    expect(callKey({ name: "x", args: [{ b: 1, a: null }] })).toBe(callKey({ name: "x", args: [{ a: null, b: 1 }] }));
    expect(callKey({ name: "x", args: [1, 2] })).not.toBe(callKey({ name: "x", args: [2, 1] }));
    expect(callKey(call)).not.toBe(callKey({ ...call, name: "ls" }));
  });
});
