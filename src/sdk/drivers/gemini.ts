// Drives Gemini CLI: `gemini --output-format stream-json`.
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isObject, type JsonObject } from "../../json/object.ts";
import { readJson } from "../../store/json-file.ts";
import { claudeHooks } from "./claude.ts";
import { defineAgent } from "./define-agent.ts";
import type { DriverCommand, DriverRequest, PermissionMode } from "./driver.ts";
import { isReadOnly, loseAskMode, losePrompts, type McpServer, serversOf } from "./driver.ts";
import { geminiReaders } from "./gemini-events.ts";

const modes: Readonly<Record<PermissionMode, string>> = {
  default: "default",
  acceptEdits: "auto_edit",
  force: "yolo",
  bypassPermissions: "yolo",
  plan: "plan",
};

export const geminiDriver = defineAgent({
  tool: "gemini",
  programs: ["gemini"],
  pathVariable: "GEMINI_CLI_PATH",
  fileOptions: ["mcpServers", "budget"],
  deniesByHook: true,
  limitsTurns: true,
  supports: ["partialText", "resume", "images", "permissionCallback", "tools", "usage", "sessions"],
  command,
  lines: { init: "step", message: "answer", tool_use: "step", tool_result: "step", error: "step", result: "end" },
  readers: geminiReaders,
  tellsPrompt: true,
  failures: [
    { pattern: /set an Auth method|GEMINI_API_KEY/, code: "NOT_AUTHENTICATED" },
    { pattern: /not running in a trusted directory|untrusted/i, code: "UNTRUSTED" },
    { pattern: /Error resuming session|Invalid session identifier/, code: "SESSION_NOT_FOUND" },
    { pattern: /max session turns/i, code: "MAX_TURNS" },
    { pattern: /Unknown argument/, code: "USAGE" },
  ],
});

/** Hook settings for Gemini, whose timeout is in milliseconds, unlike that of Claude Code. */
const ofGemini = { names: "gemini", timeout: 3_600_000 } as const;

function command(request: DriverRequest): DriverCommand {
  const mode = isReadOnly(request) ? "plan" : modes[request.permissionMode];
  const args = ["--output-format", "stream-json", "--approval-mode", mode];
  // Pass the prompt on stdin, where it can have any length.
  const built: DriverCommand = { args, promptVia: "stdin", losses: [] };
  loseAskMode(request, built, "gemini");
  if (request.trust || mode === "yolo") args.push("--skip-trust");
  if (request.model !== undefined) args.push("--model", request.model);
  if (request.resume !== undefined) args.push("--resume", request.resume === true ? "latest" : request.resume);
  for (const path of request.addDirs ?? []) args.push("--include-directories", path);
  if (request.images?.length) built.prompt = [request.prompt, "", ...request.images.map(fileToRead)].join("\n");
  losePrompts(request, built, "gemini has no flag for it: write it into GEMINI.md.");
  const env: Record<string, string> = {};
  if (request.sandbox) args.push("--sandbox");
  else if (request.sandbox === false) env.GEMINI_SANDBOX = "false";
  const { connection, budget } = request;
  const servers = Object.entries(serversOf(request)).map(([name, each]) => [name, serverSettings(each)]);
  const settings = {
    ...(servers.length > 0 && { mcpServers: Object.fromEntries(servers) }),
    ...(budget?.turns !== undefined && { model: { maxSessionTurns: budget.turns } }),
    ...(connection?.hook && { hooks: claudeHooks(connection.hook, ofGemini), hooksConfig: { enabled: true } }),
  };
  if (connection && Object.keys(settings).length > 0) Object.assign(env, writeSettings(connection.folder, settings));
  return Object.keys(env).length > 0 ? { ...built, env } : built;
}

/** A path after an at sign, in which blanks and what a shell would read are escaped. */
function fileToRead(path: string): string {
  return `@${process.platform === "win32" ? path : path.replace(/[\s\\,;!?()[\]{}|*$`'"#&<>~]/g, "\\$&")}`;
}

const machineSettings: Partial<Record<NodeJS.Platform, string>> = {
  darwin: "/Library/Application Support/GeminiCli/settings.json",
  win32: "C:\\ProgramData\\gemini-cli\\settings.json",
};

/**
 * Writes settings for this run in place of the machine's, which take precedence over those of user and project that
 * could disable a hook. The machine's settings are included.
 */
function writeSettings(folder: string, settings: JsonObject): Record<string, string> {
  const { GEMINI_CLI_SYSTEM_SETTINGS_PATH: path, GEMINI_CLI_SYSTEM_DEFAULTS_PATH: defaults } = process.env;
  const machine = path || (machineSettings[process.platform] ?? "/etc/gemini-cli/settings.json");
  const file = join(folder, "settings.json");
  const both = (above: unknown, below: unknown): unknown => {
    if (Array.isArray(above) && Array.isArray(below)) return [...below, ...above];
    if (!isObject(above) || !isObject(below)) return above;
    const keys = Object.keys({ ...below, ...above });
    return Object.fromEntries(keys.map((key) => [key, key in above ? both(above[key], below[key]) : below[key]]));
  };
  writeFileSync(file, JSON.stringify(both(settings, readJson(machine) ?? {})));
  return {
    GEMINI_CLI_SYSTEM_SETTINGS_PATH: file,
    GEMINI_CLI_SYSTEM_DEFAULTS_PATH: defaults || join(dirname(machine), "system-defaults.json"),
  };
}

/** `trust`: tools that the caller passed in need no permission. */
function serverSettings(server: McpServer): object {
  if (!("url" in server)) return { ...server, trust: true };
  const { url, ...rest } = server;
  return { httpUrl: url, ...rest, trust: true };
}
