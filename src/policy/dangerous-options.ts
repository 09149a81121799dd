// Options that make an everyday command run programs, load code or reach further: a rule for the command does not cover them.
import { baseName, own } from "./command-names.ts";
import { dangerousGit } from "./git-options.ts";
import { dangerousAwk, dangerousSed } from "./inner-code.ts";
import { longIn, type Options, optionValue, shortIn } from "./read-options.ts";
import type { Invocation, ShellWord } from "./shell-words.ts";

type Dangerous = Options & {
  /** Options that are dangerous only with such a value. */
  valued?: readonly (Options & { value: RegExp })[];
};

/** `name`: the option itself, which a rule may name. `text`: as given. `at`: where it stands. */
export type DangerousArgument = { name: string; text: string; at: number };

/** Settings of ssh that name no program and no file. */
const sshSetting =
  /^(?!(StrictHostKeyChecking|ConnectTimeout|ConnectionAttempts|BatchMode|LogLevel|Port|User|HostName|ServerAlive\w+|TCPKeepAlive|IdentitiesOnly|PreferredAuthentications|PasswordAuthentication|PubkeyAuthentication|Compression|RequestTTY|ExitOnForwardFailure|AddressFamily|ForwardAgent)\s*[=\s])/i;
const stream = /^-$|^\/(dev|proc)\//;

const dangerous: Record<string, Dangerous> = {
  find: { exact: /^-(exec|execdir|ok|okdir|delete)$/ },
  fd: { short: "xX", long: ["exec", "exec-batch"] },
  sort: { long: ["compress-program", "files0-from"] },
  rg: { exact: /^--(pre|hostname-bin)(=|$)/s },
  ag: { long: ["pager"] },
  ack: { long: ["pager", "ackrc"] },
  tar: {
    short: "IFGP",
    values: "fCbgHKLNTVX",
    long: [
      "use-compress-program",
      "checkpoint-action",
      "to-command",
      "rmt-command",
      "rsh-command",
      "info-script",
      "new-volume-script",
      "listed-incremental",
      "absolute-names",
    ],
  },
  cpio: { long: ["rsh-command", "absolute-filenames"] },
  man: { short: "PHC", long: ["pager", "html", "browser", "config-file", "preprocessor"] },
  vim: { exact: /^(\+|-[a-zA-Z]*[cSsuwWUir]|--cmd|--remote|--servername)/ },
  emacs: { exact: /^(-f|-l|-L|--?(eval|execute|funcall|load|script|batch|directory|insert|kill))/ },
  nano: { short: "s", long: ["speller", "rcfile"] },
  perl: { exact: /^-[a-zA-Z0]*[eEiMmIxd]/ },
  ruby: { exact: /^-[a-zA-Z]*[eirIxC]/ },
  python: {
    exact: /^(-[a-zA-Z]*[cix]$|-c|-$)/,
    valued: [{ short: "m", value: /^(timeit|code|pdb|idlelib|runpy|webbrowser)(\.|$)/ }],
  },
  node: {
    exact:
      /^(-[epri]{1,3}|-|--(eval|print|require|import|loader|experimental-loader|interactive|env-file.*|inspect-brk|inspect-wait|openssl-config|build-snapshot.*|run|experimental-config-file))(=|$)/s,
  },
  php: { exact: /^(-[a-zA-Z]*[rBREFdzS]|--run|--process-code|--process-begin|--process-end|--define|-$)/ },
  lua: { exact: /^(-[a-zA-Z]*[el]|-$)/ },
  deno: { exact: /^(eval|repl)$/ },
  bun: { exact: /^(-e|--eval|-p|--print|-r|--preload|--require)(=|$)/s },
  tsx: { exact: /^(-e|--eval|-p|--print|-r|--require|--import|-$)/ },
  "ts-node": { exact: /^(-e|--eval|-p|--print|-r|--require|-$)/ },
  osascript: { exact: /^-e/ },
  Rscript: { exact: /^-e/ },
  R: { exact: /^-e/ },
  gdb: { exact: /^-?-(ex|eval-command|iex|ix|init-command|x|command)/ },
  expect: { short: "cf" },
  ssh: {
    short: "FI",
    values: "bcDEeiJLlmOopQRSWw",
    valued: [{ short: "o", values: "bcDEeiJLlmOpQRSWw", value: sshSetting }],
  },
  scp: { short: "SFD", valued: [{ short: "o", value: sshSetting }] },
  sftp: { short: "SFDb", valued: [{ short: "o", value: sshSetting }] },
  rsync: {
    long: ["rsync-path", "daemon", "remote-option", "config"],
    valued: [{ short: "e", long: ["rsh"], value: /^(?!ssh( -p ?\d+)?$)/ }],
  },
  make: {
    long: ["eval"],
    short: "E",
    exact: /^(SHELL|MAKEFLAGS|MAKE|MAKEFILES|\.SHELLFLAGS)\s*[:?+!]*=/,
    valued: [{ short: "f", long: ["file", "makefile"], value: stream }],
  },
  split: { long: ["filter"] },
  zip: { exact: /^(-TT|--unzip-command|-[a-zA-Z]*T)/ },
  gcc: { exact: /^(-wrapper|-fplugin|-B|-?-specs|@|-Wl,.*-plugin)/ },
  ld: { exact: /^--?(plugin|dynamic-linker)/ },
  curl: { short: "KT", values: "XHduAbeEmxrwUzQtyYCPF", long: ["config", "upload-file", "engine"] },
  wget: { short: "ei", values: "OPoaUtTwQlADIRXB", long: ["execute", "input-file", "use-askpass", "config"] },
  npm: {
    exact:
      /^(--script-shell|--node-options|set|--init-module|--ignore-scripts=false|--userconfig|--globalconfig|--git|--editor|--shell)(=|$)/s,
  },
  pnpm: { exact: /^(--config\..*|--script-shell|-c|--shell-mode)(=|$)/s },
  npx: { short: "p", long: ["package", "shell"] },
  printf: { exact: /^-v/ },
  test: { exact: /^-[vR]$/ },
  tsc: { exact: /^--?(plugins|generateTrace|generateCpuProfile)(=|$)/is },
  date: { short: "s", long: ["set"] },
  xargs: { short: "a", long: ["arg-file"] },
  jq: { short: "L", long: ["library-path"] },
  less: { exact: /^(\+|-[a-zA-Z]*[kTp]|--(lesskey|tag-file|pattern))/ },
  more: { exact: /^\+/ },
  crontab: { exact: /^(?!-l$)/ },
  docker: {
    exact: /^--(privileged|pid|ipc|uts|userns|cap-add|device|security-opt)(=|$)|^--(net|network)=host$/s,
  },
  kubectl: { exact: /^--kubeconfig(=|$)/s },
  go: { exact: /^-(exec|toolexec|modfile|overlay)(=|$)|^-ldflags=.*-extld/s },
  cargo: { long: ["config"] },
  psql: { exact: /\\(!|o |copy |g |w )/ },
  mysql: { exact: /\\!|^--(tee|pager|plugin-dir)|(^|;)\s*(system|tee)\s/s },
  sqlite3: {
    exact:
      /(^|\n)\s*\.(shell|system|output|once|import|load|save|backup|read|log|excel)|^-(init|cmd)|load_extension|writefile/s,
  },
  openssl: { exact: /^-(engine|provider|provider-path|config)$/ },
  tcpdump: { short: "z" },
  hyperfine: { short: "pcS", long: ["prepare", "cleanup", "setup", "shell"] },
  nodemon: { short: "x", long: ["exec"] },
};

const sameTable: Record<string, string> = {
  vi: "vim",
  nvim: "vim",
  ex: "vim",
  view: "vim",
  vimdiff: "vim",
  rview: "vim",
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
  pip3: "pip",
  "7za": "7z",
  "[": "test",
  podman: "docker",
};

/** Every argument that does more than its command is known for. */
export function dangerousArguments({ name, args }: Invocation): DangerousArgument[] {
  const base = baseName(name.value);
  if (base === "git") return dangerousGit(args);
  if (base === "sed" || base === "gsed") return dangerousSed(args);
  if (/^[gmn]?awk$/.test(base)) return dangerousAwk(args);
  const table = tableOf(base);
  if (!table) return [];
  return args.flatMap((arg, at) => {
    // `tar xfI`: the first word is options, without a dash, and their values come later.
    const isOld = at === 0 && /tar$/.test(base) && /^[a-zA-Z]+$/.test(arg.value);
    const found = isOld
      ? shortIn(`-${arg.value}`, { short: table.short! })
      : (nameIn(arg.value, table) ?? valuedIn(arg.value, args[at + 1], table));
    return found === undefined ? [] : [{ name: found, text: arg.value, at }];
  });
}

/** The first of them, as given; undefined for ordinary use. */
export function dangerousArgument(command: Invocation): string | undefined {
  return dangerousArguments(command)[0]?.text;
}

/** Is there an option that makes this program do more? Then words that may become options matter. */
export function hasDangerousOptions(name: string): boolean {
  const base = baseName(name);
  return base === "git" || /^(g?sed|[gmn]?awk)$/.test(base) || tableOf(base) !== undefined;
}

function tableOf(base: string): Dangerous | undefined {
  const plain = /^(python|pypy|lua|perl|ruby|php|node)[\d.]+$/.test(base) ? base.replace(/[\d.]+$/, "") : base;
  return own(dangerous, own(sameTable, plain) ?? plain);
}

function nameIn(value: string, table: Dangerous): string | undefined {
  const exact = table.exact?.exec(value);
  if (exact) return value.startsWith("-") ? value.replace(/=.*$/s, "") : exact[0].replace(/=$/, "");
  return shortIn(value, table) ?? longIn(value, table.long);
}

function valuedIn(value: string, next: ShellWord | undefined, table: Dangerous): string | undefined {
  for (const option of table.valued ?? []) {
    const found = optionValue(value, next, option);
    if (found && (found.word === undefined || found.word.dynamic || option.value.test(found.word.value)))
      return found.name;
  }
  return undefined;
}

/** Does the text of a rule name this option, as a word of its own? */
export function namesOption(pattern: string, { name }: DangerousArgument): boolean {
  for (let at = pattern.indexOf(name); at !== -1; at = pattern.indexOf(name, at + 1)) {
    const before = pattern[at - 1] ?? " ";
    const after = pattern[at + name.length] ?? " ";
    if (/[\s*:"'?]/.test(before) && /[\s*="'?]/.test(after)) return true;
  }
  return false;
}
