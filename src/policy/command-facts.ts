// What is known about everyday commands: which operands they read and which they write.
import { baseName, own, words } from "./command-names.ts";
import { subcommandAt } from "./git-options.ts";
import { sedFiles, sedInPlace } from "./inner-code.ts";
import { type Options, optionValue } from "./read-options.ts";
import type { Invocation, ShellWord } from "./shell-words.ts";

export { own, words } from "./command-names.ts";

/** Built-ins that change the shell itself: what later words mean. No rule for another command implies them. */
export const stateChangers = words(`
  eval source . export declare typeset local readonly alias unalias trap exec set shopt enable hash let
  mapfile readarray read unset getopts builtin complete compgen compopt bind ulimit umask history fc dirs popd
  wait disown suspend caller shift`);

/** Built-ins that only say where the line goes on. */
export const controlFlow = words("break continue exit return");

/** Variables that change only how output looks. */
export const harmlessVariables = /^(LANG|LC_[A-Z]+|TZ|NO_COLOR|CI|TERM|COLUMNS)$/;

export const directoryChangers = words("cd pushd chdir");

const readers = words(`
  cat head tail less more bat nl tac wc sort uniq cut paste join diff cmp comm od xxd hexdump strings base64
  base32 md5sum sha1sum sha256sum cksum view vim vi nano emacs cp mv ln scp rsync tar zip gzip bzip2 xz zstd
  zcat rev fold fmt column expand iconv openssl gpg source . dd install tee file pr split csplit shuf look
  bash sh zsh python python3 node perl ruby php`);
/** Their first operand is a pattern or a program, unless an option gives it. */
const patternReaders = words("grep egrep fgrep zgrep rg ag ack sed awk gawk mawk jq yq");
const gitReaders = words("diff show blame log grep cat-file add hash-object archive apply am");

/** A file that is written. `isPurpose`: writing it is what the command is for. */
export type Written = ShellWord & { isPurpose: boolean };

const allOperands = words("tee touch mkdir rm rmdir unlink shred truncate sponge mkfifo mknod mv ln patch ex ed");
const lastOperand = words("cp install rsync scp ditto");
const lateOperands = words("chmod chown chgrp setfacl chattr");
/** Compressors put a file beside the one that they are given, or in its place. */
const compressors = words("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd compress uncompress lz4");

/** Options whose value is a file or folder to write. */
const outputOptions: Record<string, Options> = {
  curl: {
    short: "oDc",
    values: "XHduAbeEmxrwUzQtyYCPFKT",
    long: [
      "output",
      "output-dir",
      "dump-header",
      "cookie-jar",
      "trace",
      "trace-ascii",
      "stderr",
      "etag-save",
      "hsts",
      "alt-svc",
      "libcurl",
    ],
  },
  wget: {
    short: "OPoa",
    values: "UtTwQlADIRXBei",
    long: [
      "output-document",
      "directory-prefix",
      "output-file",
      "append-output",
      "save-cookies",
      "warc-file",
      "hsts-file",
    ],
  },
  sort: { short: "oT", values: "kSt", long: ["output", "temporary-directory"] },
  tar: { short: "C", values: "fbgHKLNTVXIF", long: ["directory", "index-file", "volno-file"] },
  unzip: { short: "d" },
  cp: { short: "t", long: ["target-directory"] },
  mv: { short: "t", long: ["target-directory"] },
  ln: { short: "t", long: ["target-directory"] },
  install: { short: "t", long: ["target-directory"] },
  gcc: { short: "o", alone: true },
  ld: { short: "o", alone: true },
  as: { short: "o", alone: true },
  go: { short: "o", alone: true },
  rustc: { short: "o", alone: true, long: ["out-dir"] },
  cargo: { long: ["target-dir", "out-dir", "root"] },
  time: { short: "o", long: ["output"] },
  strace: { short: "o", long: ["output"] },
  ltrace: { short: "o", long: ["output"] },
  iconv: { short: "o", long: ["output"] },
  gpg: { short: "o", long: ["output"] },
  openssl: { exact: /^-(out|keyout)$/ },
  find: { exact: /^-f(print0?|printf|ls)$/ },
  "ssh-keygen": { short: "f" },
  ssh: { short: "ES", values: "bcDeiJLlmOopQRWw" },
  rsync: { long: ["log-file", "write-batch", "only-write-batch", "temp-dir", "backup-dir", "partial-dir"] },
  less: { short: "oO", long: ["log-file"] },
  pandoc: { short: "o", long: ["output", "extract-media"] },
  shuf: { short: "o", long: ["output"] },
  bison: { short: "o", long: ["output"] },
  flex: { short: "o", long: ["outfile"] },
  pip: { short: "t", long: ["target", "prefix", "root", "src", "cache-dir", "log"] },
  npm: { long: ["pack-destination", "cache"] },
  node: { long: ["redirect-warnings", "diagnostic-dir", "report-dir", "cpu-prof-dir", "heap-prof-dir"] },
  protoc: { long: ["cpp_out", "python_out", "java_out", "js_out", "go_out", "descriptor_set_out"] },
  docker: { long: ["iidfile", "cidfile", "metadata-file"] },
  patch: { short: "or", long: ["output", "reject-file", "directory"] },
  tcpdump: { short: "w" },
  psql: { short: "oL", long: ["output", "log-file"] },
  pg_dump: { short: "f", long: ["file"] },
  mysqldump: { short: "r", long: ["result-file", "tab"] },
  tsc: { exact: /^--?(outFile|outDir|declarationDir|tsBuildInfoFile)$/i },
};
const sameOutputs: Record<string, string> = {
  cc: "gcc",
  "g++": "gcc",
  "c++": "gcc",
  clang: "gcc",
  "clang++": "gcc",
  pip3: "pip",
  gsort: "sort",
  gtar: "tar",
  bsdtar: "tar",
};
/** Where the command's own purpose is to put something there. */
const purposeful = words(
  "cp mv ln install tar unzip gcc cc g++ c++ clang clang++ ld as go rustc cargo tsc protoc patch",
);

/** Options whose value is the folder that the command works in. */
const folderOptions: Record<string, Options> = {
  git: { short: "C" },
  make: { short: "C", long: ["directory"] },
  npm: { short: "C", long: ["prefix"] },
  pnpm: { short: "C", long: ["dir", "prefix"] },
  yarn: { long: ["cwd"] },
  bun: { long: ["cwd"] },
  cargo: { short: "C" },
  go: { short: "C" },
  uv: { long: ["directory", "project"] },
  poetry: { short: "C", long: ["directory"] },
  ninja: { short: "C" },
  cmake: { short: "B" },
};

/** The files whose content a command shows or copies, as far as its operands say. */
export function readsOf({ name, args }: Invocation): ShellWord[] {
  const base = baseName(name.value).toLowerCase();
  if (base === "git") {
    const at = subcommandAt(args);
    return gitReaders.has(args[at]?.value ?? "") ? operands(args.slice(at + 1)) : [];
  }
  if (base === "curl" || base === "wget")
    return args
      .filter((arg) => arg.value.includes("@") || /^(-T|--upload-file|--post-file|file:)/.test(arg.value))
      .map((arg) => ({ ...arg, value: arg.value.replace(/^.*?@|^file:\/\/|^--?[\w-]+=?/s, "") }));
  if (base === "dd") return operands(args).map((word) => ({ ...word, value: word.value.replace(/^if=/, "") }));
  if (readers.has(base)) return [...operands(args), ...attachedFiles(args)];
  if (!patternReaders.has(base)) return [];
  const given = args.some((arg) => /^(-[a-zA-Z]*[ef]|--(regexp|file|expression)(=.*)?)$/s.test(arg.value));
  return [...operands(args).slice(given ? 0 : 1), ...attachedFiles(args)];
}

/** `--file=.env`, `-f.env` */
function attachedFiles(args: readonly ShellWord[]): ShellWord[] {
  return args.flatMap((arg) => {
    const value = /^--[\w-]+=(.+)$|^-[a-zA-Z](.+)$/s.exec(arg.value);
    return value ? [{ ...arg, value: (value[1] ?? value[2])! }] : [];
  });
}

/** The files that a command makes, changes or removes, as far as its operands say. */
export function writesOf({ name, args }: Invocation): Written[] {
  const base = baseName(name.value).toLowerCase();
  if (base === "git") return gitWrites(args);
  const plain = operands(args);
  const found = purposeWrites(base, plain, args).map((word) => ({
    ...word,
    isPurpose: base !== "uniq" && base !== "sed",
  }));
  const options = own(outputOptions, own(sameOutputs, base) ?? base);
  if (options) for (const word of valuesOf(args, options)) found.push({ ...word, isPurpose: purposeful.has(base) });
  return found;
}

function purposeWrites(base: string, plain: readonly ShellWord[], args: readonly ShellWord[]): readonly ShellWord[] {
  if (allOperands.has(base)) return plain;
  if (lastOperand.has(base)) return lastTarget(plain, args);
  if (lateOperands.has(base)) return plain.slice(1);
  if (compressors.has(base)) return args.some((arg) => /^-[a-zA-Z]*[ct]|^--(stdout|test)/.test(arg.value)) ? [] : plain;
  switch (base) {
    case "uniq":
      return plain.slice(1, 2);
    case "dd":
      return plain
        .filter((word) => word.value.startsWith("of="))
        .map((word) => ({ ...word, value: word.value.slice(3) }));
    case "sed":
    case "gsed":
      return args.some((arg) => sedInPlace.test(arg.value)) ? sedFiles(args) : [];
    case "tar":
    case "gtar":
    case "bsdtar":
      return tarArchive(args);
    case "zip":
      return plain.slice(0, 1);
    case "split":
    case "csplit":
      return plain.slice(1, 2);
    case "xxd":
      return plain.slice(1, 2);
    case "script":
      return plain.slice(-1);
    case "flock":
      return plain.slice(0, 1);
    case "docker":
    case "podman":
      return dockerMounts(args);
    case "curl":
      return args.some((arg) => /^-[a-zA-Z]*[OJ]|^--remote-(name|header)/.test(arg.value)) ? remoteNames(plain) : [];
    case "wget":
      return args.some((arg) => /^-[a-zA-Z]*O|^--output-document|^--spider/.test(arg.value)) ? [] : remoteNames(plain);
    default:
      return [];
  }
}

/** `cp a b folder`: the folder, whose new entries are another matter. */
function lastTarget(plain: readonly ShellWord[], args: readonly ShellWord[]): ShellWord[] {
  const named = valuesOf(args, { short: "t", long: ["target-directory"] });
  return named.length > 0 ? named : plain.slice(-1);
}

function lastPart(path: string): string {
  return path.replace(/\/+$/, "").replace(/^.*\//s, "") || ".";
}

/** The archive, unless it is only read. */
function tarArchive(args: readonly ShellWord[]): ShellWord[] {
  const first = args[0] && /^[a-zA-Z]+$/.test(args[0].value) ? `-${args[0].value}` : args[0]?.value;
  const modes = [first ?? "", ...args.slice(1).map((arg) => arg.value)];
  const writes = modes.some(
    (mode) => /^-[a-zA-Z]*[cruA]/.test(mode) || /^--(create|append|update|catenate)/.test(mode),
  );
  if (!writes) return [];
  const old = args[0] && !args[0].value.startsWith("-") && args[0].value.includes("f") ? args.slice(1, 2) : [];
  return [...old, ...valuesOf(args, { short: "f", values: "CbgHKLNTVXIF", long: ["file"] })];
}

/** Folders of this machine that a container gets; a bare name is a volume of its own. */
function dockerMounts(args: readonly ShellWord[]): ShellWord[] {
  const found: ShellWord[] = [];
  for (const word of valuesOf(args, { short: "v", values: "epwunlmhfc", long: ["volume", "mount"] })) {
    const source = /(?:^|,)(?:source|src)=([^,]*)/.exec(word.value)?.[1] ?? word.value.replace(/:.*$/s, "");
    if (/^[./~$`]/.test(source) && !/(?:^|:|,)(ro|readonly)\b/.test(word.value)) found.push({ ...word, value: source });
  }
  return found;
}

function remoteNames(addresses: readonly ShellWord[]): ShellWord[] {
  return addresses.map((word) => ({ ...word, value: lastPart(word.value.replace(/[?#].*$/s, "")) }));
}

/** What git puts into the working tree, or elsewhere, by name. */
function gitWrites(args: readonly ShellWord[]): Written[] {
  const at = subcommandAt(args);
  const sub = args[at]?.value;
  const rest = args.slice(at + 1);
  const plain = operands(rest);
  const purpose = (words: readonly ShellWord[]): Written[] => words.map((word) => ({ ...word, isPurpose: true }));
  const options = valuesOf(rest, {
    long: ["output", "output-directory"],
    ...(sub === "archive" || sub === "format-patch" ? { short: "o" } : {}),
  }).map((word) => ({ ...word, isPurpose: false }));
  const later = rest.findIndex((arg) => arg.value === "--");
  const paths = later === -1 ? [] : rest.slice(later + 1);
  switch (sub) {
    case "mv":
      return [...options, ...purpose(plain)];
    case "rm":
    case "restore":
    case "clean":
      return [...options, ...purpose(plain)];
    case "checkout":
      return [...options, ...purpose(paths)];
    case "clone":
      return [...options, ...purpose(withoutValues(plain, rest, cloneValues).slice(1, 2))];
    case "bundle":
      return [...options, ...purpose(plain.slice(1, 2))];
    case "init":
      return [...options, ...purpose(plain.slice(0, 1))];
    case "worktree":
      return [...options, ...(plain[0]?.value === "add" ? purpose(plain.slice(1, 2)) : [])];
    case "submodule":
      return [...options, ...(plain[0]?.value === "add" ? purpose(plain.slice(2, 3)) : [])];
    case "config":
      return [...options, ...purpose(configFile(rest))];
    default:
      return options;
  }
}

const cloneValues =
  /^(-[bojc]|--(branch|depth|origin|reference|jobs|filter|shallow-since|shallow-exclude|server-option|bundle-uri))$/;

/** Operands that are not the value of the option before them. */
function withoutValues(plain: readonly ShellWord[], args: readonly ShellWord[], valued: RegExp): ShellWord[] {
  return plain.filter((word) => !valued.test(args[args.indexOf(word) - 1]?.value ?? ""));
}

/** Settings of git name programs: changing them is writing the file that holds them. */
function configFile(rest: readonly ShellWord[]): ShellWord[] {
  const reads = /^(--get.*|--list|-l|get|list|--show-origin|--show-scope|--name-only)$/;
  if (rest.some((arg) => reads.test(arg.value))) return [];
  const changes =
    /^(--(add|replace-all|unset|unset-all|rename-section|remove-section|edit)|-e|set|unset|rename-section|remove-section|edit)$/;
  if (operands(rest).length < 2 && !rest.some((arg) => changes.test(arg.value))) return [];
  const named = valuesOf(rest, { short: "f", long: ["file"] });
  if (named.length > 0) return named;
  const isGlobal = rest.some((arg) => /^--(global|system)$/.test(arg.value));
  const value = isGlobal ? "~/.gitconfig" : ".git/config";
  return [{ text: value, value, dynamic: false, glob: false, tilde: isGlobal }];
}

/** Folders that a command is told to work in. */
export function foldersOf({ name, args }: Invocation): ShellWord[] {
  const options = own(folderOptions, baseName(name.value));
  return options ? valuesOf(args, options) : [];
}

function operands(args: readonly ShellWord[]): ShellWord[] {
  const end = args.findIndex((arg) => arg.value === "--");
  return args.filter((arg, index) => (end !== -1 && index > end) || !arg.value.startsWith("-"));
}

function valuesOf(args: readonly ShellWord[], options: Options): ShellWord[] {
  const found: ShellWord[] = [];
  for (const [index, arg] of args.entries()) {
    if (arg.value === "--") break;
    const value = optionValue(arg.value, args[index + 1], options)?.word;
    if (value) found.push(value.dynamic && !value.origin && arg.origin ? { ...value, origin: arg.origin } : value);
    // `--output=${x:-file}`: the words that it may become.
    for (const other of arg.others ?? []) {
      const named = optionValue(other.value, undefined, options)?.word;
      if (named) found.push(named);
    }
  }
  return found;
}
