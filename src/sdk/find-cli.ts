// Finds the program of an agent CLI: where the caller says, where a variable says, in PATH, and ours in this package.
import { existsSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { findProgram } from "../process/find-program.ts";
import type { AgentDriver, CliInfo } from "./drivers/driver.ts";

/** `words`: the program and what stands before all other arguments. */
export type FoundCli = CliInfo & { words: readonly string[] };

export type FindOptions = {
  /** A path, a name in PATH, or a program with its first arguments. */
  executable?: string | readonly string[];
  env?: NodeJS.ProcessEnv;
  platform?: NodeJS.Platform;
};

/** Undefined: there is none. */
export function findCli(driver: AgentDriver, options: FindOptions = {}): FoundCli | undefined {
  const { env = process.env, platform = process.platform } = options;
  const named = options.executable ?? env[driver.pathVariable];
  const isNamed = named !== undefined && named.length > 0;
  const commands = isNamed
    ? [typeof named === "string" ? [named] : named]
    : driver.programs.map((program) => [program]);
  for (const [program, ...rest] of commands) {
    const path = findProgram(program!, env, platform);
    if (path !== undefined) return found(path, rest);
  }
  const own = driver.tool === "cursor" && !isNamed ? ownCli() : undefined;
  return own === undefined ? undefined : found(own, []);
}

function found(path: string, rest: readonly string[]): FoundCli {
  // A script has no program of its own on Windows, and need not be executable.
  const words = /\.[cm]?js$/.test(path) ? [process.execPath, path, ...rest] : [path, ...rest];
  return { path, words, isOurs: [path, ...rest].some(isOwnFile) };
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
