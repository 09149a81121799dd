// Finds the program of an agent CLI: in the `executable` option, an environment variable, PATH, or this package. Whether it
// is the CLI of this package is asked of the program itself, so a shell shim or another file name does not matter.
import { existsSync, realpathSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isObject, tryParse } from "../json/object.ts";
import { findProgram } from "../process/find-program.ts";
import { askCli } from "./ask-cli.ts";
import type { AgentDriver, CliInfo } from "./drivers/driver.ts";

/** A CLI that was found; `words` are the program and the arguments that precede all others. */
export type FoundCli = CliInfo & { words: readonly string[] };

/** Where to look for a CLI. */
export type FindOptions = {
  /** A path, a name in PATH, or a program with its first arguments. */
  executable?: string | readonly string[];
  /** The environment to search and to run the CLI with. Default: the environment of this process. */
  env?: NodeJS.ProcessEnv;
  platform?: NodeJS.Platform;
};

/** Limits for the questions that identify a CLI. */
export type AskLimits = { withinMs?: number | undefined; signal?: AbortSignal | undefined };

type Located = Pick<FoundCli, "path" | "words">;

/** Finds the program of an agent CLI. Returns undefined if it is not installed. */
export async function findCli(
  driver: AgentDriver,
  options: FindOptions = {},
  limits: AskLimits = {},
): Promise<FoundCli | undefined> {
  const located = locate(driver, options);
  if (!located) return undefined;
  return { ...located, isOurs: driver.tool === "cursor" && (await isOurCli(located, options.env, limits)) };
}

function locate(driver: AgentDriver, options: FindOptions): Located | undefined {
  const { env = process.env, platform = process.platform } = options;
  const named = options.executable ?? (driver.pathVariable && env[driver.pathVariable]);
  const isNamed = named !== undefined && named.length > 0;
  const commands = isNamed
    ? [typeof named === "string" ? [named] : named]
    : driver.programs.map((program) => [program]);
  for (const [program, ...rest] of commands) {
    const path = findProgram(program!, env, platform);
    if (path !== undefined) return locatedCli(path, rest);
  }
  const ourProgram = driver.tool === "cursor" && !isNamed ? ownCli() : undefined;
  return ourProgram === undefined ? undefined : locatedCli(ourProgram, []);
}

function locatedCli(path: string, rest: readonly string[]): Located {
  // Run scripts with Node: Windows cannot execute them directly, and elsewhere they may lack the executable bit.
  return { path, words: /\.[cm]?js$/.test(path) ? [process.execPath, path, ...rest] : [path, ...rest] };
}

/** Cached answers, keyed by the files that would be run and their state. */
const answers = new Map<string, boolean>();

/** How many milliseconds a CLI may take to identify itself; after that, it is assumed not to be ours. */
const askMs = 15_000;

async function isOurCli(
  { words }: Located,
  env: NodeJS.ProcessEnv | undefined,
  { withinMs = askMs, signal }: AskLimits,
): Promise<boolean> {
  const ourProgram = ownCli();
  const files = words.map(realFile);
  // Extra arguments may select another program: `courser fake` does not count as our CLI.
  if (ourProgram !== undefined && files.at(-1) === realFile(ourProgram)) return true;
  const key = files.map((file, index) => file ?? words[index]).join("\0");
  const existing = answers.get(key);
  if (existing !== undefined) return existing;
  const timeoutMs = Math.min(withinMs, askMs);
  const { output, isWhole, isCut } = await askCli({
    words,
    args: ["about", "--format", "json"],
    env,
    timeoutMs,
    signal,
  });
  const about = isWhole ? tryParse(output) : undefined;
  const answer = isObject(about) && about.package === "courser-agent";
  if (!isCut) answers.set(key, answer);
  return answer;
}

/** Returns a cache key for a program file, with its time and size, so that a changed one is examined again. */
function realFile(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    const { mtimeMs, size } = statSync(real);
    return `${real}:${mtimeMs}:${size}`;
  } catch {
    return undefined;
  }
}

/** The CLI of this package: next to the bundled library, or built from this source tree. */
export function ownCli(): string | undefined {
  const places = ["../courser.cjs", "../../dist/courser.cjs"].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return places.find((path) => existsSync(path));
}
