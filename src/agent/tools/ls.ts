// LS: shows a directory as a tree, as deep as a budget of entries allows.
import type { Dirent } from "node:fs";
import { extname, join, resolve } from "node:path";
import * as v from "valibot";
import { tryOr } from "../../text/try-or.ts";
import { pathTest } from "../file-pattern.ts";
import { absolutePath } from "../files.ts";
import { entriesAt } from "../folder-handle.ts";
import { isVisible, listFiles, searchAt, unreadNote } from "../ripgrep.ts";
import { fittingLines, pathArgument, pathSpellings, tool } from "./define.ts";
import { failure } from "./tool.ts";

const maxEntries = 500;
const maxDepth = 6;

export const ls = tool({
  name: "LS",
  wire: "ls",
  aliases: ["List"],
  description: "Show a directory as a tree, without ignored files. Large subdirectories are only counted.",
  readOnly: true,
  args: v.object({
    path: v.optional(pathArgument()),
    ignore: v.optional(v.pipe(v.array(v.string()), v.description("File patterns to exclude"))),
  }),
  spellings: pathSpellings,
  wireArgs: (args, context) => ({
    path: absolutePath(args.path ?? ".", context),
    ignore: args.ignore ?? [],
    toolCallId: context.callId,
  }),
  needs: (args, context) => [{ kind: "Read", target: absolutePath(args.path ?? ".", context) }],
  async run(args, context) {
    const path = absolutePath(args.path ?? ".", context);
    const search = await searchAt(args.path, context);
    if (search.isFile) throw failure(`${path} is a file, not a directory. Use Read.`, { path });
    const listed = await listFiles(search, context);
    const above = search.start === "./" ? 0 : search.start.length - 1;
    const tree = new Tree(resolve(search.folder, search.start), {
      isIgnored: ignoreTest(args.ignore ?? []),
      isVisible: (file) => isVisible(join(search.start, file), search, context),
    });
    for (const file of listed.files) tree.add(file.slice(above));
    tree.open();

    const { text, left } = fittingLines(tree.lines(path), context.resultLimit);
    const isPartial = left > 0 || listed.cut;
    const note = isPartial ? "\n[The listing is truncated. List a subdirectory, or use Glob.]" : "";
    const outcome = { kind: "success" as const, value: { directoryTreeRoot: tree.onWire(path) } };
    return { outcome, text: text + note + unreadNote(listed.unread) };
  },
});

/** A folder in the listing. `shown` contains its listed entries; undefined if the entries are only counted. */
type FolderTree = {
  folders: Map<string, FolderTree>;
  files: string[];
  fileCount: number;
  extensions: Map<string, number>;
  shown?: { folders: string[]; files: string[]; left: number };
};

/** Builds the tree from ripgrep's list of files, and adds empty folders and links, which it omits, from the disk. */
class Tree {
  readonly #root = newFolder();
  readonly #at: string;
  readonly #isIgnored: (path: string) => boolean;
  readonly #isVisible: (path: string) => boolean;

  constructor(at: string, tests: { isIgnored(path: string): boolean; isVisible(path: string): boolean }) {
    this.#at = at;
    this.#isIgnored = tests.isIgnored;
    this.#isVisible = tests.isVisible;
  }

  add(file: string): void {
    if (this.#isIgnored(file)) return;
    const parts = file.split("/");
    const name = parts.pop()!;
    const extension = extname(name);
    let folder = this.#root;
    const count = () => {
      folder.fileCount += 1;
      if (extension !== "") folder.extensions.set(extension, (folder.extensions.get(extension) ?? 0) + 1);
    };
    count();
    for (const part of parts) {
      folder = childOf(folder, part);
      count();
    }
    folder.files.push(name);
  }

  /** Expands level by level, so that entries near the root are shown first. */
  open(): void {
    let level: { folder: FolderTree; path: string }[] = [{ folder: this.#root, path: "" }];
    let budget = maxEntries;
    for (let depth = 0; depth < maxDepth && level.length > 0; depth += 1) {
      const next: typeof level = [];
      for (const { folder, path } of level) {
        if (budget <= 0) return;
        this.#addFromDisk(folder, path);
        const folders = [...folder.folders.keys()].sort();
        const files = [...folder.files].sort();
        const shown = {
          folders: folders.slice(0, budget),
          files: files.slice(0, Math.max(0, budget - folders.length)),
          left: 0,
        };
        shown.left = folders.length + files.length - shown.folders.length - shown.files.length;
        folder.shown = shown;
        budget -= shown.folders.length + shown.files.length;
        for (const name of shown.folders) next.push({ folder: folder.folders.get(name)!, path: join(path, name) });
      }
      level = next;
    }
  }

  #addFromDisk(folder: FolderTree, path: string): void {
    for (const entry of entriesOf(join(this.#at, path))) {
      const inside = join(path, entry.name);
      const isUnknown = entry.isDirectory() && !folder.folders.has(entry.name);
      if (!isUnknown && !entry.isSymbolicLink()) continue;
      if (entry.name === ".git" || this.#isIgnored(inside) || !this.#isVisible(inside)) continue;
      if (entry.isSymbolicLink()) this.add(inside);
      else if (isHollow(join(this.#at, inside))) childOf(folder, entry.name);
    }
  }

  onWire(path: string, folder = this.#root): object {
    const { shown } = folder;
    return {
      absPath: path,
      childrenDirs: (shown?.folders ?? []).map((name) => this.onWire(join(path, name), folder.folders.get(name)!)),
      childrenFiles: (shown?.files ?? []).map((name) => ({ name })),
      childrenWereProcessed: shown?.left === 0,
      fullSubtreeExtensionCounts: Object.fromEntries([...folder.extensions].sort()),
      numFiles: folder.fileCount,
    };
  }

  lines(path: string): string[] {
    const lines = [`${path}/`];
    const visit = (folder: FolderTree, indent: string) => {
      for (const name of folder.shown?.folders ?? []) {
        const child = folder.folders.get(name)!;
        lines.push(`${indent}${name}/${child.shown ? "" : ` ${folderSummary(child)}`}`);
        visit(child, `${indent}  `);
      }
      for (const name of folder.shown?.files ?? []) lines.push(indent + name);
      if (folder.shown && folder.shown.left > 0) lines.push(`${indent}… ${folder.shown.left} more`);
    };
    visit(this.#root, "  ");
    if (lines.length === 1) lines.push("  (empty)");
    return lines;
  }
}

function newFolder(): FolderTree {
  return { folders: new Map(), files: [], fileCount: 0, extensions: new Map() };
}

function childOf(folder: FolderTree, name: string): FolderTree {
  const existing = folder.folders.get(name);
  if (existing) return existing;
  const child = newFolder();
  folder.folders.set(name, child);
  return child;
}

function folderSummary(folder: FolderTree): string {
  const most = [...folder.extensions].sort(([, one], [, other]) => other - one).slice(0, 3);
  const kinds = most.map(([extension, count]) => `${count} ${extension}`).join(", ");
  return `(${folder.fileCount} files${kinds === "" ? "" : `: ${kinds}`})`;
}

/** Compiles the ignore patterns: each hides what it names and everything below. */
function ignoreTest(patterns: readonly string[]): (path: string) => boolean {
  const tests = patterns.flatMap((pattern) => pathTest(pattern.replace(/\/(\*\*)?$/, "")) ?? []);
  if (tests.length === 0) return () => false;
  const denials = new Map<string, boolean>();
  const isIgnored = (path: string): boolean => {
    const answer = denials.get(path);
    if (answer !== undefined) return answer;
    const slash = path.lastIndexOf("/");
    const hidden = tests.some((test) => test(path)) || (slash !== -1 && isIgnored(path.slice(0, slash)));
    denials.set(path, hidden);
    return hidden;
  };
  return isIgnored;
}

/** Returns whether a folder holds no file at any depth, ignored files included; stops at the first file. */
function isHollow(path: string, depth = 0): boolean {
  const entries = entriesOf(path);
  if (depth > 8 || entries.some((entry) => !entry.isDirectory())) return false;
  return entries.every((entry) => isHollow(join(path, entry.name), depth + 1));
}

/** Returns no entries for a folder that is unreadable or was replaced by a link. */
function entriesOf(path: string): Dirent[] {
  return tryOr(() => entriesAt(path), []);
}
