// The clouds before a server that refuses what they refuse: every model of the catalog that they have, at every effort, with a
// conversation that holds what other vendors and servers leave behind.
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { models } from "../../src/model/catalog.ts";
import { effortsOf } from "../../src/model/efforts.ts";
import { createProvider, resolveModel } from "../../src/model/resolve.ts";
import type { RecordedRequest } from "../../src/testing/kit/model-server.ts";
import { cloudAnswer, cloudApiOf } from "./cloud-answers.ts";
import { replyOf, requestFor, shell } from "./reply.ts";
import { awkwardHistory, png, text, user } from "./strict/awkward-history.ts";
import { awkwardTools } from "./strict/awkward-tools.ts";
import { bedrockRules } from "./strict/bedrock.ts";
import { typeFaults, violationsIn } from "./strict/server.ts";

const tools = [
  shell,
  ...awkwardTools.map(({ name, inputSchema, description }) => ({
    name: `odd-${name}`,
    description: description ?? "",
    parameters: inputSchema,
    mcp: { server: "odd", tool: name },
  })),
];

type Cloud = { vendor: string; model: string };

/** Which models of the catalog a cloud has, and what it calls them. */
const offered: Cloud[] = [
  ...models.flatMap(({ vendor, model }): Cloud[] => {
    if (vendor === "anthropic")
      return [
        { vendor: "bedrock", model: `us.anthropic.${model}-v1:0` },
        { vendor: "vertex", model },
      ];
    if (vendor === "google") return [{ vendor: "vertex", model }];
    return vendor === "openai" ? [{ vendor: "azure", model }] : [];
  }),
  ...["amazon.nova-pro-v1:0", "us.meta.llama4-maverick-17b-instruct-v1:0", "mistral.mistral-large-2407-v1:0"].map(
    (model) => ({ vendor: "bedrock", model }),
  ),
];

const env = { KEY: "k" };
let server: Server | undefined;
afterEach(() => server?.close());

type Asked = { violations: string[]; typed: RecordedRequest[]; count: number };

async function strictCloud(): Promise<{ url: string; asked: Asked }> {
  const asked: Asked = { violations: [], typed: [], count: 0 };
  server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const path = decodeURIComponent(request.url!);
    asked.count++;
    asked.violations.push(...violations(path, JSON.parse(body), asked));
    const { type, body: answer } = cloudAnswer(path);
    response.writeHead(200, { "content-type": type }).end(answer());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

function violations(path: string, json: any, asked: Asked): string[] {
  const api = cloudApiOf(path);
  const model = json.model ?? /models?\/([^/]+?)(?::stream\w+|\/converse-stream)/.exec(path)![1]!;
  if (api === "converse") return bedrockFaults(json, model);
  const { anthropic_version: version, ...rest } = json;
  const isClaude = api === "predict";
  // The model stands in the address, and the version in the body: the rest is the Messages API.
  const own = isClaude && (version !== "vertex-2023-10-16" || "model" in json) ? ["vertex: version and model"] : [];
  // https://github.com/vercel/ai/issues/15664
  if (api === "generate" && /"function(Call|Response)":\{"id"/.test(JSON.stringify(json)))
    own.push("vertex: Unknown name 'id' in function_call");
  const wire = isClaude ? "anthropic" : api === "generate" ? "gemini" : "openai-responses";
  const sent = { wire, path, model, json: isClaude ? { ...rest, model } : json } as RecordedRequest;
  asked.typed.push(sent);
  return [...own, ...violationsIn(sent)];
}

function isLong(json: unknown): boolean {
  return JSON.stringify(json).includes("odd-");
}

function bedrockFaults(json: any, model: string): string[] {
  return bedrockRules.flatMap(({ says, broken, link }) => {
    const found = broken(json, { model, path: "/" });
    return found === undefined ? [] : [`${says}: ${JSON.stringify(found).slice(0, 300)} (${link})`];
  });
}

it("the clouds accept every model at every effort with awkward conversations and tools", {
  timeout: 120_000,
}, async () => {
  const { url, asked } = await strictCloud();
  let asks = 0;
  for (const { vendor, model } of offered) {
    const endpoint = { baseUrl: `${url}${vendor === "vertex" ? "/publishers/google" : ""}`, keyEnv: "KEY" };
    const resolved = resolveModel({ flag: `${vendor}/${model}`, env, endpoints: { [vendor]: endpoint } });
    const provider = await createProvider(resolved, { retries: 0 });
    const history = awkwardHistory(vendor);
    for (const effort of [undefined, ...(effortsOf(resolved.kind, resolved.modelId) ?? [])])
      for (const given of [
        { messages: history, tools },
        { messages: [user(text("hi"))], tools: [shell] },
      ]) {
        if (given.messages === history && effort !== undefined && effort !== "high") continue;
        asks++;
        const reply = await replyOf(provider, requestFor(model, { ...given, ...(effort && { effort }) }));
        expect(reply.error?.message, `${vendor}/${model} ${effort}`).toBeUndefined();
      }
  }
  expect(asked.count).toBe(asks);
  expect([...new Set(asked.violations)]).toEqual([]);
  expect(asks).toBeGreaterThan(offered.length * 3);
  // The long ones differ in their effort alone, which the short ones have too.
  const long = new Set<string>();
  const typed = asked.typed.filter(({ json, model }) => !isLong(json) || (!long.has(model) && long.add(model)));
  expect(typeFaults(typed)).toEqual([]);
});

describe("the rules of Bedrock", () => {
  it("each rule of the strict cloud servers refuses its example request and links to its source", () => {
    const use = (toolUseId: string) => ({ toolUse: { toolUseId, name: "x", input: "{}" } });
    const spec = (name: string, json: object) => ({ toolSpec: { name, description: " ", inputSchema: { json } } });
    const bad = {
      extra: 1,
      system: [{ text: " " }],
      inferenceConfig: { maxTokens: 1, temperature: 1 },
      additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 2 } },
      toolConfig: { tools: [spec("a b", { type: "string" }), spec("a b", { type: "object", required: 1, $defs: {} })] },
      messages: [
        { role: "assistant", content: [use("a:b"), use("a:b"), { cachePoint: {} }] },
        {
          role: "assistant",
          content: [{ toolResult: { toolUseId: "c", content: [] } }, { image: { format: "bmp" } }],
        },
        { role: "assistant", content: [] },
      ],
    };
    const image = { image: { format: "png", source: { bytes: png(9000, 1) } } };
    const named = { toolUse: { toolUseId: "a", name: "a b", input: {} } };
    const bare = {
      messages: [{ role: "user", content: [use("a"), named, { toolResult: { toolUseId: "a", content: [image] } }] }],
    };
    const told = [...bedrockFaults(bad, "nova"), ...bedrockFaults(bare, "llama")];
    expect(bedrockRules.filter(({ says }) => !told.some((fault) => fault.startsWith(says)))).toEqual([]);
    for (const { link } of bedrockRules) expect(link).toMatch(/^https:\/\/docs\.aws\.amazon\.com\/\S+$/);
  });
});
