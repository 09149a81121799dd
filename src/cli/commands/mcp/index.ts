// The table of `mcp` commands. Help, the parser and the dispatcher read it.
import { flag, textOrJson } from "../../flags.ts";
import type { InnerCommand } from "../inner-command.ts";

const project = flag("Permissions", "--project", "Use the project's .cursor/mcp.json instead of your own");

const ofAdd = [
  flag("Run", "--url <url>", "Connect to this address instead of starting a command"),
  flag("Run", "--transport <kind>", "Transport for --url (default: what the server supports)", {
    choices: ["http", "sse"],
  }),
  flag("Run", "--env <pair>...", "An environment variable for it, NAME=VALUE (repeatable)"),
];

const port = flag("Run", "--port <port>", "Local port for the browser's callback");

const printed = { flags: [textOrJson], uses: ["workspace"] };

export const mcpCommands: readonly InnerCommand[] = [
  {
    name: "list",
    summary: "List the servers configured here, with their status",
    ...printed,
    load: async () => (await import("./list.ts")).listServers,
  },
  {
    name: "list-tools",
    summary: "List the tools of a server, with their parameters",
    operands: "<name...>",
    ...printed,
    load: async () => (await import("./list-tools.ts")).listTools,
  },
  {
    name: "enable",
    summary: "Approve a project's server in its current form, and start it from now on",
    operands: "<name...>",
    ...printed,
    load: async () => (await import("./switch.ts")).enable,
  },
  {
    name: "disable",
    summary: "Do not start a server in this workspace, or ask about it",
    operands: "<name...>",
    ...printed,
    load: async () => (await import("./switch.ts")).disable,
  },
  {
    name: "login",
    summary: "Log in to a server with the browser",
    operands: "<name...>",
    flags: [port, textOrJson],
    uses: ["workspace"],
    load: async () => (await import("./login.ts")).login,
  },
  {
    name: "logout",
    summary: "Remove the login",
    operands: "<name...>",
    ...printed,
    load: async () => (await import("./login.ts")).logout,
  },
  {
    name: "add",
    summary: "Add a server to your own mcp.json, or to the project's",
    operands: "<name> [-- command...]",
    flags: [...ofAdd, project, textOrJson],
    uses: ["header", "workspace"],
    examples: ["mcp add docs -- npx -y docs-server", "mcp add linear --url https://mcp.linear.app/mcp"],
    load: async () => (await import("./edit.ts")).add,
  },
  {
    name: "remove",
    summary: "Remove a server from it",
    operands: "<name...>",
    flags: [project, textOrJson],
    uses: ["workspace"],
    load: async () => (await import("./edit.ts")).remove,
  },
  {
    name: "serve",
    summary: "Serve MCP on stdio, so other agents can run this one",
    uses: ["workspace", "add-dir", "model", "force", "trust", "mode", "sandbox", "max-turns", "max-time", "max-cost"],
    examples: ["mcp serve --trust", "mcp serve --mode plan"],
    load: async () => (await import("./serve.ts")).serve,
  },
];
