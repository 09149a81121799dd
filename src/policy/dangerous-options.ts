// Options that make an everyday command run programs, load code or write files: a rule for the command does not cover them.
import { own, words } from "./command-facts.ts";
import type { ShellWord } from "./shell.ts";
import { baseName, type Run } from "./wrappers.ts";

/** Short letters (also in clusters), long names (also shortened), or whole arguments. */
type Dangerous = { short?: string; long?: readonly string[]; exact?: RegExp };

const dangerous: Record<string, Dangerous> = {
  find: { exact: /^-(exec|execdir|ok|okdir|delete|fprint|fprint0|fprintf|fls)$/ },
  fd: { short: "xX", long: ["exec", "exec-batch"] },
  sort: { short: "oT", long: ["output", "compress-program", "temporary-directory", "files0-from"] },
  rg: { exact: /^--(pre|hostname-bin)(=|$)/s },
  tar: {
    short: "IF",
    long: [
      "use-compress-program",
      "checkpoint-action",
      "to-command",
      "rmt-command",
      "rsh-command",
      "info-script",
      "new-volume-script",
    ],
  },
  man: { short: "PHC", long: ["pager", "html", "browser", "config-file"] },
  vim: { exact: /^(\+|-[a-zA-Z]*[cSsuwW]|--cmd|--remote)/ },
  emacs: { exact: /^(-f|-l|--?(eval|execute|funcall|load|script|batch))/ },
  perl: { exact: /^-[a-zA-Z0]*[eEiMmIx]/ },
  ruby: { exact: /^-[a-zA-Z]*[eirI]/ },
  python: { exact: /^(-[a-zA-Z]*[cm]|-$)/ },
  node: {
    short: "epr",
    long: ["eval", "print", "require", "import", "loader", "experimental-loader", "env-file", "inspect-brk"],
  },
  php: { exact: /^-[a-zA-Z]*[rBREFd]/ },
  lua: { exact: /^-[a-zA-Z]*[el]/ },
  deno: { exact: /^(eval|repl)$/ },
  bun: { exact: /^(-e|--eval|-p|--print|-r|--preload|x)$/ },
  ssh: { short: "oFDLRWJ", long: [] },
  scp: { short: "SoF" },
  sftp: { short: "SoFbD" },
  rsync: { short: "e", long: ["rsh", "rsync-path", "daemon", "filter"] },
  make: {
    exact: /^(-[a-zA-Z]*f-?$|--file(=-)?$|-f.*\/dev\/|--makefile|--eval|-E|SHELL=|MAKEFLAGS=|-[a-zA-Z]*C|--directory)/,
  },
  split: { long: ["filter"] },
  zip: { exact: /^(-TT|--unzip-command|-[a-zA-Z]*T)/ },
  gcc: { exact: /^(-wrapper|-fplugin|-B|-specs|-o|@)/ },
  curl: {
    short: "oOKTDcJ",
    long: [
      "output",
      "remote-name",
      "remote-name-all",
      "config",
      "upload-file",
      "dump-header",
      "cookie-jar",
      "output-dir",
      "trace",
      "trace-ascii",
      "stderr",
      "etag-save",
      "create-dirs",
    ],
  },
  wget: {
    short: "OPoaierx",
    long: [
      "output-document",
      "directory-prefix",
      "output-file",
      "append-output",
      "execute",
      "input-file",
      "use-askpass",
      "post-file",
      "body-file",
      "config",
    ],
  },
  npm: {
    exact: /^(exec|x|--script-shell|--prefix|-C|--node-options|config|set|--init-module|--ignore-scripts=false)(=|$)/s,
  },
  npx: { exact: /./s },
  printf: { exact: /^-v/ },
  test: { exact: /^-[vR]$/ },
  "[": { exact: /^-[vR]$/ },
  tsc: { exact: /^(--?(plugins|generateTrace|generateCpuProfile|outFile|tsBuildInfoFile))(=|$)/is },
  date: { short: "s", long: ["set"] },
  sudo: { exact: /./s },
  xargs: { exact: /^(-a|--arg-file)/ },
  jq: { exact: /^(-L|--from-file|-f)/ },
  less: { exact: /^(\+|-[a-zA-Z]*[oOkT]|--(log-file|LOG-FILE|lesskey))/ },
  docker: {
    exact: /^(--privileged|-v|--volume|--mount|--pid|--net|--network|--cap-add|--device|exec|-H|--host)(=|$)/s,
  },
  kubectl: { exact: /^(exec|--kubeconfig)(=|$)/s },
};
const sameTable: Record<string, string> = {
  vi: "vim",
  nvim: "vim",
  ex: "vim",
  view: "vim",
  python3: "python",
  python2: "python",
  nodejs: "node",
  gmake: "make",
  cc: "gcc",
  "g++": "gcc",
  "c++": "gcc",
  clang: "gcc",
  "clang++": "gcc",
  gfind: "find",
  gsort: "sort",
  gtar: "tar",
  bsdtar: "tar",
  luajit: "lua",
  zipcloak: "zip",
};

const gitGlobal = /^(-c|--config-env|--exec-path=.*|--git-dir|--work-tree|--namespace|--super-prefix)(=|$)/s;
const gitLong = [
  "upload-pack",
  "receive-pack",
  "exec",
  "open-files-in-pager",
  "output",
  "output-directory",
  "ext-diff",
  "template",
  "config",
  "extcmd",
  "tool",
  "run-after",
];
const gitSubcommands = words(`
  config difftool mergetool filter-branch daemon hook instaweb send-email credential credential-store
  credential-cache remote-ext fast-import update-git-for-windows web--browse sh-i18n upload-pack receive-pack
  shell`);
const gitHarmless: Record<string, RegExp> = {
  config: /^(--get|--get-all|--get-regexp|--list|-l|get|list|--show-origin|--show-scope|--get-urlmatch)$/,
};
const gitShort: Record<string, string> = {
  clone: "uc",
  "ls-remote": "u",
  fetch: "u",
  grep: "O",
  rebase: "x",
  archive: "o",
  "format-patch": "o",
  difftool: "x",
};

/** The first argument that does more than its command is known for; undefined for ordinary use. */
export function dangerousArgument({ name, args }: Run): string | undefined {
  const base = baseName(name.value);
  if (base === "git") return dangerousGit(args);
  if (base === "sed" || base === "gsed") return dangerousSed(args);
  if (/^[gmn]?awk$/.test(base)) return dangerousAwk(args);
  const table = own(dangerous, own(sameTable, base) ?? base);
  if (!table) return undefined;
  return args.find(({ value }) => table.exact?.test(value) || isShort(value, table.short) || isLong(value, table.long))
    ?.value;
}

function isShort(value: string, letters: string | undefined): boolean {
  if (!letters || !/^-[a-zA-Z]/.test(value)) return false;
  return [...value.slice(1)].some((letter) => letters.includes(letter));
}

/** Programs take long options shortened; so must we. */
function isLong(value: string, names: readonly string[] | undefined): boolean {
  const name = /^--([^=]{2,})/s.exec(value)?.[1];
  return name !== undefined && names?.some((each) => each.startsWith(name)) === true;
}

function dangerousGit(args: readonly ShellWord[]): string | undefined {
  const at = args.findIndex(
    (arg, index) => !arg.value.startsWith("-") && args[index - 1]?.value !== "-C" && args[index - 1]?.value !== "-c",
  );
  const before = at === -1 ? args : args.slice(0, at);
  const global = before.find((arg) => gitGlobal.test(arg.value));
  if (global) return global.value;
  if (at === -1) return undefined;
  const sub = args[at]!.value;
  const rest = args.slice(at + 1);
  const harmless = own(gitHarmless, sub);
  const short = own(gitShort, sub);
  if (gitSubcommands.has(sub) && !(harmless && rest.some((arg) => harmless.test(arg.value)))) return sub;
  const first = rest.find((arg) => !arg.value.startsWith("-"))?.value;
  if ((sub === "bisect" && first === "run") || (sub === "submodule" && first === "foreach")) return `${sub} ${first}`;
  const end = rest.findIndex((arg) => arg.value === "--");
  const options = end === -1 ? rest : rest.slice(0, end);
  return options.find(({ value }) => isLong(value, gitLong) || isShort(value, short))?.value;
}

/** Only the harmless part of sed is recognised; everything else counts as a program. */
const sedAddress = String.raw`(?:\d+|\$|/(?:[^/\\\n]|\\.)*/I?)`;
const sedCommand = new RegExp(
  String.raw`^\s*(?:${sedAddress}(?:,[+~]?${sedAddress})?\s*!?\s*)?(?:[pdDnNgGhHxlPz=]|q\d*|s([/|#,:@!])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI0-9]*|y/[^/]*/[^/]*/)?\s*$`,
  "s",
);

function dangerousSed(args: readonly ShellWord[]): string | undefined {
  const flagged = args.find(
    ({ value }) => /^(-[a-zA-Z]*[if]|--(in-place|file|i|f))/.test(value) && !/^-[nErsuz]*e$/.test(value),
  );
  if (flagged) return flagged.value;
  const scripts: ShellWord[] = [];
  for (const [index, arg] of args.entries()) {
    if (/^(-[nErsuz]*e|--expression)$/.test(arg.value) && args[index + 1]) scripts.push(args[index + 1]!);
    else if (/^--expression=/.test(arg.value)) scripts.push({ ...arg, value: arg.value.slice(13) });
    else if (/^-[nErsuz]*e./.test(arg.value)) scripts.push({ ...arg, value: arg.value.replace(/^-[nErsuz]*e/, "") });
  }
  if (scripts.length === 0) scripts.push(...args.filter((arg) => !arg.value.startsWith("-")).slice(0, 1));
  const unknown = scripts.find(
    (script) => script.dynamic || !piecesOf(script.value).every((piece) => sedCommand.test(piece)),
  );
  return unknown?.value;
}

/** Semicolons inside a substitution make pieces that match nothing: asked about, never allowed by mistake. */
function piecesOf(script: string): string[] {
  return sedCommand.test(script) ? [script] : script.split(/[;\n]/);
}

function dangerousAwk(args: readonly ShellWord[]): string | undefined {
  const option = args.find(({ value }) =>
    /^(-[fEilLo]|--(file|exec|include|load|source|profile|dump-variables|pretty-print|debug))/.test(value),
  );
  if (option) return option.value;
  const program = args.find(
    (arg, index) => !arg.value.startsWith("-") && !/^-[Fv]$/.test(args[index - 1]?.value ?? ""),
  );
  if (!program) return undefined;
  const text = program.value.replace(/"(?:[^"\\]|\\.)*"/gs, '""').replace(/\|\|/g, " ");
  return program.dynamic || /\bsystem\b|\bgetline\b|[|@]|\bprintf?\b[^;}\n]*>|\bclose\b/.test(text)
    ? program.value
    : undefined;
}
