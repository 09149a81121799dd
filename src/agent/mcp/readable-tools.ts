// Repairs tools in a server's answer that the protocol does not allow: the whole answer would be refused for one of them.
import { isObject, type JsonObject } from "../../json/object.ts";

/** Returns the message unchanged unless it lists such tools. A list without any tool stays what it is: a fault of the server. */
export function withReadableTools<Message>(message: Message): Message {
  const result = isObject(message) ? message["result"] : undefined;
  if (!isObject(result) || !Array.isArray(result["tools"])) return message;
  const named = result["tools"].filter((tool) => isObject(tool) && typeof tool["name"] === "string");
  if (named.length === 0) return message;
  const tools = named.map((tool) => (isReadable(tool) ? tool : repairTool(tool)));
  return { ...message, result: { ...result, tools } };
}

function isReadable({ inputSchema, ...rest }: JsonObject): boolean {
  if (!isObject(inputSchema) || inputSchema["type"] !== "object") return false;
  const { properties = {}, required = [] } = inputSchema;
  const areFields = isObject(properties) && Object.values(properties).every((field) => field !== null);
  const areNames = Array.isArray(required) && required.every((name) => typeof name === "string");
  return areFields && areNames && Object.values(rest).every((value) => value !== null);
}

/** Removes fields that are null from a tool's description, since some servers send null for absent fields. */
function repairTool(tool: JsonObject): JsonObject {
  const { properties, required, ...rest } = isObject(tool["inputSchema"]) ? tool["inputSchema"] : {};
  const fields = isObject(properties) ? Object.entries(properties).map(([name, field]) => [name, field ?? {}]) : [];
  const names = Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
  return {
    ...Object.fromEntries(Object.entries(tool).filter(([, value]) => value !== null)),
    inputSchema: { ...rest, type: "object", properties: Object.fromEntries(fields), required: names },
  };
}
