// Loads instructions that apply once a path is touched: nested AGENTS.md, nested rules, rules with globs. Each is sent once per session.
import { dirname, join, relative, resolve, sep } from "node:path";
import { isInside, realOrSame, shownPath } from "../../policy/paths.ts";
import { compilePath, expandBraces } from "../../text/glob.ts";
import { words } from "../../text/words.ts";
import {
  describedRules,
  type Instruction,
  type InstructionContext,
  instructionBlock,
  type LoadedInstructions,
  loadInstructions,
  maxInstructionBytes,
  readInstruction,
} from "./project.ts";
import { isClosed, statOrNothing } from "./read-text.ts";
import { listRules, type ProjectRule } from "./rules.ts";

export type PathInstructions = {
  /** Returns what applies to a touched file or folder and was not sent yet. Relative paths start at the workspace. */
  forPath(path: string): string | undefined;
  /** Finds a rule by name. `text` is absent when the model already has it. */
  rule(name: string): { path: string; text?: string } | undefined;
  /** Returns the warnings that were added since the last call. */
  takeWarnings(): string[];
};

/** Third-party code inside a project: instructions that its authors wrote for agents do not come from the user. */
const foreignFolders = words(".git node_modules bower_components vendor third_party site-packages .venv venv");

/** `loaded` is what the system prompt already holds; without it, instructions are read on first use. */
export function createPathInstructions(context: InstructionContext, loaded?: LoadedInstructions): PathInstructions {
  const rules: { rule: ProjectRule; matches: PathMatcher }[] = [];
  const includedPaths = new Set<string>();
  const visited = new Set<string>();
  let start: LoadedInstructions | undefined;
  const warnings: string[] = [];
  let bytesLeft = maxInstructionBytes;

  const begin = (): LoadedInstructions => {
    if (start) return start;
    start = loaded ?? loadInstructions(context);
    for (const real of start.given) includedPaths.add(real);
    bytesLeft -= start.bytes;
    addRules(start.rules);
    visited.add(context.workspace);
    return start;
  };
  const addRules = (more: readonly ProjectRule[]): void => {
    for (const rule of more) rules.push({ rule, matches: pathMatcher(rule.globs) });
  };
  const give = (instruction: Instruction): string[] => {
    if (includedPaths.has(instruction.real)) return [];
    includedPaths.add(instruction.real);
    const text = instructionBlock(instruction, context, includedPaths);
    const bytes = Buffer.byteLength(text);
    if (bytes <= bytesLeft) {
      bytesLeft -= bytes;
      return [text];
    }
    const displayPath = shownPath(instruction.path, context.workspace);
    warnings.push(`${displayPath} was skipped: all instructions together are limited to ${maxInstructionBytes} bytes.`);
    return [`Instructions that apply here but are too long to include, Read when needed: ${displayPath}`];
  };

  /** Reads the instructions of a folder above a touched file, the first time it is visited. */
  const visit = (folder: string, state: LoadedInstructions): string[] => {
    if (visited.has(folder)) return [];
    visited.add(folder);
    const options = { workspace: context.workspace, within: state.within, isIgnored: context.isIgnored, warnings };
    const texts: string[] = [];
    for (const name of context.roots.includes(folder) ? ["CLAUDE.md", "AGENTS.md"] : ["AGENTS.md"]) {
      const instruction = readInstruction(join(folder, name), { ...options, how: "workspace" });
      if (instruction) texts.push(...give(instruction));
    }
    const list = listRules(folder, options);
    warnings.push(...list.warnings);
    addRules(list.rules);
    for (const rule of list.rules) if (rule.how === "always") texts.push(...give(rule));
    const described = list.rules.filter((rule) => rule.description !== undefined && rule.how !== "always");
    return [...texts, ...describedRules(described, context.workspace)];
  };

  return {
    forPath(path) {
      const state = begin();
      const target = rootedPath(resolve(context.workspace, path), context);
      if (!target) return undefined;
      const texts: string[] = [];
      for (const folder of foldersTo(target, state.git !== undefined)) texts.push(...visit(folder, state));
      for (const { rule, matches } of rules) {
        if (rule.how !== "files" || includedPaths.has(rule.real) || !isInside(target.path, rule.owner)) continue;
        // Patterns of nested rules may be relative to their folder or to the root.
        if (
          matches(relativeWithSlashes(rule.owner, target.path)) ||
          matches(relativeWithSlashes(target.root, target.path))
        )
          texts.push(...give(rule));
      }
      return texts.length > 0 ? texts.join("\n") : undefined;
    },
    rule(name) {
      begin();
      const wanted = name.replace(/\.mdc$/, "");
      const byName = rules.find(({ rule }) => rule.name === wanted);
      const rule = (byName ?? rules.find(({ rule }) => rule.name.endsWith(`/${wanted}`)))?.rule;
      if (!rule) return undefined;
      const [text] = give(rule);
      return { path: rule.path, ...(text !== undefined && { text }) };
    },
    takeWarnings: () => warnings.splice(0),
  };
}

type RootedPath = { path: string; root: string; isFolder: boolean };

/** Returns a path with the innermost root that contains it, or undefined if none does. */
export function rootedPath(
  path: string,
  context: Pick<InstructionContext, "workspace" | "roots">,
): RootedPath | undefined {
  const roots = [context.workspace, ...context.roots].sort((left, right) => right.length - left.length);
  for (const candidate of [path, realOrSame(path)]) {
    const root = roots.find((root) => isInside(candidate, root));
    if (root === undefined) continue;
    return { path: candidate, root, isFolder: isFolder(candidate) };
  }
  return undefined;
}

/** Returns the folders from the root down to the file's, stopping at third-party code. */
export function foldersTo(target: RootedPath, isInRepository: boolean): string[] {
  const last = target.isFolder ? target.path : dirname(target.path);
  const folders = [target.root];
  let folder = target.root;
  for (const name of relative(target.root, last).split(sep)) {
    if (name === "") continue;
    folder = join(folder, name);
    // A nested repository was cloned there; a submodule has a .git file and belongs to the project. Unreadable folders are skipped: the
    // tool reports those itself.
    if (foreignFolders.has(name) || isClosed(folder) || (isInRepository && isFolder(join(folder, ".git")))) break;
    folders.push(folder);
  }
  return folders;
}

function isFolder(path: string): boolean {
  return statOrNothing(path)?.isDirectory() ?? false;
}

export function relativeWithSlashes(from: string, to: string): string {
  const way = relative(from, to);
  return sep === "/" ? way : way.replaceAll(sep, "/");
}

type PathMatcher = (path: string) => boolean;

/** Compiles the patterns of rules: a folder's name matches everything below it, and `!` excludes. Paths are relative, with slashes. */
export function pathMatcher(patterns: readonly string[]): PathMatcher {
  const wanted = patterns.filter((pattern) => !pattern.startsWith("!")).flatMap(testsOf);
  const unwanted = patterns.flatMap((pattern) => (pattern.startsWith("!") ? testsOf(pattern.slice(1)) : []));
  return (path) => wanted.some((test) => test(path)) && !unwanted.some((test) => test(path));
}

/** Compiles a pattern, one matcher for each alternative in braces. With too many alternatives, it matches nothing. */
function testsOf(pattern: string): PathMatcher[] {
  // Unwrap braces around a single choice, such as `*.{ts}`, which are valid too.
  const alternatives = expandBraces(pattern.replace(/\{([^{},]*)\}/g, "$1")) ?? [];
  return alternatives.map((each) => compilePath(normalizePattern(each), { brackets: true }));
}

function normalizePattern(pattern: string): string {
  const plain = pattern.replace(/^(?:\.?\/)+/, "").replace(/\/$/, "");
  const last = plain.slice(plain.lastIndexOf("/") + 1);
  return /[*?[]/.test(last) ? plain : `${plain}/**`;
}
