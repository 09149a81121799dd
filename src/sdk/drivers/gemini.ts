// Drives Gemini CLI: `gemini --output-format stream-json`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../protocol/error-codes.ts";
import type { FrameType } from "../../protocol/frame-shapes.ts";
import type { AgentDriver, DriverCommand, DriverRequest, PermissionMode } from "./driver.ts";
import {
  isReadOnly,
  known,
  loseAgents,
  loseAskMode,
  losePrompts,
  type McpServer,
  refuseRules,
  refuseToolLists,
  usualCapabilities,
} from "./driver.ts";
import { geminiDecoder } from "./gemini-events.ts";

const modes: Readonly<Record<PermissionMode, string>> = {
  default: "default",
  acceptEdits: "auto_edit",
  force: "yolo",
  bypassPermissions: "yolo",
  plan: "plan",
};

const frames = new Map<string, FrameType>([
  ["init", known],
  ["message", { ...known, isForwardable: true }],
  ["tool_use", known],
  ["tool_result", known],
  ["error", known],
  ["result", { ...known, isTerminal: true }],
]);

export const geminiDriver: AgentDriver = {
  tool: "gemini",
  programs: ["gemini"],
  pathVariable: "GEMINI_CLI_PATH",
  fileOptions: ["mcpServers", "budget"],
  limitsTurns: true,
  capabilities: () => ({
    ...usualCapabilities,
    thinking: false,
    fork: false,
    systemPrompt: false,
    permissionCallback: false,
  }),
  command,
  frames,
  decoder: geminiDecoder,
  failures: [
    { pattern: /set an Auth method|GEMINI_API_KEY/, code: "NOT_AUTHENTICATED" },
    { pattern: /not running in a trusted directory|untrusted/i, code: "UNTRUSTED" },
    { pattern: /Error resuming session|Invalid session identifier/, code: "SESSION_NOT_FOUND" },
    { pattern: /max session turns/i, code: "MAX_TURNS" },
    { pattern: /Unknown argument/, code: "USAGE" },
  ],
};

function command(request: DriverRequest): DriverCommand {
  const mode = isReadOnly(request) ? "plan" : modes[request.permissionMode];
  const args = ["--output-format", "stream-json", "--approval-mode", mode];
  // Without a prompt on its command line it reads one from stdin, of any length.
  const made: DriverCommand = { args, promptVia: "stdin", losses: [] };
  if (request.fork) throw new UserError("USAGE", "gemini cannot fork a session. Resume it, or start a new one.");
  refuseToolLists(request, "gemini");
  refuseRules(request, made, "gemini");
  loseAskMode(request, made, "gemini");
  loseAgents(request, made, "gemini takes subagents only from its settings folders and extensions.");
  if (request.effort) made.losses.push({ option: "effort", reason: "gemini has no flag for it." });
  if (request.trust || mode === "yolo") args.push("--skip-trust");
  if (request.model !== undefined) args.push("--model", request.model);
  if (request.resume !== undefined) args.push("--resume", request.resume === true ? "latest" : request.resume);
  for (const path of request.addDirs ?? []) args.push("--include-directories", path);
  // A path after an at sign is a file to read.
  if (request.images?.length)
    made.prompt = `${request.prompt}\n\n${request.images.map((path) => `@${path}`).join("\n")}`;
  losePrompts(request, made, "gemini has no flag for it: write it into GEMINI.md.");
  const env: Record<string, string> = {};
  if (request.sandbox) args.push("--sandbox");
  else if (request.sandbox === false) env.GEMINI_SANDBOX = "false";
  const { connection, mcpServers = {}, budget } = request;
  const mcp = connection?.mcp;
  const servers = Object.fromEntries([
    ...Object.entries(mcpServers).map(([name, each]) => [name, serverOf(each)]),
    ...(mcp ? [[mcp.name, serverOf({ command: mcp.command[0]!, args: mcp.command.slice(1) })]] : []),
  ]);
  const settings = {
    ...(Object.keys(servers).length > 0 && { mcpServers: servers }),
    ...(budget?.turns !== undefined && { model: { maxSessionTurns: budget.turns } }),
  };
  if (connection && Object.keys(settings).length > 0) {
    const file = join(connection.folder, "settings.json");
    writeFileSync(file, JSON.stringify(settings));
    env.GEMINI_CLI_SYSTEM_DEFAULTS_PATH = file;
  }
  return Object.keys(env).length > 0 ? { ...made, env } : made;
}

/** `trust`: tools that the caller passed in need no permission. */
function serverOf(server: McpServer): object {
  if (!("url" in server)) return { ...server, trust: true };
  const { url, ...rest } = server;
  return { httpUrl: url, ...rest, trust: true };
}
