// Claude Code's hooks, as of 2.1.
import { hookNames } from "../event.ts";
import { claudeFormat, sameNames } from "./claude-format.ts";

/** Parses and answers hook calls of Claude Code. */
export const claude = claudeFormat({
  name: "claude",
  events: sameNames(hookNames),
  asks: true,
  allows: true,
  changesRequests: true,
});
