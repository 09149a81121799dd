// Normalizes a host's tool call: one name for the tool, its arguments, and the files they name.
import { isObject, type JsonObject, textIn, tryParse } from "../json/object.ts";
import { geminiToolNames } from "../protocol/hook-events.ts";
import { BridgeError, requiredText } from "./host.ts";

/** The names that hosts have for the same tool. Other names are kept. */
const sameTool: Record<string, string> = {
  ...Object.fromEntries(Object.entries(geminiToolNames).map(([tool, name]) => [name, tool])),
  run_shell_command: "Bash",
  search_file_content: "Grep",
  Shell: "Bash",
  apply_patch: "Edit",
  Agent: "Task",
};

export function callFields(nativeTool: string, rawInput: unknown, fixed: { tool?: string } = {}): JsonObject {
  const mcp = fixed.tool === "MCP" ? { tool: nativeTool } : mcpName(nativeTool);
  const tool = fixed.tool ?? (mcp ? "MCP" : (sameTool[nativeTool] ?? nativeTool));
  const input = inputOf(rawInput);
  // Throw if the command is missing: a guard that cannot see the command must not allow it.
  if (tool === "Bash" && typeof input["command"] !== "string")
    throw new BridgeError("PAYLOAD", 'the payload is about a shell, but has no string "command"');
  return { tool, nativeTool, input, paths: pathsIn(input), mcp };
}

/** The call in a payload that names its tool, its input and its id. */
export function namedCall(payload: JsonObject): JsonObject {
  return {
    ...callFields(requiredText(payload, "tool_name"), payload["tool_input"]),
    callId: textIn(payload, "tool_use_id"),
  };
}

/** Parses `MCP:tool`, `mcp__server__tool`, and Gemini's `mcp_server_tool`, where a server's name has no underscore. */
function mcpName(name: string): { server?: string; tool: string } | undefined {
  if (name.startsWith("MCP:")) return { tool: name.slice(4) };
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? /^mcp_([^_]+)_(.+)$/.exec(name) ?? [];
  return tool === undefined ? undefined : { server, tool };
}

/** Returns the input of a call, which some events have as JSON in a string. */
function inputOf(raw: unknown): JsonObject {
  const value = typeof raw === "string" ? tryParse(raw) : raw;
  if (isObject(value)) return value;
  return raw === undefined || raw === null ? {} : { input: raw };
}

function pathsIn(input: JsonObject): string[] {
  const named = ["file_path", "path", "notebook_path", "target_file"].map((key) => input[key]);
  const listed = Array.isArray(input["file_paths"]) ? (input["file_paths"] as unknown[]) : [];
  const texts = [...named, ...listed].filter((value) => typeof value === "string");
  const patch = input["command"];
  if (typeof patch === "string" && patch.includes("*** Begin Patch")) {
    for (const [, path] of patch.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\r?$/gm))
      texts.push(path!);
  }
  return [...new Set(texts)];
}

/** Returns a result, parsed if it is JSON in a string. */
export function outputOf(raw: unknown): unknown {
  return typeof raw === "string" ? (tryParse(raw) ?? raw) : raw;
}
