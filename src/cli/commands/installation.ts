// Finds out from the real path of the running file how this copy was installed and how to update it.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

export const packageName = "courser-agent";

/**
 * `directory` is where the commands run. `latest` prints the newest version, `update` installs it, `add` installs a package
 * from elsewhere.
 */
export type Manager = {
  name: string;
  directory: string;
  latest: readonly string[];
  update: readonly string[];
  add: readonly string[];
};

export type Installation =
  /** Installed by a package manager, globally or in a project. `source` is the tarball, folder or repository, if known. */
  | { type: "package"; scope: "global" | "project"; packageRoot: string; manager: Manager; source: string | undefined }
  /** A clone, also behind the link of `npm install -g .` or `npm link`. `archive` means the same files without git. */
  | { type: "checkout" | "archive"; packageRoot: string }
  /** The program is in a cache that another tool manages: npx, pnpm dlx, or bunx. */
  | { type: "cache"; packageRoot: string; tool: string; run: string; source: string | undefined }
  | { type: "unknown"; packageRoot: string };

/** Returns the path of the running program's file, with all links resolved. */
export function runningFile(): string {
  return realpathSync(process.argv[1]!);
}

export function installationOf(file: string): Installation {
  const packageRoot = dirname(dirname(file));
  if (existsSync(join(packageRoot, ".git"))) return { type: "checkout", packageRoot };
  if (existsSync(join(packageRoot, "scripts/prepare.mjs"))) return { type: "archive", packageRoot };

  const path = packageRoot.replaceAll("\\", "/");
  const project = packageRoot.slice(0, Math.max(0, path.indexOf("/node_modules/")));
  const source = sourceIn(project);
  const cache = caches.find(({ pattern }) => pattern.test(path));
  if (cache) return { type: "cache", packageRoot, tool: cache.tool, run: `${cache.tool} ${source ?? target}`, source };
  if (!path.endsWith(`/node_modules/${packageName}`)) return { type: "unknown", packageRoot };

  const global = globals.find(({ pattern }) => pattern.test(path));
  if (global) {
    const update = global.update(path);
    const { name } = global;
    const manager = { name, directory: packageRoot, latest: latest[name], update, add: update.slice(0, -1) };
    return { type: "package", scope: "global", packageRoot, manager, source };
  }
  return { type: "package", scope: "project", packageRoot, manager: projectManager(project), source };
}

/** Returns the dependency as declared, unless it is a registry version. npm has no record for global packages. */
function sourceIn(project: string): string | undefined {
  try {
    const file = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
    const asked = { ...file.optionalDependencies, ...file.devDependencies, ...file.dependencies }[packageName];
    return /[:/]/.test(asked) && !/^(npm|workspace|catalog):/.test(asked) ? asked : undefined;
  } catch {
    return undefined;
  }
}

/** The version in the package's own package.json, or undefined. */
export function packageVersion(packageRoot: string): string | undefined {
  try {
    const { name, version } = JSON.parse(readFileSync(join(packageRoot, "package.json"), "utf8"));
    return name === packageName && typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}

const caches: readonly { pattern: RegExp; tool: string }[] = [
  { pattern: /\/_npx\//, tool: "npx" },
  { pattern: /\/dlx(-|\/)[^/]+\//, tool: "pnpm dlx" },
  { pattern: /\/bunx-[^/]+\//, tool: "bunx" },
];

// Disable retries: without a network, npm would retry for more than a minute.
const latest = {
  npm: ["npm", "view", packageName, "version", "--fetch-retries=0"],
  pnpm: ["pnpm", "view", packageName, "version", "--fetch-retries=0"],
  yarn: ["yarn", "info", packageName, "version", "--silent"],
  bun: ["bun", "pm", "view", packageName, "version"],
} as const;

const target = `${packageName}@latest`;

const globals: readonly { pattern: RegExp; name: keyof typeof latest; update(path: string): readonly string[] }[] = [
  { pattern: /\/pnpm\/global\//, name: "pnpm", update: () => ["pnpm", "add", "--global", target] },
  {
    pattern: /\/yarn\/(data\/)?global\/node_modules\//i,
    name: "yarn",
    update: () => ["yarn", "global", "add", target],
  },
  { pattern: /\/\.bun\/install\/global\//, name: "bun", update: () => ["bun", "add", "--global", target] },
  // Pass the prefix, so that the running copy is updated and not that of another Node.
  {
    pattern: /\/lib\/node_modules\/[^/]+$/,
    name: "npm",
    update: (path) => [
      "npm",
      "install",
      "--global",
      "--prefix",
      path.replace(/\/lib\/node_modules\/[^/]+$/, "") || "/",
      target,
    ],
  },
  { pattern: /\/npm\/node_modules\/[^/]+$/, name: "npm", update: () => ["npm", "install", "--global", target] },
];

function projectManager(directory: string): Manager {
  const has = (file: string) => existsSync(join(directory, file));
  if (has("pnpm-lock.yaml")) return packageManager("pnpm", latest.pnpm, ["update", "--latest", packageName]);
  if (has("yarn.lock") && has(".yarnrc.yml")) {
    return packageManager(
      "yarn",
      ["yarn", "npm", "info", packageName, "--fields", "version", "--json"],
      ["up", packageName],
    );
  }
  if (has("yarn.lock")) return packageManager("yarn", latest.yarn, ["upgrade", "--latest", packageName]);
  if (has("bun.lock") || has("bun.lockb"))
    return packageManager("bun", latest.bun, ["update", "--latest", packageName]);
  return packageManager("npm", latest.npm, ["install", target]);

  function packageManager(name: string, ask: readonly string[], update: readonly string[]): Manager {
    return { name, directory, latest: ask, update: [name, ...update], add: [name, name === "npm" ? "install" : "add"] };
  }
}
