// Which MCP servers a run has, and which of them may be started: settled before the first line, which names them.
import { resolve } from "node:path";
import { isObject } from "../json/object.ts";
import { UserError } from "../protocol/error-codes.ts";
import type { Rule } from "../protocol/permission-rule.ts";
import { readJson } from "../store/json-file.ts";
import { disabledServers, isApprovedServer } from "../store/mcp-approvals.ts";
import { type McpServer, readMcpServers, serversIn } from "../store/mcp-servers.ts";
import { nearestName } from "../text/nearest.ts";
import { type FlagValues, flagList } from "../cli/flags.ts";
import type { Invocation } from "../cli/main.ts";

export type McpStanding = "pending" | "needs-approval" | "disabled" | "failed" | "shadowed";

export type PlannedServer = { server: McpServer; standing: McpStanding };

export type McpPlan = { servers: PlannedServer[]; warnings: string[] };

export type McpSetup = { invocation: Invocation; workspace: string; configDir: string; home: string };

/** The first that may be started takes its name; one that waits for approval takes none away. */
export function planMcp(setup: McpSetup): McpPlan {
  const { flags } = setup.invocation.line;
  const warnings: string[] = [];
  const found = [...givenServers(setup, warnings), ...readMcpServers(setup, warnings)];
  checkNames(flags, found);
  const place = approvalPlace(setup);
  const disabled = new Set(found.length > 0 ? disabledServers(place) : []);
  const named = new Set(flagList(flags, "approve-mcp"));
  const taken = new Set<string>();
  const servers = found.map((server): PlannedServer => {
    const isApproved =
      server.scope !== "project" ||
      flags.has("approve-mcps") ||
      named.has(server.name) ||
      isApprovedServer(server, place);
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

export function approvalPlace({ configDir, workspace, home, invocation }: McpSetup) {
  return { configDir, workspace, home, env: invocation.env };
}

/** Tools that the user's own files, or the flag, let pass without a further question. */
export function rulesOf({ servers }: McpPlan): Rule[] {
  return servers.flatMap(({ server: { name, scope, file, definition }, standing }) => {
    if (scope === "project" || standing !== "pending") return [];
    return (definition.alwaysAllow ?? []).map((tool): Rule => {
      const pattern = `${name}:${tool}`;
      return { verdict: "allow", kind: "Mcp", pattern, text: `Mcp(${pattern})`, scope: "user", source: file };
    });
  });
}

function givenServers({ invocation, workspace }: McpSetup, warnings: string[]): McpServer[] {
  return flagList(invocation.line.flags, "mcp-config").flatMap((given) => {
    const isText = given.trimStart().startsWith("{");
    const file = isText ? "--mcp-config" : resolve(given);
    const content = isText ? parsed(given) : readJson(file);
    if (content === undefined)
      throw new UserError(
        "FILE_UNREADABLE",
        `--mcp-config: there is no file ${file}. Give a file, or the JSON itself.`,
      );
    return serversIn(content, { scope: "flag", file, folder: workspace }, warnings);
  });
}

function parsed(text: string) {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Said below: the text may hold secrets, and is not shown.
  }
  throw new UserError(
    "USAGE",
    `--mcp-config is not valid JSON. Example: --mcp-config '{"mcpServers":{"docs":{"url":"https://example.com/mcp"}}}'`,
  );
}

function checkNames(flags: FlagValues, found: readonly McpServer[]): void {
  const names = [...new Set(found.map(({ name }) => name))];
  for (const name of flagList(flags, "approve-mcp")) {
    if (names.includes(name)) continue;
    throw unknownServer(name, names, "--approve-mcp: ");
  }
}

export function unknownServer(name: string, names: readonly string[], prefix = ""): UserError {
  const near = nearestName(name, names);
  const known =
    names.length > 0 ? ` There ${names.length === 1 ? "is" : "are"} ${names.join(", ")}.` : " There are none.";
  return new UserError("USAGE", `${prefix}there is no MCP server '${name}'.${near ? ` Did you mean ${near}?` : known}`);
}
