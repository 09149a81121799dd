// Drives opencode: `opencode run --format json`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineAgent } from "./define-agent.ts";
import type { DriverCommand, DriverRequest, McpServer, Subagent } from "./driver.ts";
import { isReadOnly, loseAskMode, losePrompts, serversOf } from "./driver.ts";
import { opencodeReaders } from "./opencode-events.ts";

export const opencodeDriver = defineAgent({
  tool: "opencode",
  programs: ["opencode"],
  pathVariable: "OPENCODE_PATH",
  fileOptions: ["mcpServers", "agents"],
  supports: ["thinking", "resume", "fork", "images", "tools", "usage", "cost", "sessions"],
  command,
  lines: {
    step_start: "step",
    reasoning: "step",
    tool_use: "step",
    step_finish: "answer",
    text: "answer",
    error: "answer",
  },
  readers: opencodeReaders,
  begin: ({ sessionID: id }, stream) => stream.begin(typeof id === "string" ? id : ""),
  failures: [
    { pattern: /Session not found/i, code: "SESSION_NOT_FOUND" },
    { pattern: /ProviderModelNotFoundError|Model not found/i, code: "MODEL_UNKNOWN" },
    { pattern: /Unknown argument/i, code: "USAGE" },
  ],
});

function command(request: DriverRequest): DriverCommand {
  const { permissionMode, resume, fork, connection } = request;
  const args = ["run", "--format", "json", "--thinking"];
  // Pass the prompt on stdin: the CLI would put an argument with a blank into quotes.
  const built: DriverCommand = { args, promptVia: "stdin", losses: [] };
  loseAskMode(request, built, "opencode");
  losePrompts(request, built, "opencode has no flag for it: write it into AGENTS.md.");
  if (isReadOnly(request)) args.push("--agent", "plan");
  else if (permissionMode === "force" || permissionMode === "bypassPermissions") args.push("--auto");
  if (request.partial)
    built.losses.push({ option: "partial", reason: "opencode run reports texts only when they are complete." });
  if (request.model !== undefined) args.push("--model", request.model);
  if (request.effort !== undefined) args.push("--variant", request.effort);
  if (resume === true) args.push("--continue");
  else if (resume !== undefined) args.push("--session", resume);
  if (fork) args.push("--fork");
  for (const path of request.images ?? []) args.push(`--file=${path}`);
  const servers = Object.entries(serversOf(request)).map(([name, each]) => [name, serverConfig(each)]);
  const config = {
    ...(servers.length > 0 && { mcp: Object.fromEntries(servers) }),
    ...(request.agents && { agent: agentsOf(request.agents) }),
  };
  if (!connection || Object.keys(config).length === 0) return built;
  const file = join(connection.folder, "opencode.json");
  writeFileSync(file, JSON.stringify(config));
  return { ...built, env: { OPENCODE_CONFIG: file } };
}

/** Converts subagents to the CLI's configuration. If tools are listed, all others are disabled. */
function agentsOf(agents: Readonly<Record<string, Subagent>>): object {
  const agentConfigs = Object.entries(agents).map(([name, { tools, ...agent }]) => {
    const chosen = tools && { tools: { "*": false, ...Object.fromEntries(tools.map((tool) => [tool, true])) } };
    return [name, { ...agent, mode: "subagent", ...chosen }];
  });
  return Object.fromEntries(agentConfigs);
}

function serverConfig(server: McpServer): object {
  if ("url" in server) return { type: "remote", ...server, enabled: true };
  const { command: program, args = [], env } = server;
  return { type: "local", command: [program, ...args], ...(env && { environment: env }), enabled: true };
}
