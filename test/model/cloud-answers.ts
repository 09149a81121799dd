// The word "four", as each of the clouds says it.
import { EventStreamCodec } from "@smithy/eventstream-codec";

const codec = new EventStreamCodec(
  (bytes) => Buffer.from(bytes).toString("utf8"),
  (text) => Buffer.from(text),
);

function frame(type: string, body: object): Uint8Array {
  const header = (value: string) => ({ type: "string" as const, value });
  const headers = {
    ":message-type": header("event"),
    ":event-type": header(type),
    ":content-type": header("application/json"),
  };
  return codec.encode({ headers, body: Buffer.from(JSON.stringify(body)) });
}

const events = (list: object[], isNamed: boolean) =>
  list
    .map((each) => `${isNamed ? `event: ${(each as { type: string }).type}\n` : ""}data: ${JSON.stringify(each)}\n\n`)
    .join("");

const answers: Record<CloudApi, { type: string; body: (stopReason?: string) => string | Uint8Array }> = {
  converse: {
    type: "application/vnd.amazon.eventstream",
    body: (stopReason = "end_turn") =>
      Buffer.concat([
        frame("messageStart", { role: "assistant" }),
        frame("contentBlockDelta", { contentBlockIndex: 0, delta: { text: "four" } }),
        frame("contentBlockStop", { contentBlockIndex: 0 }),
        frame("messageStop", { stopReason }),
        frame("metadata", { usage: { inputTokens: 7, outputTokens: 2, totalTokens: 9 } }),
      ]),
  },
  generate: {
    type: "text/event-stream",
    body: () =>
      events(
        [
          {
            candidates: [{ content: { role: "model", parts: [{ text: "four" }] }, finishReason: "STOP" }],
            usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 2, totalTokenCount: 9 },
          },
        ],
        false,
      ),
  },
  predict: {
    type: "text/event-stream",
    body: () =>
      events(
        [
          {
            type: "message_start",
            message: {
              id: "m",
              type: "message",
              role: "assistant",
              model: "claude",
              content: [],
              stop_reason: null,
              usage: { input_tokens: 7, output_tokens: 1 },
            },
          },
          { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
          { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "four" } },
          { type: "content_block_stop", index: 0 },
          { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } },
          { type: "message_stop" },
        ],
        true,
      ),
  },
  responses: {
    type: "text/event-stream",
    body: () => {
      const item = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [] };
      const response = { id: "r", object: "response", created_at: 1, model: "m", output: [], status: "completed" };
      const usage = { input_tokens: 7, output_tokens: 2, total_tokens: 9 };
      return events(
        [
          { type: "response.created", response: { ...response, status: "in_progress" } },
          { type: "response.output_item.added", output_index: 0, item: { ...item, status: "in_progress" } },
          { type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta: "four" },
          { type: "response.output_item.done", output_index: 0, item },
          { type: "response.completed", response: { ...response, usage } },
        ],
        true,
      );
    },
  },
};

export type CloudApi = "converse" | "generate" | "predict" | "responses";

export function cloudApiOf(path: string): CloudApi {
  return /(converse|generate|predict|responses)/i.exec(path)![0].toLowerCase() as CloudApi;
}

export function cloudAnswer(path: string): (typeof answers)[CloudApi] {
  return answers[cloudApiOf(path)];
}
