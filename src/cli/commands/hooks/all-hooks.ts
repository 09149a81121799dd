// Finds all hooks here, those that Courser fires and those that only Codex or Gemini reads, and what keeps them from running.
import type { HostName } from "../../../bridge/event.ts";
import { installHosts } from "../../../bridge/install/hosts.ts";
import { UserError } from "../../../protocol/error-codes.ts";
import { type Hook, readHookFile } from "../../../store/hook-files.ts";
import { type HookFile, hookFiles } from "../../../store/hook-paths.ts";
import { isApproved } from "../../../store/hook-trust.ts";
import { configFileOf, type HooksContext } from "./context.ts";

/** Whether a hook is run, and why not. `codex only` and `gemini only` mean that only that CLI reads the hook. */
export type HookState = "runs" | "not approved" | "untrusted" | "codex only" | "gemini only";

export type FoundFile = {
  level: string;
  file: string;
  host: HostName;
  state: HookState;
  text: string;
  hooks: Hook[];
  warnings: string[];
  /** Why the file cannot be parsed, so that its hooks are unknown. */
  problem?: string;
};

/** Returns only existing files, the highest level first. */
export function findHooks(context: HooksContext): FoundFile[] {
  const fileStates = hookFiles(context).flatMap((file) => lookAt(file, context));
  const ofOthers = (["codex", "gemini"] as const).flatMap((host) =>
    (["project", "user"] as const).flatMap((scope) => {
      const file = configFileOf(installHosts.find(({ name }) => name === host)!, context, scope);
      // Codex uses the same format as Claude.
      const format = host === "gemini" ? ("gemini" as const) : ("claude" as const);
      const level = { level: "claude project" as const, format, file, cwd: context.workspace };
      return lookAt({ ...level, ofProject: false }, context).map((found): FoundFile => {
        return { ...found, level: `${host} ${scope}`, host, state: `${host} only` };
      });
    }),
  );
  return [...fileStates, ...ofOthers];
}

function lookAt(file: HookFile, context: HooksContext): FoundFile[] {
  const found = { level: file.level, file: file.file, host: file.format, text: "", hooks: [], warnings: [] };
  try {
    const read = readHookFile(file);
    if (!read || (read.hooks.length === 0 && read.warnings.length === 0)) return [];
    return [{ ...found, ...read, state: hookFileState(file, read.text, context) }];
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return [{ ...found, state: file.ofProject && !context.trusted ? "untrusted" : "runs", problem: error.message }];
  }
}

function hookFileState({ ofProject, file }: HookFile, text: string, context: HooksContext): HookState {
  if (!ofProject) return "runs";
  if (!context.trusted) return "untrusted";
  return isApproved(context, file, text) ? "runs" : "not approved";
}
