// Codex, as of 0.166: Claude's format, parsed more strictly. A hook that asks, or that allows a call unchanged, counts as
// failed there, and a failed hook blocks nothing.
import { codexHookNames } from "../event.ts";
import { claudeFormat, sameNames } from "./claude-format.ts";

/** Parses and answers hook calls of Codex. */
export const codex = claudeFormat({
  name: "codex",
  events: sameNames(codexHookNames),
  asks: false,
  allows: false,
  changesRequests: false,
});
