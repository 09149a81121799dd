// Decides how a prompt is passed to a CLI: as an argument if it fits and is safe there, else through stdin.
import { isBatchFile } from "../process/windows-command.ts";

export type PromptRequest = {
  command: string;
  args?: readonly string[];
  prompt?: string;
  /** "auto" passes it as an argument if it is short enough and safe, else through stdin. */
  promptVia?: "auto" | "argument" | "stdin";
  /** The first line for a CLI that reads JSON lines. Stdin then stays open for more lines and for a cancel request. */
  turn?: object;
};

export type PromptInput = { args: string[]; via: "argument" | "stdin" | "turn" | "none"; stdin?: string };

export function promptInput(request: PromptRequest, platform: NodeJS.Platform = process.platform): PromptInput {
  const args = [...(request.args ?? [])];
  const { prompt, turn, promptVia = "auto" } = request;
  if (turn !== undefined) return { args, via: "turn", stdin: `${JSON.stringify(turn)}\n` };
  if (prompt === undefined) return { args, via: "none" };
  if (promptVia === "stdin" || (promptVia === "auto" && !fitsAsArgument(prompt, request, platform))) {
    return { args, via: "stdin", stdin: prompt };
  }
  // A prompt must never be read as an option, even if it begins with a dash.
  return { args: prompt.startsWith("-") ? [...args, "--", prompt] : [...args, prompt], via: "argument" };
}

/** The maximum length of one argument in bytes; Linux limits it to 131,071. */
const longestArgumentBytes = 100_000;
/** Windows allows 32,767 characters in a command line, and quoting may double them. */
const longestLineOnWindows = 16_000;

function fitsAsArgument(prompt: string, { command, args = [] }: PromptRequest, platform: NodeJS.Platform): boolean {
  // The Windows shell would parse the arguments of a batch file again.
  if (prompt.includes("\0") || isBatchFile(command, platform)) return false;
  // A one-word prompt such as `status` or `update` could be read as a subcommand.
  if (/^(\w[\w:-]*)?$/.test(prompt)) return false;
  if (platform !== "win32") return Buffer.byteLength(prompt) <= longestArgumentBytes;
  return [command, ...args, prompt].reduce((length, word) => length + word.length + 3, 0) <= longestLineOnWindows;
}
