// Expands commands: `/name arguments` at the start of a prompt stands for the text of a Markdown file.
import { join } from "node:path";
import { realOrSame, shownPath } from "../../policy/paths.ts";
import { namesIn } from "../../store/folder-names.ts";
import type { Plugin } from "../../store/plugins/read-plugin.ts";
import { nearestName } from "../../text/nearest.ts";
import { oneLine } from "../../text/one-line.ts";
import { fieldText, parseFrontmatter } from "./frontmatter.ts";
import { readText } from "./read-text.ts";
import { cutWarning, largestInstruction } from "./rules.ts";

type CommandContext = {
  workspace: string;
  roots: readonly string[];
  configDir: string;
  /** Returns true for paths that ignore files or deny rules hide from the agent. */
  isIgnored?(path: string): boolean;
  plugins?: readonly Plugin[];
  /** Skills and other things that a prompt can call as `/name`. Command files of the same name take precedence. */
  callable?: readonly CommandSource[];
};

type ExpandedCommand = { text: string; path?: string; warnings: string[] };

/** Things that can be called as `/name rest`, such as skills and subagents. */
export type CommandSource = { names(): string[]; call(name: string, rest: string): ExpandedCommand | undefined };

/** Expands the prompt's command; returns the prompt unchanged when it names none. */
export function expandCommand(prompt: string, context: CommandContext): ExpandedCommand {
  const match = /^\s*\/([A-Za-z0-9][\w.:-]*(?:\/[A-Za-z0-9][\w.:-]*)*)(?=\s|$)/.exec(prompt);
  if (!match) return { text: prompt, warnings: [] };
  const name = match[1]!;
  const rest = prompt.slice(match[0].length).trim();
  const warnings: string[] = [];
  for (const { path, within } of commandFolders(context).flatMap((each) => commandFilePaths(each, name))) {
    const read = readText(path, { limit: largestInstruction, within, isIgnored: within && context.isIgnored });
    if (read.type === "missing") continue;
    const displayPath = shownPath(path, context.workspace);
    if (read.type === "problem") {
      warnings.push(`Command ${displayPath} was skipped: ${read.reason}.`);
      continue;
    }
    if (read.isCut) warnings.push(cutWarning(`Command ${displayPath}`, read.size));
    const body = parseFrontmatter(read.text).body.trim();
    return { text: withArguments(body, rest), path, warnings };
  }
  for (const callable of context.callable ?? []) {
    const called = callable.call(name, rest);
    if (called) return { ...called, warnings: [...warnings, ...called.warnings] };
  }
  const knownNames = [
    ...listCommands(context).map((each) => each.name),
    ...(context.callable ?? []).flatMap((callable) => callable.names()),
  ];
  const meant = name.includes("/") ? undefined : nearestName(name, knownNames);
  if (meant) warnings.push(`Unknown command /${name} (did you mean /${meant}?). It was sent to the model as text.`);
  return { text: prompt, warnings };
}

/** Replaces `$ARGUMENTS`, `$1`, `$2`, … in a command or skill. One pass, so that an argument that looks like a variable is not expanded. */
export function withArguments(body: string, rest: string): string {
  const words = splitArguments(rest);
  // Only treat "$5" as an argument if the text also contains $1; otherwise it is probably a price.
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

/** Splits a command's arguments at blanks. Quoted text stays together. */
function splitArguments(text: string): string[] {
  return (text.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) => word.replace(/^(["'])(.*)\1$/s, "$2"));
}

/** Lists all commands, the project's first, with their `description` or else their first line. */
export function listCommands(context: CommandContext): { name: string; description?: string }[] {
  const found = new Map<string, { name: string; description?: string }>();
  for (const { folder, within, plugin } of commandFolders(context)) {
    const endings = plugin === undefined ? [".md"] : pluginEndings;
    for (const file of namesIn(folder).sort()) {
      const ending = endings.find((each) => file.endsWith(each));
      const name = file.slice(0, -(ending ?? "").length);
      if (ending === undefined || found.has(name)) continue;
      const read = readText(join(folder, file), { limit: 4096, within, isIgnored: within && context.isIgnored });
      const description = read.type === "text" ? describedBy(read.text) : "";
      found.set(name, { name, ...(description !== "" && { description }) });
    }
  }
  return [...found.values()];
}

function describedBy(text: string): string {
  const { fields, body } = parseFrontmatter(text);
  const first = body.split("\n").find((line) => /\w/.test(line)) ?? "";
  return oneLine(fieldText(fields.get("description")) ?? first.replace(/^[#\s]+/, ""), 200);
}

/** Project commands may not link out of the project; the user's own may link anywhere. */
function commandFolders(context: CommandContext): CommandFolder[] {
  const roots = [context.workspace, ...context.roots];
  const within = roots.map(realOrSame);
  return [
    ...roots.map((root) => ({ folder: join(root, ".cursor", "commands"), within })),
    { folder: join(context.configDir, "commands") },
    ...(context.plugins ?? []).flatMap(({ name, commands }) => commands.map((folder) => ({ folder, plugin: name }))),
  ];
}

type CommandFolder = { folder: string; within?: string[]; plugin?: string };

/** Returns the possible paths of a command's file. Files of plugins may have other extensions. */
function commandFilePaths(
  { folder, within, plugin }: CommandFolder,
  name: string,
): { path: string; within?: string[] }[] {
  if (plugin === undefined) return [{ path: join(folder, `${name}.md`), ...(within && { within }) }];
  const localName = name.startsWith(`${plugin}:`) ? name.slice(plugin.length + 1) : name;
  return pluginEndings.map((ending) => ({ path: join(folder, `${localName}${ending}`) }));
}

const pluginEndings = [".md", ".mdc", ".markdown", ".txt"];
