// Drives opencode: `opencode run --format json`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../../protocol/error-codes.ts";
import type { FrameType } from "../../protocol/frame-shapes.ts";
import type { AgentDriver, DriverCommand, DriverRequest, McpServer, Subagent } from "./driver.ts";
import {
  isReadOnly,
  known,
  loseAskMode,
  losePrompts,
  refuseRules,
  refuseToolLists,
  usualCapabilities,
} from "./driver.ts";
import { opencodeDecoder } from "./opencode-events.ts";

const frames = new Map<string, FrameType>([
  ["step_start", known],
  ["reasoning", known],
  ["tool_use", known],
  ["step_finish", { ...known, isForwardable: true }],
  ["text", { ...known, isForwardable: true }],
  ["error", { ...known, isForwardable: true }],
]);

export const opencodeDriver: AgentDriver = {
  tool: "opencode",
  programs: ["opencode"],
  pathVariable: "OPENCODE_PATH",
  fileOptions: ["mcpServers", "agents"],
  capabilities: () => ({
    ...usualCapabilities,
    partialText: false,
    systemPrompt: false,
    permissionCallback: false,
    cost: true,
    sessions: false,
  }),
  command,
  frames,
  endsByExit: true,
  decoder: opencodeDecoder,
  failures: [
    { pattern: /Session not found/i, code: "SESSION_NOT_FOUND" },
    { pattern: /ProviderModelNotFoundError|Model not found/i, code: "MODEL_UNKNOWN" },
    { pattern: /Unknown argument/i, code: "USAGE" },
  ],
};

function command(request: DriverRequest): DriverCommand {
  const { permissionMode, resume, fork, connection, mcpServers = {} } = request;
  const args = ["run", "--format", "json", "--thinking"];
  const made: DriverCommand = { args, losses: [] };
  refuseToolLists(request, "opencode");
  refuseRules(request, made, "opencode");
  loseAskMode(request, made, "opencode");
  losePrompts(request, made, "opencode has no flag for it: write it into AGENTS.md.");
  if (request.sandbox) throw new UserError("USAGE", "opencode has no sandbox, so sandbox: true cannot be kept.");
  if (request.addDirs) made.losses.push({ option: "addDirs", reason: "opencode works in one directory." });
  if (isReadOnly(request)) args.push("--agent", "plan");
  else if (permissionMode === "force" || permissionMode === "bypassPermissions") args.push("--auto");
  if (request.partial)
    made.losses.push({ option: "partial", reason: "opencode run reports texts only when they are complete." });
  if (request.model !== undefined) args.push("--model", request.model);
  if (request.effort !== undefined) args.push("--variant", request.effort);
  if (resume === true) args.push("--continue");
  else if (resume !== undefined) args.push("--session", resume);
  if (fork) args.push("--fork");
  for (const path of request.images ?? []) args.push(`--file=${path}`);
  const mcp = connection?.mcp;
  const servers = Object.fromEntries([
    ...Object.entries(mcpServers).map(([name, each]) => [name, serverOf(each)]),
    ...(mcp ? [[mcp.name, serverOf({ command: mcp.command[0]!, args: mcp.command.slice(1) })]] : []),
  ]);
  const config = {
    ...(Object.keys(servers).length > 0 && { mcp: servers }),
    ...(request.agents && { agent: agentsOf(request.agents) }),
  };
  if (!connection || Object.keys(config).length === 0) return made;
  const file = join(connection.folder, "opencode.json");
  writeFileSync(file, JSON.stringify(config));
  return { ...made, env: { OPENCODE_CONFIG: file } };
}

/** With a list of tools, all others are off. */
function agentsOf(agents: Readonly<Record<string, Subagent>>): object {
  const made = Object.entries(agents).map(([name, { tools, ...agent }]) => {
    const chosen = tools && { tools: { "*": false, ...Object.fromEntries(tools.map((tool) => [tool, true])) } };
    return [name, { ...agent, mode: "subagent", ...chosen }];
  });
  return Object.fromEntries(made);
}

function serverOf(server: McpServer): object {
  if ("url" in server) return { type: "remote", ...server, enabled: true };
  const { command: program, args = [], env } = server;
  return { type: "local", command: [program, ...args], ...(env && { environment: env }), enabled: true };
}
