// Finds the files that git writes by name: in the working tree, elsewhere, and its own settings.

import { literalWord, type ShellWord } from "../parse/shell-word.ts";
import { each, list, own } from "../programs/command-names.ts";
import { onlyReadsConfig, subcommandAt } from "../programs/git-options.ts";
import { longIn, type OptionNames, operandsOf, valuesOf } from "../programs/read-options.ts";
import { asPattern } from "./named-files.ts";
import type { WrittenWord } from "./written-files.ts";

type GitArguments = { rest: readonly ShellWord[]; plain: readonly ShellWord[] };

/** Branch names and file names look alike; after `--` there are only files. */
const checkedOut = ({ rest, plain }: GitArguments): readonly ShellWord[] => {
  const dashes = rest.findIndex((arg) => arg.value === "--");
  return plain.filter((arg) => !arg.dynamic || (dashes !== -1 && rest.indexOf(arg) > dashes));
};
/** Returns the operand after the action: `git worktree add path`, `git bundle create file`. */
const after =
  (actions: RegExp, count: number) =>
  ({ plain }: GitArguments): readonly ShellWord[] =>
    actions.test(plain[0]?.value ?? "") ? plain.slice(count, count + 1) : [];

/** Returns the files with the repository's settings for actions that change them. */
const settingsFor =
  (actions: RegExp, ...files: string[]) =>
  ({ plain }: GitArguments): readonly ShellWord[] =>
    plain[0]?.dynamic || actions.test(plain[0]?.value ?? "") ? [".git/config", ...files].map(literalWord) : [];

/** The files that each git subcommand is meant to write. */
const purposes: Record<string, (sub: GitArguments) => readonly ShellWord[]> = {
  ...each("mv rm restore clean pack-objects merge-file", ({ plain }: GitArguments) => plain),
  checkout: checkedOut,
  clone: ({ plain }) => plain.slice(1, 2),
  init: ({ plain }) => plain.slice(0, 1),
  bundle: after(/^create$/, 1),
  worktree: (sub) => [...after(/^(add|move|remove)$/, 1)(sub), ...after(/^move$/, 2)(sub)],
  submodule: (sub) => [
    ...after(/^add$/, 2)(sub),
    ...settingsFor(/^(add|set-url|set-branch|sync)$/, ".gitmodules")(sub),
  ],
  // Changes where later fetches and pushes go. Adding a remote does not: nothing uses a new name by default.
  remote: settingsFor(/^(set-url|rename|rm|remove)$/),
  config: ({ rest }) => configFile(rest),
};

/** Options of a subcommand that take a value, so that the value is not an operand. */
const valued: Record<string, OptionNames> = {
  clone: {
    short: "bojcu",
    long: list(`
      branch depth origin reference jobs filter shallow-since shallow-exclude server-option bundle-uri separate-git-dir
      template config upload-pack`),
  },
  checkout: { short: "bB", long: ["orphan", "conflict", "pathspec-from-file"] },
  worktree: { short: "bB", long: ["reason"] },
  restore: { short: "s", long: ["source"] },
  init: { short: "b", long: ["initial-branch", "separate-git-dir", "template", "object-format"] },
  submodule: { short: "b", long: ["branch", "name", "reference", "depth"] },
};

/** Options of any git subcommand that name a file or folder to write. */
const written = list("output output-directory index-output object-dir filter-to export-marks");

export function gitWrites(args: readonly ShellWord[]): WrittenWord[] {
  const at = subcommandAt(args);
  const sub = args[at]?.value ?? "";
  const rest = args.slice(at + 1);
  const outputs = valuesOf(rest, {
    long: [...written, ...(sub === "checkout-index" ? ["prefix"] : [])],
    ...(/^(archive|format-patch|bugreport|diagnose|index-pack)$/.test(sub) ? { short: "o" } : {}),
  }).map((word) => ({ ...word, isPurpose: false }));
  const plain = operandsOf(rest, own(valued, sub) ?? {});
  const purpose = own(purposes, sub)?.({ rest, plain }) ?? [];
  const settings = /^(init|clone)$/.test(sub) ? newRepository(args.slice(0, at), rest, purpose[0]) : [];
  return [...outputs, ...[...purpose.map(asPattern), ...settings].map((word) => ({ ...word, isPurpose: true }))];
}

/** Returns what `git init` writes in an existing repository: the hooks of a template, and a new location for `.git`. */
function newRepository(
  before: readonly ShellWord[],
  rest: readonly ShellWord[],
  folder: ShellWord | undefined,
): ShellWord[] {
  const has = (name: string) => rest.some((arg) => longIn(arg.value, [name]));
  const isTemplate = has("template") || before.some((arg) => /^init\.templatedir=/i.test(arg.value));
  const names = [...(isTemplate ? [".git/hooks"] : []), ...(has("separate-git-dir") ? [".git"] : [])];
  return names.map((name) => literalWord(folder ? `${folder.value}/${name}` : name));
}

/** Returns the config file that a git command changes. This counts as a write, since settings can name programs. */
function configFile(rest: readonly ShellWord[]): ShellWord[] {
  if (onlyReadsConfig(rest)) return [];
  const named = valuesOf(rest, { short: "f", long: ["file"] });
  if (named.length > 0) return named;
  const isShared = rest.some((arg) => longIn(arg.value, ["global", "system"]) !== undefined);
  return [literalWord(isShared ? "~/.gitconfig" : ".git/config")];
}
