// A model server that refuses what the vendors refuse: 400, and the rule by name. What it was asked is also held against the
// types of the vendors' own packages.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  type ModelAnswer,
  type ModelServer,
  modelServer,
  type RecordedRequest,
} from "../../../src/testing/kit/model-server.ts";
import type { Wire } from "../../../src/testing/kit/wires/index.ts";
import { anthropicRules } from "./anthropic.ts";
import { geminiRules } from "./gemini.ts";
import { chatRules, responsesRules } from "./openai.ts";
import type { Rule } from "./rule.ts";

export const rules: readonly Rule[] = [...anthropicRules, ...responsesRules, ...chatRules, ...geminiRules];

export type StrictServer = ModelServer & { violations: string[] };

/** Everything in a request that its vendor would refuse. */
export function violationsIn({
  wire,
  json,
  model,
  path,
}: Pick<RecordedRequest, "wire" | "json" | "model" | "path">): string[] {
  return rules
    .filter((rule) => rule.wire === wire)
    .flatMap((rule) => {
      const found = rule.broken(json, { model, path });
      return found === undefined
        ? []
        : [`${wire}: ${rule.says}: ${JSON.stringify(found).slice(0, 300)} (${rule.link})`];
    });
}

export async function strictServer(
  answers: readonly ModelAnswer[] | ((request: RecordedRequest) => ModelAnswer | Promise<ModelAnswer>),
): Promise<StrictServer> {
  const left = typeof answers === "function" ? [] : [...answers];
  const next = typeof answers === "function" ? answers : () => left.shift() ?? { status: 500 };
  const violations: string[] = [];
  const server = await modelServer((request) => {
    const found = violationsIn(request);
    violations.push(...found);
    return found.length === 0 ? next(request) : { status: 400, body: { error: { message: found[0] } } };
  });
  return Object.assign(server, { violations });
}

const types: Record<Wire, string> = {
  anthropic: 'import("@anthropic-ai/sdk/resources/messages").MessageCreateParamsStreaming',
  "openai-responses": 'import("openai/resources/responses/responses").ResponseCreateParamsStreaming',
  "openai-chat": 'import("openai/resources/chat/completions").ChatCompletionCreateParamsStreaming',
  gemini: "GeminiRequest",
};

/** The body of a request of the Gemini API, of the types that its package has for the parts. */
const gemini = `import type { Content, GenerationConfig, SafetySetting, Tool, ToolConfig } from "@google/genai";
type GeminiRequest = {
  contents: Content[]; systemInstruction?: Content; tools?: Tool[]; toolConfig?: ToolConfig;
  generationConfig?: GenerationConfig; safetySettings?: SafetySetting[]; cachedContent?: string;
};
`;

const root = resolve(import.meta.dirname, "../../..");

/** What the compiler says of the requests, taken for values of the vendors' types. */
export function typeFaults(requests: readonly RecordedRequest[]): string[] {
  const folder = mkdtempSync(join(root, "node_modules/.strict-"));
  try {
    const values = [
      ...new Set(requests.filter(({ wire }) => wire).map((request) => `${types[request.wire!]} = ${literal(request)}`)),
    ];
    const file = join(folder, "requests.ts");
    writeFileSync(file, gemini + values.map((value, index) => `export const request${index}: ${value};\n`).join(""));
    const options = [
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "--module",
      "nodenext",
      "--target",
      "es2023",
      "--types",
      "node",
      "--ignoreConfig",
    ];
    const { stdout, status } = spawnSync(
      process.execPath,
      [join(root, "node_modules/typescript/bin/tsc"), ...options, file],
      {
        encoding: "utf8",
      },
    );
    return status === 0 ? [] : stdout.split("\n").filter((line) => line.includes("error"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Enums of the Gemini package are nominal; on the wire they are their names. */
function literal({ wire, json }: RecordedRequest): string {
  const text = JSON.stringify(json);
  return wire === "gemini" ? text.replace(/"thinkingLevel":("\w+")/g, '"thinkingLevel":$1 as any') : text;
}
