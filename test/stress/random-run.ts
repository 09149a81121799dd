// A run with faults, drawn at random: a model, what it calls, and what goes wrong around it.
import type { ModelAnswer } from "../../src/testing/kit/model-server.ts";
import { faults } from "../store/store-program.ts";
import type { Cut } from "../support/cutting-server.ts";
import type { FaultedRun } from "./faulted-run.ts";

/** The same numbers for the same seed. */
export function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Call = { name: string; args: object };

/** Each ends by itself soon, or holds the token so that it is found. */
const calls: ((token: string) => Call)[] = [
  () => ({ name: "Shell", args: { command: "echo hello; echo oops >&2; exit 3" } }),
  () => ({ name: "Shell", args: { command: "head -c 200000 /dev/zero | tr '\\0' x" } }),
  (token) => ({ name: "Shell", args: { command: `sleep 0.${token.slice(-2)}` } }),
  (token) => ({ name: "Shell", args: { command: `sleep ${token} & echo left behind` } }),
  (token) => ({ name: "Shell", args: { command: `(setsid nohup sleep ${token} >/dev/null 2>&1 &); sleep 0.1` } }),
  (token) => ({ name: "Shell", args: { command: `trap '' TERM INT; sleep ${token}`, timeout: 1000 } }),
  (token) => ({ name: "Shell", args: { command: `sleep ${token}`, isBackground: true } }),
  () => ({ name: "Shell", args: { command: "kill -SEGV $$" } }),
  () => ({ name: "Shell", args: { command: "echo x > /dev/full" } }),
  () => ({ name: "Write", args: { path: "made.txt", contents: "line\n".repeat(5000) } }),
  () => ({ name: "Edit", args: { path: "there.txt", edits: [{ oldText: "one", newText: "two" }] } }),
  () => ({ name: "Read", args: { path: "missing.txt" } }),
  () => ({ name: "Grep", args: { pattern: "o", path: "." } }),
  () => ({ name: "LS", args: {} }),
  () => ({ name: "Nonsense", args: { a: 1 } }),
  () => ({ name: "Read", args: { wrong: true } }),
];
/** Long enough for whatever is to happen meanwhile. */
const longCall = (token: string): Call => ({ name: "Shell", args: { command: `sleep ${token}` } });

const brokenAnswers: ModelAnswer[] = [
  { status: 500 },
  { status: 401, body: { error: { message: "no" } } },
  { status: 429, headers: { "retry-after": "0" } },
  { hangUp: true },
  { body: "<html>Log in</html>", contentType: "text/html" },
  { chunks: ["data: {nonsense\n\n"] },
  { chunks: ["data: [DONE]\n\n"] },
  { chunks: ['data: {"choices":[{"index":0,"delta":{"content":"half"}}]}\n\n'], ending: "reset" },
  { chunks: ['data: {"choices":[{"index":0,"delta":{"content":"half"}}]}\n\n'], ending: "close" },
  { text: "whole", ending: "silence" },
  { text: ["slow ", "words"], delayMs: 150 },
  { toolCalls: [{ name: "Read", args: '{"path": ' }] },
  { text: "" },
];

/** In a third of the runs something goes wrong that needs a run of its own kind. */
export function randomRun(seed: number): FaultedRun {
  return seed % 3 === 0 ? specialRun(seed) : usualRun(seed);
}

type Special = Omit<FaultedRun, "name" | "token" | "kind">;
type Draw = { token: string; random(): number; pick<Item>(items: readonly Item[]): Item };

const reply = (...calls: Call[]) => ({ text: "", calls });
/** What must not happen once the run was stopped. */
const effects: Call[] = [
  { name: "Write", args: { path: "made.txt", contents: "made" } },
  { name: "Delete", args: { path: "precious.txt" } },
  { name: "Shell", args: { command: "echo ran > ran.txt" } },
  { name: "Edit", args: { path: "there.txt", edits: [{ oldText: "one", newText: "two" }] } },
];
const before = { "work/there.txt": "one\n", "work/precious.txt": "precious" };
const unchanged = { ...before, "work/made.txt": null, "work/ran.txt": null };
const ways: readonly Cut[] = ["before the head", "after the head", "in the body"];

const specials: Record<string, (draw: Draw) => Special> = {
  /** Stopped by a signal or by the clock while the first call of a reply runs, or while a hook decides about it. */
  "stop with calls queued"({ token, pick, random }) {
    const [name, isHook] = [pick(["SIGINT", "SIGTERM", "SIGHUP", "clock"] as const), random() < 0.3];
    const hooks = { version: 1, hooks: { preToolUse: [{ command: `sleep ${token}` }] } };
    const calls = [...(isHook ? [] : [longCall(token)]), ...effects].slice(0, 2 + Math.floor(random() * 4));
    const stop: Pick<FaultedRun, "args" | "signals"> =
      name === "clock"
        ? { args: ["--max-time", `${1200 + Math.floor(random() * 800)}ms`, "go"] }
        : { signals: [{ name, afterMs: random() * 100, once: "seen" }] };
    return {
      model: { script: [reply(...calls), { text: "All is done." }] },
      files: { ...before, ...(isHook && { "home/.cursor/hooks.json": JSON.stringify(hooks) }) },
      unchanged,
      ...stop,
    };
  },
  /** The model hangs up on a connection that it had answered on. */
  "reset connections of models"({ pick, random }) {
    const answers = Array.from({ length: 2 + Math.floor(random() * 3) }, (_, index): ModelAnswer[] => {
      const call = { id: `c${index}`, name: "LS", args: {} };
      return random() < 0.5 ? [{ toolCalls: [call] }, { hangUp: true }] : [{ toolCalls: [call] }, pick(brokenAnswers)];
    });
    return { model: { answers: [...answers.flat(), { text: "All is done.", repeat: 9 }] } };
  },
  "reset connections of MCP servers"({ pick, random }) {
    const calls = Array.from({ length: 3 + Math.floor(random() * 4) }, (_, number) =>
      reply({ name: pick(["shop-add", "shop-pay"]), args: { number } }),
    );
    return { model: { script: [...calls, { text: "All is done." }] }, shopCuts: pick(ways) };
  },
  /** Patterns that take for ever in an engine that goes back: of an ignore file, a hook, the model. */
  "pattern bombs"({ pick, random }) {
    const long = "a".repeat(60 + Math.floor(random() * 190));
    const glob = pick(["*a", "*?", "*[a-b]", "**/*a", "a*a"]).repeat(10 + Math.floor(random() * 40));
    const matcher = pick(["^(a|a)*$", "(a+)+$", "(a?){60}b", "^(\\w+\\s?)*$"]);
    const hooks = { version: 1, hooks: { beforeShellExecution: [{ command: "cat >/dev/null", matcher }] } };
    const calls: Call[] = [
      { name: "Glob", args: { globPattern: pick(["*", "*a*a*a*a*a*a*b", "{a,aa,aaa}*"]) } },
      { name: "Read", args: { path: long } },
      { name: "Shell", args: { command: `echo ${long}!` } },
      { name: "Await", args: { taskId: "shell_1", pattern: matcher } },
      { name: "Edit", args: { path: "blank.txt", edits: [{ oldText: "\nneedle\nhay", newText: "" }] } },
    ];
    return {
      model: { script: [reply(...calls), { text: "All is done." }] },
      files: {
        "work/.cursorignore": `${glob}b\n!${glob}c\n`,
        [`work/${long}`]: "x",
        "work/blank.txt": " ".repeat(100_000),
        "home/.cursor/hooks.json": JSON.stringify(hooks),
      },
    };
  },
  /** More calls in one reply than anybody needs, with a limit or a signal in the midst of them. */
  "call floods"({ pick, random }) {
    const call = pick(calls.filter((each) => /Read|LS|Nonsense|hello/.test(JSON.stringify(each("")))));
    const flood = Array.from({ length: 200 + Math.floor(random() * 3000) }, () => call(""));
    const end: Pick<FaultedRun, "args" | "signals"> =
      random() < 0.5
        ? { args: ["--max-time", `${800 + Math.floor(random() * 2000)}ms`, "go"] }
        : { signals: [{ name: pick(["SIGTERM", "SIGINT", "SIGKILL"] as const), afterMs: 500 + random() * 2000 }] };
    return { model: { script: [reply(...flood), { text: "All is done." }] }, files: before, ...end };
  },
  /** The main thread no longer answers: a thread beside it ends the run. */
  "a stuck main thread"({ token, pick, random }) {
    const how = pick([
      "for (;;);",
      "/^(a|a)*b$/.test('a'.repeat(70))",
      "(function next() { Promise.resolve().then(next); })()",
      "JSON.stringify({ toJSON() { for (;;); } })",
    ]);
    const start = pick(["setTimeout", "setTimeout(async () => await null) || setTimeout"]);
    return {
      model: { script: [reply(longCall(token)), { text: "All is done." }] },
      stuck: `${start}(() => { ${how} }, ${300 + Math.floor(random() * 900)});`,
      args: ["--max-time", `${1000 + Math.floor(random() * 1000)}ms`, "go"],
    };
  },
  "full disk for the recording"({ token, pick, random }) {
    const script = [
      reply(...effects.slice(0, 2)),
      reply(pick(calls)(token), pick(calls)(token)),
      reply({ name: "Shell", args: { command: "seq 4000" } }, { name: "LS", args: {} }),
      { text: ["All ", "is ", "done."] },
    ];
    return { model: { script }, files: before, recordingBytes: Math.floor(random() * pick([500, 8000, 60_000])) };
  },
};

function specialRun(seed: number): FaultedRun {
  const random = randomNumbers(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  // A disk can be made full for one file only where there is a C compiler.
  const canFill = typeof faults({}) !== "string";
  const kind = pick(Object.keys(specials).filter((name) => canFill || !name.includes("disk")));
  const token = tokenOf(seed, random);
  const run = specials[kind]!({ token, random, pick });
  return { args: ["--max-time", "15s", "go"], ...run, kind, name: `seed ${seed}: ${kind}`, token };
}

function tokenOf(seed: number, random: () => number): string {
  return `${700 + Math.floor(random() * 200)}.${String(seed).padStart(7, "0")}${1000 + Math.floor(random() * 9000)}`;
}

function usualRun(seed: number): FaultedRun {
  const random = randomNumbers(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!;
  const chance = (share: number) => random() < share;
  const token = tokenOf(seed, random);

  const around = pick(["nothing", "signal", "signal", "signal", "reader", "disk", "stdin", "time"] as const);
  const needsTime = around === "signal" || around === "time";
  const replies = Array.from({ length: 1 + Math.floor(random() * 3) }, () => ({
    text: pick(["", "I look.", "Some words of the model."]),
    calls: Array.from({ length: 1 + Math.floor(random() * 2) }, () => pick(calls)(token)),
  }));
  if (needsTime && chance(0.7)) replies.push({ text: "", calls: [longCall(token)] });

  const limit = (time: string, ...words: string[]) => ["--max-time", time, "go", ...words];
  const run: FaultedRun = {
    name: `seed ${seed}: ${around}`,
    kind: around,
    token,
    model: modelOf(),
    files: { "work/there.txt": "one\n" },
    args: limit("15s"),
    ...(chance(0.35) && { mode: "--trust" }), // in the sandbox
  };
  switch (around) {
    case "nothing":
      return run;
    case "disk":
      return { ...run, diskKb: pick([8, 40, 100, 200, 400]) };
    case "stdin":
      return { ...run, stdin: "open", args: limit("700ms", "-") };
    case "time":
      return { ...run, args: limit(`${300 + Math.floor(random() * 900)}ms`) };
    case "reader": {
      const reader = pick(["slow", "stalled", "leaves", "full"] as const);
      return { ...run, reader, ...(reader === "stalled" && { args: limit("1500ms") }) };
    }
    case "signal": {
      const name = pick(["SIGKILL", "SIGKILL", "SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] as const);
      const first = { name, afterMs: random() * pick([60, 300, 900]), ...(chance(0.3) && { once: "seen" as const }) };
      return { ...run, signals: chance(0.25) ? [first, { name, afterMs: random() * 300 }] : [first] };
    }
  }

  function modelOf(): FaultedRun["model"] {
    if (chance(0.6)) {
      const script = replies.map((reply) => ({ ...reply, ...(chance(0.2) && { delayMs: 50 }) }));
      return { script: [...script, { text: ["All ", "is ", "done."] }] };
    }
    const answers = replies.flatMap(({ text, calls: made }): ModelAnswer[] => {
      const answer: ModelAnswer = {
        text,
        toolCalls: made.map((call, index) => ({ id: `c${Math.floor(random() * 1e9)}${index}`, ...call })),
      };
      return chance(0.4) ? [pick(brokenAnswers), answer] : [answer];
    });
    return { answers: [...answers, { text: "All is done.", repeat: 3 }] };
  }
}
