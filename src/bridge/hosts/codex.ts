// Codex, as of 0.166: Claude's format, read more strictly. A hook that asks, or that allows what it does not change,
// counts as failed there, and a failed hook stops nothing.
import { claudeFormat } from "./claude-format.ts";

export const codex = claudeFormat({
  name: "codex",
  events: [
    "SessionStart",
    "PreToolUse",
    "PostToolUse",
    "UserPromptSubmit",
    "Stop",
    "SessionEnd",
    "PreCompact",
    "SubagentStart",
    "SubagentStop",
  ],
  asks: false,
  allows: false,
});
