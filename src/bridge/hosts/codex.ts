// Codex, as of 0.166: Claude's format, read more strictly. A hook that asks, or that allows what it does not change,
// counts as failed there, and a failed hook stops nothing.
import { codexHookNames } from "../event.ts";
import { claudeFormat } from "./claude-format.ts";

export const codex = claudeFormat({
  name: "codex",
  events: codexHookNames,
  asks: false,
  allows: false,
  changesRequests: false,
});
