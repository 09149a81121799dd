// Requests that vendors refuse, several reasons in each: every rule has one here that breaks it.

import type { Wire } from "../../../src/testing/kit/wires/index.ts";
import { png } from "./awkward-history.ts";

type Broken = { wire: Wire; model?: string; json: any };

const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });
const badSchemas = [
  object({}, { anyOf: [{ required: ["a"] }] }),
  object({ a: { type: "array" } }),
  object({ a: { type: "any" } }),
  object({ "a b": {} }),
  object({ a: { oneOf: [] } }),
];
const bad = "not a name!";
const image = { type: "image", source: { type: "base64", media_type: "image/bmp", data: "" } };
const wide = png(9000, 1);
const call = (id: string) => ({ type: "tool_use", id, name: "x", input: {} });
const cached = (text: string) => ({ type: "text", text, cache_control: { type: "ephemeral" } });

export const broken: Record<string, Broken> = {
  "anthropic, messages": {
    wire: "anthropic",
    json: {
      model: "claude-opus-4-7",
      max_tokens: 1_000_000,
      temperature: 1,
      thinking: { type: "enabled", budget_tokens: 1 },
      messages: [
        { role: "assistant", content: [{ type: "text", text: " \n" }, call("a:b"), call("a:b")] },
        { role: "user", content: "\0\ud83d" },
        {
          role: "user",
          content: [image, { type: "tool_result", tool_use_id: "other", is_error: true, content: "" }],
        },
        { role: "assistant", content: [] },
      ],
    },
  },
  "anthropic, tools and thinking": {
    wire: "anthropic",
    json: {
      model: "claude-sonnet-4-5",
      max_tokens: 64_000,
      system: [cached("a"), cached("b"), cached("c"), cached("d")],
      thinking: { type: "enabled", budget_tokens: 5000 },
      tools: badSchemas.map((input_schema) => ({ name: bad, input_schema, eager_input_streaming: true })),
      messages: [
        { role: "user", content: [cached("a")] },
        { role: "assistant", content: [{ type: "thinking", thinking: "x", signature: "" }] },
        { role: "user", content: "b" },
        { role: "assistant", content: [call("a")] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "x" }] },
      ],
    },
  },
  responses: {
    wire: "openai-responses",
    json: {
      model: "gpt-5",
      store: false,
      temperature: 1,
      prompt_cache_key: "k".repeat(65),
      tools: [
        ...badSchemas.map((parameters) => ({ type: "function", name: bad, parameters, strict: true })),
        ...Array.from({ length: 128 }, (_, index) => ({ type: "function", name: `t${index}`, parameters: object({}) })),
      ],
      input: [
        { type: "message", role: "user", content: [{ type: "input_text", text: " " }] },
        { type: "message", role: "user", content: "\0\ude00" },
        { type: "message", role: "user", content: [{ type: "input_image", image_url: "data:image/bmp;base64,AA" }] },
        { type: "function_call", call_id: "c".repeat(65), id: "x", name: "x", arguments: "{}" },
        { type: "function_call_output", call_id: "nobody", output: "x" },
        { type: "reasoning", id: "rs_1", summary: [] },
      ],
    },
  },
  "responses, a model that does not think": {
    wire: "openai-responses",
    json: { model: "gpt-4.1", reasoning: { effort: "high" }, input: [] },
  },
  "responses, a level of others": {
    wire: "openai-responses",
    json: { model: "gpt-5", reasoning: { effort: "xhigh" }, input: [] },
  },
  "anthropic, levels": {
    wire: "anthropic",
    json: { model: "claude-opus-4-6", max_tokens: 1, output_config: { effort: "xhigh" }, messages: [] },
  },
  "anthropic, thinking that cannot be turned off": {
    wire: "anthropic",
    json: { model: "claude-opus-5-5", max_tokens: 1, thinking: { type: "disabled" }, messages: [] },
  },
  "anthropic, names and images": {
    wire: "anthropic",
    json: {
      model: "claude-opus-4-6",
      max_tokens: 1,
      messages: [
        { role: "assistant", content: [{ type: "tool_use", id: "a", name: bad, input: {} }] },
        { role: "user", content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: wide } }] },
      ],
    },
  },
  "responses, names and images": {
    wire: "openai-responses",
    json: {
      model: "gpt-5",
      input: [
        { type: "function_call", call_id: "c", name: bad, arguments: "{}" },
        {
          role: "user",
          content: Array.from({ length: 21 }, () => ({
            type: "input_image",
            image_url: `data:image/png;base64,${png(1, 1)}`,
          })),
        },
      ],
    },
  },
  "chat, OpenAI's models": {
    wire: "openai-chat",
    json: {
      model: "openai/gpt-5",
      tools: [{ function: { name: "x", description: "x".repeat(1025), parameters: object({}) } }],
      messages: [{ role: "assistant", tool_calls: [{ id: "a", function: { name: bad, arguments: "{}" } }] }],
    },
  },
  ...Object.fromEntries(
    ["grok-code-fast-1", "deepseek-v4-pro"].map((model) => [
      `chat, ${model}`,
      {
        wire: "openai-chat" as const,
        json: {
          model,
          reasoning_effort: "minimal",
          messages: [{ role: "user", content: [{ image_url: { url: `data:image/webp;base64,${wide}` } }] }],
        },
      },
    ]),
  ),
  "chat, Claude": {
    wire: "openai-chat",
    json: {
      model: "anthropic/claude-sonnet-5",
      messages: [{ role: "assistant", tool_calls: [{ id: "a", function: { name: "x", arguments: "{}" } }] }],
    },
  },
  "chat, a picture that is too wide": {
    wire: "openai-chat",
    json: {
      model: "x",
      messages: [{ role: "user", content: [{ image_url: { url: `data:image/png;base64,${wide}` } }] }],
    },
  },
  "chat, schemas of Moonshot": {
    wire: "openai-chat",
    json: {
      model: "kimi-k3",
      tools: [{ function: { name: "x", parameters: object({ a: { type: "string", anyOf: [{ type: "string" }] } }) } }],
      messages: [],
    },
  },
  "gemini, names, cycles and images": {
    wire: "gemini",
    model: "gemini-2.5-pro",
    json: {
      tools: [
        {
          functionDeclarations: [
            ...Array.from({ length: 512 }, (_, index) => ({ name: `t${index}`, description: "x" })),
            {
              name: "x",
              parametersJsonSchema: object(
                {},
                { $defs: { node: object({ next: { $ref: "#/$defs/node" } }, { required: ["next"] }) } },
              ),
            },
          ],
        },
      ],
      contents: [
        { role: "model", parts: [{ functionCall: { name: bad, args: {} } }] },
        { role: "user", parts: [{ inlineData: { mimeType: "image/png", data: wide } }] },
      ],
    },
  },
  chat: {
    wire: "openai-chat",
    json: {
      model: "devstral",
      stream_options: { include_usage: true },
      tools: [
        ...badSchemas.map((parameters) => ({ type: "function", function: { name: bad, parameters, strict: true } })),
        ...Array.from({ length: 128 }, (_, index) => ({
          type: "function",
          function: { name: `t${index}`, parameters: object({}) },
        })),
      ],
      messages: [
        { role: "user", content: "", cache_control: { type: "ephemeral" } },
        { role: "tool", tool_call_id: "nobody", content: "x" },
        { role: "user", content: "\0\ud83d" },
        { role: "assistant", content: "x", reasoning_content: "x" },
        {
          role: "assistant",
          content: null,
          tool_calls: [1, 2].map(() => ({ id: "c".repeat(41), function: { name: "x", arguments: "[" } })),
        },
      ],
    },
  },
  "chat, thinking": {
    wire: "openai-chat",
    json: {
      model: "kimi-k2.6",
      stream: true,
      messages: [{ role: "assistant", tool_calls: [{ id: "a", function: { name: "x", arguments: "{}" } }] }],
    },
  },
  gemini: {
    wire: "gemini",
    model: "gemini-2.5-pro",
    json: {
      generationConfig: { thinkingConfig: { thinkingBudget: 1, thinkingLevel: "high" } },
      tools: [
        {
          functionDeclarations: badSchemas.map((parameters) => ({
            name: bad,
            parameters,
            parametersJsonSchema: { type: "string", properties: { a: { $ref: "#/definitions/x", title: "\0\ud83d" } } },
          })),
        },
      ],
      contents: [
        { role: "model", parts: [] },
        { role: "model", parts: [{ text: " " }, { functionCall: { name: "x", args: {} } }] },
        { role: "user", parts: [{ inlineData: { mimeType: "image/gif", data: "AA" } }] },
        { role: "user", parts: [{ functionResponse: { name: "x", response: "text" } }] },
      ],
    },
  },
  "gemini, newer": {
    wire: "gemini",
    model: "gemini-3.1-pro",
    json: {
      contents: [
        { role: "user", parts: [{ text: "a" }] },
        { role: "model", parts: [{ functionCall: { name: "x", args: {} } }] },
        { role: "user", parts: [{ functionResponse: { name: "x", response: {} } }] },
      ],
    },
  },
};
