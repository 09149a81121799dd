// What is known about everyday commands: which operands they read and which they write.
import type { ShellWord } from "./shell.ts";
import type { Run } from "./wrappers.ts";
import { baseName } from "./wrappers.ts";

/** Built-ins that change the shell itself: what later words mean. No rule for another command implies them. */
export const stateChangers = words(`
  eval source . export declare typeset local readonly alias unalias trap exec set shopt enable hash let
  mapfile readarray read unset getopts builtin complete compgen compopt bind ulimit umask history fc dirs popd
  wait disown suspend caller`);

/** Variables that change only how output looks. */
export const harmlessVariables = /^(LANG|LC_[A-Z]+|TZ|NO_COLOR|CI|TERM|COLUMNS)$/;

export const directoryChangers = words("cd pushd chdir");

const readers = words(`
  cat head tail less more bat nl tac wc sort uniq cut paste join diff cmp comm od xxd hexdump strings base64
  base32 md5sum sha1sum sha256sum cksum view vim vi nano emacs cp mv ln scp rsync tar zip gzip bzip2 xz zstd
  zcat rev fold fmt column expand iconv openssl gpg source . dd install tee file pr split csplit shuf look
  curl`);
/** Their first operand is a pattern or a program, unless an option gives it. */
const patternReaders = words("grep egrep fgrep zgrep rg ag ack sed awk gawk mawk jq yq perl");

const allOperandsWritten = words("tee touch mkdir rm rmdir unlink shred truncate sponge mkfifo mknod mv ln patch");
const lastOperandWritten = words("cp install rsync scp ditto");
const lateOperandsWritten = words("chmod chown chgrp setfacl chattr");

/** Options whose value is a file or folder to write into. */
const outputOptions: Record<string, RegExp> = {
  curl: /^(-[a-zA-Z]*o|--output|--output-dir|-[a-zA-Z]*D|--dump-header|-[a-zA-Z]*c|--cookie-jar|--trace|--trace-ascii|--stderr)$/,
  wget: /^(-[a-zA-Z]*[OPoa]|--output-document|--directory-prefix|--output-file)$/,
  sort: /^(-[a-zA-Z]*o|--output)$/,
  tar: /^(-[a-zA-Z]*C|--directory)$/,
  unzip: /^-d$/,
  cp: /^(-[a-zA-Z]*t|--target-directory)$/,
  mv: /^(-[a-zA-Z]*t|--target-directory)$/,
  ln: /^(-[a-zA-Z]*t|--target-directory)$/,
  install: /^(-[a-zA-Z]*t|--target-directory)$/,
  git: /^(--output|--output-directory)$/,
  gcc: /^-o$/,
  cc: /^-o$/,
  clang: /^-o$/,
};

function operands(args: readonly ShellWord[]): ShellWord[] {
  const end = args.findIndex((arg) => arg.value === "--");
  return args.filter((arg, index) => (end !== -1 && index > end) || (!arg.value.startsWith("-") && arg.value !== ""));
}

/** The files whose content a command shows or copies, as far as its operands say. */
export function readsOf({ name, args }: Run): ShellWord[] {
  const base = baseName(name.value).toLowerCase();
  if (base === "git") {
    const sub = operands(args)[0]?.value;
    return ["diff", "show", "blame", "log", "grep", "cat-file", "add"].includes(sub ?? "")
      ? operands(args).slice(1)
      : [];
  }
  if (base === "curl")
    return args
      .filter((arg) => arg.value.includes("@"))
      .map((arg) => ({ ...arg, value: arg.value.replace(/^.*?@/s, "") }));
  if (readers.has(base))
    return operands(args).map((word) =>
      base === "dd" && word.value.startsWith("if=") ? { ...word, value: word.value.slice(3) } : word,
    );
  if (!patternReaders.has(base)) return [];
  const given = args.some((arg) => /^(-[a-zA-Z]*[ef]|--(regexp|file|expression)(=.*)?)$/s.test(arg.value));
  return operands(args).slice(given ? 0 : 1);
}

/** The files that a command makes, changes or removes, as far as its operands say. */
export function writesOf({ name, args }: Run): ShellWord[] {
  const base = baseName(name.value).toLowerCase();
  const plain = operands(args);
  const found: ShellWord[] = [];
  if (allOperandsWritten.has(base)) found.push(...plain);
  else if (lastOperandWritten.has(base)) found.push(...plain.slice(-1));
  else if (lateOperandsWritten.has(base)) found.push(...plain.slice(1));
  else if (base === "uniq") found.push(...plain.slice(1, 2));
  else if (base === "dd")
    found.push(
      ...plain.filter((word) => word.value.startsWith("of=")).map((word) => ({ ...word, value: word.value.slice(3) })),
    );
  else if (base === "sed" && args.some((arg) => /^(-[a-zA-Z]*i|--in-place)/.test(arg.value))) found.push(...plain);
  const option = own(outputOptions, base);
  if (option) found.push(...valuesOf(args, option));
  return found;
}

function valuesOf(args: readonly ShellWord[], option: RegExp): ShellWord[] {
  const found: ShellWord[] = [];
  for (const [index, arg] of args.entries()) {
    const equals = arg.value.indexOf("=");
    if (equals > 0 && option.test(arg.value.slice(0, equals)))
      found.push({ ...arg, value: arg.value.slice(equals + 1) });
    else if (option.test(arg.value) && args[index + 1]) found.push(args[index + 1]!);
    else if (/^-[a-zA-Z]./.test(arg.value) && option.test(arg.value.slice(0, 2)))
      found.push({ ...arg, value: arg.value.slice(2) });
  }
  return found;
}

export function words(list: string): ReadonlySet<string> {
  return new Set(list.split(/\s+/).filter(Boolean));
}

/** The names are the command's: `constructor` is one too. */
export function own<T>(table: Record<string, T>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
