// Whole runs in this process, one row each. test/run/runs.txt is the whole table.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../src/protocol/error-codes.ts";
import { type Scenario, testRuns } from "./runs-kit.ts";

const call = (name: string, args: object) => ({ calls: [{ name, args }] });
const shell = (command: string, more = {}) => call("Shell", { command, ...more });
const hi = [{ text: "Hi." }];
const attended = { attended: () => true };
const asks = { force: false, trust: true } as const;
const outside = { sandbox: "disabled", ...asks } as const;
const textOf = (name: string) => (home: string) =>
  existsSync(join(home, name)) ? readFileSync(join(home, name), "utf8") : "none";

const held: string[] = [];

const scenarios: Record<string, Scenario> = {
  plain: { script: hi },
  "two prompts": { script: [{ text: "One." }, { text: "Two." }], prompts: ["one", "two"] },
  "prompts with data, pictures and mentions": {
    script: hi,
    prompts: [{ text: "look at @a.txt", data: "piped @a.txt", images: [{ mime: "image/png", base64: "AAAA" }] }],
  },
  "a picture that is not there": { script: hi, prompts: [{ text: "x", images: ["~/none.png"] }] },
  "ways to say who one is": { script: hi, request: { systemPrompt: "Be brief.", appendSystemPrompt: "And kind." } },
  "plan mode": { script: [call("Write", { path: "b.txt", content: "b" }), ...hi], request: { mode: "plan" } },
  "ask mode": { script: [call("Read", { path: "a.txt" }), shell("touch c"), ...hi], request: { mode: "ask", ...asks } },
  "default mode, with nobody there": {
    script: [call("Write", { path: "b.txt", content: "b" }), call("Write", { path: "/etc/x", content: "b" }), ...hi],
    request: asks,
  },
  "tasks that are kept": {
    script: [call("TodoWrite", { merge: false, todos: [{ id: "1", content: "First", status: "in_progress" }] }), ...hi],
    request: { chat: { type: "new", id: "11111111-1111-4111-8111-111111111111", name: "Mine" } },
  },
  "resumed with its tasks": {
    in: "tasks that are kept",
    script: [call("TodoWrite", { merge: true, todos: [{ id: "2", content: "Second", status: "pending" }] }), ...hi],
    request: { chat: { type: "resume", id: "11111111" } },
  },
  "resumed as a copy": {
    in: "tasks that are kept",
    script: [...hi],
    request: {
      chat: { type: "resume", id: "-1", fork: true, newId: "22222222-2222-4222-8222-222222222222", name: "Copy" },
    },
  },
  "resumed without storing": {
    in: "tasks that are kept",
    script: [call("TodoWrite", { merge: true, todos: [{ id: "3", content: "Third", status: "pending" }] }), ...hi],
    request: { ephemeral: true, chat: { type: "resume", id: "11111111-1111-4111-8111-111111111111" } },
  },
  "an id that is taken": {
    in: "tasks that are kept",
    script: hi,
    request: { chat: { type: "new", id: "11111111-1111-4111-8111-111111111111" } },
  },
  "an id that is none": { script: hi, request: { chat: { type: "new", id: "mine" } } },
  "a chat that is not there": { script: hi, request: { chat: { type: "resume", id: "33333333" } } },
  "a chat that is made where it is not there": {
    script: hi,
    request: { chat: { type: "resume", id: "33333333-3333-4333-8333-33333333333A", orNew: true } },
  },
  "nothing stored": {
    script: hi,
    request: { ephemeral: true, chat: { type: "new", id: "44444444-4444-4444-8444-444444444444" } },
    act: async (run, { say }) => say(`${run.chatId} ${await run.rewind(1).catch((error: Error) => error.message)}`),
    prompts: ["go"],
  },
  "a mode that lasts": {
    script: [...hi, ...hi],
    request: { ...asks, mode: "plan", chat: { type: "new", id: "55555555-5555-4555-8555-555555555555" } },
  },
  "resumed in that mode": {
    in: "a mode that lasts",
    script: [...hi],
    request: { ...asks, chat: { type: "resume", id: "55555555-5555-4555-8555-555555555555" } },
  },
  "resumed in another": {
    in: "a mode that lasts",
    script: [...hi],
    request: { ...asks, mode: "agent", chat: { type: "resume", id: "55555555-5555-4555-8555-555555555555" } },
  },
  "resumed after that": {
    in: "a mode that lasts",
    script: [...hi],
    request: { ...asks, chat: { type: "resume", id: "55555555-5555-4555-8555-555555555555" } },
  },
  "a mode that is set": {
    script: [...hi, ...hi, ...hi],
    request: asks,
    act: async (run) => {
      for (const mode of ["default", "ask", "force"] as const) {
        run.setMode(mode);
        await run.send({ text: mode }).ending;
      }
    },
  },
  "a model that is set": {
    script: [...hi],
    files: { "other.json": [{ text: "Other." }] },
    request: asks,
    act: async (run, { home, say }) => {
      say((await run.setModel("no/such").catch((error: Error) => error.message)) ?? "set");
      await run.setModel(`script:${home}/other.json`);
      await run.send({ text: "x" }).ending;
    },
  },
  "a model of another name": {
    script: [...hi, { aside: true, text: "Aside.", usage: { inputTokens: 1_000_000, outputTokens: 0 } }],
    request: { price: { input: 1, output: 2 } },
    act: async (run, { say }) => {
      const shown = async () =>
        say(JSON.stringify({ ...(await run.context()), used: 0, system: 0, tools: 0, messages: 0 }));
      await run.send({ text: "x" }).ending;
      await shown();
      say(await run.aside("what?"));
      await shown();
      say(JSON.stringify(run.spent?.()));
      await run.setModel("offline");
      await run.send({ text: "x" }).ending;
      await shown();
    },
  },
  "permission questions": {
    script: [shell("touch a b"), shell("touch a b"), shell("touch c"), shell("touch d"), ...hi],
    request: { ...outside, unlistedCommands: "ask" },
    answers: [{ type: "yes", always: true }, { type: "no", reason: "Not c." }, { type: "no" }],
  },
  "rules that are granted": {
    script: [shell("touch a"), shell("touch b"), shell("mkdir c"), ...hi],
    request: { ...outside, unlistedCommands: "ask" },
    answers: [
      { type: "yes", grant: "project", wider: true },
      { type: "yes", grant: "user" },
    ],
    after: (home) => [textOf("work/.cursor/cli.json")(home), textOf(".cursor/cli-config.json")(home)],
  },
  "a sandbox that is chosen where it was not offered": {
    script: [shell("touch a"), ...hi],
    request: { ...outside, unlistedCommands: "ask" },
    answers: [{ type: "yes", grant: "sandbox" }],
  },
  "somebody who is there": {
    script: [call("Write", { path: "b.txt", content: "b" }), ...hi],
    request: outside,
    host: attended,
    answers: [{ type: "yes" }],
  },
  "a program that is asked": {
    script: [shell("touch a"), shell("touch b"), ...hi],
    request: {
      ...outside,
      unlistedCommands: "ask",
      askCommand: `grep -q 'touch a' && echo '{"allow":true}' || echo '{"reason":"Not b."}'`,
    },
    after: (home) => [existsSync(join(home, "work/a")), existsSync(join(home, "work/b"))],
  },
  "rules of this run": {
    script: [shell("touch a"), call("Write", { path: "b.txt", content: "b" }), ...hi],
    request: { ...outside, permissions: { allow: ["Shell(touch)"], deny: ["Write(**)"] } },
  },
  "questions and plans": {
    script: [
      call("AskQuestion", {
        title: "Which?",
        questions: [
          {
            id: "q",
            prompt: "Which one?",
            options: [
              { id: "x", label: "X" },
              { id: "y", label: "Y" },
            ],
          },
        ],
      }),
      ...hi,
    ],
    request: asks,
    answers: [{ type: "choices", answers: [{ questionId: "q", selectedOptionIds: ["x"] }] } as never],
  },
  "trust that is given for this run": {
    script: hi,
    request: { force: false },
    answers: [{ type: "yes", grant: "run" }],
    after: (home) => existsSync(join(home, ".cursor/projects")),
  },
  "trust that is refused": { script: hi, request: { force: false }, answers: [{ type: "no" }] },
  "an answer by a schema": {
    script: [{ text: "no JSON" }, { text: '{"a":1}' }],
    request: { answerSchema: { type: "object", properties: { a: { type: "number" } }, required: ["a"] } },
  },
  "an answer that never fits": {
    script: [{ text: "no" }, { text: "no" }, { text: "no" }, { text: "no" }],
    request: { answerSchema: { type: "object" } },
  },
  "a reply limit": { script: [shell("true"), shell("true"), ...hi], request: { limits: { maxTurns: 2 } } },
  "a reply limit of the settings": {
    script: [shell("true"), shell("true"), ...hi],
    files: { ".cursor/courser.json": { maxTurns: 1 } },
  },
  "a cost limit, spent by the turn before": {
    script: [{ text: "Hi.", usage: { inputTokens: 2_000_000, outputTokens: 0 } }, { text: "More." }],
    request: { limits: { maxCost: 1 }, price: { input: 1, output: 2 } },
    prompts: ["one", "two"],
  },
  "a cost limit without a price": {
    script: hi,
    request: { limits: { maxCost: 1 }, model: "m", endpoint: "https://m.test" },
  },
  "a model that cannot be reached": {
    script: hi,
    files: { ".cursor/courser.json": { retries: 0 } },
    request: { model: "m", endpoint: "http://127.0.0.1:9" },
  },
  "a repeated call": {
    script: Array.from({ length: 4 }, () => shell("true")),
    files: { ".cursor/courser.json": { loopLimit: 2 } },
  },
  "a model that fails": {
    script: [
      { error: { code: "MODEL_BAD_REQUEST", message: "It has seen ~/work and sk-secret." } },
      { text: "Again." },
    ],
    host: { redact: (text) => text.replaceAll("sk-secret", "…") },
    prompts: ["one", "two"],
  },
  "an answer that cannot be delivered": {
    script: [{ text: "One." }, { text: "Two." }],
    host: {
      deliver: () => {
        throw new UserError("FILE_UNWRITABLE" as never, "It cannot be written.");
      },
    },
    prompts: ["one", "two"],
  },
  "text before and after a call": {
    script: [{ text: "Before.", calls: [{ name: "Shell", args: { command: "echo out" } }] }, { text: "After." }],
  },
  "unknown tools": { script: hi, request: { allowedTools: ["Red"] } },
  "fewer tools": {
    script: [call("Write", { path: "b", content: "" }), ...hi],
    request: { allowedTools: ["Read", "Shell"], disallowedTools: ["Shell"] },
  },
  "a fallback that is not there": { script: hi, request: { fallbackModels: ["no/such"] } },
  "a run that is closed twice and used afterwards": {
    script: hi,
    act: async (run, { say }) => {
      await Promise.all([run.close(), run.close()]);
      const sent = run.send({ text: "late" });
      say(`${(await sent.ending).type} ${sent.state} ${await sent.withdraw()}`);
      run.interrupt();
      run.steer("late");
    },
  },
  "an interruption while others wait": {
    script: [{ steps: [{ text: "Begun" }, { delayMs: 60_000 }] }, { text: "Two." }, { text: "Three." }],
    act: async (run, { until, say }) => {
      const sent = run.send({ text: "go" });
      await until(({ type }) => type === "text");
      const others = [run.send({ text: "second" }), run.send({ text: "third" })];
      run.interrupt();
      say((await sent.ending).type);
      for (const each of others) await each.ending;
      say(JSON.stringify(run.spent?.()));
    },
  },
  "one that waits alone": {
    script: [{ steps: [{ text: "Begun" }, { delayMs: 60_000 }] }, { text: "Two." }],
    act: async (run, { until }) => {
      const sent = run.send({ text: "go" });
      await until(({ type }) => type === "text");
      const other = run.send({ text: "second" });
      run.interrupt("Enough.");
      await Promise.all([sent.ending, other.ending]);
    },
  },
  ...Object.fromEntries(
    [new UserError("MAX_TIME", "Too late."), new Error("gone"), "odd"].map((reason) => {
      const stop = new AbortController();
      return [
        `a signal with the reason ${reason}`,
        {
          script: [{ steps: [{ text: "Begun" }, { delayMs: 60_000 }] }],
          host: { signal: stop.signal },
          act: async (run, { until, say }) => {
            const [sent, next] = [run.send({ text: "go" }), run.send({ text: "next" })];
            await until(({ type }) => type === "text");
            stop.abort(reason);
            await sent.ending;
            say(`${JSON.stringify({ ...(await next.ending), requestId: 0, durationMs: 0 })} ${next.state}`);
            say((await run.rewind(1).catch((error: Error) => error.message)) ?? "rewound");
          },
        } satisfies Scenario,
      ];
    }),
  ),
  "a call that is held until the host has kept its start": {
    script: [shell("touch a"), ...hi],
    host: {
      heldCall: (callId, agent) =>
        new Promise((resolve) => setTimeout(() => resolve(void held.push(callId, String(agent))), 1)),
    },
    after: () => held,
  },
  "a run that is observed": { script: hi, host: { log: join("/nonexistent", "x.log") } },
};

testRuns(join(import.meta.dirname, "runs.txt"), scenarios);
