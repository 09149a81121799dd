// Predicts what commands print: a number or date, names that exist, or anything.

import type { CommandWords, ShellWord, WordOrigin } from "../parse/shell-word.ts";
import { each, own } from "../programs/command-names.ts";

/** `token`: one word that is neither an option nor a path. `mentions`: where names may come from. `isAlways`: never empty. */
export type PredictedOutput = { gives: "token" | WordOrigin; mentions: readonly ShellWord[]; isAlways?: true };

/** Applies if the first argument is `first`, every other one with a dash matches `flags`, and the rest match `operands`. */
type OutputRule = {
  gives: "token" | "names" | "environment";
  first?: string;
  flags?: RegExp;
  operands?: RegExp;
  /** A flag that the program needs to print this. */
  needs?: RegExp;
  /** Whether the output is never empty. */
  isAlways?: true;
};

const revision = /^[A-Za-z@][\w./~^@{}-]*$/;
const outputRules: Record<string, OutputRule | readonly OutputRule[]> = {
  date: { gives: "token", flags: /^(-u|--utc|-I\w*)$/, operands: /^\+(?!.*%[nt])[A-Za-z0-9%][\w%:.+-]*$/ },
  nproc: { gives: "token", flags: /^--all$/ },
  id: { gives: "token", flags: /^-[ugn]{1,2}$/ },
  ...each("whoami arch", { gives: "token" }),
  ...each("hostname uname", { gives: "token", flags: /^-[mrsn]$/ }),
  tput: { gives: "token", operands: /^(cols|lines)$/ },
  seq: { gives: "names", operands: /^\d+$/ },
  pgrep: { gives: "names", flags: /^-[fnoxu]+$/, operands: /^[^-]/ },
  pidof: { gives: "names", operands: /^\w/ },
  lsof: {
    gives: "names",
    flags: /^(-[tinP]+((tcp|udp)?:\d+)?|-sTCP:LISTEN)$/i,
    operands: /^(tcp|udp)?:\d+$/,
    needs: /^-\w*t/,
  },
  pwd: { gives: "environment", flags: /^-[PL]$/, isAlways: true },
  mktemp: { gives: "environment", flags: /^-d$/ },
  which: { gives: "environment", operands: /^\w/ },
  command: { gives: "environment", flags: /^-v$/, operands: /^\w/, needs: /^-v$/ },
  node: { gives: "token", flags: /^(-v|--version)$/ },
  npm: { gives: "environment", flags: /^-g$/, operands: /^(bin|prefix|root)$/ },
  go: [
    { gives: "environment", first: "env", operands: /^[A-Z]\w*$/ },
    { gives: "names", first: "list", operands: /^\.\/\.\.\.$/ },
  ],
  brew: { gives: "environment", flags: /^--prefix$/, operands: /^\w/, needs: /^--prefix$/ },
  ls: { gives: "names", flags: /^-[1AadtrSR]+$/, operands: /^[^-]/ },
  find: {
    gives: "names",
    flags:
      /^-(maxdepth|mindepth|type|i?name|i?path|newer|[acm]time|[acm]min|size|not|or?|and?|prune|print0?|empty|executable|L|H)$|^-\d+$/,
    operands: /^[^-]/,
  },
  fd: {
    gives: "names",
    flags: /^(-[eHIatu0d]+|--(hidden|no-ignore|type|extension|max-depth|glob))$/,
    operands: /^[^-]/,
  },
  rg: {
    gives: "names",
    flags:
      /^(-[liwFSUgtTe0]+|--(files|files-with(out)?-match(es)?|hidden|no-ignore|ignore-case|type|glob|sort)(=.*)?)$/s,
    operands: /^[^-]/,
    needs: /^(-\w*l\w*|--files.*)$/,
  },
  grep: {
    gives: "names",
    flags: /^(-[rRiwxEFPlLsIeZ]+|--(include|exclude|exclude-dir)=.*|--files-with(out)?-match(es)?|--recursive)$/s,
    operands: /^[^-]/,
    needs: /^(-\w*[lL]\w*|--files.*)$/,
  },
  docker: ["ps", "images", "container", "compose", "volume", "network", "image"].map((first) => ({
    gives: "names",
    first,
    flags: /^(-[aqfln]+|--(all|quiet|filter|no-trunc)(=[\w./:=-]+)?)$/,
    operands: /^(ls|ps|[a-z][\w.-]*(=[\w./:-]+)?)$/,
    needs: /^(-[afln]*q[afln]*|--quiet)$/,
  })),
  git: [
    {
      gives: "token",
      first: "rev-parse",
      flags: /^(--short(=\d+)?|--verify|-q|--quiet)$/,
      operands: /^[A-Za-z@][\w@~^]*$/,
    },
    { gives: "names", first: "rev-parse", flags: /^--abbrev-ref$/, operands: /^(HEAD|@|@\{u\})$/ },
    { gives: "environment", first: "rev-parse", flags: /^--show-toplevel$/, isAlways: true },
    { gives: "environment", first: "rev-parse", flags: /^--(git-dir|show-cdup|git-common-dir)$/ },
    { gives: "names", first: "branch", flags: /^(-[ar]|--(merged|no-merged|list|show-current))$/, operands: revision },
    { gives: "names", first: "symbolic-ref", flags: /^--short$/, operands: /^HEAD$/ },
    { gives: "names", first: "tag", flags: /^(-l|--list)$/, operands: /^[\w.*]+$/ },
    { gives: "names", first: "describe", flags: /^--(tags|always|abbrev=\d+|dirty)$/, operands: revision },
    {
      gives: "token",
      first: "log",
      flags: /^(-1|-n1|--(format|pretty)=(format:)?%[hH])$/,
      operands: revision,
      needs: /=.*%[hH]$/,
    },
    { gives: "names", first: "merge-base", operands: revision },
    {
      gives: "names",
      first: "rev-list",
      flags: /^(-\d+|-n\d+|--(count|all|max-count=\d+|first-parent|merges))$/,
      operands: revision,
    },
    ...["ls-files", "diff", "diff-tree", "show", "ls-tree"].map((first) => ({
      gives: "names" as const,
      first,
      flags:
        /^(--name-only|--cached|--staged|--others|--exclude-standard|--modified|--deleted|--diff-filter=\w+|--relative|--no-commit-id|--|-[mocrdz]+)$/,
      operands: /^[^-]/,
      ...(first !== "ls-files" && { needs: /^--name-only$/ }),
    })),
  ],
};

/** Filters that pass lines on unchanged, or fewer of them. Operands would be files of their own. */
const filters: Record<string, { flags: RegExp; operands: number }> = {
  head: { flags: /^-(n?-?\d*|c\d+)$/, operands: 0 },
  tail: { flags: /^-n?[+-]?\d*$/, operands: 0 },
  sort: { flags: /^-([rnuVhf]+|[tk].*)$/s, operands: 0 },
  uniq: { flags: /^-[du]$/, operands: 0 },
  tac: { flags: /^$/, operands: 0 },
  grep: { flags: /^-[viEFwx]+$/, operands: 1 },
};

/** Matches awk scripts that only print one field of each line. */
const fieldPrinter = /^[^"'`|>@]*\{\s*print \$(\d+|NF)\s*;?\s*\}\s*$/;

const computed: PredictedOutput = { gives: "made", mentions: [] };

export function predictOutput(commands: readonly CommandWords[]): PredictedOutput {
  const [first, ...rest] = commands;
  return first ? rest.reduce(outputThrough, outputOfFirst(first)) : computed;
}

function outputOfFirst({ name, args }: CommandWords): PredictedOutput {
  if (!isKnown([name])) return computed;
  if (name.value === "echo" || name.value === "printf") return { ...computed, mentions: args.flatMap(spokenWords) };
  if (name.value === "basename" || name.value === "dirname") return partOfPath(args);
  if (!isKnown(args) || args.some((arg) => /[\n\r]/.test(arg.value))) return computed;
  const rule = [own(outputRules, name.value) ?? []].flat().find((each) => ruleApplies(each, args));
  if (!rule) return computed;
  const { gives, isAlways } = rule;
  const isNamed = (at: number) => /^-i?(name|path)$/.test(args[at - 1]?.value ?? "");
  const mentions = args.map((arg, at) => (isNamed(at) ? { ...arg, glob: true } : arg));
  return { gives, mentions: mentions.filter((arg) => !arg.value.startsWith("-")), ...(isAlways && { isAlways }) };
}

function ruleApplies({ first, flags, operands, needs }: OutputRule, args: readonly ShellWord[]): boolean {
  if (first !== undefined && args[0]?.value !== first) return false;
  if (needs && !args.some((arg) => needs.test(arg.value))) return false;
  const rest = first === undefined ? args : args.slice(1);
  return rest.every(({ value }) => (value.startsWith("-") ? flags : operands)?.test(value) === true);
}

/** `$(basename "$PWD")` is as reliable as its argument; of a literal it could be any part. */
function partOfPath(args: readonly ShellWord[]): PredictedOutput {
  const origin = args[0]?.origin;
  const isFromOutside = (origin !== undefined && origin !== "made") || args[0]?.glob === true;
  return isFromOutside && isKnown(args.slice(1)) ? { gives: "derived", mentions: [] } : computed;
}

function outputThrough({ gives, mentions }: PredictedOutput, { name, args }: CommandWords): PredictedOutput {
  if (gives === "made" || !isKnown([name, ...args])) return { ...computed, mentions };
  const values = args.map((arg) => arg.value);
  if (name.value === "wc" && values.length === 1 && /^-[lwc]$/.test(values[0]!))
    return { gives: "token", mentions: [] };
  const filter = own(filters, name.value);
  if (filter) {
    const flags = values.filter((value) => value.startsWith("-"));
    const operands = values.filter(
      (value, index) => !value.startsWith("-") && !/^-[nktc]$/.test(values[index - 1] ?? ""),
    );
    return flags.every((flag) => filter.flags.test(flag)) && operands.length === filter.operands
      ? { gives, mentions }
      : computed;
  }
  const isField =
    name.value === "awk"
      ? fieldPrinter.test(values.at(-1) ?? "") &&
        values.length <= 3 &&
        /^(-F.*|)$/s.test(values.length > 1 ? values[0]! : "")
      : name.value === "cut" &&
        values.every((value, index) => /^-[dfc]/.test(value) || /^-[dfc]$/.test(values[index - 1] ?? ""));
  return isField ? { gives: "derived", mentions } : computed;
}

/** Returns the words of a text that a command prints. */
export function spokenWords({ value, dynamic }: Pick<ShellWord, "value" | "dynamic">): ShellWord[] {
  if (dynamic) return [];
  const texts = value.split(/(?:\s|\\[nt0])+/).filter((text) => text !== "" && !text.startsWith("-"));
  return texts.map((text) => ({ text, value: text, dynamic: false, glob: false, tilde: false }));
}

function isKnown(words: readonly ShellWord[]): boolean {
  return words.every((word) => !word.dynamic);
}
