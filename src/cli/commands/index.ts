// The table of commands. One without `load` is known, but not built yet: it says so.
import type { Flag } from "../flags.ts";
import type { Invocation } from "../main.ts";

export type Command = {
  name: string;
  aliases?: readonly string[];
  summary: string;
  /** What may follow it; none: nothing. */
  operands?: string;
  flags?: readonly Flag[];
  /** General flags that it heeds. */
  uses?: readonly string[];
  examples?: readonly string[];
  /** The exit code comes back. */
  load?(): Promise<(invocation: Invocation) => Promise<number>>;
};

const format: Flag = {
  name: "format",
  value: "<format>",
  choices: ["text", "json"],
  group: "Output",
  help: "text (default) or json",
};

export const commands: readonly Command[] = [
  { name: "agent", operands: "[prompt...]", summary: "Start the agent (the default command)" },
  {
    name: "login",
    uses: ["api-key", "model"],
    operands: "[vendor]",
    summary: "Save a vendor's API key",
    examples: ["login", "login anthropic", "echo $KEY | courser login openai"],
    load: async () => (await import("./login.ts")).login,
  },
  {
    name: "logout",
    operands: "[vendor]",
    summary: "Forget saved keys",
    load: async () => (await import("./login.ts")).logout,
  },
  {
    name: "status",
    uses: ["model", "api-key", "endpoint"],
    aliases: ["whoami"],
    summary: "Who is logged in, and where the key comes from",
    flags: [format],
    load: async () => (await import("./status.ts")).status,
  },
  {
    name: "about",
    uses: ["model"],
    summary: "Version, system and model",
    flags: [format],
    load: async () => (await import("./about.ts")).about,
  },
  {
    name: "models",
    uses: ["model", "api-key"],
    summary: "List the models",
    flags: [format],
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
    uses: ["force"],
    summary: "Put courser, cursor-agent and agent into ~/.local/bin",
    load: async () => (await import("./install.ts")).install,
  },
  {
    name: "uninstall",
    summary: "Take them away again",
    load: async () => (await import("./install.ts")).uninstall,
  },
  {
    name: "help",
    operands: "[command]",
    summary: "Help, also for a command",
    load: async () => {
      const { help } = await import("./help.ts");
      return async (invocation) => help(invocation, invocation.line.words[0]);
    },
  },
  { name: "create-chat", summary: "Create an empty chat and print its id" },
  { name: "ls", summary: "List chat sessions" },
  { name: "resume", summary: "Resume the latest chat session" },
  { name: "acp", summary: "Serve the Agent Client Protocol on stdio" },
  { name: "mcp", operands: "[command]", summary: "Manage MCP servers" },
  { name: "sandbox", operands: "[command]", summary: "Configure the sandbox, or run a command in it" },
  { name: "install-shell-integration", summary: "Install shell integration to ~/.zshrc" },
  { name: "uninstall-shell-integration", summary: "Remove shell integration from ~/.zshrc" },
];
