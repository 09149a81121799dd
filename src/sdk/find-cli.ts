// Finds the program of an agent CLI: where the caller says, where a variable says, in PATH, and ours in this package. Whether
// it is ours it says itself: behind a shell shim or another name it is as much ours as under its own.
import { existsSync, realpathSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { isObject, tryParse } from "../json/object.ts";
import { findProgram } from "../process/find-program.ts";
import { askCli } from "./ask-cli.ts";
import type { AgentDriver, CliInfo } from "./drivers/driver.ts";

/** `words`: the program and what stands before all other arguments. */
export type FoundCli = CliInfo & { words: readonly string[] };

export type FindOptions = {
  /** A path, a name in PATH, or a program with its first arguments. */
  executable?: string | readonly string[];
  /** The environment to look in and to run it with; that of this process unless told. */
  env?: NodeJS.ProcessEnv;
  platform?: NodeJS.Platform;
};

/** How long the CLI may take to say who it is. */
export type AskLimits = { withinMs?: number | undefined; signal?: AbortSignal | undefined };

type Located = Pick<FoundCli, "path" | "words">;

/** Undefined: there is none. */
export async function findCli(
  driver: AgentDriver,
  options: FindOptions = {},
  limits: AskLimits = {},
): Promise<FoundCli | undefined> {
  const located = locate(driver, options);
  if (!located) return undefined;
  return { ...located, isOurs: driver.tool === "cursor" && (await isOurs(located, options.env, limits)) };
}

function locate(driver: AgentDriver, options: FindOptions): Located | undefined {
  const { env = process.env, platform = process.platform } = options;
  const named = options.executable ?? env[driver.pathVariable];
  const isNamed = named !== undefined && named.length > 0;
  const commands = isNamed
    ? [typeof named === "string" ? [named] : named]
    : driver.programs.map((program) => [program]);
  for (const [program, ...rest] of commands) {
    const path = findProgram(program!, env, platform);
    if (path !== undefined) return located(path, rest);
  }
  const own = driver.tool === "cursor" && !isNamed ? ownCli() : undefined;
  return own === undefined ? undefined : located(own, []);
}

function located(path: string, rest: readonly string[]): Located {
  // A script has no program of its own on Windows, and need not be executable.
  return { path, words: /\.[cm]?js$/.test(path) ? [process.execPath, path, ...rest] : [path, ...rest] };
}

/** By the files that would be run, as they are now. */
const answers = new Map<string, boolean>();

/** Longer than any CLI needs to say who it is; one that says nothing is not ours. */
const askMs = 15_000;

async function isOurs(
  { words }: Located,
  env: NodeJS.ProcessEnv | undefined,
  { withinMs = askMs, signal }: AskLimits,
): Promise<boolean> {
  const own = ownCli();
  const files = words.map(realFile);
  // With further words it may be another program: `courser fake` is none of ours to its callers.
  if (own !== undefined && files.at(-1) === realFile(own)) return true;
  const key = files.map((file, index) => file ?? words[index]).join("\0");
  const known = answers.get(key);
  if (known !== undefined) return known;
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

/** With its time: another file under the same name is asked again. */
function realFile(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    const { mtimeMs, size } = statSync(real);
    return `${real}:${mtimeMs}:${size}`;
  } catch {
    return undefined;
  }
}

/** The CLI of this package: beside the bundled library, or built from the source that this file is part of. */
export function ownCli(): string | undefined {
  const places = ["../courser.cjs", "../../dist/courser.cjs"].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return places.find((path) => existsSync(path));
}
