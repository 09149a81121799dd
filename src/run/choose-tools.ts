// Chooses the tools of a run: all of them, or fewer by mode and by flag.
import { builtInTools, findTool } from "../agent/tools/index.ts";
import type { Tool } from "../agent/tools/tool.ts";
import { type UserError, usageError } from "../protocol/error-codes.ts";
import { profileOf } from "../protocol/profiles.ts";
import type { PermissionMode, RunRequest } from "../protocol/run.ts";
import { nearestName } from "../text/nearest.ts";
import type { Setup } from "./setup.ts";

/** The fields of a request that select tools. */
export type ToolWish = Pick<RunRequest, "allowedTools" | "disallowedTools" | "compat">;

/** How to choose tools. With `hasServers`, a name may be that of a tool of an MCP server that is not running yet. */
type ToolChoice = { mode: PermissionMode; hasServers: boolean };

/** Returns the built-in tools: only read-only ones in plan and ask mode, narrowed further by the request. */
export function chooseTools(wish: ToolWish, { mode, hasServers }: ToolChoice): readonly Tool[] {
  const { missingTools } = profileOf(wish.compat);
  const allowed = toolsByName(wish.allowedTools, "allowed-tools", hasServers);
  const disallowed = toolsByName(wish.disallowedTools, "disallowed-tools", hasServers);
  const readOnly = mode === "plan" || mode === "ask";
  return builtInTools.filter((tool) => {
    if (missingTools.includes(tool.wire)) return false;
    if (tool.wire === "createPlan" && mode !== "plan") return false;
    return (!readOnly || tool.readOnly) && (!allowed || allowed.includes(tool)) && !disallowed?.includes(tool);
  });
}

/** Returns tools that would always be refused: web access without an allowing rule and without anyone to ask. */
export function closedTools(
  { request, settings, rules, asking }: Pick<Setup, "request" | "settings" | "rules" | "asking">,
  mode: PermissionMode,
): string[] {
  const isReviewed = request.autoReview || settings.approvalMode === "auto-review";
  if (mode === "force" || isReviewed || request.askCommand !== undefined || asking.can("permission")) return [];
  if (rules.some((rule) => rule.kind === "WebFetch" && rule.verdict === "allow")) return [];
  return settings.raw["autoAcceptWebSearch"] === true ? ["WebFetch"] : ["WebFetch", "WebSearch"];
}

function toolsByName(names: readonly string[] | undefined, flag: string, hasServers: boolean): Tool[] | undefined {
  return names?.flatMap((name) => {
    const tool = findTool(builtInTools, name);
    if (!tool && hasServers && isOfServer(name)) return [];
    if (!tool) throw unknownTool(flag, name);
    // A name on the wire stands for all tools that share it: `edit` for Write and Edit.
    return name === tool.wire ? builtInTools.filter((each) => each.wire === name) : [tool];
  });
}

/** Matches `docs-search`, `docs:*`, `mcp` for all MCP tools, and the resource tools. */
function isOfServer(name: string): boolean {
  return /[:-]/.test(name) || /^(mcp|listMcpResources|readMcpResource)$/i.test(name);
}

function unknownTool(flag: string, name: string): UserError {
  const names = builtInTools.map((tool) => tool.name);
  const near = nearestName(name, names);
  const hint = near ? ` Did you mean ${near}?` : "";
  return usageError(`--${flag}: unknown tool '${name}'.${hint} Tools: ${names.join(", ")}.`);
}

/** Filters the MCP servers' tools by mode and by flag, like the built-in ones. */
export function chooseServerTools(
  tools: readonly Tool[],
  { allowedTools, disallowedTools = [] }: ToolWish,
  mode: PermissionMode,
): readonly Tool[] {
  const readOnly = mode === "plan" || mode === "ask";
  const isNamed = (tool: Tool, list: readonly string[]) => list.some((name) => isCalled(tool, name));
  return tools.filter(
    (tool) =>
      (!readOnly || tool.readOnly) && (!allowedTools || isNamed(tool, allowedTools)) && !isNamed(tool, disallowedTools),
  );
}

/** Matches `docs-search`, `docs:search`, `docs:*`, and `mcp` for all MCP tools, ignoring case. */
function isCalled({ name, wire, mcp }: Tool, wanted: string): boolean {
  const names = [name, wire, ...(mcp ? [`${mcp.server}:${mcp.tool}`, `${mcp.server}:*`] : [])];
  return names.some((each) => each.toLowerCase() === wanted.toLowerCase());
}
