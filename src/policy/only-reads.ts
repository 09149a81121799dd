// Checks whether a command line only reads, and only in the workspace. It then needs no snapshot and no question, so any doubt means no.
import { pathsIn } from "./files/named-files.ts";
import { readsOf } from "./files/read-files.ts";
import { isOutside, type LineDirectories, type ShellSituation, touchOf } from "./files/shell-paths.ts";
import { readFiles } from "./files/touched-files.ts";
import { writesOf } from "./files/written-files.ts";
import type { ShellLine, ShellRedirect, ShellWord } from "./parse/shell.ts";
import { own, words } from "./programs/command-names.ts";
import { dangerousArguments } from "./programs/dangerous-options.ts";
import { onlyReadsConfig } from "./programs/git-options.ts";
import { showsNoContent } from "./programs/program-kinds.ts";
import { harmlessVariables } from "./programs/shell-builtins.ts";
import { type ProgramStart, type StartedPrograms, startedPrograms } from "./starts/wrappers.ts";

/** Programs that write only their output, with any arguments. */
const readers = words(`
  cat head tail wc ls dir pwd cd echo true false : basename dirname realpath readlink stat cut tr nl tac rev fold
  fmt expand unexpand paste join comm cmp diff od hexdump strings md5sum sha1sum sha224sum sha256sum sha384sum
  sha512sum b2sum cksum sum grep egrep fgrep seq sleep whoami id groups uname arch nproc uptime printenv which type
  du df ps free tsort numfmt column getconf locale tty expr zcat zgrep`);

/** Programs that write only with certain options or operands, which must be literal. */
const carefulReaders = words("sort uniq tree find rg sed awk gawk mawk jq date printf test [ git");

/** Git subcommands that only inspect the repository; they may refresh files in `.git`, which snapshots leave out. */
const gitReaders = words(`
  status log diff show blame annotate shortlog describe rev-parse rev-list ls-files ls-tree cat-file name-rev
  merge-base grep diff-tree diff-index diff-files for-each-ref show-ref show-branch whatchanged count-objects
  check-ignore check-attr version var`);

/** Further git subcommands, with the arguments that make them only list. */
const gitListings: Record<string, RegExp> = {
  branch: /^( (-[arv]+|--(all|remotes|list|show-current|verbose|(no-)?merged|sort=\S+|format=\S+)))*$/,
  tag: /^( (-l|-n\d*|--list|--sort=\S+))*$/,
  remote: /^( (-v|--verbose|get-url \S+))?$/,
  stash: /^ (list|show)\b/,
  reflog: /^( show\b| -|$)/,
  worktree: /^ list\b/,
};

/** Programs that only print their version when they are asked for it. */
const versioned = words(`
  node npm npx pnpm yarn bun deno python python3 pip pip3 uv ruby go cargo rustc java javac gcc g++ clang make cmake tsc docker
  podman kubectl gh psql sqlite3 bash`);
/** Programs that also print their version for the bare word `version`. Others would run a file or a target of that name. */
const versionCommands = words("go cargo docker podman kubectl gh");

/** Programs whose arguments are text and not the names of files. */
const talkers = words("echo printf true false : seq sleep expr tr basename dirname uname date numfmt which type");

const systemFolders = /^(\/usr)?(\/local)?\/s?bin\//;

/** Arithmetic evaluates the values of variables, subscripts included: `$((x))` can run a command. */
const arithmetic = /\$\(\(|\$\[|\$\{[^}]*[[:]/;

export function onlyReads(command: string, started = startedPrograms(command)): boolean {
  if (arithmetic.test(command)) return false;
  const { runs, lines, opaque, privileged } = started;
  if (opaque.length > 0 || privileged.length > 0 || !lines.every(isHarmlessLine)) return false;
  return runs.every((run, index) => isReader(run) || feedsReader(run, runs[index + 1]));
}

/** Returns whether the line feeds text to a program that may write it, next to another program that may run it. */
export function writesForAnother(command: string, { runs }: StartedPrograms): boolean {
  const names = runs.filter((run) => !run.transparent && !isReader(run)).map((run) => run.name.value);
  return /<<|\|/.test(command) && new Set(names).size > 1;
}

/** Returns the first word that may refer to something outside the workspace in a line that only reads. */
export function looksOutside(
  started: StartedPrograms,
  directories: LineDirectories,
  situation: ShellSituation,
): ShellWord | undefined {
  const words = [...readFiles(started, { withOperands: false }), ...started.runs.flatMap(wordsReadBy)];
  return words.find((word) => {
    const { paths, isUnknown } = touchOf(word, directories.paths, situation);
    return (isUnknown && word.origin !== "names") || paths.some((path) => isOutside(path, situation));
  });
}

/** Matches field separators: `-d/`, `-F:`. */
const separator = /^-[dFt].$/;

function wordsReadBy({ name, args }: ProgramStart): ShellWord[] {
  if (talkers.has(name.value)) return [];
  // These programs may take the names of files from elsewhere.
  const listed = /^(wc|sort|du)$/.test(name.value) ? args.find((arg) => /^--f(?!ie)/.test(arg.value)) : undefined;
  const elsewhere = name.value === "xargs" ? name : listed;
  if (elsewhere) return [{ ...elsewhere, dynamic: true }];
  const operands = args.filter((arg) => !separator.test(arg.value));
  return showsNoContent(name.value) ? operands.flatMap(pathsIn) : readsOf({ name, args: operands });
}

function isHarmlessLine(line: ShellLine): boolean {
  if (line.errors.length > 0 || line.functions.length > 0 || line.evaluates.length > 0) return false;
  if (!line.redirects.every(isHarmlessRedirect)) return false;
  return line.commands.every(({ assignments }) =>
    // Only variables that change how output looks are harmless; `PATH=. cat` is not.
    assignments.every(({ name }) => harmlessVariables.test(name)),
  );
}

function isHarmlessRedirect({ direction, target }: ShellRedirect): boolean {
  return direction !== "out" || (target?.dynamic === false && /^\/dev\/(null|stdout|stderr)$/.test(target.value));
}

function isReader(run: ProgramStart): boolean {
  const { name, args } = run;
  if (!run.certain || name.dynamic || name.glob) return false;
  const base = name.value.replace(systemFolders, "");
  if (base.includes("/")) return false;
  // The programs that these ones start are judged separately.
  if (run.transparent || readers.has(base)) return true;
  if (versioned.has(base)) {
    const word = args.length === 1 ? args[0]!.value : "";
    return /^(--version|-v|-V)$/.test(word) || (word === "version" && versionCommands.has(base));
  }
  if (!carefulReaders.has(base) || args.some(mayBeOption)) return false;
  if (dangerousArguments(run).length > 0 || writesOf(run).length > 0) return false;
  if (base === "uniq") return !args.some((arg) => arg.glob);
  // With -R, tree writes an HTML page into every folder.
  if (base === "tree") return !args.some((arg) => /^-\w*R/.test(arg.value));
  return base !== "git" || readsRepository(args);
}

/** xargs adds unknown words, so it is allowed only for programs that write nothing whatever their arguments. */
function feedsReader(run: ProgramStart, next: ProgramStart | undefined): boolean {
  return run.certain && run.name.value === "xargs" && next !== undefined && readers.has(next.name.value);
}

/** Returns whether a word may become an option when the shell expands it. */
function mayBeOption(word: ShellWord): boolean {
  return word.dynamic || (word.glob && /^[*?[@+!]/.test(word.value));
}

function readsRepository(args: readonly ShellWord[]): boolean {
  const at = args.findIndex((arg) => !/^(-C|--no-pager|-P|--no-optional-locks|--literal-pathspecs)$/.test(arg.value));
  const start = args[at - 1]?.value === "-C" ? at + 1 : at;
  const sub = args[start]?.value ?? "";
  const rest = args.slice(start + 1);
  if (sub === "config") return onlyReadsConfig(rest);
  const listing = own(gitListings, sub);
  return listing ? listing.test(rest.map(({ value }) => ` ${value}`).join("")) : gitReaders.has(sub);
}
