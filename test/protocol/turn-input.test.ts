// The JSON of a turn: what is wrong with one, said in a sentence, and the messages that a model is sent for it.
import { describe, expect, it } from "vitest";
import type { TurnMessage } from "../../src/protocol/turn-contract.ts";
import { conversationOf, readTurn } from "../../src/protocol/turn-input.ts";

const one = { role: "user", content: "x" };
const turnWith = (more: object) => ({ type: "turn", messages: [one], ...more });
const assistant = (calls: unknown) => ({ messages: [{ role: "assistant", content: "", tool_calls: calls }] });

describe("a turn that cannot be read", () => {
  it.each<[unknown, string]>([
    [7, 'it must be an object with "type": "turn"'],
    [{ type: "cancel" }, 'it must be an object with "type": "turn"'],
    [turnWith({ turnId: 7 }), "turnId must be a string"],
    [{ type: "turn" }, "messages must be a list with at least one message"],
    [turnWith({ messages: [] }), "messages must be a list with at least one message"],
    [turnWith({ messages: [one, "x"] }), "messages[1]: a message must be an object"],
    [turnWith({ messages: [{ role: "wizard" }] }), "messages[0]: role must be one of system, developer, user, "],
    [turnWith({ messages: [{ role: "user", content: 7 }] }), "messages[0]: content must be a string"],
    [turnWith({ messages: [{ role: "user", content: [{ text: "a" }, {}] }] }), "messages[0]: content must be a string"],
    [turnWith({ messages: [{ role: "user", content: [null] }] }), "messages[0]: content must be a string"],
    [turnWith(assistant({})), "messages[0]: tool_calls must be a list"],
    [turnWith(assistant([{ name: "a" }, 7])), "messages[0]: tool_calls[1] must have a name and arguments"],
    [turnWith(assistant([{ args: {} }])), "messages[0]: tool_calls[0] must have a name and arguments"],
    [turnWith(assistant([{ name: "a", args: "{" }])), "messages[0]: tool_calls[0] must have a name and arguments"],
    [turnWith({ tools: {} }), "tools must be a list"],
    [turnWith({ tools: [{ name: "a" }, 7] }), "tools[1] must have a name"],
    [turnWith({ tools: [{ name: "" }] }), "tools[0] must have a name"],
    [turnWith({ tools: [{ name: "a", schema: [] }] }), "tools[0].schema must be an object"],
    [turnWith({ tools: [{ name: "a" }, { name: "a" }] }), "tools[1]: a is there twice"],
  ])("reading an invalid turn says why: %j", (value, problem) => {
    expect(readTurn(value)).toEqual({ problem: expect.stringContaining(problem) });
  });
});

it("reading a turn gives the contract's shape, whatever form its parts have", () => {
  const openAi = { id: "c1", function: { name: "read", arguments: '{"path":"a"}' } };
  const messages = [
    { role: "system" },
    { role: "developer", content: null },
    { role: "user", content: [{ text: "a" }, { text: "b" }], name: "ada", tool_call_id: 7 },
    { role: "assistant", content: "", tool_calls: [openAi, { name: "ls" }, { id: 3, name: "own", args: { a: 1 } }] },
    { role: "tool", content: "found", tool_call_id: "c1", name: 7 },
    { role: "assistant", content: "so", tool_calls: [] },
    { role: "assistant", content: "then", tool_calls: null },
  ];
  const tools = [{ name: "ls" }, { name: "read", description: "Reads.", schema: { type: "string" } }, { name: "c" }];
  expect(readTurn({ type: "turn", turnId: "t", messages, tools })).toEqual({
    turn: {
      type: "turn",
      turnId: "t",
      messages: [
        { role: "system", content: "" },
        { role: "developer", content: "" },
        { role: "user", content: "ab", name: "ada" },
        {
          role: "assistant",
          content: "",
          tool_calls: [
            { id: "c1", name: "read", args: { path: "a" } },
            { id: "call_2", name: "ls", args: {} },
            { id: "call_3", name: "own", args: { a: 1 } },
          ],
        },
        { role: "tool", content: "found", tool_call_id: "c1" },
        { role: "assistant", content: "so" },
        { role: "assistant", content: "then" },
      ],
      tools: [
        { name: "ls", schema: { type: "object" } },
        { name: "read", schema: { type: "string" }, description: "Reads." },
        { name: "c", schema: { type: "object" } },
      ],
    },
  });
  expect(readTurn(turnWith({}))).toEqual({ turn: { type: "turn", turnId: "", messages: [one], tools: [] } });
});

describe("the conversation of a turn", () => {
  const said = (role: string, content: string, more = {}): TurnMessage => ({ role, content, ...more });
  const calls = (...ids: string[]) => ({ tool_calls: ids.map((id) => ({ id, name: `tool-${id}`, args: {} })) });
  const result = (content: string, id: string) => said("tool", content, { tool_call_id: id });
  /** Each message in a line. */
  const shown = (messages: TurnMessage[]) => {
    const { system, messages: all } = conversationOf({ type: "turn", turnId: "", messages, tools: [] });
    const parts = all.map(({ role, parts: each }) =>
      [
        role,
        ...each.map((part) => {
          if (part.type === "tool_call") return `call ${part.id} ${part.name}`;
          if (part.type === "tool_result") return `${part.isError ? "no result" : "result"} ${part.id} ${part.text}`;
          return part.type === "text" ? part.text : part.type;
        }),
      ].join(" | "),
    );
    return [...(system === "" ? [] : [`system | ${system}`]), ...parts];
  };
  const none = "No result was given.";

  it.each<[string, TurnMessage[], string[]]>([
    [
      "instructions are put together",
      [said("system", "Be kind."), said("user", "hi"), said("developer", "Be brief.")],
      ["system | Be kind.\n\nBe brief.", "user | hi"],
    ],
    [
      "results follow their calls in one message, whatever their order",
      [said("assistant", "ok", calls("a", "b")), result("B", "b"), result("A", "a"), said("user", "and?")],
      ["assistant | ok | call a tool-a | call b tool-b", "user | result b B | result a A", "user | and?"],
    ],
    [
      "a call without a result gets one before the next message",
      [said("assistant", "", calls("a", "b")), result("B", "b"), said("user", "go on"), said("assistant", "so")],
      [
        "assistant | call a tool-a | call b tool-b",
        `user | result b B | no result a ${none}`,
        "user | go on",
        "assistant | so",
      ],
    ],
    [
      "a call without a result at the end gets one",
      [said("user", "go"), said("assistant", "", calls("a"))],
      ["user | go", "assistant | call a tool-a", `user | no result a ${none}`],
    ],
    [
      "a call without a result gets one before the next answer",
      [said("assistant", "", calls("a")), said("assistant", "so")],
      ["assistant | call a tool-a", `user | no result a ${none}`, "assistant | so"],
    ],
    [
      "a result is found by the name of its call",
      [said("assistant", "", calls("a")), said("tool", "A", { name: "tool-a" })],
      ["assistant | call a tool-a", "user | result a A"],
    ],
    [
      "a result without a call becomes text",
      [said("assistant", "", calls("a")), result("Z", "z"), said("tool", "Y", { name: "why" })],
      [
        "assistant | call a tool-a",
        `user | no result a ${none}`,
        "user | Result of a tool:\nZ",
        "user | Result of why:\nY",
      ],
    ],
    [
      "ids that come again are told apart",
      [said("assistant", "", calls("a")), result("1", "a"), said("assistant", "", calls("a", "a")), result("2", "a")],
      [
        "assistant | call a tool-a",
        "user | result a 1",
        "assistant | call a_2_1 tool-a | call a_2_2 tool-a",
        `user | result a_2_1 2 | no result a_2_2 ${none}`,
      ],
    ],
    ["an answer of nothing is left out", [said("user", "hi"), said("assistant", "")], ["user | hi"]],
  ])("a turn's messages for a model: %s", (_what, messages, expected) => {
    expect(shown(messages)).toEqual(expected);
  });
});
