// The streaming wires of the vendors, from the side that answers.
import type { Answer, RecordedRequest, ToolCallAnswer } from "./model-server.ts";

export type Wire = "anthropic" | "openai-responses" | "openai-chat" | "gemini";

export function wireOf(path: string): Wire | undefined {
  const { pathname } = new URL(path, "http://server");
  if (pathname.endsWith("/chat/completions")) return "openai-chat";
  if (pathname.endsWith("/responses")) return "openai-responses";
  if (pathname.endsWith("/messages")) return "anthropic";
  if (pathname.endsWith(":streamGenerateContent")) return "gemini";
  return undefined;
}

export const wires: Record<Wire, (answer: Answer, request: RecordedRequest) => string[]> = {
  anthropic,
  "openai-responses": openaiResponses,
  "openai-chat": openaiChat,
  gemini,
};

function deltasOf(answer: Answer): string[] {
  return typeof answer.text === "string" ? [answer.text].filter(Boolean) : [...(answer.text ?? [])];
}

type Call = Required<Omit<ToolCallAnswer, "namespace">> & { namespace: string | undefined; json: string };

function callsOf(answer: Answer): Call[] {
  return (answer.toolCalls ?? []).map((call, index) => ({
    id: call.id ?? `call_${index + 1}`,
    name: call.name,
    args: call.args,
    namespace: call.namespace,
    json: typeof call.args === "string" ? call.args : JSON.stringify(call.args),
  }));
}

function usageOf(answer: Answer): { input: number; output: number; cacheRead: number; cacheWrite: number } {
  return { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, ...answer.usage };
}

/** Arguments come in two pieces, as they do in life. */
function halves(text: string): string[] {
  const middle = Math.ceil(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter(Boolean);
}

function anthropic(answer: Answer, request: RecordedRequest): string[] {
  const sent: string[] = [];
  const event = (type: string, fields: object) =>
    sent.push(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
  const usage = usageOf(answer);
  const counted = {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
  };
  const message = {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: request.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...counted, output_tokens: 1 },
  };
  event("message_start", { message });
  event("ping", {});
  let index = 0;
  const block = (start: object, deltas: object[]) => {
    event("content_block_start", { index, content_block: start });
    for (const delta of deltas) event("content_block_delta", { index, delta });
    event("content_block_stop", { index });
    index++;
  };
  if (answer.thinking) {
    block({ type: "thinking", thinking: "", signature: "" }, [
      { type: "thinking_delta", thinking: answer.thinking },
      { type: "signature_delta", signature: "c2lnbmF0dXJl" },
    ]);
  }
  const deltas = deltasOf(answer);
  if (deltas.length > 0)
    block(
      { type: "text", text: "" },
      deltas.map((text) => ({ type: "text_delta", text })),
    );
  for (const call of callsOf(answer)) {
    block(
      { type: "tool_use", id: call.id, name: call.name, input: {} },
      halves(call.json).map((partial_json) => ({ type: "input_json_delta", partial_json })),
    );
  }
  const stop_reason = answer.stopReason ?? (answer.toolCalls?.length ? "tool_use" : "end_turn");
  event("message_delta", {
    delta: { stop_reason, stop_sequence: null },
    usage: { ...counted, output_tokens: usage.output },
  });
  event("message_stop", {});
  return sent;
}

function openaiResponses(answer: Answer, request: RecordedRequest): string[] {
  const sent: string[] = [];
  let sequence = 0;
  const event = (type: string, fields: object) =>
    sent.push(`event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...fields })}\n\n`);
  const usage = usageOf(answer);
  const response = {
    id: "resp_1",
    object: "response",
    created_at: 1_760_000_000,
    model: request.model,
    status: "in_progress",
    output: [],
  };
  event("response.created", { response });
  event("response.in_progress", { response });
  let index = 0;
  const item = (
    start: { id: string; type: string },
    inside: (place: { item_id: string; output_index: number }) => void,
    end: object,
  ) => {
    event("response.output_item.added", { output_index: index, item: start });
    inside({ item_id: start.id, output_index: index });
    event("response.output_item.done", { output_index: index, item: { ...start, ...end } });
    index++;
  };
  if (answer.thinking) {
    const summary = [{ type: "summary_text", text: answer.thinking }];
    item(
      { id: "rs_1", type: "reasoning", ...{ summary: [], encrypted_content: "c3RhcnQ=" } },
      (place) => {
        event("response.reasoning_summary_part.added", {
          ...place,
          summary_index: 0,
          part: { type: "summary_text", text: "" },
        });
        event("response.reasoning_summary_text.delta", { ...place, summary_index: 0, delta: answer.thinking });
        event("response.reasoning_summary_text.done", { ...place, summary_index: 0, text: answer.thinking });
        event("response.reasoning_summary_part.done", { ...place, summary_index: 0, part: summary[0] });
      },
      { summary, encrypted_content: "ZW5jcnlwdGVk" },
    );
  }
  const deltas = deltasOf(answer);
  if (deltas.length > 0) {
    const part = { type: "output_text", text: deltas.join(""), annotations: [] };
    item(
      { id: "msg_1", type: "message", ...{ role: "assistant", status: "in_progress", content: [] } },
      (place) => {
        event("response.content_part.added", { ...place, content_index: 0, part: { ...part, text: "" } });
        for (const delta of deltas) event("response.output_text.delta", { ...place, content_index: 0, delta });
        event("response.output_text.done", { ...place, content_index: 0, text: part.text });
        event("response.content_part.done", { ...place, content_index: 0, part });
      },
      { status: "completed", content: [part] },
    );
  }
  for (const [at, call] of callsOf(answer).entries()) {
    item(
      {
        id: `fc_${at + 1}`,
        type: "function_call",
        ...{ call_id: call.id, name: call.name, arguments: "", status: "in_progress" },
        ...(call.namespace !== undefined && { namespace: call.namespace }),
      },
      (place) => {
        for (const delta of halves(call.json)) event("response.function_call_arguments.delta", { ...place, delta });
        event("response.function_call_arguments.done", { ...place, arguments: call.json });
      },
      { arguments: call.json, status: "completed" },
    );
  }
  const input = usage.input + usage.cacheRead;
  const counted = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + usage.output,
  };
  const stopped = answer.stopReason ? "incomplete" : "completed";
  event(`response.${stopped}`, {
    response: {
      ...response,
      status: stopped,
      usage: counted,
      incomplete_details: answer.stopReason ? { reason: answer.stopReason } : null,
    },
  });
  return sent;
}

function openaiChat(answer: Answer, request: RecordedRequest): string[] {
  const sent: string[] = [];
  const base = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_760_000_000, model: request.model };
  const chunk = (delta: object, finish_reason: string | null = null) =>
    sent.push(`data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
  const usage = usageOf(answer);
  chunk({ role: "assistant", content: "" });
  if (answer.thinking) chunk({ reasoning_content: answer.thinking });
  for (const content of deltasOf(answer)) chunk({ content });
  for (const [index, call] of callsOf(answer).entries()) {
    chunk({ tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }] });
    for (const piece of halves(call.json)) chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  chunk({}, answer.stopReason ?? (answer.toolCalls?.length ? "tool_calls" : "stop"));
  const prompt_tokens = usage.input + usage.cacheRead;
  const counted = {
    prompt_tokens,
    completion_tokens: usage.output,
    total_tokens: prompt_tokens + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead },
  };
  sent.push(`data: ${JSON.stringify({ ...base, choices: [], usage: counted })}\n\n`, "data: [DONE]\n\n");
  return sent;
}

function gemini(answer: Answer, request: RecordedRequest): string[] {
  const usage = usageOf(answer);
  const promptTokenCount = usage.input + usage.cacheRead;
  const usageMetadata = {
    promptTokenCount,
    candidatesTokenCount: usage.output,
    totalTokenCount: promptTokenCount + usage.output,
    cachedContentTokenCount: usage.cacheRead,
  };
  const parts: object[] = [];
  if (answer.thinking) parts.push({ text: answer.thinking, thought: true });
  for (const text of deltasOf(answer)) parts.push({ text });
  for (const [at, call] of callsOf(answer).entries()) {
    // Only the first of parallel calls carries a signature.
    parts.push({
      functionCall: { id: call.id, name: call.name, args: call.args },
      ...(at === 0 && { thoughtSignature: "c2lnbmF0dXJl" }),
    });
  }
  const event = (content: object[], finishReason?: string) =>
    `data: ${JSON.stringify({
      candidates: [{ content: { role: "model", parts: content }, index: 0, ...(finishReason && { finishReason }) }],
      usageMetadata,
      modelVersion: request.model,
      responseId: "resp_1",
    })}\r\n\r\n`;
  return [...parts.map((part) => event([part])), event([], answer.stopReason ?? "STOP")];
}
