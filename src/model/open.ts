// Opens what resolve.ts settled: a built-in model at once, a server with everything that talking to one takes.
import { readFileSync } from "node:fs";
import { UserError } from "../protocol/error-codes.ts";
import { systemErrorText } from "../text/system-error.ts";
import type { Provider } from "./provider.ts";
import type { ResolvedModel } from "./resolve.ts";
import type { ScriptPlace } from "./scripted.ts";
import type { RunCommand } from "./token.ts";

export type ProviderOptions = {
  /** How often a model is asked again; default 3. */
  retries?: number;
  /** How the time between two questions passes. */
  sleep?(ms: number, signal: AbortSignal): Promise<void>;
  /** What is left of the time that the run may take; undefined: as long as it needs. */
  timeLeft?(): number | undefined;
  /** Until an answer begins; default 120 s, for a server on this machine half an hour. */
  timeoutMs?: number;
  /** Longest silence within an answer; default 120 s. */
  idleMs?: number;
  /** Runs programs that print tokens. */
  runCommand?: RunCommand;
  /** Models to ask, in order, when the first cannot answer. */
  fallbackModels?: readonly string[];
  /** Do not verify the server's certificate. */
  insecure?: boolean;
  /** The name we were called by, and our version. */
  program?: string;
  version?: string;
  sessionId?: string;
  /** How many replies the conversation has had: a script goes on behind them. Default 0. */
  repliesGiven?: number;
  /** Where the chat keeps how far it is in a script that continues when it is resumed. */
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
      throw new UserError(
        "USAGE",
        "A recording answers a whole run: name it with --model replay:FILE, and nowhere else.",
      );
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
