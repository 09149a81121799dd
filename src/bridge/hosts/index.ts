// The table of hosts, and detection of the host that sent a payload.

import { isObject } from "../../json/object.ts";
import { isHookEvent } from "../../protocol/hook-events.ts";
import { nearestName } from "../../text/nearest.ts";
import { type HostName, hostNames } from "../event.ts";
import { BridgeError, type Host } from "../host.ts";
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { cursor } from "./cursor.ts";
import { gemini, geminiEvents } from "./gemini.ts";

/** The supported hosts, by name. */
export const hosts: Readonly<Record<HostName, Host>> = { cursor, claude, codex, gemini };

/**
 * Detects the host that sent a payload. The spelling of the event comes first: payloads for hooks from Claude's settings
 * that Courser runs have Cursor's fields too. Codex differs from Claude in what it always sends: the turn id; at the start
 * of a session, where there is no turn yet, the model and the permission mode; at its end a transcript named `rollout-…`, or
 * null. Gemini has names of its own, and a time where it has not.
 */
export function detectHost(payload: unknown): HostName | undefined {
  if (!isObject(payload)) return undefined;
  const { hook_event_name: name, cursor_version, turn_id, session_id, transcript_path } = payload;
  const { model, permission_mode, timestamp } = payload;
  if (typeof name !== "string") return undefined;
  if (!/^[A-Z]/.test(name)) return isHookEvent(name) || typeof cursor_version === "string" ? "cursor" : undefined;
  if (Object.hasOwn(geminiEvents, name) && (typeof timestamp === "string" || !isOfClaude(name))) return "gemini";
  const transcript = typeof transcript_path === "string" ? transcript_path : "";
  if (typeof turn_id === "string" || /[\\/]rollout-[^\\/]*$/.test(transcript)) return "codex";
  const isStart = name === "SessionStart" && typeof model === "string" && typeof permission_mode === "string";
  if (isStart || (name === "SessionEnd" && transcript_path === null)) return "codex";
  return typeof session_id === "string" || transcript !== "" ? "claude" : undefined;
}

function isOfClaude(name: string): boolean {
  return Object.hasOwn(claude.events, name);
}

/** Reads `--host NAME` or `--host=NAME`; undefined if there is none. */
export function hostFromArguments(argv: readonly string[]): HostName | undefined {
  const index = argv.findIndex((word) => word === "--host" || word.startsWith("--host="));
  if (index < 0) return undefined;
  const word = argv[index]!;
  return hostNamed(word === "--host" ? (argv[index + 1] ?? "") : word.slice("--host=".length));
}

export function hostNamed(name: string): HostName {
  const found = hostNames.find((each) => each === name);
  if (found) return found;
  const meant = nearestName(name, hostNames);
  const list = meant ? `Did you mean ${meant}?` : `The hosts are ${hostNames.join(", ")}.`;
  throw new BridgeError("HOST", `unknown host ${JSON.stringify(name.slice(0, 60))}. ${list}`);
}
