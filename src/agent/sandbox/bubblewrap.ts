// Bubblewrap: the command line that lays a layout around a command on Linux.
import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { isInside } from "../../policy/paths.ts";
import { list } from "../../text/words.ts";
import type { Layout, Mount } from "./layout.ts";
import { relayCommand } from "./relay.ts";

export type BubblewrapParts = {
  bwrap: string;
  bash: string;
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
  { layout, cwd, limits, relay }: BubblewrapRequest,
  command: readonly string[],
): string[] {
  const mounts = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"];
  for (const path of parts.kernelPaths) mounts.push("--ro-bind", path, path);
  for (const mount of layout) mounts.push(...mountWords(mount, parts));
  // Last: until then bubblewrap makes the folders in them on which others are laid.
  for (const { at, as } of layout) if (as === "covered") mounts.push("--remount-ro", at);
  const filter = parts.filter === undefined ? [] : ["--seccomp", "9"];
  const inner = [parts.bash, "-c", innerStage(limits), "sandbox", ...command];
  const started = relay ? relayCommand(relay.node, relay.socket, inner) : inner;
  const whole = [parts.bwrap, ...isolation, ...filter, ...mounts, "--chdir", cwd, "--", ...started];
  if (parts.filter === undefined && parts.groups.length === 0) return whole;
  return ["/bin/sh", "-c", outerStage(parts), parts.filter ?? "/dev/null", ...whole];
}

function mountWords(mount: Mount, { emptyFile, emptyFolder }: BubblewrapParts): string[] {
  switch (mount.as) {
    case "covered":
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

/** Outside: joins the control groups and opens the filter, which bubblewrap wants as a descriptor. */
function outerStage({ groups }: BubblewrapParts): string {
  const joins = groups.map((group) => `echo 0 > '${group.replaceAll("'", "'\\''")}/cgroup.procs' || exit 125; `);
  return `${joins.join("")}exec "$@" 9<"$0"`;
}

/** Inside, before the command: no descriptor but the three, and limits that cannot be raised again. */
function innerStage({ memoryMb, processes }: BubblewrapRequest["limits"]): string {
  return [
    'for d in /proc/self/fd/*; do d=${d##*/}; if [ "$d" -gt 2 ]; then eval "exec $d>&-"; fi; done',
    "ulimit -c 0",
    // Where the user's own limit is lower already, that one holds.
    `ulimit -d ${memoryMb * 1024} 2>/dev/null`,
    `ulimit -u ${processes} 2>/dev/null`,
    'exec "$@"',
  ].join("\n");
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
