// Drives Codex: `codex exec --json`.
import type { FrameType } from "../../protocol/frame-shapes.ts";
import { codexDecoder } from "./codex-events.ts";
import type { AgentDriver, DriverCommand, DriverRequest } from "./driver.ts";
import { known, losePrompts, refuseToolLists, usualCapabilities } from "./driver.ts";

const frames = new Map<string, FrameType>([
  ["thread.started", known],
  ["turn.started", known],
  ["item.started", known],
  ["item.updated", known],
  ["item.completed", { ...known, isForwardable: true }],
  ["error", known],
  ["turn.completed", { ...known, isTerminal: true }],
  ["turn.failed", { ...known, isTerminal: true }],
]);

export const codexDriver: AgentDriver = {
  tool: "codex",
  programs: ["codex"],
  pathVariable: "CODEX_PATH",
  capabilities: () => ({ ...usualCapabilities, partialText: false, systemPrompt: false, permissionCallback: false }),
  command,
  frames,
  decoder: codexDecoder,
  failures: [
    { pattern: /Not inside a trusted directory/, code: "UNTRUSTED" },
    { pattern: /Not logged in|401 Unauthorized/, code: "NOT_AUTHENTICATED" },
    { pattern: /no rollout found|[Ss]ession not found|No saved session/, code: "SESSION_NOT_FOUND" },
    { pattern: /unexpected argument/, code: "USAGE" },
  ],
};

function command(request: DriverRequest): DriverCommand {
  const { permissionMode, resume, fork, connection } = request;
  const isForced = permissionMode === "force" || permissionMode === "bypassPermissions";
  const args = ["exec"];
  const made: DriverCommand = { args, losses: [] };
  if (resume !== undefined) args.push(fork ? "fork" : "resume");
  args.push("--json");
  if (isForced || request.trust) args.push("--skip-git-repo-check");
  // As settings, because the subcommands know fewer flags.
  const set = (key: string, value: unknown) => args.push("-c", `${key}=${JSON.stringify(value)}`);
  if (isForced) args.push("--dangerously-bypass-approvals-and-sandbox");
  else if (permissionMode === "acceptEdits") set("sandbox_mode", "workspace-write");
  else if (permissionMode === "plan") set("sandbox_mode", "read-only");
  if (request.addDirs) set("sandbox_workspace_write.writable_roots", request.addDirs);
  if (request.model !== undefined) args.push("--model", request.model);
  for (const path of request.images ?? []) args.push(`--image=${path}`);
  if (connection?.mcp) {
    const { name, command: words } = connection.mcp;
    set(`mcp_servers.${name}.command`, words[0]);
    set(`mcp_servers.${name}.args`, words.slice(1));
    // Who hands over tools wants them to be used.
    set(`mcp_servers.${name}.default_tools_approval_mode`, "approve");
  }
  refuseToolLists(request, "codex");
  losePrompts(request, made, "codex exec has no flag for it: write it into AGENTS.md.");
  if (request.partial)
    made.losses.push({ option: "partial", reason: "codex exec reports texts only when they are complete." });
  if (resume === true) args.push("--last");
  else if (resume !== undefined) args.push(resume);
  return made;
}
