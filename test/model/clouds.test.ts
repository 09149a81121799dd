// Models in the clouds: Bedrock with a key and with signed requests, Vertex, Azure. What they send, and that nobody else loads them.
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { createProvider, type ModelChoice, resolveModel } from "../../src/model/resolve.ts";
import { repository } from "../support/run-cli.ts";
import { cloudAnswer } from "./cloud-answers.ts";
import { replyOf, requestFor } from "./reply.ts";

let server: Server | undefined;
afterEach(() => server?.close());

type Asked = { path: string; headers: IncomingMessage["headers"]; json: any };
type Exchange = { choice?: Partial<ModelChoice>; stopReason?: string; bytes?: number };

async function exchange(
  vendor: string,
  model: string,
  env: Record<string, string>,
  { choice, stopReason, bytes }: Exchange = {},
) {
  const asked: Asked[] = [];
  server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    asked.push({ path: request.url!, headers: request.headers, json: JSON.parse(text) });
    const { type, body } = cloudAnswer(request.url!);
    response.writeHead(200, { "content-type": type }).end(Buffer.from(body(stopReason)).subarray(0, bytes));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`;
  const keyEnv = Object.keys(env)[0];
  const path = vendor === "vertex" ? "/publishers/google" : "";
  const endpoints = { [vendor]: { baseUrl: baseUrl + path, keyEnv: keyEnv! } };
  const resolved = resolveModel({ flag: `${vendor}/${model}`, env, endpoints, ...choice });
  const provider = await createProvider(resolved, { retries: 0 });
  const reply = await replyOf(provider, requestFor(model, resolved.effort ? { effort: resolved.effort } : {}));
  return { reply, asked };
}

async function ask(vendor: string, model: string, env: Record<string, string>, choice: Partial<ModelChoice> = {}) {
  const { reply, asked } = await exchange(vendor, model, env, { choice });
  expect(reply.error).toBeUndefined();
  expect(reply).toMatchObject({ text: "four", usage: { inputTokens: 7, outputTokens: 2 } });
  expect(asked).toHaveLength(1);
  return asked[0]!;
}

const claude = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";

it("Bedrock works with a bearer key", async () => {
  const { headers, path, json } = await ask(
    "bedrock",
    claude,
    { AWS_BEARER_TOKEN_BEDROCK: "key-1" },
    { effortFlag: "low" },
  );
  expect(headers.authorization).toBe("Bearer key-1");
  expect(decodeURIComponent(path)).toBe(`/base/model/${claude}/converse-stream`);
  expect(json).toMatchObject({
    inferenceConfig: { maxTokens: expect.any(Number) },
    additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 4000 } },
    toolConfig: { tools: [{ toolSpec: { name: "Shell" } }, { cachePoint: { type: "default" } }].slice(0, 1) },
  });
  expect(JSON.stringify(json.system)).toContain("cachePoint");
});

it("Bedrock works with signed requests", async () => {
  const env = {
    AWS_ACCESS_KEY_ID: "AKIA1",
    AWS_SECRET_ACCESS_KEY: "secret",
    AWS_SESSION_TOKEN: "session",
    AWS_REGION: "eu-west-1",
  };
  const { headers } = await ask("bedrock", "amazon.nova-pro-v1:0", env);
  expect(headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIA1\/\d{8}\/eu-west-1\/bedrock\/aws4_request/);
  expect(headers["x-amz-security-token"]).toBe("session");
  expect(JSON.stringify(headers)).not.toContain('secret"');
});

it.each([
  ["model_context_window_exceeded", "MODEL_OVERFLOW"],
  ["malformed_tool_use", "MODEL_BAD_RESPONSE"],
  ["malformed_model_output", "MODEL_BAD_RESPONSE"],
  ["guardrail_intervened", "MODEL_REFUSED"],
])("an answer from Bedrock that ends with %s counts as a failure", async (stopReason, code) => {
  const { reply } = await exchange("bedrock", claude, { AWS_BEARER_TOKEN_BEDROCK: "k" }, { stopReason });
  expect(reply.error?.code).toBe(code);
});

it.each([0, 3, 50, 120, 200, 300, 400, -5])(
  "an answer from Bedrock of which only %i bytes arrive counts as a failure",
  async (bytes) => {
    const { reply } = await exchange("bedrock", claude, { AWS_BEARER_TOKEN_BEDROCK: "k" }, { bytes });
    expect(reply.error?.code).toMatch(/^MODEL_(TRUNCATED|BAD_RESPONSE)$/);
  },
);

it("Vertex works with Gemini and Claude", async () => {
  const env = { GOOGLE_VERTEX_API_KEY: "key-2" };
  const gemini = await ask("vertex", "gemini-3.8-flash", env, { effortFlag: "low" });
  expect(gemini.path).toContain("/base/publishers/google/models/gemini-3.8-flash:streamGenerateContent");
  expect(gemini.headers["x-goog-api-key"]).toBe("key-2");
  expect(gemini.json.generationConfig.thinkingConfig).toMatchObject({ thinkingLevel: "low" });
  server!.close();
  const sonnet = await ask("vertex", "claude-sonnet-5-5", env);
  expect(sonnet.path).toBe("/base/publishers/anthropic/models/claude-sonnet-5-5:streamRawPredict");
  expect(sonnet.json).toMatchObject({ anthropic_version: "vertex-2023-10-16", thinking: { type: "adaptive" } });
  expect(sonnet.json.model).toBeUndefined();
});

it("a model on Azure OpenAI answers a prompt", async () => {
  const { path, headers, json } = await ask("azure", "my-gpt", { AZURE_API_KEY: "key-3" });
  expect(path).toBe("/base/responses");
  expect(headers["api-key"]).toBe("key-3");
  expect(json).toMatchObject({ model: "my-gpt", store: false, tools: [{ strict: false }] });
});

it("cloud models are recognised by name, and missing settings are reported", () => {
  const url = (flag: string, env: Record<string, string>) => resolveModel({ flag, env }).baseUrl;
  expect(url("bedrock/m", { AWS_BEARER_TOKEN_BEDROCK: "k" })).toBe("https://bedrock-runtime.us-east-1.amazonaws.com");
  expect(url("azure/m", { AZURE_API_KEY: "k", AZURE_RESOURCE_NAME: "r" })).toBe("https://r.openai.azure.com/openai/v1");
  expect(() => url("azure/m", { AZURE_API_KEY: "k" })).toThrow("export AZURE_RESOURCE_NAME=<name>");
  expect(() => url("azure/m", { AZURE_API_KEY: "k", AZURE_RESOURCE_NAME: "evil.com/" })).toThrow("not a name");
  const vertex = { GOOGLE_VERTEX_API_KEY: "k", GOOGLE_VERTEX_PROJECT: "p" };
  expect(url("vertex/m", vertex)).toContain("/projects/p/locations/global/");
  const price = (flag: string) => resolveModel({ flag, env: { AWS_BEARER_TOKEN_BEDROCK: "k", ...vertex } }).price;
  expect(price(`bedrock/${claude}`)).toMatchObject({ input: 3.3 });
  expect(price("vertex/gemini-3.8-flash")).toMatchObject({ input: 0.75 });
});

it("only a run with a cloud provider loads that provider's code", () => {
  const { outputs } = JSON.parse(readFileSync(join(repository, "dist/meta.json"), "utf8"));
  for (const name of ["bedrock", "azure", "vertex"]) {
    const chunks = Object.entries<any>(outputs).filter(([, { inputs }]) => inputs[`src/model/vendors/${name}.ts`]);
    expect(chunks).toHaveLength(1);
    const [chunk] = chunks[0]!;
    const kinds = Object.values<any>(outputs).flatMap(({ imports }) =>
      imports.filter(({ path }: any) => path === chunk),
    );
    expect(kinds.map(({ kind }: any) => kind)).toEqual(["dynamic-import"]);
  }
});

it("Bedrock requests are signed with the keys of a profile in ~/.aws, unless the environment has keys", () => {
  const home = mkdtempSync(join(tmpdir(), "aws-"));
  try {
    mkdirSync(join(home, ".aws"));
    const keys = (id: string) => `aws_access_key_id = ${id}\naws_secret_access_key=secret\n`;
    writeFileSync(join(home, ".aws/credentials"), `[default]\n${keys("AKIA1")}[work]\r\n${keys("AKIA2")}`);
    writeFileSync(join(home, ".aws/config"), "[default]\nregion = eu-west-1\n[profile work]\nregion=us-west-2\n");
    const resolved = (env: Record<string, string>) => {
      const { key, baseUrl } = resolveModel({ flag: "bedrock/amazon.nova-pro-v1:0", env: { HOME: home, ...env } });
      return [key, baseUrl];
    };
    const at = (region: string) => `https://bedrock-runtime.${region}.amazonaws.com`;
    expect(resolved({})).toEqual(["AKIA1", at("eu-west-1")]);
    expect(resolved({ AWS_PROFILE: "work" })).toEqual(["AKIA2", at("us-west-2")]);
    expect(resolved({ AWS_ACCESS_KEY_ID: "AKIA3", AWS_REGION: "ap-south-1" })).toEqual(["AKIA3", at("ap-south-1")]);
    expect(() => resolved({ AWS_PROFILE: "none" })).toThrow("Not authenticated");
  } finally {
    rmSync(home, { recursive: true });
  }
});
