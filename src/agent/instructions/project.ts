// Project instructions that hold from the start: AGENTS.md and what other agents call theirs, .cursorrules, the rules of the workspace.
import { dirname, join } from "node:path";
import { isInside, realOrSame, shownPath } from "../../policy/paths.ts";
import type { Plugin } from "../../store/plugins/read-plugin.ts";
import { type AttachContext, attach, findTarget, refusalOf } from "./attach.ts";
import { block } from "./block.ts";
import { findGit, type GitCheckout } from "./environment.ts";
import { findMentions } from "./mentions.ts";
import { type ReadLimits, readText, statOrNothing } from "./read-text.ts";
import { cutNote, cutWarning, largestInstruction, listRules, listRulesIn, type ProjectRule } from "./rules.ts";

/** Bytes of all instructions of a session together. */
export const mostInstructionBytes = 64 * 1024;
const mostListedRules = 100;
/** In the workspace and above it; the last one wins. */
const folderFiles = ["GEMINI.md", "CLAUDE.md", "AGENTS.md"];

export type InstructionContext = AttachContext & {
  configDir: string;
  home: string;
  plugins?: readonly Plugin[];
};

export type InstructionSource = { path: string; how: "user" | "parent" | "workspace" | "legacy" | ProjectRule["how"] };

export type LoadedInstructions = {
  /** The section of the system prompt, empty when there is nothing to say. */
  text: string;
  bytes: number;
  /** Every rule of plugins and of the workspace's own .cursor/rules, also those that wait for a file or a mention. */
  rules: readonly ProjectRule[];
  /** Real paths of files whose text is given already. */
  given: ReadonlySet<string>;
  /** The repository that the workspace is in. */
  git: GitCheckout | undefined;
  /** Real folders that links of the project may lead to. */
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

  // From the general to the specific: what comes later wins.
  const found: Instruction[] = [];
  const add = (path: string, how: InstructionSource["how"], limits: ReadLimits = {}): void => {
    const instruction = readInstruction(path, { how, workspace, warnings, ...limits });
    if (instruction) found.push(instruction);
  };
  // The user's own files may be links into a folder of dotfiles.
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

  const kept = keepWhatFits(onlyOnce(found), context, warnings);
  const given = new Set(kept.instructions.map((instruction) => instruction.real));
  const described = rules.filter((rule) => rule.description !== undefined && rule.how !== "always");
  return {
    text: sectionOf(kept, described, workspace),
    bytes: kept.bytes,
    rules,
    given,
    git,
    within,
    sources: [
      ...kept.instructions.map(({ path, how }): InstructionSource => ({ path, how })),
      ...described.map((rule): InstructionSource => ({ path: rule.path, how: rule.how })),
    ],
    warnings,
  };
}

/** Undefined when there is no such file, or nothing in it. */
export function readInstruction(
  path: string,
  options: ReadLimits & { how: InstructionSource["how"]; workspace: string; warnings: string[] },
): Instruction | undefined {
  const read = readText(path, { ...options, limit: largestInstruction });
  if (read.type === "missing") return undefined;
  const shown = shownPath(path, options.workspace);
  if (read.type === "problem") {
    options.warnings.push(`${shown} was skipped: ${read.reason}.`);
    return undefined;
  }
  if (read.isCut) options.warnings.push(cutWarning(shown, read.size));
  const text = read.isCut ? `${read.text.trim()}\n${cutNote(shown, read.size)}` : read.text.trim();
  return text === "" ? undefined : { path, real: read.real, text, how: options.how };
}

/** The instruction in its fence, with the files that it includes by mention. */
export function instructionBlock(
  instruction: Instruction,
  context: AttachContext,
  given?: ReadonlySet<string>,
): string {
  const path = shownPath(instruction.path, context.workspace);
  const own = block("instructions", { path }, instruction.text);
  return [own, ...includedFiles(instruction, context, given ?? new Set())].join("\n");
}

/** AGENTS.md is plain Markdown; rules and CLAUDE.md may bring files along. One level deep. */
function includedFiles(instruction: Instruction, context: AttachContext, given: ReadonlySet<string>): string[] {
  if (!/(?:\.mdc|CLAUDE(?:\.local)?\.md)$/.test(instruction.path)) return [];
  const folder = dirname(instruction.path);
  const included: string[] = [];
  const seen = new Set([instruction.real, ...given]);
  for (const mention of findMentions(instruction.text)) {
    for (const { target } of mention.readings) {
      const found = findTarget(target, [folder, context.workspace]);
      if (!found) continue;
      if (found.kind === "file" && !seen.has(found.real) && !refusalOf(found, context)) {
        seen.add(found.real);
        for (const part of attach(found, context).parts) if (part.type === "text") included.push(part.text);
      }
      break;
    }
  }
  return included;
}

/** Folders above the workspace, up to the root of its repository, outermost first. */
function parentsOf(workspace: string, gitRoot: string | undefined, home: string): string[] {
  if (gitRoot === undefined || gitRoot === workspace) return [];
  // A home folder under version control says nothing about the projects in it; a stranger's folder says nothing at all.
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

/** The same file by two names, or the same text in two files, is said once: where it is most specific. */
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

/** The most specific ones are kept first; they still stand in the order from general to specific. */
function keepWhatFits(all: readonly Instruction[], context: AttachContext, warnings: string[]): FittingInstructions {
  const kept: FittingInstructions = { instructions: [], blocks: [], leftOut: [], bytes: 0 };
  const given = new Set(all.map((instruction) => instruction.real));
  for (const instruction of all.toReversed()) {
    const text = instructionBlock(instruction, context, given);
    const bytes = Buffer.byteLength(text);
    if (kept.bytes + bytes > mostInstructionBytes) {
      const shown = shownPath(instruction.path, context.workspace);
      kept.leftOut.unshift(shown);
      warnings.push(
        `${shown} was skipped: all instructions together are limited to ${mostInstructionBytes} bytes. Shorten them, or let rules apply by globs.`,
      );
      continue;
    }
    kept.bytes += bytes;
    kept.instructions.unshift(instruction);
    kept.blocks.unshift(text);
  }
  return kept;
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
    .slice(0, mostListedRules)
    .map((rule) => `- ${shownPath(rule.path, workspace)}: ${rule.description}`);
  if (rules.length > mostListedRules) lines.push(`- ${rules.length - mostListedRules} more in the same folders`);
  return ["Read a rule below before work that its description covers, and follow it:", ...lines];
}
