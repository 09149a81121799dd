// The table of agents: those of this package, and those that `defineAgent` added.
import { usageError } from "../../protocol/error-codes.ts";
import type { BuiltInTool, UnifiedTool } from "../unified.ts";
import { claudeDriver } from "./claude.ts";
import { codexDriver } from "./codex.ts";
import { cursorDriver } from "./cursor.ts";
import { agents } from "./define-agent.ts";
import type { AgentDriver } from "./driver.ts";
import { geminiDriver } from "./gemini.ts";
import { opencodeDriver } from "./opencode.ts";
import { piDriver } from "./pi.ts";

export const drivers: Readonly<Record<BuiltInTool, AgentDriver>> = {
  cursor: cursorDriver,
  claude: claudeDriver,
  codex: codexDriver,
  gemini: geminiDriver,
  opencode: opencodeDriver,
  pi: piDriver,
};

/** Throws a UserError for an agent that is not known. */
export function driverOf(tool: UnifiedTool): AgentDriver {
  const driver = agents.get(tool);
  if (driver) return driver;
  throw usageError(`'${tool}' is not known. The agents are ${agentNames().join(", ")}.`);
}

export function agentNames(): string[] {
  return [...new Set([...Object.keys(drivers), ...agents.keys()])];
}
