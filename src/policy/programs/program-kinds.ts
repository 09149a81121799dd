// What programs do with the words that they are given. A program that stands in none of these lists may do anything with them.
import { baseName, each, own, words } from "./command-names.ts";

/** They speak of files, and neither write them nor show what is in them. */
const speakers = words(`
  ls dir vdir exa eza lsd tree stat df du test [ echo printf readlink realpath basename dirname which type whereis command
  getfacl lsattr cd chdir pushd popd dirs pwd kill pkill pgrep sleep seq true false : exit return break continue export
  declare typeset local readonly unset alias unalias set shift wait read hash help umask ulimit trap man tldr`);

/** They make, change and remove files as `written-files.ts` says, and show nothing of what is in them. */
const makers = words(`
  touch mkdir rm rmdir unlink shred chmod chown chgrp chattr setfacl mkfifo mknod truncate find rimraf trash trash-put`);

/** They write exactly what `written-files.ts` says, and may show what they read. */
const knownWriters = words(`
  cp mv ln install rsync scp tee sponge dd gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd compress uncompress lz4 tar gtar
  bsdtar zip unzip split csplit fd fdfind patch ditto`);

/** They write nothing but their output; where an option of theirs names a file to write, a table says so. */
const onlyRead = words(`
  cat head tail less more most bat batcat nl tac wc cut paste join diff sdiff diff3 colordiff delta cmp comm od xxd hexdump
  hd strings base64 base32 basenc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum rev fold fmt
  column expand unexpand iconv file pr look shuf sort uniq tsort ptx grep egrep fgrep zgrep rg ag ack ugrep jq zcat
  zless bzcat xzcat zstdcat getfattr date cal tr numfmt factor expr bc id whoami uname hostname printenv ps lsof free
  uptime nproc groups locale tput clear info shellcheck yamllint hadolint actionlint cloc tokei scc eval
  source . ping dig host nslookup ss netstat curl wget`);

/** They take texts and names, and run none of them; options that do run something have tables of their own. */
const neverRun = words(`
  git gh glab hub pip pip3 gem brew sed gsed awk gawk mawk nawk http xh aws az systemctl journalctl
  yq pandoc`);

/** Programs with a language of their own: what their options run is not the shell's. */
export const otherLanguages = words(`
  make gmake vim vi nvim ex view emacs nano less more gdb lldb expect osascript sqlite3 psql mysql ed tcpdump hyperfine
  nodemon crontab sed gsed awk gawk mawk nawk dc m4 gnuplot tclsh wish pwsh powershell`);
/** Programs that are told by what they read which files to write. */
export const instructed = words("patch curl sftp ftp lftp cpio at batch aria2c wget");
/** Shells of data bases: they read statements, and their operands are not scripts. */
export const databaseShells = words("sqlite3 psql mysql mariadb");
/** Interpreters whose operand is not a script, but what they work on. */
export const opensOperands = words("sqlite3 ed ex");

/** Is what it is given nothing that it opens and shows? */
export function showsNoContent(name: string): boolean {
  const base = baseName(name);
  return speakers.has(base) || makers.has(base);
}

/** Is opening the files that it is given what it is for? */
export function opensFiles(name: string): boolean {
  const base = baseName(name);
  return (onlyRead.has(base) || knownWriters.has(base)) && !/^(eval|curl|wget)$/.test(base);
}

/** Does it write nothing beyond what the tables say? */
export function writesAsKnown(name: string): boolean {
  const base = baseName(name);
  return onlyRead.has(base) || showsNoContent(base) || knownWriters.has(base);
}

/** Is what it is given never the name of a program that it would start? */
export function startsNothing(name: string): boolean {
  const base = baseName(name);
  return writesAsKnown(base) || neverRun.has(base);
}

const never = /^(?!)/;
/** Checkers, runners of tests and senders that change files only when they are told to. */
const changingOptions: Record<string, RegExp> = {
  ...each("serve http-server ansible-playbook ssh-add twine k6 codecov", never),
  ...each("pytest py.test mypy pyright pylint flake8 bandit vulture", /^(--junit|--cov-report|-o|--output)/),
  ...each("vitest jest mocha ava tap c8 nyc", /^(-u|--update|--outputFile|--coverageDirectory|--report)/i),
  ruff: /^(--fix|--unsafe-fixes|-o|--output-file|format$)/,
  go: /^(fmt|generate|mod|get|install|fix)$|^--?(w|o|trace|outputdir|\w*profile|test\..*)(=|$)/s,
  prettier: /^(-w|--write)/,
  ...each("eslint stylelint", /^(--fix|-o|--output-file)/),
  biome: /^--(write|fix|apply)/,
  gofmt: /^-w/,
  shfmt: /^(-[a-z]*w|--write)/,
  "clang-format": /^(-i|--inplace)/,
  yq: /^(-[a-zA-Z]*i|--in-?place)/,
  standard: /^--fix/,
  markdownlint: /^(-f|--fix|-o|--output)/,
};

/** Subcommands that change nothing that they are given. */
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

/** Does it only look at files, the way it is called? */
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

/** Programs that are for reaching other machines, or what belongs to this one; with the first words by which some of them do. */
const reaching: Record<string, RegExp> = {
  ...each(
    "curl wget ssh scp sftp ftp rsync nc telnet ping docker podman docker-compose kubectl helm gh glab aws gcloud az",
    /^/,
  ),
  ...each("brew apt apt-get dnf yum pacman systemctl service crontab ansible-playbook terraform twine", /^/),
  git: /^(push|pull|fetch|clone|ls-remote|submodule)$/,
  ...each(
    "npm pnpm yarn bun",
    /^(i|install|ci|add|update|upgrade|publish|login|dlx|create|init|audit|outdated|view|info|search)$/,
  ),
  ...each("pnpx uvx pipx", /^/),
  ...each("pip pip3 gem", /^(install|download|uninstall|push|update)$/),
  ...each("uv poetry composer bundle", /^(sync|add|install|update|lock|pip|publish|require)$/),
  cargo: /^(install|publish|add|update|fetch|search|login)$/,
  go: /^(get|install)$/,
};

/** Options before the first word, whose value is a folder or a setting. */
const takesPlace = /^(-[Cc]|--(prefix|cwd|dir|directory|manifest-path))$/;

/** Is it meant to reach beyond this folder, as it is called? */
export function reachesOut(name: string, args: readonly { value: string }[]): boolean {
  const isFirst = (arg: { value: string }, at: number) =>
    !arg.value.startsWith("-") && !takesPlace.test(args[at - 1]?.value ?? "");
  const first = args.find(isFirst)?.value ?? "";
  return own(reaching, baseName(name))?.test(first) === true;
}
