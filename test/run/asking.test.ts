// Questions of a run: who can be asked what, what an answer grants, and for how long people were waited for.
import { afterEach, describe, expect, it, vi } from "vitest";
import { createProcessRunner } from "../../src/agent/process.ts";
import { UserError } from "../../src/protocol/error-codes.ts";
import type { Answer, Human, Question } from "../../src/protocol/run.ts";
import { Waiting } from "../../src/protocol/waiting.ts";
import { commandHuman } from "../../src/run/ask-command.ts";
import { createAsking, type Grants, keepConsent, permissionAsker, personOf } from "../../src/run/human.ts";

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const signal = new AbortController().signal;
const body = { type: "trust", workspace: "/w" } as never;

function asked(answers: (Answer | Error)[], types?: Human["answers"]) {
  const questions: (Question & { signal: AbortSignal })[] = [];
  const human: Human = {
    ...(types && { answers: types }),
    async ask(question, given) {
      questions.push({ ...question, signal: given });
      const answer = answers.shift()!;
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
  return { human, questions };
}

it.each<[string, Answer]>([
  [`echo '{"allow":true}'`, { type: "yes" }],
  [`echo '{"allow":"true","reason":"not now"}'`, { type: "no", reason: "not now" }],
  [`echo '{"reason":7}'`, { type: "no" }],
  [
    `jq=$(cat); case "$jq" in *'"session_id":"s"'*'"call_id":"c"'*'"tool_name":"Shell"'*'"reasons":["because"]'*) echo '{"allow":true}';; esac`,
    { type: "yes" },
  ],
  ["echo yes", { type: "no", reason: "Nobody could be asked: --ask-command gave no answer." }],
  [
    `echo '{"allow":true}'; echo broken >&2; exit 1`,
    { type: "no", reason: "Nobody could be asked: --ask-command gave no answer (broken)." },
  ],
])("the program of --ask-command %j answers %j", async (command, answer) => {
  const human = commandHuman(command, { processes: createProcessRunner(), workspace: "/", sessionId: "s" });
  const question = { type: "permission", callId: "c", tool: "Shell", args: {}, needs: [], reasons: ["because"] };
  expect(human.answers).toEqual(["permission"]);
  expect(await human.ask(question as never, signal)).toEqual(answer);
  const mine = { ...question, personOnly: true, reasons: ["Only", "you."] };
  expect(await human.ask(mine as never, signal)).toEqual({ type: "no", reason: "Only you." });
  expect(await human.ask(body, signal)).toEqual({ type: "no" });
});

describe("who can be asked", () => {
  it.each<[Human["answers"], boolean, boolean, boolean]>([
    [undefined, true, true, true],
    [["permission"], true, true, false],
    [["trust", "plan"], true, false, true],
    [[], false, false, false],
  ])("a front end that can answer %j is asked only such questions", async (types, someone, permission, trust) => {
    const { human, questions } = asked([{ type: "yes" }], types);
    const asking = createAsking(human);
    expect([asking.canAnswer, asking.can("permission"), asking.can("trust")]).toEqual([someone, permission, trust]);
    expect(await asking.ask(body)).toEqual(trust ? { type: "yes" } : undefined);
    expect(questions).toHaveLength(trust ? 1 : 0);
  });

  it("a run without a front end asks nobody", async () => {
    const asking = createAsking(undefined);
    expect([asking.canAnswer, asking.can("trust"), await asking.ask(body)]).toEqual([false, false, undefined]);
    expect([permissionAsker(asking), personOf(asking)]).toEqual([undefined, undefined]);
  });

  it("a permission question has its own id, a hash of its content, and an abort signal", async () => {
    const { human, questions } = asked([{ type: "yes" }, { type: "yes" }, { type: "yes" }]);
    const whole = new AbortController().signal;
    const asking = createAsking(human, whole);
    await asking.ask(body);
    await asking.ask(body, signal);
    await asking.ask({ type: "trust", workspace: "/other" } as never);
    const [one, two, three] = questions;
    expect(one!.id).toMatch(/^question-.{8,}/);
    expect(one!.id).not.toBe(two!.id);
    expect(one!.hash).toBe(two!.hash);
    expect(one!.hash).not.toBe(three!.hash);
    expect([one!.signal, two!.signal]).toEqual([whole, signal]);
    expect(one!.signal).toBe(whole);
    expect(two!.signal).toBe(signal);
  });

  it("the time a run waits for people counts once, even while several questions are open", async () => {
    vi.useFakeTimers({ now: 5_000_000 });
    const open: ((answer: Answer | Promise<never>) => void)[] = [];
    const waiting = new Waiting();
    const human: Human = { ask: () => new Promise((resolve) => open.push(resolve)) };
    const asking = createAsking(human, signal, { waiting, newId: () => `${open.length}` });
    const first = asking.ask(body);
    vi.advanceTimersByTime(100);
    const second = asking.ask(body).catch(() => "failed");
    vi.advanceTimersByTime(50);
    expect(asking.waitedMs()).toBe(150);
    expect(waiting.list()).toMatchObject([{ kind: "person", name: "trust" }, { kind: "person" }]);
    open[0]!({ type: "yes" });
    await first;
    vi.advanceTimersByTime(30);
    open[1]!(Promise.reject(new Error("gone")));
    expect(await second).toBe("failed");
    vi.advanceTimersByTime(1000);
    expect([asking.waitedMs(), waiting.list()]).toEqual([180, []]);
  });
});

describe("permissions that a person gives", () => {
  const call = { callId: "c", tool: "shell", args: {}, needs: [{ kind: "shell", target: "ls" }], reasons: ["why"] };

  function asker(answers: Answer[], { rules = ["narrow"], wider = ["wide"], offers = false } = {}) {
    const { human, questions } = asked(answers);
    const granted: unknown[] = [];
    let isInSandbox = false;
    const grants: Grants = {
      proposed: async () => ({ rules, wider }),
      grant: (given, scope) => void granted.push([given, scope]),
      offersSandbox: async () => offers,
      useSandbox: () => (isInSandbox = true),
    };
    const ask = permissionAsker(createAsking(human), grants)!;
    return {
      ask: (more = {}) => ask({ ...call, ...more } as never, signal),
      questions,
      granted,
      sandbox: () => isInSandbox,
    };
  }

  it.each<[Answer, object, unknown[]]>([
    [{ type: "yes" }, { allow: true }, []],
    [{ type: "yes", grant: "run" }, { allow: true }, [[["narrow"], "run"]]],
    [{ type: "yes", grant: "user", wider: true }, { allow: true }, [[["wide"], "user"]]],
    [{ type: "yes", grant: "project", wider: false }, { allow: true }, [[["narrow"], "project"]]],
    [{ type: "no", reason: "not now" }, { allow: false, reason: "not now" }, []],
    [{ type: "choices", answers: [] }, { allow: false }, []],
    [
      { type: "yes", grant: "sandbox" },
      { allow: false, reason: "Running commands in the sandbox was not offered." },
      [],
    ],
  ])("the answer %j to a permission question allows what it says", async (answer, verdict, grants) => {
    const { ask, granted, questions, sandbox } = asker([answer]);
    expect(await ask({ diff: "+a" })).toEqual(verdict);
    expect([granted, sandbox()]).toEqual([grants, false]);
    const { id: _id, hash: _hash, signal: _signal, ...said } = questions[0]!;
    expect(said).toEqual({
      type: "permission",
      ...call,
      rules: ["narrow"],
      widerRules: ["wide"],
      diff: "+a",
    });
  });

  it("a permission answer grants a wider rule only if the question proposed one", async () => {
    const { ask, granted, questions } = asker([{ type: "yes", grant: "user", wider: true }], { wider: [] });
    await ask();
    expect(granted).toEqual([[["narrow"], "user"]]);
    expect(questions[0]).not.toHaveProperty("widerRules");
    const none = asker([{ type: "no" }], { rules: [] });
    await none.ask();
    expect(none.questions[0]).not.toHaveProperty("rules");
  });

  it("choosing the sandbox in a permission question confines later commands as well", async () => {
    const { ask, sandbox, granted, questions } = asker([{ type: "yes", grant: "sandbox" }], { offers: true });
    expect(await ask()).toEqual({ allow: true, inSandbox: true });
    expect([sandbox(), granted, (questions[0] as { offersSandbox?: boolean }).offersSandbox]).toEqual([true, [], true]);
  });

  it("a question that only a person may answer proposes neither rules nor the sandbox", async () => {
    const { ask, questions } = asker([{ type: "yes", grant: "sandbox" }], { offers: true });
    expect(await ask({ personOnly: true })).toMatchObject({ allow: false });
    for (const name of ["rules", "widerRules"]) expect(questions[0]).not.toHaveProperty(name);
    expect(questions[0]).toMatchObject({ personOnly: true });
  });

  it("a run does not ask again about an always-allowed call, but does about one allowed once", async () => {
    const { ask, questions } = asker([{ type: "yes" }, { type: "yes", always: true }, { type: "no" }, { type: "no" }]);
    await ask();
    await ask();
    expect([await ask(), questions.length]).toEqual([{ allow: true }, 2]);
    expect(await ask({ needs: [{ kind: "shell", target: "rm" }] })).toEqual({ allow: false });
    expect(await ask({ tool: "edit" })).toEqual({ allow: false });
    expect(questions).toHaveLength(4);
  });

  it("a front end that cannot answer permission questions is not asked any", () => {
    expect(permissionAsker(createAsking(asked([], ["trust"]).human))).toBeUndefined();
  });
});

describe("choices and plans", () => {
  const person = (answers: Answer[], types?: Human["answers"]) => personOf(createAsking(asked(answers, types).human));

  it("a front end counts as a present person if it can answer choices or plans", async () => {
    expect(person([], ["permission"])).toBeUndefined();
    const [choices, plans] = [person([], ["choices"])!, person([], ["plan"])!];
    expect(await choices.refusesPlan({} as never, signal)).toBeUndefined();
    expect(await plans.choose("t", [], signal)).toBeUndefined();
  });

  it("an answer to a choice question that chooses nothing counts as none", async () => {
    const picked = { question: "q", choices: ["a"] } as never;
    const answers: Answer[] = [
      { type: "choices", answers: [picked] },
      { type: "choices", answers: [] },
      { type: "yes" },
    ];
    const one = person(answers)!;
    expect(await one.choose("t", [], signal)).toEqual([picked]);
    expect(await one.choose("t", [], signal)).toBeUndefined();
    expect(await one.choose("t", [], signal)).toBeUndefined();
  });

  it.each<[Answer, string | undefined]>([
    [{ type: "yes" }, undefined],
    [{ type: "no", reason: "too long" }, "too long"],
    [{ type: "no", reason: "" }, "The user said no."],
    [{ type: "no" }, "The user said no."],
    [{ type: "choices", answers: [] }, "The user said no."],
  ])("a plan question answered with %j is refused with %s", async (answer, reason) => {
    expect(await person([answer])!.refusesPlan({} as never, signal)).toBe(reason);
  });
});

it("a consent that cannot be saved applies to this run only, with a warning", () => {
  const warned: string[] = [];
  const keep = (save: () => void) => keepConsent(save, "Trusted", (message) => warned.push(message));
  keep(() => {});
  keep(() => {
    throw new UserError("STORE_IO", "no home");
  });
  expect(warned).toEqual(["Trusted for this run only: no home"]);
  expect(() =>
    keep(() => {
      throw new TypeError("bug");
    }),
  ).toThrow("bug");
});
