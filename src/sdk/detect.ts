// Detects which agent CLIs are installed, and what each one supports.
import { askCli } from "./ask-cli.ts";
import type { Capabilities, ModelEntry } from "./drivers/driver.ts";
import { driverOf } from "./drivers/index.ts";
import { type FindOptions, findCli } from "./find-cli.ts";
import { checkOptions, findChecks, startChecks } from "./option-checks.ts";
import { RunError } from "./outcome.ts";
import type { UnifiedTool } from "./unified.ts";

/** An agent CLI that was found on this machine. */
export type DetectedCli = {
  tool: UnifiedTool;
  path: string;
  /** The version it prints for --version; undefined if it prints none. */
  version: string | undefined;
  /** Whether this is the CLI of this package. */
  isOurs: boolean;
};

/** Finds an agent CLI and asks for its version; resolves to undefined if it is not installed. */
export async function detectCli(tool: UnifiedTool, options: FindOptions = {}): Promise<DetectedCli | undefined> {
  checkFind("detectCli", tool, options);
  const cli = await findCli(driverOf(tool), options);
  if (!cli) return undefined;
  const { output, isWhole } = await askCli({ words: cli.words, args: ["--version"], env: options.env });
  const version = /\d+\.\d+[\w.+-]*/.exec(output)?.[0];
  return { tool, path: cli.path, version: isWhole ? version : undefined, isOurs: cli.isOurs };
}

/** Finds `cursor-agent`, or the CLI of this package in its place. */
export function detectCursorCli(options: FindOptions = {}): Promise<DetectedCli | undefined> {
  return detectCli("cursor", options);
}

/** Returns what the CLI that would be run supports; if it is not installed, what its newest known version supports. */
export async function getCapabilities(tool: UnifiedTool, options: FindOptions = {}): Promise<Capabilities> {
  checkFind("getCapabilities", tool, options);
  const driver = driverOf(tool);
  return driver.capabilities(await findCli(driver, options));
}

/** Lists the models of a CLI. Throws a RunError if the CLI is missing, fails, or cannot list models. */
export async function listModels(tool: UnifiedTool, options: FindOptions = {}): Promise<ModelEntry[]> {
  checkFind("listModels", tool, options);
  const driver = driverOf(tool);
  const { models } = driver;
  if (!models) throw new RunError("error", "USAGE", `${driver.programs[0]} has no list of models.`);
  const cli = await findCli(driver, options);
  if (!cli) throw new RunError("error", "CLI_NOT_FOUND", `${driver.programs[0]} was not found.`);
  const { output, isWhole, stderr } = await askCli({ words: cli.words, args: models.args, env: options.env });
  const list = models.read(output);
  if (!isWhole || list.length === 0) {
    throw new RunError("error", "CLI_EXIT", `${driver.programs[0]} listed no models: ${stderr.trim() || "no output"}`);
  }
  return list;
}

function checkFind(caller: string, tool: UnifiedTool, options: FindOptions): void {
  checkOptions(caller, { tool, ...options }, { ...findChecks, tool: startChecks.tool });
}
