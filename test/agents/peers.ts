// The agent CLIs that are tried and recorded: where npm has them, how each finds a model on loopback, and how its model calls
// the tools that all of them have.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { UnifiedTool } from "../../src/sdk/unified.ts";
import type { ToolCallAnswer } from "../../src/testing/kit/model-server.ts";

/** Of one trial alone. `url`: of the model. */
export type Place = { workspace: string; home: string; url: string };

export type Peer = {
  package: string;
  program: string;
  /** It needs a newer Node than this package does. */
  node22?: true;
  /** What it is set up with: files in its home, and variables. */
  env(place: Place): Record<string, string>;
  /** The model it asks for. */
  model: string;
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
  /** What it cannot do, or does not tell, by the scenario that shows it. */
  limits?: Readonly<Record<string, string>>;
  /** Undefined: it knows no MCP servers. */
  mcp?(server: string, tool: string, args: object): ToolCallAnswer;
};

function put(path: string, content: string | object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
}

export const peers: Record<Exclude<UnifiedTool, "cursor">, Peer> = {
  claude: {
    package: "@anthropic-ai/claude-code@2.1.325",
    program: "claude",
    model: "claude-sonnet-4-5",
    env({ home, url }) {
      put(join(home, ".claude.json"), { hasCompletedOnboarding: true });
      return {
        ANTHROPIC_BASE_URL: url,
        ANTHROPIC_API_KEY: "on-loopback",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
        CLAUDE_CODE_MAX_RETRIES: "1",
        // It refuses to skip permissions as root outside of a container.
        IS_SANDBOX: "1",
      };
    },
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
  },
  codex: {
    package: "@openai/codex@0.169.0",
    program: "codex",
    model: "gpt-5",
    env({ home, workspace, url }) {
      const provider = `name = "loopback"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "LOOPBACK_KEY"\nrequest_max_retries = 1\nstream_max_retries = 1`;
      put(
        join(home, ".codex/config.toml"),
        `model = "gpt-5"\nmodel_provider = "loopback"\ncheck_for_update_on_startup = false\n[analytics]\nenabled = false\n[features]\nplugins = false\n[model_providers.loopback]\n${provider}\n[projects."${workspace}"]\ntrust_level = "trusted"\n`,
      );
      return { LOOPBACK_KEY: "on-loopback" };
    },
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
    mcp: (server, tool, args) => ({ name: tool, namespace: `mcp__${server}`, args }),
    limits: {
      read: "it has no tool that reads files: it reads them with commands",
    },
  },
  gemini: {
    package: "@google/gemini-cli@0.61.0",
    program: "gemini",
    model: "gemini-2.5-pro",
    env({ home, url }) {
      put(join(home, ".gemini/settings.json"), {
        security: { auth: { selectedType: "gemini-api-key" } },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false, maxAttempts: 2 },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
      });
      return {
        GEMINI_API_KEY: "on-loopback",
        GOOGLE_GEMINI_BASE_URL: url,
        GEMINI_CLI_TRUST_WORKSPACE: "true",
        GEMINI_CLI_NO_RELAUNCH: "true",
      };
    },
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
      "exit code":
        "its stream does not tell exit codes: `exitCode` is absent, and the outcome is what it says, `success`",
      "edit diff":
        "it does not tell what a file held before it was written: of a whole file only the new content is known",
      read: "its stream does not tell what was read: `content` is absent",
      fork: "it has no forks: `fork` is refused",
      canUseTool: "it takes hooks from its settings, not for one run: `canUseTool` and `hooks` are refused",
      "changed input": "it takes hooks from its settings, not for one run: `canUseTool` and `hooks` are refused",
    },
  },
  opencode: {
    package: "opencode-ai@1.18.33",
    program: "opencode",
    model: "loopback/model",
    env: ({ url }) => ({
      OPENCODE_CONFIG_CONTENT: JSON.stringify({
        autoupdate: false,
        share: "disabled",
        provider: {
          loopback: {
            npm: "@ai-sdk/openai-compatible",
            name: "loopback",
            options: { baseURL: `${url}/v1`, apiKey: "on-loopback" },
            models: {
              model: {
                name: "model",
                tool_call: true,
                attachment: true,
                modalities: { input: ["text", "image"], output: ["text"] },
                limit: { context: 128_000, output: 8000 },
              },
            },
          },
        },
      }),
      OPENCODE_DISABLE_AUTOUPDATE: "1",
      OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    }),
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
    limits: {
      429: "it repeats a request that met a rate limit for minutes, and its stream does not tell: the run ends by `timeoutMs`",
      "history import": "its sessions are in a database that is not read yet: `loadSession` refuses",
      canUseTool: "it has no hooks outside of its plugins: `canUseTool` and `hooks` are refused",
      "changed input": "it has no hooks outside of its plugins: `canUseTool` and `hooks` are refused",
    },
  },
  pi: {
    package: "@earendil-works/pi-coding-agent@0.87.1",
    program: "pi",
    node22: true,
    model: "loopback/model",
    env({ home, url }) {
      const provider = { baseUrl: `${url}/v1`, api: "openai-completions", apiKey: "on-loopback" };
      const models = [{ id: "model", input: ["text", "image"] }];
      put(join(home, ".pi/agent/models.json"), { providers: { loopback: { ...provider, models } } });
      put(join(home, ".pi/agent/settings.json"), { retry: { enabled: true, maxRetries: 1, baseDelayMs: 100 } });
      return { PI_OFFLINE: "1", PI_TELEMETRY: "0", PI_SKIP_VERSION_CHECK: "1" };
    },
    args: ["-p", "--mode", "json", "--model", "loopback/model"],
    careful: ["-p", "--mode", "json", "--tools", "read", "--model", "loopback/model"],
    shell: (command) => ({ name: "bash", args: { command } }),
    write: (path, content) => ({ name: "write", args: { path, content } }),
    read: (path) => ({ name: "read", args: { path } }),
    edit: (path, before, after) => ({ name: "edit", args: { path, edits: [{ oldText: before, newText: after }] } }),
    limits: {
      "edit diff":
        "it does not tell whether a file was there before it was written: of a whole file only the new content is known",
      "MCP tool": "it knows no MCP servers: `mcpServers` and `tools` are refused",
      canUseTool: "it has no hooks outside of its extensions: `canUseTool` and `hooks` are refused",
      "changed input": "it has no hooks outside of its extensions: `canUseTool` and `hooks` are refused",
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
