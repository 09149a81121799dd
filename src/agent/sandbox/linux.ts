// The sandbox on Linux: bubblewrap, a private folder, and for each command a look at the disk.
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { isInside, realOrSame } from "../../policy/paths.ts";
import type { HostProxy } from "../host-proxy.ts";
import { makeTemporary, outputFolder } from "../output-folder.ts";
import {
  type BubblewrapParts,
  bubblewrapCommand,
  bubblewrapProblem,
  kernelPaths,
  systemProgram,
  trialCommand,
} from "./bubblewrap.ts";
import { type ControlGroup, makeControlGroup, removeLeftGroups } from "./control-groups.ts";
import { confinedEnvironment, privateCaches } from "./environment.ts";
import { judgeByPolicy } from "./hosts.ts";
import type { EnterRequest, SandboxBackend, SandboxedCommand, SandboxOptions } from "./index.ts";
import { signalInside, watchInside } from "./inside.ts";
import type { Mount } from "./layout.ts";
import type { SandboxPlan } from "./plan.ts";
import { newTopLevelPaths } from "./protected-paths.ts";
import { proxyVariables, relayPort } from "./relay.ts";
import { excludeReserved, putBack, reserveNames } from "./reserved-names.ts";
import { type HiddenFiles, loadHiding, newRuledPaths } from "./ruled-paths.ts";
import { scanLayout } from "./scan-layout.ts";
import { seccompFilter } from "./seccomp.ts";

export async function openLinux(options: SandboxOptions): Promise<SandboxBackend | { unavailable: string }> {
  const { plan, processes, env = process.env } = options;
  const refuse = (unavailable: string) => ({ unavailable });
  const program = (name: string) => systemProgram(name, env, [plan.workspace, ...plan.roots, ...plan.writable]);
  const bwrap = program("bwrap");
  if (bwrap === undefined)
    return refuse(
      "bubblewrap is not installed. Install it: `sudo apt install bubblewrap`, `sudo dnf install bubblewrap`",
    );
  const bash = program("bash");
  if (bash === undefined) return refuse("no bash was found in the system's directories");
  const folder = privateFolder(plan);
  if (folder === undefined) return refuse("no temporary directory outside the workspace is writable");

  let proxy: HostProxy | undefined;
  const removals: Promise<void>[] = [];
  const end = async () => {
    await proxy?.close();
    await Promise.all(removals);
    await rm(folder, { recursive: true, force: true });
  };
  const parts = { bwrap, bash, kernelPaths: kernelPaths.filter((path) => existsSync(path)), ...furnish(folder) };
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
    // The same folder for all runs of a user, wherever each of them keeps its temporary files.
    const registry = outputFolder("sandbox", temporaryBases(plan)[0]);
    const hiding = await loadHiding(plan);
    const sandbox: LinuxSandbox = { plan, parts, folder, hiding, canGroup, removals, registry, way };
    return { enter: (request) => enter(sandbox, request), end };
  } catch (error) {
    await end();
    return refuse(`bubblewrap could not be tried (${(error as Error).message})`);
  } finally {
    if (group) removals.push(group.remove());
  }
}

/** What is made once for a run. */
type LinuxSandbox = {
  plan: SandboxPlan;
  parts: Omit<BubblewrapParts, "groups">;
  folder: string;
  hiding: HiddenFiles;
  canGroup: boolean;
  /** Of control groups whose processes are just ending. */
  removals: Promise<void>[];
  /** Where all runs of the user write down which names they hold. */
  registry: string;
  /** To listed hosts. */
  way: { socket: string; proxy: HostProxy } | undefined;
};

function enter(sandbox: LinuxSandbox, { command, cwd, env, readable = [] }: EnterRequest): SandboxedCommand {
  const { plan, parts, folder, hiding, way } = sandbox;
  const temporary = plan.temporary
    ? new Map(temporaryFolders().map((at, index) => [at, join(folder, `tmp-${index}`)]))
    : new Map<string, string>();
  const node = realOrSame(process.execPath);
  const needed = [...programFolders(plan, env["PATH"] ?? "", node), ...readable, ...(way ? [dirname(way.socket)] : [])];
  const { release, prepared } = reserveNames(sandbox.registry, plan.writable, (alone) =>
    scanLayout({ plan, hiding, temporary, needed, alone, socket: way?.socket }),
  );
  let group: ControlGroup | undefined;
  let watch: ReturnType<typeof watchInside> | undefined;
  let pid = 0;
  try {
    group = sandbox.canGroup ? makeControlGroup(plan.limits) : undefined;
    if (sandbox.canGroup && !group)
      throw new Error("A control group for the limits of the sandbox could not be created.");
    // Where a name could not be held, the command cannot make it either.
    const held = prepared.layout.filter(({ at }) => !prepared.blanks.includes(at) || existsSync(at));
    const isHidden = (path: string) => held.some(({ at, as }) => as === "hidden" && isInside(path, at));
    const layout = [...held, ...excludes(sandbox, prepared.blanks).filter(({ at }) => !isHidden(at))];
    const confinement = { layout, cwd, limits: plan.limits, ...(way && { relay: { node, socket: way.socket } }) };
    return {
      command: bubblewrapCommand(
        { ...parts, groups: group?.folders ?? [] },
        confinement,
        systemShell(command, parts.bash),
      ),
      env: { ...environmentOf(plan, env), ...(way && proxyVariables(relayPort)) },
      bash: parts.bash,
      started(started) {
        pid = started;
        // A limit of the user's own does not hold root.
        if (!group && process.getuid?.() === 0) watch = watchInside(pid, plan.limits.processes);
      },
      signal: (name) => signalInside(pid, name),
      leave() {
        watch?.stop();
        if (group) sandbox.removals.push(group.remove());
        // Where not all was seen before, what is seen now need not be new.
        const ruled = prepared.notes.length > 0 ? [] : newRuledPaths(plan, layout);
        const fresh = newTopLevelPaths(plan, prepared.topLevel).filter((path) => !prepared.blanks.includes(path));
        for (const path of [...fresh, ...ruled]) prepared.watched.set(path, undefined);
        const notes = watch?.hasEnded ? [`it was killed: it had more than ${plan.limits.processes} processes`] : [];
        notes.push(...prepared.notes, ...putBack(prepared.watched), ...(way?.proxy.takeRefusals() ?? []));
        try {
          release();
        } catch (error) {
          notes.push(`empty folders that held protected names may be left behind (${(error as Error).message})`);
        }
        return notes;
      },
    };
  } catch (error) {
    void group?.remove();
    release();
    throw error;
  }
}

/** Laid last, over what is read-only otherwise. */
function excludes({ plan, folder }: LinuxSandbox, blanks: readonly string[]): Mount[] {
  const copies = mkdtempSync(join(folder, "exclude-"));
  return plan.writable.flatMap((root, index) => excludeReserved(root, blanks, join(copies, String(index))) ?? []);
}

/** The shell that we add ourselves is the system's, whatever PATH names first. */
function systemShell([program, ...args]: readonly string[], bash: string): string[] {
  return [program === "bash" ? bash : program!, ...args];
}

function environmentOf(plan: SandboxPlan, env: Readonly<Record<string, string>>): Record<string, string> {
  const hasSharedCaches = plan.writable.includes(join(plan.home, ".npm"));
  return {
    ...confinedEnvironment(env, plan.environment),
    ...(plan.temporary && { TMPDIR: "/tmp" }),
    ...(plan.temporary && !hasSharedCaches && privateCaches("/tmp")),
    CURSOR_SANDBOX: "native",
    CURSOR_SANDBOX_LANDLOCK_STATUS: "bubblewrap",
    CURSOR_ORIG_UID: String(process.getuid?.() ?? 0),
    CURSOR_ORIG_GID: String(process.getgid?.() ?? 0),
  };
}

/** A folder that only the user enters and that no command can write. */
function privateFolder(plan: SandboxPlan): string | undefined {
  for (const base of temporaryBases(plan)) {
    try {
      return makeTemporary(base, "sandbox");
    } catch {
      // Full, or not ours to write.
    }
  }
  return undefined;
}

/** Folders for temporary files that no command can write. */
function temporaryBases({ writable }: SandboxPlan): string[] {
  const bases = ["/tmp", "/var/tmp", "/dev/shm", tmpdir()].filter((path) => existsSync(path)).map(realOrSame);
  return [...new Set(bases)].filter((path) => !writable.some((root) => isInside(path, root)));
}

function furnish(folder: string): Pick<BubblewrapParts, "emptyFile" | "emptyFolder" | "filter"> {
  const emptyFile = join(folder, "nothing");
  const emptyFolder = join(folder, "none");
  const filter = join(folder, "filter");
  writeFileSync(emptyFile, "", { mode: 0o000 });
  mkdirSync(emptyFolder, { mode: 0o000 });
  mkdirSync(join(folder, "net"), { mode: 0o700 });
  for (const index of temporaryFolders().keys()) mkdirSync(join(folder, `tmp-${index}`), { mode: 0o700 });
  const program = seccompFilter(process.arch);
  if (program === undefined) return { emptyFile, emptyFolder };
  writeFileSync(filter, program, { mode: 0o400 });
  return { emptyFile, emptyFolder, filter };
}

/** Those of the system, as they really are called. */
function temporaryFolders(): string[] {
  return [...new Set(["/tmp", "/var/tmp"].filter((path) => existsSync(path)).map(realOrSame))];
}

/** Programs that lie in folders which are out of sight otherwise. */
function programFolders({ readBoundary, home }: SandboxPlan, path: string, node: string): string[] {
  const listed = path.split(":").filter(isAbsolute).map(realOrSame);
  const folders = [...listed, dirname(node)];
  if (readBoundary === "system") return folders;
  // Tool managers keep beside `bin` what the programs in it need.
  return folders
    .flatMap((folder) => [folder, dirname(folder)])
    .filter((each) => each !== home && !isInside(home, each));
}
