// Drives Claude Code: `claude -p --output-format stream-json`.
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { UserError } from "../../protocol/error-codes.ts";
import { hookEvents, isHookEvent } from "../../protocol/hook-events.ts";
import { imageKind } from "../../protocol/image.ts";
import { shellLine } from "../shell-line.ts";
import { claudeReaders } from "./claude-events.ts";
import { claudeRules } from "./claude-settings.ts";
import { defineAgent } from "./define-agent.ts";
import type { Connection, DriverCommand, DriverRequest, PermissionMode } from "./driver.ts";
import { isReadOnly, loseAskMode, nearestEffort, serversOf } from "./driver.ts";

const modes: Readonly<Record<PermissionMode, string | undefined>> = {
  default: undefined,
  acceptEdits: "acceptEdits",
  force: "bypassPermissions",
  bypassPermissions: "bypassPermissions",
  plan: "plan",
};

export const claudeDriver = defineAgent({
  tool: "claude",
  programs: ["claude"],
  pathVariable: "CLAUDE_CODE_PATH",
  supports: [
    ...([
      "partialText",
      "thinking",
      "resume",
      "fork",
      "images",
      "systemPrompt",
      "permissionCallback",
      "tools",
    ] as const),
    ...(["usage", "cost", "schema", "sessions"] as const),
  ],
  command,
  lines: { system: "step", stream_event: "step", assistant: "answer", user: "step", result: "end" },
  readers: claudeReaders,
  limitsTurns: true,
  live: {
    args: ["--input-format", "stream-json"],
    prompt: claudeMessage,
    interrupt: () => ({ type: "control_request", request_id: randomUUID(), request: { subtype: "interrupt" } }),
  },
  failures: [
    { pattern: /Invalid API key|Please run \/login|Not logged in/, code: "NOT_AUTHENTICATED" },
    { pattern: /No conversation found/, code: "SESSION_NOT_FOUND" },
    { pattern: /unknown option/, code: "USAGE" },
  ],
});

function command(request: DriverRequest): DriverCommand {
  const args = ["-p", "--verbose", "--output-format", "stream-json"];
  const built: DriverCommand = { args, losses: [] };
  const mode = isReadOnly(request) ? "plan" : modes[request.permissionMode];
  if (request.partial) args.push("--include-partial-messages");
  if (mode !== undefined) args.push("--permission-mode", mode);
  if (request.model !== undefined) args.push("--model", request.model);
  const effort = nearestEffort(request, built, "claude", ["low", "medium", "high", "xhigh", "max"]);
  if (effort) args.push("--effort", effort);
  if (request.agents) args.push(`--agents=${JSON.stringify(request.agents)}`);
  if (request.resume === true) args.push("--continue");
  else if (request.resume !== undefined) args.push("--resume", request.resume);
  if (request.fork) args.push("--fork-session");
  if (request.systemPrompt !== undefined) args.push(`--system-prompt=${request.systemPrompt}`);
  if (request.appendSystemPrompt !== undefined) args.push(`--append-system-prompt=${request.appendSystemPrompt}`);
  // Join with "=": options that take several words would otherwise take the prompt as well.
  if (request.allowedTools) args.push(`--tools=${request.allowedTools.join(",")}`);
  if (request.disallowedTools?.length) args.push(`--disallowedTools=${request.disallowedTools.join(",")}`);
  for (const path of request.addDirs ?? []) args.push(`--add-dir=${path}`);
  if (request.budget?.costUsd !== undefined) args.push("--max-budget-usd", String(request.budget.costUsd));
  if (request.budget?.turns !== undefined) args.push("--max-turns", String(request.budget.turns));
  if (request.answerSchema) args.push(`--json-schema=${JSON.stringify(request.answerSchema)}`);
  loseAskMode(request, built, "claude");
  sendImages(request, built);
  addSettings(request, built);
  addServers(request, args);
  return built;
}

/** Sends images in a message on stdin, the only way that the CLI accepts them. */
function sendImages({ prompt, images = [] }: DriverRequest, driverCommand: DriverCommand): void {
  if (images.length === 0) return;
  driverCommand.args.push("--input-format", "stream-json");
  driverCommand.promptVia = "stdin";
  driverCommand.prompt = `${JSON.stringify(claudeMessage({ text: prompt, images }))}\n`;
}

/** Builds a line of Claude Code's stream-json input. Throws a UserError for an image that cannot be read. */
export function claudeMessage({ text, images = [] }: { text: string; images?: readonly string[] }): object {
  const pictures = images.map((path) => {
    const { mime, base64 } = readImage(path);
    return { type: "image", source: { type: "base64", media_type: mime, data: base64 } };
  });
  return { type: "user", message: { role: "user", content: [{ type: "text", text }, ...pictures] } };
}

function readImage(path: string): { mime: string; base64: string } {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new UserError("FILE_UNREADABLE", `The image ${path} cannot be read: ${(error as Error).message}`);
  }
  const mime = imageKind(bytes);
  if (mime === undefined) throw new UserError("FILE_UNREADABLE", `${path} is not a PNG, JPEG, GIF or WebP image.`);
  return { mime, base64: bytes.toString("base64") };
}

function addSettings(request: DriverRequest, driverCommand: DriverCommand): void {
  const { connection, sandbox } = request;
  const permissions = claudeRules(request, driverCommand);
  const settings = {
    ...(connection?.hook && { hooks: claudeHooks(connection.hook) }),
    ...(permissions && { permissions }),
    // Fail if there is no sandbox: by default the CLI only warns and runs commands unconfined.
    ...(sandbox !== undefined && { sandbox: { enabled: sandbox, ...(sandbox && { failIfUnavailable: true }) } }),
  };
  if (Object.keys(settings).length > 0) driverCommand.args.push("--settings", JSON.stringify(settings));
}

/** Builds hooks in the format of Claude Code's settings, which Codex and Gemini share, each with its own unit of time. */
export function claudeHooks(
  { command: words, events }: NonNullable<Connection["hook"]>,
  { names: dialect = "claude", timeout = 3600 }: { names?: "claude" | "gemini"; timeout?: number } = {},
): Record<string, object[]> {
  const entry = { type: "command", command: shellLine(words), timeout };
  const names = events.flatMap((event) => (isHookEvent(event) ? (hookEvents[event][dialect] ?? []) : []));
  return Object.fromEntries(names.map((name) => [name, [{ matcher: "*", hooks: [entry] }]]));
}

function addServers(request: DriverRequest, args: string[]): void {
  const servers = Object.entries(serversOf(request));
  if (servers.length === 0) return;
  const mcpServers = Object.fromEntries(
    servers.map(([name, server]) => [name, { type: "url" in server ? "http" : "stdio", ...server }]),
  );
  args.push(`--mcp-config=${JSON.stringify({ mcpServers })}`);
  // Allow the tools that the caller itself has passed in.
  args.push(`--allowedTools=${servers.map(([name]) => `mcp__${name}`).join(",")}`);
}
