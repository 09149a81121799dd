// Loads project instructions that apply from the start: AGENTS.md and other agents' equivalents, .cursorrules, and the workspace's rules.
import { dirname, join } from "node:path";
import { isInside, realOrSame, shownPath } from "../../policy/paths.ts";
import type { Plugin } from "../../store/plugins/read-plugin.ts";
import { type AttachContext, attach, attachRefusal, findTarget } from "./attach.ts";
import { block } from "./block.ts";
import { findGit, type GitCheckout } from "./environment.ts";
import { findMentions } from "./mentions.ts";
import { type ReadLimits, readText, statOrNothing } from "./read-text.ts";
import { cutNote, cutWarning, largestInstruction, listRules, listRulesIn, type ProjectRule } from "./rules.ts";

/** The maximum number of bytes of all instructions in one session. */
export const maxInstructionBytes = 64 * 1024;
const maxListedRules = 100;
/** Looked for in the workspace and its parent folders. Of the files in one folder, the last in this list takes precedence. */
const folderFiles = ["GEMINI.md", "CLAUDE.md", "AGENTS.md"];

export type InstructionContext = AttachContext & {
  configDir: string;
  home: string;
  plugins?: readonly Plugin[];
};

export type InstructionSource = { path: string; how: "user" | "parent" | "workspace" | "legacy" | ProjectRule["how"] };

export type LoadedInstructions = {
  /** The section of the system prompt; empty when there are no instructions. */
  text: string;
  bytes: number;
  /** All rules of plugins and of the workspace's .cursor/rules, including those that wait for a file or a mention. */
  rules: readonly ProjectRule[];
  /** The real paths of instruction files that were already sent to the model. */
  given: ReadonlySet<string>;
  /** The git repository that contains the workspace, if there is one. */
  git: GitCheckout | undefined;
  /** Folders that symbolic links in the project may lead to, as real paths. */
  within: readonly string[];
  sources: InstructionSource[];
  warnings: string[];
};

export type Instruction = { path: string; real: string; text: string; how: InstructionSource["how"] };

export function loadInstructions(context: InstructionContext): LoadedInstructions {
  const { workspace } = context;
  const git = findGit(workspace);
  const warnings: string[] = [];
  const parents = parentsOf(workspace, git?.root, context.home);
  const within = [...new Set([workspace, ...context.roots, ...parents].map(realOrSame))];

  const limits = { within, isIgnored: context.isIgnored };

  // Instructions ordered from general to specific; later ones take precedence.
  const found: Instruction[] = [];
  const add = (path: string, how: InstructionSource["how"], limits: ReadLimits = {}): void => {
    const instruction = readInstruction(path, { how, workspace, warnings, ...limits });
    if (instruction) found.push(instruction);
  };
  // Files in the home folder may be links into a dotfiles folder.
  add(join(context.home, ".claude", "CLAUDE.md"), "user");
  add(join(context.configDir, "AGENTS.md"), "user");
  for (const folder of parents) for (const name of folderFiles) add(join(folder, name), "parent", limits);
  add(join(workspace, ".cursorrules"), "legacy", limits);
  for (const name of [".github/copilot-instructions.md", ...folderFiles, "CLAUDE.local.md"])
    add(join(workspace, name), "workspace", limits);
  const lists = [
    ...(context.plugins ?? []).flatMap(({ root, rules }) =>
      rules.map((folder) => listRulesIn(folder, workspace, { workspace, within: [root] })),
    ),
    listRules(workspace, { workspace, ...limits }),
  ];
  warnings.push(...lists.flatMap((list) => list.warnings));
  const rules = lists.flatMap((list) => list.rules);
  for (const rule of rules)
    if (rule.how === "always") found.push({ path: rule.path, real: rule.real, text: rule.text, how: "always" });

  const fitting = keepWhatFits(onlyOnce(found), context, warnings);
  const includedPaths = new Set(fitting.instructions.map((instruction) => instruction.real));
  const described = rules.filter((rule) => rule.description !== undefined && rule.how !== "always");
  return {
    text: sectionOf(fitting, described, workspace),
    bytes: fitting.bytes,
    rules,
    given: includedPaths,
    git,
    within,
    sources: [
      ...fitting.instructions.map(({ path, how }): InstructionSource => ({ path, how })),
      ...described.map((rule): InstructionSource => ({ path: rule.path, how: rule.how })),
    ],
    warnings,
  };
}

/** Reads an instruction file, cut to the limit. Returns undefined if it is missing, unreadable or empty. */
export function readInstruction(
  path: string,
  options: ReadLimits & { how: InstructionSource["how"]; workspace: string; warnings: string[] },
): Instruction | undefined {
  const read = readText(path, { ...options, limit: largestInstruction });
  if (read.type === "missing") return undefined;
  const displayPath = shownPath(path, options.workspace);
  if (read.type === "problem") {
    options.warnings.push(`${displayPath} was skipped: ${read.reason}.`);
    return undefined;
  }
  if (read.isCut) options.warnings.push(cutWarning(displayPath, read.size));
  const text = read.isCut ? `${read.text.trim()}\n${cutNote(displayPath, read.size)}` : read.text.trim();
  return text === "" ? undefined : { path, real: read.real, text, how: options.how };
}

/** Renders the instruction in its tag, with the files that it includes by mention. */
export function instructionBlock(
  instruction: Instruction,
  context: AttachContext,
  given?: ReadonlySet<string>,
): string {
  const path = shownPath(instruction.path, context.workspace);
  const wholeBlock = block("instructions", { path }, instruction.text);
  return [wholeBlock, ...includedFiles(instruction, context, given ?? new Set())].join("\n");
}

/** Rules and CLAUDE.md may include files, one level deep; AGENTS.md is plain Markdown. */
function includedFiles(
  instruction: Instruction,
  context: AttachContext,
  includedBefore: ReadonlySet<string>,
): string[] {
  if (!/(?:\.mdc|CLAUDE(?:\.local)?\.md)$/.test(instruction.path)) return [];
  const folder = dirname(instruction.path);
  const included: string[] = [];
  const seen = new Set([instruction.real, ...includedBefore]);
  for (const mention of findMentions(instruction.text)) {
    for (const { target } of mention.readings) {
      const found = findTarget(target, [folder, context.workspace]);
      if (!found) continue;
      if (found.kind === "file" && !seen.has(found.real) && !attachRefusal(found, context)) {
        seen.add(found.real);
        for (const part of attach(found, context).parts) if (part.type === "text") included.push(part.text);
      }
      break;
    }
  }
  return included;
}

/** Returns the folders above the workspace up to the root of its repository, outermost first. */
function parentsOf(workspace: string, gitRoot: string | undefined, home: string): string[] {
  if (gitRoot === undefined || gitRoot === workspace) return [];
  // Ignore a repository that is the home folder itself, since it says nothing about the projects inside, and one that
  // belongs to another user.
  if (gitRoot === home || !isInside(workspace, gitRoot) || ownerOf(gitRoot) !== ownerOf(workspace)) return [];
  const parents: string[] = [];
  for (let folder = dirname(workspace); isInside(folder, gitRoot); folder = dirname(folder)) {
    parents.unshift(folder);
    if (folder === gitRoot) break;
  }
  return parents;
}

function ownerOf(folder: string): number | undefined {
  return statOrNothing(folder)?.uid;
}

/** Drops instructions with the same real path or the same text, keeping the most specific one. */
function onlyOnce(found: readonly Instruction[]): Instruction[] {
  const seen = new Set<string>();
  const once: Instruction[] = [];
  for (const instruction of found.toReversed()) {
    if (seen.has(instruction.real) || seen.has(`text:${instruction.text}`)) continue;
    seen.add(instruction.real).add(`text:${instruction.text}`);
    once.unshift(instruction);
  }
  return once;
}

type FittingInstructions = { instructions: Instruction[]; blocks: string[]; leftOut: string[]; bytes: number };

/** Drops the most general instructions when they exceed the size limit. The order is unchanged. */
function keepWhatFits(all: readonly Instruction[], context: AttachContext, warnings: string[]): FittingInstructions {
  const fitting: FittingInstructions = { instructions: [], blocks: [], leftOut: [], bytes: 0 };
  const includedPaths = new Set(all.map((instruction) => instruction.real));
  for (const instruction of all.toReversed()) {
    const text = instructionBlock(instruction, context, includedPaths);
    const bytes = Buffer.byteLength(text);
    if (fitting.bytes + bytes > maxInstructionBytes) {
      const displayPath = shownPath(instruction.path, context.workspace);
      fitting.leftOut.unshift(displayPath);
      warnings.push(
        `${displayPath} was skipped: all instructions together are limited to ${maxInstructionBytes} bytes. Shorten them, or let rules apply by globs.`,
      );
      continue;
    }
    fitting.bytes += bytes;
    fitting.instructions.unshift(instruction);
    fitting.blocks.unshift(text);
  }
  return fitting;
}

function sectionOf(kept: FittingInstructions, described: readonly ProjectRule[], workspace: string): string {
  if (kept.blocks.length === 0 && kept.leftOut.length === 0 && described.length === 0) return "";
  const lines = [
    "# Project instructions",
    "Written for you by the user and the project. Later ones override earlier ones, and the user's prompt overrides all.",
  ];
  lines.push(...kept.blocks);
  if (kept.leftOut.length > 0) lines.push(`Too long to include, Read when needed: ${kept.leftOut.join(", ")}`);
  lines.push(...describedRules(described, workspace));
  return lines.join("\n");
}

export function describedRules(rules: readonly ProjectRule[], workspace: string): string[] {
  if (rules.length === 0) return [];
  const lines = rules
    .slice(0, maxListedRules)
    .map((rule) => `- ${shownPath(rule.path, workspace)}: ${rule.description}`);
  if (rules.length > maxListedRules) lines.push(`- ${rules.length - maxListedRules} more in the same folders`);
  return ["Read a rule below before work that its description covers, and follow it:", ...lines];
}
