// Drives cursor-agent: Courser's CLI, or the original, which has fewer flags.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { usageError } from "../../protocol/error-codes.ts";
import type { FrameType } from "../../protocol/frame-shapes.ts";
import type { RunRequest } from "../../protocol/run.ts";
import { collapsed } from "../../text/one-line.ts";
import { shellLine } from "../shell-line.ts";
import { cursorFrames, defineAgent } from "./define-agent.ts";
import {
  type CliInfo,
  type DriverCommand,
  type DriverRequest,
  losePrompts,
  type Subagent,
  serversOf,
} from "./driver.ts";

/** The types of lines in a process with many turns, whose end is the end of the process, not a result line. */
export const hostedFrames = new Map<string, FrameType>([
  ...[...cursorFrames].map(([type, { isTerminal: _end, ...frame }]) => [type, frame] as const),
  ...(["control", "tool_output"] as const).map((type) => [type, { check: () => undefined }] as const),
]);

export const cursorDriver = defineAgent({
  tool: "cursor",
  programs: ["cursor-agent", "courser", "agent"],
  pathVariable: "CURSOR_AGENT_PATH",
  supports: ({ isOurs } = { path: "", isOurs: true }) => [
    ...(["partialText", "thinking", "resume", "images", "permissionCallback", "tools", "usage"] as const),
    ...(["modelList", "sessions"] as const),
    ...(isOurs ? (["fork", "systemPrompt", "schema", "live"] as const) : []),
  ],
  command,
  failures: [
    { pattern: /Not authenticated|Authentication required|Authentication failed/, code: "NOT_AUTHENTICATED" },
    { pattern: /API key (is )?invalid/i, code: "MODEL_AUTH_ERROR" },
    { pattern: /Workspace Trust Required/, code: "UNTRUSTED" },
    { pattern: /Cannot use this model|Named models unavailable/, code: "MODEL_UNKNOWN" },
    { pattern: /Session not found|Failed to claim persistent session|No previous/, code: "SESSION_NOT_FOUND" },
    { pattern: /database is locked/, code: "STORE_LOCKED" },
    { pattern: /unknown option/, code: "USAGE" },
  ],
  fileOptions: ["mcpServers", "agents"],
  models: { args: ["models"], read: readModels },
});

function command(request: DriverRequest, cli: CliInfo): DriverCommand {
  const built: DriverCommand = { args: ["--print", "--output-format", "stream-json"], losses: [] };
  const { args } = built;
  const add = (name: string, value: string | number | undefined) => {
    if (value !== undefined) args.push(name, String(value));
  };
  if (request.partial) args.push("--stream-partial-output");
  permit(request, cli, built);
  if (request.trust) args.push("--trust");
  add("--model", request.model);
  if (request.resume === true) args.push("--continue");
  else add("--resume", request.resume);
  for (const path of request.images ?? []) args.push("--image", path);
  for (const path of request.addDirs ?? []) args.push("--add-dir", path);
  if (request.sandbox !== undefined) args.push("--sandbox", request.sandbox ? "enabled" : "disabled");
  if (cli.isOurs) addOurs(request, args);
  else leaveOut(request, built);
  connect(request, cli, built);
  return built;
}

function permit(request: DriverRequest, { isOurs }: CliInfo, { args, losses }: DriverCommand): void {
  const { permissionMode } = request;
  const { force, mode } = requestMode(request);
  if (force) args.push("--force");
  else if (permissionMode === "acceptEdits" && !isOurs) {
    losses.push({
      option: "permissionMode",
      reason: "cursor-agent has no mode between proposing edits and --force; it runs in its default mode.",
    });
  }
  if (mode !== undefined) args.push("--mode", mode);
}

function requestMode({ permissionMode, mode }: DriverRequest): Pick<RunRequest, "force" | "mode"> {
  const workMode = permissionMode === "plan" ? (mode ?? "plan") : mode;
  return {
    ...((permissionMode === "force" || permissionMode === "bypassPermissions") && { force: true }),
    ...(workMode !== undefined && workMode !== "agent" && { mode: workMode }),
  };
}

/** Flags for one process of Courser's CLI that is controlled while it works; its request is passed on stdin, not as flags. */
export const hostedFlags = [
  "--print",
  "--output-format",
  "stream-json",
  "--stream-partial-output",
  "--input-format",
  "stream-json",
  "--request-on-stdin",
] as const;

export function ownRequest(request: DriverRequest): RunRequest {
  const { cwd, resume, fork, addDirs, sandbox, permissions, model, effort, trust } = request;
  const { systemPrompt, appendSystemPrompt, allowedTools, disallowedTools } = request;
  const { hooks, askCommand, servers, approved, plugin } = connectionSettings(request);
  return {
    workspace: cwd,
    ...requestMode(request),
    ...(resume !== undefined && {
      chat: { type: "resume", id: resume === true ? "-1" : resume, ...(fork && { fork }) },
    }),
    ...(model !== undefined && { model }),
    ...(effort !== undefined && { effort }),
    ...(plugin !== undefined && { pluginDirs: [plugin] }),
    ...(trust && { trust }),
    ...(addDirs && { roots: addDirs }),
    ...(sandbox !== undefined && { sandbox: sandbox ? "enabled" : "disabled" }),
    ...(systemPrompt !== undefined && { systemPrompt }),
    ...(appendSystemPrompt !== undefined && { appendSystemPrompt }),
    ...(allowedTools && { allowedTools }),
    ...(disallowedTools && { disallowedTools }),
    ...(permissions && { permissions: permissions as NonNullable<RunRequest["permissions"]> }),
    ...(hooks && { hooks: [JSON.stringify(hooks)] }),
    ...(askCommand !== undefined && { askCommand }),
    ...(servers && { mcpConfigs: [JSON.stringify({ mcpServers: servers })] }),
    ...(approved.length > 0 && { approvedServers: approved }),
  };
}

/** The callbacks of a CLI, and the MCP servers and the subagents that it is given. */
function connectionSettings(request: DriverRequest) {
  const { connection, mcpServers, agents } = request;
  const { hook, ask } = connection ?? {};
  const servers = serversOf(request);
  return {
    approved: Object.keys(mcpServers ?? {}),
    ...(Object.keys(servers).length > 0 && { servers }),
    ...(agents && connection && { plugin: pluginOf(connection.folder, agents) }),
    ...(hook && { hooks: hooksFile(hook.command, hook.events) }),
    ...(ask && { askCommand: shellLine(ask.command) }),
  };
}

/** Writes a plugin with subagents, which both CLIs take for one run, and returns its folder. */
function pluginOf(folder: string, agents: Readonly<Record<string, Subagent>>): string {
  mkdirSync(join(folder, "agents"), { recursive: true });
  writeFileSync(join(folder, "plugin.json"), JSON.stringify({ name: "courser-sdk", version: "1.0.0" }));
  for (const [name, { description, prompt, tools, model }] of Object.entries(agents)) {
    const head = {
      name,
      description: collapsed(description),
      ...(model && { model }),
      ...(tools && { tools: tools.join(", ") }),
    };
    const lines = Object.entries(head).map(([key, value]) => `${key}: >-\n  ${value}`);
    writeFileSync(join(folder, "agents", `${name}.md`), `---\n${lines.join("\n")}\n---\n${prompt}\n`);
  }
  return folder;
}

/** Adds the flags that only our own CLI has. */
function addOurs(request: DriverRequest, args: string[]): void {
  if (request.fork) args.push("--fork");
  if (request.effort !== undefined) args.push("--effort", request.effort);
  if (request.systemPrompt !== undefined) args.push(`--system-prompt=${request.systemPrompt}`);
  if (request.appendSystemPrompt !== undefined) args.push(`--append-system-prompt=${request.appendSystemPrompt}`);
  if (request.allowedTools) args.push("--allowed-tools", request.allowedTools.join(","));
  if (request.disallowedTools?.length) args.push("--disallowed-tools", request.disallowedTools.join(","));
  for (const rule of request.permissions?.allow ?? []) args.push("--allow", rule);
  for (const rule of request.permissions?.deny ?? []) args.push("--deny", rule);
  if (request.answerSchema) args.push("--json-schema", JSON.stringify(request.answerSchema));
  if (request.budget?.turns !== undefined) args.push("--max-turns", String(request.budget.turns));
}

function leaveOut(request: DriverRequest, driverCommand: DriverCommand): void {
  if (request.fork) throw usageError("cursor-agent cannot fork a chat by a flag. Drive courser for this.");
  losePrompts(request, driverCommand, "cursor-agent has no flag for it.");
  if (request.effort !== undefined)
    driverCommand.losses.push({
      option: "effort",
      reason: "cursor-agent has no flag for it: it is part of the model's name.",
    });
}

function connect(request: DriverRequest, { isOurs }: CliInfo, driverCommand: DriverCommand): void {
  const { args, losses } = driverCommand;
  const { hooks, askCommand, servers, approved, plugin } = connectionSettings(request);
  const { folder } = request.connection ?? {};
  if (isOurs) {
    if (hooks) args.push("--hooks", JSON.stringify(hooks));
    if (askCommand !== undefined) args.push("--ask-command", askCommand);
    if (servers) args.push("--mcp-config", JSON.stringify({ mcpServers: servers }));
    for (const name of approved) args.push("--approve-mcp", name);
    if (plugin !== undefined) args.push("--plugin-dir", plugin);
    return;
  }
  if (folder === undefined) return;
  const manifest = { name: "courser-sdk", version: "1.0.0", hooks: "./hooks.json", mcpServers: "./mcp.json" };
  writeFileSync(join(folder, "plugin.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "hooks.json"), JSON.stringify(hooks ?? { version: 1, hooks: {} }));
  writeFileSync(join(folder, "mcp.json"), JSON.stringify({ mcpServers: servers ?? {} }));
  args.push("--plugin-dir", folder);
  if (approved.length > 0) args.push("--approve-mcps");
  if (askCommand !== undefined) {
    losses.push({
      option: "canUseTool",
      reason: "cursor-agent lets a hook refuse a call; what it would ask a person about stays refused.",
    });
  }
}

/** Writes the file that configures the hooks. `failClosed` refuses calls when the hook cannot be asked. */
function hooksFile(command: readonly string[], events: readonly string[]): object {
  const entry = { command: shellLine(command), failClosed: true, timeout: 3600 };
  return { version: 1, hooks: Object.fromEntries(events.map((event) => [event, [entry]])) };
}

/** Parses `id - Display Name  (current, default)`, between a headline and a tip. */
function readModels(stdout: string): { id: string; name: string; isDefault?: boolean }[] {
  return stdout.split("\n").flatMap((line) => {
    const match = /^\s*(\S+) - (.+?)(?: +\((current|default|current, default)\))?\s*$/.exec(line);
    if (!match) return [];
    return [{ id: match[1]!, name: match[2]!, ...(match[3]?.includes("default") && { isDefault: true }) }];
  });
}
