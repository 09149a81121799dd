// Does a command line only read, and only in the workspace? It then needs no snapshot and no question, so every doubt is a no.
import { pathsIn } from "./files/named-files.ts";
import { readsOf } from "./files/read-files.ts";
import { isOutside, type LineDirectories, type ShellSituation, touchOf } from "./files/shell-paths.ts";
import { readFiles } from "./files/touched-files.ts";
import { writesOf } from "./files/written-files.ts";
import type { ShellLine, ShellRedirect, ShellWord } from "./parse/shell.ts";
import { own, words } from "./programs/command-names.ts";
import { dangerousArgument } from "./programs/dangerous-options.ts";
import { onlyReadsConfig } from "./programs/git-options.ts";
import { showsNoContent } from "./programs/program-kinds.ts";
import { harmlessVariables } from "./programs/shell-builtins.ts";
import { type ProgramStart, type StartedPrograms, startedPrograms } from "./starts/wrappers.ts";

/** They write nothing but their output, whatever they are given. */
const readers = words(`
  cat head tail wc ls dir pwd cd echo true false : basename dirname realpath readlink stat cut tr nl tac rev fold
  fmt expand unexpand paste join comm cmp diff od hexdump strings md5sum sha1sum sha224sum sha256sum sha384sum
  sha512sum b2sum cksum sum grep egrep fgrep seq sleep whoami id groups uname arch nproc uptime printenv which type
  du df ps free tsort numfmt column getconf locale tty expr zcat zgrep`);

/** They write only by certain options or operands: these must be readable. */
const carefulReaders = words("sort uniq tree find rg sed awk gawk mawk jq date printf test [ git");

/** They look at the repository; what they refresh lies in its own folder, which snapshots leave alone. */
const gitReaders = words(`
  status log diff show blame annotate shortlog describe rev-parse rev-list ls-files ls-tree cat-file name-rev
  merge-base grep diff-tree diff-index diff-files for-each-ref show-ref show-branch whatchanged count-objects
  check-ignore check-attr version var`);

/** Other subcommands, and the words after them with which they only list something. */
const gitListings: Record<string, RegExp> = {
  branch: /^( (-[arv]+|--(all|remotes|list|show-current|verbose|(no-)?merged|sort=\S+|format=\S+)))*$/,
  tag: /^( (-l|-n\d*|--list|--sort=\S+))*$/,
  remote: /^( (-v|--verbose|get-url \S+))?$/,
  stash: /^ (list|show)\b/,
  reflog: /^( show\b| -|$)/,
  worktree: /^ list\b/,
};

/** They say which version they are, and do nothing else. */
const versioned = words(`
  node npm npx pnpm yarn bun deno python python3 pip pip3 uv ruby go cargo rustc java javac gcc g++ clang make cmake tsc docker
  podman kubectl gh psql sqlite3 bash`);

/** What they are told is a text, not the name of a file. */
const talkers = words("echo printf true false : seq sleep expr tr basename dirname uname date numfmt which type");

const systemFolders = /^(\/usr)?(\/local)?\/s?bin\//;

/** Arithmetic evaluates what variables hold, subscripts included: `$((x))` can run a command. */
const arithmetic = /\$\(\(|\$\[|\$\{[^}]*[[:]/;

export function onlyReads(command: string, started = startedPrograms(command)): boolean {
  if (arithmetic.test(command)) return false;
  const { runs, lines, opaque, privileged } = started;
  if (opaque.length > 0 || privileged.length > 0 || !lines.every(isHarmlessLine)) return false;
  return runs.every((run, index) => isReader(run) || feedsReader(run, runs[index + 1]));
}

/** The first word by which a line that only reads may look at something outside the workspace. */
export function looksOutside(
  started: StartedPrograms,
  directories: LineDirectories,
  situation: ShellSituation,
): ShellWord | undefined {
  const words = [...readFiles(started, { withOperands: false }), ...started.runs.flatMap(lookedAt)];
  return words.find((word) => {
    const { paths, isUnknown } = touchOf(word, directories.paths, situation);
    return (isUnknown && word.origin !== "names") || paths.some((path) => isOutside(path, situation));
  });
}

/** Separators of fields: `-d/`, `-F:`. */
const separator = /^-[dFt].$/;

function lookedAt({ name, args }: ProgramStart): ShellWord[] {
  if (talkers.has(name.value)) return [];
  // What these look at comes from elsewhere.
  const listed = /^(wc|sort|du)$/.test(name.value) ? args.find((arg) => /^--f(?!ie)/.test(arg.value)) : undefined;
  const elsewhere = name.value === "xargs" ? name : listed;
  if (elsewhere) return [{ ...elsewhere, dynamic: true }];
  const told = args.filter((arg) => !separator.test(arg.value));
  return showsNoContent(name.value) ? told.flatMap(pathsIn) : readsOf({ name, args: told });
}

function isHarmlessLine(line: ShellLine): boolean {
  if (line.errors.length > 0 || line.functions.length > 0 || line.evaluates.length > 0) return false;
  if (!line.redirects.every(isHarmlessRedirect)) return false;
  return line.commands.every(({ assignments }) =>
    // A variable that only the line itself reads is harmless; `PATH=. cat` is not.
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
  // What these start is judged as a run of its own.
  if (run.transparent || readers.has(base)) return true;
  if (versioned.has(base)) return args.length === 1 && /^(--version|-v|-V|version)$/.test(args[0]!.value);
  if (!carefulReaders.has(base) || args.some(mayBeOption)) return false;
  if (dangerousArgument(run) !== undefined || writesOf(run).length > 0) return false;
  if (base === "uniq") return !args.some((arg) => arg.glob);
  // It writes a page into every folder.
  if (base === "tree") return !args.some((arg) => /^-\w*R/.test(arg.value));
  return base !== "git" || readsRepository(args);
}

/** xargs adds words that nobody has read: only for those that write nothing, whatever they are given. */
function feedsReader(run: ProgramStart, next: ProgramStart | undefined): boolean {
  return run.certain && run.name.value === "xargs" && next !== undefined && readers.has(next.name.value);
}

/** A word that becomes an option only when the shell expands it. */
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
