// Programs whose operands are a command: which options stand before it, and which of those have a value.
import type { ShellWord } from "../parse/shell-word.ts";
import { baseName, each, list, own, words } from "./command-names.ts";

/** Short options are letters, long ones names. What is in neither list may or may not have a value. */
export type WrapperSyntax = {
  flags?: string;
  values?: string;
  /** Letters with a value that may be missing, and is never the next word: `xargs -i{}`. */
  attached?: string;
  longFlags?: readonly string[];
  longValues?: readonly string[];
  /** Operands before the command. */
  operands?: number;
  /** Or perhaps none. */
  mayHaveOperand?: true;
  /** How the first of them looks, where it may be missing. */
  operand?: RegExp;
  /** The options that take their place. */
  insteadOfOperands?: readonly string[];
  /** `NAME=value` before the command. */
  assignments?: true;
  /** Runs only what it is given, and changes nothing else: needs no rule of its own. */
  transparent?: true;
  privileged?: true;
  /** The options whose value is a script. */
  scripts?: readonly string[];
  /** The options whose value is the program that gets the operands. */
  programs?: readonly string[];
  /** Options may stand behind operands. */
  permutes?: true;
  /** The operands are joined and given to a shell; `each`: every one of them is a line of its own. */
  joins?: "all" | "each";
  /** Only with this option; without it they are a command as they stand. */
  joinedBy?: RegExp;
  /** The option whose value is the folder to start in. */
  directory?: readonly string[];
};

const switchUser: WrapperSyntax = {
  flags: "flmpPT",
  scripts: ["c", "command", "session-command"],
  programs: ["s", "shell"],
  permutes: true,
  operands: 1,
  privileged: true,
};

export const wrappers: Record<string, WrapperSyntax> = {
  env: {
    flags: "i0v",
    values: "uCSa",
    longFlags: list("ignore-environment null debug list-signal-handling"),
    longValues: list("unset chdir split-string argv0"),
    assignments: true,
    directory: ["C", "chdir"],
  },
  nohup: { transparent: true },
  setsid: { flags: "cfw", longFlags: ["ctty", "fork", "wait"] },
  time: {
    flags: "pvqa",
    values: "of",
    longFlags: ["portability", "verbose", "append"],
    longValues: ["output", "format"],
  },
  command: { flags: "pvV", transparent: true },
  exec: { flags: "cl", values: "a" },
  nice: { values: "n", longValues: ["adjustment"], transparent: true },
  ionice: { flags: "t", values: "cnpPu", longValues: ["class", "classdata"] },
  chrt: { flags: "abdfimorRv", values: "TPDp", operands: 1, operand: /^\d+$/ },
  taskset: { flags: "ac", operands: 1 },
  stdbuf: { values: "ioe", longValues: ["input", "output", "error"], transparent: true },
  timeout: {
    flags: "fpv",
    values: "ks",
    longFlags: ["foreground", "preserve-status", "verbose"],
    longValues: ["kill-after", "signal"],
    operands: 1,
    transparent: true,
  },
  chroot: { longValues: ["userspec", "groups"], operands: 1, privileged: true },
  unshare: { flags: "rfc", values: "SGRw", attached: "mnpuUiCT", privileged: true },
  nsenter: { flags: "aceFZ", values: "tSGN", attached: "mnpuUiCTrwW", privileged: true },
  sudo: {
    flags: "AbEeHiKklnPSsvVBN",
    values: "CDghpRrtTuU",
    longFlags: list("preserve-env non-interactive set-home background login stdin shell"),
    longValues: list("user group host prompt chdir role type chroot command-timeout"),
    assignments: true,
    privileged: true,
  },
  doas: { flags: "Lns", values: "aCu", privileged: true },
  su: {
    ...switchUser,
    values: "csgGw",
    longValues: list("command session-command shell group supp-group whitelist-environment"),
  },
  runuser: {
    ...switchUser,
    values: "csgGuw",
    longFlags: ["pty", "no-pty"],
    longValues: list("command session-command shell user group supp-group whitelist-environment"),
    insteadOfOperands: ["u", "user"],
  },
  sg: { operands: 1, joins: "all", privileged: true },
  pkexec: { longValues: ["user"], privileged: true },
  "systemd-run": { flags: "tPqdSrG", values: "pEuMHC", privileged: true },
  ...each("setpriv capsh", { privileged: true }),
  ...each("gosu su-exec setuidgid s6-setuidgid", { operands: 1, privileged: true }),
  xargs: {
    flags: "0rtpxo",
    values: "adEILnPs",
    attached: "eil",
    longFlags: list("null no-run-if-empty verbose interactive exit open-tty eof replace max-lines"),
    longValues: list("arg-file delimiter max-args max-procs max-chars process-slot-var"),
  },
  watch: {
    flags: "bcegptxwrC",
    values: "nqs",
    attached: "d",
    longFlags: list("beep color differences errexit chgexit precise no-title exec no-wrap no-rerun"),
    longValues: ["interval", "equexit", "shotsdir"],
    joins: "all",
  },
  script: {
    flags: "aefqhV",
    values: "cEoOIBTm",
    attached: "t",
    longFlags: list("append return flush force quiet"),
    longValues: list("command echo log-in log-out log-io log-timing logging-format output-limit"),
    scripts: ["c", "command"],
    operands: 1,
  },
  flock: {
    flags: "sxeunoFv",
    values: "cwE",
    longFlags: list("shared exclusive unlock nonblock close no-fork verbose"),
    longValues: list("command timeout wait conflict-exit-code"),
    scripts: ["c", "command"],
    operands: 1,
  },
  strace: { flags: "cCdDfFhiknqrtTvVwxyYzZ", values: "abeEIoOpPsSuUX", longValues: ["output"] },
  ltrace: { flags: "bcCfhiLrStTV", values: "aeEFlnosuwxAD", longValues: ["output"] },
  coreutils: { programs: ["coreutils-prog"] },
  npx: {
    flags: "yq",
    values: "pc",
    longFlags: list("yes no no-install quiet prefer-offline offline ignore-existing"),
    longValues: ["package", "call", "workspace"],
    scripts: ["c", "call"],
  },
  bunx: { longFlags: ["bun"] },
  uvx: { longValues: ["from", "with", "python"], values: "p" },
  caffeinate: { flags: "dimsu", values: "tw" },
  "xvfb-run": { flags: "adl", values: "efnpsw" },
  torsocks: { flags: "idq" },
  ...each("proxychains proxychains4", { flags: "q", values: "f" }),
  "ssh-agent": { flags: "csDdk", values: "aEtPO" },
  unbuffer: { flags: "p" },
  sshpass: { flags: "evhV", values: "pfdP" },
  ...each("logsave envdir setlock", { flags: "aisvnNxX", operands: 1 }),
  "nix-shell": { values: "pIA", longValues: ["run", "command", "packages"], scripts: ["run", "command"] },
  chronic: { flags: "ev" },
  ifne: { flags: "n" },
  timelimit: { flags: "pq", values: "tTsS" },
  ...each("gksudo gksu kdesu kdesudo beesu please sudoedit newgrp", { privileged: true }),
  faketime: { flags: "fm", operands: 1 },
  fakeroot: { flags: "uhv", values: "lsibf" },
  ...each("linux64 linux32", { flags: "3BFILRSTXZv" }),
  direnv: { operands: 2 },
  "cross-env": { assignments: true },
  dotenvx: { operands: 1 },
  entr: { flags: "acdnprsxz", joins: "all", joinedBy: /^-[a-z]*s/ },
  jobs: { flags: "x" },
  ...each("hyperfine concurrently tmux", { joins: "each" }),
  ...each("setarch perf rr dtach abduco onchange", { mayHaveOperand: true }),
  // Nothing is known but that the rest is a command: an option makes it a guess.
  ...each(
    `builtin parallel busybox toybox pnpx eatmydata catchsegv cpulimit firejail proot bwrap valgrind rlwrap dbus-run-session
    start-stop-daemon dotenv prlimit choom numactl cgexec chpst tini dumb-init catatonit heaptrack sem fakechroot watchexec
    env-cmd dbus-launch i386 x86_64 daemonize daemon openvt sbase-box screen at batch multitime softlimit torify nocache aa-exec
    runcon systemd-inhibit run-one run-this-one retry viddy tsp xcrun msgfilter mispipe xterm gnome-terminal konsole alacritty kitty foot
    wezterm x-terminal-emulator`,
    {},
  ),
};

/** `gtimeout` is timeout: GNU programs are called so beside others of the same name. */
export function wrapperName(name: string): string {
  return baseName(name)
    .toLowerCase()
    .replace(/^g(?=(env|xargs|timeout|nice|nohup|stdbuf|time|chroot|setsid)$)/, "");
}

/** The dynamic loader runs the program that it is given. */
export const loaderName = /^ld(-[\w-]+)?\.so(\.\d+)*$|^ld-linux.*\.so/;

/** Package managers and environments whose subcommand runs a program. */
export const runners: Record<string, readonly string[]> = {
  ...each("npm mise", ["exec", "x"]),
  ...each("pnpm yarn", ["exec", "dlx"]),
  bun: ["x"],
  ...each("bundle asdf rbenv pyenv nodenv", ["exec"]),
  ...each(
    "poetry pipenv pipx pdm hatch rye uv conda mamba micromamba rustup volta pixi devbox op doppler infisical zellij",
    ["run"],
  ),
  ...each("aws-vault chamber fnm lerna nx gem", ["exec"]),
  nvm: ["exec", "run"],
  nix: ["develop", "shell", "run"],
  guix: ["shell", "environment"],
  pueue: ["add"],
};

/** Runners with operands of their own, before two dashes and the program. */
export const dashed = words("mise aws-vault chamber op doppler infisical lerna nx zellij guix nix fnm");

/** What stands between the subcommand and the program. */
export const runnerOptions: WrapperSyntax = {
  flags: "yq",
  values: "cpn",
  longFlags: list("yes no no-install silent quiet no-capture-output live-stream frozen no-sync"),
  longValues: list("call package name prefix with extra group python workspace"),
  scripts: ["c", "call"],
};

/** Given to a shell, or a command as it stands: `watch -x`, `entr -s`. */
export function isJoined({ joinedBy }: WrapperSyntax, args: readonly ShellWord[]): boolean {
  if (joinedBy) return args.some((arg) => joinedBy.test(arg.value));
  return !args.some((arg) => /^(-[a-zA-Z]*x|--exec)$/.test(arg.value));
}

export function isPackageRunner(base: string): boolean {
  return /^(npx|bunx|pnpx|uvx)$/.test(base) || own(runners, base) !== undefined;
}

/** `vitest@2` is vitest; a version that is an address is not. `hatch run test:pytest`: in the environment `test`. */
export function withoutVersion(word: ShellWord, base: string): ShellWord {
  const bare = base === "hatch" ? word.value.replace(/^[^:/]*:/, "") : word.value;
  const value = bare.replace(/^([\w.-]+)@(\d[\w.]*|latest|next)$/, "$1");
  return value === word.value ? word : { ...word, value };
}

/** Where the subcommand of a runner stands. `npm --prefix x exec`: the first operand may be the value of an option. */
export function subcommandOf(base: string, args: readonly ShellWord[]): number {
  const subcommands = own(runners, base);
  return subcommands ? args.slice(0, 8).findIndex((arg) => subcommands.includes(arg.value)) : -1;
}
