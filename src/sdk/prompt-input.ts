// How a prompt goes into a CLI: as an argument where it fits and is safe there, else through stdin.
import { isBatchFile } from "../process/windows-command.ts";

export type PromptRequest = {
  command: string;
  args?: readonly string[];
  prompt?: string;
  /** "auto": as an argument where it is short enough and safe, else through stdin. */
  promptVia?: "auto" | "argument" | "stdin";
  /** For CLIs that read lines of JSON: the first one. Stdin then stays open, for further ones and to be told to cancel. */
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
  // A prompt is never an option, whatever it begins with.
  return { args: prompt.startsWith("-") ? [...args, "--", prompt] : [...args, prompt], via: "argument" };
}

/** Linux takes 131,071 bytes in one argument. */
const longestArgumentBytes = 100_000;
/** Windows takes 32,767 characters in a line, and quoting may double them. */
const longestLineOnWindows = 16_000;

function fitsAsArgument(prompt: string, { command, args = [] }: PromptRequest, platform: NodeJS.Platform): boolean {
  // The shell of Windows would read it again.
  if (prompt.includes("\0") || isBatchFile(command, platform)) return false;
  // A prompt is never a command, as `status` and `update` would be.
  if (/^(\w[\w:-]*)?$/.test(prompt)) return false;
  if (platform !== "win32") return Buffer.byteLength(prompt) <= longestArgumentBytes;
  return [command, ...args, prompt].reduce((length, word) => length + word.length + 3, 0) <= longestLineOnWindows;
}
