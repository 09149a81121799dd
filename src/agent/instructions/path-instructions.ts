// Instructions that wait for a path: nested AGENTS.md, nested rules, rules with patterns. Each is given once in a session.
import { dirname, join, relative, resolve, sep } from "node:path";
import { compilePath, expandBraces } from "../../policy/glob.ts";
import { isInside, realOrSame, shownPath } from "../../policy/paths.ts";
import { words } from "../../text/words.ts";
import {
  describedRules,
  type Instruction,
  type InstructionContext,
  instructionBlock,
  type LoadedInstructions,
  loadInstructions,
  mostInstructionBytes,
  readInstruction,
} from "./project.ts";
import { isClosed, statOrNothing } from "./read-text.ts";
import { listRules, type ProjectRule } from "./rules.ts";

export type PathInstructions = {
  /** What applies to a touched file or folder and was not given yet. Relative paths start at the workspace. */
  forPath(path: string): string | undefined;
  /** A rule by its name. `text` is missing when the model has it already. */
  rule(name: string): { path: string; text?: string } | undefined;
  /** What went wrong since the last time this was called. */
  takeWarnings(): string[];
};

/** Text of others that lies in a project: what its authors tell agents is not what the user tells this one. */
const foreignFolders = words(".git node_modules bower_components vendor third_party site-packages .venv venv");

/** `loaded`: what the system prompt already holds; without it, it is read at the first question. */
export function createPathInstructions(context: InstructionContext, loaded?: LoadedInstructions): PathInstructions {
  const rules: { rule: ProjectRule; matches: PathMatcher }[] = [];
  const given = new Set<string>();
  const visited = new Set<string>();
  let start: LoadedInstructions | undefined;
  let warnings: string[] = [];
  let bytesLeft = mostInstructionBytes;

  const begin = (): LoadedInstructions => {
    if (start) return start;
    start = loaded ?? loadInstructions(context);
    for (const real of start.given) given.add(real);
    bytesLeft -= start.bytes;
    addRules(start.rules);
    visited.add(context.workspace);
    return start;
  };
  const addRules = (more: readonly ProjectRule[]): void => {
    for (const rule of more) rules.push({ rule, matches: pathMatcher(rule.globs) });
  };
  const give = (instruction: Instruction): string[] => {
    if (given.has(instruction.real)) return [];
    given.add(instruction.real);
    const text = instructionBlock(instruction, context, given);
    const bytes = Buffer.byteLength(text);
    if (bytes <= bytesLeft) {
      bytesLeft -= bytes;
      return [text];
    }
    const shown = shownPath(instruction.path, context.workspace);
    warnings.push(`${shown} was skipped: all instructions together are limited to ${mostInstructionBytes} bytes.`);
    return [`Instructions that apply here but are too long to include, Read when needed: ${shown}`];
  };

  /** Looks into a folder on the way to a touched file, the first time it is on the way. */
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
        if (rule.how !== "files" || given.has(rule.real) || !isInside(target.path, rule.owner)) continue;
        // Authors of nested rules count from their folder or from the root.
        if (matches(slashed(rule.owner, target.path)) || matches(slashed(target.root, target.path)))
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
    takeWarnings() {
      const taken = warnings;
      warnings = [];
      return taken;
    },
  };
}

type RootedPath = { path: string; root: string; isFolder: boolean };

/** Undefined outside of all roots. The nearest root counts. */
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

/** From the root down to the folder of the file; nothing below a folder that holds the work of others. */
export function foldersTo(target: RootedPath, isInRepository: boolean): string[] {
  const last = target.isFolder ? target.path : dirname(target.path);
  const folders = [target.root];
  let folder = target.root;
  for (const name of relative(target.root, last).split(sep)) {
    if (name === "") continue;
    folder = join(folder, name);
    // A repository inside a repository was cloned there; a submodule has a .git file and belongs to the project.
    // Into one that is closed to this user nobody gets: the tool says so, once.
    if (foreignFolders.has(name) || isClosed(folder) || (isInRepository && isFolder(join(folder, ".git")))) break;
    folders.push(folder);
  }
  return folders;
}

function isFolder(path: string): boolean {
  return statOrNothing(path)?.isDirectory() ?? false;
}

export function slashed(from: string, to: string): string {
  const way = relative(from, to);
  return sep === "/" ? way : way.replaceAll(sep, "/");
}

type PathMatcher = (path: string) => boolean;

/** Patterns of rules: the name of a folder means all below it, one with `!` takes away. Paths are relative, with slashes. */
export function pathMatcher(patterns: readonly string[]): PathMatcher {
  const wanted = patterns.filter((pattern) => !pattern.startsWith("!")).flatMap(testsOf);
  const unwanted = patterns.flatMap((pattern) => (pattern.startsWith("!") ? testsOf(pattern.slice(1)) : []));
  return (path) => wanted.some((test) => test(path)) && !unwanted.some((test) => test(path));
}

/** A pattern with too many alternatives matches nothing. */
function testsOf(pattern: string): PathMatcher[] {
  // One choice is a choice too: `*.{ts}`.
  const alternatives = expandBraces(pattern.replace(/\{([^{},]*)\}/g, "$1")) ?? [];
  return alternatives.map((each) => compilePath(whole(each), { brackets: true }));
}

function whole(pattern: string): string {
  const plain = pattern.replace(/^(?:\.?\/)+/, "").replace(/\/$/, "");
  const last = plain.slice(plain.lastIndexOf("/") + 1);
  return /[*?[]/.test(last) ? plain : `${plain}/**`;
}
