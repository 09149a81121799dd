// The loop with a model that says what it is told: repeated ids, circles, and answers that nobody can see.

import { describe, expect, it } from "vitest";
import { type Agent, createSession } from "../../src/agent/agent.ts";
import { runTurn } from "../../src/agent/loop.ts";
import { realSeams } from "../../src/agent/seams.ts";
import type { Tool } from "../../src/agent/tools/tool.ts";
import type { ModelChunk } from "../../src/model/provider.ts";
import type { AgentEvent } from "../../src/protocol/event.ts";

type Call = { id: string; args: unknown };
type Reply = string | Call[];

type PlayOptions = { loopLimit?: number; changes?: boolean; during?(signal: AbortSignal): Promise<unknown> };

/** `runs`: the arguments of every call that was really run. */
async function play(
  replies: Reply[],
  { loopLimit = 5, changes = true, during = async () => {} }: PlayOptions = {},
): Promise<{ runs: unknown[]; end: AgentEvent; asked: number }> {
  const runs: unknown[] = [];
  let asked = 0;
  const note: Tool = {
    name: "Note",
    wire: "note",
    description: "",
    parameters: { type: "object" },
    readOnly: true,
    parse: (input) => input,
    wireArgs: (args) => args as Record<string, unknown>,
    needs: () => (changes ? [{ kind: "Shell", target: "note" }] : []),
    run: async (args, { signal }) => {
      runs.push(args);
      await during(signal);
      return { outcome: { kind: "success", value: {} }, text: "noted" };
    },
  };
  const agent = {
    session: createSession(),
    provider: {
      id: "told",
      async *stream(): AsyncGenerator<ModelChunk> {
        const reply = replies[asked++] ?? "end";
        if (typeof reply === "string") yield { type: "part", part: { type: "text", text: reply } };
        else for (const call of reply) yield { type: "part", part: { type: "tool_call", name: "Note", ...call } };
      },
    },
    model: { id: "m", displayName: "M", contextTokens: 100_000 },
    system: "",
    tools: [note],
    decide: async () => ({ verdict: "allow", reasons: [] }),
    limits: { maxTurnsPerPrompt: 100, loopLimit },
    seams: realSeams,
    toolContext: { sessionId: "s", workspace: "/", roots: [], resultLimit: 1000 },
  } as unknown as Agent;
  const prompt = { text: "go", parts: [{ type: "text" as const, text: "go" }], requestId: "r" };
  let end: AgentEvent | undefined;
  for await (const event of runTurn(agent, prompt, new AbortController().signal)) end = event;
  return { runs, end: end!, asked };
}

it("many tool calls in one reply cause no warning about too many listeners", async () => {
  const warnings: Error[] = [];
  const hear = (warning: Error) => warnings.push(warning);
  process.on("warning", hear);
  const calls = Array.from({ length: 30 }, (_, index) => ({ id: `c${index}`, args: { index } }));
  const { runs } = await play([calls], {
    during: (signal) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", resolve);
        setTimeout(resolve, 20);
      }),
  });
  await new Promise(setImmediate); // warnings come with the next tick
  process.off("warning", hear);
  expect([runs.length, warnings.map(({ name }) => name)]).toEqual([30, []]);
});

describe("repeated call ids", () => {
  it("when a reply uses one call id twice for the same call, the agent runs it once", async () => {
    const { runs } = await play([
      [
        { id: "a", args: { n: 1 } },
        { id: "a", args: { n: 2 } },
      ],
    ]);
    expect(runs).toEqual([{ n: 1 }]);
  });

  it("in one turn, the agent does not run the same tool call with the same id twice", async () => {
    const { runs, end } = await play([[{ id: "a", args: { n: 1 } }], [{ id: "a", args: { n: 1 } }]]);
    expect(runs).toEqual([{ n: 1 }]);
    expect(end.type).toBe("done");
  });

  it("the agent runs a read-only tool call again when it comes with the same id", async () => {
    const look = [{ id: "a", args: { n: 1 } }];
    const { runs } = await play([look, look, look], { changes: false });
    expect(runs).toHaveLength(3);
  });

  it("the agent runs all different tool calls that share one id", async () => {
    const [one, two] = [{ n: 1 }, { n: 2 }];
    const { runs } = await play([one, two, one, two].map((args) => [{ id: "call_0", args }]));
    expect(runs).toEqual([one, two, one, two]);
  });
});

describe("loops of the model", () => {
  const replies = (cycle: number, length: number): Reply[] =>
    Array.from({ length }, (_, index) => [{ id: `c${index}`, args: { n: index % cycle } }]);

  it.each([1, 2, 3, 4])("a loop of %i repeated replies ends the run after five rounds", async (cycle) => {
    const { end, asked } = await play(replies(cycle, 60));
    expect(end).toMatchObject({ type: "fail", code: "LOOP_DETECTED" });
    expect(asked).toBe(cycle * 5);
  });

  it("repeated replies do not count as a loop while a tool's result changes", async () => {
    const changing = Array.from(
      { length: 30 },
      (_, index): Reply => [{ id: `c${index}`, args: { n: index % 2 === 0 ? 0 : index } }],
    );
    expect((await play(changing)).end.type).toBe("done");
  });
});

it.each(["", "  \n", "\u200b\u2060"])("an answer of the model that contains only %j counts as empty", async (text) => {
  expect((await play([text])).end).toMatchObject({ type: "fail", code: "MODEL_EMPTY" });
});
