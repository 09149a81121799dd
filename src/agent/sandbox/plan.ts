// SandboxPlan: what commands may touch, as plain data. Made from settings and rules; nothing on disk is looked at but links.
import { dirname, join } from "node:path";
import { absolutePath, isInside, realOrSame, type WorkspacePaths } from "../../policy/paths.ts";
import type { Rule } from "../../protocol/permission-rule.ts";
import type { NetworkSettings, SandboxSettings } from "../../store/sandbox-settings.ts";
import { list } from "../../text/words.ts";

export type SandboxPlan = WorkspacePaths & {
  /** Real paths, the workspace among them; none where everything is read-only. */
  writable: readonly string[];
  /** Parts of them that are not. */
  readOnly: readonly string[];
  /** `workspace`: homes and other people's places are out of sight. */
  readBoundary: "system" | "workspace";
  /** What stays in sight all the same. */
  readable: readonly string[];
  /** Whether there is a private temporary folder to write to. */
  temporary: boolean;
  network: NetworkPlan;
  limits: { memoryMb: number; processes: number };
  /** Names of variables that pass beside the usual ones. */
  environment: readonly string[];
  /** Deny rules for Read and Write, and the literal Write rules of the user that lift a protected path. */
  rules: readonly Rule[];
};

export type NetworkPlan = { type: "none" } | ({ type: "proxy" } & NetworkSettings);

export type PlanContext = WorkspacePaths & {
  rules: readonly Rule[];
  /** Of the machine, for the default limit. */
  totalMemoryMb: number;
};

/** Much for a build, little for a machine: what runs away is stopped, what works is not. */
const defaultProcesses = 4096;
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
    },
    environment: settings.environment,
    rules: context.rules.filter(isAboutPaths),
  };
}

/** Where people keep keys, below their home folder. */
const keyPlaces = list(`
  .ssh .gnupg .aws .azure .kube .docker .config/gcloud .config/gh .config/hub .netrc .npmrc .pypirc .git-credentials
  .config/git/credentials .vault-token .cargo/credentials .cargo/credentials.toml .gem/credentials .m2/settings.xml`);

/** The same places with the public network open, and without the keys that could be sent there. */
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

/** What package managers and compilers keep between builds, below the home folder. */
const buildCaches = list(`
  .npm .cache/go-build .cache/pip .cache/uv .cache/yarn .cache/pnpm .local/share/pnpm/store .cargo/registry .cargo/git
  go/pkg/mod .m2/repository .gradle/caches .nuget/packages`);

/** Of all that the agent keeps in its configuration, commands run only what skills bring along. */
export const skillNames = ["skills", "skills-cursor", "plugins/installed", "plugins/local"];

/** Nothing could be kept from a command that may write the folder that holds the system. */
export function planProblem({ writable }: SandboxPlan): string | undefined {
  const system = ["/usr", "/etc", "/bin", "/System"];
  const wide = writable.find((path) => system.some((folder) => isInside(folder, path) || path === dirname(path)));
  return wide === undefined
    ? undefined
    : `${wide} contains the system itself and cannot be made writable: work in another directory`;
}
