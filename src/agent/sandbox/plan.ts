// SandboxPlan: what commands may access, as plain data. Built from settings and rules; reads nothing from disk except links.
import { dirname, join } from "node:path";
import { absolutePath, isInside, realOrSame, type WorkspacePaths } from "../../policy/paths.ts";
import type { Rule } from "../../protocol/permission-rule.ts";
import type { NetworkSettings, SandboxSettings } from "../../store/sandbox-settings.ts";
import { list } from "../../text/words.ts";

export type SandboxPlan = WorkspacePaths & {
  /** Real paths, including the workspace; none if everything is read-only. */
  writable: readonly string[];
  /** Paths inside the writable ones that commands may only read. */
  readOnly: readonly string[];
  /** What commands may read: with `workspace`, home folders and other users' folders are hidden. */
  readBoundary: "system" | "workspace";
  /** Paths that stay readable although the read boundary would hide them. */
  readable: readonly string[];
  /** Whether there is a private temporary folder to write to. */
  temporary: boolean;
  network: NetworkPlan;
  limits: { memoryMb: number; processes: number; temporaryMb: number };
  /** Names of additional environment variables that commands receive. */
  environment: readonly string[];
  /** Deny rules for Read and Write, and the user's literal Write rules that lift a protected path. */
  rules: readonly Rule[];
};

export type NetworkPlan = { type: "none" } | ({ type: "proxy" } & NetworkSettings);

export type PlanContext = WorkspacePaths & {
  rules: readonly Rule[];
  /** The memory of the machine in MB, from which the default limit is computed. */
  totalMemoryMb: number;
};

/** The default limit for processes: enough for a build, but it stops a runaway command before it does harm. */
const defaultProcesses = 4096;
const defaultTemporaryMb = 2048;
const leastMemoryMb = 1024;

export function planSandbox(settings: SandboxSettings, context: PlanContext): SandboxPlan {
  const { workspace, roots, home, configDir, totalMemoryMb } = context;
  const real = (path: string) => realOrSame(absolutePath(path, context));
  const writes = settings.type === "workspace_readwrite";
  const caches = settings.sharedBuildCache ? buildCaches.map((path) => join(home, path)) : [];
  const lists = writes ? [...settings.readwritePaths, ...caches].map(real) : [];
  return {
    workspace,
    roots,
    home: realOrSame(home),
    configDir: realOrSame(configDir),
    writable: writes ? [...new Set([workspace, ...roots, ...lists])] : [],
    readOnly: settings.readonlyPaths.map(real),
    readBoundary: settings.readBoundary,
    readable: [...(writes ? [] : [workspace, ...roots]), ...settings.readPaths.map(real)],
    temporary: settings.tmpWrite,
    network: networkPlan(settings.network),
    limits: {
      memoryMb: settings.limits.memoryMb ?? Math.max(leastMemoryMb, Math.floor(totalMemoryMb * 0.75)),
      processes: settings.limits.processes ?? defaultProcesses,
      temporaryMb: settings.limits.temporaryMb ?? defaultTemporaryMb,
    },
    environment: settings.environment,
    rules: context.rules.filter(isAboutPaths),
  };
}

/** Folders and files in the home folder in which users keep keys. */
const keyPlaces = list(`
  .ssh .gnupg .aws .azure .kube .docker .config/gcloud .config/gh .config/hub .netrc .npmrc .pypirc .git-credentials
  .config/git/credentials .vault-token .cargo/credentials .cargo/credentials.toml .gem/credentials .m2/settings.xml`);

/** The same plan with the public network open, and with keys hidden, since they could be sent there. */
export function withNetwork(plan: SandboxPlan, denied: readonly string[]): SandboxPlan {
  const rules = keyPlaces.map((place): Rule => {
    const pattern = join(plan.home, place);
    return { verdict: "deny", kind: "Read", pattern, text: `Read(${pattern})`, scope: "user", source: "built in" };
  });
  const network: NetworkPlan = { type: "proxy", default: "allow", allow: [], deny: [...denied] };
  return { ...plan, network, rules: [...plan.rules, ...rules] };
}

function isAboutPaths({ kind, verdict, scope }: Rule): boolean {
  if (verdict === "deny") return kind === "Read" || kind === "Write";
  return kind === "Write" && scope === "user";
}

export function networkPlan(network: NetworkSettings): NetworkPlan {
  return network.default === "deny" && network.allow.length === 0 ? { type: "none" } : { type: "proxy", ...network };
}

/** Folders in the home folder in which package managers and compilers keep caches. */
const buildCaches = list(`
  .npm .cache/go-build .cache/pip .cache/uv .cache/yarn .cache/pnpm .local/share/pnpm/store .cargo/registry .cargo/git
  go/pkg/mod .m2/repository .gradle/caches .nuget/packages`);

/** The only parts of the agent's configuration that commands may run: skills and plugins. */
export const skillNames = ["skills", "skills-cursor", "plugins/installed", "plugins/local"];

/** Returns an error for a writable folder that contains system folders: they could not be protected from commands. */
export function planProblem({ writable }: SandboxPlan): string | undefined {
  const system = ["/usr", "/etc", "/bin", "/System"];
  const wide = writable.find((path) => system.some((folder) => isInside(folder, path) || path === dirname(path)));
  return wide === undefined
    ? undefined
    : `${wide} contains the system itself and cannot be made writable: work in another directory`;
}
