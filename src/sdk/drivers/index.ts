// The table of drivers: one row for each CLI.
import type { UnifiedTool } from "../unified.ts";
import { claudeDriver } from "./claude.ts";
import { codexDriver } from "./codex.ts";
import { cursorDriver } from "./cursor.ts";
import type { AgentDriver } from "./driver.ts";
import { geminiDriver } from "./gemini.ts";
import { opencodeDriver } from "./opencode.ts";
import { piDriver } from "./pi.ts";

export const drivers: Readonly<Record<UnifiedTool, AgentDriver>> = {
  cursor: cursorDriver,
  claude: claudeDriver,
  codex: codexDriver,
  gemini: geminiDriver,
  opencode: opencodeDriver,
  pi: piDriver,
};
