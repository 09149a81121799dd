// OpenAI's chat completions, and compatible APIs.
import type { ModelAnswer } from "../model-server.ts";
import { answerUsage, callsOf, createdAt, deltasOf, failureText, halves, type WireFormat } from "./said.ts";

export const openaiChat: WireFormat = {
  stream(answer, request) {
    const { model, json } = request;
    const sent: string[] = [];
    const base = { id: `chatcmpl-${request.number}`, object: "chat.completion.chunk", created: createdAt, model };
    const chunk = (delta: object, finish_reason: string | null = null) =>
      sent.push(`data: ${JSON.stringify({ ...base, choices: [{ index: 0, delta, finish_reason }] })}\n\n`);
    chunk({ role: "assistant", content: "" });
    if (answer.thinking) chunk({ reasoning_content: answer.thinking });
    for (const content of deltasOf(answer)) chunk({ content });
    for (const [index, { id, name, json }] of callsOf(answer, request).entries()) {
      chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
      for (const piece of halves(json)) chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
    chunk({}, finishReason(answer));
    // Like OpenAI, send the usage only if the request asks for it.
    if (json?.stream_options?.include_usage)
      sent.push(`data: ${JSON.stringify({ ...base, choices: [], usage: usageFields(answer) })}\n\n`);
    sent.push("data: [DONE]\n\n");
    return sent;
  },

  whole(answer, request) {
    const { model } = request;
    const { thinking } = answer;
    const calls = callsOf(answer, request);
    const message = {
      role: "assistant",
      content: deltasOf(answer).join("") || null,
      refusal: null,
      ...(thinking && { reasoning_content: thinking }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(({ id, name, json }) => ({
          id,
          type: "function",
          function: { name, arguments: json },
        })),
      }),
    };
    return {
      id: `chatcmpl-${request.number}`,
      object: "chat.completion",
      created: createdAt,
      model,
      choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason(answer) }],
      usage: usageFields(answer),
    };
  },

  failure: openaiFailure,
};

function finishReason({ stopReason, toolCalls }: ModelAnswer): string {
  return stopReason ?? (toolCalls?.length ? "tool_calls" : "stop");
}

function usageFields(answer: ModelAnswer): object {
  const { input, output, cacheRead } = answerUsage(answer);
  const prompt_tokens = input + cacheRead;
  return {
    prompt_tokens,
    completion_tokens: output,
    total_tokens: prompt_tokens + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
  };
}

export function openaiFailure(status: number): object {
  const type = status === 429 ? "rate_limit_error" : status < 500 ? "invalid_request_error" : "server_error";
  const code = { 401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded" }[status] ?? null;
  return { error: { message: failureText(status), type, param: null, code } };
}
