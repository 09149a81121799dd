// Does a command line only read? Only then it may run without a snapshot, so every doubt is a no.
import { writesOf } from "../../policy/files/written-files.ts";
import type { ShellLine, ShellRedirect, ShellWord } from "../../policy/parse/shell.ts";
import { dangerousArgument } from "../../policy/programs/dangerous-options.ts";
import { harmlessVariables } from "../../policy/programs/shell-builtins.ts";
import { type ProgramStart, startedPrograms } from "../../policy/starts/wrappers.ts";
import { words } from "../../text/words.ts";

/** They write nothing but their output, whatever they are given. */
const readers = words(`
  cat head tail wc ls dir pwd cd echo true false : basename dirname realpath readlink stat cut tr nl tac rev fold
  fmt expand unexpand paste join comm cmp diff od hexdump strings md5sum sha1sum sha224sum sha256sum sha384sum
  sha512sum b2sum cksum sum grep egrep fgrep seq sleep whoami id groups uname arch nproc uptime printenv which type
  du df ps free tsort numfmt column getconf locale tty expr zcat zgrep`);

/** They write only by certain options or operands: these must be readable. */
const carefulReaders = words("sort uniq find rg sed awk gawk mawk jq date printf test [ git");

/** They look at the repository; what they refresh lies in its own folder, which snapshots leave alone. */
const gitReaders = words(`
  status log diff show blame annotate shortlog describe rev-parse rev-list ls-files ls-tree cat-file name-rev
  merge-base grep diff-tree diff-index diff-files for-each-ref show-ref show-branch whatchanged count-objects
  check-ignore check-attr version var`);

const systemFolders = /^(\/usr)?(\/local)?\/s?bin\//;

/** Arithmetic evaluates what variables hold, subscripts included: `$((x))` can run a command. */
const arithmetic = /\$\(\(|\$\[|\$\{[^}]*[[:]/;

export function onlyReads(command: string): boolean {
  if (arithmetic.test(command)) return false;
  const { runs, lines, opaque, privileged } = startedPrograms(command);
  if (opaque.length > 0 || privileged.length > 0 || !lines.every(isHarmlessLine)) return false;
  return runs.every((run, index) => isReader(run) || feedsReader(run, runs[index + 1]));
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
  if (!carefulReaders.has(base) || args.some(mayBeOption)) return false;
  if (dangerousArgument(run) !== undefined || writesOf(run).length > 0) return false;
  if (base === "uniq") return !args.some((arg) => arg.glob);
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
  return gitReaders.has(args[start]?.value ?? "");
}
