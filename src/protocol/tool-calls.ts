// Finds the tool and the outcome in a tool call, classifies outcomes, and names tools for models and people.

import { fieldsOf, isObject, type JsonObject } from "../json/object.ts";
import type { Outcome } from "./event.ts";

export type * from "./tool-shapes.ts";

/** The classification of a finished call. A missing outcome is "unknown", never a success. */
export type OutcomeGroup = "ok" | "failed" | "refused" | "unknown";

const groups: readonly [OutcomeGroup, kinds: string[]][] = [
  ["ok", ["success", "startSuccess", "saveSuccess", "discardSuccess", "async"]],
  ["failed", ["error", "failure", "timeout", "spawnError", "fileNotFound", "notFile", "notFound", "fileBusy"]],
  ["refused", ["rejected", "permissionDenied", "readPermissionDenied", "writePermissionDenied"]],
];
const outcomeGroups = new Map(groups.flatMap(([group, kinds]) => kinds.map((kind) => [kind, group])));

/** The kinds of outcomes that tool calls can have. */
export const outcomeKinds: readonly string[] = [...outcomeGroups.keys()];

/** Classifies an outcome. A failed MCP tool is reported inside a `success`. */
export function outcomeGroupOf(outcome: Outcome | undefined): OutcomeGroup {
  if (!outcome) return "unknown";
  if (outcome.kind === "success" && isObject(outcome.value) && outcome.value.isError === true) return "failed";
  return outcomeGroups.get(outcome.kind) ?? "unknown";
}

const toolSuffix = "ToolCall";

/** Finds the key that names the tool: it ends in `ToolCall` and holds an object, at any position. */
export function toolKeyOf(toolCall: JsonObject): string | undefined {
  for (const key in toolCall) {
    if (key.length > toolSuffix.length && key.endsWith(toolSuffix) && isObject(toolCall[key])) return key;
  }
  return undefined;
}

/** Converts "readToolCall" to "read". */
export function toolOfKey(key: string): string {
  return key.slice(0, -toolSuffix.length);
}

/** Converts "read" to "readToolCall". */
export function keyOfTool(tool: string): string {
  return tool + toolSuffix;
}

/** Returns the outcome in a result: the first known kind, or else the first key with an object. */
export function outcomeOf(result: unknown): Outcome | undefined {
  if (!isObject(result)) return undefined;
  const keys = Object.keys(result);
  const kind = keys.find((key) => outcomeGroups.has(key)) ?? keys.find((key) => isObject(result[key]));
  if (kind === undefined) return undefined;
  if (keys.length === 1) return { kind, value: result[kind] };
  const { [kind]: value, ...siblings } = result;
  return { kind, value, siblings };
}

const errorFields = ["errorMessage", "error", "reason", "clientVisibleError", "modelVisibleError", "message", "stderr"];

/** Returns why a call failed or was refused, in the tool's own words, or undefined if it did not fail. */
export function errorTextOf(outcome: Outcome | undefined): string | undefined {
  const group = outcomeGroupOf(outcome);
  if (!outcome || group === "ok" || group === "unknown") return undefined;
  if (typeof outcome.value === "string") return outcome.value;
  if (!isObject(outcome.value)) return outcome.kind;
  for (const field of errorFields) {
    const text = outcome.value[field];
    if (typeof text === "string" && text !== "") return text;
  }
  if (Array.isArray(outcome.value.content)) return textOfContent(outcome.value.content) || outcome.kind;
  if (typeof outcome.value.exitCode === "number") return `exit code ${outcome.value.exitCode}`;
  return outcome.kind;
}

function textOfContent(content: unknown[]): string {
  return content
    .map((item) => (isObject(item) && isObject(item.text) && typeof item.text.text === "string" ? item.text.text : ""))
    .join("");
}

/** Tool names for the model that differ from the wire name by more than a capital letter. */
const modelNames: ReadonlyMap<string, string> = new Map([
  ["ls", "LS"],
  ["updateTodos", "TodoWrite"],
  ["semSearch", "SemanticSearch"],
  ["mcp", "MCP"],
]);

/** Spells an unknown tool in the style of the wire: Search_docs -> searchDocs. */
export function unknownWireName(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const joined = words
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join("");
  return joined === "" ? "unknown" : joined.charAt(0).toLowerCase() + joined.slice(1);
}

/** Converts a wire name to the name that models see: read -> Read. */
export function displayNameOf(tool: string): string {
  return modelNames.get(tool) ?? tool.charAt(0).toUpperCase() + tool.slice(1);
}

/** Names shown to people that differ from those that models see. */
const shownNames: ReadonlyMap<string, string> = new Map([
  ["shell", "Bash"],
  ["ls", "List"],
  ["updateTodos", "Todo"],
  ["mcp", "Mcp"],
  ["createPlan", "Plan"],
  ["askQuestion", "Question"],
  ["readMcpResource", "Resource"],
  ["listMcpResources", "Resources"],
  ["await", "Wait"],
]);

/** Returns the tool name shown in the terminal, the studio and exports. `value` is the call's result, once known. */
export function callName(tool: string, args: unknown, value?: unknown): string {
  if (tool === "edit") return writesNewFile(fieldsOf(args), fieldsOf(value)) ? "Write" : "Edit";
  return shownNames.get(tool) ?? displayNameOf(tool);
}

/** The wire uses one tool for writing and editing; a new file has no earlier content. */
function writesNewFile(args: JsonObject, value: JsonObject): boolean {
  if (Number(value.linesRemoved) > 0) return false;
  if ("afterFullFileContent" in value) return !("beforeFullFileContent" in value);
  return "streamContent" in args && !["strReplace", "multiStrReplace", "applyPatch"].some((key) => key in args);
}
