// SemanticSearch: finds code by what it does, from a question in words.
import { relative, resolve } from "node:path";
import * as v from "valibot";
import { isInside } from "../../policy/paths.ts";
import { shortened } from "../../text/one-line.ts";
import type { FolderContext } from "../code-search/folders.ts";
import { absolutePath, openFile } from "../files.ts";
import { type Search as FileSearch, listFiles, searchAt, unreadNote } from "../ripgrep.ts";
import { fittingLines, pathArgument, tool } from "./define.ts";
import { failure, type ToolContext } from "./tool.ts";

const maxResults = 8;

export const semSearch = tool({
  name: "SemanticSearch",
  wire: "semSearch",
  aliases: ["codebase_search", "SemSearch", "code_search"],
  description: "Find code by meaning: ask in words where or how something is done. For exact text use Grep.",
  readOnly: true,
  args: v.object({
    query: v.pipe(
      v.string(),
      v.check((text) => text.trim() !== "", "must not be empty"),
    ),
    targetDirectories: v.optional(v.array(pathArgument())),
    explanation: v.optional(v.string()),
  }),
  spellings: { target_directories: "targetDirectories", directories: "targetDirectories", question: "query" },
  wireArgs: ({ query, targetDirectories = [], explanation }) => ({
    query,
    targetDirectories,
    ...(explanation !== undefined && { explanation }),
  }),
  needs: ({ targetDirectories = [] }, context) =>
    (targetDirectories.length > 0 ? targetDirectories : ["."]).map((path) => ({
      kind: "Read",
      target: absolutePath(path, context),
    })),
  async run({ query, targetDirectories = [] }, context) {
    const { searchFolders } = await import("../code-search/folders.ts");
    const { hits, notices, unread } = await searchFolders(query, await searchFoldersOf(targetDirectories, context), {
      most: maxResults,
      indexDir: context.codeSearch?.configDir,
      embeddings: context.codeSearch?.embeddings,
      env: context.web?.env,
      signal: context.signal,
      read: (path) => bytesOf(path, context),
      progress: context.print,
    });
    const results = resultText(hits, context) || (context.codeSearch?.embeddings ? "Nothing was found." : foundNothing);
    const text = [results, ...notices.map((notice) => `[${notice}]`)].join("\n");
    return { outcome: { kind: "success", value: { results } }, text: text + unreadNote([...new Set(unread)].sort()) };
  },
});

const foundNothing =
  "Nothing was found. The search is by words: search for identifiers in the language of the code, or use Grep.";

/** Folders in the workspace share its index; a folder outside, or one that ignore files hide, gets its own. */
async function searchFoldersOf(targets: readonly string[], context: ToolContext): Promise<FolderContext[]> {
  const whole = await searchAt(undefined, context);
  const { files, unread } = await listFiles(whole, context);
  if (targets.length === 0) return [{ folder: whole.folder, files, unread, isWanted: () => true }];
  const inside: string[] = [];
  const places: FolderContext[] = [];
  for (const target of targets) {
    const search = await searchAt(target, context);
    const real = resolve(search.folder, search.start);
    const below = relative(whole.folder, real);
    if (isInside(real, whole.folder) && files.some((file) => isBelow(file, below))) inside.push(below);
    else places.push(await ownFolder(search, real, context));
  }
  const isWanted = (path: string) => inside.some((below) => isBelow(path, below));
  if (inside.length > 0) places.unshift({ folder: whole.folder, files, unread: unread.filter(isWanted), isWanted });
  return places;
}

async function ownFolder(search: FileSearch, real: string, context: ToolContext): Promise<FolderContext> {
  if (search.isFile) throw failure(`${real} is a file: targetDirectories names folders.`);
  const wholeWorkspace = { folder: real, start: "./", isFile: false };
  const { files, unread } = await listFiles(wholeWorkspace, context);
  return { folder: real, files, unread, isWanted: () => true };
}

function isBelow(path: string, folder: string): boolean {
  return folder === "" || path === folder || path.startsWith(`${folder}/`);
}

/** Reads the file as it is now, but only if it is still at the listed path, which is known to be readable. */
async function bytesOf(path: string, context: ToolContext): Promise<Uint8Array | undefined> {
  try {
    const { handle, real } = await openFile(path, context);
    try {
      if (real !== path) return undefined;
      const buffer = Buffer.alloc(256 * 1024);
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch {
    return undefined; // the file was removed after it was listed
  }
}

type ShownFile = {
  path: string;
  chunks: readonly { startLine: number; endLine: number; from: number; to: number }[];
  bytes: Uint8Array;
};

const maxCharacters = 6000;
/** One result may use at most a quarter of the remaining length, or more when fewer results are left. */
const shares = 4;

function resultText(hits: readonly ShownFile[], { workspace, resultLimit }: ToolContext): string {
  const results: string[] = [];
  let left = Math.min(resultLimit, maxCharacters);
  const places = hits.flatMap(({ path, chunks, bytes }) => chunks.map((chunk) => ({ path, bytes, ...chunk })));
  for (const [index, { path, bytes, startLine, from, to }] of places.entries()) {
    const name = isInside(path, workspace) ? relative(workspace, path) : path;
    const text = Buffer.from(bytes.subarray(from, to)).toString("utf8").replace(/\s+$/, "");
    const head = (endLine: number) =>
      `<search_result path="${attribute(name)}" startLine="${startLine}" endLine="${endLine}">`;
    const frame = `${head(99_999)}\n\n</search_result>`.length;
    const lines = content(text).split("\n");
    const room = left / Math.min(places.length - index, shares) - frame;
    const shownCount = Math.max(1, lines.length - fittingLines(lines, room).left);
    const result = `${head(startLine + shownCount - 1)}\n${lines.slice(0, shownCount).join("\n")}\n</search_result>`;
    if (result.length > left) break;
    left -= result.length + 1;
    results.push(result);
  }
  return results.join("\n");
}

function attribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}

/** Escapes the closing tag in code and shortens very long, probably generated, lines. */
function content(text: string): string {
  return text
    .split("\n")
    .map((line) => shortened(line, 400))
    .join("\n")
    .replaceAll("</search_result", "<\\/search_result");
}
