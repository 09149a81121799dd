// The sandbox on Linux: bubblewrap, a private folder, and a scan of the disk before each command.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { isInside, realOrSame } from "../../policy/paths.ts";
import type { HostProxy } from "../host-proxy.ts";
import { makeTemporaryFolder, outputsOf } from "../output-folder.ts";
import {
  type BubblewrapParts,
  bubblewrapCommand,
  bubblewrapProblem,
  checkText,
  kernelPaths,
  systemProgram,
  trialCommand,
} from "./bubblewrap.ts";
import { makeControlGroup, removeLeftGroups } from "./control-groups.ts";
import { confinedEnvironment, privateCaches } from "./environment.ts";
import { GuardedNames } from "./guarded-names.ts";
import { judgeByPolicy } from "./hosts.ts";
import type { EnterRequest, SandboxBackend, SandboxedCommand, SandboxOptions } from "./index.ts";
import { signalInside, watchInside } from "./inside.ts";
import { type MountCheck, mountChecks } from "./mount-checks.ts";
import { type SandboxPlan, skillNames } from "./plan.ts";
import { isNewProtectedPath, newTopLevelPaths } from "./protected-paths.ts";
import { proxyVariables, relayPort } from "./relay.ts";
import { type HiddenFiles, loadHiding, newRuledPaths } from "./ruled-paths.ts";
import { type ScanLayoutRequest, type ScannedLayout, scanLayout } from "./scan-layout.ts";
import { seccompFilter } from "./seccomp.ts";
import { SpecialFiles } from "./special-files.ts";
import { TemporarySpace } from "./temporary-space.ts";

export async function openLinux(options: SandboxOptions): Promise<SandboxBackend | { unavailable: string }> {
  const { plan, processes, env = process.env } = options;
  const refuse = (unavailable: string) => ({ unavailable });
  const program = (name: string) => systemProgram(name, env, [plan.workspace, ...plan.roots, ...plan.writable]);
  const bwrap = program("bwrap");
  if (bwrap === undefined)
    return refuse(
      "bubblewrap is not installed. Install it: `sudo apt install bubblewrap`, `sudo dnf install bubblewrap`",
    );
  const [bash, stat] = [program("bash"), program("stat")];
  if (bash === undefined || stat === undefined) {
    const missing = bash === undefined ? "bash" : "stat";
    return refuse(`no ${missing} was found in the system's directories`);
  }
  const folder = privateFolder(plan);
  if (folder === undefined) return refuse("no temporary directory outside the workspace is writable");

  let proxy: HostProxy | undefined;
  const removals: Promise<void>[] = [];
  const end = async () => {
    await proxy?.close();
    await Promise.all(removals);
    await rm(folder, { recursive: true, force: true });
  };
  const parts = {
    bwrap,
    bash,
    stat,
    kernelPaths: kernelPaths.filter((path) => existsSync(path)),
    ...createHelperFiles(folder),
  };
  const tried = async (groups: readonly string[]) =>
    processes.run({ command: trialCommand({ ...parts, groups }), cwd: "/", env: {}, timeoutMs: 10_000 });
  removeLeftGroups();
  const group = makeControlGroup(plan.limits);
  try {
    let canGroup = group !== undefined;
    let trial = await tried(group?.folders ?? []);
    if (canGroup && trial.exitCode === 125) {
      canGroup = false;
      trial = await tried([]);
    }
    if (trial.exitCode !== 0) {
      await end();
      return refuse(bubblewrapProblem(trial.stderr));
    }
    const socket = join(folder, "net", "proxy");
    if (plan.network.type === "proxy") {
      const { startHostProxy } = await import("../host-proxy.ts");
      proxy = await startHostProxy({ path: socket, judge: judgeByPolicy(plan.network), env, ...options.network });
    }
    const way = proxy && { socket, proxy };
    const hiding = await loadHiding(plan);
    const special = new SpecialFiles();
    const guards = new Set<GuardedNames>();
    const [temporary, kept] = [temporaryMounts(folder, plan), keptFolders(plan)];
    const space = new TemporarySpace([...temporary.values()], plan.limits.temporaryMb);
    const state = { folder, hiding, special, temporary, space, kept, canGroup, guards, removals };
    const sandbox: LinuxSandbox = { plan, parts, way, ...state };
    const expect = (path: string) => {
      for (const guard of guards) guard.expect(path);
    };
    return { enter: (request) => enter(sandbox, request), expect, end };
  } catch (error) {
    await end();
    return refuse(`bubblewrap could not be tried (${(error as Error).message})`);
  } finally {
    if (group) removals.push(group.remove());
  }
}

/** The parts of a Linux sandbox that are created once per run. */
type LinuxSandbox = {
  plan: SandboxPlan;
  parts: Omit<BubblewrapParts, "groups">;
  folder: string;
  hiding: HiddenFiles;
  special: SpecialFiles;
  /** Maps each temporary folder of the system to the private folder that replaces it. */
  temporary: ReadonlyMap<string, string>;
  space: TemporarySpace;
  /** The agent's own folders, which commands must not see. */
  kept: readonly string[];
  canGroup: boolean;
  guards: Set<GuardedNames>;
  /** Pending removals of control groups whose processes are ending. */
  removals: Promise<void>[];
  /** The proxy to the permitted hosts, if there is one. */
  way: { socket: string; proxy: HostProxy } | undefined;
};

function enter(sandbox: LinuxSandbox, { command, cwd, env, readable = [] }: EnterRequest): SandboxedCommand {
  const { plan, parts, folder, hiding, special, temporary, kept, way } = sandbox;
  const node = realOrSame(process.execPath);
  const needed = [
    ...[...programFolders(plan, env["PATH"] ?? "", node), ...readable, ...skillFolders(plan)],
    ...(way ? [dirname(way.socket)] : []),
  ];
  const request = { plan, hiding, special, temporary, needed, kept, socket: way?.socket };
  const { scanned, checks } = scanAndCheck(request, parts);
  const { layout } = scanned;
  const files = join(folder, `start-${Math.random().toString(36).slice(2)}`);
  const [checksFile, complainTo] = [`${files}.checks`, `${files}.txt`];
  if (checks.length > 0) writeFileSync(checksFile, checkText(checks), { mode: 0o600 });
  const relay = way && { node, socket: way.socket };
  const group = sandbox.canGroup ? makeControlGroup(plan.limits) : undefined;
  if (sandbox.canGroup && !group)
    throw new Error("A control group for the limits of the sandbox could not be created.");
  let watch: ReturnType<typeof watchInside> | undefined;
  let spaceWatch: { stop(): void } | undefined;
  let pid = 0;
  const notes: string[] = [];
  const guard = new GuardedNames({
    watched: scanned.watched,
    folders: plan.writable,
    isGuarded: (path) => isNewProtectedPath(path, plan, scanned.topLevel),
    onFlood() {
      notes.push("it was killed: it kept making protected names");
      signalInside(pid, "SIGKILL");
    },
  });
  sandbox.guards.add(guard);
  return {
    command: bubblewrapCommand(
      { ...parts, groups: group?.folders ?? [] },
      {
        ...{ layout, cwd, limits: plan.limits, complainTo, ...(relay && { relay }) },
        ...(checks.length > 0 && { checks: checksFile }),
      },
      systemShell(command, parts.bash),
    ),
    env: { ...environmentOf(plan, env), ...(way && proxyVariables(relayPort)) },
    bash: parts.bash,
    started(started) {
      pid = started;
      spaceWatch = sandbox.space.watch(() => {
        const { temporaryMb } = plan.limits;
        notes.push(
          `it was killed: there was more than ${temporaryMb} MB in /tmp, which is empty now; "limits": {"temporaryMb": …} in sandbox.json allows more`,
        );
        signalInside(pid, "SIGKILL");
      });
      // Root is not bound by the limits of ulimit, so its processes are watched instead.
      if (!group && process.getuid?.() === 0) watch = watchInside(pid, plan.limits.processes);
    },
    signal: (name) => signalInside(pid, name),
    leave() {
      watch?.stop();
      spaceWatch?.stop();
      if (group) sandbox.removals.push(group.remove());
      // If the previous scan was incomplete, a path that is found now is not necessarily new.
      const ruled = scanned.notes.length > 0 ? [] : newRuledPaths(plan, layout);
      if (watch?.hasEnded) notes.push(`it was killed: it had more than ${plan.limits.processes} processes`);
      sandbox.guards.delete(guard);
      if (sandbox.guards.size === 0) sandbox.space.emptyIfFull();
      const undone = guard.end([...newTopLevelPaths(plan, scanned.topLevel), ...ruled]);
      notes.push(...scanned.notes, ...undone, ...(way?.proxy.takeRefusals() ?? []));
      rmSync(checksFile, { force: true });
      const complaint = takeText(complainTo);
      special.learn(layout, { hasBegun: complaint === "" });
      return complaint === "" ? { notes } : { notes, notBegun: complaint };
    },
  };
}

const maxScans = 5;

/** Scans again if a path disappears between the scan and the check, since another program may just have removed it. */
function scanAndCheck(
  request: ScanLayoutRequest,
  parts: LinuxSandbox["parts"],
  scans = 1,
): { scanned: ScannedLayout; checks: MountCheck[] } {
  const scanned = scanLayout(request);
  try {
    return { scanned, checks: mountChecks(scanned.layout, request.plan.writable, parts) };
  } catch (error) {
    if (scans === maxScans) throw error;
    return scanAndCheck(request, parts, scans + 1);
  }
}

function takeText(file: string): string {
  try {
    const text = readFileSync(file, "utf8").trim();
    rmSync(file);
    return text;
  } catch {
    return ""; // the output file was never created
  }
}

/** Folders of the agent that commands must not see: its configuration, chats, snapshots, logs, keys and outputs. */
function keptFolders({ configDir, home }: SandboxPlan): string[] {
  const outputs = [tmpdir(), "/tmp"].map((folder) => outputsOf(realOrSame(folder)));
  return [...new Set([configDir, realOrSame(join(home, ".cursor")), ...outputs])];
}

function skillFolders({ configDir, home }: SandboxPlan): string[] {
  const folders = [configDir, realOrSame(join(home, ".cursor"))];
  return folders.flatMap((folder) => skillNames.map((name) => join(folder, name)));
}

/** Replaces the agent's own bash command by the absolute path of the system's bash, whatever PATH names first. */
function systemShell([program, ...args]: readonly string[], bash: string): string[] {
  return [program === "bash" ? bash : program!, ...args];
}

function environmentOf(plan: SandboxPlan, env: Readonly<Record<string, string>>): Record<string, string> {
  const hasNetwork = plan.network.type === "proxy" && plan.network.default === "allow";
  const hasSharedCaches = plan.writable.includes(join(plan.home, ".npm"));
  return {
    ...confinedEnvironment(env, plan.environment),
    ...(plan.temporary && { TMPDIR: "/tmp" }),
    ...(plan.temporary && !hasSharedCaches && privateCaches("/tmp", { hasNetwork })),
    CURSOR_SANDBOX: "native",
    CURSOR_SANDBOX_LANDLOCK_STATUS: "bubblewrap",
    CURSOR_ORIG_UID: String(process.getuid?.() ?? 0),
    CURSOR_ORIG_GID: String(process.getgid?.() ?? 0),
  };
}

/** Creates a folder that only the user can enter and no command can write. */
function privateFolder(plan: SandboxPlan): string | undefined {
  for (const base of temporaryBases(plan)) {
    try {
      return makeTemporaryFolder(base, "sandbox");
    } catch {
      // This folder is full or not writable; try the next one.
    }
  }
  return undefined;
}

/** Returns folders for temporary files in which no sandboxed command can write. */
function temporaryBases({ writable }: SandboxPlan): string[] {
  const bases = ["/tmp", "/var/tmp", "/dev/shm", tmpdir()].filter((path) => existsSync(path)).map(realOrSame);
  return [...new Set(bases)].filter((path) => !writable.some((root) => isInside(path, root)));
}

function createHelperFiles(folder: string): Pick<BubblewrapParts, "emptyFile" | "emptyFolder" | "filter"> {
  const emptyFile = join(folder, "nothing");
  const emptyFolder = join(folder, "none");
  const filter = join(folder, "filter");
  writeFileSync(emptyFile, "", { mode: 0o000 });
  mkdirSync(emptyFolder, { mode: 0o000 });
  mkdirSync(join(folder, "net"), { mode: 0o700 });
  const program = seccompFilter(process.arch);
  if (program === undefined) return { emptyFile, emptyFolder };
  writeFileSync(filter, program, { mode: 0o400 });
  return { emptyFile, emptyFolder, filter };
}

/**
 * Creates private folders for the system's temporary folders and for TMPDIR; the latter only if it holds no place of the plan, which
 * would disappear, and is not writable anyway.
 */
function temporaryMounts(folder: string, plan: SandboxPlan): Map<string, string> {
  if (!plan.temporary) return new Map();
  const temporaryFolder = realOrSame(tmpdir());
  const places = [plan.workspace, ...plan.roots, ...plan.writable, plan.home];
  const isApart =
    !places.some((place) => isInside(place, temporaryFolder)) &&
    !plan.writable.some((root) => isInside(temporaryFolder, root));
  const wanted = ["/tmp", "/var/tmp", ...(isApart ? [temporaryFolder] : [])];
  const folders = [...new Set(wanted.filter((path) => existsSync(path)).map(realOrSame))];
  return new Map(folders.map((at, index) => [at, mkdirAt(join(folder, `tmp-${index}`))]));
}

function mkdirAt(path: string): string {
  mkdirSync(path, { mode: 0o700 });
  return path;
}

/** Folders of programs in PATH that would otherwise be invisible. */
function programFolders({ readBoundary, home }: SandboxPlan, path: string, node: string): string[] {
  const listed = path.split(":").filter(isAbsolute).map(realOrSame);
  const folders = [...listed, dirname(node)];
  if (readBoundary === "system") return folders;
  // Version managers keep the files that their programs need in folders next to `bin`.
  return folders
    .flatMap((folder) => [folder, dirname(folder)])
    .filter((each) => each !== home && !isInside(home, each));
}
