// OpenAI's Responses API.
import type { ModelAnswer, RecordedRequest } from "../model-server.ts";
import { openaiFailure } from "./openai-chat.ts";
import { answerUsage, callsOf, createdAt, deltasOf, halves, type WireFormat } from "./said.ts";

export const openaiResponses: WireFormat = {
  stream(answer, request) {
    const sent: string[] = [];
    const event = (type: string, fields: object) =>
      sent.push(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sent.length, ...fields })}\n\n`);
    const end = responseOf(answer, request);
    const response = { ...end, status: "in_progress", output: [], usage: null, incomplete_details: null };
    event("response.created", { response });
    event("response.in_progress", { response });
    for (const [output_index, item] of end.output.entries()) {
      const place = { item_id: item.id, output_index };
      event("response.output_item.added", { output_index, item: begun(item) });
      for (const [type, fields] of deltasIn(item, answer)) event(`response.${type}`, { ...place, ...fields });
      event("response.output_item.done", { output_index, item });
    }
    event(`response.${end.status}`, { response: end });
    return sent;
  },

  whole: responseOf,

  failure: openaiFailure,
};

type Item =
  | { id: string; type: "reasoning"; summary: object[]; encrypted_content: string }
  | { id: string; type: "message"; role: "assistant"; status: string; content: object[] }
  | {
      id: string;
      type: "function_call";
      call_id: string;
      name: string;
      arguments: string;
      status: string;
      namespace?: string;
    };

function responseOf(answer: ModelAnswer, request: RecordedRequest) {
  const { model, json, number } = request;
  const { stopReason } = answer;
  const { input, output, cacheRead } = answerUsage(answer);
  const input_tokens = input + cacheRead;
  return {
    id: `resp_${number}`,
    object: "response",
    created_at: createdAt,
    model,
    status: stopReason ? "incomplete" : "completed",
    error: null,
    incomplete_details: stopReason ? { reason: stopReason } : null,
    instructions: json?.instructions ?? null,
    output: outputItems(answer, request),
    parallel_tool_calls: true,
    tool_choice: json?.tool_choice ?? "auto",
    tools: json?.tools ?? [],
    usage: {
      input_tokens,
      input_tokens_details: { cached_tokens: cacheRead },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: input_tokens + output,
    },
  };
}

function outputItems(answer: ModelAnswer, request: RecordedRequest): Item[] {
  const { number } = request;
  const text = deltasOf(answer).join("");
  const items: Item[] = [];
  if (answer.thinking)
    items.push({
      id: `rs_${number}`,
      type: "reasoning",
      summary: [{ type: "summary_text", text: answer.thinking }],
      encrypted_content: "ZW5jcnlwdGVk",
    });
  if (text)
    items.push({
      id: `msg_${number}`,
      type: "message",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [] }],
    });
  for (const [at, { id, name, json }] of callsOf(answer, request).entries())
    items.push({
      id: `fc_${number}_${at + 1}`,
      type: "function_call",
      call_id: id,
      arguments: json,
      status: "completed",
      ...splitToolName(name, request),
    });
  return items;
}

/** Splits the name of a tool in a group, such as those of an MCP server, which is called by its name in the group. */
function splitToolName(name: string, { json }: RecordedRequest): { name: string; namespace?: string } {
  for (const { name: namespace, tools } of Array.isArray(json?.tools) ? json.tools : [])
    for (const each of Array.isArray(tools) ? tools : [])
      if (name === `${namespace}__${each.name}`) return { namespace, name: each.name };
  return { name };
}

/** Returns an output item as it is first announced: still empty. */
function begun(item: Item): Item {
  switch (item.type) {
    case "reasoning":
      return { ...item, summary: [], encrypted_content: "c3RhcnQ=" };
    case "message":
      return { ...item, status: "in_progress", content: [] };
    case "function_call":
      return { ...item, status: "in_progress", arguments: "" };
  }
}

function deltasIn(item: Item, answer: ModelAnswer): [type: string, fields: object][] {
  switch (item.type) {
    case "reasoning": {
      const [part] = item.summary;
      const text = answer.thinking;
      return [
        ["reasoning_summary_part.added", { summary_index: 0, part: { ...part, text: "" } }],
        ["reasoning_summary_text.delta", { summary_index: 0, delta: text }],
        ["reasoning_summary_text.done", { summary_index: 0, text }],
        ["reasoning_summary_part.done", { summary_index: 0, part }],
      ];
    }
    case "message": {
      const [part] = item.content;
      const deltas = deltasOf(answer);
      return [
        ["content_part.added", { content_index: 0, part: { ...part, text: "" } }],
        ...deltas.map((delta): [string, object] => ["output_text.delta", { content_index: 0, delta }]),
        ["output_text.done", { content_index: 0, text: deltas.join("") }],
        ["content_part.done", { content_index: 0, part }],
      ];
    }
    case "function_call":
      return [
        ...halves(item.arguments).map((delta): [string, object] => ["function_call_arguments.delta", { delta }]),
        ["function_call_arguments.done", { arguments: item.arguments }],
      ];
  }
}
