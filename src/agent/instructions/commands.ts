// Commands: `/name arguments` at the start of a prompt stands for the text of a Markdown file.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { realOrSame, shownPath } from "../../policy/paths.ts";
import { nearestName } from "../../protocol/nearest.ts";
import { parseFrontmatter } from "./frontmatter.ts";
import { readText } from "./read-text.ts";
import { cutWarning, largestInstruction } from "./rules.ts";

type CommandPlace = { workspace: string; roots: readonly string[]; configDir: string };

type ExpandedCommand = { text: string; path?: string; warnings: string[] };

/** The prompt itself where it names no command. */
export function expandCommand(prompt: string, place: CommandPlace): ExpandedCommand {
  const match = /^\s*\/([A-Za-z0-9][\w.:-]*(?:\/[A-Za-z0-9][\w.:-]*)*)(?=\s|$)/.exec(prompt);
  if (!match) return { text: prompt, warnings: [] };
  const name = match[1]!;
  const warnings: string[] = [];
  for (const { folder, within } of commandFolders(place)) {
    const path = join(folder, `${name}.md`);
    const read = readText(path, { limit: largestInstruction, within });
    if (read.type === "missing") continue;
    const shown = shownPath(path, place.workspace);
    if (read.type === "problem") {
      warnings.push(`Command ${shown} was left out: ${read.reason}.`);
      continue;
    }
    if (read.isCut) warnings.push(cutWarning(`Command ${shown}`, read.size));
    const body = parseFrontmatter(read.text).body.trim();
    return { text: withArguments(body, prompt.slice(match[0].length).trim()), path, warnings };
  }
  const meant = name.includes("/") ? undefined : nearestName(name, listCommands(place));
  if (meant) warnings.push(`There is no command /${name} (did you mean /${meant}?). It was sent to the model as text.`);
  return { text: prompt, warnings };
}

/** Names of all commands, the project's first. */
export function listCommands(place: CommandPlace): string[] {
  const names = new Set<string>();
  for (const { folder } of commandFolders(place)) {
    for (const name of namesIn(folder)) if (name.endsWith(".md")) names.add(name.slice(0, -".md".length));
  }
  return [...names];
}

/** Project commands may not be links out of the project; the user's own may be links to anywhere. */
function commandFolders(place: CommandPlace): { folder: string; within?: string[] }[] {
  const roots = [place.workspace, ...place.roots];
  const within = roots.map(realOrSame);
  return [
    ...roots.map((root) => ({ folder: join(root, ".cursor", "commands"), within })),
    { folder: join(place.configDir, "commands") },
  ];
}

/** One pass, so that an argument that looks like a variable stays what it is. */
function withArguments(body: string, rest: string): string {
  const words = wordsOf(rest);
  // Without a $1, a "$5" in the text is a price.
  const isNumbered = /\$1(?!\w)/.test(body);
  const variable = /\$(ARGUMENTS|[1-9])(?!\w)/g;
  if (isNumbered || /\$ARGUMENTS(?!\w)/.test(body)) {
    return body.replace(variable, (all, name: string) => {
      if (name === "ARGUMENTS") return rest;
      return isNumbered ? (words[Number(name) - 1] ?? "") : all;
    });
  }
  return rest === "" ? body : `${body}\n\n${rest}`;
}

/** Split at blanks; quotes hold words together. */
function wordsOf(text: string): string[] {
  return (text.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/s, "$2"));
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
