// How this copy was installed, read off the real path of the running file, and what would update it.
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

export const packageName = "courser-agent";

/** `directory`: where the commands run. `latest` prints the newest version, `update` installs it. */
export type Manager = { name: string; directory: string; latest: readonly string[]; update: readonly string[] };

export type Installation =
  /** A package manager put it there, for every project or for one. */
  | { type: "package"; scope: "global" | "project"; packageRoot: string; manager: Manager }
  | { type: "checkout"; packageRoot: string }
  /** A cache that its tool fills and empties as it likes: npx, pnpm dlx, bunx. */
  | { type: "cache"; packageRoot: string; tool: string; run: string }
  | { type: "unknown"; packageRoot: string };

/** The file that runs, with no link left in its path. */
export function runningFile(): string {
  return realpathSync(process.argv[1]!);
}

export function installationOf(file: string): Installation {
  const packageRoot = dirname(dirname(file));
  if (existsSync(join(packageRoot, ".git"))) return { type: "checkout", packageRoot };

  const path = packageRoot.replaceAll("\\", "/");
  const cache = caches.find(({ pattern }) => pattern.test(path));
  if (cache) return { type: "cache", packageRoot, tool: cache.tool, run: `${cache.tool} ${packageName}@latest` };
  if (!path.endsWith(`/node_modules/${packageName}`)) return { type: "unknown", packageRoot };

  const global = globals.find(({ pattern }) => pattern.test(path));
  if (global) {
    const manager = {
      name: global.name,
      directory: packageRoot,
      latest: latest[global.name],
      update: global.update(path),
    };
    return { type: "package", scope: "global", packageRoot, manager };
  }
  const project = packageRoot.slice(0, path.indexOf("/node_modules/"));
  return { type: "package", scope: "project", packageRoot, manager: projectManager(project) };
}

/** The version in the package's own package.json; undefined where there is none. */
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

// Without a network npm would try again for more than a minute before it says so.
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
  // The prefix is named, so that the copy that runs is updated and not one of another Node.
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
  if (has("pnpm-lock.yaml")) {
    return { name: "pnpm", directory, latest: latest.pnpm, update: ["pnpm", "update", "--latest", packageName] };
  }
  if (has("yarn.lock") && has(".yarnrc.yml")) {
    const ask = ["yarn", "npm", "info", packageName, "--fields", "version", "--json"];
    return { name: "yarn", directory, latest: ask, update: ["yarn", "up", packageName] };
  }
  if (has("yarn.lock")) {
    return { name: "yarn", directory, latest: latest.yarn, update: ["yarn", "upgrade", "--latest", packageName] };
  }
  if (has("bun.lock") || has("bun.lockb")) {
    return { name: "bun", directory, latest: latest.bun, update: ["bun", "update", "--latest", packageName] };
  }
  return { name: "npm", directory, latest: latest.npm, update: ["npm", "install", target] };
}
