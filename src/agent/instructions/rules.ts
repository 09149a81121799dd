// Reads rules: the .mdc files of one .cursor/rules folder, and when each of them applies.
import { join } from "node:path";
import { isInside, realOrSame, shownPath } from "../../policy/paths.ts";
import { oneLine } from "../../text/one-line.ts";
import { booleanOf, fieldList, fieldText, misspeltFieldWarnings, parseFrontmatter } from "./frontmatter.ts";
import { entriesIn, type ReadLimits, readText } from "./read-text.ts";

/** The maximum number of bytes of one rule or instruction file that the model receives. */
export const largestInstruction = 32 * 1024;

export type ProjectRule = {
  /** `frontend/components` for `.cursor/rules/frontend/components.mdc`. */
  name: string;
  path: string;
  /** The real path of the rule's file, which identifies copies that are links. */
  real: string;
  /** The folder that contains `.cursor`. The rule's patterns are relative to it, and it applies to files below it. */
  owner: string;
  /**
   * When the rule is sent to the model. always: with every request. files: when a matching file is touched. described:
   * when the model reads the rule. manual: when a prompt mentions it.
   */
  how: "always" | "files" | "described" | "manual";
  description: string | undefined;
  globs: string[];
  text: string;
};

type RuleList = { rules: ProjectRule[]; warnings: string[] };

const deepest = 8;
const maxRules = 500;

/** Limits for reading rules; `within` lists the real folders that a linked rule may lead to. */
type RuleLimits = ReadLimits & { workspace: string; within: readonly string[] };

export function listRules(owner: string, options: RuleLimits): RuleList {
  return listRulesIn(join(owner, ".cursor", "rules"), owner, options);
}

/** Lists the rules of any folder; `owner` is the folder that they apply to. */
export function listRulesIn(folder: string, owner: string, options: RuleLimits): RuleList {
  const rules: ProjectRule[] = [];
  const warnings: string[] = [];
  for (const { path, name } of ruleFiles(folder, options, warnings)) {
    const read = readText(path, { ...options, limit: largestInstruction });
    const displayPath = shownPath(path, options.workspace);
    if (read.type === "problem") warnings.push(`Rule ${displayPath} was skipped: ${read.reason}.`);
    if (read.type !== "text") continue;
    const { rule, problems } = parseRule(read.text);
    for (const problem of problems) warnings.push(`Rule ${displayPath}: ${problem}.`);
    if (rule.text === "") continue;
    if (read.isCut) warnings.push(cutWarning(`Rule ${displayPath}`, read.size));
    const text = read.isCut ? `${rule.text}\n${cutNote(displayPath, read.size)}` : rule.text;
    rules.push({ ...rule, text, name, path, real: read.real, owner });
  }
  return { rules, warnings };
}

export function parseRule(source: string): {
  rule: Pick<ProjectRule, "how" | "description" | "globs" | "text">;
  problems: string[];
} {
  const { fields, body, warnings: problems } = parseFrontmatter(source);
  problems.push(...misspeltFieldWarnings(fields, ["description", "globs", "alwaysApply"]));
  const always = fields.has("alwaysapply") ? booleanOf(fields.get("alwaysapply")) : false;
  if (always === undefined) problems.push("alwaysApply must be true or false; it is treated as false");
  const written = fieldText(fields.get("description"));
  const description = written === undefined ? undefined : oneLine(written, 300);
  const globs = fieldList(fields.get("globs"));
  return { rule: { how: ruleKind({ always, globs, description }), description, globs, text: body.trim() }, problems };
}

export function cutNote(shown: string, size: number): string {
  return `[Cut here: ${shown} has ${size} bytes, only the first ${largestInstruction} are included. Read the file for the rest.]`;
}

export function cutWarning(subject: string, size: number): string {
  return `${subject} has ${size} bytes; only the first ${largestInstruction} are included. Split it into smaller rules.`;
}

function ruleKind(rule: {
  always: boolean | undefined;
  globs: string[];
  description: string | undefined;
}): ProjectRule["how"] {
  if (rule.always) return "always";
  if (rule.globs.length > 0) return "files";
  return rule.description === undefined ? "manual" : "described";
}

/** Lists rule files sorted by name, including subfolders, so that every run gives the same result. */
function ruleFiles(folder: string, options: RuleLimits, warnings: string[]) {
  const files: { path: string; name: string }[] = [];
  const seen = new Set<string>();
  const visit = (current: string, prefix: string, depth: number): void => {
    for (const entry of entriesIn(current, { what: "Rules", workspace: options.workspace, warnings })) {
      const path = join(current, entry.name);
      if (entry.name.endsWith(".mdc")) {
        if (files.length < maxRules) files.push({ path, name: prefix + entry.name.slice(0, -".mdc".length) });
        continue;
      }
      if (depth >= deepest || !(entry.isDirectory() || entry.isSymbolicLink())) continue;
      if (entry.isSymbolicLink()) {
        const real = realOrSame(path);
        // Do not follow a link to a parent folder, which would recurse forever.
        if (seen.has(real) || !options.within.some((each) => isInside(real, each))) continue;
        seen.add(real);
      }
      visit(path, `${prefix}${entry.name}/`, depth + 1);
    }
  };
  visit(folder, "", 0);
  return files;
}
