// Drives Claude Code: `claude -p --output-format stream-json`.
import { readFileSync } from "node:fs";
import { UserError } from "../../protocol/error-codes.ts";
import type { FrameType } from "../../protocol/frame-shapes.ts";
import { hookEvents, isHookEvent } from "../../protocol/hook-events.ts";
import { imageKind } from "../../protocol/image.ts";
import { shellLine } from "../shell-line.ts";
import { claudeDecoder } from "./claude-events.ts";
import { claudeRules } from "./claude-settings.ts";
import type { AgentDriver, Connection, DriverCommand, DriverRequest, PermissionMode } from "./driver.ts";
import { isReadOnly, known, loseAskMode, nearestEffort, usualCapabilities } from "./driver.ts";

const modes: Readonly<Record<PermissionMode, string | undefined>> = {
  default: undefined,
  acceptEdits: "acceptEdits",
  force: "bypassPermissions",
  bypassPermissions: "bypassPermissions",
  plan: "plan",
};

const frames = new Map<string, FrameType>([
  ["system", known],
  ["stream_event", known],
  ["assistant", { ...known, isForwardable: true }],
  ["user", known],
  ["result", { ...known, isTerminal: true }],
]);

export const claudeDriver: AgentDriver = {
  tool: "claude",
  programs: ["claude"],
  pathVariable: "CLAUDE_CODE_PATH",
  capabilities: () => ({ ...usualCapabilities, cost: true, schema: true }),
  command,
  frames,
  decoder: claudeDecoder,
  limitsTurns: true,
  failures: [
    { pattern: /Invalid API key|Please run \/login|Not logged in/, code: "NOT_AUTHENTICATED" },
    { pattern: /No conversation found/, code: "SESSION_NOT_FOUND" },
    { pattern: /unknown option/, code: "USAGE" },
  ],
};

function command(request: DriverRequest): DriverCommand {
  const args = ["-p", "--verbose", "--output-format", "stream-json"];
  const made: DriverCommand = { args, losses: [] };
  const mode = isReadOnly(request) ? "plan" : modes[request.permissionMode];
  if (request.partial) args.push("--include-partial-messages");
  if (mode !== undefined) args.push("--permission-mode", mode);
  if (request.model !== undefined) args.push("--model", request.model);
  const effort = nearestEffort(request, made, "claude", ["low", "medium", "high", "xhigh", "max"]);
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
  loseAskMode(request, made, "claude");
  sendImages(request, made);
  settle(request, made);
  addServers(request, args);
  return made;
}

/** Images are only accepted in messages on stdin. */
function sendImages({ prompt, images = [] }: DriverRequest, made: DriverCommand): void {
  if (images.length === 0) return;
  made.args.push("--input-format", "stream-json");
  made.promptVia = "stdin";
  made.prompt = `${JSON.stringify(claudeMessage({ text: prompt, images }))}\n`;
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

function settle(request: DriverRequest, made: DriverCommand): void {
  const { connection, sandbox } = request;
  const permissions = claudeRules(request, made);
  const settings = {
    ...(connection?.hook && { hooks: claudeHooks(connection.hook) }),
    ...(permissions && { permissions }),
    // Without this, a missing sandbox would only cause a warning, and commands would run unconfined.
    ...(sandbox !== undefined && { sandbox: { enabled: sandbox, ...(sandbox && { failIfUnavailable: true }) } }),
  };
  if (Object.keys(settings).length > 0) made.args.push("--settings", JSON.stringify(settings));
}

/** Builds hooks in the format of Claude Code's settings; Codex uses the same format. */
export function claudeHooks({ command: words, events }: NonNullable<Connection["hook"]>): object {
  const entry = { type: "command", command: shellLine(words), timeout: 3600 };
  const names = events.flatMap((event) => (isHookEvent(event) ? (hookEvents[event].claude ?? []) : []));
  return Object.fromEntries(names.map((name) => [name, [{ matcher: "*", hooks: [entry] }]]));
}

function addServers({ connection, mcpServers = {} }: DriverRequest, args: string[]): void {
  const mcp = connection?.mcp;
  const servers = Object.fromEntries([
    ...Object.entries(mcpServers).map(([name, each]) => [name, { type: "url" in each ? "http" : "stdio", ...each }]),
    ...(mcp ? [[mcp.name, { type: "stdio", command: mcp.command[0], args: mcp.command.slice(1) }]] : []),
  ]);
  const names = Object.keys(servers);
  if (names.length === 0) return;
  args.push(`--mcp-config=${JSON.stringify({ mcpServers: servers })}`);
  // Tools that the caller passed in need no permission.
  args.push(`--allowedTools=${names.map((name) => `mcp__${name}`).join(",")}`);
}
