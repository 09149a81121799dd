// Parses what a request asks of a model, in any vendor's format.
import { isObject, type JsonObject, tryParse } from "../../../json/object.ts";
import type { RecordedRequest } from "../model-server.ts";
import type { Wire } from "./index.ts";

export type AskedMessage = {
  role: "user" | "assistant" | "tool";
  text: string;
  /** The calls that the model made. */
  calls: { name: string; args: unknown }[];
};

/** A request in one shape for all vendors. */
export type ModelRequest = {
  model: string;
  system: string;
  messages: AskedMessage[];
  tools: { name: string; description: string; schema: unknown }[];
  /** The request as received, with its headers and body. */
  raw: RecordedRequest;
};

export type Asked = Pick<ModelRequest, "system" | "messages" | "tools">;

const readers: Record<Wire, (json: JsonObject) => Asked> = {
  anthropic: ({ system, messages, tools }) => ({
    system: textIn(system),
    messages: objects(messages).flatMap(({ role, content }) => {
      const results = objects(content).filter(({ type }) => type === "tool_result");
      const calls = objects(content).filter(({ type }) => type === "tool_use");
      return [
        ...results.map((each) => said("tool", textIn(each.content))),
        ...(results.length > 0 && textIn(content) === ""
          ? []
          : [
              said(
                role === "assistant" ? "assistant" : "user",
                textIn(content),
                calls.map(({ name, input }) => called(name, input)),
              ),
            ]),
      ];
    }),
    tools: objects(tools).map(({ name, description, input_schema }) => tool(name, description, input_schema)),
  }),
  "openai-chat": ({ messages, tools }) => ({
    system: systemIn(objects(messages)),
    messages: objects(messages)
      .filter(({ role }) => role !== "system" && role !== "developer")
      .map(({ role, content, tool_calls }) => {
        const calls = objects(tool_calls).map((each) => (isObject(each.function) ? each.function : {}));
        return said(
          roleOf(role),
          textIn(content),
          calls.map((call) => called(call.name, parsed(call.arguments))),
        );
      }),
    tools: objects(tools).map(({ function: made }) => {
      const { name, description, parameters } = isObject(made) ? made : {};
      return tool(name, description, parameters);
    }),
  }),
  "openai-responses": ({ instructions, input, tools }) => ({
    system: [textIn(instructions), systemIn(objects(input))].filter(Boolean).join("\n"),
    messages: (typeof input === "string" ? [{ role: "user", content: input }] : objects(input)).flatMap(
      (item: JsonObject) => {
        if (item.type === "function_call") return [said("assistant", "", [called(item.name, parsed(item.arguments))])];
        if (item.type === "function_call_output") return [said("tool", textIn(item.output))];
        if (item.role === undefined || item.role === "system" || item.role === "developer") return [];
        return [said(roleOf(item.role), textIn(item.content))];
      },
    ),
    tools: objects(tools).flatMap((each) =>
      // The tools of a server come as a group that contains them.
      (Array.isArray(each.tools) ? objects(each.tools) : [each]).map(({ name, type, description, parameters }) =>
        tool(
          each.tools === undefined ? (name ?? type) : `${String(each.name)}__${String(name)}`,
          description,
          parameters,
        ),
      ),
    ),
  }),
  gemini: ({ systemInstruction, contents, tools }) => ({
    system: textIn(isObject(systemInstruction) ? systemInstruction.parts : undefined),
    messages: objects(contents).flatMap(({ role, parts }) => {
      const results = objects(parts).flatMap((part) =>
        isObject(part.functionResponse) ? [part.functionResponse] : [],
      );
      const calls = objects(parts).flatMap((part) => (isObject(part.functionCall) ? [part.functionCall] : []));
      if (results.length > 0) return results.map(({ response }) => said("tool", JSON.stringify(response)));
      return [
        said(
          role === "model" ? "assistant" : "user",
          textIn(parts),
          calls.map(({ name, args }) => called(name, args)),
        ),
      ];
    }),
    tools: objects(tools)
      .flatMap(({ functionDeclarations }) => objects(functionDeclarations))
      .map(({ name, description, parameters, parametersJsonSchema }) =>
        tool(name, description, parametersJsonSchema ?? parameters),
      ),
  }),
};

/** Returns undefined if it does not ask for an answer, or not in a known format. */
export function askedIn(raw: RecordedRequest): ModelRequest | undefined {
  const asked = readAsked(raw.wire, raw.json);
  return asked && { model: raw.model, ...asked, raw };
}

/** Parses a body alone. Google's service for accounts wraps the request of its API in another. */
export function readAsked(wire: Wire | undefined, json: unknown): Asked | undefined {
  if (wire === undefined || !isObject(json)) return undefined;
  return readers[wire](wire === "gemini" && isObject(json.request) ? json.request : json);
}

function said(role: AskedMessage["role"], text: string, calls: AskedMessage["calls"] = []): AskedMessage {
  return { role, text, calls };
}

function called(name: unknown, args: unknown): AskedMessage["calls"][number] {
  return { name: String(name), args };
}

function tool(name: unknown, description: unknown, schema: unknown): ModelRequest["tools"][number] {
  return { name: String(name), description: typeof description === "string" ? description : "", schema };
}

function roleOf(role: unknown): AskedMessage["role"] {
  return role === "assistant" || role === "tool" ? role : "user";
}

function systemIn(messages: readonly JsonObject[]): string {
  const told = messages.filter(({ role }) => role === "system" || role === "developer");
  return told.map(({ content }) => textIn(content)).join("\n");
}

/** The text of a string, of a part, or of a list of parts. */
function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(textIn).filter(Boolean).join("\n");
  return isObject(content) && typeof content.text === "string" ? content.text : "";
}

function objects(list: unknown): JsonObject[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function parsed(text: unknown): unknown {
  return typeof text === "string" ? (tryParse(text) ?? text) : text;
}
