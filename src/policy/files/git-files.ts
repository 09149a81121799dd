// The files that git writes by name: in the working tree, elsewhere, and its own settings.

import type { ShellWord } from "../parse/shell-word.ts";
import { own } from "../programs/command-names.ts";
import { onlyReadsConfig, subcommandAt } from "../programs/git-options.ts";
import { type Options, optionOperands, valuesOf } from "../programs/read-options.ts";
import type { Written } from "./written-files.ts";

type Sub = { rest: readonly ShellWord[]; plain: readonly ShellWord[] };

const afterDashes = ({ rest }: Sub): readonly ShellWord[] => {
  const later = rest.findIndex((arg) => arg.value === "--");
  return later === -1 ? [] : rest.slice(later + 1);
};
/** `git worktree add path`, `git bundle create file`: the operand after the action. */
const after =
  (actions: RegExp, count: number) =>
  ({ plain }: Sub): readonly ShellWord[] =>
    actions.test(plain[0]?.value ?? "") ? plain.slice(count, count + 1) : [];

/** What each subcommand is for. */
const purposes: Record<string, (sub: Sub) => readonly ShellWord[]> = {
  mv: ({ plain }) => plain,
  rm: ({ plain }) => plain,
  restore: ({ plain }) => plain,
  clean: ({ plain }) => plain,
  checkout: afterDashes,
  clone: ({ plain }) => plain.slice(1, 2),
  init: ({ plain }) => plain.slice(0, 1),
  bundle: after(/^create$/, 1),
  worktree: ({ plain }) => [...after(/^add$/, 1)({ plain, rest: [] }), ...after(/^move$/, 2)({ plain, rest: [] })],
  submodule: after(/^add$/, 2),
  config: ({ rest }) => configFile(rest),
};

/** Options of a subcommand that have a value, so that it is no operand. */
const valued: Record<string, Options> = {
  clone: {
    short: "bojcu",
    long: [
      "branch",
      "depth",
      "origin",
      "reference",
      "jobs",
      "filter",
      "shallow-since",
      "shallow-exclude",
      "server-option",
      "bundle-uri",
      "separate-git-dir",
      "template",
      "config",
      "upload-pack",
    ],
  },
  worktree: { short: "bB", long: ["reason"] },
  restore: { short: "s", long: ["source"] },
  init: { short: "b", long: ["initial-branch", "separate-git-dir", "template", "object-format"] },
  submodule: { short: "b", long: ["branch", "name", "reference", "depth"] },
};

export function gitWrites(args: readonly ShellWord[]): Written[] {
  const at = subcommandAt(args);
  const sub = args[at]?.value ?? "";
  const rest = args.slice(at + 1);
  const outputs = valuesOf(rest, {
    long: ["output", "output-directory", ...(sub === "checkout-index" ? ["prefix"] : [])],
    ...(sub === "archive" || sub === "format-patch" ? { short: "o" } : {}),
  }).map((word) => ({ ...word, isPurpose: false }));
  const plain = optionOperands(rest, own(valued, sub) ?? {});
  const purpose = own(purposes, sub)?.({ rest, plain }) ?? [];
  return [...outputs, ...purpose.map((word) => ({ ...word, isPurpose: true }))];
}

/** Settings of git name programs: changing them is writing the file that holds them. */
function configFile(rest: readonly ShellWord[]): ShellWord[] {
  if (onlyReadsConfig(rest)) return [];
  const named = valuesOf(rest, { short: "f", long: ["file"] });
  if (named.length > 0) return named;
  const isGlobal = rest.some((arg) => /^--(global|system)$/.test(arg.value));
  const value = isGlobal ? "~/.gitconfig" : ".git/config";
  return [{ text: value, value, dynamic: false, glob: false, tilde: isGlobal }];
}
