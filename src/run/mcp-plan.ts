// Plans the MCP servers of a run and which may be started, before the `init` event, which names them.

import { isObject } from "../json/object.ts";
import { UserError, usageError } from "../protocol/error-codes.ts";
import type { Rule } from "../protocol/permission-rule.ts";
import type { RunRequest } from "../protocol/run.ts";
import { readJson } from "../store/json-file.ts";
import { disabledServers, isApprovedServer } from "../store/mcp-approvals.ts";
import { type McpServer, readMcpServers, serversIn } from "../store/mcp-servers.ts";
import { type Plugin, serverName, withPluginRoot } from "../store/plugins/read-plugin.ts";
import { nearestName } from "../text/nearest.ts";
import { programName } from "../text/program-name.ts";

export type McpStanding = "pending" | "needs-approval" | "disabled" | "failed" | "shadowed";

export type PlannedServer = { server: McpServer; standing: McpStanding };

export type McpPlan = { servers: PlannedServer[]; warnings: string[] };

/** The input of the plan, which both a run and the `mcp` commands provide. */
export type McpSetup = Pick<RunRequest, "mcpConfigs" | "approvedServers"> & {
  env: NodeJS.ProcessEnv;
  workspace: string;
  configDir: string;
  home: string;
  plugins?: readonly Plugin[];
};

/**
 * Decides which MCP servers to start. If several have the same name, the first that may be started is used; one that
 * waits for approval does not hide others.
 */
export function planMcp(setup: McpSetup): McpPlan {
  const { approvedServers = [] } = setup;
  const warnings: string[] = [];
  const found = [
    ...givenServers(setup, warnings),
    ...readMcpServers(setup, warnings),
    ...(setup.plugins ?? []).flatMap((plugin) => pluginServers(plugin, warnings)),
  ];
  checkNames(approvedServers, found);
  const disabled = new Set(found.length > 0 ? disabledServers(setup) : []);
  const taken = new Set<string>();
  const servers = found.map((server): PlannedServer => {
    const isApproved =
      server.scope !== "project" ||
      approvedServers === "all" ||
      approvedServers.includes(server.name) ||
      isApprovedServer(server, setup);
    const isDisabled = server.definition.disabled === true || (disabled.has(server.name) && server.scope !== "flag");
    const standing = taken.has(server.name)
      ? "shadowed"
      : isDisabled
        ? "disabled"
        : server.problem !== undefined
          ? "failed"
          : isApproved
            ? "pending"
            : "needs-approval";
    if (standing === "pending") taken.add(server.name);
    return { server, standing };
  });
  return { servers, warnings };
}

/** Returns rules for tools that the user's own files, or the flag, allow without asking. */
export function rulesOf({ servers }: McpPlan): Rule[] {
  return servers.flatMap(({ server: { name, scope, file, definition }, standing }) => {
    if (scope === "project" || standing !== "pending") return [];
    return (definition.alwaysAllow ?? []).map((tool): Rule => {
      const pattern = `${name}:${tool}`;
      return { verdict: "allow", kind: "Mcp", pattern, text: `Mcp(${pattern})`, scope: "user", source: file };
    });
  });
}

function givenServers({ mcpConfigs = [], workspace }: McpSetup, warnings: string[]): McpServer[] {
  return mcpConfigs.flatMap((given) => {
    const isText = given.trimStart().startsWith("{");
    const file = isText ? "--mcp-config" : given;
    const content = isText ? parseConfig(given) : readJson(file);
    if (content === undefined)
      throw new UserError("FILE_UNREADABLE", `--mcp-config: file not found: ${file}. Pass a file or inline JSON.`);
    return serversIn(content, { scope: "flag", file, folder: workspace }, warnings);
  });
}

/** Returns the servers of a plugin, which were approved together with it. */
function pluginServers(plugin: Plugin, warnings: string[]): McpServer[] {
  return plugin.servers.flatMap(({ file, content }) =>
    serversIn(withPluginRoot(content, plugin), { scope: plugin.scope, file, folder: plugin.root }, warnings).map(
      (server) => ({ ...server, name: serverName(plugin, server.name) }),
    ),
  );
}

function parseConfig(text: string) {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // The error is thrown below without the text, which may contain secrets.
  }
  throw usageError(
    `--mcp-config is not valid JSON. Example: --mcp-config '{"mcpServers":{"docs":{"url":"https://example.com/mcp"}}}'`,
  );
}

function checkNames(approved: NonNullable<McpSetup["approvedServers"]>, found: readonly McpServer[]): void {
  const names = [...new Set(found.map(({ name }) => name))];
  for (const name of approved === "all" ? [] : approved) {
    if (names.includes(name)) continue;
    throw unknownServer(name, names, "--approve-mcp: ");
  }
}

export function unknownServer(name: string, names: readonly string[], prefix = ""): UserError {
  const near = nearestName(name, names);
  const known =
    names.length > 0
      ? ` There ${names.length === 1 ? "is" : "are"} ${names.join(", ")}.`
      : ` None are configured. To add one: ${programName()} mcp add <name> -- <command>`;
  return usageError(`${prefix}unknown MCP server '${name}'.${near ? ` Did you mean ${near}?` : known}`);
}
