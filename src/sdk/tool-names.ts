// Maps the tool names of each CLI to unified names, and converts calls of other CLIs to calls of Courser's tools.
import { isObject, type JsonObject } from "../json/object.ts";
import { shellLine } from "./shell-line.ts";
import type { UnifiedTool, UnifiedToolUseBlock } from "./unified.ts";

type ToolNames = Readonly<Record<string, readonly string[]>>;

/** The CLI's own names of each tool, keyed by unified name, if they differ. */
const namesOfTools: Record<string, ToolNames> = {
  cursor: { Bash: ["Shell"], Ls: ["LS"], Edit: ["StrReplace"], Mcp: ["MCP"] },
  claude: { Ls: ["LS"], Edit: ["MultiEdit"], Task: ["Agent"] },
  codex: {
    Bash: ["shell", "shell_command", "exec_command", "container.exec", "local_shell", "local_shell_call"],
    Read: ["read_file", "view_image"],
    Edit: ["file_change"],
    Ls: ["list_dir"],
    Grep: ["grep_files"],
    WebSearch: ["web_search"],
    TodoWrite: ["update_plan"],
  },
  gemini: {
    Bash: ["run_shell_command"],
    Read: ["read_file"],
    Write: ["write_file"],
    Edit: ["replace"],
    Ls: ["list_directory"],
    Grep: ["search_file_content", "grep_search"],
    Glob: ["glob"],
    WebFetch: ["web_fetch"],
    WebSearch: ["google_web_search"],
    TodoWrite: ["write_todos"],
  },
  opencode: {
    Bash: ["bash"],
    Read: ["read"],
    Write: ["write"],
    Edit: ["edit"],
    Ls: ["list"],
    Grep: ["grep"],
    Glob: ["glob"],
    WebFetch: ["webfetch"],
    WebSearch: ["websearch"],
    TodoWrite: ["todowrite"],
    Task: ["task"],
  },
  pi: { Bash: ["bash"], Read: ["read"], Write: ["write"], Edit: ["edit"], Ls: ["ls"], Grep: ["grep"], Glob: ["find"] },
};

/** Makes the names of another CLI's tools known; `defineAgent` does. */
export function nameTools(tool: UnifiedTool, names: ToolNames): void {
  namesOfTools[tool] = names;
}

/** Returns the unified name of a CLI's tool. Unknown names are returned unchanged. */
export function unifiedToolName(tool: UnifiedTool, name: string): string {
  // Hooks receive `MCP:` and the name of the server's tool.
  if (tool === "cursor" && name.startsWith("MCP:")) return "Mcp";
  // Gemini names them mcp_<server>_<tool>; the server's name has no underscore.
  const [, server, mcpTool] = (tool === "gemini" && /^mcp_([^_]+)_(.+)$/.exec(name)) || [];
  if (server !== undefined) return `mcp__${server}__${mcpTool}`;
  return Object.entries(namesOfTools[tool] ?? {}).find(([, names]) => names.includes(name))?.[0] ?? name;
}

const ownNames = new Map(Object.entries({ Bash: "Shell", Ls: "LS", Mcp: "MCP", AskUserQuestion: "AskQuestion" }));

/** Converts a call to the form of Courser's tools. Calls of cursor keep their arguments. */
export function ownCallOf(block: UnifiedToolUseBlock, tool: UnifiedTool): { name: string; args: unknown } {
  const name = ownNames.get(block.name) ?? block.name;
  if (tool === "cursor" || !isObject(block.input)) return { name, args: block.input };
  return { name, args: ownArguments.get(block.name)?.(block.input) ?? block.input };
}

type Respell = (input: JsonObject) => JsonObject | undefined;

const ownArguments: ReadonlyMap<string, Respell> = new Map<string, Respell>([
  ["Read", (input) => renameFields(input, paths)],
  ["Write", (input) => renameFields(input, paths)],
  ["Ls", (input) => renameFields(input, { ...paths, dir_path: "path" })],
  ["Glob", (input) => renameFields(input, { ...paths, dir_path: "path" })],
  ["Grep", (input) => renameFields(input, { ...paths, dir_path: "path", output_mode: "outputMode", include: "glob" })],
  ["Edit", editArguments],
  ["Bash", shellArguments],
  ["TodoWrite", todoArguments],
]);

const paths = { file_path: "path", absolute_path: "path", filePath: "path" };

function renameFields(input: JsonObject, names: Record<string, string>): JsonObject {
  const nameOf = (key: string) => (Object.hasOwn(names, key) ? names[key]! : key);
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [nameOf(key), value]));
}

function editArguments(input: JsonObject): JsonObject | undefined {
  const editList = Array.isArray(input.edits) ? input.edits.filter(isObject) : [input];
  const edits = editList.map((each) => ({
    oldText: each.old_string ?? each.oldString ?? each.oldText,
    newText: each.new_string ?? each.newString ?? each.newText,
    ...((each.replace_all === true || each.replaceAll === true || each.allow_multiple === true) && {
      replaceAll: true,
    }),
  }));
  const isWhole = edits.every((each) => typeof each.oldText === "string" && typeof each.newText === "string");
  return isWhole ? { path: input.file_path ?? input.filePath ?? input.path, edits } : renameFields(input, paths);
}

/** Accepts a command line or its words: `["bash", "-lc", "ls"]` becomes `ls`. */
function shellArguments(input: JsonObject): JsonObject | undefined {
  const commandValue = input.command ?? input.cmd;
  const command = Array.isArray(commandValue) ? joinShellWords(commandValue.map(String)) : commandValue;
  if (typeof command !== "string") return undefined;
  const directory = input.workdir ?? input.working_directory ?? input.dir_path ?? input.directory;
  const timeout = input.timeout ?? input.timeout_ms;
  return {
    command,
    ...(typeof directory === "string" && directory !== "" && { workingDirectory: directory }),
    ...(typeof timeout === "number" && { timeout }),
    ...((input.run_in_background === true || input.is_background === true) && { isBackground: true }),
    ...(typeof input.description === "string" && { description: input.description }),
  };
}

function joinShellWords(words: readonly string[]): string {
  const [program = "", option = "", script] = words;
  if (words.length === 3 && /(^|\/)(ba|z|da)?sh$/.test(program) && /^-l?c$/.test(option)) return script!;
  return shellLine(words, "linux");
}

const statuses = new Set(["pending", "in_progress", "completed", "cancelled"]);

function todoArguments(input: JsonObject): JsonObject | undefined {
  const todoList = input.todos ?? input.plan;
  if (!Array.isArray(todoList)) return undefined;
  const todos = todoList.filter(isObject).map((each, index) => ({
    id: typeof each.id === "string" ? each.id : String(index + 1),
    content: String(each.content ?? each.step ?? each.description ?? ""),
    status: statuses.has(String(each.status)) ? each.status : "pending",
  }));
  return { todos };
}
