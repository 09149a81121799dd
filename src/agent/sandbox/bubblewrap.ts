// Bubblewrap: the command line that lays a layout around a command on Linux.
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join } from "node:path";
import { isInside } from "../../policy/paths.ts";
import { list } from "../../text/words.ts";
import type { Layout, Mount } from "./layout.ts";
import type { MountCheck } from "./mount-checks.ts";
import { relayCommand } from "./relay.ts";

export type BubblewrapParts = {
  bwrap: string;
  bash: string;
  stat: string;
  /** Parts of /proc that change the whole machine. The files in them obey their owner, root, who needs no rights for that. */
  kernelPaths: readonly string[];
  /** Nothing at all, to be laid over what is hidden. */
  emptyFile: string;
  emptyFolder: string;
  /** The filter of system calls, where there is one for this machine. */
  filter?: string;
  /** Folders of control groups that the command joins. */
  groups: readonly string[];
};

export type BubblewrapRequest = {
  layout: Layout;
  cwd: string;
  limits: { memoryMb: number; processes: number };
  /** A file that says what must be mounted where, or nothing is started: see `checkText`. */
  checks?: string;
  /** A file for what goes wrong before the command is started; else that is said on its standard error. */
  complainTo?: string;
  /** The way to listed hosts, where there are any. */
  relay?: { node: string; socket: string };
};

/** Bubblewrap closes some of them, and those only where it takes the folder itself for writable. */
export const kernelPaths = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr", "driver", "asound"].map(
  (name) => `/proc/${name}`,
);

/** Its own user, processes, names, messages and network; no terminal, no rights, and an end with its parent. */
const isolation = list(`
  --unshare-user --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup-try --new-session
  --die-with-parent --cap-drop ALL`);

/** Pure: the same words for the same question. */
export function bubblewrapCommand(
  parts: BubblewrapParts,
  { layout, cwd, limits, checks, complainTo, relay }: BubblewrapRequest,
  command: readonly string[],
): string[] {
  const mounts = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];
  // Bubblewrap itself, as commands see it, which no filter of calls binds: they could write into its memory.
  mounts.push("--ro-bind", parts.emptyFolder, "/proc/1");
  for (const path of parts.kernelPaths) mounts.push("--ro-bind", path, path);
  for (const mount of layout) mounts.push(...mountWords(mount, parts));
  // Last: until then bubblewrap makes the folders in them on which others are laid.
  for (const { at, as } of layout) if (as === "covered" || as === "closed") mounts.push("--remount-ro", at);
  const filter = parts.filter === undefined ? [] : ["--seccomp", "9"];
  const stage = (lines: readonly string[]) => [parts.bash, "-c", lines.join("\n"), "sandbox"];
  const first = checkStage(parts, { hasChecks: checks !== undefined });
  const started = relay
    ? [
        ...stage([...first, 'exec "$@"']),
        ...relayCommand(relay.node, relay.socket, [...stage(limitStage(limits)), ...command]),
      ]
    : [...stage([...first, ...limitStage(limits)]), ...command];
  const whole = [parts.bwrap, ...isolation, ...filter, ...mounts, "--chdir", cwd, "--", ...started];
  return ["/bin/sh", "-c", outerStage(parts, { checks, complainTo }), parts.filter ?? "/dev/null", ...whole];
}

function mountWords(mount: Mount, { emptyFile, emptyFolder }: BubblewrapParts): string[] {
  switch (mount.as) {
    case "covered":
    case "closed":
      return ["--tmpfs", mount.at];
    case "private":
      return ["--bind", mount.from, mount.at];
    case "pinned":
    case "writable":
      return ["--bind", mount.at, mount.at];
    case "visible":
    case "readOnly":
      return ["--ro-bind", mount.at, mount.at];
    case "hidden":
      return ["--ro-bind", mount.kind === "folder" ? emptyFolder : emptyFile, mount.at];
  }
}

/** Outside: joins the control groups and opens the filter, which bubblewrap wants as a descriptor. The command's standard error is put by. */
function outerStage(
  { groups }: BubblewrapParts,
  { checks, complainTo }: Pick<BubblewrapRequest, "checks" | "complainTo">,
): string {
  const joins = groups.map((group) => `echo 0 > ${quoted(`${group}/cgroup.procs`)} || exit 125; `);
  const files = [
    '9<"$0" 8>&2',
    ...(checks === undefined ? [] : [`7<${quoted(checks)}`]),
    ...(complainTo === undefined ? [] : [`2>${quoted(complainTo)}`]),
  ];
  return `${joins.join("")}exec "$@" ${files.join(" ")}`;
}

function quoted(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}

/** Paths, and what `stat` must say of them. A file, since bubblewrap takes only some thousand words. */
export function checkText(checks: readonly MountCheck[]): string {
  return [...checks.map(({ at }) => at), checks.map(({ identity }) => identity).join("\n"), ""].join("\0");
}

/** Inside, first: is everything mounted that was meant to be? The command's own standard error comes back then. */
function checkStage({ stat }: BubblewrapParts, { hasChecks }: { hasChecks: boolean }): string[] {
  if (!hasChecks) return ["exec 2>&8"];
  // Some systems have many programs in one file.
  const says = basename(stat) === "stat" ? stat : `${stat} stat`;
  return [
    'mapfile -d "" -t paths <&7; wanted=${paths[-1]}; unset "paths[-1]"',
    `if [ -z "$wanted" ] || [ "$(${says} -c %d:%i -- "\${paths[@]}")" != "$wanted" ]; then`,
    '  echo "bwrap: folders changed while they were being mounted" >&2; exit 1',
    "fi",
    "exec 2>&8",
  ];
}

/** Inside, before the command: no descriptor but the three, and limits that cannot be raised again. */
function limitStage({ memoryMb, processes }: BubblewrapRequest["limits"]): string[] {
  return [
    'for d in /proc/self/fd/*; do d=${d##*/}; if [ "$d" -gt 2 ]; then eval "exec $d>&-"; fi; done',
    "ulimit -c 0",
    // Where the user's own limit is lower already, that one holds.
    `ulimit -d ${memoryMb * 1024} 2>/dev/null`,
    `ulimit -u ${processes} 2>/dev/null`,
    'exec "$@"',
  ];
}

/** The least that shows whether it works here. */
export function trialCommand(parts: BubblewrapParts): string[] {
  const limits = { memoryMb: 256, processes: 64 };
  return bubblewrapCommand(parts, { layout: [{ at: "/run", as: "covered" }], cwd: "/", limits }, ["true"]);
}

/** A program by its name, from folders that nobody but the system's owner can write: never from a project. */
export function systemProgram(name: string, env: NodeJS.ProcessEnv, folders: readonly string[]): string | undefined {
  const listed = (env["PATH"] ?? "").split(":").filter(isAbsolute);
  for (const folder of ["/usr/bin", "/bin", "/usr/local/bin", ...listed]) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      const real = realpathSync(path);
      const isOurs = folders.some((each) => isInside(real, each) || isInside(realpathSync(folder), each));
      if (!isOurs && [real, dirname(real), realpathSync(folder)].every(isTheSystems)) return real;
    } catch {
      // Not there, or not ours to look at.
    }
  }
  return undefined;
}

function isTheSystems(path: string): boolean {
  const { uid, mode } = statSync(path);
  return uid === 0 && (mode & 0o022) === 0;
}

/** What a failed trial said, as a sentence with what to do about it. */
export function bubblewrapProblem(stderr: string): string {
  const said = /bwrap: (.+)/.exec(stderr)?.[1]?.trim() ?? stderr.trim().split("\n")[0] ?? "";
  const advice =
    advices.find(([pattern]) => pattern.test(said))?.[1] ??
    "See whether `bwrap --unshare-all --ro-bind / / true` works here";
  return `bubblewrap does not work here (${said || "it gave no reason"}). ${advice}`;
}

const advices: readonly [RegExp, string][] = [
  [
    /uid map|Permission denied/i,
    "The system forbids user namespaces to programs without a profile (AppArmor): allow it with `sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0`, or with a profile for bwrap",
  ],
  [
    /mount proc|mount devpts/i,
    "This is inside a container or another sandbox, which hides parts of /proc: start a container with --security-opt systempaths=unconfined",
  ],
  [
    /namespace|Operation not permitted|No space left/i,
    "The system forbids user namespaces: allow them with `sudo sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000`; for a container, start it with --security-opt seccomp=unconfined",
  ],
  [/seccomp/i, "The kernel has no filter for system calls (CONFIG_SECCOMP_FILTER)"],
  [/Unknown option/i, "It is too old: version 0.4 or newer is needed"],
];
