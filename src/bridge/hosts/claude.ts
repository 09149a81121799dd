// Claude Code, as of 2.1.
import { hookNames } from "../event.ts";
import { claudeFormat } from "./claude-format.ts";

export const claude = claudeFormat({
  name: "claude",
  events: hookNames,
  asks: true,
  allows: true,
  changesRequests: true,
});
