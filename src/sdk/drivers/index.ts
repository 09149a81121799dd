// The table of drivers: a CLI is one row.
import type { UnifiedTool } from "../unified.ts";
import { cursorDriver } from "./cursor.ts";
import type { AgentDriver } from "./driver.ts";

export const drivers = { cursor: cursorDriver } as unknown as Readonly<Record<UnifiedTool, AgentDriver>>;
