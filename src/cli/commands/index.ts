// The table of commands.
import { flag, textOrJson } from "../flags.ts";
import type { Invocation } from "../main.ts";
import { adapterCommands } from "./adapter/index.ts";
import { configCommands } from "./config/index.ts";
import { fleetCommands } from "./fleet/index.ts";
import { hookCommands } from "./hooks/index.ts";
import type { InnerCommand } from "./inner-command.ts";
import { mcpCommands } from "./mcp/index.ts";
import { permissionCommands } from "./permissions/index.ts";
import { pluginCommands } from "./plugin/index.ts";
import { persistCommands, runCommands } from "./runs/index.ts";
import { sandboxCommands } from "./sandbox/index.ts";
import { batchFlags, serveFlags, studioFlags } from "./serve-flags.ts";
import { anyFormat, exportCommand, listFlags, sessionCommands } from "./sessions/index.ts";
import { testCommands } from "./test-commands.ts";
import { trustCommands } from "./trust/index.ts";
import { workerCommands } from "./worker/index.ts";
import { worktreeCommands } from "./worktrees/index.ts";

export type Command = Omit<InnerCommand, "load"> & {
  aliases?: readonly string[];
  verbatimAfter?: string;
  /** The original CLI has no such command: after -p it is a word of the prompt. */
  ours?: true;
  commands?: readonly InnerCommand[];
  /** The subcommand that runs if the user names none. */
  inner?: string;
  /** Loads the command, which resolves with the exit code. */
  load?(): Promise<(invocation: Invocation) => Promise<number>>;
};

export const commands: readonly Command[] = [
  { name: "agent", operands: "[prompt...]", summary: "Start the agent (the default command)" },
  {
    name: "login",
    uses: ["api-key", "model"],
    operands: "[vendor]",
    summary: "Check and save a vendor's API key",
    flags: [flag("General", "--no-verify", "Save the key without checking it with the vendor")],
    examples: ["login", "login anthropic", "echo $KEY | courser login openai"],
    load: async () => (await import("./login.ts")).login,
  },
  {
    name: "logout",
    operands: "[vendor]",
    summary: "Remove saved keys",
    load: async () => (await import("./login.ts")).logout,
  },
  {
    name: "status",
    uses: ["model", "api-key", "endpoint", "endpoint-type"],
    aliases: ["whoami"],
    summary: "Show the login status and the source of the key",
    flags: [textOrJson],
    load: async () => (await import("./status.ts")).status,
  },
  {
    name: "about",
    uses: ["model"],
    summary: "Version, system and model",
    flags: [textOrJson],
    load: async () => (await import("./about.ts")).about,
  },
  {
    name: "models",
    uses: ["model", "api-key", "endpoint", "endpoint-type"],
    operands: "[refresh [url]]",
    summary: "List the models with their context and prices; refresh: read newer prices",
    examples: ["models", "models refresh"],
    flags: [textOrJson],
    load: async () => (await import("./models.ts")).models,
  },
  {
    name: "update",
    aliases: ["upgrade"],
    summary: "Update to the latest version",
    load: async () => (await import("./update.ts")).update,
  },
  {
    name: "install",
    ours: true,
    flags: [flag("General", "-f, --force", "Replace programs of the same name that are not ours")],
    summary: "Link courser, cursor-agent and agent into ~/.local/bin",
    load: async () => (await import("./install.ts")).install,
  },
  {
    name: "uninstall",
    ours: true,
    summary: "Remove those links",
    load: async () => (await import("./install.ts")).uninstall,
  },
  {
    name: "help",
    operands: "[command]",
    summary: "Show help for a command, or a page of the documentation",
    examples: ["help", "help sessions export", "help index", "help configuration"],
    flags: [flag("General", "-a, --all", "Every command, option and variable")],
    load: async () => {
      const { help } = await import("./help.ts");
      return async (invocation) => help(invocation, invocation.line.words[0], commands);
    },
  },
  {
    name: "create-chat",
    uses: ["workspace"],
    summary: "Create an empty chat and print its id",
    load: async () => (await import("./sessions/new-chat.ts")).createEmptyChat,
  },
  {
    name: "ls",
    uses: ["workspace"],
    summary: "List chat sessions; in a terminal, choose one to resume",
    flags: listFlags,
    examples: ["ls", "ls --all --format json", 'ls --search "connection refused"'],
    load: async () => (await import("./ls.ts")).ls,
  },
  {
    name: "resume",
    uses: ["workspace", "print"],
    operands: "[prompt...]",
    summary: "Resume the latest chat session",
    load: async () => (await import("./resume.ts")).resume,
  },
  withInnerFlags({
    name: "sessions",
    ours: true,
    summary: "Show, export, import, fork, rename, rewind and delete chats",
    flags: [anyFormat],
    examples: ["sessions show 0bae", "sessions export 0bae > chat.md", "sessions delete 0bae --yes"],
    commands: sessionCommands,
    inner: "list",
  }),
  {
    ...exportCommand,
    ours: true,
    load: async () => {
      const exportSession = await exportCommand.load();
      return async (invocation) => exportSession(invocation, invocation.line.words);
    },
  },
  ...testCommands,
  withInnerFlags({
    name: "permissions",
    ours: true,
    summary: "Check, explain, list, lint and change what the agent may do",
    examples: ["permissions check 'Shell: git push -f'", "permissions lint", "permissions allow 'Shell(npm test)'"],
    commands: permissionCommands,
    inner: "list",
  }),
  withInnerFlags({
    name: "config",
    ours: true,
    summary: "List, read and change your settings",
    examples: ["config", "config get model", "config set model gpt-5", "config unset model"],
    commands: configCommands,
    inner: "list",
  }),
  withInnerFlags({
    name: "trust",
    ours: true,
    summary: "List, add and remove trusted directories",
    examples: ["trust", "trust add", "trust remove ../library"],
    commands: trustCommands,
    inner: "list",
  }),
  withInnerFlags({
    name: "hooks",
    ours: true,
    summary: "Write, install, check and test hooks for Cursor, Claude Code, Codex and Gemini CLI",
    examples: ["hooks init", "hooks install --dry-run", "hooks test preToolUse"],
    commands: hookCommands,
    inner: "list",
  }),
  {
    name: "auto",
    ours: true,
    uses: ["model", "effort", "api-key", "endpoint", "endpoint-type", "token-command", "header"],
    summary: "Answer one JSON turn from stdin with the events of the turn contract",
    flags: [flag("Output", "--stream-json", "Events as JSON lines (always on)")],
    examples: [`echo '{"type":"turn","messages":[{"role":"user","content":"hi"}]}' | courser auto --stream-json`],
    load: async () => (await import("./auto.ts")).auto,
  },
  withInnerFlags({
    name: "adapter",
    ours: true,
    summary: "Check that a CLI can be used behind the turn contract",
    verbatimAfter: "doctor",
    examples: ["adapter doctor -- agent auto --stream-json", "adapter doctor -- agent -p --output-format stream-json"],
    commands: adapterCommands,
  }),
  {
    name: "acp",
    uses: ["model", "api-key", "endpoint", "endpoint-type", "token-command", "trust", "force"],
    operands: "[login]",
    summary: "Serve the Agent Client Protocol on stdio, for editors",
    examples: ["acp", "--model sonnet acp"],
    load: async () => (await import("./acp.ts")).acp,
  },
  withInnerFlags({
    name: "mcp",
    summary: "List, approve, add and log in to MCP servers, or run as one",
    examples: ["mcp list", "mcp enable docs", "mcp add docs -- npx -y docs-server"],
    commands: mcpCommands,
    inner: "list",
  }),
  {
    ...withInnerFlags({
      name: "plugin",
      summary: "List, install, update and remove plugins",
      examples: ["plugin list", "plugin add ./my-plugin", "plugin update", "plugin remove my-plugin"],
      commands: pluginCommands,
      inner: "list",
    }),
    aliases: ["plugins"],
  },
  withInnerFlags({
    name: "sandbox",
    summary: "Configure the sandbox, or run a command in it",
    verbatimAfter: "run",
    examples: ["sandbox status", "sandbox run npm test --silent", 'sandbox run "ls -l | wc -l"'],
    commands: sandboxCommands,
  }),
  {
    ...withInnerFlags({
      name: "worktrees",
      ours: true,
      summary: "List the worktrees of runs; show, merge or remove one",
      examples: ["worktrees", "worktrees show fix-login", "worktrees merge fix-login", "worktrees remove fix-login"],
      commands: worktreeCommands,
      inner: "list",
    }),
    aliases: ["worktree"],
  },
  withInnerFlags({
    name: "runs",
    ours: true,
    summary: "List, watch, answer and stop background runs",
    examples: ["runs", "runs attach 0bae", "runs logs 0bae --follow", "runs stop 0bae"],
    commands: runCommands,
    inner: "list",
  }),
  {
    name: "batch",
    ours: true,
    uses: [
      "fleet",
      "source",
      "pool",
      "label",
      "priority",
      "on-worker-loss",
      "model",
      "force",
      "trust",
      "workspace",
      "worktree",
      "max-turns",
      "max-time",
      "fail-on",
      "cli",
    ],
    operands: "<file>",
    summary: "Execute a file of runs, one JSON line each; results as JSON lines, resumable",
    flags: batchFlags,
    examples: [
      "batch tasks.jsonl --output results.jsonl",
      "batch tasks.jsonl --output results.jsonl --concurrency 8 --max-cost 20",
      "batch tasks.jsonl --output results.jsonl --retry-failed",
    ],
    load: async () => (await import("./batch/index.ts")).batch,
  },
  {
    ...withInnerFlags({
      name: "persist",
      summary: "Sessions that outlive the terminal: start, attach, list, stop",
      examples: ['persist "make the tests pass"', "persist attach 0bae", "persist --resume 0bae"],
      commands: persistCommands,
    }),
    uses: ["resume", "model", "force", "workspace"],
    operands: "[prompt...]",
    commands: undefined,
    load: async () => (await import("./runs/persist.ts")).persist,
  },
  {
    name: "serve",
    ours: true,
    summary: "Serve this machine's runs and sessions over HTTP: REST, server-sent events, OpenAPI",
    flags: serveFlags,
    examples: ["serve", "serve --port 4096"],
    load: async () => (await import("./serve.ts")).serve,
  },
  {
    name: "studio",
    ours: true,
    summary: "Watch, start and answer runs, and read all sessions, in the browser",
    flags: studioFlags,
    examples: ["studio", "studio --no-open"],
    load: async () => (await import("./studio.ts")).studio,
  },
  withInnerFlags({
    name: "fleet",
    ours: true,
    summary: "Look after a fleet: its queue, workers, streams and limits",
    examples: ["fleet status --fleet nats://127.0.0.1:4222", "fleet limits --keep-days 14"],
    commands: fleetCommands,
    inner: "status",
  }),
  withInnerFlags({
    name: "worker",
    summary: "Execute the runs of a fleet on this machine",
    examples: ["worker start --fleet nats://127.0.0.1:4222 --concurrency 4", "worker debug"],
    commands: workerCommands,
  }),
  {
    name: "doctor",
    ours: true,
    uses: [
      "workspace",
      "model",
      "api-key",
      "endpoint",
      "endpoint-type",
      "token-command",
      "header",
      "insecure",
      "mcp-config",
    ],
    summary: "Check everything a run needs, and suggest fixes",
    flags: [flag("Model", "--online", "Also send a request to the model"), textOrJson],
    examples: ["doctor", "doctor --online", "doctor --format json"],
    load: async () => (await import("./doctor/index.ts")).doctor,
  },
  {
    name: "generate-rule",
    aliases: ["rule"],
    uses: ["workspace", "force"],
    meanings: { force: "Overwrite the rule if it exists" },
    operands: "[text...]",
    summary: "Write a project rule; asks for what is missing",
    flags: [
      flag("Run", "--name <name>", "Name of the rule: .cursor/rules/<name>.mdc"),
      flag("Run", "--description <text>", "When the rule applies; the model decides"),
      flag("Run", "--globs <patterns>", "Applies to files that match these patterns (comma-separated)"),
      flag("Run", "--always", "Applies to every conversation"),
    ],
    examples: [
      "rule",
      'rule "Use tabs." --name tabs --globs "*.go"',
      'rule "Answer in German." --name german --always',
    ],
    load: async () => (await import("./generate-rule.ts")).generateRule,
  },
  {
    name: "install-shell-integration",
    operands: "[shell]",
    summary: "Add PATH and completion to ~/.zshrc, ~/.bashrc or config.fish",
    load: async () => (await import("./shell/integration.ts")).installShellIntegration,
  },
  {
    name: "uninstall-shell-integration",
    operands: "[shell]",
    summary: "Remove them",
    load: async () => (await import("./shell/integration.ts")).uninstallShellIntegration,
  },
  {
    name: "completion",
    aliases: ["completions"],
    ours: true,
    operands: "<shell>",
    summary: "Print the completion script for zsh, bash or fish",
    examples: ["completion zsh", 'eval "$(courser completion bash)"'],
    load: async () => {
      const { completion } = await import("./shell/completion.ts");
      return async (invocation) => completion(invocation, commands);
    },
  },
];

/** Gives a command the flags of all its subcommands, each name once, because the parser does not yet know which one is meant. */
function withInnerFlags(command: Command & { commands: readonly InnerCommand[] }): Command {
  const all = [command, ...command.commands].flatMap(({ flags = [] }) => flags);
  const flags = all.filter((flag, index) => all.findIndex((other) => other.name === flag.name) === index);
  return { ...command, operands: "[command]", flags };
}
