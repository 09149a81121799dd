// Finds the files that a command creates, changes or removes, as far as its words say.

import { type CommandWords, literalWord, type ShellWord } from "../parse/shell-word.ts";
import { baseName, each, moduleOf, own, words } from "../programs/command-names.ts";
import { namePatterns, startingPoints } from "../programs/find-arguments.ts";
import { optionOutputs } from "../programs/output-options.ts";
import { isOnlyChecking } from "../programs/program-kinds.ts";
import { type OptionNames, operandsOf, valuesOf } from "../programs/read-options.ts";
import { sedFiles, sedInPlace } from "../programs/sed-awk-code.ts";
import { gitWrites } from "./git-files.ts";
import { pathsIn } from "./named-files.ts";

/** A file that is written. `isPurpose` means that writing it is the command's purpose. */
export type WrittenWord = ShellWord & { isPurpose: boolean };

type WriterArguments = { args: readonly ShellWord[]; plain: readonly ShellWord[] };
type Writer = (given: WriterArguments) => readonly ShellWord[];

const all: Writer = ({ plain }) => plain;
const second =
  (values: OptionNames): Writer =>
  ({ args }) =>
    operandsOf(args, values).slice(1, 2);
const first: Writer = ({ plain }) => plain.slice(0, 1);
const last: Writer = ({ plain }) => plain.slice(-1);
/** `chmod MODE file…`: skips the mode, unless it comes from another file. */
const late: Writer = ({ args, plain }) => (hasOption(args, /^--(reference|restore)/) ? plain : plain.slice(1));
/** `cp a b folder` writes to the folder; its new entries are found elsewhere. If an option names the target, the option table applies. */
const target: Writer = ({ args, plain }) => (valuesOf(args, targetOptions("cp")).length > 0 ? [] : plain.slice(-1));
/** Compressors write a file next to the given one, or replace it. */
const compressed: Writer = ({ args, plain }) => (hasOption(args, /^-[a-zA-Z]*[ct]|^--(stdout|test)/) ? [] : plain);
/** `docker cp a b`: the target is the last word; a container's own path is prefixed with its name and a colon. */
const containerCopy: Writer = ({ plain }) => {
  const isCopy = plain.some((word) => /^(cp|rsync|mv|sync)$/.test(word.value));
  return isCopy ? plain.slice(-1).filter((word) => !word.value.includes("://")) : [];
};

/** For each program, the files that it is meant to write. */
const writers: Record<string, Writer> = {
  ...each(
    "tee touch mkdir rm rmdir unlink shred truncate sponge mkfifo mknod mv ln link patch ex ed rimraf trash trash-put",
    all,
  ),
  ...each("degit ditto lessc rsync scp script sftp", last),
  // With -l or -s, writing to the new link changes the source.
  cp: (given) => (hasOption(given.args, /^(-[a-zA-Z]*[ls]|--(symbolic-)?link$)/) ? given.plain : target(given)),
  ...each("chmod chown chgrp setfacl chattr", late),
  ...each("gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd compress uncompress lz4", compressed),
  ...each("tar gtar bsdtar jar", ({ args }: WriterArguments) => tarFiles(args)),
  ...each("docker podman nerdctl", (given: WriterArguments) => [
    ...mountsOf(given.args).flatMap(({ source, isWritable }) => (isWritable ? source : [])),
    ...containerCopy(given),
    // Matches `-o type=local,dest=folder`.
    ...valuesOf(given.args, { short: "o", values: "vpeuwnlhfmc", long: ["output"] }).flatMap(pathsIn),
  ]),
  ...each("kubectl oc gsutil aws", containerCopy),
  ...each("sed gsed", ({ args }: WriterArguments) => (hasOption(args, sedInPlace) ? sedFiles(args) : [])),
  ...each("split csplit", ({ args }: WriterArguments) => operandsOf(args, splitValues).slice(1, 2)),
  ar: ({ args, plain }) => (/^-?[tp]/.test(args[0]?.value ?? "") ? [] : plain.slice(0, 2)),
  // Modules of Python: `python3 -m zipfile -e archive folder`.
  ...each("zipfile tarfile", (given: WriterArguments) =>
    hasOption(given.args, /^(-c|--create)$/) ? first(given) : second({})(given),
  ),
  py_compile: all,
  ...each("black isort", ({ args, plain }: WriterArguments) => (hasOption(args, /^--(check|diff)/) ? [] : plain)),
  ...each("cargo uv deno", ({ plain }: WriterArguments) =>
    /^(new|init|vendor|fmt)$/.test(plain[0]?.value ?? "") ? plain.slice(1) : [],
  ),
  "json.tool": second({ long: ["indent"] }),
  uniq: second({ short: "fsw", long: ["skip-fields", "skip-chars", "check-chars"] }),
  xxd: second({ exact: /^-(c|cols|g|groupsize|l|len|n|name|o|s|seek|R)$/ }),
  ...each("zip flock", first),
  ...each("ffmpeg convert magick montage composite qpdf objcopy wkhtmltopdf sass sphinx sphinx-build", last),
  ...each("mkfs mke2fs mkswap mkdosfs newfs blkdiscard pvcreate vgcreate", all),
  // These programs can also only show information.
  ...each("wipefs fdisk sfdisk sgdisk gdisk cfdisk parted", ({ args, plain }: WriterArguments) =>
    hasOption(args, /^(-[a-zA-Z]*[lpdn]|--(list|print|dump|no-act|info)|print)$/) ? [] : plain,
  ),
  ...each("npm pnpm", ({ plain }: WriterArguments) => {
    const argsText = plain.map((word) => word.value).join(" ");
    // Find settings that name a program which npm runs.
    if (/^((config|c) )?set\b.*\b(shell|node-options|git|editor|viewer|browser|init.module|\w+config)\b/.test(argsText))
      return [literalWord("~/.npmrc")];
    return /^pkg (set|delete|fix)\b/.test(argsText) ? [literalWord("package.json")] : [];
  }),
  install: (given) => (hasOption(given.args, /^(-[a-zA-Z]*d|--directory$)/) ? given.plain : target(given)),
  dd: ({ plain }) =>
    plain.filter((word) => word.value.startsWith("of=")).map((word) => mapWord(word, (value) => value.slice(3))),
  // The first operand of unzip is the archive to read; the others name what to extract.
  sqlite3: ({ args }) => (isOnlyChecking("sqlite3", args) ? [] : operandsOf(args, databaseOptions).slice(0, 1)),
  unzip: ({ args }) => operandsOf(args, { short: "dxP" }).slice(1),
  find: ({ args }) => (hasOption(args, /^-delete$/) ? [...startingPoints(args), ...namePatterns(args)] : []),
  curl: ({ args, plain }) => (hasOption(args, /^-[a-zA-Z]*[OJ]|^--remote-(name|header)/) ? remoteNames(plain) : []),
  wget: ({ args, plain }) => (hasOption(args, /^-[a-zA-Z]*O|^--output-document|^--spider/) ? [] : remoteNames(plain)),
};

const databaseOptions: OptionNames = { exact: /^--?(separator|nullvalue|newline|vfs|maxsize|mmap|cmd|init)$/ };

/** Filters, which write files only with certain options. */
const filters = words("uniq xxd sed gsed curl");
const splitValues: OptionNames = {
  short: "abClntef",
  long: ["suffix-length", "bytes", "lines", "number", "separator"],
};

/** `cp -t folder a b`; in other programs that copy, `-t` has another meaning. */
export function targetOptions(base: string): OptionNames {
  return /^(cp|mv|install|ln)$/.test(base) ? { short: "t", values: "Sgmo", long: ["target-directory"] } : {};
}

export function writesOf({ name, args }: CommandWords): WrittenWord[] {
  const base = baseName(name.value).toLowerCase();
  const settings = changedSettings({ name, args }).map((word) => ({ ...word, isPurpose: true }));
  if (base === "git") return [...gitWrites(args), ...settings];
  // Look up `mkfs.ext4` as `mkfs`.
  const writer = own(writers, base.replace(/^(mkfs|newfs)[._].*$/, "$1"));
  const found = writer?.({ args, plain: operandsOf(args) }) ?? [];
  const named = found.map((word) => ({ ...word, isPurpose: !filters.has(base) }));
  return [...named, ...optionOutputs(base, args), ...settings];
}

export function hasOption(args: readonly ShellWord[], option: RegExp): boolean {
  return args.some((arg) => option.test(arg.value));
}

/** Returns the archive if it is created, or the extracted files if it is read. */
function tarFiles(args: readonly ShellWord[]): ShellWord[] {
  const isOld = /^[a-zA-Z]+$/.test(args[0]?.value ?? "");
  const modes = args.map((arg, at) => (isOld && at === 0 ? `-${arg.value}` : arg.value));
  const isMode = (letters: RegExp, names: RegExp) => modes.some((mode) => letters.test(mode) || names.test(mode));
  const rest = isOld ? args.slice(1) : args;
  const values = "CbgHKLNTVXIF";
  // Old-style options take their values in order from the following words.
  const valueLetters = isOld ? [...args[0]!.value].filter((letter) => `f${values}`.includes(letter)) : [];
  if (isMode(/^-[a-zA-Z]*[cruA]/, /^--(create|append|update|catenate)/)) {
    const old = valueLetters.includes("f") ? rest.slice(valueLetters.indexOf("f")).slice(0, 1) : [];
    return [...old, ...valuesOf(rest, { short: "f", values, long: ["file"] })];
  }
  if (!isMode(/^-[a-zA-Z]*x/, /^--(extract|get)/)) return [];
  const folder = valueLetters.includes("C") ? rest.slice(valueLetters.indexOf("C")).slice(0, 1) : [];
  const members = operandsOf(rest.slice(valueLetters.length), { short: `f${values}`, long: ["file", "directory"] });
  return [...folder, ...members];
}

/** Returns the host folders mounted into a container, and whether they are writable; a bare name is a volume. */
export function mountsOf(args: readonly ShellWord[]): { source: ShellWord; isWritable: boolean }[] {
  const sourceOf = (value: string) => /(?:^|,)(?:source|src)=([^,]*)/.exec(value)?.[1] ?? value.replace(/:.*$/s, "");
  return valuesOf(args, { short: "v", values: "epwunlmhfc", long: ["volume", "mount"] }).map((word) => {
    const source = mapWord(word, sourceOf);
    const isWritable = /^[./~$`]/.test(source.value) && !/(?:^|:|,)(ro|readonly)\b/.test(word.value);
    return { source, isWritable };
  });
}

function remoteNames(addresses: readonly ShellWord[]): ShellWord[] {
  return addresses.map((word) => mapWord(word, (value) => lastPart(value.replace(/[?#].*$/s, ""))));
}

/** Applies `part` to a word and to all its alternatives. */
function mapWord(word: ShellWord, part: (value: string) => string): ShellWord {
  const others = word.others?.map((other) => ({ ...other, value: part(other.value) }));
  return { ...word, value: part(word.value), ...(others && { others }) };
}

function lastPart(path: string): string {
  return path.replace(/\/+$/, "").replace(/^.*\//s, "") || ".";
}

/** A command that changes settings in `file` if its arguments, joined with blanks, match `argsPattern`. */
type SettingsCommand = { argsPattern: RegExp; file: string };

const anything = /^(?!.*--?(help|version)\b)/s;
const installs = /(^|\s)-{0,2}(un)?install(\s|$)/;
const hooks = ".git/hooks";
const startUp = "~/.bashrc";

const settings: Record<string, SettingsCommand> = {
  ...each("pre-commit prek captainhook git-secrets", { argsPattern: installs, file: hooks }),
  lefthook: { argsPattern: /^(.*\s)?(install|uninstall|add)(\s|$)/s, file: hooks },
  // Husky sets the hooks folder in the git config.
  husky: { argsPattern: anything, file: ".git/config" },
  "simple-git-hooks": { argsPattern: anything, file: hooks },
  overcommit: { argsPattern: /(^|\s)(-i|-u|--(un)?install)(\s|$)/, file: hooks },
  "git-annex": { argsPattern: /^init(\s|$)/, file: hooks },
  "git-lfs": { argsPattern: /^(install|uninstall|update)(\s|$)/, file: hooks },
  direnv: { argsPattern: /^(allow|permit|grant)(\s|$)/, file: ".envrc" },
  ...each("conda opam", { argsPattern: /^init(\s|$)/, file: startUp }),
  ...each("mamba micromamba", { argsPattern: /^(shell )?init(\s|$)/, file: startUp }),
  pipx: { argsPattern: /^ensurepath(\s|$)/, file: startUp },
  ...each("pnpm volta", { argsPattern: /^setup(\s|$)/, file: startUp }),
  uv: { argsPattern: /^tool update-shell(\s|$)/, file: startUp },
  "rustup-init": { argsPattern: anything, file: startUp },
  claude: { argsPattern: /^(mcp (add|remove)|config (set|add|remove)|plugin )/, file: ".mcp.json" },
  codex: { argsPattern: /^mcp (add|remove)/, file: "~/.codex/config.toml" },
  gemini: { argsPattern: /^(mcp|extensions) (add|remove|install|link|enable)/, file: ".gemini/settings.json" },
};

/** Returns the file that the command would change, if its settings can run code later: git hooks, shell start-up, other agents' servers. */
function changedSettings(run: CommandWords): ShellWord[] {
  const { program, rest } = splitProgram(run);
  const setting = own(settings, program);
  return setting?.argsPattern.test(rest.map((arg) => arg.value).join(" ")) ? [literalWord(setting.file)] : [];
}

/** Treats `python -m pre_commit` and `git lfs` as programs of their own. */
function splitProgram({ name, args }: CommandWords): { program: string; rest: readonly ShellWord[] } {
  const base = baseName(name.value).toLowerCase();
  const run = moduleOf(base, args);
  if (run) return { program: run.module.value.replaceAll("_", "-"), rest: run.rest };
  const isGit = base === "git" && /^(lfs|secrets|annex)$/.test(args[0]?.value ?? "");
  return isGit ? { program: `git-${args[0]!.value}`, rest: args.slice(1) } : { program: base, rest: args };
}
