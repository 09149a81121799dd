// The built CLI before a server that refuses what the vendors refuse: whatever a conversation holds, no request is refused.
import type { ChildProcess } from "node:child_process";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { models } from "../../src/model/catalog.ts";
import { effortsOf } from "../../src/model/efforts.ts";
import { resolveModel } from "../../src/model/resolve.ts";
import { reasoningEfforts } from "../../src/protocol/run.ts";
import type { ModelAnswer, RecordedRequest } from "../../src/testing/kit/model-server.ts";
import { createWorkspace, repository, type Workspace } from "../support/run-cli.ts";
import { kinds, modelOf, providerAt, replyOf, requestFor, shell } from "./reply.ts";
import { awkwardHistory, lateThinking } from "./strict/awkward-history.ts";
import { awkwardTools } from "./strict/awkward-tools.ts";
import { broken } from "./strict/broken.ts";
import { rules, type StrictServer, strictServer, typeFaults, violationsIn } from "./strict/server.ts";

/** One of each wire, and those that add to one. */
const wires = {
  anthropic: "sonnet-4.5-thinking",
  "anthropic, newest": "opus-5.5-high",
  openai: "gpt-5.5-high",
  google: "gemini-3.1-pro-high",
  "google, older": "gemini-2.5-flash-high",
  chat: "chat/qwen3",
  openrouter: "openrouter/anthropic/claude-sonnet-4.5",
  mistral: "mistral/devstral-medium-latest",
  moonshot: "moonshot/kimi-k2.6",
  "own server": "chat/deepseek-v4",
};
const each = Object.entries(wires);
const cutWord: Record<string, string> = { anthropic: "max_tokens", openai: "max_output_tokens", google: "MAX_TOKENS" };
const cutReason = (wire: string) => cutWord[wire.split(",")[0]!] ?? "length";

const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const gif = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");

let server: StrictServer;
let place: Workspace;
const asked: RecordedRequest[] = [];

async function begin(
  answers: readonly ModelAnswer[] | ((request: RecordedRequest) => ModelAnswer),
  settings: object = {},
): Promise<void> {
  server = await strictServer(answers);
  place = createWorkspace({ "a.txt": "one\ntwo\n" });
  place.file("dot.png", png);
  place.file("dot.gif", gif);
  const { providers } = server.settings;
  const { chat } = providers;
  const courser = { providers: { ...providers, openrouter: chat, mistral: chat, moonshot: chat }, ...settings };
  place.file(join(place.config, "courser.json"), JSON.stringify(courser));
}

afterEach(async () => {
  asked.push(...(server?.requests ?? []));
  await server?.stop();
  place?.remove();
});

async function run(model: string, prompt: string, args: readonly string[] = [], more: object = {}) {
  const flags = ["-p", "--force", "--output-format", "stream-json", "--model", model, ...args];
  const ended = await place.run([...flags, prompt], { env: server.env, ...more });
  expect(server.violations).toEqual([]);
  const lines = ended.lines();
  return { ...ended, result: lines.at(-1)!, chat: lines[0]!["session_id"] as string };
}

const odd = ["functions.Read:0", "call/ with blanks", "x".repeat(90), "call_1"];
const read = (path: string, id: string) => ({ id, name: "Read", args: { path } });

it("strict vendors accept every turn of a chat that changes vendors", { timeout: 60_000 }, async () => {
  const calls = [read("a.txt", odd[0]!), read("missing", odd[1]!), read("dot.png", odd[2]!), read("dot.gif", odd[3]!)];
  // A server of chat completions gets its own ids back as they are.
  const own = calls.map((call, index) => ({ ...call, id: `call_${index}` }));
  const turns = each.flatMap(([name]): ModelAnswer[] => [
    { text: " \n", thinking: "Hm.", toolCalls: /chat|own|moon/.test(name) ? own : calls },
    { toolCalls: [{ id: "call_1", name: "Shell", args: { command: "exit 3; # \ud83d" } }] },
    { text: ["do", "ne"] },
  ]);
  await begin(turns);
  let chat: string | undefined;
  for (const [name, model] of each) {
    const ended = await run(model, `Go on, ${name}.`, chat ? ["--resume", chat] : []);
    expect(ended.result, name).toMatchObject({ is_error: false, result: " \ndone" });
    chat = ended.chat;
  }
  expect(server.requests).toHaveLength(turns.length);
});

describe.each(["anthropic", "openai", "google", "chat"] as const)("%s", (wire) => {
  const model = wires[wire];

  it("a chat with strict vendor servers continues after an interrupt, an awkward server and a cut answer", {
    timeout: 30_000,
  }, async () => {
    const stopReason = cutReason(wire);
    const call = { id: odd[0]!, name: "Shell", args: { command: "sleep 30" } };
    await begin([
      { thinking: "Hm.", toolCalls: [read("a.txt", "r"), call] },
      { toolCalls: [{ id: "c", name: "odd-alternatives", args: { a: "x" } }] },
      { text: "One, tw", thinking: "Hm.", stopReason },
      { text: "o, thr", stopReason },
      { text: "ee." },
    ]);
    const file = place.file("tools.json", JSON.stringify(awkwardTools));
    const args = [join(repository, "test/support/mcp-server.mjs"), `tools=${file}`];
    const config = JSON.stringify({ mcpServers: { odd: { command: process.execPath, args } } });
    const first = await run(model, "begin", [], {
      onStart: (child: ChildProcess) =>
        child.stdout!.on("data", (chunk) => /"shellToolCall"/.test(String(chunk)) && child.kill("SIGINT")),
    });
    expect(first.exit).toBe(130);

    const second = await run(model, "go on", ["--resume", first.chat, "--mcp-config", config, "--approve-mcps"]);
    expect(second.result).toMatchObject({ is_error: false, result: "One, two, three." });
    expect(second.notices()).toContain(`The answer was cut (${stopReason}). It is continued (2 of at most`);
    const body = server.requests[1]!.body.toString();
    const isLeftOut = (name: string) => wire === "anthropic" && name === "brackets";
    for (const { name } of awkwardTools) expect(body.includes(`"odd-${name}"`), name).toBe(!isLeftOut(name));
    for (const field of ["first_only", "second_only", "in_then", "deep_field", "shared_field", "kept_field"])
      expect(body).toContain(`"${field}"`);
    if (wire === "anthropic") expect(second.notices()).toContain('takes no argument named "filter[id]"');
  });

  it("a chat with strict vendor servers continues after compaction", { timeout: 30_000 }, async () => {
    await begin(
      (request) => {
        if (request.json.tools === undefined) return { text: "A summary." };
        const args = { path: "long.txt", offset: server.requests.length };
        if (args.offset > 5) return { text: "done" };
        return { thinking: "Hm.", toolCalls: [{ id: `call_${args.offset}`, name: "Read", args }] };
      },
      { contextTokens: 12_000 },
    );
    place.file("long.txt", "a line of words\n".repeat(1000));
    expect((await run(model, "read")).result).toMatchObject({ result: "done" });
    const lengths = server.requests.map(({ body }) => body.length);
    expect(lengths.some((length, index) => length < (lengths[index - 1] ?? 0))).toBe(true);
  });
});

it.each(kinds)(
  "%s: strict vendor servers accept a chat whose answer was cut during or after a tool call",
  async (kind) => {
    const stopReason = cutReason(kind);
    const whole = { id: "a", name: "Shell", args: { command: "ls" } };
    const half = { id: "b", name: "Shell", args: '{"command":"cat <<' };
    const none = { id: "b", name: "Shell", args: "" };
    // Gemini sends arguments whole.
    for (const last of kind === "google" ? [] : [half, none]) {
      await begin([
        { toolCalls: [last], stopReason },
        { toolCalls: [whole] },
        { toolCalls: [whole, last], stopReason },
      ]);
      const provider = await providerAt(server.url, kind);
      const alone = await replyOf(provider, requestFor(modelOf[kind]));
      expect(alone.parts).toMatchObject([whole]);
      expect(server.requests[1]!.body.toString()).toContain("in the middle of a call of Shell");
      const behind = await replyOf(provider, requestFor(modelOf[kind]));
      expect(behind.parts).toMatchObject([whole]);
      expect(server.violations).toEqual([]);
      await server.stop();
      place.remove();
    }
    await begin([{ text: "a", stopReason, repeat: 1 }]);
    server.stop();
    server = await strictServer(() => ({ text: "on and on, ", stopReason }));
    const endless = await replyOf(await providerAt(server.url, kind), requestFor(modelOf[kind]));
    expect(endless.error).toMatchObject({ code: "OUTPUT_CUT" });
    expect(server.requests).toHaveLength(9);
    await server.stop();
    server = await strictServer(() => ({ text: "", thinking: "Hm.", stopReason }));
    const silent = await replyOf(await providerAt(server.url, kind), requestFor(modelOf[kind]));
    expect(silent.error).toMatchObject({ code: "OUTPUT_CUT" });
    expect(server.requests).toHaveLength(1);
  },
);

/** Models of servers that resell others, beside those of the catalog. */
const resold = [
  "openrouter/anthropic/claude-sonnet-4.5",
  "openrouter/openai/gpt-5.5",
  "openrouter/moonshotai/kimi-k2.6",
  "moonshot/kimi-k3",
  "groq/meta-llama/llama-4-scout-17b-16e-instruct",
  "mistral/mistral-medium-latest",
  "xai/grok-4.3",
];

const manyTools = [
  shell,
  ...awkwardTools.map((tool) => ({ ...tool, description: "long ".repeat(500) })),
  ...Array.from({ length: 520 }, (_, index) => ({ name: `more-${index}`, description: "", inputSchema: {} })),
].map((tool) =>
  "inputSchema" in tool
    ? {
        name: `odd-${tool.name}`,
        description: tool.description,
        parameters: tool.inputSchema,
        mcp: { server: "odd", tool: tool.name },
      }
    : tool,
);

it("strict vendors accept awkward conversations and tools for every model at every effort", {
  timeout: 120_000,
}, async () => {
  await begin(() => ({ text: "ok" }));
  let asks = 0;
  const named = [...models.map(({ id, vendor }) => ({ flag: id, vendor })), ...resold.map(vendorIn)];
  await Promise.all(
    named.map(async ({ flag, vendor }) => {
      const kind = vendor === "anthropic" || vendor === "openai" || vendor === "google" ? vendor : "openai-compatible";
      const endpoint = { type: kind, baseUrl: `${server.url}/v1`, keyEnv: "KEY" };
      const choice = { flag, env: { KEY: "k" }, endpoints: { [vendor]: endpoint } };
      const provider = await providerAt(server.url, kind, { choice });
      const { kind: wire, modelId } = resolveModel(choice);
      for (const tools of [manyTools, [shell], []])
        for (const effort of [undefined, ...(effortsOf(wire, modelId) ?? reasoningEfforts)]) {
          if (effort !== undefined && tools.length !== 1) continue;
          for (const messages of [awkwardHistory(vendor), ...(effort === "high" ? lateThinking(vendor) : [])]) {
            asks++;
            const reply = await replyOf(provider, requestFor(modelId, { tools, messages, ...(effort && { effort }) }));
            expect(reply.error?.message, `${flag} ${effort} ${tools.length}`).toBeUndefined();
          }
        }
    }),
  );
  expect([...new Set(server.violations)]).toEqual([]);
  expect(asks).toBeGreaterThan(models.length * 4);
  expect(server.requests).toHaveLength(asks);
});

function vendorIn(flag: string): { flag: string; vendor: string } {
  return { flag, vendor: flag.slice(0, flag.indexOf("/")) };
}

describe("the strict server itself", () => {
  it("each rule of the strict vendor server refuses its example request", async () => {
    const told = Object.entries(broken).flatMap(([name, { wire, model = "m", json }]) =>
      violationsIn({ wire, model, path: "/", json }).map((text) => ({ name, text })),
    );
    const silent = rules.filter(({ wire, says }) => !told.some(({ text }) => text.startsWith(`${wire}: ${says}`)));
    expect(silent.map(({ wire, says }) => `${wire}: ${says}`)).toEqual([]);
  });

  it("each rule of the strict vendor server has a link to its source", () => {
    for (const { link } of rules) expect(link).toMatch(/^https:\/\/[\w.]+\/\S+$/);
  });
});

afterAll(() => {
  // What OpenRouter, Moonshot and DeepSeek add is in no type of OpenAI's.
  const typed = asked.filter(({ model }) => !/\/|kimi|deepseek/.test(model));
  expect(typed.length).toBeGreaterThan(100);
  expect(typeFaults(typed)).toEqual([]);
  const [first] = typed;
  expect(typeFaults([{ ...first!, json: { ...first!.json, unknown_field: 1 } }])).toHaveLength(1);
});
