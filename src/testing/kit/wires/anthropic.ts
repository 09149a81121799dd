// Anthropic's Messages API.
import type { ModelAnswer, RecordedRequest } from "../model-server.ts";
import { answerUsage, argsOf, callsOf, deltasOf, failureText, halves, type WireFormat } from "./said.ts";

export const anthropic: WireFormat = {
  stream(answer, request) {
    const sent: string[] = [];
    const event = (type: string, fields: object) =>
      sent.push(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
    const start = answerMessage(answer, request);
    event("message_start", {
      message: { ...start, content: [], stop_reason: null, usage: { ...start.usage, output_tokens: 1 } },
    });
    event("ping", {});
    let index = 0;
    const block = (start: object, deltas: object[]) => {
      event("content_block_start", { index, content_block: start });
      for (const delta of deltas) event("content_block_delta", { index, delta });
      event("content_block_stop", { index });
      index++;
    };
    if (answer.thinking)
      block({ type: "thinking", thinking: "", signature: "" }, [
        { type: "thinking_delta", thinking: answer.thinking },
        { type: "signature_delta", signature },
      ]);
    const deltas = deltasOf(answer).map((text) => ({ type: "text_delta", text }));
    if (deltas.length > 0) block({ type: "text", text: "" }, deltas);
    for (const { id, name, json } of callsOf(answer, request))
      block(
        { type: "tool_use", id, name, input: {} },
        halves(json).map((partial_json) => ({ type: "input_json_delta", partial_json })),
      );
    const { stop_reason, stop_sequence, usage } = start;
    event("message_delta", { delta: { stop_reason, stop_sequence }, usage });
    event("message_stop", {});
    return sent;
  },

  whole: answerMessage,

  failure(status) {
    return { type: "error", error: { type: errorTypes[status] ?? "api_error", message: failureText(status) } };
  },
};

const signature = "c2lnbmF0dXJl";

function answerMessage(answer: ModelAnswer, request: RecordedRequest) {
  const { thinking } = answer;
  const text = deltasOf(answer).join("");
  const { input, output, cacheRead, cacheWrite } = answerUsage(answer);
  return {
    id: `msg_${request.number}`,
    type: "message",
    role: "assistant",
    model: request.model,
    content: [
      ...(thinking ? [{ type: "thinking", thinking, signature }] : []),
      ...(text ? [{ type: "text", text }] : []),
      ...callsOf(answer, request).map((call) => ({
        type: "tool_use",
        id: call.id,
        name: call.name,
        input: argsOf(call),
      })),
    ],
    stop_reason: answer.stopReason ?? (answer.toolCalls?.length ? "tool_use" : "end_turn"),
    stop_sequence: null,
    usage: {
      input_tokens: input,
      cache_creation_input_tokens: cacheWrite,
      cache_read_input_tokens: cacheRead,
      output_tokens: output,
    },
  };
}

const errorTypes: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  529: "overloaded_error",
};
