// Local models that write their thinking and their calls into the text.
import { afterEach, expect, it } from "vitest";
import { type ModelAnswer, type ModelServer, modelServer } from "../../src/testing/kit/model-server.ts";
import { providerAt, replyOf, requestFor } from "./reply.ts";

let server: ModelServer;
afterEach(() => server.stop());

const call = (args: object) => `<tool_call>\n${JSON.stringify({ name: "Shell", arguments: args })}\n</tool_call>`;
const thinking = (text: string) => ({ type: "thinking", text });
const text = (words: string) => ({ type: "text", text: words });
const shellCall = (command: string) => ({ type: "tool_call", name: "Shell", args: { command } });

/** One reply each, in pieces of so many letters. */
async function replies(answers: readonly ModelAnswer[], pieces: number, textChannels?: boolean) {
  const cut = ({ text: all, ...rest }: ModelAnswer) =>
    typeof all === "string" ? { ...rest, text: all.match(new RegExp(`[^]{1,${pieces}}`, "g"))! } : rest;
  server = await modelServer(answers.map(cut));
  const endpoint = { type: "openai-compatible", baseUrl: `${server.url}/v1` };
  const choice = { endpoints: { test: { ...endpoint, ...(textChannels !== undefined && { textChannels }) } } };
  const provider = await providerAt(server.url, "openai-compatible", { choice });
  const said = [];
  for (const _ of answers) said.push(await replyOf(provider, requestFor("m")));
  await server.stop();
  return said;
}

it.each([1, 3, 7, 1000])("the provider reads tool-call tags from text that arrives in pieces of %d", async (pieces) => {
  const xml = "<tool_call>\n<function=Shell>\n<parameter=command>\nls -l\n</parameter>\n</function>\n</tool_call>";
  const quoted = `Write it so:\n\`\`\`\n${call({ command: "rm" })}\n\`\`\`\nor inline ${call({ command: "rm" })}`;
  const [both, two, coder, prose, other, late] = await replies(
    [
      { text: `\n<think>\nHm. a < b\n</think>\n\nI look.\n${call({ command: "ls" })}` },
      { text: `${call({ command: "a" })}\n${call({ command: "b" })}\n` },
      { text: xml },
      { text: quoted },
      { text: '<tool_call>{"name":"Nobody","arguments":{}}</tool_call>' },
      { text: "What <think> means: nothing." },
    ],
    pieces,
  );
  expect(both).toMatchObject({ thinking: "\nHm. a < b\n", text: "I look.\n" });
  expect(both!.parts).toMatchObject([thinking("Hm. a < b"), text("I look.\n"), shellCall("ls")]);
  expect(two!.parts).toMatchObject([shellCall("a"), shellCall("b")]);
  expect(coder!.parts).toMatchObject([shellCall("ls -l")]);
  expect(prose!.parts).toEqual([text(quoted)]);
  expect(other!.parts).toMatchObject([{ type: "text" }]);
  expect(late!.parts).toEqual([text("What <think> means: nothing.")]);
});

it("the provider ignores tool-call tags in text once a server sent real tool calls, unless a setting says otherwise", async () => {
  const answers = [
    { thinking: "Hm.", toolCalls: [{ id: "a", name: "Shell", args: { command: "ls" } }] },
    { text: `<think>x</think>${call({ command: "rm" })}` },
  ];
  const last = async (setting?: boolean) => (await replies(answers, 5, setting))[1]!.parts;
  expect(await last()).toEqual([text(answers[1]!.text!)]);
  expect(await last(false)).toEqual([text(answers[1]!.text!)]);
  expect(await last(true)).toMatchObject([thinking("x"), shellCall("rm")]);
});

it.each([
  '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
  "registry.ollama.ai/library/gemma:2b does not support tools",
])("the provider reports a model server without tool support: %s", async (message) => {
  const [reply] = await replies([{ status: 400, body: { error: { message } } }], 5);
  expect(reply!.error).toMatchObject({ code: "MODEL_BAD_REQUEST" });
  expect(reply!.error!.message).toContain("m takes no tools as");
});
