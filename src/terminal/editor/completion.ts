// Completion: finds the `@` path or `/` command being typed at the cursor, and the choices for it.
import { bestMatches, type Candidate, toCandidate } from "./fuzzy.ts";

/**
 * `name` includes its slash; `aliases` are other names to find it by, without a slash. With `needsArgument`, Enter completes the
 * name, and sends it only when more was typed. With `isSkill`, Alt+Enter makes it the mode for all following prompts.
 */
export type Command = {
  name: string;
  description: string;
  aliases?: readonly string[];
  needsArgument?: boolean;
  isSkill?: boolean;
};

export type CompletionSources = {
  commands(): readonly Command[];
  /** Lists files and folders of the workspace; folders end in a slash. Called when the user types an `@`. */
  files(): Promise<readonly string[]>;
};

/** `isGuess` marks a fuzzy match, which Enter does not run before the user can see it. */
export type Choice = {
  value: string;
  detail: string;
  isFolder?: boolean;
  isGuess?: boolean;
  needsArgument?: boolean;
  isSkill?: boolean;
};

/** What to complete: the text between `start` and the cursor, which the completion replaces. */
export type Query = { kind: "file" | "command"; start: number; query: string };

const maxChoices = 50;
/** Enough for the built-in commands and those of a project and a few servers. */
const maxCommands = 300;

export function queryAt(text: string, cursor: number): Query | undefined {
  const before = text.slice(Math.max(0, cursor - 1024), cursor);
  const offset = cursor - before.length;
  const command = offset === 0 ? /^\/[^\s/]*$/.exec(before) : null;
  if (command && !/^\S/.test(text.slice(cursor))) return { kind: "command", start: 0, query: before.slice(1) };
  // Matches mentions as the parser of prompts does: an @ inside a word is part of an address.
  const file = /(?:^|[\s([{<>"'`,;:=|*_])@(?:"([^"\n]*)|([^\s"`<>]*))$/.exec(before);
  if (!file) return undefined;
  const query = file[1] ?? file[2]!;
  const start = offset + before.length - query.length - (file[1] === undefined ? 1 : 2);
  return { kind: "file", start, query: query.replaceAll("\\ ", " ") };
}

export function commandChoices(query: string, commands: readonly Command[]): Choice[] {
  const candidates = commands.flatMap((command) => {
    const names = [command.name.slice(1), ...(query === "" ? [] : (command.aliases ?? []))];
    return names.map((name) => ({ ...toCandidate(name), command }));
  });
  const seen = new Set<Command>();
  return bestMatches(query, candidates, maxCommands)
    .filter(({ command }) => !seen.has(command) && seen.add(command))
    .map(({ command, name, lower }) => ({
      value: command.name,
      detail: `/${name}` === command.name ? command.description : `${command.description} (/${name})`,
      ...(!lower.includes(query.toLowerCase()) ? { isGuess: true } : {}),
      ...(command.needsArgument ? { needsArgument: true } : {}),
      ...(command.isSkill ? { isSkill: true } : {}),
    }));
}

export function fileChoices(query: string, files: readonly Candidate[]): Choice[] {
  const wanted = query.replace(/^\.\//, "");
  // A folder that was just chosen is not offered again, only its contents.
  const others = files.filter(({ name }) => name !== wanted || !name.endsWith("/"));
  return bestMatches(wanted, others, maxChoices).map(({ name }) => ({
    value: name,
    detail: "",
    isFolder: name.endsWith("/"),
  }));
}

/** Returns the text to insert for a choice. A folder is left open, so that the user can continue with its contents. */
export function completionText({ kind }: Query, choice: Choice): string {
  if (kind === "command") return `${choice.value} `;
  const isPlain = /^[^\s"`<>]+$/.test(choice.value);
  if (choice.isFolder) return isPlain ? `@${choice.value}` : `@"${choice.value}`;
  return isPlain ? `@${choice.value} ` : `@"${choice.value}" `;
}

/** Derives folders from the file paths. Shallow names come first, which is the order for an empty query. */
export function withFolders(files: readonly string[]): Candidate[] {
  const folders = new Set<string>();
  for (const file of files) {
    for (let slash = file.lastIndexOf("/"); slash > 0; slash = file.lastIndexOf("/", slash - 1)) {
      const folder = file.slice(0, slash + 1);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
  }
  const depth = (name: string) => name.split("/").length - (name.endsWith("/") ? 1 : 0);
  return [...folders, ...files]
    .map((name) => ({ ...toCandidate(name), depth: depth(name) }))
    .sort((one, other) => one.depth - other.depth || (one.lower < other.lower ? -1 : 1));
}
