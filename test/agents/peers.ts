// The agent CLIs that are tried and recorded: where npm has them, how each finds a model on loopback, and how its model calls
// the tools that all of them have.
import type { UnifiedTool } from "../../src/sdk/unified.ts";
import { type AgentPlace, agentHomes } from "../../src/testing/kit/agent-homes.ts";
import type { ToolCallAnswer } from "../../src/testing/kit/model-server.ts";

/** Of one trial alone. */
export type Place = AgentPlace;

export type Peer = {
  package: string;
  program: string;
  /** It needs a newer Node than this package does. */
  node22?: true;
  /** What it is set up with: files in its home, and variables. */
  env(place: Place): Record<string, string>;
  /** The model it asks for. */
  model: string;
  /** A model whose effort can be set. Default: `model`. */
  effortModel?: string;
  /** Words of a run that may do everything, without the prompt: for recordings of its stream. */
  args: readonly string[];
  /** Words of a run that may do little. */
  careful: readonly string[];
  /** Put before the prompt. */
  promptFlag?: string;
  shell(command: string): ToolCallAnswer;
  write(path: string, content: string): ToolCallAnswer;
  read?(path: string): ToolCallAnswer;
  edit(path: string, before: string, after: string): ToolCallAnswer;
  /** Undefined: it takes no subagents for one run. */
  subagent?(name: string, prompt: string): ToolCallAnswer;
  /** What it cannot do, or does not tell, by the scenario that shows it. */
  limits?: Readonly<Record<string, string>>;
  /** Limits that some trials do not show. */
  occasionalLimits?: Readonly<Record<string, string>>;
  /** Undefined: it knows no MCP servers. */
  mcp?(server: string, tool: string, args: object): ToolCallAnswer;
};

export const peers: Record<Exclude<UnifiedTool, "cursor">, Peer> = {
  claude: {
    package: "@anthropic-ai/claude-code@2.1.325",
    program: "claude",
    model: "claude-sonnet-4-5",
    effortModel: "claude-opus-4-6",
    env: (place) => agentHomes.claude(place).env,
    args: [
      "-p",
      "--verbose",
      "--output-format",
      "stream-json",
      "--include-partial-messages",
      "--permission-mode",
      "bypassPermissions",
    ],
    careful: ["-p", "--verbose", "--output-format", "stream-json"],
    shell: (command) => ({ name: "Bash", args: { command, description: "Run it" } }),
    write: (path, content) => ({ name: "Write", args: { file_path: path, content } }),
    read: (path) => ({ name: "Read", args: { file_path: path } }),
    edit: (path, before, after) => ({
      name: "Edit",
      args: { file_path: path, old_string: before, new_string: after },
    }),
    mcp: (server, tool, args) => ({ name: `mcp__${server}__${tool}`, args }),
    subagent: (name, prompt) => ({ name: "Agent", args: { subagent_type: name, description: "Look", prompt } }),
  },
  codex: {
    package: "@openai/codex@0.169.0",
    program: "codex",
    model: "gpt-5",
    env: (place) => agentHomes.codex(place).env,
    args: ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
    careful: ["exec", "--json", "--skip-git-repo-check"],
    shell: (command) => ({ name: "exec_command", args: { cmd: command } }),
    // Its own program for patches, which it then takes over from the shell.
    write: (path, content) => ({
      name: "exec_command",
      args: { cmd: patchLine(`*** Add File: ${path}`, "", content) },
    }),
    edit: (path, before, after) => ({
      name: "exec_command",
      args: { cmd: patchLine(`*** Update File: ${path}\n@@`, before, after) },
    }),
    mcp: (server, tool, args) => ({ name: `mcp__${server}__${tool}`, args }),
    subagent: (name, prompt) => ({
      name: "multi_agent_v1__spawn_agent",
      args: { agent_type: name, message: prompt },
    }),
    limits: {
      "stored sessions": "`renameSession` and `deleteSession` refuse",
      read: "it reads files with commands",
    },
    occasionalLimits: {
      budget: "`budget.turns` may be exceeded by one request (in about half of the trials)",
    },
  },
  gemini: {
    package: "@google/gemini-cli@0.61.0",
    program: "gemini",
    model: "gemini-2.5-pro",
    env: (place) => agentHomes.gemini(place).env,
    args: ["--output-format", "stream-json", "--approval-mode", "yolo", "--model", "gemini-2.5-pro"],
    careful: ["--output-format", "stream-json", "--model", "gemini-2.5-pro"],
    promptFlag: "-p",
    shell: (command) => ({ name: "run_shell_command", args: { command, description: "Run it" } }),
    write: (path, content) => ({ name: "write_file", args: { file_path: path, content } }),
    read: (path) => ({ name: "read_file", args: { file_path: path } }),
    edit: (path, before, after) => ({
      name: "replace",
      args: { file_path: path, instruction: "Change it", old_string: before, new_string: after },
    }),
    mcp: (server, tool, args) => ({ name: `mcp_${server}_${tool}`, args }),
    limits: {
      effort: "a listed loss",
      agents: "a listed loss",
      "stored sessions": "`renameSession`, `deleteSession` and `forkSession` refuse",
      "exit code": "`exitCode` is absent, and the outcome is what it says, `success`",
      "edit diff": "of a whole file only the new content is known",
      read: "`content` is absent",
      fork: "refused",
    },
  },
  opencode: {
    package: "opencode-ai@1.18.33",
    program: "opencode",
    model: "loopback/model",
    env: (place) => agentHomes.opencode(place).env,
    args: ["run", "--format", "json", "--thinking", "--auto", "--model", "loopback/model"],
    careful: ["run", "--format", "json", "--thinking", "--agent", "plan", "--model", "loopback/model"],
    shell: (command) => ({ name: "bash", args: { command, description: "Run it" } }),
    write: (path, content) => ({ name: "write", args: { filePath: path, content } }),
    read: (path) => ({ name: "read", args: { filePath: path } }),
    edit: (path, before, after) => ({
      name: "edit",
      args: { filePath: path, oldString: before, newString: after },
    }),
    mcp: (server, tool, args) => ({ name: `${server}_${tool}`, args }),
    subagent: (name, prompt) => ({ name: "task", args: { subagent_type: name, description: "Look", prompt } }),
    limits: {
      "stored sessions": "`renameSession` and `deleteSession` refuse",
      429: "it repeats the request for minutes: the run ends by `timeoutMs`",
      "permissions.deny": "refused",
      canUseTool: "`canUseTool` and `hooks` are refused",
      "changed input": "`canUseTool` and `hooks` are refused",
    },
    occasionalLimits: {
      budget: "on a busy machine it sends its next request before its call is seen",
    },
  },
  pi: {
    package: "@earendil-works/pi-coding-agent@0.87.1",
    program: "pi",
    node22: true,
    model: "loopback/model",
    env: (place) => agentHomes.pi(place).env,
    args: ["-p", "--mode", "json", "--model", "loopback/model"],
    careful: ["-p", "--mode", "json", "--tools", "read", "--model", "loopback/model"],
    shell: (command) => ({ name: "bash", args: { command } }),
    write: (path, content) => ({ name: "write", args: { path, content } }),
    read: (path) => ({ name: "read", args: { path } }),
    edit: (path, before, after) => ({ name: "edit", args: { path, edits: [{ oldText: before, newText: after }] } }),
    limits: {
      agents: "a listed loss",
      "edit diff": "of a whole file only the new content is known",
      "MCP tool": "`mcpServers` and `tools` are refused",
      "permissions.deny": "refused",
      canUseTool: "`canUseTool` and `hooks` are refused",
      "changed input": "`canUseTool` and `hooks` are refused",
    },
  },
};

function patchLine(head: string, before: string, after: string): string {
  const lines = (text: string, sign: string) =>
    text === ""
      ? []
      : text
          .replace(/\n$/, "")
          .split("\n")
          .map((line) => sign + line);
  const patch = [head, ...lines(before, "-"), ...lines(after, "+")];
  return `apply_patch <<'EOF'\n*** Begin Patch\n${patch.join("\n")}\n*** End Patch\nEOF\n`;
}
