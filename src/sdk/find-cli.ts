// Finds the program of an agent CLI: where the caller says, where a variable says, in PATH, and ours in this package.
import { accessSync, constants, existsSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentDriver, CliFacts } from "./drivers/driver.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** `words`: the program and what stands before all other arguments. */
export type FoundCli = CliFacts & { words: readonly string[] };

export type FindOptions = {
  /** A path, a name in PATH, or a program with its first arguments. */
  executable?: string | readonly string[];
  env?: Environment;
  platform?: NodeJS.Platform;
};

/** Undefined: there is none. */
export function findCli(driver: AgentDriver, options: FindOptions = {}): FoundCli | undefined {
  const { env = process.env, platform = process.platform } = options;
  const named = options.executable ?? env[driver.pathVariable];
  if (named !== undefined && named.length > 0) {
    const [program, ...rest] = typeof named === "string" ? [named] : named;
    const path = findProgram(program!, env, platform);
    return path === undefined ? undefined : found(path, rest);
  }
  for (const program of driver.programs) {
    const path = findProgram(program, env, platform);
    if (path !== undefined) return found(path, []);
  }
  const own = driver.tool === "cursor" ? ownCli() : undefined;
  return own === undefined ? undefined : found(own, []);
}

function found(path: string, rest: readonly string[]): FoundCli {
  const script = rest.find((word) => isOwnFile(word));
  // A script has no program of its own on Windows, and need not be executable.
  const words = /\.[cm]?js$/.test(path) ? [process.execPath, path, ...rest] : [path, ...rest];
  return { path, words, isOurs: isOwnFile(path) || script !== undefined };
}

function isOwnFile(path: string): boolean {
  try {
    return basename(realpathSync(path)) === "courser.cjs";
  } catch {
    return false;
  }
}

/** The CLI of this package: beside the bundled library, or built from the source that this file is part of. */
function ownCli(): string | undefined {
  const places = ["../courser.cjs", "../../dist/courser.cjs"].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return places.find((path) => existsSync(path));
}

/** A path as it is; a name as the system would find it. */
export function findProgram(
  program: string,
  env: Environment = process.env,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  const isWindows = platform === "win32";
  const endings = isWindows ? ["", ...(env["PATHEXT"] ?? ".COM;.EXE;.BAT;.CMD").split(";")] : [""];
  if (/[/\\]/.test(program)) return endings.map((ending) => program + ending).find((path) => isFile(path));
  const folders = (env["PATH"] ?? env["Path"] ?? "").split(isWindows ? ";" : delimiter).filter((path) => path !== "");
  // npm puts a script without an ending beside the `.cmd`, which Windows cannot start.
  const tried = isWindows ? endings.slice(1) : endings;
  for (const folder of folders) {
    for (const ending of tried) {
      const path = join(folder, program + ending);
      if (isFile(path) && (isWindows || isExecutable(path))) return path;
    }
  }
  return undefined;
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
