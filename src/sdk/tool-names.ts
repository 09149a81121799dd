// What the tools of each CLI are called in unified messages, and how a call of another CLI is spelled as one of ours.
import { isObject, type JsonObject } from "../json/object.ts";
import { shellLine } from "./shell-line.ts";
import type { UnifiedTool, UnifiedToolUseBlock } from "./unified.ts";

const unifiedNames: Record<UnifiedTool, ReadonlyMap<string, string>> = {
  cursor: new Map([
    ["Shell", "Bash"],
    ["LS", "Ls"],
    ["StrReplace", "Edit"],
    ["MCP", "Mcp"],
  ]),
  claude: new Map([
    ["LS", "Ls"],
    ["MultiEdit", "Edit"],
    ["Agent", "Task"],
    ["AskUserQuestion", "AskQuestion"],
  ]),
  codex: new Map([
    ["shell", "Bash"],
    ["shell_command", "Bash"],
    ["exec_command", "Bash"],
    ["container.exec", "Bash"],
    ["local_shell", "Bash"],
    ["local_shell_call", "Bash"],
    ["file_change", "Edit"],
    ["update_plan", "TodoWrite"],
    ["view_image", "Read"],
    ["read_file", "Read"],
    ["list_dir", "Ls"],
    ["grep_files", "Grep"],
    ["web_search", "WebSearch"],
  ]),
  gemini: new Map([
    ["run_shell_command", "Bash"],
    ["read_file", "Read"],
    ["write_file", "Write"],
    ["replace", "Edit"],
    ["list_directory", "Ls"],
    ["search_file_content", "Grep"],
    ["grep_search", "Grep"],
    ["glob", "Glob"],
    ["web_fetch", "WebFetch"],
    ["google_web_search", "WebSearch"],
    ["write_todos", "TodoWrite"],
  ]),
};

/** A name that means nothing to us stays. */
export function unifiedToolName(tool: UnifiedTool, name: string): string {
  // Hooks are told which tool of a server it is.
  if (tool === "cursor" && name.startsWith("MCP:")) return "Mcp";
  return unifiedNames[tool].get(name) ?? name;
}

const ownNames: ReadonlyMap<string, string> = new Map([
  ["Bash", "Shell"],
  ["Ls", "LS"],
  ["Mcp", "MCP"],
]);

/** The call as our model would have made it. Ours comes back as it was. */
export function ownCallOf(block: UnifiedToolUseBlock, tool: UnifiedTool): { name: string; args: unknown } {
  const name = ownNames.get(block.name) ?? block.name;
  if (tool === "cursor" || !isObject(block.input)) return { name, args: block.input };
  return { name, args: ownArguments.get(block.name)?.(block.input) ?? block.input };
}

type Respell = (input: JsonObject) => JsonObject | undefined;

const ownArguments: ReadonlyMap<string, Respell> = new Map<string, Respell>([
  ["Read", (input) => renamed(input, paths)],
  ["Write", (input) => renamed(input, paths)],
  ["Ls", (input) => renamed(input, { ...paths, dir_path: "path" })],
  ["Glob", (input) => renamed(input, { ...paths, dir_path: "path" })],
  ["Grep", (input) => renamed(input, { ...paths, dir_path: "path", output_mode: "outputMode", include: "glob" })],
  ["Edit", editArguments],
  ["Bash", shellArguments],
  ["TodoWrite", todoArguments],
]);

const paths = { file_path: "path", absolute_path: "path" };

function renamed(input: JsonObject, names: Record<string, string>): JsonObject {
  const nameOf = (key: string) => (Object.hasOwn(names, key) ? names[key]! : key);
  return Object.fromEntries(Object.entries(input).map(([key, value]) => [nameOf(key), value]));
}

function editArguments(input: JsonObject): JsonObject | undefined {
  const given = Array.isArray(input.edits) ? input.edits.filter(isObject) : [input];
  const edits = given.map((each) => ({
    oldText: each.old_string,
    newText: each.new_string,
    ...(each.replace_all === true && { replaceAll: true }),
  }));
  const isWhole = edits.every((each) => typeof each.oldText === "string" && typeof each.newText === "string");
  return isWhole ? { path: input.file_path, edits } : undefined;
}

/** A command line, or the words of one: `["bash", "-lc", "ls"]` is `ls`. */
function shellArguments(input: JsonObject): JsonObject | undefined {
  const given = input.command ?? input.cmd;
  const command = Array.isArray(given) ? lineOf(given.map(String)) : given;
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

function lineOf(words: readonly string[]): string {
  const [program = "", option = "", script] = words;
  if (words.length === 3 && /(^|\/)(ba|z|da)?sh$/.test(program) && /^-l?c$/.test(option)) return script!;
  return shellLine(words, "linux");
}

const statuses = new Set(["pending", "in_progress", "completed", "cancelled"]);

function todoArguments(input: JsonObject): JsonObject | undefined {
  const given = input.todos ?? input.plan;
  if (!Array.isArray(given)) return undefined;
  const todos = given.filter(isObject).map((each, index) => ({
    id: typeof each.id === "string" ? each.id : String(index + 1),
    content: String(each.content ?? each.step ?? each.description ?? ""),
    status: statuses.has(String(each.status)) ? each.status : "pending",
  }));
  return { todos };
}
