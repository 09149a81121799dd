// Completion: what is being named at the cursor, an `@` path or a `/` command, and the choices for it.
import { bestMatches, type Candidate, candidate } from "./fuzzy.ts";

/**
 * `name` with its slash. `aliases`: other names it is found by, without. `needsArgument`: Enter completes it, and sends it only
 * when more was typed. `isSkill`: Alt+Enter makes it the mode for every prompt that follows.
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
  /** Files and folders of the workspace; folders end in a slash. Called when an `@` is typed. */
  files(): Promise<readonly string[]>;
};

/** `isGuess`: only its letters fit, so that it is not run before it could be seen. */
export type Choice = {
  value: string;
  detail: string;
  isFolder?: boolean;
  isGuess?: boolean;
  needsArgument?: boolean;
  isSkill?: boolean;
};

/** What stands between `start` and the cursor is to be replaced. */
export type Query = { kind: "file" | "command"; start: number; query: string };

const mostChoices = 50;
/** Ours, and all that a project and a few servers bring. */
const mostCommands = 300;

export function queryAt(text: string, cursor: number): Query | undefined {
  const before = text.slice(Math.max(0, cursor - 1024), cursor);
  const offset = cursor - before.length;
  const command = offset === 0 ? /^\/[^\s/]*$/.exec(before) : null;
  if (command && !/^\S/.test(text.slice(cursor))) return { kind: "command", start: 0, query: before.slice(1) };
  // As mentions are read: an @ inside a word is an address.
  const file = /(?:^|[\s([{<>"'`,;:=|*_])@(?:"([^"\n]*)|([^\s"`<>]*))$/.exec(before);
  if (!file) return undefined;
  const query = file[1] ?? file[2]!;
  const start = offset + before.length - query.length - (file[1] === undefined ? 1 : 2);
  return { kind: "file", start, query: query.replaceAll("\\ ", " ") };
}

export function commandChoices(query: string, commands: readonly Command[]): Choice[] {
  const candidates = commands.flatMap((command) => {
    const names = [command.name.slice(1), ...(query === "" ? [] : (command.aliases ?? []))];
    return names.map((name) => ({ ...candidate(name), command }));
  });
  const seen = new Set<Command>();
  return bestMatches(query, candidates, mostCommands)
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
  // A folder that was just chosen is not offered again: what is in it is.
  const others = files.filter(({ name }) => name !== wanted || !name.endsWith("/"));
  return bestMatches(wanted, others, mostChoices).map(({ name }) => ({
    value: name,
    detail: "",
    isFolder: name.endsWith("/"),
  }));
}

/** What is put into the text for a choice. A folder is left open, so that what is in it can be named next. */
export function completed({ kind }: Query, choice: Choice): string {
  if (kind === "command") return `${choice.value} `;
  const isPlain = /^[^\s"`<>]+$/.test(choice.value);
  if (choice.isFolder) return isPlain ? `@${choice.value}` : `@"${choice.value}`;
  return isPlain ? `@${choice.value} ` : `@"${choice.value}" `;
}

/** Folders are known by their files. Shallow names first: that is the order for an empty query. */
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
    .map((name) => ({ ...candidate(name), depth: depth(name) }))
    .sort((one, other) => one.depth - other.depth || (one.lower < other.lower ? -1 : 1));
}
