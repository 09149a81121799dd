// Lists programs whose operands are a command: which options precede it, and which of them take a value.
import type { ShellWord } from "../parse/shell-word.ts";
import { baseName, each, own, words } from "./command-names.ts";

/** Letters, then long names: `"uC --unset --chdir"`. An option in neither list may or may not take a value. */
export type WrapperSyntax = {
  flags?: string;
  values?: string;
  /** Letters with an optional value that is never the next word: `xargs -i{}`. */
  attached?: string;
  /** The number of operands that precede the command. */
  operands?: number;
  /** Whether the last of these operands is optional. */
  mayHaveOperand?: true;
  /** A pattern for the first operand, if that is optional. */
  operand?: RegExp;
  /** Options that make these operands unnecessary. */
  insteadOfOperands?: readonly string[];
  /** Whether `NAME=value` may precede the command. */
  assignments?: true;
  /** Runs only its operands and changes nothing else, so it needs no rule of its own. */
  transparent?: true;
  privileged?: true;
  /** Options with a script as their value. */
  scripts?: readonly string[];
  /** Options with a program as their value, to which the operands are passed. */
  programs?: readonly string[];
  /** Whether options may follow operands. */
  permutes?: true;
  /** The operands are joined and passed to a shell; with `each`, every one is a line of its own. */
  joins?: "all" | "each";
  /** The operands are joined only with this option; without it they are a command. */
  joinedBy?: RegExp;
  /** Options with the folder to start in as their value. */
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
    flags: "i0v --ignore-environment --null --debug --list-signal-handling",
    values: "uCSa --unset --chdir --split-string --argv0",
    assignments: true,
    directory: ["C", "chdir"],
  },
  nohup: { transparent: true },
  setsid: { flags: "cfw --ctty --fork --wait" },
  time: { flags: "pvqa --portability --verbose --append", values: "of --output --format" },
  command: { flags: "pvV", transparent: true },
  exec: { flags: "cl", values: "a" },
  nice: { values: "n --adjustment", transparent: true },
  ionice: { flags: "t", values: "cnpPu --class --classdata" },
  chrt: { flags: "abdfimorRv", values: "TPDp", operands: 1, operand: /^\d+$/ },
  taskset: { flags: "ac", operands: 1 },
  stdbuf: { values: "ioe --input --output --error", transparent: true },
  timeout: {
    flags: "fpv --foreground --preserve-status --verbose",
    values: "ks --kill-after --signal",
    operands: 1,
    transparent: true,
  },
  chroot: { values: "--userspec --groups", operands: 1, privileged: true },
  unshare: { flags: "rfc", values: "SGRw", attached: "mnpuUiCT", privileged: true },
  nsenter: { flags: "aceFZ", values: "tSGN", attached: "mnpuUiCTrwW", privileged: true },
  sudo: {
    flags: "AbEeHiKklnPSsvVBN --preserve-env --non-interactive --set-home --background --login --stdin --shell",
    values: "CDghpRrtTuU --user --group --host --prompt --chdir --role --type --chroot --command-timeout",
    assignments: true,
    privileged: true,
  },
  doas: { flags: "Lns", values: "aCu", privileged: true },
  su: {
    ...switchUser,
    values: "csgGw --command --session-command --shell --group --supp-group --whitelist-environment",
  },
  runuser: {
    ...switchUser,
    values: "csgGuw --command --session-command --shell --user --group --supp-group --whitelist-environment",
    flags: "flmpPT --pty --no-pty",
    insteadOfOperands: ["u", "user"],
  },
  sg: { operands: 1, joins: "all", privileged: true },
  pkexec: { values: "--user", privileged: true },
  "systemd-run": { flags: "tPqdSrG", values: "pEuMHC", privileged: true },
  ...each("setpriv capsh", { privileged: true }),
  ...each("gosu su-exec setuidgid s6-setuidgid", { operands: 1, privileged: true }),
  xargs: {
    flags: "0rtpxo --null --no-run-if-empty --verbose --interactive --exit --open-tty --eof --replace --max-lines",
    values: "adEILnPs --arg-file --delimiter --max-args --max-procs --max-chars --process-slot-var",
    attached: "eil",
  },
  watch: {
    flags:
      "bcegptxwrC --beep --color --differences --errexit --chgexit --precise --no-title --exec --no-wrap --no-rerun",
    values: "nqs --interval --equexit --shotsdir",
    attached: "d",
    joins: "all",
  },
  script: {
    flags: "aefqhV --append --return --flush --force --quiet",
    values: "cEoOIBTm --command --echo --log-in --log-out --log-io --log-timing --logging-format --output-limit",
    attached: "t",
    scripts: ["c", "command"],
    operands: 1,
  },
  flock: {
    flags: "sxeunoFv --shared --exclusive --unlock --nonblock --close --no-fork --verbose",
    values: "cwE --command --timeout --wait --conflict-exit-code",
    scripts: ["c", "command"],
    operands: 1,
  },
  strace: { flags: "cCdDfFhiknqrtTvVwxyYzZ", values: "abeEIoOpPsSuUX --output" },
  ltrace: { flags: "bcCfhiLrStTV", values: "aeEFlnosuwxAD --output" },
  coreutils: { programs: ["coreutils-prog"] },
  npx: {
    flags: "yq --yes --no --no-install --quiet --prefer-offline --offline --ignore-existing",
    values: "pc --package --call --workspace",
    scripts: ["c", "call"],
  },
  bunx: { flags: "--bun" },
  uvx: { values: "p --from --with --python" },
  caffeinate: { flags: "dimsu", values: "tw" },
  "xvfb-run": { flags: "adl", values: "efnpsw" },
  torsocks: { flags: "idq" },
  ...each("proxychains proxychains4", { flags: "q", values: "f" }),
  "ssh-agent": { flags: "csDdk", values: "aEtPO" },
  unbuffer: { flags: "p" },
  sshpass: { flags: "evhV", values: "pfdP" },
  ...each("logsave envdir setlock", { flags: "aisvnNxX", operands: 1 }),
  "nix-shell": { values: "pIA --run --command --packages", scripts: ["run", "command"] },
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
  ...each("setarch perf rr uftrace dtach abduco onchange", { mayHaveOperand: true }),
  // Only known to take a command as the rest; with an option, the command is a guess.
  ...each(
    `builtin parallel busybox toybox pnpx eatmydata catchsegv cpulimit firejail proot bwrap valgrind rlwrap dbus-run-session
    start-stop-daemon dotenv prlimit choom numactl cgexec chpst tini dumb-init catatonit heaptrack sem fakechroot watchexec
    env-cmd dbus-launch i386 x86_64 daemonize daemon openvt sbase-box screen at batch multitime softlimit torify nocache aa-exec
    runcon systemd-inhibit run-one run-this-one retry viddy tsp xcrun msgfilter mispipe xterm gnome-terminal konsole alacritty kitty foot
    wezterm x-terminal-emulator ccache sccache distcc bear scan-build gdbserver grc pexec aoss xdotool`,
    {},
  ),
};

/** Treats `gtimeout` as timeout: GNU programs have this prefix where others have the same name. */
export function wrapperName(name: string): string {
  return baseName(name)
    .toLowerCase()
    .replace(/^g(?=(env|xargs|timeout|nice|nohup|stdbuf|time|chroot|setsid)$)/, "");
}

/** The dynamic loader, which runs the program that it is given. */
export const loaderName = /^ld(-[\w-]+)?\.so(\.\d+)*$|^ld-linux.*\.so/;

/** Package managers and environments with subcommands that run a program. */
export const runners: Record<string, readonly string[]> = {
  ...each("npm mise", ["exec", "x"]),
  ...each("pnpm yarn", ["exec", "dlx"]),
  bun: ["x"],
  ...each("bundle asdf rbenv pyenv nodenv", ["exec"]),
  ...each(
    "poetry pipenv pipx pdm hatch rye uv conda mamba micromamba rustup volta pixi devbox op doppler infisical zellij foreman",
    ["run"],
  ),
  ...each("aws-vault chamber fnm lerna nx gem composer", ["exec"]),
  nvm: ["exec", "run"],
  nix: ["develop", "shell", "run"],
  guix: ["shell", "environment"],
  pueue: ["add"],
};

/** Runners with operands of their own, followed by `--` and the program. */
export const dashed = words("mise aws-vault chamber op doppler infisical lerna nx zellij guix nix fnm");

/** The options between a runner's subcommand and the program. */
export const runnerOptions: WrapperSyntax = {
  flags: "yq --yes --no --no-install --silent --quiet --no-capture-output --live-stream --frozen --no-sync",
  values: "cpn --call --package --name --prefix --with --extra --group --python --workspace",
  scripts: ["c", "call"],
};

/** Returns whether the operands are passed to a shell or are a command as they are: `watch -x`, `entr -s`. */
export function isJoined({ joinedBy }: WrapperSyntax, args: readonly ShellWord[]): boolean {
  if (joinedBy) return args.some((arg) => joinedBy.test(arg.value));
  return !args.some((arg) => /^(-[a-zA-Z]*x|--exec)$/.test(arg.value));
}

export function isPackageRunner(base: string): boolean {
  return /^(npx|bunx|pnpx|uvx)$/.test(base) || own(runners, base) !== undefined;
}

/** Reads `vitest@2` as vitest, but not a version that is an address. `hatch run test:pytest` runs in the environment `test`. */
export function withoutVersion(word: ShellWord, base: string): ShellWord {
  const bare = base === "hatch" ? word.value.replace(/^[^:/]*:/, "") : word.value;
  const value = bare.replace(/^([\w.-]+)@(\d[\w.]*|latest|next)$/, "$1");
  return value === word.value ? word : { ...word, value };
}

/** Returns the index of a runner's subcommand. `npm --prefix x exec`: the first operand may be an option's value. */
export function subcommandOf(base: string, args: readonly ShellWord[]): number {
  const subcommands = own(runners, base);
  return subcommands ? args.slice(0, 8).findIndex((arg) => subcommands.includes(arg.value)) : -1;
}
