// Describes each tool's calls in words: name, target and outcome, in one row per tool.
import { fieldsOf, isObject, type JsonObject, objectsIn, stringOrEmpty } from "../json/object.ts";
import { callName, displayNameOf } from "../protocol/tool-calls.ts";
import { collapsed } from "../text/one-line.ts";
import { byteSize, counted } from "./numbers.ts";
import { shownTodos } from "./todos.ts";

/** `target`, `where` (a place) and `by` (who runs it) come from the arguments; `outcome` is brief; `isTimed` always shows the duration. */
type Row = {
  target(args: JsonObject): string;
  where?(args: JsonObject): string;
  by?(args: JsonObject): string;
  outcome?(value: JsonObject, args: JsonObject): string;
  isTimed?: true;
};

const rows: Record<string, Row> = {
  shell: {
    target: ({ command }) => collapsed(stringOrEmpty(command)),
    where: ({ workingDirectory }) => stringOrEmpty(workingDirectory),
    // Returns "in background" for a command that was started there or moved there while it ran.
    outcome: ({ taskId }, { isBackground }) => (isBackground === true || taskId ? "in the background" : ""),
    isTimed: true,
  },
  edit: { target: path, outcome: changedLines },
  write: { target: path, outcome: ({ linesCreated }) => lineCount(linesCreated) },
  read: {
    target: path,
    outcome: ({ totalLines, readRange, content }, { offset, limit }) => {
      if (isObject(readRange) && (offset !== undefined || limit !== undefined))
        return `lines ${readRange.startLine}–${readRange.endLine}`;
      // The number of lines includes an empty one after a final line break.
      if (typeof totalLines === "number")
        return lineCount(stringOrEmpty(content).endsWith("\n") ? totalLines - 1 : Math.max(totalLines, 0));
      return "";
    },
  },
  ls: {
    target: path,
    outcome: ({ directoryTreeRoot }) =>
      isObject(directoryTreeRoot) ? counted(entriesBelow(directoryTreeRoot), "entry", "entries") : "",
  },
  glob: {
    target: ({ globPattern }) => stringOrEmpty(globPattern),
    where: ({ targetDirectory }) => stringOrEmpty(targetDirectory),
    outcome: ({ totalFiles, files }) => counted(numberOrUndefined(totalFiles) ?? listLength(files), "file"),
  },
  grep: {
    target: ({ pattern }) => stringOrEmpty(pattern),
    where: ({ path: folder, glob }) => stringOrEmpty(folder) || stringOrEmpty(glob),
    outcome: ({ workspaceResults }) => matchCount(workspaceResults),
  },
  delete: { target: path, outcome: () => "deleted · /rewind brings it back" },
  updateTodos: {
    target: () => "",
    outcome: ({ todos }, args) => {
      const all = shownTodos(todos ?? args.todos);
      const done = all.filter(({ state }) => state === "COMPLETED").length;
      return `${done} of ${all.length} done`;
    },
  },
  webFetch: {
    target: ({ url }) => stringOrEmpty(url),
    outcome: ({ markdown }) => byteSize(utf8Length(stringOrEmpty(markdown))),
  },
  webSearch: {
    target: ({ searchTerm, query }) => stringOrEmpty(searchTerm) || stringOrEmpty(query),
    outcome: ({ references }) => counted(listLength(references), "result"),
  },
  semSearch: { target: ({ query }) => stringOrEmpty(query) },
  task: {
    target: ({ description, prompt }) => stringOrEmpty(description) || collapsed(stringOrEmpty(prompt)),
    by: ({ subagentType }) => subagentName(subagentType),
    outcome: ({ isBackground }) => (isBackground === true ? "in the background" : ""),
    isTimed: true,
  },
  createPlan: { target: ({ name }) => stringOrEmpty(name) },
  askQuestion: {
    target: ({ title, questions }) => stringOrEmpty(title) || stringOrEmpty(objectsIn(questions)[0]?.prompt),
    outcome: ({ answers }) => (listLength(answers) > 0 ? "answered" : ""),
  },
  mcp: {
    target: ({ providerIdentifier, serverIdentifier, toolName, name, args }) =>
      collapsed(
        [
          stringOrEmpty(providerIdentifier) || stringOrEmpty(serverIdentifier),
          stringOrEmpty(toolName) || stringOrEmpty(name),
          briefArguments(args),
        ].join(" "),
      ),
    isTimed: true,
  },
  readMcpResource: { target: ({ uri }) => stringOrEmpty(uri), where: ({ server }) => stringOrEmpty(server) },
  listMcpResources: {
    target: ({ server }) => stringOrEmpty(server),
    outcome: ({ resources }) => counted(listLength(resources), "resource"),
  },
  await: { target: ({ taskId }) => stringOrEmpty(taskId), isTimed: true },
};

/** Arguments that describe an unknown tool's call: the first one present is shown. */
const describing = ["command", "path", "file_path", "pattern", "query", "url", "name", "title", "description"];

export type CallWords = { name: string; target: string; where: string; by: string; outcome: string; isTimed: boolean };

export function wordsOfCall(tool: string, argsValue: unknown, result: unknown): CallWords {
  const args = fieldsOf(argsValue);
  const value = fieldsOf(result);
  const row = Object.hasOwn(rows, tool) ? rows[tool] : undefined;
  if (!row) {
    const key = describing.find((each) => stringOrEmpty(args[each]) !== "");
    return {
      name: callName(tool, args, value),
      target: collapsed(key === undefined ? briefArguments(args) : stringOrEmpty(args[key])),
      where: "",
      by: "",
      outcome: "",
      isTimed: false,
    };
  }
  return {
    name: callName(tool, args, value),
    target: row.target(args),
    where: row.where?.(args) ?? "",
    by: row.by?.(args) ?? "",
    outcome: isObject(result) ? (row.outcome?.(value, args) ?? "") : "",
    isTimed: row.isTimed === true,
  };
}

/** Returns the display name of a tool from its model name: `Shell` is shown as Bash. */
export function cardName(tool: string): string {
  const wire = Object.keys(rows).find((each) => displayNameOf(each) === tool);
  return wire === undefined ? tool : callName(wire, {});
}

function path(args: JsonObject): string {
  return stringOrEmpty(args.path);
}

function changedLines({ linesAdded, linesRemoved }: JsonObject): string {
  const [added, removed] = [numberOrUndefined(linesAdded), numberOrUndefined(linesRemoved)];
  if (added === undefined || removed === undefined) return "";
  return [added > 0 || removed === 0 ? `+${added}` : "", removed > 0 ? `−${removed}` : ""].filter(Boolean).join(" ");
}

function lineCount(lines: unknown): string {
  return typeof lines === "number" ? counted(lines, "line") : "";
}

function entriesBelow({ childrenDirs, childrenFiles }: JsonObject): number {
  return objectsIn(childrenDirs).length + objectsIn(childrenFiles).length;
}

function matchCount(results: unknown): string {
  if (!isObject(results)) return "";
  let matches = 0;
  let files = 0;
  for (const { content, files: listed, count } of Object.values(results).filter(isObject)) {
    if (isObject(content)) {
      matches +=
        numberOrUndefined(content.totalMatchedLines) ??
        objectsIn(content.matches).flatMap((file) => objectsIn(file.matches)).length;
      files += objectsIn(content.matches).length;
    }
    if (isObject(listed)) files += numberOrUndefined(listed.totalFiles) ?? listLength(listed.files);
    if (isObject(count)) matches += numberOrUndefined(count.totalMatches) ?? 0;
  }
  if (matches === 0) return files === 0 ? "no matches" : counted(files, "file");
  return files > 1 ? `${counted(matches, "match", "matches")} in ${files} files` : counted(matches, "match", "matches");
}

function subagentName(type: unknown): string {
  if (!isObject(type)) return "";
  const [kind, custom] = Object.entries(type)[0] ?? ["", undefined];
  return isObject(custom) && stringOrEmpty(custom.name) !== "" ? stringOrEmpty(custom.name) : kind;
}

function briefArguments(args: unknown): string {
  if (!isObject(args)) return "";
  return Object.entries(args)
    .map(([key, value]) => `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(" ");
}

function numberOrUndefined(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

function listLength(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}
