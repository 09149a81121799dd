// What is installed, and what it can do.
import { startCli } from "./child.ts";
import type { AgentDriver, Capabilities, ModelEntry } from "./drivers/driver.ts";
import { drivers } from "./drivers/index.ts";
import { type FindOptions, type FoundCli, findCli } from "./find-cli.ts";
import { RunError } from "./outcome.ts";
import type { UnifiedTool } from "./unified.ts";

export type DetectedCli = {
  tool: UnifiedTool;
  path: string;
  /** What it answers to --version; undefined where it does not. */
  version: string | undefined;
  /** It is the CLI of this package. */
  isOurs: boolean;
};

/** Undefined: it is not installed. */
export async function detectCli(tool: UnifiedTool, options: FindOptions = {}): Promise<DetectedCli | undefined> {
  const cli = findCli(drivers[tool], options);
  if (!cli) return undefined;
  const { output, isWhole } = await outputOf(cli, ["--version"], options);
  const version = /\d+\.\d+[\w.+-]*/.exec(output)?.[0];
  return { tool, path: cli.path, version: isWhole ? version : undefined, isOurs: cli.isOurs };
}

export function detectCursorCli(options: FindOptions = {}): Promise<DetectedCli | undefined> {
  return detectCli("cursor", options);
}

/** Of the CLI that would be run, where one is found; else of the newest that is known. */
export function getCapabilities(tool: UnifiedTool, options: FindOptions = {}): Capabilities {
  const driver: AgentDriver = drivers[tool];
  return driver.capabilities(findCli(driver, options));
}

/** Throws a RunError where the CLI is missing, fails, or has no such list. */
export async function listModels(tool: UnifiedTool, options: FindOptions = {}): Promise<ModelEntry[]> {
  const driver: AgentDriver = drivers[tool];
  const { models } = driver;
  if (!models) throw new RunError("error", "USAGE", `${driver.programs[0]} has no list of models.`);
  const cli = findCli(driver, options);
  if (!cli) throw new RunError("error", "CLI_NOT_FOUND", `${driver.programs[0]} was not found.`);
  const { output, isWhole, stderr } = await outputOf(cli, models.args, options);
  const list = models.read(output);
  if (!isWhole || list.length === 0) {
    throw new RunError("error", "CLI_EXIT", `${driver.programs[0]} listed no models: ${stderr.trim() || "no output"}`);
  }
  return list;
}

const mostBytes = 1_000_000;

/** Plain text, from the one spawner: what is not a frame is passed over there and kept here. */
async function outputOf(cli: FoundCli, args: readonly string[], { env }: FindOptions) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const [command, ...first] = cli.words;
  const child = startCli({
    command: command!,
    args: [...first, ...args],
    cwd: process.cwd(),
    ...(env && { env: { ...env } }),
    timeoutMs: 20_000,
    graceMs: 500,
    parser: { onNoise: "skip" },
    onStdout(chunk) {
      bytes += chunk.length;
      if (bytes <= mostBytes) chunks.push(chunk);
    },
  });
  for await (const _frame of child.frames);
  const end = await child.ended;
  return { output: Buffer.concat(chunks).toString("utf8"), isWhole: end.exitCode === 0, stderr: end.stderr };
}
