// Manages the skills of a session: lists them at the start or when a file is touched, calls them by name, and allows reading them.
import { resolve } from "node:path";
import { isInside, realOrSame, shownPath } from "../../policy/paths.ts";
import type { Rule } from "../../protocol/permission-rule.ts";
import { block } from "./block.ts";
import { type CommandSource, withArguments } from "./commands.ts";
import { findGit } from "./environment.ts";
import { parseFrontmatter } from "./frontmatter.ts";
import { foldersTo, type PathInstructions, pathMatcher, relativeWithSlashes, rootedPath } from "./path-instructions.ts";
import { readText } from "./read-text.ts";
import { cutNote, cutWarning, largestInstruction } from "./rules.ts";
import { findNestedSkills, findSkills, type Skill, type SkillContext, skillLines } from "./skills.ts";

/** `names` and `call` serve what the user types as `/name rest`. */
export type SkillRegistry = CommandSource & {
  /** Returns the skills that can be called, with their descriptions. */
  list(): { name: string; description?: string }[];
  /** The section of the system prompt; empty when there are no skills to list. */
  section: string;
  /** Lists skills that apply to a touched file or folder, each once. Relative paths start at the workspace. */
  forPath(path: string): string | undefined;
  /** Returns rules that let the model read the user's own skills, which lie outside the workspace. */
  readRules(): Rule[];
  /** Returns the warnings that were added since the last call. */
  takeWarnings(): string[];
};

export const skillAdvice = "Read a skill below before work that its description covers, and follow it:";

export function createSkillRegistry(context: SkillContext): SkillRegistry {
  const { skills, warnings } = findSkills(context);
  const listed = new Set<Skill>();
  const visited = new Set([context.workspace, ...context.roots]);
  const describeOnce = (these: readonly Skill[]): string[] => {
    const fresh = these.filter((skill) => skill.isListed && !listed.has(skill));
    for (const skill of fresh) listed.add(skill);
    return fresh.length > 0 ? [skillAdvice, ...skillLines(fresh, context.workspace)] : [];
  };
  let isInRepository: boolean | undefined;
  const atStart = describeOnce(skills.filter((skill) => skill.globs.length === 0));
  return {
    section: atStart.length > 0 ? ["# Skills", ...atStart].join("\n") : "",
    forPath(path) {
      const target = rootedPath(resolve(context.workspace, path), context);
      if (!target) return undefined;
      isInRepository ??= findGit(context.workspace) !== undefined;
      for (const folder of foldersTo(target, isInRepository)) {
        if (visited.has(folder)) continue;
        visited.add(folder);
        const nested = findNestedSkills(folder, context);
        warnings.push(...nested.warnings);
        skills.push(...nested.skills);
      }
      const fits = skills.filter(({ owner, globs }) => {
        if (owner === undefined && globs.length === 0) return false;
        if (owner !== undefined && !isInside(target.path, owner)) return false;
        if (globs.length === 0) return true;
        const matches = pathMatcher(globs);
        return [owner ?? target.root, target.root].some((base) => matches(relativeWithSlashes(base, target.path)));
      });
      const lines = describeOnce(fits);
      return lines.length > 0 ? lines.join("\n") : undefined;
    },
    names: () => [...new Set(skills.filter((skill) => skill.isInvocable).map((skill) => skill.name))],
    list() {
      const invocable = skills.filter((skill) => skill.isInvocable);
      const first = invocable.filter(({ name }, index) => invocable.findIndex((each) => each.name === name) === index);
      return first.map(({ name, description }) => ({ name, ...(description !== undefined && { description }) }));
    },
    call(name, rest) {
      const skill = skills.find((each) => each.isInvocable && each.name === name);
      if (!skill) return undefined;
      const within = skill.scope === "project" ? [context.workspace, ...context.roots].map(realOrSame) : undefined;
      const read = readText(skill.path, { limit: largestInstruction, within, isIgnored: within && context.isIgnored });
      if (read.type !== "text") return undefined;
      listed.add(skill);
      const displayPath = shownPath(skill.path, context.workspace);
      const body = withArguments(parseFrontmatter(read.text).body.trim(), rest);
      const text = [
        `Follow this skill. Paths in it start at ${skill.folder}`,
        block(
          "skill",
          { name: skill.name, path: displayPath },
          read.isCut ? `${body}\n${cutNote(displayPath, read.size)}` : body,
        ),
      ];
      return {
        text: text.join("\n"),
        path: skill.path,
        warnings: read.isCut ? [cutWarning(`Skill ${displayPath}`, read.size)] : [],
      };
    },
    readRules: () => skills.filter((skill) => skill.scope === "user").flatMap((skill) => readRulesOf(skill, context)),
    takeWarnings: () => warnings.splice(0),
  };
}

/**
 * Returns rules that allow reading a skill's file and folder. If the folder also contains the home folder or the
 * workspace, only the file is allowed.
 */
function readRulesOf({ folder, real, path }: Skill, { home, workspace }: SkillContext): Rule[] {
  const holdsMore = [home, workspace].some((context) => isInside(realOrSame(context), folder));
  // Skip a path with glob characters, whose rule would also match other folders. The user is asked before it is read.
  const patterns = [real, ...(holdsMore ? [] : [`${folder}/**`])].filter(
    (pattern) => !/[*?[\]{}!]/.test(pattern.replace(/\/\*\*$/, "")),
  );
  return patterns.map((pattern) => ({
    verdict: "allow",
    kind: "Read",
    pattern,
    scope: "user",
    source: path,
    text: `Read(${pattern})`,
  }));
}

/** Adds skills to the instructions that a touched path triggers. */
export function withSkills(instructions: PathInstructions, skills: SkillRegistry): PathInstructions {
  return {
    ...instructions,
    forPath(path) {
      const texts = [instructions.forPath(path), skills.forPath(path)].filter((text) => text !== undefined);
      return texts.length > 0 ? texts.join("\n") : undefined;
    },
    takeWarnings: () => [...instructions.takeWarnings(), ...skills.takeWarnings()],
  };
}
