// Adds what Codex stores in its thread file but omits from its stream: how files were changed, and the usage of one turn.
import { isObject, type JsonObject } from "../../json/object.ts";
import type { AgentEvent, EventOf, Usage } from "../../protocol/event.ts";
import type { CodexRollout } from "../sessions/codex-rollout.ts";
import { changeOf } from "../wire-calls.ts";
import { codexUsage } from "./codex-events.ts";
import type { RunPlace } from "./driver.ts";

export function codexDetails({
  env,
  since,
  resume,
}: RunPlace): (event: AgentEvent) => AgentEvent | Promise<AgentEvent> {
  let threadId = "";
  let opened: Promise<CodexRollout> | undefined;

  async function open(): Promise<CodexRollout> {
    const { CodexRollout } = await import("../sessions/codex-rollout.ts");
    const rollout = new CodexRollout(env, since);
    rollout.open(threadId);
    return rollout;
  }

  return (event) => {
    if (event.type === "init") threadId = event.sessionId;
    if (isFileChange(event)) return withChange(event, (opened ??= open()));
    const isEnding = event.type === "done" || event.type === "fail";
    if (isEnding && event.usage && resume !== undefined) return withOwnUsage(event, (opened ??= open()));
    return event;
  };
}

type Ending = EventOf<"done" | "fail">;

function isFileChange(event: AgentEvent): event is EventOf<"tool_end"> {
  if (event.type !== "tool_end" || event.outcome?.kind !== "success") return false;
  return isObject(event.carried) && event.carried.name === "file_change";
}

async function withChange(event: EventOf<"tool_end">, opened: Promise<CodexRollout>): Promise<AgentEvent> {
  const value = event.outcome!.value as JsonObject;
  const change = await (await opened).changeOf(String(value.path));
  if (!change) return event;
  const { unified_diff: diff, content } = change;
  if (typeof diff === "string") Object.assign(value, changeOf({ diff }));
  else if (typeof content === "string" && change.type === "delete")
    Object.assign(value, changeOf({ removed: content }));
  else if (typeof content === "string")
    Object.assign(value, changeOf({ added: content }), { afterFullFileContent: content });
  return event;
}

/** Computes the usage of this turn, since the stream reports that of all turns of a thread. Omits it if that is not possible. */
async function withOwnUsage(event: Ending, opened: Promise<CodexRollout>): Promise<AgentEvent> {
  const before = (await opened).usageBefore();
  const { usage, ...rest } = event;
  if (!before) return rest;
  const earlier = codexUsage(before);
  const keys = Object.keys(earlier) as (keyof Usage)[];
  const turnUsage = Object.fromEntries(keys.map((key) => [key, Math.max(0, usage![key] - earlier[key])])) as Usage;
  return { ...rest, usage: turnUsage };
}
