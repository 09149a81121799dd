// Lists options that make an everyday command run programs, load code or reach further; a rule for the command does not cover them.

import type { CommandWords, ShellWord } from "../parse/shell-word.ts";
import { baseName, each, isInterpreter, list, own, programOf } from "./command-names.ts";
import { dangerousGit } from "./git-options.ts";
import { longIn, type OptionNames, optionValue, parseOptions, shortIn } from "./read-options.ts";
import { dangerousAwk, dangerousSed } from "./sed-awk-code.ts";
import { wrappers } from "./wrapper-table.ts";

type DangerousOptions = OptionNames & {
  /** A pattern for the first operands, joined with blanks. */
  operands?: RegExp;
  /** Options without a value that may precede an interpreter's script. Words after the script are then its own. */
  leads?: RegExp;
  /** Whether the words after the program's own options are another command. */
  wraps?: true;
  /** Options that are dangerous only with a value that matches. */
  valued?: readonly (OptionNames & { value: RegExp })[];
};

/** `name` is the option, which a rule may name; `text` is the argument as given; `at` is its index. */
export type DangerousArgument = { name: string; text: string; at: number };

/** Rejects ssh settings, except those that name no program and no file. */
const sshSetting =
  /^(?!(StrictHostKeyChecking|ConnectTimeout|ConnectionAttempts|BatchMode|LogLevel|Port|User|HostName|ServerAlive\w+|TCPKeepAlive|IdentitiesOnly|PreferredAuthentications|PasswordAuthentication|PubkeyAuthentication|Compression|RequestTTY|ExitOnForwardFailure|AddressFamily|ForwardAgent)\s*[=\s])/i;
const changesSettings = /^(set|(config|c) (set|edit|delete|unset))\b/;
const stream = /^-$|^\/(dev|proc)\//;

const dangerous: Record<string, DangerousOptions> = {
  find: { exact: /^-(exec|execdir|ok|okdir|delete)$/ },
  ...each("fd nodemon", { short: "xX", long: ["exec", "exec-batch"] }),
  sort: { long: ["compress-program", "files0-from"] },
  rg: { exact: /^--(pre|hostname-bin)(=|$)/s },
  ack: { long: ["pager", "ackrc"] },
  tar: {
    short: "IFGgP",
    values: "fCbHKLNTVX",
    long: list(`
      use-compress-program checkpoint-action to-command rmt-command rsh-command info-script new-volume-script
      listed-incremental absolute-names`),
    // Allows transformations of member names without the sed flag e, which executes.
    valued: [{ long: ["transform", "xform"], value: /^(?!s(.)(?:(?!\1).)*\1(?:(?!\1).)*\1[gixrSH\d]*$)/s }],
  },
  cpio: { long: ["rsh-command", "absolute-filenames"] },
  man: { short: "PHC", long: ["pager", "html", "browser", "config-file", "preprocessor"] },
  vim: { exact: /^(\+|-[a-zA-Z]*[cSsuwWUirl]|--cmd|--remote|--servername|--embed|--listen)/ },
  emacs: { exact: /^(-f|-l|-L|--?(eval|execute|funcall|load|script|batch|directory|insert|kill))/ },
  nano: { short: "s", long: ["speller", "rcfile"] },
  perl: { exact: /^(-[a-zA-Z0]*[eEiMmIxd]|-$)/, leads: /^-[wnplaTtcsSuUWX0-9]+$/ },
  ruby: { exact: /^(-[a-zA-Z]*[eirIxC]|-$)/, leads: /^-[wnplaSsvcW0-9]+$/ },
  python: {
    leads: /^-[BEIOPqsSuvbdtR]+$/,
    // The letters X and W take the rest of their word.
    exact: /^(-[a-zA-VYZ]*[cx]$|-[a-zA-VYZ]*i[a-zA-Z]*$|-c|-$)/,
    valued: [{ short: "m", values: "XWc", value: /^(timeit|code|pdb|idlelib|runpy|webbrowser)(\.|$)/ }],
  },
  node: {
    exact:
      /^(-[epri]{1,3}|-|--(eval|print|require|import|loader|experimental-loader|interactive|env-file.*|inspect-brk|inspect-wait|openssl-config|build-snapshot.*|experimental-config-file|experimental-default-config-file|experimental-sea-config|test-reporter(?==(?!(spec|tap|dot|junit|lcov)$))|test-global-setup|run|icu-data-dir|snapshot-blob))(=|$)/s,
    valued: [{ exact: /^--test-reporter$/, value: /^(?!(spec|tap|dot|junit|lcov)$)/ }],
    leads:
      /^(-[vhc]|--[\w-]+=.*|--(test|watch|inspect|check|prof|version|expose-gc|trace-[\w-]+|enable-source-maps|no-[\w-]+|harmony[\w-]*|preserve-symlinks|throw-deprecation|pending-deprecation|abort-on-uncaught-exception))$/s,
  },
  php: {
    exact: /^(-[a-zA-Z]*[rBREFdzSc]|--run|--process-code|--process-begin|--process-end|--define|-$)/,
    leads: /^-[lnqsvw]+$/,
  },
  lua: { exact: /^(-[a-zA-Z]*[el]|-$)/, leads: /^-[vWE]$/ },
  deno: { exact: /^((--)?eval|repl|(https?|npm|jsr|data):.*)$/s },
  bun: { exact: /^(-e|--eval|-p|--print|-r|--preload|--require)(=|$)/s, operands: /^(exec|repl)\b/ },
  ...each("tsx ts-node", { exact: /^(-e|--eval|-p|--print|-r|--require|--import|-$)/ }),
  julia: { exact: /^(-[eELJi]|--(eval|print|load|sysimage))/ },
  elixir: { exact: /^(-e|--eval|-r|-pr|-S|--rpc-eval)/ },
  erl: { exact: /^-(eval|s|run|config|boot)$/ },
  ghc: { exact: /^(-e|-F|-pgm|-fplugin)/ },
  lldb: { exact: /^(-[oOsSk]|--(one-line|source))/ },
  gdb: { exact: /^-?-(ex|eval-command|iex|ix|init-command|x|command)/ },
  expect: { exact: /^(-[cf]|-$)/ },
  pwsh: { exact: /^[-/][ce]/i },
  sshfs: { valued: [{ short: "oF", value: /command=|^[^=]*[./]/i }] },
  ...each("ssh autossh ssh-copy-id mosh", {
    short: "FI",
    long: ["ssh"],
    values: "bcDEeiJLlmOopQRSWw",
    valued: [{ short: "o", values: "bcDEeiJLlmOpQRSWw", value: sshSetting }],
  }),
  ...each("scp sftp", { short: "SFDb", valued: [{ short: "o", value: sshSetting }] }),
  rsync: {
    short: "M",
    values: "eTfB",
    long: ["rsync-path", "daemon", "remote-option", "config"],
    valued: [{ short: "e", long: ["rsh"], value: /^(?!ssh( -p ?\d+)?$)/ }],
  },
  make: {
    long: ["eval"],
    short: "E",
    exact:
      /^((SHELL|MAKEFLAGS|MAKE|MAKEFILES|\.SHELLFLAGS)\s*[:?+!]*=|[\w.-]+\s*(!=|[:?+]*=.*([;&|`<>\n]|\$[({](shell|eval|file|guile|call)\b)))/s,
    valued: [{ short: "f", long: ["file", "makefile"], value: stream }],
  },
  ...each("split sdiff diff3 mail mailx pylint mypy ag bat batcat delta", {
    long: list("filter diff-program exec init-hook python-executable install-types pager"),
  }),
  zip: { exact: /^(-TT|--unzip-command|-[a-zA-Z]*T)/ },
  gcc: {
    exact:
      /^(-wrapper|-fplugin|-fpass-plugin|-Xclang|-cc1|-B|-?-(specs|config)|@|-W[la],.*-(plugin|dynamic-linker)|-Xlinker|-Xassembler|-MF.|-Wp,|-fuse-ld=.*\/|--ld-path)/,
  },
  ld: { exact: /^--?(plugin|dynamic-linker)/ },
  curl: {
    short: "KT",
    values: "XHduAbeEmxrwUzQtyYCPF",
    long: ["config", "upload-file", "engine", "unix-socket", "abstract-unix-socket"],
  },
  wget: {
    short: "ei",
    values: "OPoaUtTwQlADIRXB",
    long: ["execute", "input-file", "use-askpass", "config", "post-file", "body-file"],
  },
  npm: {
    exact:
      /^(--script-shell|--node-options|--init-module|--ignore-scripts=false|--userconfig|--globalconfig|--git|--editor|--shell)(=|$)/s,
    operands: /^(set|explore|edit|config (set|edit|delete|rm|fix))\b/,
  },
  pnpm: { exact: /^(--config\..*|--script-shell|-c|--shell-mode)(=|$)/s, operands: changesSettings },
  pip: { long: ["python"], operands: changesSettings },
  printf: { exact: /^-v/ },
  test: { exact: /^-[vR]$/ },
  tsc: { exact: /^--?(plugins|generateTrace|generateCpuProfile)(=|$)/is },
  date: { short: "s", values: "dfIr", long: ["set"] },
  jq: { short: "L", long: ["library-path"] },
  less: { exact: /^(\+(?!(F|G|g|\d+g?|\/[^!]*)$)|-[a-zA-Z]*[kT]|--(lesskey|tag-file))/ },
  more: { exact: /^\+(?!\d+$|\/[^!]*$)/ },
  crontab: { exact: /^(?!-l$)/ },
  docker: {
    exact: /^--(privileged|pid|ipc|uts|userns|cap-add|device|security-opt|volumes-from|host|context|config)(=|$)|^-H/s,
    valued: [{ long: ["network"], value: /^host$/ }],
  },
  bash: { exact: /^--(rcfile|init-file)(=|$)/s },
  ...each("hg kubectl", { exact: /^--(kube)?config/ }),
  go: {
    exact: /^--?(exec|toolexec|modfile|overlay|vettool|gccgoflags|compiler)(=|$)|-extld|^-w$/s,
  },
  // `cargo watch -s command` runs a command.
  cargo: { long: ["config"], exact: /^(-s|--shell)(=|$)|linker=/s },
  psql: { exact: /\\(!|o |copy |g |w )|\b(to|from)\s+program\b/i },
  mysql: { exact: /\\!|^--(tee|pager|plugin-dir|init-command)|(^|;)\s*(system|tee)\s/s },
  sqlite3: {
    exact:
      /(^|\n)\s*\.(shell|system|output|once|import|load|save|backup|read|log|excel|www|clone|archive|cd)|^-(init|cmd)|load_extension|writefile|\b(edit\s*\(|attach\b|vacuum\s+into\b)/is,
  },
  openssl: { exact: /^-(engine|provider|provider-path|config)$/, operands: /^engine\b/ },
  pandoc: { short: "FLd", values: "ftorsDHABcM", long: ["filter", "lua-filter", "pdf-engine", "defaults", "data-dir"] },
  tcpdump: { short: "z" },
  strace: { valued: [{ short: "o", values: "abeEIOpPsSuUX", long: ["output"], value: /^[|!]/ }] },
  hyperfine: { short: "pcS", long: ["prepare", "cleanup", "setup", "shell"] },
  ...each("apt apt-get apt-cache aptitude", { short: "oc", long: ["option", "config-file"] }),
  ...each("yum dnf", { short: "c", long: ["config", "setopt", "installroot"] }),
  rpm: { exact: /^(-E|-D|--(eval|define|pipe|macros|rcfile|load|root|dbpath))(=|$)/s },
  dpkg: { long: ["pre-invoke", "post-invoke", "status-logger", "instdir", "admindir", "root"] },
  nmap: { exact: /^--(script|datadir|interactive)/ },
  nc: { short: "ec", values: "wpsqIOPTVXxim", long: ["exec", "sh-exec", "lua-exec"] },
  socat: { exact: /(^|!!|[,:])(exec|system|shell|open|gopen|creat|create|file)[:,]/i },
  ip: { short: "b", long: ["batch"], operands: /^(netns|vrf) exec\b/ },
  svn: { long: ["config-option", "config-dir", "editor-cmd", "diff-cmd", "diff3-cmd"] },
  ...each("pdflatex latex xelatex lualatex pdftex tex", { exact: /^--?(shell-escape|enable-write18)$/ }),
  latexmk: { exact: /^--?(e|r|(pdf|xe|lua)?latex=.*|(use)?pretex.*|shell-escape)$/s },
  eslint: {
    short: "c",
    long: ["rulesdir", "config", "parser", "plugin"],
    valued: [{ short: "f", long: ["format"], value: /[./]/ }],
  },
  prettier: { long: ["plugin"], valued: [{ long: ["config"], value: /\.[cm]?[jt]s$/ }] },
  pytest: {
    long: ["pdbcls"],
    valued: [{ short: "po", long: ["override-ini"], value: /^(?!no:|(?!addopts|python|cache_dir|log_file)\w+=)/ }],
  },
  yarn: { operands: /^(node|config set|plugin import|set version|policies set-version)\b/ },
  unzip: { exact: /^-[a-zA-Z]*:/ },
  ...each("gh glab", { operands: /^(alias (set|import)|extension (install|exec|upgrade)|config set)\b/ }),
  helm: { long: ["post-renderer"], operands: /^plugin (install|update)\b/ },
  cmake: { exact: /^-[PEC]/ },
  ctest: { exact: /^(-SP?|--script(-new-process)?|--build-and-test)(,|$)/ },
  gradle: { exact: /^(-I|--init-script|--include-build)(=|$)/s },
  mvn: { exact: /^-D(exec\.(executable|args|commandlineArgs)|maven\.ext\.class\.path)/ },
  ansible: { short: "a", values: "iMumefktBPTclbK", long: ["args"] },
  tshark: { short: "X", values: "riwfYocnNTeE" },
  mutt: { short: "eF" },
  openvpn: { exact: /^--?((route-)?(pre-)?(up|down)|ipchange|config|plugin|client-connect|[\w-]*-verify)$/ },
  ...each("restic rclone borg", { long: ["password-command", "sftp-ssh", "rsh"], exact: /^-o$/ }),
  certbot: { exact: /^--(pre|post|deploy|renew|manual-auth|manual-cleanup)-hook/ },
  ...each("dc pidstat jrunscript", { short: "ef", long: ["expression", "file"] }),
  ...each("kotlin bb swift ocaml nim jshell puppet mix", { exact: /^(-?e|--e(xecute|val))$/ }),
  rails: { operands: /^(runner|console|dbconsole|[rc])\b/ },
  just: { short: "c", long: ["command", "shell", "shell-arg", "chooser"] },
  gpg: { long: ["photo-viewer", "exec-path", "options"] },
  ...each("java javac", {
    exact: /^(-(agentpath|agentlib|javaagent|processor|XX:(On\w+|Flags|VMOptionsFile)|Xplugin|J-)|@)/,
  }),
  aria2c: { exact: /^--on-/ },
  rustc: { exact: /^@|linker=/ },
  ...each("lftp smbclient bpftrace", { short: "ce" }),
  emacsclient: { short: "e", long: ["eval"] },
  duckdb: { exact: /(^|[\n;])\s*\.(shell|system|output|once|read)|\bcopy\b.*\bto\b|^-init$/is },
  ...each("crystal gem", { operands: /^(eval|open)\b/ }),
  service: { exact: /\// },
  npx: { short: "p", long: ["package"], wraps: true },
  xargs: { short: "a", values: "dEILnPs", long: ["arg-file"], wraps: true },
};

/** Options of interpreters without their own row that take code. */
const otherInterpreter: DangerousOptions = { exact: /^(-[ceg]|--eval)/, leads: /^-q$/ };

/** Returns every argument that makes a command do more than it is known for. */
export function dangerousArguments({ name, args }: CommandWords): DangerousArgument[] {
  const base = baseName(name.value);
  if (base === "git") return dangerousGit(args);
  if (base === "sed" || base === "gsed") return dangerousSed(args);
  if (/^[gmn]?awk$/.test(base)) return dangerousAwk(args);
  const table = tableOf(base);
  if (!table) return [];
  const found: DangerousArgument[] = [];
  const operands = args.filter((arg) => !arg.value.startsWith("-"));
  const match = table.operands?.exec(operands.map((arg) => arg.value).join(" "));
  if (match) found.push({ name: match[0], text: match[0], at: args.indexOf(operands[0]!) });
  const end = table.wraps ? args.length - parseOptions(args, wrappers[base]!).operands.length : scriptAt(args, table);
  for (const [at, arg] of args.slice(0, end).entries()) {
    // `tar xfI`: the first word holds options without a dash, and their values follow later.
    const isOld = at === 0 && /tar$/.test(base) && /^[a-zA-Z]+$/.test(arg.value);
    const option = isOld
      ? shortIn(`-${arg.value}`, { short: table.short! })
      : (nameIn(arg.value, table) ?? valuedIn(arg.value, args[at + 1], table));
    if (option !== undefined) found.push({ name: option, text: arg.value, at });
  }
  return found;
}

/** Returns the index of the interpreter's script, after which its own arguments begin, or the end if that is uncertain. */
function scriptAt(args: readonly ShellWord[], { leads }: DangerousOptions): number {
  if (!leads) return args.length;
  for (const [at, { value, dynamic }] of args.entries()) {
    if (dynamic) return args.length;
    // `python -m module`: the following words are the module's.
    if (/^-[A-Za-z]*m$/.test(value)) return at + 2;
    if (!value.startsWith("-")) return at;
    if (!leads.test(value)) return args.length;
  }
  return args.length;
}

/** Returns whether any option makes this program do more; words that may become options then matter. */
export function hasDangerousOptions(name: string): boolean {
  const base = baseName(name);
  if (base === "git" || /^(g?sed|[gmn]?awk)$/.test(base)) return true;
  const table = tableOf(base);
  return table !== undefined && !table.wraps;
}

function tableOf(base: string): DangerousOptions | undefined {
  return own(dangerous, programOf(base)) ?? (isInterpreter(base) ? otherInterpreter : undefined);
}

function nameIn(value: string, table: DangerousOptions): string | undefined {
  if (table.exact?.test(value)) return value.replace(/=.*$/s, "");
  return shortIn(value, table) ?? longIn(value, table.long);
}

function valuedIn(value: string, next: ShellWord | undefined, table: DangerousOptions): string | undefined {
  for (const option of table.valued ?? []) {
    const found = optionValue(value, next, option);
    if (found?.word && (found.word.dynamic || option.value.test(found.word.value))) return found.name;
  }
  return undefined;
}

/** Returns whether a rule's text names this option as a separate word. */
export function namesOption(pattern: string, { name, text }: DangerousArgument): boolean {
  return hasWord(pattern, name) || hasWord(pattern, text);
}

function hasWord(pattern: string, word: string): boolean {
  for (let at = pattern.indexOf(word); at !== -1 && word !== ""; at = pattern.indexOf(word, at + 1)) {
    const before = pattern[at - 1] ?? " ";
    const after = pattern[at + word.length] ?? " ";
    if (/[\s*:"'?]/.test(before) && /[\s*="'?]/.test(after)) return true;
  }
  return false;
}
