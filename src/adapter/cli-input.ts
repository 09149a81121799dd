// Decides how a turn is passed to a CLI: the prompt as its last argument or through stdin, or one line of turn JSON on stdin.

import { findProgram } from "../process/find-program.ts";
import { isBatchFile, passesBatch, spawnWords } from "../process/windows-command.ts";
import { usageError } from "../protocol/error-codes.ts";
import type { Turn } from "../protocol/turn-contract.ts";
import { buildTurnPrompt } from "../protocol/turn-messages.ts";
import type { CliRequest } from "../sdk/child.ts";
import { ownCli } from "../sdk/find-cli.ts";
import type { Model } from "./config.ts";

export type CliInput = Pick<CliRequest, "command" | "args" | "prompt" | "promptVia" | "turn" | "closeTurnAfterMs">;

type InputSettings = Pick<Model, "command" | "args" | "promptAsArg" | "headlessFlags" | "closeStdinAfterMs">;

export function cliInput(model: InputSettings, turn: Turn, platform: NodeJS.Platform = process.platform): CliInput {
  const { command, args, headlessFlags } = { ...model, ...ownCommand(model, platform) };
  if (!model.promptAsArg) return { command, args, turn, closeTurnAfterMs: model.closeStdinAfterMs };
  const prompt = buildTurnPrompt(turn.messages);
  if (prompt === undefined) throw usageError(`The turn has no user message, and ${command} accepts nothing else.`);
  const flags = [...args, ...headlessFlags];
  const promptVia = fitsAsArgument(prompt, { command, args: flags, platform }) ? "argument" : "stdin";
  return { command, args: flags, prompt, promptVia };
}

/** Finds Courser's own CLI as the SDK does: it need not be in PATH. */
function ownCommand({ command, args }: InputSettings, platform: NodeJS.Platform): Partial<InputSettings> {
  const isOurs = ownNames.has(command) && findProgram(command, process.env, platform) === undefined;
  const ourProgram = isOurs ? ownCli() : undefined;
  return ourProgram === undefined ? {} : { command: process.execPath, args: [ourProgram, ...args] };
}

const ownNames: ReadonlySet<string> = new Set(["cursor-agent", "agent", "courser"]);

/** Windows allows some 8,191 characters in the command line of a batch file; a longer prompt is not passed as an argument. */
const longestOnWindows = 4000;
const longestLineOnWindows = 8000;
/** Linux allows 131,071 bytes in one argument, and the environment shares the limit for all arguments. */
const longestBytes = 100_000;

type CommandPrefix = { command: string; args: readonly string[]; platform: NodeJS.Platform };

function fitsAsArgument(prompt: string, { command, args, platform }: CommandPrefix): boolean {
  if (prompt.includes("\0")) return false;
  if (platform !== "win32") return Buffer.byteLength(prompt) <= longestBytes;
  if (prompt.length > longestOnWindows) return false;
  if (!isBatchFile(command, platform)) return true;
  // The shell parses the command line of a batch file twice, and the quoting for that makes the line longer.
  const words = spawnWords(command, [...args, "--", prompt], { platform });
  return passesBatch(prompt) && words.args.join(" ").length <= longestLineOnWindows;
}
