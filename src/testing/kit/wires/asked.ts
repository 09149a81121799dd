// Parses what a request asks of a model, in any vendor's format.
import { fieldsOf, isObject, type JsonObject, objectsIn, tryParse } from "../../../json/object.ts";
import type { RecordedRequest } from "../model-server.ts";
import type { Wire } from "./index.ts";

/** A message in a request to a model. */
export type AskedMessage = {
  role: "user" | "assistant" | "tool";
  text: string;
  /** The tool calls that the model made. */
  calls: { name: string; args: unknown }[];
};

/** A request to a model, in one shape for the APIs of all vendors. */
export type ModelRequest = {
  model: string;
  system: string;
  messages: AskedMessage[];
  tools: { name: string; description: string; schema: unknown }[];
  /** The request as it was received, with headers and body. */
  raw: RecordedRequest;
};

export type Asked = Pick<ModelRequest, "system" | "messages" | "tools">;

const readers: Record<Wire, (json: JsonObject) => Asked> = {
  anthropic: ({ system, messages, tools }) => ({
    system: textIn(system),
    messages: objectsIn(messages).flatMap(({ role, content }) => {
      const results = objectsIn(content).filter(({ type }) => type === "tool_result");
      const calls = objectsIn(content).filter(({ type }) => type === "tool_use");
      return [
        ...results.map((each) => askedMessage("tool", textIn(each.content))),
        ...(results.length > 0 && textIn(content) === ""
          ? []
          : [
              askedMessage(
                role === "assistant" ? "assistant" : "user",
                textIn(content),
                calls.map(({ name, input }) => called(name, input)),
              ),
            ]),
      ];
    }),
    tools: objectsIn(tools).map(({ name, description, input_schema }) => tool(name, description, input_schema)),
  }),
  "openai-chat": ({ messages, tools }) => ({
    system: systemIn(objectsIn(messages)),
    messages: objectsIn(messages)
      .filter(({ role }) => role !== "system" && role !== "developer")
      .map(({ role, content, tool_calls }) => {
        const calls = objectsIn(tool_calls).map((each) => fieldsOf(each.function));
        return askedMessage(
          roleOf(role),
          textIn(content),
          calls.map((call) => called(call.name, parsed(call.arguments))),
        );
      }),
    tools: objectsIn(tools).map(({ function: made }) => {
      const { name, description, parameters } = fieldsOf(made);
      return tool(name, description, parameters);
    }),
  }),
  "openai-responses": ({ instructions, input, tools }) => ({
    system: [textIn(instructions), systemIn(objectsIn(input))].filter(Boolean).join("\n"),
    messages: (typeof input === "string" ? [{ role: "user", content: input }] : objectsIn(input)).flatMap(
      (item: JsonObject) => {
        if (item.type === "function_call")
          return [
            askedMessage("assistant", "", [called(nameInGroup(item.namespace, item.name), parsed(item.arguments))]),
          ];
        if (item.type === "custom_tool_call") return [askedMessage("assistant", "", [called(item.name, item.input)])];
        if (item.type === "function_call_output" || item.type === "custom_tool_call_output")
          return [askedMessage("tool", textIn(item.output))];
        if (item.role === undefined || item.role === "system" || item.role === "developer") return [];
        return [askedMessage(roleOf(item.role), textIn(item.content))];
      },
    ),
    tools: objectsIn(tools).flatMap((each) =>
      // The tools of an MCP server arrive as a group that contains them.
      (Array.isArray(each.tools) ? objectsIn(each.tools) : [each]).map(({ name, type, description, parameters }) =>
        tool(each.tools === undefined ? (name ?? type) : nameInGroup(each.name, name), description, parameters),
      ),
    ),
  }),
  gemini: ({ systemInstruction, contents, tools }) => ({
    system: textIn(isObject(systemInstruction) ? systemInstruction.parts : undefined),
    messages: objectsIn(contents).flatMap(({ role, parts }) => {
      const results = objectsIn(parts).flatMap((part) =>
        isObject(part.functionResponse) ? [part.functionResponse] : [],
      );
      const calls = objectsIn(parts).flatMap((part) => (isObject(part.functionCall) ? [part.functionCall] : []));
      if (results.length > 0) return results.map(({ response }) => askedMessage("tool", JSON.stringify(response)));
      return [
        askedMessage(
          role === "model" ? "assistant" : "user",
          textIn(parts),
          calls.map(({ name, args }) => called(name, args)),
        ),
      ];
    }),
    tools: objectsIn(tools)
      .flatMap(({ functionDeclarations }) => objectsIn(functionDeclarations))
      .map(({ name, description, parameters, parametersJsonSchema }) =>
        tool(name, description, parametersJsonSchema ?? parameters),
      ),
  }),
};

/** Reads a model request. Returns undefined if it does not ask for an answer, or not in a known format. */
export function askedIn(raw: RecordedRequest): ModelRequest | undefined {
  const asked = readAsked(raw.wire, raw.json);
  return asked && { model: raw.model, ...asked, raw };
}

/** Parses a body alone. Google's service for accounts wraps the request of its API in another. */
export function readAsked(wire: Wire | undefined, json: unknown): Asked | undefined {
  if (wire === undefined || !isObject(json)) return undefined;
  return readers[wire](wire === "gemini" && isObject(json.request) ? json.request : json);
}

/** Finds a tool by its name; that of an MCP server also as `mcp__server__tool`, which some agents spell differently. */
export function offeredName(name: string, offered: readonly string[]): string | undefined {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  const spellings =
    server === undefined ? [name] : [name, `mcp_${server}_${tool}`, `${server}_${tool}`, `${server}-${tool}`];
  return spellings.find((spelling) => offered.includes(spelling));
}

function askedMessage(role: AskedMessage["role"], text: string, calls: AskedMessage["calls"] = []): AskedMessage {
  return { role, text, calls };
}

/** Returns a tool's name. In a group, the group's name is put before it. */
function nameInGroup(group: unknown, name: unknown): string {
  return typeof group === "string" ? `${group}__${String(name)}` : String(name);
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
  const systemMessages = messages.filter(({ role }) => role === "system" || role === "developer");
  return systemMessages.map(({ content }) => textIn(content)).join("\n");
}

/** Returns the text of a content: a string, a part, or a list of parts. */
function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  if (Array.isArray(content)) return content.map(textIn).filter(Boolean).join("\n");
  return isObject(content) && typeof content.text === "string" ? content.text : "";
}

function parsed(text: unknown): unknown {
  return typeof text === "string" ? (tryParse(text) ?? text) : text;
}
