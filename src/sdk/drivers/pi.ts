// Drives pi: `pi -p --mode json`.
import { usageError } from "../../protocol/error-codes.ts";
import { defineAgent } from "./define-agent.ts";
import type { DriverCommand, DriverRequest } from "./driver.ts";
import { isReadOnly, loseAskMode } from "./driver.ts";
import { piReaders } from "./pi-events.ts";

/** The tools of pi that change nothing. */
const readingTools = ["read", "grep", "find", "ls"];

const steps = [
  ...["session", "agent_start", "turn_start", "message_start", "message_update", "turn_end", "agent_end"],
  ...["tool_execution_start", "tool_execution_update", "tool_execution_end", "bash_execution_update"],
  ...["compaction_start", "compaction_end", "auto_retry_start", "auto_retry_end", "entry_appended", "extension_error"],
];

export const piDriver = defineAgent({
  tool: "pi",
  programs: ["pi"],
  pathVariable: "PI_PATH",
  supports: [
    ...(["partialText", "thinking", "resume", "fork", "images", "systemPrompt", "usage", "cost", "sessions"] as const),
  ],
  command,
  lines: {
    ...(Object.fromEntries(steps.map((type) => [type, "step"])) as Record<string, "step">),
    message_end: "answer",
    agent_settled: "end",
  },
  readers: piReaders,
  tellsPrompt: true,
  failures: [
    { pattern: /No session found/, code: "SESSION_NOT_FOUND" },
    { pattern: /No API key|not logged in/i, code: "NOT_AUTHENTICATED" },
    { pattern: /Unknown option/, code: "USAGE" },
  ],
});

/** Returns the tools that pi may use, or undefined for all of them. A read-only mode and `allowedTools` restrict together. */
function toolsOf(request: DriverRequest): readonly string[] | undefined {
  const { allowedTools } = request;
  if (!isReadOnly(request)) return allowedTools;
  const tools = readingTools.filter((tool) => allowedTools?.includes(tool) ?? true);
  if (tools.length > 0) return tools;
  throw usageError(`pi has only ${readingTools.join(", ")} in a read-only mode, and allowedTools names none of them.`);
}

function command(request: DriverRequest): DriverCommand {
  const { resume, fork } = request;
  const args = ["-p", "--mode", "json"];
  // Pass a prompt that begins with `@` on stdin: as an argument, it would name a file to read.
  const built: DriverCommand = { args, losses: [], ...(request.prompt.startsWith("@") && { promptVia: "stdin" }) };
  loseAskMode(request, built, "pi");
  const tools = toolsOf(request);
  if (tools) args.push("--tools", tools.join(","));
  if (!isReadOnly(request) && (request.permissionMode === "default" || request.permissionMode === "acceptEdits"))
    built.losses.push({ option: "permissionMode", reason: "pi asks nobody: it may do everything." });
  if (request.disallowedTools?.length) args.push("--exclude-tools", request.disallowedTools.join(","));
  if (request.trust) args.push("--approve");
  if (request.model !== undefined) args.push("--model", request.model);
  const { effort } = request;
  if (effort) args.push("--thinking", effort === "none" ? "off" : effort);
  if (resume === true) args.push("--continue");
  else if (resume !== undefined) args.push(fork ? "--fork" : "--session", resume);
  if (resume === true && fork) throw usageError("pi forks a session by its id: give it as resume.");
  if (request.systemPrompt !== undefined) args.push("--system-prompt", request.systemPrompt);
  if (request.appendSystemPrompt !== undefined) args.push("--append-system-prompt", request.appendSystemPrompt);
  for (const path of request.images ?? []) args.push(`@${path}`);
  return built;
}
