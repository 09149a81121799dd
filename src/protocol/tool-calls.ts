// Args and results of each tool, as the wire spells them; where the tool and the outcome stand in a call.

import { isObject, type JsonObject } from "../json/object.ts";
import type { Outcome } from "./event.ts";

export type * from "./tool-shapes.ts";

/** How a finished call is to be judged. No outcome at all is "unknown": success is never invented. */
export type OutcomeGroup = "ok" | "failed" | "refused" | "unknown";

const groups: readonly [OutcomeGroup, kinds: string[]][] = [
  ["ok", ["success", "startSuccess", "saveSuccess", "discardSuccess", "async"]],
  ["failed", ["error", "failure", "timeout", "spawnError", "fileNotFound", "notFile", "notFound", "fileBusy"]],
  ["refused", ["rejected", "permissionDenied", "readPermissionDenied", "writePermissionDenied"]],
];
const outcomeGroups = new Map(groups.flatMap(([group, kinds]) => kinds.map((kind) => [kind, group])));

export const outcomeKinds: readonly string[] = [...outcomeGroups.keys()];

/** An MCP tool that failed says so inside a `success`. */
export function outcomeGroupOf(outcome: Outcome | undefined): OutcomeGroup {
  if (!outcome) return "unknown";
  if (outcome.kind === "success" && isObject(outcome.value) && outcome.value.isError === true) return "failed";
  return outcomeGroups.get(outcome.kind) ?? "unknown";
}

const toolSuffix = "ToolCall";

/** The key that names the tool: it ends in `ToolCall` and holds an object, wherever it stands. */
export function toolKeyOf(toolCall: JsonObject): string | undefined {
  for (const key in toolCall) {
    if (key.length > toolSuffix.length && key.endsWith(toolSuffix) && isObject(toolCall[key])) return key;
  }
  return undefined;
}

/** "readToolCall" -> "read". */
export function toolOfKey(key: string): string {
  return key.slice(0, -toolSuffix.length);
}

/** "read" -> "readToolCall". */
export function keyOfTool(tool: string): string {
  return tool + toolSuffix;
}

/** The first known outcome, else the first key that holds an object; the rest are its siblings. */
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

/** Why a call failed or was refused, in the tool's own words. Undefined: it did not fail. */
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

/** Where a capital is not all. */
const modelNames: ReadonlyMap<string, string> = new Map([
  ["ls", "LS"],
  ["updateTodos", "TodoWrite"],
  ["semSearch", "SemanticSearch"],
  ["mcp", "MCP"],
]);

/** How the wire spells a tool that it does not know, as it spells those it knows: Search_docs -> searchDocs. */
export function unknownWireName(name: string): string {
  const words = name.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const joined = words
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join("");
  return joined === "" ? "unknown" : joined.charAt(0).toLowerCase() + joined.slice(1);
}

/** The wire's name as a model and a reader know it: read -> Read. */
export function displayNameOf(tool: string): string {
  return modelNames.get(tool) ?? tool.charAt(0).toUpperCase() + tool.slice(1);
}

/** What people call tools, where it is not what models call them. */
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

/** What people call the tool of a call, in the terminal, the studio and exports. `value`: what came of it, once that is known. */
export function callName(tool: string, args: unknown, value?: unknown): string {
  if (tool === "edit")
    return writesNewFile(isObject(args) ? args : {}, isObject(value) ? value : {}) ? "Write" : "Edit";
  return shownNames.get(tool) ?? displayNameOf(tool);
}

/** The wire has one tool for both: a file that is new has no content before. */
function writesNewFile(args: JsonObject, value: JsonObject): boolean {
  if (Number(value.linesRemoved) > 0) return false;
  if ("afterFullFileContent" in value) return !("beforeFullFileContent" in value);
  return "streamContent" in args && !["strReplace", "multiStrReplace", "applyPatch"].some((key) => key in args);
}
