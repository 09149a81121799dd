// Finds skills: folders with a SKILL.md. The model gets their names and descriptions, and reads one when its work needs it.
import { basename, join } from "node:path";
import { isInside, realOrSame, shownPath } from "../../policy/paths.ts";
import type { Plugin } from "../../store/plugins/read-plugin.ts";
import { oneLine } from "../../text/one-line.ts";
import { list } from "../../text/words.ts";
import { booleanOf, fieldList, fieldText, misspeltFieldWarnings, parseFrontmatter } from "./frontmatter.ts";
import { entriesIn, readText } from "./read-text.ts";
import { largestInstruction } from "./rules.ts";

export type Skill = {
  name: string;
  description: string | undefined;
  /** The path of SKILL.md as it was found; `real` is its real path. */
  path: string;
  real: string;
  /** The real path of the skill's folder. */
  folder: string;
  /** The folder whose files the skill is about; undefined means all files. */
  owner: string | undefined;
  scope: "project" | "user";
  /** File patterns. If set, the model sees the skill only after it touches a matching file. */
  globs: string[];
  /** Whether the model may see the skill; `isInvocable` says whether the user may call it by `/name`. */
  isListed: boolean;
  isInvocable: boolean;
};

export type SkillContext = {
  workspace: string;
  roots: readonly string[];
  configDir: string;
  home: string;
  /** Whether the project is trusted. Skills of an untrusted project are ignored. */
  trusted: boolean;
  isIgnored?(path: string): boolean;
  plugins?: readonly Plugin[];
};

type SkillList = { skills: Skill[]; warnings: string[] };

/** Folders that contain skills. If two skills have the same name, the first folder in this list wins. */
const folderNames = [".cursor", ".agents", ".claude", ".codex"];

const fieldNames = list(`
  name description paths globs disable-model-invocation user-invocable license metadata icon color allowed-tools
  compatibility`);

const deepest = 6;
const maxSkills = 300;

/** Finds skills that apply everywhere: those of the workspace and its further roots, then the user's own. */
export function findSkills(context: SkillContext): SkillList {
  const list: SkillList = { skills: [], warnings: [] };
  for (const root of context.trusted ? [context.workspace, ...context.roots] : [])
    addProjectSkills(root, context, list);
  for (const folder of userFolders(context)) addSkills(folder, { context, scope: "user" }, list);
  return { skills: onlyFirst(list.skills), warnings: list.warnings };
}

/** Finds the skills of a subproject, which apply to its files only. */
export function findNestedSkills(owner: string, context: SkillContext): SkillList {
  const list: SkillList = { skills: [], warnings: [] };
  if (context.trusted) addProjectSkills(owner, context, list, owner);
  return list;
}

function addProjectSkills(root: string, context: SkillContext, list: SkillList, owner?: string): void {
  // A project's links may not lead out of it; the user's own may lead anywhere.
  const within = [context.workspace, ...context.roots].map(realOrSame);
  for (const name of folderNames)
    addSkills(join(root, name, "skills"), { context, scope: "project", within, ...(owner && { owner }) }, list);
}

function userFolders({ configDir, home, plugins = [] }: SkillContext): string[] {
  const others = folderNames.map((name) => join(home, name, "skills"));
  const ofPlugins = plugins.flatMap(({ skills }) => skills);
  return [...new Set([join(configDir, "skills"), ...others, join(configDir, "skills-cursor"), ...ofPlugins])];
}

type SkillOrigin = { context: SkillContext; scope: Skill["scope"]; within?: readonly string[]; owner?: string };

function addSkills(top: string, origin: SkillOrigin, list: SkillList): void {
  const { context, within } = origin;
  const seen = new Set<string>();
  const visit = (folder: string, depth: number): void => {
    const real = realOrSame(folder);
    // Do not follow a link to a parent folder, which would recurse forever.
    if (seen.has(real) || (within && !within.some((each) => isInside(real, each)))) return;
    seen.add(real);
    const entries = entriesIn(folder, { what: "Skills", workspace: context.workspace, warnings: list.warnings });
    if (depth > 0 && entries.some((entry) => entry.name === "SKILL.md")) {
      const skill = readSkill(folder, origin, list.warnings);
      if (skill && list.skills.length < maxSkills) list.skills.push(skill);
      return; // everything below this folder belongs to the skill
    }
    if (depth >= deepest) return;
    for (const entry of entries) {
      if (entry.name.startsWith(".") || !(entry.isDirectory() || entry.isSymbolicLink())) continue;
      visit(join(folder, entry.name), depth + 1);
    }
  };
  visit(top, 0);
}

function readSkill(
  folder: string,
  { context, scope, within, owner }: SkillOrigin,
  warnings: string[],
): Skill | undefined {
  const path = join(folder, "SKILL.md");
  const displayPath = shownPath(path, context.workspace);
  if (context.isIgnored?.(path)) return undefined;
  const read = readText(path, { limit: largestInstruction, within, isIgnored: within && context.isIgnored });
  if (read.type === "problem") warnings.push(`Skill ${displayPath} was skipped: ${read.reason}.`);
  if (read.type !== "text") return undefined;
  const { fields, warnings: problems } = parseFrontmatter(read.text);
  problems.push(...misspeltFieldWarnings(fields, fieldNames));
  const declaredName = fieldText(fields.get("name"));
  const name = declaredName !== undefined && /^[\w.:-]{1,64}$/.test(declaredName) ? declaredName : basename(folder);
  if (declaredName === undefined) problems.push(`it has no name; its directory's name ${name} is used`);
  else if (declaredName !== name)
    problems.push(`${JSON.stringify(declaredName.slice(0, 80))} is not a valid skill name; it is called ${name}`);
  else if (name !== basename(folder))
    problems.push(
      `its name is ${name}, but its directory is called ${basename(folder)}: other programs require them to match`,
    );
  const description = fieldText(fields.get("description"));
  if (description === undefined) problems.push("it has no description, so the model does not see it");
  const isManual = booleanOf(fields.get("disable-model-invocation")) ?? false;
  for (const problem of problems) warnings.push(`Skill ${displayPath}: ${problem}.`);
  return {
    name,
    description: description === undefined ? undefined : oneLine(description, longestDescription),
    path,
    real: read.real,
    folder: realOrSame(folder),
    owner,
    scope,
    globs: [...fieldList(fields.get("paths")), ...fieldList(fields.get("globs"))],
    isListed: !isManual && description !== undefined,
    isInvocable: booleanOf(fields.get("user-invocable") ?? "true") ?? true,
  };
}

function onlyFirst(skills: readonly Skill[]): Skill[] {
  const names = new Set<string>();
  return skills.filter(({ name }) => !names.has(name) && names.add(name));
}

/** The maximum number of characters of one skill's description; `longestList` limits the whole list. */
const longestDescription = 300;
const longestList = 6000;

/** Lists one skill per line while there is room, then only names, so that the rest can be looked up. */
export function skillLines(skills: readonly Skill[], workspace: string): string[] {
  const lines: string[] = [];
  const left: string[] = [];
  let room = longestList;
  for (const skill of skills) {
    const line = `- ${skill.name} (${shownPath(skill.path, workspace)}): ${skill.description}`;
    room -= line.length;
    if (room > 0) lines.push(line);
    else left.push(skill.name);
  }
  if (left.length > 0) lines.push(`- ${left.length} more: ${oneLine(left.join(", "), 1000)}`);
  return lines;
}
