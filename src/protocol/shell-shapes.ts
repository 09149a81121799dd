// Args and results of commands, as the wire spells them.
import type { ErrorMessage } from "./tool-shapes.ts";

export interface ShellToolCallArgs {
  command: string;
  workingDirectory: string;
  timeout: number;
  toolCallId?: string;
  simpleCommands: string[];
  hasInputRedirect: boolean;
  hasOutputRedirect: boolean;
  parsingResult: ShellParsingResult;
  /** A 64-bit number, hence a string. */
  fileOutputThresholdBytes?: string;
  isBackground?: boolean;
  skipApproval?: boolean;
  timeoutBehavior?: string;
  hardTimeout?: number;
  description?: string;
  closeStdin?: boolean;
  conversationId?: string;
  requestedSandboxPolicy?: SandboxPolicy;
  adminCommandDenylist?: string[];
  requestId?: string;
}
export interface ShellParsingResult {
  parsingFailed: boolean;
  executableCommands: ExecutableCommand[];
  hasRedirects: boolean;
  hasCommandSubstitution: boolean;
  redirects?: unknown[];
}
export interface ExecutableCommand {
  name: string;
  args: CommandArg[];
  fullText: string;
}
export interface CommandArg {
  type: "word" | "string" | "raw_string" | "number";
  value: string;
}
export interface SandboxPolicy {
  type: string;
  networkAccess?: boolean;
  additionalReadwritePaths?: string[];
  additionalReadonlyPaths?: string[];
  enableSharedBuildCache?: boolean;
  readBoundary?: string;
  additionalReadPaths?: string[];
}
/** `failure`: the command ran and exited non-zero. */
export interface ShellToolCallResult {
  success?: ShellRun;
  failure?: ShellRun;
  timeout?: { command: string; workingDirectory: string; timeoutMs?: number } & Partial<ShellRun>;
  rejected?: { command: string; workingDirectory: string; reason: string; isReadonly: boolean };
  spawnError?: { command: string; workingDirectory: string; error: string };
  permissionDenied?: { command: string; workingDirectory: string; error?: string; isReadonly?: boolean };
  error?: ErrorMessage;
  isBackground?: boolean;
  sandboxPolicy?: SandboxPolicy;
  terminalsFolder?: string;
  pid?: number;
}
export interface ShellRun {
  command: string;
  workingDirectory: string;
  exitCode: number;
  signal: string;
  stdout: string;
  stderr: string;
  executionTime: number;
  interleavedOutput?: string;
  localExecutionTimeMs?: number;
}
