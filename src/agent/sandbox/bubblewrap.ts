// Builds the bubblewrap command line that gives a command its layout on Linux.
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
  /** Paths in /proc that can change the whole machine. Root can write them even without capabilities. */
  kernelPaths: readonly string[];
  /** The paths of an empty file and an empty folder, which are mounted over hidden paths. */
  emptyFile: string;
  emptyFolder: string;
  /** The path of the seccomp filter, if one exists for this architecture. */
  filter?: string;
  /** The control group folders that the command joins. */
  groups: readonly string[];
};

export type BubblewrapRequest = {
  layout: Layout;
  cwd: string;
  limits: { memoryMb: number; processes: number };
  /** A file that lists the expected mounts. If they differ, the command is not started. See `checkText`. */
  checks?: string;
  /** A file for errors before the command starts; by default they go to its standard error. */
  complainTo?: string;
  /** The relay to the permitted hosts, if any are permitted. */
  relay?: { node: string; socket: string };
};

/** Bubblewrap makes only some of these read-only, and only where it considers the folder itself writable. */
export const kernelPaths = ["sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "mtrr", "driver", "asound"].map(
  (name) => `/proc/${name}`,
);

/** New user, PID, IPC, UTS and network namespaces; no terminal and no capabilities; dies with its parent. */
const isolation = list(`
  --unshare-user --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup-try --new-session
  --die-with-parent --cap-drop ALL`);

export function bubblewrapCommand(
  parts: BubblewrapParts,
  { layout, cwd, limits, checks, complainTo, relay }: BubblewrapRequest,
  command: readonly string[],
): string[] {
  const mounts = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];
  // Hide process 1 from commands: it is bubblewrap itself, which has no seccomp filter, and they could write to its
  // memory.
  mounts.push("--ro-bind", parts.emptyFolder, "/proc/1");
  for (const path of parts.kernelPaths) mounts.push("--ro-bind", path, path);
  for (const mount of layout) mounts.push(...mountWords(mount, parts));
  // Last, because until then bubblewrap creates mount points in these folders.
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

/**
 * Builds the shell script that runs outside the sandbox: it joins the control groups and opens the filter, which bubblewrap takes as a
 * descriptor. Saves the command's standard error as descriptor 8.
 */
function outerStage(
  { groups }: BubblewrapParts,
  { checks, complainTo }: Pick<BubblewrapRequest, "checks" | "complainTo">,
): string {
  const joins = groups.map((group) => `echo 0 > ${quotePath(`${group}/cgroup.procs`)} || exit 125; `);
  const files = [
    '9<"$0" 8>&2',
    ...(checks === undefined ? [] : [`7<${quotePath(checks)}`]),
    ...(complainTo === undefined ? [] : [`2>${quotePath(complainTo)}`]),
  ];
  return `${joins.join("")}exec "$@" ${files.join(" ")}`;
}

function quotePath(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}

/** Lists paths and what `stat` must print for them. Passed as a file, since bubblewrap takes only a few thousand arguments. */
export function checkText(checks: readonly MountCheck[]): string {
  return [...checks.map(({ at }) => at), checks.map(({ identity }) => identity).join("\n"), ""].join("\0");
}

/** The first stage inside: checks that everything is mounted as planned, then restores the command's own standard error. */
function checkStage({ stat }: BubblewrapParts, { hasChecks }: { hasChecks: boolean }): string[] {
  if (!hasChecks) return ["exec 2>&8"];
  // On some systems one binary contains many programs, such as busybox; `stat` is then its first argument.
  const says = basename(stat) === "stat" ? stat : `${stat} stat`;
  return [
    'mapfile -d "" -t paths <&7; wanted=${paths[-1]}; unset "paths[-1]"',
    `if [ -z "$wanted" ] || [ "$(${says} -c %d:%i -- "\${paths[@]}")" != "$wanted" ]; then`,
    '  echo "bwrap: folders changed while they were being mounted" >&2; exit 1',
    "fi",
    "exec 2>&8",
  ];
}

/** The last stage inside: closes all descriptors but the first three, and sets limits that cannot be raised again. */
function limitStage({ memoryMb, processes }: BubblewrapRequest["limits"]): string[] {
  return [
    'for d in /proc/self/fd/*; do d=${d##*/}; if [ "$d" -gt 2 ]; then eval "exec $d>&-"; fi; done',
    "ulimit -c 0",
    // This only lowers the limit: a lower one that the user already has stays in force.
    `ulimit -d ${memoryMb * 1024} 2>/dev/null`,
    `ulimit -u ${processes} 2>/dev/null`,
    'exec "$@"',
  ];
}

/** The smallest command that shows whether bubblewrap works here. */
export function trialCommand(parts: BubblewrapParts): string[] {
  const limits = { memoryMb: 256, processes: 64 };
  return bubblewrapCommand(parts, { layout: [{ at: "/run", as: "covered" }], cwd: "/", limits }, ["true"]);
}

/** Finds a program in folders that only root can write, never in a project. */
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
      // The file is missing or cannot be read.
    }
  }
  return undefined;
}

function isTheSystems(path: string): boolean {
  const { uid, mode } = statSync(path);
  return uid === 0 && (mode & 0o022) === 0;
}

/** Turns the error of a failed trial into a sentence with advice. */
export function bubblewrapProblem(stderr: string): string {
  const reason = /bwrap: (.+)/.exec(stderr)?.[1]?.trim() ?? stderr.trim().split("\n")[0] ?? "";
  const advice =
    advices.find(([pattern]) => pattern.test(reason))?.[1] ??
    "See whether `bwrap --unshare-all --ro-bind / / true` works here";
  return `bubblewrap does not work here (${reason || "it gave no reason"}). ${advice}`;
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
