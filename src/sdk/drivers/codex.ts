// Drives Codex: `codex exec --json`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "../../json/object.ts";
import { usageError } from "../../protocol/error-codes.ts";
import { claudeHooks } from "./claude.ts";
import { codexDetails } from "./codex-details.ts";
import { codexReaders } from "./codex-events.ts";
import { defineAgent } from "./define-agent.ts";
import type { DriverCommand, DriverRequest } from "./driver.ts";
import { isReadOnly, losePrompts, nearestEffort, serversOf } from "./driver.ts";

export const codexDriver = defineAgent({
  tool: "codex",
  programs: ["codex"],
  pathVariable: "CODEX_PATH",
  supports: ["thinking", "resume", "fork", "images", "permissionCallback", "tools", "usage", "schema", "sessions"],
  fileOptions: ["schema", "agents"],
  deniesByHook: true,
  takesSchema: isStrict,
  command,
  lines: {
    "thread.started": "step",
    "turn.started": "step",
    "item.started": "step",
    "item.updated": "step",
    "item.completed": "answer",
    error: "step",
    "turn.completed": "end",
    "turn.failed": "end",
  },
  readers: codexReaders,
  omitsDenials: true,
  addDetails: codexDetails,
  failures: [
    { pattern: /Not inside a trusted directory/, code: "UNTRUSTED" },
    { pattern: /Not logged in/, code: "NOT_AUTHENTICATED" },
    { pattern: /no rollout found|[Ss]ession not found|No saved session/, code: "SESSION_NOT_FOUND" },
    { pattern: /unexpected argument/, code: "USAGE" },
  ],
});

function command(request: DriverRequest): DriverCommand {
  const { permissionMode, resume, fork, connection } = request;
  const isForced = (permissionMode === "force" || permissionMode === "bypassPermissions") && !isReadOnly(request);
  const args = ["exec"];
  const built: DriverCommand = { args, losses: [] };
  if (resume !== undefined) args.push(fork ? "fork" : "resume");
  args.push("--json");
  if (isForced || request.trust) args.push("--skip-git-repo-check");
  // Pass options as settings, since the subcommands accept fewer flags.
  const set = (key: string, value: unknown) => args.push("-c", `${key}=${tomlOf(value)}`);
  const sandbox = sandboxMode(request, isForced);
  if (sandbox === "none") args.push("--dangerously-bypass-approvals-and-sandbox");
  else if (sandbox !== undefined) set("sandbox_mode", sandbox);
  if (request.addDirs) set("sandbox_workspace_write.writable_roots", request.addDirs);
  if (request.model !== undefined) args.push("--model", request.model);
  const effort = nearestEffort(request, built, "codex", ["none", "minimal", "low", "medium", "high", "xhigh"]);
  if (effort) set("model_reasoning_effort", effort);
  for (const path of request.images ?? []) args.push(`--image=${path}`);
  if (connection?.hook) {
    for (const [name, entries] of Object.entries(claudeHooks(connection.hook))) set(`hooks.${name}`, entries);
    // The user could not trust these hooks before, since they are created for this run.
    args.push("--dangerously-bypass-hook-trust");
  }
  for (const [name, server] of Object.entries(serversOf(request))) {
    const { headers, ...fields } = { headers: undefined, ...server };
    for (const [field, value] of Object.entries({ ...fields, http_headers: headers }))
      if (value !== undefined) set(`mcp_servers.${name}.${field}`, value);
    // Allow the tools that the caller itself has passed in.
    set(`mcp_servers.${name}.default_tools_approval_mode`, "approve");
  }
  for (const [name, agent] of Object.entries(request.agents ?? {})) {
    if (agent.tools)
      throw usageError(`codex cannot limit the tools of a subagent, so agents.${name}.tools cannot be enforced.`);
    if (!connection) continue;
    const file = join(connection.folder, `${name}.toml`);
    const settings = { developer_instructions: agent.prompt, ...(agent.model !== undefined && { model: agent.model }) };
    writeFileSync(
      file,
      Object.entries(settings)
        .map(([key, value]) => `${key} = ${tomlOf(value)}\n`)
        .join(""),
    );
    set(`agents.${name}.description`, agent.description);
    set(`agents.${name}.config_file`, file);
  }
  if (request.answerSchema && connection) {
    const file = join(connection.folder, "schema.json");
    writeFileSync(file, JSON.stringify(request.answerSchema));
    args.push("--output-schema", file);
  }
  losePrompts(request, built, "codex exec has no flag for it: write it into AGENTS.md.");
  if (request.partial)
    built.losses.push({ option: "partial", reason: "codex exec reports texts only when they are complete." });
  if (resume === true) args.push("--last");
  else if (resume !== undefined) args.push(resume);
  // When forking a session, the CLI reads its prompt from stdin only with `-`.
  if (fork) {
    args.push("-");
    built.promptVia = "stdin";
  }
  return built;
}

/** Returns the value of Codex's `sandbox_mode`; undefined to keep its own configuration, "none" for no sandbox and no questions. */
function sandboxMode(request: DriverRequest, isForced: boolean): string | undefined {
  if (isReadOnly(request)) return "read-only";
  if (isForced) return request.sandbox ? "workspace-write" : "none";
  if (request.sandbox !== undefined) return request.sandbox ? "workspace-write" : "danger-full-access";
  return request.permissionMode === "acceptEdits" ? "workspace-write" : undefined;
}

/** OpenAI accepts only schemas whose objects allow no additional properties and require all that they name. */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict);
  if (!isObject(schema)) return true;
  const names = isObject(schema.properties) ? Object.keys(schema.properties) : undefined;
  const required = Array.isArray(schema.required) ? schema.required : [];
  const isClosed = schema.additionalProperties === false && (names ?? []).every((name) => required.includes(name));
  if ((schema.type === "object" || names) && !isClosed) return false;
  return Object.values(schema).every(isStrict);
}

/** Formats a value as TOML. Strings are written as in JSON, tables are not. */
function tomlOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlOf).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const entries = Object.entries(value).map(([key, each]) => `${JSON.stringify(key)} = ${tomlOf(each)}`);
  return `{ ${entries.join(", ")} }`;
}
