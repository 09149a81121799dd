// Enforces `permissions.deny` for CLIs without rules of their own, in a hook before each call. Loaded only with such rules.

import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { decide, type Situation } from "../../policy/decide.ts";
import type { Need } from "../../policy/need.ts";
import { usageError } from "../../protocol/error-codes.ts";
import { parseRule } from "../../protocol/permission-rule.ts";
import { ownCallOf } from "../tool-names.ts";
import type { UnifiedTool } from "../unified.ts";
import type { CallRequest, CanUseTool } from "./hook-callbacks.ts";

type DenyRules = { deny: readonly string[]; tool: UnifiedTool; workspace: string };

/** Returns a permission callback that denies what a rule covers, and leaves everything else to `otherwise`. */
export function denying({ deny, tool, workspace }: DenyRules, otherwise: CanUseTool = () => true): CanUseTool {
  const rules = deny.map((text) => {
    const parsed = parseRule(text, { verdict: "deny", scope: "user", source: "permissions.deny" });
    if ("problem" in parsed) throw usageError(`permissions.deny: ${parsed.problem}.`);
    return parsed.rule;
  });
  return async (call, context) => {
    const refused = await denyReason(call);
    if (refused !== undefined) return { allow: false, reason: refused };
    const answer = await otherwise(call, context);
    const changed = typeof answer === "object" && answer !== null && "input" in answer ? answer.input : undefined;
    const reason = changed && (await denyReason({ ...call, input: changed }));
    return reason === undefined ? answer : { allow: false, reason };
  };

  async function denyReason(call: CallRequest): Promise<string | undefined> {
    const needs = needsOf(call, tool);
    const home = homedir();
    const place = { workspace, roots: [], home, configDir: join(home, ".cursor") };
    const situation: Situation = { ...place, mode: "force", interactive: false, sandbox: "off", rules };
    const { verdict, rule, reasons } = await decide(needs, situation);
    if (verdict !== "deny") return undefined;
    // Only apply the deny rules: the rest of our policy does not apply to another CLI.
    const isByRule = rule || (await decide(needs, { ...situation, rules: [] })).verdict !== "deny";
    return isByRule ? reasons.join(" ") : undefined;
  }
}

/** Returns what a call needs permission for, as far as its arguments show. */
function needsOf({ id, name, cliName, input, ...call }: CallRequest, tool: UnifiedTool): Need[] {
  const [, server, mcpTool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  if (server !== undefined) return [{ kind: "Mcp", target: `${server}:${mcpTool}` }];
  const { args } = ownCallOf({ type: "tool_use", id, name, input }, tool);
  const { command, path, url, workingDirectory } = args as Record<string, unknown>;
  const cwd = typeof workingDirectory === "string" ? resolve(call.cwd, workingDirectory) : call.cwd;
  const text = Object.values(input).join("\n");
  const patched = text.includes("*** Begin Patch") ? filesOfPatch(text) : [];
  const files = patched.map((target): Need => ({ kind: "Write", target, cwd, reads: true }));
  if (cliName === "apply_patch") return files;
  if (typeof command === "string" && name === "Bash") return [...files, { kind: "Shell", target: command, cwd }];
  if (typeof url === "string" && name === "WebFetch") return [{ kind: "WebFetch", target: url }];
  const kind = name === "Write" || name === "Edit" || name === "Delete" ? "Write" : "Read";
  return typeof path === "string" ? [{ kind, target: path, cwd }] : files;
}

function filesOfPatch(patch: string): string[] {
  return [...patch.matchAll(/^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\r?$/gm)].map(([, path]) => path!);
}
