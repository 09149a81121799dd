// The model that every agent is measured with: asked for a tool turn, it calls the agent's own shell tool once, whatever that is
// called and however its arguments are spelt.
import { type ModelAnswer, modelServer, type RecordedRequest } from "../../src/testing/kit/model-server.ts";

export type Schema = {
  type?: string | string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  required?: string[];
  enum?: unknown[];
  anyOf?: Schema[];
};
export type OfferedTool = { name: string; schema: Schema | undefined };

/** `${url}/text` and `${url}/tool` are the bases for the two kinds of turn. `special`: asked first. */
export function benchModel(special: (request: RecordedRequest) => ModelAnswer | undefined) {
  return modelServer((request) => sideAnswer(request) ?? special(request) ?? answer(request));
}

function answer(request: RecordedRequest): ModelAnswer {
  if (!request.path.startsWith("/tool/") || hasResult(request))
    return { text: request.path.startsWith("/tool/") ? "done" : "4" };
  const shell = shellOf(toolsIn(request.json));
  return shell ? { toolCalls: [{ name: shell.name, args: example(shell.schema) }] } : { text: "Hello" };
}

/** Did the agent run the command and say what came of it? */
export function hasResult(request: RecordedRequest): boolean {
  return resultCount(request) > 0;
}

/** How many calls the agent has said the results of. */
export function resultCount({ json }: RecordedRequest): number {
  const said: { role?: string; type?: string; content?: unknown; parts?: unknown }[] =
    json?.messages ?? json?.input ?? json?.contents ?? [];
  if (!Array.isArray(said)) return 0;
  return said.filter(
    ({ role, type = "", content, parts }) =>
      role === "tool" ||
      type.endsWith("_output") ||
      /"type":"tool_result"|"functionResponse"/.test(JSON.stringify(content ?? parts ?? "")),
  ).length;
}

export function toolsIn(json: any): OfferedTool[] {
  const offered: any[] = Array.isArray(json?.tools) ? json.tools : [];
  return offered
    .flatMap((tool) => tool.functionDeclarations ?? (tool.type === "namespace" ? tool.tools : [tool]))
    .map((tool) => ({
      name: tool.function?.name ?? tool.name ?? tool.type,
      schema: tool.function?.parameters ?? tool.input_schema ?? tool.parametersJsonSchema ?? tool.parameters,
    }));
}

/** The best name first. */
const shellNames = [
  /^(?:bash|shell|exec_command|shell_command|run_shell_command|execute_command|run_terminal_cmd)$/i,
  /(?:^|[_.-])(?:bash|shell|terminal)/i,
  /(?:exec|run)[_-]?(?:terminal)?[_-]?(?:command|cmd)/i,
];

export function shellOf(tools: readonly OfferedTool[]): OfferedTool | undefined {
  for (const pattern of shellNames) {
    const found = tools.find(({ name }) => pattern.test(name));
    if (found) return found;
  }
  return undefined;
}

const commandName = /^(?:command|commands|cmd|script|input|code)$/i;

/** What a schema asks for, with `echo hi` where a command belongs. */
function example(schema: Schema | undefined, name = "command"): unknown {
  const {
    type = "string",
    properties,
    items,
    required = [],
    enum: choices,
  } = schema?.anyOf?.find((each) => each.type !== "null") ?? schema ?? {};
  if (choices) return choices[0];
  switch (String([type].flat()[0]).toLowerCase()) {
    case "object": {
      const wanted = Object.entries(properties ?? {}).filter(
        ([key]) => commandName.test(key) || required.includes(key),
      );
      return Object.fromEntries(wanted.map(([key, value]) => [key, example(value, key)]));
    }
    case "array":
      if (!commandName.test(name)) return [];
      return items?.type === "object" ? [example(items)] : ["bash", "-c", "echo hi"];
    case "boolean":
      return false;
    case "number":
    case "integer":
      return 10_000;
    default:
      return commandName.test(name) ? "echo hi" : /dir|cwd|path/i.test(name) ? "." : "say hi";
  }
}

/** What some ask beside their turn, without a stream: titles, counts. */
function sideAnswer({ path, wire, json }: RecordedRequest): ModelAnswer | undefined {
  if (/count_tokens|:countTokens/.test(path)) return { body: { input_tokens: 10, totalTokens: 10 } };
  if (path.includes(":generateContent"))
    return { body: { candidates: [{ content: { role: "model", parts: [{ text: "hi" }] }, finishReason: "STOP" }] } };
  if (wire !== "openai-chat" || json?.stream) return undefined;
  const message = { role: "assistant", content: "hi" };
  return { body: { id: "1", object: "chat.completion", choices: [{ index: 0, message, finish_reason: "stop" }] } };
}
