// Classifies programs by what they do with their arguments. A program in none of these lists may do anything with them.
import { baseName, each, own, words } from "./command-names.ts";

/** They refer to files, but neither write them nor show their contents. */
const speakers = words(`
  ls dir vdir exa eza lsd tree stat df du test [ echo printf readlink realpath basename dirname which type whereis command
  getfacl lsattr cd chdir pushd popd dirs pwd kill pkill pgrep sleep seq true false : exit return break continue export
  declare typeset local readonly unset alias unalias set shift wait read hash help umask ulimit trap man tldr`);

/** They create, change and remove files as `written-files.ts` says, and show no contents. */
const makers = words(`
  touch mkdir rm rmdir unlink shred chmod chown chgrp chattr setfacl mkfifo mknod truncate find rimraf trash trash-put`);

/** Programs that write exactly what `written-files.ts` says, and may show what they read. */
const knownWriters = words(`
  cp mv ln install rsync scp tee sponge dd gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd compress uncompress lz4 tar gtar
  bsdtar zip unzip split csplit fd fdfind patch ditto`);

/** They write only to their output; options that name a file to write are in `output-options.ts`. */
const onlyRead = words(`
  cat head tail less more most bat batcat nl tac wc cut paste join diff sdiff diff3 colordiff delta cmp comm od xxd hexdump
  hd strings base64 base32 basenc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum rev fold fmt
  column expand unexpand iconv file pr look shuf sort uniq tsort ptx grep egrep fgrep zgrep rg ag ack ugrep jq zcat
  zless bzcat xzcat zstdcat getfattr date cal tr numfmt factor expr bc id whoami uname hostname printenv ps lsof free
  uptime nproc groups locale tput clear info shellcheck yamllint hadolint actionlint cloc tokei scc eval
  source . ping dig host nslookup ss netstat curl wget`);

/** Programs that take texts and names but run none of them; options that do are in `dangerous-options.ts`. */
const neverRun = words(`
  git gh glab hub pip pip3 gem brew sed gsed awk gawk mawk nawk http xh aws az systemctl journalctl
  yq pandoc`);

/** Programs with their own language: what their options run is not shell code. */
export const otherLanguages = words(`
  make gmake vim vi nvim ex view emacs nano less more gdb lldb expect osascript sqlite3 psql mysql ed tcpdump hyperfine
  nodemon crontab sed gsed awk gawk mawk nawk dc m4 gnuplot tclsh wish pwsh powershell`);
/** Programs whose input decides which files they write. */
export const instructed = words("patch curl sftp ftp lftp cpio at batch aria2c wget");
/** Database shells: they read statements, and their operands are not scripts. */
export const databaseShells = words("sqlite3 psql mysql mariadb");
/** Interpreters whose operand is the file they work on, not a script. */
export const opensOperands = words("sqlite3 ed ex");

/** Returns whether the program neither opens nor shows the files it is given. */
export function showsNoContent(name: string): boolean {
  const base = baseName(name);
  return speakers.has(base) || makers.has(base);
}

/** Returns whether the program's purpose is to open the files it is given. */
export function opensFiles(name: string): boolean {
  const base = baseName(name);
  return (onlyRead.has(base) || knownWriters.has(base)) && !/^(eval|curl|wget)$/.test(base);
}

/** Returns whether the program writes nothing beyond what the tables say. */
export function writesAsKnown(name: string): boolean {
  const base = baseName(name);
  return onlyRead.has(base) || showsNoContent(base) || knownWriters.has(base);
}

/** Returns whether its arguments are never the name of a program to start. */
export function startsNothing(name: string): boolean {
  const base = baseName(name);
  return writesAsKnown(base) || neverRun.has(base);
}

const never = /^(?!)/;
/** Linters, test runners and uploaders, with the options that make them change files. */
export const changingOptions: Record<string, RegExp> = {
  ...each("serve http-server ansible-playbook ssh-add twine k6 codecov", never),
  ...each("pytest py.test mypy pyright pylint flake8 bandit vulture", /^(--junit|--cov-report|-o|--output)/),
  ...each("vitest jest mocha ava tap c8 nyc", /^(-u|--update|--outputFile|--coverageDirectory|--report)/i),
  ruff: /^(--fix|--unsafe-fixes|-o|--output-file|format$)/,
  go: /^(fmt|generate|mod|get|install|fix)$|^--?(w|o|trace|outputdir|\w*profile|test\..*)(=|$)/s,
  ...each("gofmt prettier shfmt", /^(-[a-z]*w|--write)/),
  ...each("eslint standard stylelint", /^(--fix|-o|--output-file)/),
  biome: /^--(write|fix|apply)/,
  "clang-format": /^(-i|--inplace)/,
  yq: /^(-[a-zA-Z]*i|--in-?place)/,
  ...each("venv virtualenv", /^/),
  markdownlint: /^(-f|--fix|-o|--output)/,
};

/** For each program, the subcommands that do not change the files they are given. */
const askingCommands: Record<string, RegExp> = {
  ...each("npm pnpm yarn bun", /^(t|tst|test|view|info|ls|list|why|explain|audit|outdated|search)$/),
  cargo: /^(test|check|clippy|tree|bench|doc)$/,
  kubectl: /^(apply|create|diff|replace|delete|get|describe|scale|rollout|logs)$/,
  helm: /^(install|upgrade|lint|list|status|uninstall|history)$/,
  ...each("gh glab", /^(pr|mr|issue|gist)$/),
  aws: /^s3$/,
};
const question =
  /^\s*((select|explain)\b(?!.*\b(into|writefile|edit)\b)|\.(schema|tables|indexes|dump|mode|headers?)\b|$)/is;

/** Returns whether it only inspects files when called this way. */
export function isOnlyChecking(name: string, args: readonly { value: string; dynamic: boolean }[]): boolean {
  const base = baseName(name);
  if (base === "sqlite3") {
    const [, ...statements] = args.filter((arg) => !arg.value.startsWith("-"));
    const asks = ({ value, dynamic }: (typeof args)[0]) =>
      !dynamic && value.split(";").every((each) => question.test(each));
    return statements.length > 0 && statements.every(asks);
  }
  const [first] = args.filter((arg) => !arg.value.startsWith("-"));
  const isAsking = own(askingCommands, base)?.test(first?.value ?? "");
  if (isAsking) return !args.some((arg) => arg.dynamic || /^--?(output-\w+|out)\b/.test(arg.value));
  if (!Object.hasOwn(changingOptions, base)) return false;
  return !args.some((arg) => arg.dynamic || changingOptions[base]!.test(arg.value));
}

/** Programs that reach other machines or this machine's services, with the first words for which they do. */
const reaching: Record<string, RegExp> = {
  ...each(
    `curl wget ssh scp sftp ftp rsync nc telnet ping docker podman docker-compose kubectl helm gh glab aws gcloud az brew apt
    apt-get dnf yum pacman systemctl service crontab ansible-playbook terraform twine pnpx uvx pipx`,
    /^/,
  ),
  git: /^(push|pull|fetch|clone|ls-remote|submodule)$/,
  ...each(
    "npm pnpm yarn bun",
    /^(i|install|ci|add|update|upgrade|publish|login|dlx|create|init|audit|outdated|view|info|search)$/,
  ),
  ...each("pip pip3 gem", /^(install|download|uninstall|push|update)$/),
  ...each("uv poetry composer bundle", /^(sync|add|install|update|lock|pip|publish|require)$/),
  cargo: /^(install|publish|add|update|fetch|search|login)$/,
  go: /^(get|install)$/,
};

/** Options before the first word whose value is a folder or a setting. */
const takesPlace = /^(-[Cc]|--(prefix|cwd|dir|directory|manifest-path))$/;

/** Returns whether it needs to reach beyond this folder when called this way. */
export function reachesOut(name: string, args: readonly { value: string }[]): boolean {
  const isFirst = (arg: { value: string }, at: number) =>
    !arg.value.startsWith("-") && !takesPlace.test(args[at - 1]?.value ?? "");
  const first = args.find(isFirst)?.value ?? "";
  return own(reaching, baseName(name))?.test(first) === true;
}
