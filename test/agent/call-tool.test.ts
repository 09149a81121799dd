// One call from its arguments to its end: what is decided, who is asked, and what the stream says of it.

import { describe, expect, it } from "vitest";
import { type Agent, type Asker, createSession, type Question, type Reviewer } from "../../src/agent/agent.ts";
import { callTool } from "../../src/agent/call-tool.ts";
import { prepareCall } from "../../src/agent/prepare-call.ts";
import { realSeams } from "../../src/agent/seams.ts";
import type { Tool, ToolContext } from "../../src/agent/tools/tool.ts";
import type { Decision, Need } from "../../src/policy/need.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";

type Options = {
  decision: Decision | Error;
  ask?: Asker;
  review?: Reviewer;
  beforeWrite?: Agent["beforeWrite"];
  wire?: string;
  need?: Need;
  signal?: AbortSignal;
};

const ask: Decision = { verdict: "ask", reasons: ["No rule."] };
const allow: Decision = { verdict: "allow", reasons: ["A rule."] };

function agentFor(
  { decision, ask: asker, review, beforeWrite, wire = "shell", need }: Options,
  seen: unknown[],
): Agent {
  const tool: Tool = {
    name: "Shell",
    wire,
    description: "",
    parameters: {},
    readOnly: false,
    parse: (input) => input,
    wireArgs: (args) => args as Record<string, unknown>,
    needs: ({ command }) => [need ?? { kind: "Shell", target: command }],
    run: async (args, context: ToolContext) => {
      seen.push({ ran: args, confined: (context as { confined?: boolean }).confined });
      return { outcome: { kind: "success", value: {} }, text: "done" };
    },
  };
  return {
    session: createSession(),
    tools: [tool],
    decide: async () => {
      if (decision instanceof Error) throw decision;
      return decision;
    },
    ...(asker && { ask: asker }),
    ...(review && { review }),
    ...(beforeWrite && { beforeWrite }),
    seams: realSeams,
    toolContext: { sessionId: "s", workspace: "/w", roots: [] },
  } as unknown as Agent;
}

async function call(options: Options, agent?: Agent) {
  const seen: unknown[] = [];
  const used = agent ?? agentFor(options, seen);
  const prepared = await prepareCall(used, { type: "tool_call", id: "c1", name: "Shell", args: { command: "make" } });
  const events: AgentEvent[] = [];
  const running = callTool(used, prepared, {
    modelCallId: "m",
    signal: options.signal ?? new AbortController().signal,
  });
  let step = await running.next();
  for (; !step.done; step = await running.next()) events.push(step.value);
  const end = events.at(-1) as Extract<AgentEvent, { type: "tool_end" }>;
  return { seen, events, types: events.map(({ type }) => type), outcome: end.outcome!, ...step.value };
}

describe("a tool call", () => {
  it("the agent runs an allowed tool call, in the sandbox if the decision says so", async () => {
    const free = await call({ decision: allow });
    expect(free.types).toEqual(["tool_start", "tool_end"]);
    expect(free.seen).toEqual([{ ran: { command: "make" }, confined: false }]);
    const confined = await call({ decision: { ...allow, confined: true } });
    expect(confined.seen).toEqual([{ ran: { command: "make" }, confined: true }]);
  });

  it("the agent does not run a denied tool call, and asks nobody", async () => {
    const asked: Question[] = [];
    const result = await call({
      decision: { verdict: "deny", reasons: ["One.", "Two."] },
      ask: async (question) => {
        asked.push(question);
        return { allow: true };
      },
      review: async () => ({ allow: true, reason: "" }),
    });
    expect(result.seen).toEqual([]);
    expect(asked).toEqual([]);
    expect(result.types).toEqual(["tool_start", "tool_end"]);
    expect(result.outcome).toMatchObject({ kind: "rejected", value: { command: "make", reason: "One. Two." } });
    expect(result.denial).toEqual({ tool: "Shell", callId: "c1", reason: "One. Two." });
  });

  it("the agent rejects a tool call when judging its permission fails with an error", async () => {
    const { outcome, seen } = await call({ decision: new Error("broken") });
    expect(outcome).toMatchObject({ kind: "rejected", value: { reason: "It could not be judged: broken." } });
    expect(seen).toEqual([]);
  });
});

describe("a permission question", () => {
  it("the agent reports each permission question with its answer, numbered from 0 in each run", async () => {
    const seen: unknown[] = [];
    const agent = agentFor({ decision: ask }, seen);
    const first = await call({ decision: ask }, agent);
    expect(first.types).toEqual(["tool_start", "ask", "answer", "tool_end"]);
    expect(first.events[1]).toMatchObject({
      id: 0,
      kind: "shellRequestQuery",
      query: { args: { command: "make" }, toolCallId: "c1" },
    });
    expect(first.events[2]).toMatchObject({
      id: 0,
      kind: "shellRequestQuery",
      response: { rejected: { reason: "No rule." } },
    });
    expect(first.outcome.kind).toBe("rejected");
    expect((await call({ decision: ask }, agent)).events[1]).toMatchObject({ id: 1 });
    expect(seen).toEqual([]);
  });

  it("when the user allows a tool call, it runs outside the sandbox", async () => {
    const asked: Question[] = [];
    const { events, seen } = await call({
      decision: { ...ask, confined: true },
      ask: async (question) => {
        asked.push(question);
        return { allow: true };
      },
    });
    expect(asked).toEqual([
      {
        callId: "c1",
        tool: "Shell",
        args: { command: "make" },
        needs: [{ kind: "Shell", target: "make" }],
        reasons: ["No rule."],
      },
    ]);
    expect(events[2]).toMatchObject({ response: { approved: {} } });
    expect(seen).toEqual([{ ran: { command: "make" }, confined: false }]);
  });

  it.each([
    ["no", async () => ({ allow: false }), "The user said no."],
    ["no, with a reason", async () => ({ allow: false, reason: "Later." }), "Later."],
    ["something else", async () => ({ allow: "yes" as unknown as boolean }), "The user said no."],
    ["a failure", async () => Promise.reject(new Error("no terminal")), "Nobody could be asked: no terminal."],
    ["nothing", async () => undefined as never, "Nobody could be asked"],
  ] as const)("a permission question answered with %s is a refusal", async (_, asker, reason) => {
    const { seen, denial } = await call({ decision: ask, ask: asker });
    expect(seen).toEqual([]);
    expect(denial!.reason).toContain(reason);
  });

  it("a stopped run does not wait for its open permission question", async () => {
    const abort = new AbortController();
    const waiting = call({ decision: ask, ask: () => new Promise(() => {}), signal: abort.signal });
    setTimeout(() => abort.abort(), 20);
    const { denial, events, types, result } = await waiting;
    expect(types).toEqual(["tool_start", "ask", "answer", "tool_end"]);
    expect(events[2]).toMatchObject({
      response: { rejected: { reason: "The run was stopped before there was an answer." } },
    });
    expect([denial, result.text]).toEqual([undefined, "Not run: the turn was stopped."]);
    const stopped = await call({ decision: ask, ask: async () => ({ allow: true }), signal: abort.signal });
    expect(stopped.seen).toEqual([]);
  });

  it("under --force, web permission questions are reported as approved, like in the original CLI", async () => {
    const forced: Decision = { ...allow, forced: true };
    expect((await call({ decision: forced, wire: "webFetch" })).events[2]).toMatchObject({
      kind: "webFetchRequestQuery",
      response: { approved: {} },
    });
    expect((await call({ decision: forced })).types).toEqual(["tool_start", "tool_end"]);
    expect((await call({ decision: allow, wire: "webFetch" })).types).toEqual(["tool_start", "tool_end"]);
  });
});

describe("a stopped call", () => {
  const need: Need = { kind: "Write", target: "/w/a" };

  it("a tool call stopped during its file snapshot does not begin, and does not wait for the snapshot", async () => {
    const abort = new AbortController();
    const beforeWrite = () => {
      abort.abort();
      return new Promise<void>(() => {});
    };
    const { seen, result, types, denial } = await call({ decision: allow, need, beforeWrite, signal: abort.signal });
    expect(seen).toEqual([]);
    expect(types).toEqual(["tool_start", "tool_end"]);
    expect([result.text, denial]).toEqual(["Not run: the turn was stopped.", undefined]);
  });

  it("a tool call that was stopped before its permission question asks nobody", async () => {
    const asked: unknown[] = [];
    const ask: Asker = async (question) => ({ allow: asked.push(question) > 0 });
    const { seen, types } = await call({ decision: { verdict: "ask", reasons: [] }, ask, signal: AbortSignal.abort() });
    expect([seen, asked, types]).toEqual([[], [], ["tool_start", "tool_end"]]);
  });
});

it("live output of a tool does not pile up in memory when nobody reads it", async () => {
  const seen: unknown[] = [];
  const agent = agentFor({ decision: allow }, seen);
  const [tool] = agent.tools;
  tool!.run = async (_args, { print }) => {
    for (let count = 0; count < 500; count++) {
      for (let line = 0; line < 1000; line++) print("progress\n");
      await new Promise(setImmediate);
    }
    return { outcome: { kind: "success", value: {} }, text: "done" };
  };
  const prepared = await prepareCall(agent, { type: "tool_call", id: "c1", name: "Shell", args: { command: "make" } });
  const running = callTool(agent, prepared, { modelCallId: "m", signal: new AbortController().signal });
  const chunks: string[] = [];
  for (let step = await running.next(); !step.done; step = await running.next()) {
    if (step.value.type !== "tool_output") continue;
    chunks.push(step.value.chunk);
    await new Promise((resolve) => setTimeout(resolve, 20)); // a reader that is slower than the call
  }
  expect(chunks.join("")).toContain("[… live output skipped …]");
  expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThan(2 * 64 * 1024);
  expect(chunks[0]).toMatch(/^progress\n/);
});

describe("a reviewer of calls", () => {
  const yes: Reviewer = async () => ({ allow: true, reason: "The reviewer (M) allowed it: a build." });
  const no: Reviewer = async () => ({ allow: false, reason: "The reviewer (M) did not allow it: risky." });

  it("the reviewing model may allow what the user would be asked about, and the agent reports that", async () => {
    const { types, events, seen } = await call({ decision: ask, review: yes });
    expect(types).toEqual(["tool_start", "notice", "tool_end"]);
    expect(events[1]).toMatchObject({ kind: "auto_review", message: "Shell: The reviewer (M) allowed it: a build." });
    expect(seen).toHaveLength(1);
  });

  it("the reviewing model does not decide what only a person may allow", async () => {
    const { seen, denial } = await call({ decision: { ...ask, personOnly: true }, review: yes });
    expect(seen).toEqual([]);
    expect(denial!.reason).toBe("No rule.");
  });

  it("if the reviewing model refuses or fails, the agent asks the user", async () => {
    const reasons: (readonly string[])[] = [];
    const asker: Asker = async (question) => {
      reasons.push(question.reasons);
      return { allow: true };
    };
    expect((await call({ decision: ask, review: no, ask: asker })).seen).toHaveLength(1);
    const failing: Reviewer = async () => Promise.reject(new Error("down"));
    expect((await call({ decision: ask, review: failing, ask: asker })).seen).toHaveLength(1);
    expect(reasons).toEqual([
      ["No rule.", "The reviewer (M) did not allow it: risky."],
      ["No rule.", "The reviewer failed: down."],
    ]);
    expect((await call({ decision: ask, review: no })).denial!.reason).toContain("risky");
  });
});

describe("files that a call may change", () => {
  it("the agent takes a file snapshot before a tool call runs, and only if it may run", async () => {
    const kept: unknown[] = [];
    const beforeWrite = async (needs: readonly Need[]) => void kept.push(needs);
    await call({ decision: allow, beforeWrite });
    expect(kept).toEqual([[{ kind: "Shell", target: "make" }]]);
    await call({ decision: ask, beforeWrite });
    await call({ decision: allow, beforeWrite, need: { kind: "Read", target: "x" } });
    await call({ decision: allow, beforeWrite, need: { kind: "WebFetch", target: "x" } });
    expect(kept).toHaveLength(1);
    await call({ decision: allow, beforeWrite, need: { kind: "Delete", target: "x" } });
    expect(kept).toHaveLength(2);
  });

  it("a tool call does not run if its file snapshot throws", async () => {
    const { seen, outcome } = await call({
      decision: allow,
      beforeWrite: async () => Promise.reject(new Error("disk full")),
    });
    expect(seen).toEqual([]);
    expect(outcome.kind).toBe("error");
    expect(JSON.stringify(outcome.value)).toContain("disk full");
  });
});
