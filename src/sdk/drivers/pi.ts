// Drives pi: `pi -p --mode json`.
import { UserError } from "../../protocol/error-codes.ts";
import type { FrameType } from "../../protocol/frame-shapes.ts";
import type { AgentDriver, DriverCommand, DriverRequest } from "./driver.ts";
import { isReadOnly, known, loseAgents, loseAskMode, refuseRules, usualCapabilities } from "./driver.ts";
import { piDecoder } from "./pi-events.ts";

const lines = [
  "session agent_start turn_start message_start message_update turn_end agent_end",
  "tool_execution_start tool_execution_update tool_execution_end bash_execution_update extension_error",
  "compaction_start compaction_end auto_retry_start auto_retry_end entry_appended",
];

const frames = new Map<string, FrameType>([
  ...lines.flatMap((each) => each.split(" ")).map((type) => [type, known] as const),
  ["message_end", { ...known, isForwardable: true }],
  ["agent_settled", { ...known, isTerminal: true }],
]);

/** pi's tools that change nothing. */
const readingTools = ["read", "grep", "find", "ls"];

export const piDriver: AgentDriver = {
  tool: "pi",
  programs: ["pi"],
  pathVariable: "PI_PATH",
  capabilities: () => ({ ...usualCapabilities, permissionCallback: false, tools: false, cost: true }),
  command,
  frames,
  decoder: piDecoder,
  failures: [
    { pattern: /No session found/, code: "SESSION_NOT_FOUND" },
    { pattern: /No API key|not logged in/i, code: "NOT_AUTHENTICATED" },
    { pattern: /Unknown option/, code: "USAGE" },
  ],
};

/** Returns the tools that pi may use, or undefined for all of them. A read-only mode and `allowedTools` restrict together. */
function toolsOf(request: DriverRequest): readonly string[] | undefined {
  const { allowedTools } = request;
  if (!isReadOnly(request)) return allowedTools;
  const tools = readingTools.filter((tool) => allowedTools?.includes(tool) ?? true);
  if (tools.length > 0) return tools;
  throw new UserError(
    "USAGE",
    `pi has only ${readingTools.join(", ")} in a read-only mode, and allowedTools names none of them.`,
  );
}

function command(request: DriverRequest): DriverCommand {
  const { resume, fork, mcpServers = {}, connection } = request;
  const args = ["-p", "--mode", "json"];
  const made: DriverCommand = { args, losses: [] };
  if (Object.keys(mcpServers).length > 0 || connection?.mcp)
    throw new UserError("USAGE", "pi knows no MCP servers, so mcpServers and tools cannot be used.");
  refuseRules(request, made, "pi");
  loseAskMode(request, made, "pi");
  if (request.sandbox) throw new UserError("USAGE", "pi has no sandbox, so sandbox: true cannot be kept.");
  const tools = toolsOf(request);
  if (tools) args.push("--tools", tools.join(","));
  if (!isReadOnly(request) && (request.permissionMode === "default" || request.permissionMode === "acceptEdits"))
    made.losses.push({ option: "permissionMode", reason: "pi asks nobody: it may do everything." });
  if (request.disallowedTools?.length) args.push("--exclude-tools", request.disallowedTools.join(","));
  if (request.trust) args.push("--approve");
  if (request.model !== undefined) args.push("--model", request.model);
  const { effort } = request;
  if (effort) args.push("--thinking", effort === "none" ? "off" : effort);
  loseAgents(request, made, "pi has no subagents.");
  if (resume === true) args.push("--continue");
  else if (resume !== undefined) args.push(fork ? "--fork" : "--session", resume);
  if (resume === true && fork) throw new UserError("USAGE", "pi forks a session by its id: give it as resume.");
  if (request.systemPrompt !== undefined) args.push("--system-prompt", request.systemPrompt);
  if (request.appendSystemPrompt !== undefined) args.push("--append-system-prompt", request.appendSystemPrompt);
  if (request.addDirs) made.losses.push({ option: "addDirs", reason: "pi works in one directory." });
  for (const path of request.images ?? []) args.push(`@${path}`);
  return made;
}
