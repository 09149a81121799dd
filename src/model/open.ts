// Opens the model that resolve.ts chose: a built-in one, or a server.
import { readFileSync } from "node:fs";
import { UserError, usageError } from "../protocol/error-codes.ts";
import { systemErrorText } from "../text/system-error.ts";
import type { Provider } from "./provider.ts";
import type { ResolvedModel } from "./resolve.ts";
import type { ScriptPlace } from "./scripted.ts";
import type { RunCommand } from "./token.ts";

export type ProviderOptions = {
  /** How many times a request is retried; 3 by default. */
  retries?: number;
  /** Waits between two attempts. */
  sleep?(ms: number, signal: AbortSignal): Promise<void>;
  /** Returns how many milliseconds of the run's time limit are left; undefined if it has none. */
  timeLeft?(): number | undefined;
  /** Time limit until an answer begins; default 120 s, for a server on this machine half an hour. */
  timeoutMs?: number;
  /** The longest silence within an answer, in milliseconds; 120,000 by default. */
  idleMs?: number;
  /** Runs commands that print tokens. */
  runCommand?: RunCommand;
  /** Models to ask, in this order, if the first cannot answer. */
  fallbackModels?: readonly string[];
  /** Whether to skip the verification of the server's certificate. */
  insecure?: boolean;
  /** The name this program was started as; `version` is its version. */
  program?: string;
  version?: string;
  sessionId?: string;
  /** How many replies the conversation already has; a script continues after them. Default 0. */
  repliesGiven?: number;
  /** Where the chat stores its position in a script, so that it can be resumed there. */
  scriptPlace?: ScriptPlace;
};

export async function openProvider(resolved: ResolvedModel, options: ProviderOptions): Promise<Provider> {
  switch (resolved.kind) {
    case "offline":
      return (await import("./offline/index.ts")).offlineProvider(options.version);
    case "script": {
      const { loadScript } = await import("./scripted.ts");
      return loadScript(readScript(resolved.modelId), resolved.modelId, {
        ...(options.repliesGiven !== undefined && { repliesGiven: options.repliesGiven }),
        ...(options.scriptPlace && { place: options.scriptPlace }),
      });
    }
    case "replay":
      throw usageError("A recording answers a whole run: name it with --model replay:FILE, and nowhere else.");
    default:
      return (await import("./server.ts")).openServer(resolved, options, openProvider);
  }
}

function readScript(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UserError(
      "FILE_UNREADABLE",
      `The script ${file} cannot be read: ${systemErrorText(error)}. Pass another with --model script:FILE.`,
    );
  }
}
