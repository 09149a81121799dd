// Which tools a run has: all, or fewer by mode and by flag.
import { builtInTools, findTool } from "../agent/tools/index.ts";
import type { Tool } from "../agent/tools/tool.ts";
import { UserError } from "../protocol/error-codes.ts";
import { nearestName } from "../text/nearest.ts";
import { type FlagValues, flagList } from "../cli/flags.ts";
import type { PermissionMode, Setup } from "./setup.ts";

/** Tools that the CLI of 2025 did not have. */
const newer: readonly string[] = ["task", "askQuestion", "createPlan"];

/** `hasServers`: names may also be of tools that are known only when servers run. */
type ChoicePlace = Pick<Setup, "mode" | "compat"> & { hasServers: boolean };

/** Plan and ask mode keep to what changes nothing; the flags narrow further. */
export function chooseTools(flags: FlagValues, { mode, compat, hasServers }: ChoicePlace): readonly Tool[] {
  const allowed = named(flags, "allowed-tools", hasServers);
  const disallowed = named(flags, "disallowed-tools", hasServers);
  const readOnly = mode === "plan" || mode === "ask";
  return builtInTools.filter((tool) => {
    if (compat === "2025" && newer.includes(tool.wire)) return false;
    if (tool.wire === "createPlan" && mode !== "plan") return false;
    return (!readOnly || tool.readOnly) && (!allowed || allowed.includes(tool)) && !disallowed?.includes(tool);
  });
}

function named(flags: FlagValues, flag: string, hasServers: boolean): Tool[] | undefined {
  if (!flags.has(flag)) return undefined;
  const names = flagList(flags, flag)
    .flatMap((list) => list.split(","))
    .map((name) => name.trim())
    .filter(Boolean);
  return names.flatMap((name) => {
    const tool = findTool(builtInTools, name);
    if (!tool && hasServers && isOfServer(name)) return [];
    if (!tool) throw unknownTool(flag, name);
    // A wire name stands for all tools that share it: `edit` means Write and Edit.
    return name === tool.wire ? builtInTools.filter((each) => each.wire === name) : [tool];
  });
}

/** `docs-search`, `docs:*`, `mcp` for all of them, and what reads their resources. */
function isOfServer(name: string): boolean {
  return /[:-]/.test(name) || /^(mcp|listMcpResources|readMcpResource)$/i.test(name);
}

function unknownTool(flag: string, name: string): UserError {
  const names = builtInTools.map((tool) => tool.name);
  const near = nearestName(name, names);
  const hint = near ? ` Did you mean ${near}?` : "";
  return new UserError("USAGE", `--${flag}: there is no tool '${name}'.${hint} Tools: ${names.join(", ")}.`);
}

/** What of the servers' tools a run has: fewer by mode and by flag, like its own. */
export function chooseServerTools(tools: readonly Tool[], flags: FlagValues, mode: PermissionMode): readonly Tool[] {
  const readOnly = mode === "plan" || mode === "ask";
  const names = (flag: string) => flagList(flags, flag).flatMap((list) => list.split(",").map((name) => name.trim()));
  const isNamed = (tool: Tool, list: readonly string[]) => list.some((name) => isCalled(tool, name));
  return tools.filter(
    (tool) =>
      (!readOnly || tool.readOnly) &&
      (!flags.has("allowed-tools") || isNamed(tool, names("allowed-tools"))) &&
      !isNamed(tool, names("disallowed-tools")),
  );
}

/** `docs-search`, `docs:search`, `docs:*`, and `mcp` for all of them, whatever the case. */
function isCalled({ name, wire, mcp }: Tool, wanted: string): boolean {
  const names = [name, wire, ...(mcp ? [`${mcp.server}:${mcp.tool}`, `${mcp.server}:*`] : [])];
  return names.some((each) => each.toLowerCase() === wanted.toLowerCase());
}
