// Loads the subagents that can be started: the built-in ones, and the Markdown files of projects and users.
import { basename, join } from "node:path";
import { realOrSame, shownPath } from "../../policy/paths.ts";
import type { Plugin } from "../../store/plugins/read-plugin.ts";
import { oneLine } from "../../text/one-line.ts";
import type { CommandSource } from "../instructions/commands.ts";
import {
  booleanOf,
  fieldList,
  fieldText,
  misspeltFieldWarnings,
  parseFrontmatter,
} from "../instructions/frontmatter.ts";
import { entriesIn, readText } from "../instructions/read-text.ts";
import { cutWarning, largestInstruction } from "../instructions/rules.ts";
import type { SkillContext } from "../instructions/skills.ts";

export type Subagent = {
  name: string;
  description: string | undefined;
  /** Text that is appended to the subagent's system prompt. */
  prompt: string;
  /** The model of the subagent, if it differs from its parent's. */
  model?: string;
  readOnly: boolean;
  isBackground: boolean;
  /** If set, the subagent gets only these of its parent's tools. */
  tools?: readonly string[];
  /** The path of the definition's file; undefined for a built-in subagent. */
  path?: string;
};

const common =
  "You work for another agent: only your last message reaches it. Make it complete, and as short as possible.";

export const builtInSubagents: readonly Subagent[] = [
  { name: "generalPurpose", description: "Work of several steps", prompt: common },
  {
    name: "explore",
    description: "Explores the code, changes nothing",
    prompt: `${common} You find things: answer with paths and line numbers, and quote only what is needed.`,
    readOnly: true,
  },
  {
    name: "shell",
    description: "Runs commands",
    prompt: `${common} You run commands: say what was run, how it ended, and of its output only what matters.`,
    tools: ["Shell", "Await", "Read", "LS", "Grep", "Glob"],
  },
].map((given) => ({ readOnly: false, isBackground: false, ...given }));

/** Names that other agents use for our built-in subagents. */
const otherNames: Record<string, string> = {
  bash: "shell",
  "general-purpose": "generalPurpose",
  general: "generalPurpose",
  unspecified: "generalPurpose",
};

export function findSubagent(all: readonly Subagent[], name: string): Subagent | undefined {
  const wanted = name.trim().toLowerCase();
  return all.find((each) => each.name.toLowerCase() === (otherNames[wanted] ?? wanted).toLowerCase());
}

const fieldNames = ["name", "description", "model", "readonly", "is_background", "tools", "color"];
const folderNames = [".cursor", ".claude", ".codex"];
const maxFiles = 200;

/** Lists subagents in the order of precedence: given for this run, the project's, the user's (`.cursor` first), built-in, so that a file can replace one. */
export function findSubagents(place: SkillContext): { subagents: Subagent[]; warnings: string[] } {
  const { workspace, roots, configDir, home, trusted, plugins = [] } = place;
  const within = [workspace, ...roots].map(realOrSame);
  const project = trusted ? [workspace, ...roots] : [];
  const ofPlugins = (scope: Plugin["scope"]) =>
    plugins.filter((plugin) => plugin.scope === scope).flatMap(({ agents }) => agents.map((folder) => ({ folder })));
  const folders: { folder: string; within?: string[] }[] = [
    ...ofPlugins("flag"),
    ...project.flatMap((root) => folderNames.map((name) => ({ folder: join(root, name, "agents"), within }))),
    ...[join(configDir, "agents"), ...folderNames.map((name) => join(home, name, "agents"))].map((folder) => ({
      folder,
    })),
    ...ofPlugins("user"),
  ];
  const found = new Map<string, Subagent>();
  const add = (subagent: Subagent) => {
    const key = subagent.name.toLowerCase();
    if (!found.has(key)) found.set(key, subagent);
  };
  const warnings: string[] = [];
  for (const { folder, within } of folders) {
    for (const file of filesIn(folder, place, warnings)) {
      const subagent = readSubagent(join(folder, file), { place, warnings, ...(within && { within }) });
      if (subagent) add(subagent);
    }
  }
  builtInSubagents.forEach(add);
  return { subagents: [...found.values()], warnings };
}

function readSubagent(
  path: string,
  { place, within, warnings }: { place: SkillContext; within?: string[]; warnings: string[] },
): Subagent | undefined {
  if (place.isIgnored?.(path)) return undefined;
  const displayPath = shownPath(path, place.workspace);
  const read = readText(path, { limit: largestInstruction, within, isIgnored: within && place.isIgnored });
  if (read.type === "problem") warnings.push(`Subagent ${displayPath} was skipped: ${read.reason}.`);
  if (read.type !== "text") return undefined;
  if (read.isCut) warnings.push(cutWarning(`Subagent ${displayPath}`, read.size));
  const { fields, body, warnings: problems } = parseFrontmatter(read.text);
  problems.push(...misspeltFieldWarnings(fields, fieldNames));
  const file = basename(path, ".md");
  const declaredName = fieldText(fields.get("name")) ?? file;
  const name = /^[\w.:-]{1,64}$/.test(declaredName) ? declaredName : file;
  if (name !== declaredName)
    problems.push(`${JSON.stringify(declaredName.slice(0, 80))} is not a valid subagent name; it is called ${name}`);
  const yes = (field: string) => {
    const value = booleanOf(fields.get(field) ?? "false");
    if (value === undefined) problems.push(`${field} must be true or false; it is treated as true`);
    // An unclear value such as `readonly: yes please` is taken as true, the safer reading.
    return value ?? true;
  };
  const description = fieldText(fields.get("description"));
  const model = fieldText(fields.get("model"));
  const tools = fieldList(fields.get("tools"));
  const subagent: Subagent = {
    name,
    description: description === undefined ? undefined : oneLine(description, 300),
    prompt: `${body.trim()}\n\n${common}`.trim(),
    ...(model !== undefined && model.toLowerCase() !== "inherit" && { model }),
    readOnly: yes("readonly"),
    isBackground: yes("is_background"),
    ...(tools.length > 0 && !tools.includes("*") && { tools }),
    path,
  };
  for (const problem of problems) warnings.push(`Subagent ${displayPath}: ${problem}.`);
  return subagent;
}

function filesIn(folder: string, { workspace }: SkillContext, warnings: string[]): string[] {
  const names = entriesIn(folder, { what: "Subagents", workspace, warnings }).map(({ name }) => name);
  return names.filter((name) => name.endsWith(".md") && !name.startsWith(".")).slice(0, maxFiles);
}

const longestList = 4000;

/** Lists for the system prompt those subagents that the tool's description does not name. */
export function subagentSection(subagents: readonly Subagent[]): string {
  const lines: string[] = [];
  let room = longestList;
  for (const { name, description, path } of subagents) {
    if (path === undefined) continue;
    const line = `- ${name}${description === undefined ? "" : `: ${description}`}`;
    room -= line.length;
    lines.push(room > 0 ? line : `- ${name}`);
  }
  return lines.length === 0 ? "" : ["# Subagents", "Task can also start:", ...lines].join("\n");
}

/** Handles `/name rest`: tells the model to hand the rest to the subagent. */
export function callableSubagents(subagents: readonly Subagent[]): CommandSource {
  return {
    names: () => subagents.map(({ name }) => name),
    call(name, rest) {
      const subagent = subagents.find((each) => each.name === name);
      if (!subagent) return undefined;
      const task = rest === "" ? "what was last discussed" : `this:\n\n${rest}`;
      const text = `Start the subagent "${subagent.name}" with the Task tool, and tell me what it answers. Its task is ${task}`;
      return { text, ...(subagent.path !== undefined && { path: subagent.path }), warnings: [] };
    },
  };
}
