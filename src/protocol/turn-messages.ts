// Builds messages of the turn contract, for programs that drive a turn.
import type { TurnCall, TurnMessage } from "./turn-contract.ts";

/** Creates a message of the model from its text and its tool calls. */
export function assistantMessage(content: string, calls: readonly TurnCall[]): TurnMessage {
  return { role: "assistant", content, ...(calls.length > 0 && { tool_calls: calls }) };
}

export function toolMessage({ id, name }: Pick<TurnCall, "id" | "name">, content: string): TurnMessage {
  return { role: "tool", name, tool_call_id: id, content };
}

/**
 * Builds the prompt of a turn for a CLI that takes one prompt and no messages: the user's last message, followed by the results
 * of the tools called since. Returns undefined if the user said nothing.
 */
export function buildTurnPrompt(messages: readonly TurnMessage[]): string | undefined {
  const last = messages.findLastIndex(({ role }) => role === "user");
  const asked = messages[last]?.content;
  if (asked === undefined || asked.trim() === "") return undefined;
  const calls = new Map(messages.flatMap(({ tool_calls = [] }) => tool_calls.map((call) => [call.id, call] as const)));
  const results = messages.slice(last + 1).flatMap(({ role, name, tool_call_id, content }) => {
    if (role !== "tool") return [];
    const call = calls.get(tool_call_id ?? "");
    return [`${call?.name ?? name ?? "a tool"} ${JSON.stringify(call?.args ?? {})}\n${content}`];
  });
  return results.length === 0
    ? asked
    : [asked, "These tools have been called for this; their results:", ...results].join("\n\n");
}
