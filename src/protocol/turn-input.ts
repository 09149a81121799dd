// Converts the JSON of a turn to model messages, for CLIs that speak the turn contract.
import { isObject, type JsonObject, tryParse } from "../json/object.ts";
import type { Message, Part } from "./message.ts";
import type { Turn, TurnCall, TurnMessage, TurnTool } from "./turn-contract.ts";

/** Returns the turn with its messages in the shape of the contract, or a sentence that says what is wrong with it. */
export function readTurn(value: unknown): { turn: Turn } | { problem: string } {
  if (!isObject(value) || value.type !== "turn") return { problem: 'it must be an object with "type": "turn"' };
  if (value.turnId !== undefined && typeof value.turnId !== "string") return { problem: "turnId must be a string" };
  if (!Array.isArray(value.messages) || value.messages.length === 0)
    return { problem: "messages must be a list with at least one message" };
  const messages: TurnMessage[] = [];
  for (const [index, given] of value.messages.entries()) {
    const message = readMessage(given);
    if (typeof message === "string") return { problem: `messages[${index}]: ${message}` };
    messages.push(message);
  }
  const tools = readTools(value.tools ?? []);
  if (typeof tools === "string") return { problem: tools };
  return { turn: { type: "turn", turnId: value.turnId ?? "", messages, tools } };
}

function readTools(toolsValue: unknown): TurnTool[] | string {
  if (!Array.isArray(toolsValue)) return "tools must be a list";
  const tools: TurnTool[] = [];
  for (const [index, tool] of toolsValue.entries()) {
    if (!isObject(tool) || typeof tool.name !== "string" || tool.name === "") return `tools[${index}] must have a name`;
    const schema = tool.schema ?? { type: "object" };
    if (!isObject(schema)) return `tools[${index}].schema must be an object`;
    if (tools.some(({ name }) => name === tool.name)) return `tools[${index}]: ${tool.name} is there twice`;
    const description = typeof tool.description === "string" ? { description: tool.description } : {};
    tools.push({ name: tool.name, schema, ...description });
  }
  return tools;
}

const roles = ["system", "developer", "user", "assistant", "tool"];

function readMessage(messageValue: unknown): TurnMessage | string {
  if (!isObject(messageValue)) return "a message must be an object";
  if (!roles.includes(messageValue.role as string)) return `role must be one of ${roles.join(", ")}`;
  const content = textOfContent(messageValue.content);
  if (content === undefined) return "content must be a string";
  const message: TurnMessage = { role: messageValue.role as string, content };
  if (typeof messageValue.name === "string") message.name = messageValue.name;
  if (typeof messageValue.tool_call_id === "string") message.tool_call_id = messageValue.tool_call_id;
  if (messageValue.tool_calls === undefined || messageValue.tool_calls === null) return message;
  if (!Array.isArray(messageValue.tool_calls)) return "tool_calls must be a list";
  const calls = messageValue.tool_calls.map(readCall);
  const wrong = calls.indexOf(undefined);
  if (wrong !== -1) return `tool_calls[${wrong}] must have a name and arguments`;
  return calls.length === 0 ? message : { ...message, tool_calls: calls as TurnCall[] };
}

/** Returns the text of a content, which may be a string, nothing, or a list of text blocks. */
function textOfContent(content: unknown): string | undefined {
  if (typeof content === "string") return content;
  if (content === null || content === undefined) return "";
  if (!Array.isArray(content)) return undefined;
  const isText = (block: unknown): block is { text: string } => isObject(block) && typeof block.text === "string";
  return content.every(isText) ? content.map(({ text }) => text).join("") : undefined;
}

/** Accepts `{id, name, args}`, or OpenAI's form: `{id, function: {name, arguments}}`. */
function readCall(callValue: unknown, index: number): TurnCall | undefined {
  if (!isObject(callValue)) return undefined;
  const inner: JsonObject = isObject(callValue.function) ? callValue.function : callValue;
  const raw = inner.args ?? inner.arguments ?? {};
  const args = typeof raw === "string" ? tryParse(raw) : raw;
  if (typeof inner.name !== "string" || !isObject(args)) return undefined;
  return { id: typeof callValue.id === "string" ? callValue.id : `call_${index + 1}`, name: inner.name, args };
}

export type TurnConversation = { system: string; messages: Message[] };

/**
 * Converts a turn to the form that vendors accept: results directly follow the calls they answer, each call has one, and a result
 * without a call becomes text.
 */
export function conversationOf({ messages }: Turn): TurnConversation {
  const system: string[] = [];
  const converted: Message[] = [];
  let open: { given: string; part: Extract<Part, { type: "tool_call" }> }[] = [];
  const ids = new Set<string>();
  const answer = (parts: Part[]) => {
    const last = converted.at(-1);
    if (last?.role === "user" && last.parts[0]?.type === "tool_result") last.parts.push(...parts);
    else converted.push({ role: "user", parts });
  };
  const closeCalls = () => {
    const missing = open.map(
      ({ part: { id } }): Part => ({ type: "tool_result", id, text: "No result was given.", isError: true }),
    );
    if (missing.length > 0) answer(missing);
    open = [];
  };
  for (const [index, message] of messages.entries()) {
    switch (message.role) {
      case "system":
      case "developer":
        system.push(message.content);
        break;
      case "tool": {
        const call =
          open.find(({ given }) => given === message.tool_call_id) ??
          open.find(({ part }) => part.name === message.name);
        open = open.filter((each) => each !== call);
        if (call) answer([{ type: "tool_result", id: call.part.id, text: message.content, isError: false }]);
        else {
          closeCalls();
          converted.push(textMessage("user", `Result of ${message.name ?? "a tool"}:\n${message.content}`));
        }
        break;
      }
      case "assistant": {
        closeCalls();
        open = (message.tool_calls ?? []).map(({ id: given, name, args }) => {
          const id = ids.has(given) ? `${given}_${index}_${ids.size}` : given;
          ids.add(id);
          return { given, part: { type: "tool_call", id, name, args } };
        });
        const calls = open.map(({ part }) => part);
        const text: Part[] = message.content === "" ? [] : [{ type: "text", text: message.content }];
        if (text.length + calls.length > 0) converted.push({ role: "assistant", parts: [...text, ...calls] });
        break;
      }
      default:
        closeCalls();
        converted.push(textMessage("user", message.content));
    }
  }
  closeCalls();
  return { system: system.join("\n\n"), messages: converted };
}

function textMessage(role: "user", text: string): Message {
  return { role, parts: [{ type: "text", text }] };
}
